//! The kinds of addresses, in all embeddings.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::{AddressKind, V4, kind};

#[track_caller]
fn check(address: &str, expected: AddressKind) {
    assert_eq!(kind(address.parse().unwrap()), expected, "{address}");
}

#[test]
fn ranges_have_their_kind_up_to_both_ends() {
    check("1.1.1.1", AddressKind::Public);
    check("9.255.255.255", AddressKind::Public);
    check("10.0.0.0", AddressKind::Private);
    check("10.255.255.255", AddressKind::Private);
    check("11.0.0.0", AddressKind::Public);
    check("172.15.255.255", AddressKind::Public);
    check("172.16.0.0", AddressKind::Private);
    check("172.31.255.255", AddressKind::Private);
    check("172.32.0.0", AddressKind::Public);
    check("192.168.1.1", AddressKind::Private);
    check("100.63.255.255", AddressKind::Public);
    check("100.64.0.0", AddressKind::Shared);
    check("100.127.255.255", AddressKind::Shared);
    check("100.128.0.0", AddressKind::Public);
    check("0.0.0.0", AddressKind::Unspecified);
    check("0.1.2.3", AddressKind::Reserved);
    check("127.0.0.1", AddressKind::Loopback);
    check("127.255.255.255", AddressKind::Loopback);
    check("169.254.1.1", AddressKind::LinkLocal);
    check("192.0.2.1", AddressKind::Documentation);
    check("198.17.255.255", AddressKind::Public);
    check("198.18.0.0", AddressKind::Benchmark);
    check("198.19.255.255", AddressKind::Benchmark);
    check("224.0.0.1", AddressKind::Multicast);
    check("240.0.0.1", AddressKind::Reserved);
    check("255.255.255.255", AddressKind::Broadcast);
}

#[test]
fn six_has_the_same_kinds() {
    check("::", AddressKind::Unspecified);
    check("::1", AddressKind::Loopback);
    check("fc00::1", AddressKind::Private);
    check("fdff::1", AddressKind::Private);
    check("fe80::1", AddressKind::LinkLocal);
    check("fec0::1", AddressKind::Private);
    check("ff02::1", AddressKind::Multicast);
    check("2001:db8::1", AddressKind::Documentation);
    check("3fff::1", AddressKind::Documentation);
    check("2001:2::1", AddressKind::Benchmark);
    check("2001:20::1", AddressKind::Reserved);
    check("100::1", AddressKind::Reserved);
    check("4000::1", AddressKind::Reserved);
    check("2606:4700:4700::1111", AddressKind::Public);
}

// case 108
#[test]
fn metadata_is_metadata_in_every_wrapping() {
    for address in [
        "169.254.169.254",
        "169.254.169.123",
        "169.254.170.2",
        "169.254.0.23",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
        "fe80::a9fe:a9fe",
        "::ffff:169.254.169.254",
        "::ffff:0:169.254.169.254",
        "::169.254.169.254",
        "64:ff9b::169.254.169.254",
        "64:ff9b:1::169.254.169.254",
        "64:ff9b:1:a9fe:a9:fe00::", // around the ninth byte
        "2002:a9fe:a9fe::1",
        "2001:0:a9fe:a9fe::1",          // as the server of Teredo
        "2001:0:101:101:0:0:5601:5601", // as its client: !0xa9fe = 0x5601
        "2606:4700::5efe:a9fe:a9fe",    // ISATAP
        "fe80::200:5efe:a83f:8110",
    ] {
        check(address, AddressKind::Metadata);
    }
}

#[test]
fn a_wrapped_public_address_is_public_except_where_only_a_local_network_reads_it() {
    check("::ffff:1.1.1.1", AddressKind::Public);
    check("64:ff9b::1.1.1.1", AddressKind::Public);
    check("2002:101:101::", AddressKind::Public);
    check("64:ff9b:1::1.1.1.1", AddressKind::Private);
}

fn v4() -> impl Strategy<Value = Ipv4Addr> {
    // Half of them are near the rows of the table: random addresses are nearly all public.
    let near = (0..V4.len(), any::<u32>(), 0u32..=32).prop_map(|(row, noise, keep)| {
        let base = Ipv4Addr::from(V4[row].0).to_bits();
        let mask = if keep == 32 { 0 } else { u32::MAX >> keep };
        Ipv4Addr::from_bits(base ^ (noise & mask))
    });
    prop_oneof![any::<u32>().prop_map(Ipv4Addr::from_bits), near]
}

/// The standard library's result, where it has a stable one.
fn not_public_according_to_std(v4: Ipv4Addr) -> bool {
    v4.is_loopback()
        || v4.is_private()
        || v4.is_link_local()
        || v4.is_unspecified()
        || v4.is_multicast()
        || v4.is_broadcast()
        || v4.is_documentation()
}

proptest! {
    #[test]
    fn never_more_public_than_in_the_standard_library(v4 in v4()) {
        if not_public_according_to_std(v4) {
            prop_assert_ne!(kind(IpAddr::V4(v4)), AddressKind::Public);
        }
        prop_assert_eq!(kind(v4.into()) == AddressKind::Loopback, v4.is_loopback());
    }

    // case 107
    #[test]
    fn a_wrapping_hides_nothing(v4 in v4(), noise in any::<[u16; 8]>()) {
        let [a, b, c, d] = v4.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        let expected = kind(v4.into());
        for wrapped in [
            v4.to_ipv6_mapped(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, noise[0], noise[1], 1, 1, 1),
        ] {
            prop_assert_eq!(kind(wrapped.into()), expected, "{}", wrapped);
        }
        for at_least in [
            v4.to_ipv6_compatible(), // `::1` is loopback first
            Ipv6Addr::new(0x64, 0xff9b, 1, noise[0], noise[1], noise[2], high, low),
            Ipv6Addr::new(0x2001, 0, noise[0], noise[1], noise[2], noise[3], !high, !low),
            Ipv6Addr::new(0x2001, 0, high, low, noise[2], noise[3], noise[4], noise[5]),
            Ipv6Addr::new(0x2606, noise[0], noise[1], noise[2], 0x200, 0x5efe, high, low),
        ] {
            if expected != AddressKind::Public {
                prop_assert_ne!(kind(at_least.into()), AddressKind::Public, "{}", at_least);
            }
            if expected == AddressKind::Metadata {
                prop_assert_eq!(kind(at_least.into()), AddressKind::Metadata, "{}", at_least);
            }
        }
    }

    #[test]
    fn only_what_is_given_out_is_public(bits in any::<u128>()) {
        let v6 = Ipv6Addr::from_bits(bits);
        let carries = v6.segments()[0] == 0 || v6.segments()[..2] == [0x64, 0xff9b];
        if kind(v6.into()) == AddressKind::Public && !carries {
            prop_assert_eq!(bits >> 125, 1, "{}", v6);
        }
    }
}
