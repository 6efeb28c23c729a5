//! The kind of network that an IP address belongs to.
//!
//! The tables are the special-purpose registries of IANA and the addresses at which clouds serve credentials. An IPv6 address
//! that embeds an IPv4 address counts as the embedded one: a gateway can extract it.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

/// The kind of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AddressKind {
    /// A host on the internet.
    Public,
    /// An address of this machine.
    Loopback,
    /// An address of a private network.
    Private,
    /// The local link of this machine.
    LinkLocal,
    /// The provider's own network (100.64.0.0/10).
    Shared,
    /// The unspecified address; some systems treat it as this machine.
    Unspecified,
    /// A multicast address.
    Multicast,
    /// All hosts on the local link.
    Broadcast,
    /// Reserved for examples in documents.
    Documentation,
    /// Reserved for benchmarks of network devices.
    Benchmark,
    /// Unassigned, or for protocols only.
    Reserved,
    /// A service that serves the credentials of the machine; it can't be approved.
    Metadata,
}

impl fmt::Display for AddressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "public",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Shared => "carrier",
            Self::Unspecified => "unspecified",
            Self::Multicast => "multicast",
            Self::Broadcast => "broadcast",
            Self::Documentation => "documentation",
            Self::Benchmark => "benchmark",
            Self::Reserved => "reserved",
            Self::Metadata => "metadata",
        })
    }
}

/// (network, length of its prefix, kind); the first match counts, so metadata comes first.
const V4: &[([u8; 4], u32, AddressKind)] = &[
    ([169, 254, 169, 0], 24, AddressKind::Metadata), // AWS, Azure, Google, Oracle, OpenStack, DigitalOcean …
    ([169, 254, 170, 0], 24, AddressKind::Metadata), // credentials of AWS containers
    ([169, 254, 0, 23], 32, AddressKind::Metadata),  // Tencent
    ([100, 100, 100, 200], 32, AddressKind::Metadata), // Alibaba
    ([168, 63, 129, 16], 32, AddressKind::Metadata), // Azure's wire server, at a public address
    ([192, 0, 0, 192], 32, AddressKind::Metadata),   // Oracle, classic
    ([0, 0, 0, 0], 32, AddressKind::Unspecified),
    ([0, 0, 0, 0], 8, AddressKind::Reserved),
    ([10, 0, 0, 0], 8, AddressKind::Private),
    ([100, 64, 0, 0], 10, AddressKind::Shared),
    ([127, 0, 0, 0], 8, AddressKind::Loopback),
    ([169, 254, 0, 0], 16, AddressKind::LinkLocal),
    ([172, 16, 0, 0], 12, AddressKind::Private),
    ([192, 0, 0, 0], 24, AddressKind::Reserved),
    ([192, 0, 2, 0], 24, AddressKind::Documentation),
    ([192, 88, 99, 0], 24, AddressKind::Reserved),
    ([192, 168, 0, 0], 16, AddressKind::Private),
    ([198, 18, 0, 0], 15, AddressKind::Benchmark),
    ([198, 51, 100, 0], 24, AddressKind::Documentation),
    ([203, 0, 113, 0], 24, AddressKind::Documentation),
    ([224, 0, 0, 0], 4, AddressKind::Multicast),
    ([255, 255, 255, 255], 32, AddressKind::Broadcast),
    ([240, 0, 0, 0], 4, AddressKind::Reserved),
];

