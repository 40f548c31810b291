//! What the collector hands to the processor, in order: layouts before the records that need them, batches of
//! ring bytes, the end of each round, and at last the report.

use std::fmt;

use super::{CollectorReport, EventLayout};
use crate::sys::ring::{Span, SpanBytes};

/// One message on the bounded queue.
#[derive(Debug)]
pub enum Delivery {
    /// Events that were opened after the start. Comes before any of their records.
    Events(Vec<EventLayout>),
    /// Bytes of one ring.
    Batch(Batch),
    /// Every ring was drained: records up to this time of CLOCK_MONOTONIC were handed over.
    Round {
        /// Read before the first ring of the round was, less the time a record may take to appear.
        complete_to_ns: u64,
    },
    /// The collector ended; nothing follows.
    Finished(Box<CollectorReport>),
}

/// Which of a processor's two rings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RingKind {
    /// Mappings, names, forks, exits. Never paused.
    SideBand,
    /// Samples.
    Samples,
}

/// A ring: one of each kind per processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RingId {
    /// The processor whose records it takes.
    pub cpu: u32,
    /// What it takes of them.
    pub kind: RingKind,
}

impl RingId {
    /// A number for raw logs; [`Self::from_code`] reads it back.
    pub fn code(self) -> u32 {
        self.cpu << 1 | u32::from(self.kind == RingKind::Samples)
    }

    /// The ring of a number.
    pub fn from_code(code: u32) -> Self {
        let kind = if code & 1 == 1 { RingKind::Samples } else { RingKind::SideBand };
        Self { cpu: code >> 1, kind }
    }
}

impl fmt::Display for RingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            RingKind::SideBand => "side-band",
            RingKind::Samples => "sample",
        };
        write!(f, "{kind} ring of cpu {}", self.cpu)
    }
}

/// Whole records of one ring in the order the kernel wrote them. Borrows ring memory until dropped, so drop it
/// as soon as its records are done.
#[derive(Debug)]
pub struct Batch {
    ring: RingId,
    position: u64,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Lent(Span),
    Owned(Vec<u8>),
}

impl Batch {
    /// Bytes lent by a ring.
    pub(crate) fn lent(ring: RingId, span: Span) -> Self {
        Self { ring, position: span.position(), content: Content::Lent(span) }
    }

    /// Bytes that came from elsewhere, such as a raw log.
    pub fn owned(ring: RingId, position: u64, bytes: Vec<u8>) -> Self {
        Self { ring, position, content: Content::Owned(bytes) }
    }

    /// Which ring wrote them.
    pub fn ring(&self) -> RingId {
        self.ring
    }

    /// Bytes the ring had taken before these. Batches of a ring follow one another without gaps.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        match &self.content {
            Content::Lent(span) => span.len(),
            Content::Owned(bytes) => bytes.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Holds the bytes in place while they are read. Between two holds the collector may move them, when it
    /// needs the ring's space: offsets stay valid, addresses do not. Hold it for a record or a run of records,
    /// not while waiting for anything.
    pub fn read(&self) -> BatchBytes<'_> {
        match &self.content {
            Content::Lent(span) => BatchBytes(Hold::Lent(span.read())),
            Content::Owned(bytes) => BatchBytes(Hold::Owned(bytes)),
        }
    }
}

/// A hold on the bytes of a [`Batch`].
#[derive(Debug)]
pub struct BatchBytes<'batch>(Hold<'batch>);

#[derive(Debug)]
enum Hold<'batch> {
    Lent(SpanBytes<'batch>),
    Owned(&'batch [u8]),
}

impl BatchBytes<'_> {
    /// The bytes, in two parts when the batch passes the end of the ring: a record may lie across both.
    pub fn parts(&self) -> (&[u8], &[u8]) {
        match &self.0 {
            Hold::Lent(bytes) => bytes.parts(),
            Hold::Owned(bytes) => (bytes, &[]),
        }
    }
}
