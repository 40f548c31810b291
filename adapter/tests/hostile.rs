//! Names that a target chose to do harm: no view lets them reach the terminal, break rows or fill the screen.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use clap::Parser;
use microscope_adapter::cli::annotate::annotate;
use microscope_adapter::cli::arguments::{AnnotateArguments, Arguments, Command, OutputFormat};
use microscope_adapter::cli::report::report;
use microscope_adapter::presentation::{Page, Screen, closing, names};
use microscope_adapter::service::query::overview;
use microscope_analysis::Query;
use microscope_capture::{Capture, EndReason, LossKind, MeasureSource};
use support::{PERIOD_NS, Recording};

const NASTY: &str = "\x1b]0;title\x07\x1b[2J\u{9b}31m\nforged 99.9 %\r\u{202e}evil\u{200b}";

fn hostile() -> Capture {
    let long = "x".repeat(10_000);
    let mut recording = Recording::new(MeasureSource::CpuSamples);
    recording.setting("notes", &format!("{NASTY}\n{long}"));
    recording.process(1, NASTY);
    let first = recording.thread(1, NASTY);
    recording.process(2, &long);
    let second = recording.thread(2, &long);
    recording.sample(first, 0, 20, &format!("{NASTY}@/{NASTY}/a.rs:1 > f{NASTY}<T>@/{NASTY}/a.rs:2"));
    recording.sample(first, 20 * PERIOD_NS, 20, &format!("/lib/{NASTY}.so!{NASTY}@"));
    recording.sample_ending(first, 40 * PERIOD_NS, 20, &format!("/lib/{NASTY}{long}!"), EndReason::NoRule);
    recording.sample(second, 0, 20, &format!("a::{long}::b@/{long}/{long}.rs:3"));
    let detail = recording.builder.string(&format!("{NASTY}{long}"));
    recording.loss(LossKind::Bound, 3, 0, 5, None);
    recording.builder.tables.losses.detail[0] = detail;
    recording.seal()
}

fn check_harmless(what: &str, text: &str) {
    let control = text.chars().find(|character| character.is_control() && *character != '\n');
    assert_eq!(control, None, "{what}:\n{text:?}");
    assert!(!text.contains(['\u{202e}', '\u{200b}']), "{what}");
    assert!(!text.lines().any(|line| line.starts_with("forged")), "{what}");
    for line in text.lines() {
        // A command to paste is never cut.
        let whole = line.starts_with("Next: ") || !line.contains(' ');
        assert!(names::width(line) <= 80 || whole, "{what}, {} columns: {line}", names::width(line));
    }
}

#[test]
fn every_view_of_a_report_escapes_names() {
    let capture = hostile();
    let views = ["summary", "tree", "tree --inverted", "flat", "lines", "threads", "timeline", "losses"];
    let more = ["flat --by line", "flat --by address", "flat --by module"];
    for view in views.into_iter().chain(more) {
        let line = format!("microscope report x --view {view}");
        let Command::Report(arguments) = Arguments::try_parse_from(line.split(' ')).unwrap().command else {
            unreachable!("a report was asked for");
        };
        check_harmless(view, &report(&capture, &arguments, Screen::PLAIN, "/").unwrap());
    }
}

#[test]
fn an_annotation_escapes_names_and_text() {
    let capture = hostile();
    let file = |name: &str| AnnotateArguments {
        capture: "x".into(),
        source: name.to_owned(),
        format: OutputFormat::Text,
    };
    let path = format!("/{NASTY}/a.rs");
    check_harmless("annotate", &annotate(&capture, &file(&path), Screen::PLAIN, "/").unwrap());
}

#[test]
fn the_end_of_a_recording_escapes_names() {
    let capture = hostile();
    let page = Page { screen: Screen::PLAIN, directory: "", limit: 0 };
    let overview = overview(&capture, &Query::default()).unwrap();
    check_harmless("closing", &closing(&overview, &format!("/tmp/{NASTY}.mscope"), &page));
}

#[test]
fn json_carries_names_as_data() {
    let capture = hostile();
    let line = "microscope report x --view flat --format json";
    let Command::Report(arguments) = Arguments::try_parse_from(line.split(' ')).unwrap().command else {
        unreachable!("a report was asked for");
    };
    let text = report(&capture, &arguments, Screen::PLAIN, "/").unwrap();
    assert_eq!(text.lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let names = value["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap());
    assert!(names.clone().any(|name| name == NASTY), "{:?}", names.collect::<Vec<_>>());
}
