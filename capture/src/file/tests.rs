//! What is written is read back; what is damaged is refused by name.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::{codec, decode, encode};
use crate::file::Reader;
use crate::testing::{Rng, Synthetic, random_tables};
use crate::{Capture, Tables};

fn sample_file() -> Vec<u8> {
    encode(&random_tables(7, 20))
}

/// Where the directory's entries begin, and the bytes of each.
const ENTRIES_AT: usize = 24;
const ENTRY_BYTES: usize = 40;

/// Applies a change to a valid file, mends the directory's checksum, and expects a message.
#[track_caller]
fn check(change: impl FnOnce(&mut Vec<u8>), expected: &str) {
    let mut file = sample_file();
    change(&mut file);
    mend_directory(&mut file);
    let error = Capture::read(&file).unwrap_err().to_string();
    assert!(error.contains(expected), "{error:?} does not say {expected:?}");
}

fn mend_directory(file: &mut [u8]) {
    let tables = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    let end = ENTRIES_AT + tables * ENTRY_BYTES;
    if let Some(head) = file.get(..end) {
        let checksum = crc32fast::hash(head).to_le_bytes();
        file[end..end + 4].copy_from_slice(&checksum);
    }
}

/// The offset in the file of a field of the entry of a kind.
fn field(file: &[u8], kind: u16, offset: usize) -> usize {
    let tables = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    let entry = (0..tables)
        .map(|number| ENTRIES_AT + number * ENTRY_BYTES)
        .find(|at| file[*at..at + 2] == kind.to_le_bytes())
        .unwrap();
    entry + offset
}

/// Changes the bytes of a table, and mends its checksum.
fn change_table(file: &mut [u8], kind: u16, change: impl FnOnce(&mut [u8])) {
    let long = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let (offset, length) = (long(field(file, kind, 16)), long(field(file, kind, 24)));
    change(&mut file[offset..offset + length]);
    let checksum = crc32fast::hash(&file[offset..offset + length]).to_le_bytes();
    let at = field(file, kind, 32);
    file[at..at + 4].copy_from_slice(&checksum);
}

const SAMPLES: u16 = 11;
const SOURCE_TEXTS: u16 = 28;

proptest! {
    #[test]
    fn every_table_is_read_back(seed: u64, size in 0_usize..60) {
        let tables = random_tables(seed, size);
        let capture = Capture::validate(tables.clone()).unwrap();
        let read = Capture::read(&capture.to_bytes()).unwrap();
        prop_assert_eq!(read.into_tables(), tables);
    }

    #[test]
    fn cells_are_read_back(cells in cells()) {
        let mut bytes = Vec::new();
        codec::encode(&cells, &[], &mut bytes);
        let mut read: Vec<u64> = Vec::new();
        let mut reader = Reader::new(&bytes);
        codec::decode(&mut reader, cells.len(), &mut read).unwrap();
        prop_assert_eq!(reader.remaining(), 0);
        prop_assert_eq!(read, cells);
    }

    #[test]
    fn damaged_columns_never_panic(
        code in 0_u8..8, body in prop::collection::vec(any::<u8>(), 0..200), rows in 0_usize..1000,
    ) {
        let mut bytes = vec![code, body.len() as u8 & 0x7f];
        bytes.extend(body);
        let mut read: Vec<u64> = Vec::new();
        let _ = codec::decode(&mut Reader::new(&bytes), rows, &mut read);
    }

    #[test]
    fn changed_files_never_panic(seed: u64, at: prop::sample::Index, value: u8) {
        let mut file = sample_file();
        let at = at.index(file.len());
        file[at] = value;
        let _ = Capture::read(&file);
        mend_all(&mut file);
        let _ = Capture::read(&file);
        let mut rng = Rng::new(seed);
        for _ in 0..rng.below(20) {
            let at = rng.below(file.len() as u64) as usize;
            file[at] = rng.next() as u8;
        }
        mend_all(&mut file);
        let _ = Capture::read(&file);
    }

    #[test]
    fn cut_files_are_refused(at: prop::sample::Index) {
        let file = sample_file();
        prop_assert!(Capture::read(&file[..at.index(file.len())]).is_err());
    }
}

