//! The tables of a capture, grouped by what they describe.
//!
//! Times are nanoseconds of CLOCK_MONOTONIC of the recorded machine, relative to the recording's start
//! (the setting `start-realtime-ns` gives the wall clock there). Durations end in `_ns`.

mod activity;
mod code;
mod labels;
mod process;
mod quality;
mod samples;
pub mod setting_names;
mod stack;
mod strings;
mod tables;

pub use activity::*;
pub use code::*;
pub use labels::*;
pub use process::*;
pub use quality::*;
pub use samples::*;
pub use stack::*;
pub use strings::*;
pub(crate) use tables::for_each_table;
pub use tables::*;
