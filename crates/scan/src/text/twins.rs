//! Foreign letters that look like one of ASCII, as Unicode's table of confusables has them.
//!
//! The whole table has an address for each of its seven thousand rows, and each start of the program puts all of them in place; this
//! is the part of it that is asked. A test compares it with the whole.

/// The ASCII letter that Unicode takes for the prototype of this one.
pub(super) const fn prototype(c: char) -> Option<char> {
    Some(match c {
        '\u{391}' | '\u{410}' | '\u{13aa}' | '\u{a4ee}' | '\u{102a0}' => 'A',
        '\u{392}' | '\u{412}' | '\u{13f4}' | '\u{2c82}' | '\u{a4d0}' | '\u{10282}'
        | '\u{102a1}' | '\u{10301}' => 'B',
        '\u{3f9}' | '\u{421}' | '\u{13df}' | '\u{2ca4}' | '\u{a4da}' | '\u{102a2}'
        | '\u{10302}' => 'C',
        '\u{13a0}' | '\u{a4d3}' => 'D',
        '\u{395}' | '\u{415}' | '\u{13ac}' | '\u{a4f0}' | '\u{10286}' => 'E',
        '\u{3dc}' | '\u{a4dd}' | '\u{10287}' | '\u{102a5}' => 'F',
        '\u{50c}' | '\u{13c0}' | '\u{13f3}' | '\u{a4d6}' => 'G',
        '\u{397}' | '\u{41d}' | '\u{13bb}' | '\u{2c8e}' | '\u{a4e7}' | '\u{102cf}' => 'H',
        '\u{37f}' | '\u{408}' | '\u{13ab}' | '\u{a4d9}' => 'J',
        '\u{39a}' | '\u{41a}' | '\u{13e6}' | '\u{2c94}' | '\u{a4d7}' => 'K',
        '\u{13de}' | '\u{2cd0}' | '\u{a4e1}' => 'L',
        '\u{39c}' | '\u{3fa}' | '\u{41c}' | '\u{13b7}' | '\u{2c98}' | '\u{a4df}' | '\u{102b0}'
        | '\u{10311}' => 'M',
        '\u{39d}' | '\u{2c9a}' | '\u{a4e0}' => 'N',
        '\u{39f}' | '\u{41e}' | '\u{555}' | '\u{2c9e}' | '\u{a4f3}' | '\u{10292}' | '\u{102ab}'
        | '\u{1030f}' => 'O',
        '\u{3a1}' | '\u{420}' | '\u{13e2}' | '\u{2ca2}' | '\u{2cce}' | '\u{a4d1}' | '\u{10295}' => {
            'P'
        }
        '\u{51a}' => 'Q',
        '\u{13a1}' | '\u{13d2}' | '\u{a4e3}' => 'R',
        '\u{405}' | '\u{54f}' | '\u{13d5}' | '\u{13da}' | '\u{a4e2}' | '\u{10296}' => 'S',
        '\u{3a4}' | '\u{422}' | '\u{13a2}' | '\u{2ca6}' | '\u{a4d4}' | '\u{10297}'
        | '\u{102b1}' | '\u{10315}' => 'T',
        '\u{54d}' | '\u{a4f4}' => 'U',
        '\u{474}' | '\u{13d9}' | '\u{a4e6}' => 'V',
        '\u{51c}' | '\u{13b3}' | '\u{13d4}' | '\u{a4ea}' => 'W',
        '\u{3a7}' | '\u{425}' | '\u{2cac}' | '\u{a4eb}' | '\u{10290}' | '\u{102b4}'
        | '\u{10317}' => 'X',
        '\u{3a5}' | '\u{3d2}' | '\u{423}' | '\u{4ae}' | '\u{13a9}' | '\u{13bd}' | '\u{2ca8}'
        | '\u{a4ec}' | '\u{102b2}' => 'Y',
        '\u{396}' | '\u{13c3}' | '\u{2c8c}' | '\u{a4dc}' | '\u{102f5}' => 'Z',
        '\u{3b1}' | '\u{430}' => 'a',
        '\u{42c}' | '\u{13cf}' | '\u{1031c}' => 'b',
        '\u{3f2}' | '\u{441}' | '\u{1c83}' | '\u{2ca5}' | '\u{abaf}' => 'c',
        '\u{501}' | '\u{13e7}' | '\u{a4d2}' => 'd',
        '\u{435}' | '\u{4bd}' => 'e',
        '\u{584}' => 'f',
        '\u{581}' => 'g',
        '\u{4ba}' | '\u{4bb}' | '\u{570}' | '\u{13c2}' => 'h',
        '\u{3b9}' | '\u{456}' | '\u{582}' | '\u{13a5}' | '\u{1fbe}' | '\u{2c93}' | '\u{a647}'
        | '\u{ab75}' => 'i',
        '\u{3f3}' | '\u{458}' | '\u{575}' => 'j',
        '\u{399}' | '\u{406}' | '\u{4c0}' | '\u{4cf}' | '\u{2c92}' | '\u{a4f2}' | '\u{1028a}'
        | '\u{10309}' => 'l',
        '\u{578}' | '\u{57c}' => 'n',
        '\u{3bf}' | '\u{3c3}' | '\u{3ed}' | '\u{43e}' | '\u{585}' | '\u{1c82}' | '\u{2c9f}' => 'o',
        '\u{3c1}' | '\u{3f1}' | '\u{3f8}' | '\u{440}' | '\u{2ca3}' | '\u{2ccf}' => 'p',
        '\u{51b}' | '\u{563}' | '\u{566}' => 'q',
        '\u{433}' | '\u{2c85}' | '\u{ab81}' => 'r',
        '\u{455}' | '\u{abaa}' => 's',
        '\u{3c5}' | '\u{57d}' => 'u',
        '\u{3bd}' | '\u{475}' | '\u{aba9}' => 'v',
        '\u{448}' | '\u{461}' | '\u{51d}' | '\u{561}' | '\u{2cbd}' | '\u{ab83}' | '\u{aba4}' => 'w',
        '\u{445}' => 'x',
        '\u{3b3}' | '\u{443}' | '\u{4af}' | '\u{2ca9}' => 'y',
        '\u{2c8d}' | '\u{ab93}' => 'z',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::chars::is_lookalike_script;

    #[test]
    fn every_row_is_unicodes() {
        for c in ('\0'..=char::MAX).filter(|c| is_lookalike_script(*c)) {
            let mut buffer = [0; 4];
            let mut twin = unicode_security::skeleton(c.encode_utf8(&mut buffer));
            let twin = match (twin.next(), twin.next()) {
                (Some(one), None) if one.is_ascii_alphabetic() => Some(one),
                _ => None,
            };
            assert_eq!(prototype(c), twin, "{c:?}");
        }
    }
}
