//! Only the launcher, for the tests of this crate: the main program contains the same as `metier __exec`.

fn main() {
    metier_host::child::shim::main()
}
