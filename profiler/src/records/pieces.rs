//! A batch's bytes: one piece, or two where the ring wrapped, perhaps inside a record.

use std::ops::Range;

use super::ProblemKind;
use super::decode::{HEADER_BYTES, Header};

/// Bytes of a ring in the order they were written.
#[derive(Debug, Clone, Copy)]
pub struct Pieces<'a> {
    first: &'a [u8],
    second: &'a [u8],
}

impl<'a> Pieces<'a> {
    /// Bytes up to the ring's end, and those that went on at its beginning.
    #[must_use]
    pub const fn new(first: &'a [u8], second: &'a [u8]) -> Self {
        Self { first, second }
    }

    /// How many bytes.
    #[must_use]
    pub const fn len(self) -> usize {
        self.first.len() + self.second.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes of `range`: in place, or joined in `scratch` where the ring wrapped inside them.
    /// A range outside the bytes is empty.
    pub fn slice<'s>(self, range: Range<usize>, scratch: &'s mut Vec<u8>) -> &'s [u8]
    where
        'a: 's,
    {
        let middle = self.first.len();
        if range.end <= middle {
            return self.first.get(range).unwrap_or_default();
        }
        if range.start >= middle {
            return self.second.get(range.start - middle..range.end - middle).unwrap_or_default();
        }
        self.copy(range, scratch);
        scratch
    }

    /// Replaces what `into` holds by the bytes of `range`.
    pub fn copy(self, range: Range<usize>, into: &mut Vec<u8>) {
        let middle = self.first.len();
        into.clear();
        let first = range.start.min(middle)..range.end.min(middle);
        into.extend_from_slice(self.first.get(first).unwrap_or_default());
        let second = range.start.max(middle) - middle..range.end.max(middle) - middle;
        into.extend_from_slice(self.second.get(second).unwrap_or_default());
    }

    /// Where each record lies, by the sizes in their headers.
    #[must_use]
    pub const fn cuts(self) -> Cuts<'a> {
        Cuts { pieces: self, next: 0 }
    }

    /// The header of the record at `start`, which may itself lie in both pieces.
    fn header_at(self, start: usize) -> Result<Header, ProblemKind> {
        let mut joined = [0; HEADER_BYTES];
        let first = self.first.get(start..).unwrap_or_default();
        let second = self.second.get(start.saturating_sub(self.first.len())..).unwrap_or_default();
        let mut count = 0;
        for (to, from) in joined.iter_mut().zip(first.iter().chain(second)) {
            *to = *from;
            count += 1;
        }
        Header::read(joined.get(..count).unwrap_or_default())
    }
}

/// The places of a batch's records, or what stops the search for more.
#[derive(Debug, Clone)]
pub struct Cuts<'a> {
    pieces: Pieces<'a>,
    next: usize,
}

impl Iterator for Cuts<'_> {
    type Item = Result<Range<usize>, ProblemKind>;

    fn next(&mut self) -> Option<Self::Item> {
        let (start, len) = (self.next, self.pieces.len());
        if start >= len {
            return None;
        }
        let end = self.pieces.header_at(start).and_then(|header| {
            let end = start + usize::from(header.size);
            if end <= len { Ok(end) } else { Err(ProblemKind::BadSize { size: header.size }) }
        });
        self.next = end.unwrap_or(len);
        Some(end.map(|end| start..end))
    }
}
