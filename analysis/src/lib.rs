//! Pure questions over a capture: the same capture and the same [`Query`] always give the same answer.
//!
//! A [`Query`] says what to look at (filter, measure) and how finely (granularity). Each function of
//! [`views`] answers it with a result type that serializes as the documented JSON; [`overlay::overlay`] gives the
//! columns an editor draws; [`Accumulator`] answers while a recording runs; [`export`] writes other profilers'
//! formats.
//!
//! ```
//! use microscope_analysis::{Query, views};
//! use microscope_capture::Capture;
//!
//! fn hottest(capture: &Capture) -> Option<String> {
//!     let flat = views::flat(capture, &Query::default()).ok()?;
//!     flat.rows.first().map(|row| row.key.name.clone().into_owned())
//! }
//! ```
//!
//! Not for: reading files (`microscope-capture`), turning numbers into text (`presentation` of the adapter).
#![forbid(unsafe_code)]

mod accumulate;
mod ask;
mod both;
mod error;
pub mod export;
mod facts;
mod keys;
pub mod overlay;
mod paths;
mod query;
mod select;
pub mod views;
mod weights;

pub use accumulate::{Accumulator, Costs, Since};
pub use error::QueryError;
pub use keys::{Key, KeyKind};
pub use query::{Filter, Granularity, Look, MeasureChoice, Query, Who};
pub use weights::{Cost, Quantity};
