//! What is drawn over one file.

use microscope_analysis::overlay::{Mapping, Overlay, OverlayRequest, Proof, TextEvidence, overlay};
use microscope_analysis::{Filter, MeasureChoice, Query, views};
use microscope_capture::{
    Builder, Capture, DutyChange, File, FileId, HashKind, Loss, LossKind, StringId, Tables,
};
use proptest::prelude::*;

use crate::properties::lines;
use crate::sketch::{Sketch, sketch};

/// The files of a path.
fn files(capture: &Tables, path: &str) -> Vec<FileId> {
    let is = |(_, row): &(FileId, File)| capture.strings.get(row.path) == path;
    capture.files.iter().filter(is).map(|(id, _)| id).collect()
}

/// The overlay of `path` where files that begin with `src/` are the user's own.
fn over(capture: &Capture, path: &str) -> Overlay {
    let request = OverlayRequest {
        path,
        files: &files(capture, path),
        filter: &Filter::default(),
        measure: &MeasureChoice::Main,
        is_workspace: &|path| path.starts_with("src/"),
        proof: Proof::Unknown,
        mapping: Mapping::Exact,
    };
    overlay(capture, &request).unwrap()
}

/// Checks lines as `line mine self total samples`.
fn check(samples: &str, path: &str, expected: &[&str]) {
    let lines = over(&sketch(samples), path).lines;
    let text = |at: usize| {
        let (mine, own, total) = (lines.mine[at], lines.own[at], lines.total[at]);
        format!("{} {mine} {own} {total} {}", lines.line[at], lines.samples[at])
    };
    assert_eq!((0..lines.line.len()).map(text).collect::<Vec<_>>(), expected);
}

#[test]
fn library_cost_lands_on_the_line_that_caused_it() {
    let samples = "10: main@src/a.rs:1; work@src/a.rs:5; sort@std/sort.rs:70; memcpy";
    check(samples, "src/a.rs", &["1 0 0 10 0", "5 10 0 10 1"]);
}

#[test]
fn inlined_library_code_lands_on_the_workspace_level_of_its_frame() {
    let samples = "10: main@src/a.rs:1; next@std/iter.rs:9<work@src/a.rs:5";
    check(samples, "src/a.rs", &["1 0 0 10 0", "5 10 0 10 1"]);
}

#[test]
fn own_code_keeps_its_cost_and_callers_have_it_in_total_only() {
    let samples = "10: main@src/a.rs:1; work@src/b.rs:5\n5: main@src/a.rs:1";
    check(samples, "src/a.rs", &["1 5 5 15 1"]);
    check(samples, "src/b.rs", &["5 10 10 10 1"]);
}

#[test]
fn recursion_counts_a_line_once() {
    check("10: f@src/a.rs:1; f@src/a.rs:1; f@src/a.rs:1", "src/a.rs", &["1 10 10 10 1"]);
}

#[test]
fn a_file_outside_the_workspace_has_no_cost_of_mine() {
    check("10: main@src/a.rs:1; sort@std/sort.rs:70", "std/sort.rs", &["70 0 10 10 0"]);
}

#[test]
fn own_code_without_a_line_is_not_given_to_its_caller() {
    check("10: main@src/a.rs:1; work@src/a.rs:0", "src/a.rs", &["1 0 0 10 0"]);
}

#[test]
fn functions_reach_from_their_declaration_to_the_last_line_seen() {
    let capture = sketch("10: main@src/a.rs:3; work@src/a.rs:9\n5: main@src/a.rs:4; sort@std/sort.rs:7");
    let functions = over(&capture, "src/a.rs").functions;
    assert_eq!(functions.name, ["main", "work"]);
    // A sketch declares every function in line 1.
    assert_eq!((functions.line, functions.end_line), (vec![1, 1], vec![4, 9]));
    assert_eq!((functions.own, functions.total), (vec![0, 10], vec![15, 10]));
}

#[test]
fn the_columns_have_the_names_of_schema_1() {
    let text = serde_json::to_value(over(&sketch("10: main@src/a.rs:1"), "src/a.rs")).unwrap();
    let names = |object: &serde_json::Value| {
        object.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&text), "functions lines mapping measures path proof sites zones");
    assert_eq!(names(&text["lines"]), "cpu.mine cpu.self cpu.total high label line low samples");
    assert_eq!(names(&text["functions"]), "cpu.self cpu.total endLine label line name");
    assert_eq!(names(&text["measures"][0]), "coverage id lost samples source unit whole");
    let zones = "count cpuNs label line maxNs meanNs name p50Ns p90Ns p99Ns selfNs site totalNs";
    assert_eq!(names(&text["zones"]), zones);
    assert_eq!(names(&text["sites"]), "kind line name site");
    assert_eq!(
        (&text["measures"][0]["id"], &text["mapping"], &text["proof"]),
        (&"cpu".into(), &"exact".into(), &"unknown".into())
    );
}

