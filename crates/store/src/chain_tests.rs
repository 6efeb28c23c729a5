//! Different receipts never have the same encoding. The oracle is a decoder: it returns what was encoded.

use proptest::prelude::*;

use crate::chain::{BEGINNING, Hash, encode, hash, written};
use crate::receipts_tests::act;
use crate::{NewReceipt, ReceiptDecision, ReceiptOutcome};

/// Short strings of few characters, including digits and NUL, so that different receipts are often almost equal.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(prop_oneof!["a", "\0", "\u{1}", "8", "é"], 0..4)
            .prop_map(|parts| parts.concat()),
        any::<String>(),
    ]
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(text())
}

type Link = (i64, NewReceipt, Option<i64>, Hash);

fn receipts() -> impl Strategy<Value = Link> {
    let decision = prop_oneof![
        Just(ReceiptDecision::Allowed),
        Just(ReceiptDecision::Refused)
    ];
    let outcome = prop_oneof![
        Just(None),
        Just(Some(ReceiptOutcome::Ok)),
        Just(Some(ReceiptOutcome::Error)),
        Just(Some(ReceiptOutcome::Timeout)),
    ];
    let texts = (text(), text(), text(), text(), text(), text());
    let rest = (decision, maybe(), outcome, any::<u64>(), maybe(), maybe());
    let count = prop_oneof![Just(1), any::<u64>()];
    let more = (proptest::option::of(any::<i64>()), count);
    let all = (any::<i64>(), texts, rest, more, any::<Hash>());
    all.prop_map(|(id, texts, rest, (begun, count), previous)| {
        let (at, skill, source, digest, act, detail) = texts;
        let (decision, reason, outcome, ms, sandbox, session) = rest;
        let receipt = NewReceipt {
            at,
            skill,
            source,
            digest,
            act,
            detail,
            decision,
            reason,
            outcome,
            ms,
            sandbox,
            session,
            count,
        };
        (id, receipt, begun, previous)
    })
}

/// The next field, and the rest.
fn field(bytes: &[u8]) -> (Option<Vec<u8>>, &[u8]) {
    if bytes[0] == 0 {
        return (None, &bytes[1..]);
    }
    let length = u64::from_be_bytes(bytes[1..9].try_into().expect("eight bytes"));
    let (content, rest) = bytes[9..].split_at(usize::try_from(length).expect("a length"));
    (Some(content.to_vec()), rest)
}

fn decode(bytes: &[u8]) -> Link {
    let (rest, is_longer) = match bytes.strip_prefix(b"metier receipt 1\n") {
        Some(rest) => (rest, false),
        None => {
            let rest = bytes.strip_prefix(b"metier receipt 2\n");
            (rest.expect("a receipt"), true)
        }
    };
    let mut fields = Vec::new();
    let mut rest = rest;
    while !rest.is_empty() {
        let (content, left) = field(rest);
        fields.push(content);
        rest = left;
    }
    assert_eq!(fields.len(), if is_longer { 16 } else { 14 });
    let mut fields = fields.into_iter();
    let mut next = || fields.next().expect("a field");
    let text = |content: Option<Vec<u8>>| {
        content.map(|content| String::from_utf8(content).expect("a text"))
    };
    let number = |content: Option<Vec<u8>>| {
        let content = content.expect("a number");
        u64::from_be_bytes(content.try_into().expect("eight bytes"))
    };
    let previous = next().expect("a hash").try_into().expect("a hash");
    let id = number(next()).cast_signed();
    let mut texts = || text(next()).expect("a text");
    let mut receipt = NewReceipt {
        at: texts(),
        skill: texts(),
        source: texts(),
        digest: texts(),
        act: texts(),
        detail: texts(),
        decision: match texts().as_str() {
            "allowed" => ReceiptDecision::Allowed,
            other => {
                assert_eq!(other, "refused");
                ReceiptDecision::Refused
            }
        },
        reason: text(next()),
        outcome: text(next()).map(|word| match word.as_str() {
            "ok" => ReceiptOutcome::Ok,
            "error" => ReceiptOutcome::Error,
            other => {
                assert_eq!(other, "timeout");
                ReceiptOutcome::Timeout
            }
        }),
        ms: number(next()),
        sandbox: text(next()),
        session: text(next()),
        count: 1,
    };
    let mut begun = None;
    if is_longer {
        begun = next().map(|content| number(Some(content)).cast_signed());
        receipt.count = number(next());
    }
    (id, receipt, begun, previous)
}

proptest! {
    #[test]
    fn what_was_written_can_be_read_back((id, receipt, begun, previous) in receipts()) {
        let read = decode(&encode(id, &receipt, begun, &previous));
        prop_assert_eq!(read, (id, receipt, begun, previous));
    }

    #[test]
    fn a_text_that_moves_to_its_neighbour_gives_another_hash(
        (id, receipt, begun, previous) in receipts(),
        cut in any::<prop::sample::Index>(),
    ) {
        let joined = format!("{}{}", receipt.act, receipt.detail);
        let at = joined.floor_char_boundary(cut.index(joined.len() + 1));
        let (act, detail) = joined.split_at(at);
        let moved = NewReceipt { act: act.to_owned(), detail: detail.to_owned(), ..receipt.clone() };
        prop_assert_eq!(
            hash(id, &moved, begun, &previous) == hash(id, &receipt, begun, &previous),
            moved == receipt
        );
    }
}

fn plain() -> NewReceipt {
    NewReceipt {
        sandbox: None,
        ..act("deploy", "git push")
    }
}

#[test]
fn nothing_is_not_the_same_as_an_empty_text() {
    let empty = NewReceipt {
        reason: Some(String::new()),
        ..plain()
    };
    assert_ne!(
        hash(1, &plain(), None, &BEGINNING),
        hash(1, &empty, None, &BEGINNING)
    );
}

/// Changing this makes every existing chain look broken.
#[test]
fn the_format_stays() {
    assert_eq!(
        written(&hash(1, &plain(), None, &BEGINNING)),
        "sha256:74ea6c644a513e88cdfe649886c9eba9eae2aa49fb6385e958dc622e93b8dc22"
    );
}
