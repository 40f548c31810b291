//! All segments together are the recording; each stands on its own.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::{Arc, Weak};

use proptest::prelude::*;

use super::{Dictionaries, Epoch, Segment, Segmenter};
use crate::table::Table;
use crate::testing::{Rng, random_tables};
use crate::{Builder, Capture, Tables};

/// Sealed segments of the rows, cut at random places; names of frames arrive at random times.
fn segments(tables: &Tables, seed: u64) -> Vec<Segment> {
    let mut rng = Rng::new(seed);
    let (mut builder, mut segmenter, mut segments) = (Builder::new(), Segmenter::new(), Vec::new());
    let facts = std::mem::take(&mut builder.tables.facts);
    builder.tables.append_dictionaries(tables);
    let mut named = std::mem::replace(&mut builder.tables.facts, facts);
    let mut at = 0;
    while at < tables.samples.len() {
        let rows: Vec<u32> =
            (at..tables.samples.len()).take(1 + rng.below(9) as usize).map(|r| r as u32).collect();
        at += rows.len();
        builder.tables.samples = tables.samples.gather(&rows);
        if rng.one_in(3) {
            builder.tables.facts = std::mem::take(&mut named);
        }
        segments.push(segmenter.seal(builder.take_increment()));
    }
    let mut rest = tables.clone();
    rest.samples = crate::Samples::default();
    builder.tables.append_timed(&rest);
    builder.tables.facts = named;
    segments.push(segmenter.seal(builder.take_increment()));
    segments
}

/// The rows of all segments of an epoch.
fn whole(segments: &[Segment]) -> Tables {
    let mut dictionaries = Dictionaries::default();
    for segment in segments {
        dictionaries.follow(segment);
    }
    let mut tables = dictionaries.tables().clone();
    for segment in segments {
        tables.append_timed(segment.rows());
    }
    tables
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_segments_together_are_the_recording(seed: u64, cuts: u64, size in 0_usize..50) {
        let tables = random_tables(seed, size);
        prop_assert_eq!(whole(&segments(&tables, cuts)), tables);
    }

    #[test]
    fn every_segment_is_a_capture_of_its_own(seed: u64, cuts: u64) {
        let tables = random_tables(seed, 30);
        let mut samples = 0;
        for segment in segments(&tables, cuts) {
            let mut own = segment.tables();
            own.canonicalize().unwrap();
            let capture = Capture::validate(own).unwrap();
            samples += capture.samples.len();
        }
        prop_assert_eq!(samples, tables.samples.len());
    }
}

#[test]
fn an_earlier_segment_does_not_see_later_names() {
    let mut builder = Builder::new();
    let mut segmenter = Segmenter::new();
    builder.string("early");
    let early = segmenter.seal(builder.take_increment());
    builder.string("late");
    let late = segmenter.seal(builder.take_increment());
    assert_eq!(early.tables().strings.iter().collect::<Vec<_>>(), ["", "early"]);
    assert_eq!(late.tables().strings.iter().collect::<Vec<_>>(), ["", "early", "late"]);
}

#[test]
fn an_epoch_is_freed_with_its_last_segment() {
    let mut segmenter = Segmenter::new();
    let first = segmenter.seal(crate::Increment::default());
    let second = segmenter.seal(crate::Increment::default());
    let epoch: Weak<Epoch> = Arc::downgrade(first.epoch());
    segmenter.begin_epoch();
    drop(first);
    assert!(epoch.upgrade().is_some());
    drop(second);
    assert!(epoch.upgrade().is_none());
}

#[test]
fn a_reader_begins_anew_in_a_new_epoch() {
    let (mut segmenter, mut dictionaries) = (Segmenter::new(), Dictionaries::default());
    let mut builder = Builder::new();
    builder.string("first");
    dictionaries.follow(&segmenter.seal(builder.take_increment()));
    segmenter.begin_epoch();
    builder.begin_epoch();
    builder.string("second");
    let segment = segmenter.seal(builder.take_increment());
    dictionaries.follow(&segment);
    assert_eq!(segment.epoch().number(), 1);
    assert_eq!(dictionaries.tables().strings.iter().collect::<Vec<_>>(), ["", "second"]);
}

#[test]
fn an_epoch_is_full_when_its_dictionaries_are() {
    let (mut segmenter, mut builder) = (Segmenter::new(), Builder::new());
    builder.string(&"x".repeat(super::EPOCH_BYTES_MAX));
    segmenter.seal(builder.take_increment());
    assert!(segmenter.is_full());
    segmenter.begin_epoch();
    assert!(!segmenter.is_full());
}
