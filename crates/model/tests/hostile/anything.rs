//! Arbitrary text.

use metier_model::{Strictness, text};
use proptest::prelude::*;

use crate::{file, loaded, parsed, with};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn no_text_makes_a_reader_panic(text in "[-a-d:#,&*!|>'\"%@`\\[\\]{}?~.<é🐛\u{e0041}\u{85}\u{2028}\u{0}\r\n\t ]{0,120}") {
        for mode in [Strictness::Lenient, Strictness::Strict] {
            parsed(&file(&text), mode);
            parsed(&with(&text), mode);
            parsed(&text, mode);
        }
    }

    #[test]
    fn a_quoted_description_comes_back_as_it_went_in(text in "[^\u{0}-\u{1f}\u{7f}-\u{9f}\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}]{1,80}") {
        prop_assume!(!text.trim().is_empty());
        let manifest = loaded(&file(&format!("name: x\ndescription: '{}'\n", text.replace('\'', "''"))));
        prop_assert_eq!(&*manifest.card.description, text.trim());
    }

    #[test]
    fn a_manifest_never_has_an_unusable_name(name in "\\PC{0,20}|[./\\\\a-c\u{200b}\u{1b}]{0,6}") {
        let quoted = name.replace('\'', "''");
        if let Some(manifest) = parsed(&file(&format!("name: '{quoted}'\ndescription: d\n")), Strictness::Lenient).manifest {
            let name = manifest.card.name.as_str();
            prop_assert!(!name.contains(['/', '\\']) && !name.contains("..") && !name.is_empty());
            prop_assert!(!name.contains(|c: char| c.is_control() || text::is_invisible(c)));
        }
    }
}
