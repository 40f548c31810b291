//! The only reader of a ring: lends what was written, takes back what was returned, and copies what is lent
//! when the ring runs out of space.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::RingMemory;
use super::span::{Loan, Place, SharedLoan, Span, lock};

/// Returned loans kept, with their buffers, for the next spans: lending allocates nothing in steady state.
const SPARE_LOANS_MAX: usize = 8;

/// A ring and what is lent of it. Invariant: tail ≤ start of the oldest loan in the ring, loans follow one
/// another, and the last one ends at or before `taken` ≤ head.
#[derive(Debug)]
pub struct Ring {
    memory: Arc<RingMemory>,
    lent: VecDeque<Lent>,
    copied: Vec<Copied>,
    spare: Vec<SharedLoan>,
    tail: u64,
    taken: u64,
}

/// A loan whose bytes are in the ring, and which bytes.
#[derive(Debug)]
struct Lent {
    loan: SharedLoan,
    range: Range<u64>,
}

/// A loan whose bytes were copied, and how many.
#[derive(Debug)]
struct Copied {
    loan: SharedLoan,
    length: usize,
}

impl Ring {
    /// Reads a ring from its start.
    pub fn new(memory: RingMemory) -> Self {
        Self {
            memory: Arc::new(memory),
            lent: VecDeque::new(),
            copied: Vec::new(),
            spare: Vec::new(),
            tail: 0,
            taken: 0,
        }
    }

    /// The mapping, for a script to write.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> Arc<RingMemory> {
        Arc::clone(&self.memory)
    }

    /// How many bytes of data the ring holds.
    pub fn data_bytes(&self) -> usize {
        self.memory.data_bytes()
    }

    /// Whether bytes were written that nobody has taken.
    pub fn has_pending(&self) -> bool {
        self.memory.head() != self.taken
    }

    /// Whether spans are out that keep the kernel from space of the ring.
    pub fn is_lent(&self) -> bool {
        !self.lent.is_empty()
    }

    /// How many bytes the kernel cannot write to now.
    pub fn used_bytes(&self) -> u64 {
        self.memory.head().saturating_sub(self.tail)
    }

    /// How many bytes were taken so far.
    pub fn taken_bytes(&self) -> u64 {
        self.taken
    }

    /// How many bytes of copies are out.
    pub fn copied_bytes(&self) -> usize {
        self.copied.iter().map(|copied| copied.length).sum()
    }

    /// Looks at what was written and not taken. It stays where it is.
    pub fn pending(&self) -> (&[u8], &[u8]) {
        match usize::try_from(self.memory.head().saturating_sub(self.taken)) {
            // SAFETY: the range lies between `taken` and the head, the tail is not past `taken` (invariant) and
            // moves only through `&mut self`.
            Ok(length) if length <= self.memory.data_bytes() => unsafe {
                self.memory.bytes(self.taken, length)
            },
            _ => (&[], &[]),
        }
    }

    /// Lends everything written since the last call.
    pub fn take(&mut self) -> Option<Span> {
        let range = self.taken..self.memory.head();
        self.taken = range.end;
        // Longer than the data is only a head that ignores our tail: nothing whole is left to read.
        if range.is_empty() || range.end - range.start > self.memory.data_bytes() as u64 {
            return None;
        }
        let loan = self.spare.pop().unwrap_or_else(new_loan);
        lock(&loan).place = Place::Ring;
        self.lent.push_back(Lent { loan: Arc::clone(&loan), range: range.clone() });
        Some(Span::new(Arc::clone(&self.memory), loan, range))
    }

    /// Frees the space of returned spans, up to the oldest that is still out.
    pub fn reclaim(&mut self) {
        while let Some(returned) = self.lent.pop_front_if(|lent| is_returned(&lent.loan)) {
            self.keep_spare(returned.loan);
        }
        for index in (0..self.copied.len()).rev() {
            if is_returned(&self.copied[index].loan) {
                let returned = self.copied.swap_remove(index);
                self.keep_spare(returned.loan);
            }
        }
        self.tail = self.lent.front().map_or(self.taken, |lent| lent.range.start);
        self.memory.set_tail(self.tail);
    }

    /// Moves the oldest span that is out, if it is at most `bytes_max` long, to memory of its own, and frees its
    /// space. Returns how many bytes that was; nothing when no span is out, it is being read, or it is too long.
    /// The copy is whole: leaving out the invalid rest of copied stacks would need every record's layout here, and
    /// would move the records that a reader has found already.
    pub fn copy_oldest(&mut self, bytes_max: usize) -> Option<usize> {
        self.reclaim();
        let oldest = self.lent.front()?;
        let length = usize::try_from(oldest.range.end - oldest.range.start).ok()?;
        if length > bytes_max {
            return None;
        }
        let mut loan = oldest.loan.try_lock().ok()?;
        if loan.place == Place::Ring {
            // SAFETY: a span of this range was lent and not returned, the lock is held, and only `reclaim` moves
            // the tail, never past the oldest loan.
            let (first, second) = unsafe { self.memory.bytes(oldest.range.start, length) };
            loan.copy.clear();
            loan.copy.extend_from_slice(first);
            loan.copy.extend_from_slice(second);
            loan.place = Place::Copy;
        }
        drop(loan);
        let moved = self.lent.pop_front()?;
        self.copied.push(Copied { loan: moved.loan, length });
        self.reclaim();
        Some(length)
    }

    fn keep_spare(&mut self, loan: SharedLoan) {
        if self.spare.len() < SPARE_LOANS_MAX {
            self.spare.push(loan);
        }
    }
}

/// Never waits: a loan that is being read is not returned.
fn is_returned(loan: &SharedLoan) -> bool {
    loan.try_lock().is_ok_and(|loan| loan.place == Place::Returned)
}

fn new_loan() -> SharedLoan {
    Arc::new(Mutex::new(Loan { place: Place::Ring, copy: Vec::new() }))
}
