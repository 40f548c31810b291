//! Rows on disk while recording: memory stays bounded, and a killed recording keeps what was written.
//!
//! ```text
//! spool := magic (8), chunks
//! chunk := head (28): mark (u32), kind (u32), number (u32), samples (u32), payload bytes (u32),
//!                     CRC-32 of the payload (u32), CRC-32 of the head so far (u32)
//!          payload
//! ```
//! A chunk is an [`Increment`], the beginning of an epoch, or the end of the recording. [`Spool`] writes,
//! [`recover`] reads what a killed recorder left. The writer holds a lock on the file, so that nobody
//! recovers a recording that still runs.

mod chunk;
mod recover;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use recover::{RecoverReport, recover, recover_bytes};

use crate::publish::OWNER_ONLY;
use crate::{Increment, Tables};
use chunk::{Chunk, Kind};

const MAGIC: [u8; 8] = *b"\x89MSPOOL\n";

/// Why a spool could not be written or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpoolError {
    /// The file could not be made, read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A recorder still writes it.
    #[error("{path} belongs to a recording that still runs")]
    Live {
        /// The file.
        path: PathBuf,
    },
    /// It is no spool.
    #[error("{path} is not an unfinished recording")]
    NotASpool {
        /// The file.
        path: PathBuf,
    },
    /// What a sealing recorder wrote itself cannot be read back.
    #[error("{path}: chunk {number} cannot be read back: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which chunk.
        number: u32,
        /// Why.
        what: String,
    },
    /// An increment is larger than a chunk can be.
    #[error("{bytes} bytes of rows at once are more than the spool takes")]
    TooLarge {
        /// Its bytes.
        bytes: usize,
    },
}

/// The unfinished recording on disk. Dropping it leaves the file for [`recover`].
#[derive(Debug)]
pub struct Spool {
    file: File,
    path: PathBuf,
    /// Bytes of whole chunks. A chunk that could not be written whole is cut off again.
    length: u64,
    chunks: u32,
}

impl Spool {
    /// Makes the file, for its owner only, and locks it. There must be none of that name.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, SpoolError> {
        let path = path.into();
        let made = OpenOptions::new().read(true).write(true).create_new(true).mode(OWNER_ONLY).open(&path);
        match made {
            Ok(file) => Self::begin(file, path),
            Err(source) => Err(SpoolError::Io { path, source }),
        }
    }

    /// Takes over the file that was made. What holds nothing is not left behind.
    fn begin(mut file: File, path: PathBuf) -> Result<Self, SpoolError> {
        match file.try_lock().map_err(io_error).and_then(|()| file.write_all(&MAGIC)) {
            Ok(()) => Ok(Self { file, path, length: MAGIC.len() as u64, chunks: 0 }),
            Err(source) => {
                // Were it to fail, the only harm is an empty file.
                let _ = std::fs::remove_file(&path);
                Err(SpoolError::Io { path, source })
            }
        }
    }

    /// Appends an increment. After an error the spool still ends in whole chunks.
    pub fn append(&mut self, increment: &Increment) -> Result<(), SpoolError> {
        self.write(Kind::Increment, increment)
    }

    /// Says that ids begin again with the next increment.
    pub fn begin_epoch(&mut self) -> Result<(), SpoolError> {
        self.write(Kind::EpochBegins, &Increment::default())
    }

    /// Ends the recording and gives back all its rows, the epochs merged.
    pub fn seal(&mut self) -> Result<Tables, SpoolError> {
        self.write(Kind::Sealed, &Increment::default())?;
        self.rows()
    }

    /// All rows that were appended, the epochs merged. The spool stays unsealed: what a recorder that could
    /// not append everything has left is for [`recover`] still.
    pub fn rows(&self) -> Result<Tables, SpoolError> {
        let found = recover::read_chunks(&mut &self.file, self.length, &self.path)?;
        match found.stopped {
            None => Ok(found.tables),
            Some(what) => Err(SpoolError::Damaged { path: self.path.clone(), number: found.chunks, what }),
        }
    }

    /// Removes the file, once its capture is published.
    pub fn discard(self) -> Result<(), SpoolError> {
        std::fs::remove_file(&self.path).map_err(|source| self.io(source))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes on disk.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.length
    }

    fn write(&mut self, kind: Kind, increment: &Increment) -> Result<(), SpoolError> {
        let bytes = Chunk { kind, number: self.chunks, increment }.to_bytes()?;
        let written = self.file.seek(SeekFrom::Start(self.length)).and_then(|_| self.file.write_all(&bytes));
        if let Err(source) = written {
            // The cut can fail too; then the next chunk overwrites the torn one, as it begins where it did.
            let _ = self.file.set_len(self.length);
            return Err(self.io(source));
        }
        self.length += bytes.len() as u64;
        self.chunks += 1;
        Ok(())
    }

    fn io(&self, source: io::Error) -> SpoolError {
        SpoolError::Io { path: self.path.clone(), source }
    }
}

fn io_error(error: TryLockError) -> io::Error {
    match error {
        TryLockError::Error(error) => error,
        TryLockError::WouldBlock => io::Error::from(io::ErrorKind::WouldBlock),
    }
}

#[cfg(test)]
mod tests;
