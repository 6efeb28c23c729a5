//! How the program is linked: with the addresses that are put in place at each start written down as a bitmap (`DT_RELR`).
//!
//! There are 95,000 of them, and everything that we start is this program again. One by one they are 2.3 MB to be read at each
//! start, as a bitmap 24 KB: a quarter of a millisecond less. The loader of glibc knows bitmaps since 2.36, and refuses the program
//! before that; so they are used only where the C library of this machine says that it knows them.

use std::{env, fs, path::PathBuf};

/// What a C library that knows bitmaps calls that.
const KNOWN: &[u8] = b"GLIBC_ABI_DT_RELR";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_gnu = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|libc| libc == "gnu");
    let is_for_here = env::var_os("HOST") == env::var_os("TARGET");
    if is_gnu && is_for_here && libc_knows() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether the C library that this very program runs with knows bitmaps.
fn libc_knows() -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let libc = maps
        .split_whitespace()
        .find(|word| word.ends_with("/libc.so.6"))
        .map(PathBuf::from);
    libc.and_then(|libc| fs::read(libc).ok())
        .is_some_and(|bytes| bytes.windows(KNOWN.len()).any(|window| window == KNOWN))
}
