//! The capture file: [`Capture::read`] and [`Capture::to_bytes`]. The format is in `docs/capture-format.md`.
//!
//! A file is a directory of tables; a table is its columns, each in the codec that makes it smallest.
//! Files are read, not mapped: nothing changes under a reader. Every length is a claim until it was
//! compared with the bytes that are there, so opening takes at most about 1,100 times the file's length
//! of memory (compressed text; other tables at most 600 times: a row takes at least one bit).

mod bytes;
pub(crate) mod codec;
mod decode;
mod directory;
mod encode;
mod error;
mod jobs;
mod strings;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

pub use error::{DecodeError, OpenError};

use crate::{Capture, TableKind};
pub(crate) use bytes::Reader;
pub(crate) use decode::decode;
pub(crate) use encode::encode;

/// The longest file that is read.
pub const FILE_BYTES_MAX: u64 = 8 << 30;

/// The version that every table has today.
const TABLE_VERSION: u16 = 1;

/// The rows that one byte of a table allows: fewer bits are padded with zeros, so that a row count is
/// bounded by what is there.
const ROWS_PER_BYTE_MAX: usize = 8;

impl Capture {
    /// Reads and validates a capture.
    pub fn read(bytes: &[u8]) -> Result<Self, OpenError> {
        Ok(Self::validate(decode(bytes)?)?)
    }

    /// Reads and validates a capture file.
    pub fn read_file(path: &Path) -> Result<Self, OpenError> {
        Self::read(&read_regular(path)?)
    }

    /// The file's bytes. Equal captures give equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Writes the file's bytes. To put a file in its place whole or not at all, see [`crate::publish`].
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.to_bytes())
    }
}

/// Whether bytes begin as a capture does.
#[must_use]
pub fn is_capture(bytes: &[u8]) -> bool {
    bytes.starts_with(&directory::MAGIC)
}

/// The bytes of a regular file that is not too long.
fn read_regular(path: &Path) -> Result<Vec<u8>, OpenError> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(OpenError::NotRegular);
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length > FILE_BYTES_MAX {
        return Err(OpenError::TooLarge { bytes: length, max: FILE_BYTES_MAX });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The name of a kind code in messages.
fn table_name(code: u16) -> &'static str {
    TableKind::from_code(code).map_or("a table that is not known", TableKind::name)
}

#[cfg(test)]
mod tests;
