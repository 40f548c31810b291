//! From the bytes of a file to rows that are not validated yet.
//!
//! Each table becomes a few jobs that share nothing, so that large files are decoded on several processors.

use super::codec::Encoded;
use super::directory::{self, Entry};
use super::jobs::{self, Job};
use super::{DecodeError, OpenError, ROWS_PER_BYTE_MAX, Reader, TABLE_VERSION, strings};
use crate::cells::Cells;
use crate::model::for_each_table;
use crate::table::Table;
use crate::validate::ROWS_MAX;
use crate::{Strings, TableKind, Tables};

/// Decodes rows that are not validated yet.
pub(crate) fn decode(bytes: &[u8]) -> Result<Tables, OpenError> {
    let entries = directory::read(bytes)?;
    refuse_unknown(&entries)?;
    let mut tables = Tables::default();
    let mut jobs = Vec::new();
    if let Some(entry) = entry_of(&entries, TableKind::Strings) {
        jobs.push(strings_job(entry, &mut tables.strings)?);
    }
    macro_rules! decode_each {
        ($($field:ident: $type:ty,)*) => {$(
            if let Some(entry) = entry_of(&entries, <$type>::KIND) {
                jobs.extend(table_jobs(entry, &mut tables.$field)?);
            }
        )*};
    }
    for_each_table!(decode_each);
    jobs::run(jobs)?;
    Ok(tables)
}

fn refuse_unknown(entries: &[Entry<'_>]) -> Result<(), OpenError> {
    let required = entries.iter().filter(|entry| entry.flags & directory::REQUIRED != 0);
    match required.map(|entry| entry.kind).find(|code| TableKind::from_code(*code).is_none()) {
        Some(code) => Err(OpenError::UnknownRequired { code }),
        None => Ok(()),
    }
}

fn entry_of<'e, 'a>(entries: &'e [Entry<'a>], kind: TableKind) -> Option<&'e Entry<'a>> {
    entries.iter().find(|entry| entry.kind == kind as u16)
}

fn strings_job<'a>(entry: &Entry<'a>, strings: &'a mut Strings) -> Result<Job<'a>, OpenError> {
    let rows = checked_rows(entry, TableKind::Strings, 1)?;
    let bytes = entry.bytes;
    Ok(Job::new(bytes.len() * 4, move || {
        let mut reader = Reader::new(bytes);
        let bad = |source| OpenError::BadColumn { table: TableKind::Strings, column: "text", source };
        *strings = strings::decode(&mut reader, rows).map_err(bad)?;
        check_padding(&reader).map_err(bad)
    }))
}

/// One job for each column that no other foretells, together with those it foretells.
fn table_jobs<'a, T: Table>(entry: &Entry<'a>, table: &'a mut T) -> Result<Vec<Job<'a>>, OpenError> {
    let rows = checked_rows(entry, T::KIND, T::COLUMNS.len())?;
    let mut reader = Reader::new(entry.bytes);
    let encoded = (0..T::COLUMNS.len()).map(|at| Encoded::take(&mut reader).map_err(bad_column::<T>(at)));
    let encoded: Vec<Encoded<'_>> = encoded.collect::<Result<_, _>>()?;
    check_padding(&reader).map_err(bad_column::<T>(usize::MAX))?;
    let columns = encoded.into_iter().zip(table.columns_mut()).enumerate();
    let columns = columns.map(|(at, (encoded, cells))| Column { at, encoded, cells }).collect();
    let chains = chains(columns).map_err(|at| bad_column::<T>(at)(DecodeError::BadGroup))?;
    let job = |mut chain: Vec<Column<'a>>| {
        let cost = chain.iter().map(|column| column.encoded.bytes() + rows).sum();
        Job::new(cost, move || {
            decode_chain(&mut chain, rows).map_err(|(at, source)| bad_column::<T>(at)(source))
        })
    };
    Ok(chains.into_iter().map(job).collect())
}

fn bad_column<T: Table>(at: usize) -> impl FnOnce(DecodeError) -> OpenError {
    let column = T::COLUMNS.get(at).map_or("padding", |info| info.name);
    move |source| OpenError::BadColumn { table: T::KIND, column, source }
}

/// A column, its number, and where its cells go.
struct Column<'a> {
    at: usize,
    encoded: Encoded<'a>,
    cells: &'a mut dyn Cells,
}

/// Groups columns so that each stands behind the one that foretells it. Fails with the number of one that
/// is foretold by none that can be decoded before it.
fn chains(mut columns: Vec<Column<'_>>) -> Result<Vec<Vec<Column<'_>>>, usize> {
    let free = |column: &mut Column<'_>| column.encoded.foretold_by().is_none();
    let mut chains: Vec<Vec<Column<'_>>> = columns.extract_if(.., free).map(|column| vec![column]).collect();
    while let Some(first) = columns.first().map(|column| column.at) {
        let left = columns.len();
        for chain in &mut chains {
            let follows = |column: &mut Column<'_>| {
                let other = column.encoded.foretold_by();
                chain.iter().any(|known| Some(known.at) == other)
            };
            let followers: Vec<Column<'_>> = columns.extract_if(.., follows).collect();
            chain.extend(followers);
        }
        if columns.len() == left {
            return Err(first);
        }
    }
    Ok(chains)
}

/// Decodes the columns of a chain. Fails with the number of the column that is bad.
fn decode_chain(chain: &mut [Column<'_>], rows: usize) -> Result<(), (usize, DecodeError)> {
    for next in 0..chain.len() {
        let (known, rest) = chain.split_at_mut(next);
        let Some(Column { at, encoded, cells }) = rest.first_mut() else { return Ok(()) };
        let other = known.iter().find(|known| Some(known.at) == encoded.foretold_by());
        let other = other.map(|known| &*known.cells);
        cells.reserve(rows);
        encoded.decode(rows, other, cells).map_err(|source| (*at, source))?;
    }
    Ok(())
}

/// The rows of an entry, once its version, columns and bytes allow them.
fn checked_rows(entry: &Entry<'_>, table: TableKind, expected: usize) -> Result<usize, OpenError> {
    if entry.version != TABLE_VERSION {
        return Err(OpenError::UnknownTableVersion { table, found: entry.version, known: TABLE_VERSION });
    }
    if usize::from(entry.columns) != expected {
        return Err(OpenError::WrongColumns { table, expected, found: usize::from(entry.columns) });
    }
    let bytes = entry.bytes.len();
    let rows = usize::try_from(entry.rows).ok();
    rows.filter(|rows| *rows <= bytes.saturating_mul(ROWS_PER_BYTE_MAX).min(ROWS_MAX))
        .ok_or(OpenError::TooManyRows { table, rows: entry.rows, bytes })
}

/// What is left of a table is padding: zeros.
fn check_padding(rest: &Reader<'_>) -> Result<(), DecodeError> {
    let left = rest.clone().take(rest.remaining())?;
    if left.iter().all(|byte| *byte == 0) { Ok(()) } else { Err(DecodeError::LeftOver(left.len())) }
}
