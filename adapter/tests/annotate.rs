//! `microscope annotate`: the right file, its text with proof, its costs, and the overlay as JSON.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::fs;
use std::path::Path;

use clap::Parser;
use microscope_adapter::cli::annotate::annotate;
use microscope_adapter::cli::arguments::{Arguments, Command};
use microscope_adapter::presentation::Screen;
use microscope_adapter::service::sources::{SourceError, find};
use microscope_capture::{Capture, HashKind, MeasureSource, SourceText};
use support::{Recording, check_golden, server};

const PARSE: &str = "//! Parses.\n\nuse crate::text;\n";

fn run(capture: &Capture, options: &str, directory: &str) -> anyhow::Result<String> {
    let words = ["microscope", "annotate", "run.mscope"].into_iter().chain(options.split_whitespace());
    let Command::Annotate(arguments) =
        Arguments::try_parse_from(words).expect("the options are right").command
    else {
        panic!("not an annotation");
    };
    annotate(capture, &arguments, Screen::PLAIN, directory)
}

/// The server with a text of `parse.rs` in the capture: 60 lines, tabs included.
fn with_text(proved: bool) -> Capture {
    let mut recording = server();
    let text: String = PARSE.to_owned()
        + &(4..=60).map(|line| format!("\tline {line} of the parser;\n")).collect::<String>();
    let file = recording.builder.tables.files.ids().find(|id| {
        let path = recording.builder.tables.files.path[id.index()];
        recording.builder.tables.strings.get(path).ends_with("parse.rs")
    });
    let file = file.unwrap();
    if proved {
        let hash = microscope_profiler::sources::hex_md5(text.as_bytes());
        recording.builder.tables.files.hash_kind[file.index()] = HashKind::DwarfMd5;
        recording.builder.tables.files.hash[file.index()] = recording.builder.string(&hash);
    }
    let text = recording.builder.string(&text);
    recording.builder.tables.source_texts.push(SourceText { file, text });
    recording.seal()
}

#[test]
fn costs_stand_beside_the_text() {
    check_golden("annotate.txt", &run(&with_text(true), "src/parse.rs", "/home/me/app").unwrap());
}

#[test]
fn an_unproved_text_says_so() {
    let text = run(&with_text(false), "parse.rs", "/elsewhere").unwrap();
    assert!(text.contains("is not proved to be the one that was compiled"), "{text}");
}

#[test]
fn without_a_text_lines_are_shown_alone() {
    check_golden("annotate-without-text.txt", &run(&server().seal(), "parse.rs", "/home/me/app").unwrap());
}

/// One sample on the first line of `path`, compiled from a text with this MD5, if that is known.
fn of_file(path: &Path, md5: Option<&str>) -> Capture {
    let mut recording = Recording::new(MeasureSource::CpuSamples);
    recording.process(1, "a");
    let thread = recording.thread(1, "a");
    recording.sample(thread, 0, 10, &format!("main@{}:1", path.display()));
    if let Some(md5) = md5 {
        let hash = recording.builder.string(md5);
        recording.builder.tables.files.hash_kind[0] = HashKind::DwarfMd5;
        recording.builder.tables.files.hash[0] = hash;
    }
    recording.seal()
}

#[test]
fn a_file_of_the_same_name_counts_only_with_proof() {
    let folder = tempfile::tempdir().unwrap();
    let (built, here) = (folder.path().join("built"), folder.path().join("here"));
    for (directory, text) in [(&built, "built\n"), (&here, "here\n")] {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join("a.rs"), text).unwrap();
    }
    let compiled = |path: &Path, md5| run(&of_file(path, md5), "a.rs", here.to_str().unwrap()).unwrap();
    assert!(compiled(&built.join("a.rs"), None).contains("1  built"));
    let md5 = microscope_profiler::sources::hex_md5(b"here\n");
    assert!(compiled(&built.join("a.rs"), Some(&md5)).contains("1  here"));
    assert!(compiled(Path::new("/gone/a.rs"), None).contains("1  here"));
}

#[test]
fn a_text_on_disk_that_was_changed_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.rs");
    fs::write(&path, "edited\n").unwrap();
    let capture = of_file(&path, Some("00000000000000000000000000000000"));
    let text = run(&capture, "a.rs", folder.path().to_str().unwrap()).unwrap();
    assert!(text.contains("numbers may stand on wrong"), "{text}");
    assert!(text.contains("1  edited"), "{text}");
}

#[test]
fn json_is_the_overlay_with_labels() {
    let text = run(&with_text(true), "src/parse.rs --format json", "/home/me/app").unwrap();
    let overlay: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(overlay["proof"], "dwarf-md5");
    assert_eq!(overlay["mapping"], "exact");
    assert_eq!(overlay["lines"]["line"], serde_json::json!([30, 58]));
    assert_eq!(overlay["lines"]["label"], serde_json::json!(["30.0 %", "0.0 %"]));
    assert_eq!(overlay["measures"][0]["unit"], "ns");
}

fn paths(paths: &[&str]) -> Capture {
    let mut recording = Recording::new(MeasureSource::CpuSamples);
    recording.process(1, "a");
    let thread = recording.thread(1, "a");
    for path in paths {
        recording.sample(thread, 0, 1, &format!("main@{path}:1"));
    }
    recording.seal()
}

fn check_found(all: &[&str], name: &str, directory: &str, expected: &str) {
    let found = find(&paths(all), name, Path::new(directory)).expect("one file is meant");
    assert_eq!(found.path, expected);
}

#[test]
fn the_exact_path_comes_first() {
    check_found(&["/a/src/lib.rs", "/a/b/src/lib.rs"], "/a/src/lib.rs", "/", "/a/src/lib.rs");
    check_found(&["/a/src/lib.rs", "/a/b/src/lib.rs"], "src/lib.rs", "/a", "/a/src/lib.rs");
    check_found(&["/a/x/../src/lib.rs", "/b/src/lib.rs"], "src/lib.rs", "/a", "/a/x/../src/lib.rs");
}

#[test]
fn else_the_only_path_that_ends_so() {
    check_found(&["/a/src/lib.rs", "/b/src/main.rs"], "lib.rs", "/elsewhere", "/a/src/lib.rs");
    check_found(
        &["/build/src/lib.rs", "/build/tests/lib.rs"],
        "/home/me/src/lib.rs",
        "/",
        "/build/src/lib.rs",
    );
}

#[test]
fn a_name_that_could_be_several_files_is_refused_with_them() {
    let problem = find(&paths(&["/a/lib.rs", "/b/lib.rs"]), "lib.rs", Path::new("/")).unwrap_err();
    let candidates = vec!["/a/lib.rs".to_owned(), "/b/lib.rs".to_owned()];
    assert_eq!(problem, SourceError::Ambiguous { name: "lib.rs".to_owned(), candidates });
}

#[test]
fn a_name_that_merely_shares_its_end_is_not_meant() {
    let capture = paths(&["/a/src/lib.rs", "/a/src/mylib.rs"]);
    assert!(find(&capture, "tests/lib.rs", Path::new("/")).is_err());
    assert!(find(&capture, "b.rs", Path::new("/")).is_err());
}
