//! `spec/*.md` holds for this build. With `METIER_BLESS=1` failing transcripts are rewritten: read the diff.

use std::path::Path;

#[test]
fn the_specifications_hold() {
    let program = Path::new(env!("CARGO_BIN_EXE_metier"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    metier_testkit::spec::run_dir(program, &folder);
}
