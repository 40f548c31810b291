//! A section's bytes, whole or read from its file block by block when first asked for.
//!
//! A binary of 500 MB has tens of megabytes of unwind sections, of which a recording needs a few blocks.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::files::FileHandle;

/// Bytes read at once from a file.
const BLOCK_BYTES: usize = 64 * 1024;
/// The longest section that is read: as far as code for x86-64 reaches. A sparse file may claim more.
const SECTION_BYTES_MAX: u64 = 1 << 31;

/// The bytes of one section.
pub struct SectionBytes(Source);

enum Source {
    Whole(Box<[u8]>),
    InFile { file: FileHandle, file_offset: u64, len: usize, blocks: OnceLock<Box<[Block]>> },
}

/// One block of a file: not yet asked for, read, or unreadable.
type Block = OnceLock<Option<Box<[u8]>>>;

impl SectionBytes {
    /// Bytes in memory.
    #[must_use]
    pub fn whole(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(Source::Whole(bytes.into()))
    }

    /// Uncompressed bytes of an opened file. The length is cut to what the file holds and the limit; nothing
    /// is read, and no memory taken, before bytes are asked for.
    #[must_use]
    pub fn in_file(file: FileHandle, file_offset: u64, len: u64) -> Self {
        let len = len.min(file.len().saturating_sub(file_offset)).min(SECTION_BYTES_MAX);
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        Self(Source::InFile { file, file_offset, len, blocks: OnceLock::new() })
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Source::Whole(bytes) => bytes.len(),
            Source::InFile { len, .. } => *len,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A range of bytes that lies in memory or in one block. `None` when it does not, or is not all there.
    #[must_use]
    pub fn borrowed(&self, offset: usize, len: usize) -> Option<&[u8]> {
        let end = offset.checked_add(len).filter(|end| *end <= self.len())?;
        if let Source::Whole(bytes) = &self.0 {
            return bytes.get(offset..end);
        }
        let within = offset % BLOCK_BYTES;
        if within + len > BLOCK_BYTES {
            return None;
        }
        self.block(offset / BLOCK_BYTES)?.get(within..within + len)
    }

    /// A range of bytes, gathered when it lies in several blocks. `None` when it is not all there.
    #[must_use]
    pub fn get(&self, offset: usize, len: usize) -> Option<Cow<'_, [u8]>> {
        match self.borrowed(offset, len) {
            Some(bytes) => Some(Cow::Borrowed(bytes)),
            None => self.gather(offset, offset.checked_add(len)?).map(Cow::Owned),
        }
    }

    /// A few bytes by value.
    #[inline]
    #[must_use]
    pub fn fixed<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        match &self.0 {
            Source::Whole(bytes) => bytes.get(offset..)?.first_chunk().copied(),
            Source::InFile { .. } => self.get(offset, N)?.as_ref().try_into().ok(),
        }
    }

    /// Every byte; for a section that must be scanned.
    #[must_use]
    pub fn all(&self) -> Option<Cow<'_, [u8]>> {
        self.get(0, self.len())
    }

    fn gather(&self, offset: usize, end: usize) -> Option<Vec<u8>> {
        if end > self.len() {
            return None;
        }
        let mut gathered = Vec::with_capacity(end - offset);
        let mut at = offset;
        while at < end {
            let stop = end.min((at / BLOCK_BYTES + 1) * BLOCK_BYTES);
            let within = at % BLOCK_BYTES;
            gathered.extend_from_slice(self.block(at / BLOCK_BYTES)?.get(within..within + stop - at)?);
            at = stop;
        }
        Some(gathered)
    }

    /// A block, read once. A block that could not be read stays missing: the file is gone or was cut.
    fn block(&self, index: usize) -> Option<&[u8]> {
        let Source::InFile { file, file_offset, len, blocks } = &self.0 else { return None };
        let read = || {
            let start = index * BLOCK_BYTES;
            let mut bytes = vec![0; BLOCK_BYTES.min(len - start)];
            let count = file.read_at(file_offset + start as u64, &mut bytes).ok()?;
            (count == bytes.len()).then(|| bytes.into_boxed_slice())
        };
        let unread = || std::iter::repeat_with(OnceLock::new).take(len.div_ceil(BLOCK_BYTES)).collect();
        blocks.get_or_init(unread).get(index)?.get_or_init(read).as_deref()
    }
}

impl std::fmt::Debug for SectionBytes {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "SectionBytes({} bytes)", self.len())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use super::*;

    fn file_of(len: usize) -> (Vec<u8>, FileHandle) {
        let bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        (bytes.clone(), Arc::new(bytes))
    }

    #[test]
    fn a_range_across_blocks_is_gathered() {
        let (bytes, file) = file_of(3 * BLOCK_BYTES);
        let section = SectionBytes::in_file(file, 100, (2 * BLOCK_BYTES) as u64);
        let (at, len) = (BLOCK_BYTES - 3, 10);
        assert!(
            matches!(section.get(at, len), Some(Cow::Owned(found)) if found == bytes[100 + at..100 + at + len])
        );
        assert!(matches!(section.get(5, len), Some(Cow::Borrowed(found)) if found == &bytes[105..105 + len]));
    }

    #[test]
    fn a_length_beyond_the_file_is_cut() {
        let (bytes, file) = file_of(1000);
        let section = SectionBytes::in_file(file, 900, u64::MAX);
        assert_eq!(section.len(), 100);
        assert_eq!(section.all().unwrap().as_ref(), &bytes[900..]);
        assert_eq!(section.get(99, 2), None);
    }

    /// Zeros without end, as a sparse file has them.
    struct Sparse;

    impl crate::files::ReadAt for Sparse {
        fn len(&self) -> u64 {
            1 << 60
        }
        fn read_at(&self, _offset: u64, into: &mut [u8]) -> std::io::Result<usize> {
            Ok(into.len())
        }
    }

    #[test]
    fn a_sparse_file_takes_no_more_memory_than_is_read_of_it() {
        let sections: Vec<_> =
            (0..1 << 16).map(|_| SectionBytes::in_file(Arc::new(Sparse), 0, u64::MAX)).collect();
        assert_eq!(sections[0].len() as u64, SECTION_BYTES_MAX);
        assert_eq!(sections[0].fixed(sections[0].len() - 8), Some([0; 8]));
        assert_eq!(sections[0].get(sections[0].len(), 1), None);
    }
}
