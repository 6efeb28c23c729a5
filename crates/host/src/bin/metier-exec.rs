//! The launcher alone, for the tests of this crate: the program itself offers the same as `metier __exec`.

fn main() {
    metier_host::child::shim::main()
}
