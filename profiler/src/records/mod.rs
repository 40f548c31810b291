//! From a ring's bytes to [`Record`]s that borrow them.
//!
//! [`decode`] takes the bytes of one record and the [`Layouts`] of the recording's events. It is total: any
//! bytes give a record or a [`ProblemKind`], never a panic or a read outside them, and nothing is allocated.
//! [`pieces::Pieces`] are a batch's bytes, in two parts where the ring wrapped, and cut them into records.

mod any;
mod bytes;
mod decode;
mod encode;
mod layout;
mod pieces;
mod problem;
mod record;
mod sample;
mod side_band;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod text;

pub use any::decode_any;
pub use bytes::Words;
pub use decode::decode;
pub(crate) use decode::{Glance, GlanceKind, glance};
pub use encode::encode;
pub use layout::{BadLayout, Layout, Layouts, Role, sample_type};
pub use pieces::{Cuts, Pieces};
pub use problem::{Problem, ProblemKind, Problems};
pub use record::*;
