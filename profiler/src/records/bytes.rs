//! Reads integers and slices from bytes nobody vouches for: every read is checked, none panics.

/// The bytes of a record not read yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_ne_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_ne_bytes)
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_ne_bytes)
    }

    /// Two 32-bit numbers that share a word: pid and tid, cpu and reserved.
    pub(crate) fn pair(&mut self) -> Option<(u32, u32)> {
        Some((self.u32()?, self.u32()?))
    }

    /// `count` words, not yet read.
    pub(crate) fn words(&mut self, count: u64) -> Option<Words<'a>> {
        let bytes = usize::try_from(count).ok()?.checked_mul(8)?;
        self.take(bytes).map(Words)
    }
}

/// 64-bit words inside a record. They stay where the kernel wrote them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    /// Bytes as words in native order; an incomplete last word is left out.
    #[must_use]
    pub const fn from_bytes(bytes: &'a [u8]) -> Self {
        Self(bytes.as_chunks::<8>().0.as_flattened())
    }

    /// How many.
    #[must_use]
    pub const fn len(self) -> usize {
        self.0.len() / 8
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.len() < 8
    }

    /// Word `index`.
    #[must_use]
    pub fn get(self, index: usize) -> Option<u64> {
        let start = index.checked_mul(8)?;
        self.0.get(start..)?.first_chunk().map(|word| u64::from_ne_bytes(*word))
    }

    /// Every word in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = u64> + 'a {
        let (words, _) = self.0.as_chunks::<8>();
        words.iter().map(|word| u64::from_ne_bytes(*word))
    }

    /// The words before `middle` and those from it on; a `middle` past the end leaves the second empty.
    pub(crate) fn split(self, middle: usize) -> (Self, Self) {
        let (before, from) = self.0.split_at(middle.saturating_mul(8).min(self.0.len()));
        (Self(before), Self(from))
    }
}
