//! What importers keep, what they count, and what they refuse.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write;

use proptest::prelude::*;
use prost::Message;

use super::pprof::proto::{Function, Label, Line, Location, Mapping, Profile, Sample, ValueType};
use super::{Format, folded, pprof, read};
use crate::{Capture, FrameKind, LossKind, MeasureSource, StackId, Unit};

/// A profile of two functions, one inlined into the other, in one mapping.
fn profile() -> Profile {
    let strings = [
        "",
        "cpu",
        "nanoseconds",
        "samples",
        "count",
        "/bin/prog",
        "abcdef01",
        "inner",
        "_inner",
        "a.rs",
        "outer",
    ];
    Profile {
        sample_type: vec![ValueType { r#type: 3, unit: 4 }, ValueType { r#type: 1, unit: 2 }],
        sample: vec![Sample { location_id: vec![1, 2], value: vec![3, 30_000_000], label: vec![] }],
        mapping: vec![Mapping {
            id: 1,
            memory_start: 0x40_0000,
            memory_limit: 0x50_0000,
            file_offset: 0x1000,
            filename: 5,
            build_id: 6,
            ..Mapping::default()
        }],
        location: vec![
            Location {
                id: 1,
                mapping_id: 1,
                address: 0x40_0010,
                line: vec![
                    Line { function_id: 1, line: 12, column: 3 },
                    Line { function_id: 2, line: 40, column: 0 },
                ],
                is_folded: false,
            },
            Location {
                id: 2,
                mapping_id: 0,
                address: 0,
                line: vec![Line { function_id: 2, line: 44, column: 0 }],
                is_folded: false,
            },
        ],
        function: vec![
            Function { id: 1, name: 7, system_name: 8, filename: 9, start_line: 10 },
            Function { id: 2, name: 10, system_name: 10, filename: 9, start_line: 38 },
        ],
        string_table: strings.into_iter().map(str::to_owned).collect(),
        period_type: Some(ValueType { r#type: 1, unit: 2 }),
        period: 10_000_000,
        ..Profile::default()
    }
}

fn import(profile: &Profile) -> Capture {
    pprof::read(&profile.encode_to_vec()).unwrap()
}

/// Breaks a valid profile and expects a message.
#[track_caller]
fn check_refused(break_profile: impl FnOnce(&mut Profile), expected: &str) {
    let mut profile = profile();
    break_profile(&mut profile);
    let error = pprof::read(&profile.encode_to_vec()).unwrap_err().to_string();
    assert!(error.contains(expected), "{error:?} does not say {expected:?}");
}

/// The frames of a stack, outermost first: function names by depth, innermost inlined first.
fn names(capture: &Capture, stack: Option<StackId>) -> Vec<Vec<&str>> {
    let mut frames = Vec::new();
    let mut next = stack;
    while let Some(id) = next {
        let stack = capture.stacks.row(id);
        let facts = capture.facts.iter().filter(|(_, fact)| fact.frame == stack.frame);
        frames.push(
            facts.map(|(_, fact)| capture.strings.get(capture.functions.row(fact.function).name)).collect(),
        );
        next = stack.parent;
    }
    frames.reverse();
    frames
}

fn losses(capture: &Capture) -> Vec<(u64, &str)> {
    assert!(capture.losses.kind.iter().all(|kind| *kind == LossKind::Imported));
    capture.losses.iter().map(|(_, loss)| (loss.count, capture.strings.get(loss.detail))).collect()
}

#[test]
fn locations_become_frames_with_their_inline_chains() {
    let capture = import(&profile());
    assert_eq!(names(&capture, capture.samples.stack[0]), [vec!["outer"], vec!["inner", "outer"]]);
    let native = capture.frames.kind.iter().position(|kind| *kind == FrameKind::Native).unwrap();
    assert_eq!(capture.frames.address[native], 0x1010, "relative to the file");
    let module = capture.modules.row(capture.frames.module[native].unwrap());
    assert_eq!(capture.strings.get(module.path), "/bin/prog");
    assert_eq!(capture.strings.get(module.identity), "abcdef01");
}

#[test]
fn value_types_become_measures() {
    let capture = import(&profile());
    let row = |name: &str| {
        let at = capture.measures.name.iter().position(|id| capture.strings.get(*id) == name).unwrap();
        capture.measures.iter().nth(at).unwrap()
    };
    let (cpu, cpu_row) = row("cpu");
    let (count, count_row) = row("samples");
    assert_eq!((cpu_row.unit, cpu_row.period), (Unit::Nanoseconds, Some(10_000_000)));
    assert_eq!((count_row.unit, count_row.source), (Unit::Count, MeasureSource::Imported));
    let weights: Vec<_> = capture.samples.iter().map(|(_, row)| (row.measure, row.weight)).collect();
    assert_eq!(weights.len(), 2);
    assert!(weights.contains(&(cpu, 30_000_000)) && weights.contains(&(count, 3)));
}

#[test]
fn larger_units_become_nanoseconds() {
    let mut profile = profile();
    profile.string_table[2] = "milliseconds".to_owned();
    profile.sample[0].value = vec![0, 7];
    let capture = import(&profile);
    assert_eq!(capture.samples.weight, [7_000_000]);
}

#[test]
fn gzip_is_expanded() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&profile().encode_to_vec()).unwrap();
    let bytes = gzip.finish().unwrap();
    assert_eq!(Format::detect(&bytes), Some(Format::Pprof));
    assert_eq!(read(&bytes).unwrap(), import(&profile()));
}

#[test]
fn a_gzip_bomb_is_refused() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![0; 1 << 20];
    for _ in 0..=256 {
        gzip.write_all(&zeros).unwrap();
    }
    let error = pprof::read(&gzip.finish().unwrap()).unwrap_err().to_string();
    assert_eq!(error, "more than 268435456 bytes expanded");
}

#[test]
fn broken_gzip_is_refused() {
    let error = pprof::read(&[0x1f, 0x8b, 8, 0, 1, 2]).unwrap_err().to_string();
    assert!(error.starts_with("broken gzip"), "{error}");
}

#[test]
fn labels_name_threads_and_processes() {
    let mut profile = profile();
    let key = profile.string_table.len() as i64;
    profile.string_table.extend(["thread", "worker", "tid", "request", "GET"].map(str::to_owned));
    profile.sample[0].label = vec![
        Label { key, str: key + 1, num: 0, num_unit: 0 },
        Label { key: key + 2, str: 0, num: 42, num_unit: 0 },
        Label { key: key + 3, str: key + 4, num: 0, num_unit: 0 },
    ];
    let capture = import(&profile);
    assert_eq!(capture.threads.tid, [42]);
    assert_eq!(capture.strings.get(capture.threads.name[0]), "worker");
    assert_eq!(losses(&capture), [(1, "labels other than of threads and processes")]);
}

#[test]
fn negative_values_are_counted_not_kept() {
    let mut profile = profile();
    profile.sample[0].value = vec![-1, i64::MAX];
    let second = profile.sample[0].clone();
    profile.sample.push(Sample { value: vec![i64::MAX, i64::MAX], ..second });
    let capture = import(&profile);
    assert_eq!(capture.samples.len(), 2);
    assert_eq!(losses(&capture), [(2, "values that are negative or too large")]);
}

#[test]
fn a_location_without_lines_keeps_its_address() {
    let mut profile = profile();
    profile.location[0].line.clear();
    let capture = import(&profile);
    assert_eq!(names(&capture, capture.samples.stack[0]), [vec!["outer"], vec![]]);
}

#[test]
fn a_sample_type_must_be_there() {
    check_refused(|profile| profile.sample_type.clear(), "there are no sample types");
}

#[test]
fn every_type_must_have_its_value() {
    check_refused(
        |profile| profile.sample[0].value.truncate(1),
        "sample 0 has 1 values where there are 2 sample types",
    );
}

#[test]
fn a_first_string_that_is_not_empty_is_refused() {
    check_refused(|profile| profile.string_table[0].push('x'), "the first string is not empty");
}

#[test]
fn a_string_that_does_not_exist_is_refused() {
    check_refused(|profile| profile.function[0].name = 99, "string 99 of a function is not among the 11");
    check_refused(|profile| profile.mapping[0].filename = -1, "string -1 of a mapping is not among the 11");
}

#[test]
fn ids_that_nothing_has_are_refused() {
    check_refused(|p| p.sample[0].location_id[0] = 9, "a sample names location 9, which does not exist");
    check_refused(|p| p.location[0].mapping_id = 9, "a location names mapping 9, which does not exist");
    check_refused(|p| p.location[0].line[0].function_id = 9, "a line names function 9, which does not exist");
}

#[test]
fn ids_that_are_there_twice_are_refused() {
    check_refused(|p| p.location[1].id = 1, "location 1 is there twice");
    check_refused(|p| p.function[0].id = 0, "function 0 is there twice, or its id is 0");
}

#[test]
fn other_bytes_are_no_profile() {
    let error = pprof::read(b"\x0a\xff").unwrap_err().to_string();
    assert!(error.starts_with("malformed protobuf"), "{error}");
    assert_eq!(
        read(b"\x00\x01\x02").unwrap_err().to_string(),
        "neither a microscope capture nor pprof nor folded stacks"
    );
}

#[test]
fn folded_lines_become_stacks() {
    let capture = folded::read(b"main;parse;read_byte 12\n\nmain;parse 3\r\n").unwrap();
    let mut stacks: Vec<_> =
        capture.samples.iter().map(|(_, row)| (names(&capture, row.stack).concat(), row.weight)).collect();
    stacks.sort();
    assert_eq!(stacks, [(vec!["main", "parse"], 3), (vec!["main", "parse", "read_byte"], 12)]);
    assert!(capture.losses.is_empty());
}

#[test]
fn frames_may_contain_blanks() {
    let capture = folded::read(b"main;operator new (int) 5\n").unwrap();
    assert_eq!(names(&capture, capture.samples.stack[0]).concat(), ["main", "operator new (int)"]);
}

#[test]
fn bad_lines_are_counted_with_their_numbers() {
    let capture = folded::read(b"main 1\nno count\nmain;a -4\n\xff\xfe 3\nmain;b 2\n").unwrap();
    assert_eq!(capture.samples.len(), 2);
    assert_eq!(losses(&capture), [(3, "lines that are not `frame;frame;… count`: 2, 3, 4")]);
}

#[test]
fn a_line_that_is_too_long_is_counted() {
    let mut bytes = b"main 1\n".to_vec();
    bytes.extend(std::iter::repeat_n(b'x', folded::LINE_BYTES_MAX));
    bytes.extend(b" 1\n");
    let capture = folded::read(&bytes).unwrap();
    assert_eq!(losses(&capture), [(1, "lines that are not `frame;frame;… count`: 2")]);
}

#[test]
fn counts_that_overflow_are_counted_as_bad() {
    let capture = folded::read(format!("a {}\nb 1\n", u64::MAX).as_bytes()).unwrap();
    assert_eq!(capture.samples.weight, [u64::MAX]);
    assert_eq!(losses(&capture), [(1, "lines that are not `frame;frame;… count`: 2")]);
}

#[test]
fn a_text_without_stacks_is_refused() {
    let error = folded::read(b"\nhello\n").unwrap_err().to_string();
    assert_eq!(error, "no line is `frame;frame;… count`; the first that is not is line 2");
}

#[test]
fn formats_are_told_apart() {
    assert_eq!(Format::detect(b"a;b 1\n"), Some(Format::Folded));
    assert_eq!(Format::detect(&profile().encode_to_vec()), Some(Format::Pprof));
    assert_eq!(Format::detect(&import(&profile()).to_bytes()), Some(Format::Capture));
    assert_eq!(Format::detect(b""), None);
}

proptest! {
    #[test]
    fn changed_profiles_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = profile().encode_to_vec();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = pprof::read(&bytes);
        let _ = read(&bytes);
    }

    #[test]
    fn any_bytes_are_safe_to_import(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
        let _ = folded::read(&bytes);
    }

    #[test]
    fn any_text_is_safe_to_import(text in "[a-c; 0-9\n#]{0,200}") {
        if let Ok(capture) = folded::read(text.as_bytes()) {
            prop_assert_eq!(Capture::read(&capture.to_bytes()).unwrap(), capture);
        }
    }
}
