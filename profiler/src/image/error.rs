//! Why a file is no image, or a part of it cannot be read.

use std::io;

use thiserror::Error;

/// Why an ELF file or a part of it is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImageError {
    /// The operating system refused to read.
    #[error("cannot read {what}: {kind}")]
    Io {
        /// The part that was read.
        what: &'static str,
        /// The system's answer.
        kind: io::ErrorKind,
    },
    /// The file does not begin as ELF files do.
    #[error("not an ELF file")]
    NotElf,
    /// An ELF file of a form that is not read.
    #[error("unsupported ELF file: {what} is {value}")]
    Unsupported {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// The file is shorter than it says.
    #[error("{what} lies at {offset:#x} with {size} bytes, but the file has {file_bytes}")]
    Truncated {
        /// The part.
        what: &'static str,
        /// Where it should be.
        offset: u64,
        /// How long it should be.
        size: u64,
        /// How long the file is.
        file_bytes: u64,
    },
    /// A size or count beyond its limit.
    #[error("{what} is {value}, more than the limit of {max}")]
    TooLarge {
        /// The size or count.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The limit.
        max: u64,
    },
    /// A field whose value contradicts the format.
    #[error("malformed {what}: {value:#x}")]
    Malformed {
        /// The field.
        what: &'static str,
        /// Its value.
        value: u64,
    },
    /// A compressed section that does not decompress to what it claims.
    #[error("section {section} does not decompress: {cause}")]
    Compression {
        /// The section's name.
        section: String,
        /// What is wrong.
        cause: String,
    },
}
