//! How receipts hang together: one way to write a receipt as bytes, and the hash over them.
//!
//! Two different receipts must never give the same bytes, or one could be passed off as the other. So nothing is
//! joined with separators: each field is preceded by its length, and a missing one differs from an empty one.

use sha2::{Digest as _, Sha256};

use crate::NewReceipt;

/// A SHA-256.
pub(crate) type Hash = [u8; 32];

/// What the first receipt names as the one before.
pub(crate) const BEGINNING: Hash = [0; 32];

/// Begins every encoding, so that the hash of anything else is never the hash of a receipt.
const KIND: &[u8] = b"metier receipt 1\n";

/// The hash of a receipt.
pub(crate) fn hash(id: i64, receipt: &NewReceipt, previous: &Hash) -> Hash {
    Sha256::digest(encode(id, receipt, previous)).into()
}

/// The receipt as bytes. The order is part of the format: append, and change [`KIND`].
pub(crate) fn encode(id: i64, receipt: &NewReceipt, previous: &Hash) -> Vec<u8> {
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
    } = receipt;
    let mut bytes = KIND.to_vec();
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
    bytes
}

/// `0`, or `1`, the length in eight bytes, and the content.
fn field(bytes: &mut Vec<u8>, content: Option<&[u8]>) {
    let Some(content) = content else {
        bytes.push(0);
        return;
    };
    bytes.push(1);
    bytes.extend_from_slice(&(content.len() as u64).to_be_bytes());
    bytes.extend_from_slice(content);
}

/// `sha256:` and 64 digits.
pub(crate) fn written(hash: &Hash) -> String {
    let mut text = String::from("sha256:");
    for byte in hash {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(half), 16));
        }
    }
    text
}
