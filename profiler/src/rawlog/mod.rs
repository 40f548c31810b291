//! A recording's raw log: everything the processor was given, so that it can be given again.
//!
//! [`RawLogWriter`] keeps what the collector delivered (ring bytes with their rings and positions, layouts,
//! rounds) and every answer of [`Files`](crate::files::Files) and [`Memory`](crate::files::Memory) in between.
//! [`RawLog`] gives the same deliveries and answers: a processor made with them makes the same rows. Files are
//! kept as far as they were read, block by block, so no other machine's files play a part.
//!
//! A raw log holds stack bytes of the program: it is for tests and for reports of defects, never a capture.

mod chunk;
mod codec;
mod file;
mod frame;
mod read;
#[cfg(test)]
mod tests;
mod write;

use thiserror::Error;

pub use chunk::Start;
pub use read::{Deliveries, RawLog};
pub use write::RawLogWriter;

/// The size at which a raw log stops growing unless another is asked for.
pub const BYTES_MAX: u64 = 8 << 30;

/// Why a raw log cannot be written or read.
#[derive(Debug, Error)]
pub enum RawLogError {
    /// The file system refused.
    #[error("cannot read or write the raw log: {0}")]
    File(#[from] std::io::Error),
    /// The file is something else.
    #[error("not a raw log")]
    NotARawLog,
    /// Another version wrote it.
    #[error("raw log of version {version}, this program reads {}: record it anew", frame::VERSION)]
    Version {
        /// Its version.
        version: u32,
    },
    /// It does not begin with what the recording began with.
    #[error("the raw log lacks its beginning")]
    NoStart,
    /// A chunk was changed.
    #[error("the chunk at byte {offset} of the raw log does not match its checksum")]
    Checksum {
        /// Where the chunk begins.
        offset: u64,
    },
    /// A chunk's content cannot be.
    #[error("the chunk at byte {offset} of the raw log is malformed")]
    Malformed {
        /// Where the chunk begins.
        offset: u64,
    },
    /// Its answers do not fit in memory.
    #[error("the raw log's answers are longer than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: u64,
    },
}
