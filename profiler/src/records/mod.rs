//! From a ring's bytes to [`Record`]s that borrow them.
//!
//! [`decode`] takes the bytes of one record and the [`Layouts`] of the recording's events. It is total: any
//! bytes give a record or a [`ProblemKind`], never a panic or a read outside them, and nothing is allocated.
//! [`pieces::Pieces`] are a batch's bytes, in two parts where the ring wrapped, and cut them into records.

mod bytes;
mod decode;
mod layout;
mod pieces;
mod problem;
mod record;
mod sample;
mod side_band;

pub use bytes::Words;
pub use decode::decode;
pub(crate) use decode::{Glance, GlanceKind, glance};
pub use layout::{BadLayout, Layout, Layouts, Role, sample_type};
pub use pieces::{Cuts, Pieces};
pub use problem::{Problem, ProblemKind, Problems};
pub use record::*;

/// Cuts and decodes `bytes` as a batch of unknown origin: what fuzzing calls.
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
