//! The hash chain of receipts: one encoding of a receipt as bytes, and the hash over it.
//!
//! Two different receipts must never have the same encoding, or one could be passed off as the other. So no
//! separators are used: each field is preceded by its length, and a missing field differs from an empty one.

use sha2::{Digest as _, Sha256};

use crate::NewReceipt;

/// A SHA-256 digest.
pub(crate) type Hash = [u8; 32];

/// The previous hash in the first receipt.
pub(crate) const BEGINNING: Hash = [0; 32];

/// The prefix of every encoding, so that a hash of other data is never the hash of a receipt.
const KIND: &[u8] = b"metier receipt 1\n";

/// The prefix for a receipt that is part of an act, or counts several refusals: it has two more fields.
const LONGER_KIND: &[u8] = b"metier receipt 2\n";

/// The hash of a receipt.
pub(crate) fn hash(id: i64, receipt: &NewReceipt, begun: Option<i64>, previous: &Hash) -> Hash {
    Sha256::digest(encode(id, receipt, begun, previous)).into()
}

/// Encodes a receipt. The order is part of the format: append only, and add a prefix.
pub(crate) fn encode(
    id: i64,
    receipt: &NewReceipt,
    begun: Option<i64>,
    previous: &Hash,
) -> Vec<u8> {
    let NewReceipt {
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
    } = receipt;
    let is_longer = begun.is_some() || *count != 1;
    let mut bytes = Vec::with_capacity(detail.len() + 512);
    bytes.extend_from_slice(if is_longer { LONGER_KIND } else { KIND });
    field(&mut bytes, Some(previous));
    field(&mut bytes, Some(&id.to_be_bytes()));
    for text in [at, skill, source, digest, act, detail] {
        field(&mut bytes, Some(text.as_bytes()));
    }
    field(&mut bytes, Some(decision.as_str().as_bytes()));
    field(&mut bytes, reason.as_deref().map(str::as_bytes));
    let outcome = outcome.map(|outcome| outcome.as_str().as_bytes());
    field(&mut bytes, outcome);
    field(&mut bytes, Some(&ms.to_be_bytes()));
    field(&mut bytes, sandbox.as_deref().map(str::as_bytes));
    field(&mut bytes, session.as_deref().map(str::as_bytes));
    if is_longer {
        let begun = begun.map(i64::to_be_bytes);
        field(&mut bytes, begun.as_ref().map(<[u8; 8]>::as_slice));
        field(&mut bytes, Some(&count.to_be_bytes()));
    }
    bytes
}

/// `0` if missing; otherwise `1`, the length in eight bytes, and the content.
fn field(bytes: &mut Vec<u8>, content: Option<&[u8]>) {
    let Some(content) = content else {
        bytes.push(0);
        return;
    };
    bytes.push(1);
    bytes.extend_from_slice(&(content.len() as u64).to_be_bytes());
    bytes.extend_from_slice(content);
}

/// `sha256:` and 64 hexadecimal digits.
pub(crate) fn written(hash: &Hash) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(71);
    text.push_str("sha256:");
    for byte in hash {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(half)]));
        }
    }
    text
}
