//! Why a question has no answer.

use thiserror::Error;

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QueryError {
    /// The capture has no quantity at all.
    #[error("the capture measures nothing")]
    NoMeasure,
    /// The capture has no such quantity.
    #[error("the capture has no measure named {name:?}; it has {known}")]
    UnknownMeasure {
        /// What was asked for.
        name: String,
        /// The names there are, separated by commas.
        known: String,
    },
    /// No thread matches the filter.
    #[error("no thread of the capture has the id or name {0:?}")]
    UnknownThread(String),
    /// No process matches the filter.
    #[error("no process of the capture has the id or name {0:?}")]
    UnknownProcess(String),
    /// The time range is empty.
    #[error("the time range ends at {to_ns} ns, not after its beginning at {from_ns} ns")]
    EmptyRange {
        /// Its beginning.
        from_ns: u64,
        /// Its end.
        to_ns: u64,
    },
    /// A time range was asked of running totals.
    #[error("running totals keep no times; ask from a stop on, or ask the capture")]
    NoTimes,
    /// No function has the name.
    #[error("no function of the capture is named {0:?}")]
    UnknownFunction(String),
}
