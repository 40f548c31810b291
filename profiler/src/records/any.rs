//! Decoding bytes of unknown origin: what fuzzing calls, with the corpus and by libFuzzer.

use super::layout::Layouts;
use super::{Pieces, decode};

/// Cuts and decodes `bytes` as a batch. Never panics, whatever the bytes.
///
/// Returns how many records could be decoded and how many could not.
#[must_use]
pub fn decode_any(bytes: &[u8], layouts: &Layouts) -> (usize, usize) {
    let pieces = Pieces::new(bytes, &[]);
    let mut scratch = Vec::new();
    let (mut good, mut bad) = (0, 0);
    for cut in pieces.cuts() {
        let decoded = cut.and_then(|range| decode(pieces.slice(range, &mut scratch), layouts).map(|_| ()));
        *(if decoded.is_ok() { &mut good } else { &mut bad }) += 1;
    }
    (good, bad)
}
