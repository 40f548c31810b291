//! What was spooled comes back, whole or up to the first chunk that is not.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use proptest::prelude::*;

use super::{Spool, SpoolError, recover};
use crate::increment::Told;
use crate::testing::{Rng, differences, random_tables};
use crate::{Builder, Capture, Increment, LossKind, Tables};

/// Rows as a builder would hand them on, cut at random places.
fn increments(tables: &Tables, seed: u64) -> Vec<Increment> {
    let mut rng = Rng::new(seed);
    let mut builder = Builder::new();
    let mut increments = Vec::new();
    let mut replay = Replay { from: tables, at: 0 };
    while replay.more(&mut builder.tables, 1 + rng.below(9) as usize) {
        increments.push(builder.take_increment());
    }
    increments.push(builder.take_increment());
    increments
}

/// Hands out the rows of tables a few at a time: dictionaries at once, then timed rows.
struct Replay<'a> {
    from: &'a Tables,
    at: usize,
}

impl Replay<'_> {
    fn more(&mut self, tables: &mut Tables, rows: usize) -> bool {
        if self.at == 0 {
            tables.append_dictionaries(self.from);
        }
        let range = self.at..self.at + rows;
        let mut left = false;
        macro_rules! hand_out {
            ($($field:ident),*) => {$(
                for row in range.clone().take_while(|row| *row < self.from.$field.len()) {
                    crate::table::Table::push_row(&mut tables.$field, crate::table::Table::row_at(&self.from.$field, row));
                    left = true;
                }
            )*};
        }
        crate::increment::for_each_timed!(hand_out);
        self.at += rows;
        left
    }
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.partial");
    (folder, path)
}

fn spooled(tables: &Tables, seed: u64) -> (tempfile::TempDir, Spool) {
    let (folder, path) = scratch();
    let mut spool = Spool::create(path).unwrap();
    for increment in increments(tables, seed) {
        spool.append(&increment).unwrap();
    }
    (folder, spool)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sealed_rows_are_the_rows_that_were_appended(seed: u64, size in 0_usize..40) {
        let tables = random_tables(seed, size);
        let (_folder, mut spool) = spooled(&tables, seed);
        prop_assert_eq!(differences(&spool.seal().unwrap(), &tables), [""; 0]);
    }

    #[test]
    fn a_cut_spool_keeps_every_whole_chunk(seed: u64, at: prop::sample::Index) {
        let mut tables = random_tables(seed, 30);
        // A builder cannot claim samples it has not made yet, as the replay of these rows would.
        tables.claims = crate::Claims::default();
        let (_folder, spool) = spooled(&tables, seed);
        let path = spool.path().to_owned();
        let length = spool.bytes();
        drop(spool);
        let kept = at.index(length as usize) as u64;
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(kept).unwrap();
        match recover(&path) {
            Err(error) => prop_assert!(kept < 8, "{}", error),
            Ok((mut recovered, report)) => {
                prop_assert!(report.bytes_cut <= kept);
                prop_assert!(!report.sealed);
                let rows = recovered.samples.len();
                prop_assert_eq!(&recovered.samples.time_ns[..], &tables.samples.time_ns[..rows]);
                prop_assert_eq!(recovered.losses.kind.last(), Some(&LossKind::Unspooled));
                recovered.canonicalize().unwrap();
                prop_assert!(Capture::validate(recovered).is_ok());
            }
        }
    }

    #[test]
    fn a_damaged_spool_never_panics(seed: u64, at: prop::sample::Index, value: u8) {
        let (_folder, spool) = spooled(&random_tables(seed, 10), seed);
        let path = spool.path().to_owned();
        drop(spool);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = value;
        std::fs::write(&path, bytes).unwrap();
        let _ = recover(&path);
    }
}

#[test]
fn a_row_that_changed_later_comes_back_as_it_was_last() {
    let (_folder, path) = scratch();
    let mut spool = Spool::create(path).unwrap();
    let mut builder = Builder::new();
    builder.tables = random_tables(5, 12);
    builder.tables.threads.end_ns[1] = None;
    spool.append(&builder.take_increment()).unwrap();
    builder.tables.threads.end_ns[1] = Some(u64::MAX / 2);
    let second = builder.take_increment();
    assert_eq!(second.revised.threads.numbers, [1]);
    spool.append(&second).unwrap();
    assert_eq!(spool.seal().unwrap().threads.end_ns[1], Some(u64::MAX / 2));
}