/// Cells of many shapes: constant, ascending, small, wide, with outliers.
fn cells() -> impl Strategy<Value = Vec<u64>> {
    let wide = prop::collection::vec(any::<u64>(), 0..400);
    let small = prop::collection::vec(0_u64..16, 0..400);
    let runs = prop::collection::vec((any::<u64>(), 1_usize..300), 0..6)
        .prop_map(|runs| runs.into_iter().flat_map(|(cell, count)| vec![cell; count]).collect());
    let ascending = prop::collection::vec(0_u64..1 << 40, 0..400).prop_map(|mut cells| {
        cells.sort_unstable();
        cells
    });
    let outliers = prop::collection::vec(prop_oneof![20 => 0_u64..64, 1 => any::<u64>()], 0..400);
    prop_oneof![wide, small, runs, ascending, outliers]
}

/// Mends every checksum whose table still lies in the file, so that changes reach the decoders.
fn mend_all(file: &mut [u8]) {
    let tables = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
    for entry in (0..tables.min(64)).map(|number| ENTRIES_AT + number * ENTRY_BYTES) {
        let Some(head) = file.get(entry..entry + ENTRY_BYTES) else { return };
        let long = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap());
        let (offset, length) = (long(16), long(24));
        let table =
            (offset as usize).checked_add(length as usize).and_then(|end| file.get(offset as usize..end));
        let checksum = crc32fast::hash(table.unwrap_or_default()).to_le_bytes();
        file[entry + 32..entry + 36].copy_from_slice(&checksum);
    }
    if tables < 64 {
        mend_directory(file);
    }
}

#[test]
fn an_empty_capture_is_read_back() {
    let capture = Capture::validate(Tables::default()).unwrap();
    assert_eq!(Capture::read(&capture.to_bytes()).unwrap(), capture);
}

#[test]
fn other_bytes_are_no_capture() {
    for bytes in [&b""[..], b"\x89MSCOPE", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"] {
        assert_eq!(Capture::read(bytes).unwrap_err().to_string(), "not a microscope capture");
    }
}

#[test]
fn a_newer_format_is_refused() {
    check(|file| file[8] = 9, "format version 9; this program reads version 1");
}

#[test]
fn a_cut_file_is_refused() {
    check(|file| file.truncate(file.len() - 1), "it was cut or appended to");
}

#[test]
fn an_appended_file_is_refused() {
    check(|file| file.push(0), "it was cut or appended to");
}

#[test]
fn more_entries_than_the_file_holds_are_refused() {
    check(
        |file| file[12..16].copy_from_slice(&u32::MAX.to_le_bytes()),
        "more entries than the file has room for",
    );
}

#[test]
fn a_damaged_directory_is_refused() {
    let mut file = sample_file();
    file[ENTRIES_AT] ^= 1;
    let error = Capture::read(&file).unwrap_err().to_string();
    assert_eq!(error, "the checksum of the directory does not match: the file is damaged");
}

#[test]
fn a_damaged_table_is_refused_by_name() {
    let mut file = sample_file();
    *file.last_mut().unwrap() ^= 1;
    let error = Capture::read(&file).unwrap_err().to_string();
    assert_eq!(error, "the checksum of source-texts does not match: the file is damaged");
}

#[test]
fn entries_out_of_order_are_refused() {
    check(|file| file[ENTRIES_AT] = 99, "kinds do not ascend");
}

#[test]
fn a_gap_between_tables_is_refused() {
    let shift = |file: &mut Vec<u8>| {
        let at = field(file, SAMPLES, 16);
        file[at] = file[at].wrapping_add(1);
    };
    check(shift, "the table does not follow the one before");
}

