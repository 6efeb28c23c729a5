//! Text that is hidden behind a long run of whitespace.

use crate::{rule::FileOddity, scan::SkillScanner};

/// The length of whitespace before more text that is too long to be an accident.
const PADDING: usize = 1500;

/// Reports a long run of whitespace before more text.
pub(crate) fn look(scanner: &mut SkillScanner<'_>, index: usize) {
    let content = &scanner.texts.0[index].content;
    if !may_be_padded(content.as_bytes()) {
        return;
    }
    let mut run = 0_usize;
    let mut lines = 0_usize;
    let mut start = 0_usize;
    let mut found = None;
    for (at, c) in content.char_indices() {
        if c.is_whitespace() {
            if run == 0 {
                start = at;
            }
            run += 1;
            lines += usize::from(c == '\n');
        } else {
            if run > PADDING && (lines > 200 || run > 4 * PADDING) {
                found = Some(start);
                break;
            }
            run = 0;
            lines = 0;
        }
    }
    if let Some(at) = found {
        scanner.odd_at(
            FileOddity::Padding,
            index,
            at,
            "more text follows far below, after blanks only",
            true,
        );
    }
}

/// Whether a text can contain a long run of whitespace: such a run covers whole chunks, so a few bytes of each are checked. Whitespace
/// beyond ASCII contains one of these bytes as well.
fn may_be_padded(bytes: &[u8]) -> bool {
    const STRETCH: usize = 512;
    let blank = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(
                byte,
                0x0b | 0x1c..=0x1f | 0xc2 | 0xe1..=0xe3 | 0x80..=0x8f | 0x9a | 0x9f | 0xa0 | 0xa8 | 0xa9 | 0xaf
            )
    };
    bytes
        .chunks_exact(STRETCH)
        .any(|stretch| stretch.iter().step_by(STRETCH / 8).all(blank))
}