/// Ten samples on one line and ten on another, with what `worsen` does to the recording.
fn bounds(worsen: impl FnOnce(&mut Sketch)) -> (f64, f64) {
    let mut drawing = Sketch::new();
    for at in 1..=10 {
        drawing.sample(&format!("t={at}00 10: main@src/a.rs:1"));
        drawing.sample(&format!("t={at}50 10: main@src/a.rs:2"));
    }
    worsen(&mut drawing);
    let lines = over(&drawing.builder.finish().unwrap(), "src/a.rs").lines;
    (lines.low[0], lines.high[0])
}

#[test]
fn bounds_are_wilsons_for_as_many_equal_samples() {
    let (low, high) = bounds(|_| {});
    assert!((low - 0.2993).abs() < 1e-4 && (high - 0.7007).abs() < 1e-4, "{low} {high}");
}

#[test]
fn lost_samples_may_be_on_the_line_or_not() {
    let (low, high) = bounds(|drawing| {
        let (kind, detail) = (LossKind::RingFull, StringId::new(0));
        let loss =
            Loss { kind, count: 5, from_ns: 0, until_ns: 9, cpu: None, process: None, thread: None, detail };
        drawing.builder.tables.losses.push(loss);
    });
    // A fifth of all samples is missing.
    assert!((low - 0.2993 * 0.8).abs() < 1e-4 && (high - (0.7007 * 0.8 + 0.2)).abs() < 1e-4, "{low} {high}");
}

#[test]
fn bounds_widen_with_off_duty_time_and_uneven_samples() {
    let (low, high) = bounds(|_| {});
    let (duty_low, duty_high) = bounds(|drawing| {
        drawing.builder.tables.duty_changes.push(DutyChange { time_ns: 0, duty_ppm: 250_000 });
    });
    assert!(duty_low < low && duty_high > high);
    let (uneven_low, uneven_high) = bounds(|drawing| {
        drawing.sample("t=2000 500: main@src/a.rs:1");
        drawing.sample("t=2001 500: main@src/a.rs:2");
    });
    assert!(uneven_low < low && uneven_high > high);
}

#[test]
fn a_text_is_proved_by_its_hash_before_its_time() {
    let mut builder = Builder::new();
    let (path, hash) = (builder.string("src/a.rs"), builder.string("0123456789abcdef0123456789abcdef"));
    let hashed = builder.file(File { path, hash_kind: HashKind::DwarfMd5, hash });
    let bare = builder.file(File { path, hash_kind: HashKind::None, hash: StringId::new(0) });
    let proof = |file, md5, older_than_binary| {
        Proof::of(&builder.tables, &[file], TextEvidence { md5, older_than_binary })
    };
    let (same, other) = (Some("0123456789abcdef0123456789abcdef"), Some("ffff"));
    assert_eq!(proof(hashed, same, Some(false)), Proof::DwarfMd5);
    assert_eq!(proof(hashed, other, Some(true)), Proof::NewerThanBinary);
    assert_eq!(proof(bare, same, Some(true)), Proof::OlderThanBinary);
    assert_eq!(proof(bare, same, Some(false)), Proof::NewerThanBinary);
    assert_eq!(proof(bare, same, None), Proof::Unknown);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_overlay_agrees_with_the_lines(lines in lines()) {
        let capture = sketch(&lines.join("\n"));
        let expected = views::lines(&capture, &Query::default()).unwrap().rows;
        let mut mine = 0;
        for path in ["a.c", "a.h", "b.c"] {
            let request = OverlayRequest {
                path,
                files: &files(&capture, path),
                filter: &Filter::default(),
                measure: &MeasureChoice::Main,
                is_workspace: &|_| true,
                proof: Proof::Unknown,
                mapping: Mapping::Unknown,
            };
            let lines = overlay(&capture, &request).unwrap().lines;
            mine += lines.mine.iter().sum::<u64>();
            for (at, line) in lines.line.iter().enumerate() {
                let row = expected.iter().find(|row| row.file == path && row.line == *line).unwrap();
                prop_assert_eq!((lines.own[at], lines.total[at]), (row.own.weight, row.total.weight));
                prop_assert!(lines.own[at] <= lines.mine[at] && lines.mine[at] <= lines.total[at]);
                prop_assert!(lines.low[at] <= lines.high[at]);
            }
        }
        prop_assert!(mine <= views::flat(&capture, &Query::default()).unwrap().whole.weight);
    }
}
