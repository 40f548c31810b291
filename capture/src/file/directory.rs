//! The head of a file: magic, version, length, and one entry per table.
//!
//! ```text
//! head      := magic (8), format version (u32), tables (u32), file length (u64)
//! entry     := kind (u16), flags (u16), table version (u16), columns (u16), rows (u64),
//!              offset (u64), length (u64), CRC-32 of the table's bytes (u32), 0 (u32)
//! file      := head, entries, CRC-32 of head and entries (u32), tables
//! ```
//! All little-endian. Entries ascend by kind; tables follow each other without gaps, in that order.

use super::bytes::Reader;
use super::{DecodeError, OpenError};

/// Like PNG's: a byte above 7 bits and a line end show what transfers did to the file.
pub(super) const MAGIC: [u8; 8] = *b"\x89MSCOPE\n";
/// The version of head and directory.
pub(super) const FORMAT_VERSION: u32 = 1;
/// A reader that does not know a table with this flag refuses the file.
pub(super) const REQUIRED: u16 = 1;

const HEAD_BYTES: usize = 24;
const ENTRY_BYTES: usize = 40;
const CHECKSUM_BYTES: usize = 4;

/// One table of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) kind: u16,
    pub(super) flags: u16,
    pub(super) version: u16,
    pub(super) columns: u16,
    pub(super) rows: u64,
    /// The table's bytes, checked against their checksum.
    pub(super) bytes: &'a [u8],
}

/// Writes a whole file.
pub(super) fn write(entries: &[Entry<'_>]) -> Vec<u8> {
    let tables_at = HEAD_BYTES + entries.len() * ENTRY_BYTES + CHECKSUM_BYTES;
    let file_bytes = tables_at + entries.iter().map(|entry| entry.bytes.len()).sum::<usize>();
    let mut out = Vec::with_capacity(file_bytes);
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    out.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    out.extend_from_slice(&(file_bytes as u64).to_le_bytes());
    let mut offset = tables_at;
    for entry in entries {
        write_entry(entry, offset, &mut out);
        offset += entry.bytes.len();
    }
    let checksum = crc32fast::hash(&out);
    out.extend_from_slice(&checksum.to_le_bytes());
    for entry in entries {
        out.extend_from_slice(entry.bytes);
    }
    out
}

fn write_entry(entry: &Entry<'_>, offset: usize, out: &mut Vec<u8>) {
    for half in [entry.kind, entry.flags, entry.version, entry.columns] {
        out.extend_from_slice(&half.to_le_bytes());
    }
    for long in [entry.rows, offset as u64, entry.bytes.len() as u64] {
        out.extend_from_slice(&long.to_le_bytes());
    }
    out.extend_from_slice(&crc32fast::hash(entry.bytes).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
}

/// Reads head and directory, and checks them against the file's length and all checksums.
pub(super) fn read(file: &[u8]) -> Result<Vec<Entry<'_>>, OpenError> {
    let count = read_head(file)?;
    let claimed = (count as usize).saturating_mul(ENTRY_BYTES).saturating_add(HEAD_BYTES);
    let too_many = OpenError::BadDirectory { entry: 0, what: "more entries than the file has room for" };
    let Some((head, rest)) = file.split_at_checked(claimed) else { return Err(too_many) };
    let Some((checksum, _)) = rest.split_first_chunk() else { return Err(too_many) };
    if u32::from_le_bytes(*checksum) != crc32fast::hash(head) {
        return Err(OpenError::Checksum { what: "the directory" });
    }
    let mut next = Next { kind: 0, offset: (claimed + CHECKSUM_BYTES) as u64 };
    let entries = head[HEAD_BYTES..].chunks_exact(ENTRY_BYTES).enumerate();
    let entries: Vec<_> =
        entries.map(|(number, entry)| next.entry(file, number, entry)).collect::<Result<_, _>>()?;
    match next.offset == file.len() as u64 {
        true => Ok(entries),
        false => Err(OpenError::BadDirectory { entry: entries.len(), what: "bytes belong to no table" }),
    }
}

/// Checks magic, version and length; answers the number of tables.
fn read_head(file: &[u8]) -> Result<u32, OpenError> {
    let mut reader = Reader::new(file);
    let not_a_capture = |_: DecodeError| OpenError::NotACapture;
    if reader.array().map_err(not_a_capture)? != MAGIC {
        return Err(OpenError::NotACapture);
    }
    let found = reader.u32().map_err(not_a_capture)?;
    if found != FORMAT_VERSION {
        return Err(OpenError::UnknownVersion { found, known: FORMAT_VERSION });
    }
    let count = reader.u32().map_err(not_a_capture)?;
    let claimed = reader.u64().map_err(not_a_capture)?;
    match claimed == file.len() as u64 {
        true => Ok(count),
        false => Err(OpenError::WrongLength { claimed, found: file.len() as u64 }),
    }
}

/// What the next entry must be: a higher kind, right after the table before.
struct Next {
    kind: u32,
    offset: u64,
}

impl Next {
    fn entry<'a>(&mut self, file: &'a [u8], number: usize, bytes: &[u8]) -> Result<Entry<'a>, OpenError> {
        let bad = |what| OpenError::BadDirectory { entry: number, what };
        let raw = RawEntry::read(bytes).map_err(|_| bad("cut off"))?;
        if u32::from(raw.kind) < self.kind {
            return Err(bad("kinds do not ascend"));
        }
        if raw.offset != self.offset {
            return Err(bad("the table does not follow the one before"));
        }
        let end = raw.offset.checked_add(raw.length).ok_or(bad("the table ends beyond the file"))?;
        let range = usize::try_from(raw.offset).ok().zip(usize::try_from(end).ok());
        let table =
            range.and_then(|(from, to)| file.get(from..to)).ok_or(bad("the table ends beyond the file"))?;
        if crc32fast::hash(table) != raw.checksum {
            return Err(OpenError::Checksum { what: super::table_name(raw.kind) });
        }
        *self = Self { kind: u32::from(raw.kind) + 1, offset: end };
        let RawEntry { kind, flags, version, columns, rows, .. } = raw;
        Ok(Entry { kind, flags, version, columns, rows, bytes: table })
    }
}

/// An entry as it stands in the file.
struct RawEntry {
    kind: u16,
    flags: u16,
    version: u16,
    columns: u16,
    rows: u64,
    offset: u64,
    length: u64,
    checksum: u32,
}

impl RawEntry {
    fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        Ok(Self {
            kind: reader.u16()?,
            flags: reader.u16()?,
            version: reader.u16()?,
            columns: reader.u16()?,
            rows: reader.u64()?,
            offset: reader.u64()?,
            length: reader.u64()?,
            checksum: reader.u32()?,
        })
    }
}