#[test]
fn a_table_beyond_the_file_is_refused() {
    let lengthen = |file: &mut Vec<u8>| {
        let at = field(file, SOURCE_TEXTS, 24);
        file[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    };
    check(lengthen, "the table ends beyond the file");
}

#[test]
fn bytes_of_no_table_are_refused() {
    let shorten = |file: &mut Vec<u8>| {
        change_table(file, SOURCE_TEXTS, |_| {});
        let at = field(file, SOURCE_TEXTS, 24);
        let length = u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
        file[at..at + 8].copy_from_slice(&(length - 1).to_le_bytes());
        let end = file.len() - 1;
        let checksum = crc32fast::hash(&file[end + 1 - length as usize..end]).to_le_bytes();
        let at = field(file, SOURCE_TEXTS, 32);
        file[at..at + 4].copy_from_slice(&checksum);
    };
    check(shorten, "bytes belong to no table");
}

#[test]
fn an_unknown_required_table_is_refused() {
    let rename = |file: &mut Vec<u8>| {
        let at = field(file, SOURCE_TEXTS, 0);
        file[at..at + 4].copy_from_slice(&[200, 0, 1, 0]);
    };
    check(rename, "required table 200 is not known");
}

#[test]
fn an_unknown_optional_table_is_skipped() {
    let mut file = sample_file();
    let at = field(&file, SOURCE_TEXTS, 0);
    file[at..at + 2].copy_from_slice(&200_u16.to_le_bytes());
    mend_directory(&mut file);
    let capture = Capture::read(&file).unwrap();
    assert!(capture.source_texts.is_empty());
    assert!(!capture.samples.is_empty());
}

#[test]
fn a_newer_table_is_refused() {
    let newer = |file: &mut Vec<u8>| {
        let at = field(file, SAMPLES, 4);
        file[at] = 2;
    };
    check(newer, "table samples has version 2; this program reads version 1");
}

#[test]
fn a_table_with_other_columns_is_refused() {
    let widen = |file: &mut Vec<u8>| {
        let at = field(file, SAMPLES, 6);
        file[at] += 1;
    };
    check(widen, "table samples has 9 columns where its version has 8");
}

#[test]
fn more_rows_than_bytes_are_refused_before_memory_is_taken() {
    let claim = |file: &mut Vec<u8>| {
        let at = field(file, SAMPLES, 8);
        file[at..at + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    };
    check(claim, "table samples claims 1099511627776 rows in");
}

#[test]
fn an_unknown_codec_is_refused() {
    check(
        |file| change_table(file, SAMPLES, |bytes| bytes[0] = 77),
        "table samples, column time_ns: codec 77 is not known",
    );
}

#[test]
fn a_column_longer_than_its_table_is_refused() {
    check(
        |file| change_table(file, SAMPLES, |bytes| bytes[1..3].copy_from_slice(&[0xff, 0x7f])),
        "table samples, column time_ns: the bytes end too early",
    );
}

#[test]
fn a_cell_no_value_has_is_refused() {
    let mut cells: Vec<u8> = Vec::new();
    codec::encode(&[1 << 32], &[], &mut cells);
    let mut column: Vec<u32> = Vec::new();
    let mut sink: &mut dyn crate::cells::Cells = &mut column;
    let error = codec::decode(&mut Reader::new(&cells), 1, &mut sink).unwrap_err().to_string();
    assert_eq!(error, "4294967296 is no value of u32");
}

#[test]
fn text_that_expands_too_far_is_refused() {
    let wipe = |bytes: &mut [u8]| {
        let half = bytes.len() / 2;
        bytes[half..].fill(0);
    };
    let grow = |file: &mut Vec<u8>| change_table(file, 0, wipe);
    check(grow, "table strings, column text");
}

#[test]
fn a_short_file_takes_little_memory() {
    let mut tables = Tables::default();
    for _ in 0..10_000 {
        tables.duty_changes.push(crate::DutyChange { time_ns: 0, duty_ppm: 0 });
    }
    let file = encode(&tables);
    assert!(file.len() >= 10_000 / 8, "{} bytes", file.len());
    assert_eq!(decode(&file).unwrap(), tables);
}

#[test]
fn a_sample_takes_few_bytes() {
    let bytes = |samples| Capture::validate(Synthetic::new(samples, 200).tables()).unwrap().to_bytes().len();
    assert!(bytes(20_000) - bytes(10_000) < 6 * 10_000, "more than 6 bytes a sample");
}