#[test]
fn appended_samples_leave_memory() {
    let mut builder = Builder::new();
    builder.tables = random_tables(5, 12);
    let row = builder.tables.samples.iter().next().unwrap().1;
    builder.take_increment();
    assert_eq!(builder.tables.samples.len(), 0);
    assert_eq!(builder.sample(row).index(), 12, "ids count from the beginning of the epoch");
    assert!(!builder.tables.stacks.is_empty(), "dictionaries stay");
}

#[test]
fn restored_rows_finish_as_if_they_had_never_left() {
    let tables = random_tables(9, 20);
    let (_folder, mut spool) = spooled(&tables, 1);
    let mut builder = Builder::new();
    builder.restore(spool.seal().unwrap());
    assert_eq!(builder.finish().unwrap().into_tables(), tables);
}

#[test]
fn epochs_are_merged() {
    let tables = random_tables(13, 20);
    let (_folder, path) = scratch();
    let mut spool = Spool::create(path).unwrap();
    for part in 0..2 {
        let mut part_of = tables.clone();
        let half = tables.samples.len() / 2;
        let range = if part == 0 { 0..half } else { half..tables.samples.len() };
        let rows: Vec<u32> = range.map(|row| row as u32).collect();
        part_of.samples = crate::table::Table::gather(&tables.samples, &rows);
        part_of.claims = crate::Claims::default();
        if part == 1 {
            clear_timed_but_samples(&mut part_of);
            spool.begin_epoch().unwrap();
        }
        spool.append(&Told::default().take(&mut part_of)).unwrap();
    }
    let mut merged = spool.seal().unwrap();
    merged.canonicalize().unwrap();
    let mut expected = tables;
    expected.claims = crate::Claims::default();
    expected.canonicalize().unwrap();
    assert_eq!(differences(&merged, &expected), [""; 0]);
}

/// Leaves what every epoch tells again, and the samples.
fn clear_timed_but_samples(tables: &mut Tables) {
    let samples = std::mem::take(&mut tables.samples);
    tables.clear_timed();
    tables.samples = samples;
}

#[test]
fn only_the_owner_may_read_a_spool() {
    let (_folder, path) = scratch();
    let _spool = Spool::create(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let (_folder, path) = scratch();
    std::fs::write(&path, "mine").unwrap();
    assert!(matches!(Spool::create(&path), Err(SpoolError::Io { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_recording_that_runs_is_not_recovered() {
    let (_folder, path) = scratch();
    let _spool = Spool::create(&path).unwrap();
    let error = recover(&path).unwrap_err().to_string();
    assert!(error.ends_with("belongs to a recording that still runs"), "{error}");
}

#[test]
fn garbage_is_no_spool() {
    let (_folder, path) = scratch();
    for garbage in [&b""[..], b"short", b"a long file that is something else"] {
        std::fs::write(&path, garbage).unwrap();
        let error = recover(&path).unwrap_err().to_string();
        assert!(error.ends_with("is not an unfinished recording"), "{error}");
    }
}

#[test]
fn a_torn_chunk_counts_its_samples() {
    let tables = random_tables(3, 30);
    let (_folder, path) = scratch();
    let mut spool = Spool::create(&path).unwrap();
    let mut builder = Builder::new();
    builder.tables = tables;
    spool.append(&builder.take_increment()).unwrap();
    let length = spool.bytes();
    drop(spool);
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 1).unwrap();
    let (recovered, report) = recover(&path).unwrap();
    assert_eq!(report.samples_cut, 30);
    assert_eq!(recovered.losses.count, [30]);
}

#[test]
fn a_sealed_spool_lost_nothing() {
    let tables = random_tables(3, 10);
    let (_folder, mut spool) = spooled(&tables, 3);
    spool.seal().unwrap();
    let path = spool.path().to_owned();
    drop(spool);
    let (recovered, report) = recover(&path).unwrap();
    assert!(report.sealed);
    assert_eq!(recovered, tables);
}

#[test]
fn a_spool_that_cannot_begin_leaves_no_file() {
    let (_folder, path) = scratch();
    std::fs::write(&path, "").unwrap();
    let unwritable = File::open(&path).unwrap();
    assert!(matches!(Spool::begin(unwritable, path.clone()), Err(SpoolError::Io { .. })));
    assert!(!path.exists());
}

#[test]
fn a_discarded_spool_leaves_no_file() {
    let (_folder, path) = scratch();
    Spool::create(&path).unwrap().discard().unwrap();
    assert!(!path.exists());
}
