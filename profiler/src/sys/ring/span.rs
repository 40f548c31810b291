//! A stretch of a ring that was lent to a reader. It reads ring memory in place until the ring needs the space
//! back; then it reads a copy, and nobody notices but the clock.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::RingMemory;

/// Where the bytes of a span are now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the ring; the tail stays before them.
    Ring,
    /// In [`Loan::copy`]; the ring is free to go on.
    Copy,
    /// Not needed any more.
    Returned,
}

/// What a span and its ring share. Invariant: while `place` is [`Place::Ring`] the ring's tail is not past the
/// span's start. The ring changes the place or moves the tail only under this lock.
#[derive(Debug)]
pub(super) struct Loan {
    pub(super) place: Place,
    pub(super) copy: Vec<u8>,
}

pub(super) type SharedLoan = Arc<Mutex<Loan>>;

pub(super) fn lock(loan: &SharedLoan) -> MutexGuard<'_, Loan> {
    loan.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of a ring, in the order they were written. Dropping it gives the space back.
#[derive(Debug)]
pub struct Span {
    memory: Arc<RingMemory>,
    loan: SharedLoan,
    position: u64,
    length: usize,
}

impl Span {
    /// A span of `range`, which `loan` keeps in place.
    pub(super) fn new(memory: Arc<RingMemory>, loan: SharedLoan, range: Range<u64>) -> Self {
        debug_assert!(range.end - range.start <= memory.data_bytes() as u64);
        Self { memory, loan, position: range.start, length: (range.end - range.start) as usize }
    }

    /// The position of the first byte in the ring's stream.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none. A ring lends no empty span.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Holds the bytes in place for as long as the result lives. Brief holds are best: the ring cannot reclaim
    /// the space meanwhile.
    pub fn read(&self) -> SpanBytes<'_> {
        SpanBytes { span: self, loan: lock(&self.loan) }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        lock(&self.loan).place = Place::Returned;
    }
}

/// A hold on the bytes of a [`Span`].
#[derive(Debug)]
pub struct SpanBytes<'span> {
    span: &'span Span,
    loan: MutexGuard<'span, Loan>,
}

impl SpanBytes<'_> {
    /// The bytes, in two parts when they pass the end of the ring.
    pub fn parts(&self) -> (&[u8], &[u8]) {
        match self.loan.place {
            Place::Copy => (&self.loan.copy, &[]),
            // SAFETY: the span was made of bytes below the head; the place is `Ring` while the span lives and
            // no copy was made, the lock is held, so by the invariant of `Loan` the tail stays before them.
            Place::Ring => unsafe { self.span.memory.bytes(self.span.position, self.span.length) },
            Place::Returned => (&[], &[]),
        }
    }
}
