//! What is wrong with a record, where, and how often: a bad record costs itself, not the recording.

use thiserror::Error;

use crate::collector::RingId;

/// Why bytes of a ring are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
pub enum ProblemKind {
    /// The header's size is smaller than a header, not a multiple of 8, or passes the end of the bytes.
    /// Nothing tells where the next record begins.
    #[error("the record's size of {size} bytes cannot be")]
    BadSize {
        /// The size that the header states.
        size: u16,
    },
    /// The bytes end inside a header.
    #[error("{bytes} bytes are left, fewer than a header has")]
    NoHeader {
        /// How many are left.
        bytes: u16,
    },
    /// No event of this recording has the identifier.
    #[error("no event has the identifier {event}")]
    UnknownEvent {
        /// The identifier found.
        event: u64,
    },
    /// A field passes the record's end.
    #[error("a record of kind {record} ends inside its fields")]
    Short {
        /// The record's type.
        record: u32,
    },
    /// A record of a type that is not decoded; it is skipped by its size.
    #[error("records of kind {record} are not decoded")]
    UnknownRecord {
        /// The record's type.
        record: u32,
    },
    /// The record states a time that did not come while hundreds of rounds passed.
    #[error("the time {time_ns} ns lies too far ahead")]
    FutureTime {
        /// The time stated.
        time_ns: u64,
    },
}

/// One bad record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Problem {
    /// Why.
    pub kind: ProblemKind,
    /// The ring it was read from.
    pub ring: RingId,
    /// Where it began: bytes written to the ring before it.
    pub position: u64,
    /// Bytes that could not be decoded because of it.
    pub bytes: u64,
}

/// Bad records of a recording, counted; the first few are kept as examples.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    count: u64,
    bytes: u64,
    examples: Vec<Problem>,
}

impl Problems {
    /// Examples kept.
    pub const EXAMPLES: usize = 8;

    /// Counts one.
    pub fn note(&mut self, problem: Problem) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(problem.bytes);
        if self.examples.len() < Self::EXAMPLES {
            self.examples.push(problem);
        }
    }

    /// How many.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Bytes that were not decoded.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The first few, in the order met.
    #[must_use]
    pub fn examples(&self) -> &[Problem] {
        &self.examples
    }
}
