//! One chunk of a spool: its head, and an increment as bytes.
//!
//! ```text
//! payload := length of the new rows (u64), the new rows as a capture file,
//!            length of the changed rows (u64), the changed rows as a capture file,
//!            row numbers of the changed rows, one column per evolving table
//! ```

use super::SpoolError;
use crate::file::{self, DecodeError, Reader, codec};
use crate::increment::{Revisions, for_each_evolving};
use crate::table::Table;
use crate::{Increment, OpenError, Tables};

/// Bytes of a chunk's head.
pub(super) const HEAD_BYTES: usize = 28;
const MARK: u32 = u32::from_le_bytes(*b"CHNK");

/// What a chunk says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rows follow.
    Increment = 1,
    /// Ids begin again.
    EpochBegins = 2,
    /// The recording ended as it should.
    Sealed = 3,
}

/// A chunk to write.
pub(super) struct Chunk<'a> {
    pub(super) kind: Kind,
    pub(super) number: u32,
    pub(super) increment: &'a Increment,
}

impl Chunk<'_> {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, SpoolError> {
        let payload = encode(self.increment);
        let bytes = payload.len();
        let length = u32::try_from(bytes).map_err(|_| SpoolError::TooLarge { bytes })?;
        let samples = u32::try_from(self.increment.appended.samples.len()).unwrap_or(u32::MAX);
        let mut out = Vec::with_capacity(HEAD_BYTES + bytes);
        for word in [MARK, self.kind as u32, self.number, samples, length, crc32fast::hash(&payload)] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&crc32fast::hash(&out).to_le_bytes());
        out.extend(payload);
        Ok(out)
    }
}

/// A chunk's head, checked against its own checksum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) kind: Kind,
    pub(super) number: u32,
    pub(super) samples: u32,
    pub(super) payload_bytes: u32,
    pub(super) checksum: u32,
}

impl Head {
    /// Reads a head; `None` when it is damaged.
    pub(super) fn read(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let mut word = || reader.u32().ok();
        let (mark, kind, number, samples) = (word()?, word()?, word()?, word()?);
        let (payload_bytes, checksum, own) = (word()?, word()?, word()?);
        let whole = mark == MARK && own == crc32fast::hash(&bytes[..HEAD_BYTES - 4]);
        let kind =
            [Kind::Increment, Kind::EpochBegins, Kind::Sealed].into_iter().find(|k| *k as u32 == kind)?;
        whole.then_some(Self { kind, number, samples, payload_bytes, checksum })
    }
}

fn encode(increment: &Increment) -> Vec<u8> {
    let mut out = Vec::new();
    put_tables(&increment.appended, &mut out);
    let (changed, numbers) = changed_rows(&increment.revised);
    put_tables(&changed, &mut out);
    for numbers in numbers {
        let cells: Vec<u64> = numbers.iter().map(|number| u64::from(*number)).collect();
        codec::encode(&cells, &[], &mut out);
    }
    out
}

fn put_tables(tables: &Tables, out: &mut Vec<u8>) {
    let bytes = file::encode(tables);
    out.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

/// The changed rows of all tables, and the row numbers of each table.
fn changed_rows(revised: &Revisions) -> (Tables, Vec<&Vec<u32>>) {
    let mut tables = Tables::default();
    let mut numbers = Vec::new();
    macro_rules! collect_each {
        ($($field:ident: $type:ident),*) => {$(
            tables.$field.clone_from(&revised.$field.rows);
            numbers.push(&revised.$field.numbers);
        )*};
    }
    for_each_evolving!(collect_each);
    (tables, numbers)
}

/// Reads a payload whose checksum matched.
pub(super) fn decode(payload: &[u8]) -> Result<Increment, OpenError> {
    let mut reader = Reader::new(payload);
    let appended = take_tables(&mut reader)?;
    let changed = take_tables(&mut reader)?;
    let mut revised = Revisions::default();
    macro_rules! take_each {
        ($($field:ident: $type:ident),*) => {$(
            revised.$field.numbers = take_numbers::<crate::$type>(&mut reader, Table::len(&changed.$field))?;
            revised.$field.rows = changed.$field;
        )*};
    }
    for_each_evolving!(take_each);
    Ok(Increment { appended, revised })
}

fn take_tables(reader: &mut Reader<'_>) -> Result<Tables, OpenError> {
    let cut = |_: DecodeError| OpenError::NotACapture;
    let length = usize::try_from(reader.u64().map_err(cut)?).unwrap_or(usize::MAX);
    file::decode(reader.take(length).map_err(cut)?)
}

fn take_numbers<T: Table>(reader: &mut Reader<'_>, rows: usize) -> Result<Vec<u32>, OpenError> {
    let bad = |source| OpenError::BadColumn { table: T::KIND, column: "row number", source };
    let mut cells: Vec<u64> = Vec::new();
    codec::decode(reader, rows, &mut cells).map_err(bad)?;
    Ok(cells.into_iter().map(|cell| u32::try_from(cell).unwrap_or(u32::MAX)).collect())
}
