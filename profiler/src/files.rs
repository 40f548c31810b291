//! The processor's only outside help: files and process memory, behind traits that a replay can stand in for.

use std::io;
use std::sync::Arc;

/// Positioned reads of bytes that nobody vouches for: the length may be wrong a moment later.
pub trait ReadAt: Send + Sync {
    /// The length in bytes when opened.
    fn len(&self) -> u64;
    /// Whether there was nothing when opened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Reads at most `into.len()` bytes from `offset`; short only at the end.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;
}

/// An opened regular file, kept by identity: it stays readable when its path is replaced or deleted.
pub type FileHandle = Arc<dyn ReadAt>;

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.as_slice().len());
        let found = &self[start..];
        let count = found.len().min(into.len());
        into[..count].copy_from_slice(&found[..count]);
        Ok(count)
    }
}
