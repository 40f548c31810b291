//! Why bytes are not a capture.

use std::io;

use thiserror::Error;

use crate::{BadValue, Invalid, TableKind};

/// Why a capture could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file could not be read.
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
    /// It is a directory, pipe, socket or device.
    #[error("not a regular file")]
    NotRegular,
    /// It is longer than captures may be.
    #[error("{bytes} bytes are more than a capture may have ({max})")]
    TooLarge {
        /// Its length.
        bytes: u64,
        /// The length allowed.
        max: u64,
    },
    /// It does not begin as a capture does.
    #[error("not a microscope capture")]
    NotACapture,
    /// It is of a version this program does not know.
    #[error("the file has format version {found}; this program reads version {known}")]
    UnknownVersion {
        /// The version of the file.
        found: u32,
        /// The version known.
        known: u32,
    },
    /// Its length is not the one it claims.
    #[error("the file claims {claimed} bytes and has {found}: it was cut or appended to")]
    WrongLength {
        /// The length in its header.
        claimed: u64,
        /// Its length.
        found: u64,
    },
    /// Its directory does not fit or contradicts itself.
    #[error("directory entry {entry}: {what}")]
    BadDirectory {
        /// Which entry.
        entry: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Bytes changed since they were written.
    #[error("the checksum of {what} does not match: the file is damaged")]
    Checksum {
        /// The table's name, or `the directory`.
        what: &'static str,
    },
    /// It has a required table this program does not know.
    #[error("required table {code} is not known: the file was written by a newer program")]
    UnknownRequired {
        /// The table's kind code.
        code: u16,
    },
    /// A table is of a version this program does not know.
    #[error("table {} has version {found}; this program reads version {known}", table.name())]
    UnknownTableVersion {
        /// The table.
        table: TableKind,
        /// The version of the file.
        found: u16,
        /// The version known.
        known: u16,
    },
    /// A table has another number of columns than its version says.
    #[error("table {} has {found} columns where its version has {expected}", table.name())]
    WrongColumns {
        /// The table.
        table: TableKind,
        /// Columns its version has.
        expected: usize,
        /// Columns found.
        found: usize,
    },
    /// A table claims more rows than its bytes can hold.
    #[error("table {} claims {rows} rows in {bytes} bytes", table.name())]
    TooManyRows {
        /// The table.
        table: TableKind,
        /// Rows it claims.
        rows: u64,
        /// Bytes it has.
        bytes: usize,
    },
    /// A column cannot be decoded.
    #[error("table {}, column {column}: {source}", table.name())]
    BadColumn {
        /// The table.
        table: TableKind,
        /// The column's name.
        column: &'static str,
        /// What is wrong.
        source: DecodeError,
    },
    /// The rows break a rule.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// Why the bytes of a column are not cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end too early.
    #[error("the bytes end too early")]
    Truncated,
    /// Bytes are left over.
    #[error("{0} bytes are left over")]
    LeftOver(usize),
    /// An integer does not fit 64 bits.
    #[error("an integer is too long")]
    BadVarint,
    /// A codec that is not known.
    #[error("codec {0} is not known")]
    UnknownCodec(u8),
    /// A bit width above 64.
    #[error("{0} bits a cell are more than 64")]
    BadWidth(u8),
    /// An exception beyond its block, or too large for a cell.
    #[error("an exception does not fit its block")]
    BadException,
    /// Code lengths that make no code.
    #[error("the code lengths make no code")]
    BadCode,
    /// A rank that no cell has.
    #[error("a rank has no cell")]
    BadRank,
    /// A column whose groups are not there, too many, or foretold by it themselves.
    #[error("the column of its groups cannot be used")]
    BadGroup,
    /// Run lengths that do not add up to the rows.
    #[error("the runs do not add up to the rows")]
    BadRuns,
    /// A cell that its column cannot hold.
    #[error("{0}")]
    BadValue(#[from] BadValue),
    /// Compressed text that cannot be expanded to the length it claims.
    #[error("the compressed text does not expand to the length it claims")]
    BadDeflate,
    /// String lengths that do not cut the text.
    #[error("the length of string {row} does not fit the text")]
    BadLength {
        /// The string.
        row: usize,
    },
    /// Text that is not UTF-8.
    #[error("string {row} is not UTF-8")]
    NotUtf8 {
        /// The string.
        row: usize,
    },
}
