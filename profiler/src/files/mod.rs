//! The processor's only outside help: files and process memory, behind traits that a replay can stand in for.
//!
//! [`Files`] opens regular files and reads the kernel's texts about processes, [`Memory`] reads a process's
//! memory. [`OsFiles`] and [`OsMemory`] ask the running system; `rawlog` records their answers and gives them
//! again. Answers about something that changes carry the time of asking: they say nothing of earlier times.

mod os;
mod proc_maps;
mod request;

use std::io;
use std::sync::Arc;

pub use os::{OsFiles, OsMemory};
pub use proc_maps::{MapsLine, maps_lines};
pub use request::{Answer, FileProblem, OpenedFile, Place, Text};

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

/// Files, and the kernel's texts about processes.
pub trait Files: Send + Sync {
    /// Opens a regular file for reading.
    fn open(&self, place: &Place) -> Result<OpenedFile, FileProblem>;
    /// Reads a text whole.
    fn text(&self, text: &Text) -> Result<Answer<Vec<u8>>, FileProblem>;
    /// The threads a process has, in rising order.
    fn threads(&self, pid: u32) -> Result<Answer<Vec<u32>>, FileProblem>;
}

/// The memory of running processes.
pub trait Memory: Send + Sync {
    /// Reads at most `into.len()` bytes from `address`; short where readable memory ends.
    fn read(&self, pid: u32, address: u64, into: &mut [u8]) -> Result<Answer<usize>, FileProblem>;
}