/// The rows of IPv6, for addresses that embed no other. An address that no row names is reserved: only 2000::/3 is assigned.
const V6: &[([u16; 8], u32, AddressKind)] = &[
    (
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0],
        32,
        AddressKind::Metadata,
    ), // AWS
    (
        [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0],
        32,
        AddressKind::Metadata,
    ), // Google
    (
        [0xfd00, 0x00c1, 0, 0, 0, 0, 0, 0],
        32,
        AddressKind::Metadata,
    ), // Oracle
    (
        [0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe],
        128,
        AddressKind::Metadata,
    ), // OpenStack
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, AddressKind::Unspecified),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, AddressKind::Loopback),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, AddressKind::Private),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, AddressKind::LinkLocal),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, AddressKind::Private),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, AddressKind::Multicast),
    (
        [0x2001, 0x0002, 0, 0, 0, 0, 0, 0],
        48,
        AddressKind::Benchmark,
    ),
    (
        [0x2001, 0x0db8, 0, 0, 0, 0, 0, 0],
        32,
        AddressKind::Documentation,
    ),
    (
        [0x3fff, 0, 0, 0, 0, 0, 0, 0],
        20,
        AddressKind::Documentation,
    ),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, AddressKind::Reserved),
    ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, AddressKind::Public),
];

/// The kind of `address`, even if it embeds another one.
#[must_use]
pub fn kind(address: IpAddr) -> AddressKind {
    match address {
        IpAddr::V4(v4) => kind_v4(v4),
        IpAddr::V6(v6) => kind_v6(v6),
    }
}

fn kind_v4(address: Ipv4Addr) -> AddressKind {
    let bits = address.to_bits();
    let holds = |net: [u8; 4], length: u32| {
        let differ = bits ^ Ipv4Addr::from(net).to_bits();
        differ >> (32 - length) == 0
    };
    let row = V4.iter().find(|(net, length, _)| holds(*net, *length));
    row.map_or(AddressKind::Public, |(_, _, kind)| *kind)
}

fn kind_v6(address: Ipv6Addr) -> AddressKind {
    let own = own_kind(address);
    if matches!(
        own,
        AddressKind::Unspecified | AddressKind::Loopback | AddressKind::Metadata
    ) {
        return own;
    }
    let low = |high: u16, low: u16| kind_v4(Ipv4Addr::from_bits(join(high, low)));
    match address.segments() {
        // IPv4-compatible, IPv4-mapped, IPv4-translated, NAT64
        [0, 0, 0, 0, 0, 0, a, b]
        | [0, 0, 0, 0, 0, 0xffff, a, b]
        | [0, 0, 0, 0, 0xffff, 0, a, b]
        | [0x64, 0xff9b, 0, 0, 0, 0, a, b] => low(a, b),
        // NAT64 of a local network (RFC 8215): it can't mean a public host, and the operator may have put the IPv4 address at the
        // end or, as RFC 6052 does for such a prefix, around the ninth byte.
        [0x64, 0xff9b, 1, a, b, c, d, e] => {
            let around = kind_v4(Ipv4Addr::from_bits(join(a, (b << 8) | (c >> 8))));
            match worse(low(d, e), around) {
                AddressKind::Metadata => AddressKind::Metadata,
                _ => AddressKind::Private,
            }
        }
        [0x2002, a, b, ..] => low(a, b),
        // Teredo: the server in clear, the client inverted
        [0x2001, 0, a, b, _, _, c, d] => worse(low(!c, !d), low(a, b)),
        // ISATAP, behind any prefix
        [.., 0 | 0x200, 0x5efe, a, b] => worse(own, low(a, b)),
        _ => own,
    }
}

fn own_kind(address: Ipv6Addr) -> AddressKind {
    let bits = address.to_bits();
    let holds = |net: [u16; 8], length: u32| {
        let differ = bits ^ Ipv6Addr::from(net).to_bits();
        differ >> (128 - length) == 0
    };
    let row = V6.iter().find(|(net, length, _)| holds(*net, *length));
    row.map_or(AddressKind::Reserved, |(_, _, kind)| *kind)
}

/// The stricter one of two readings of an address.
fn worse(a: AddressKind, b: AddressKind) -> AddressKind {
    match (a, b) {
        (AddressKind::Metadata, _) | (_, AddressKind::Metadata) => AddressKind::Metadata,
        (AddressKind::Public, other) => other,
        (other, _) => other,
    }
}

fn join(high: u16, low: u16) -> u32 {
    (u32::from(high) << 16) | u32::from(low)
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
