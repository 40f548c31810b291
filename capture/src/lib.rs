//! What a profile is: dense typed tables, the rules they obey, and the file that keeps them.
//!
//! [`Tables`] is any set of rows. [`Capture`] is a set of rows that passed [`Capture::validate`]: every
//! count, index, range and cross-reference holds, so readers index without checking again.
//! [`Builder`] makes rows with interned dictionaries.
//!
//! Not for: asking questions (`microscope-analysis`) or recording (`microscope-profiler`).
#![forbid(unsafe_code)]

pub mod builder;
mod canonical;
pub mod cells;
mod column;
pub mod file;
#[cfg(any(test, feature = "testing"))]
pub mod fuzz;
mod ids;
pub mod import;
pub mod increment;
mod merge;
pub mod model;
mod publish;
pub mod segments;
pub mod spool;
pub mod table;
#[cfg(any(test, feature = "testing"))]
#[allow(clippy::indexing_slicing, reason = "only tests and benches use it")]
pub mod testing;
pub mod validate;

pub use builder::Builder;
pub use column::{BadValue, Column};
pub use file::{OpenError, is_capture};
pub use ids::*;
pub use increment::Increment;
pub use model::*;
pub use publish::{publish, publish_bytes};
pub use segments::{Epoch, Segment, Segmenter};
pub use spool::{RecoverReport, Spool, SpoolError, recover, recover_bytes};
pub use validate::{Invalid, Rule};

/// A set of rows that obey every rule of the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture(Tables);

impl std::ops::Deref for Capture {
    type Target = Tables;
    fn deref(&self) -> &Tables {
        &self.0
    }
}
