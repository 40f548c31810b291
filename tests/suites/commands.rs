//! The command line around recordings: usage, imports and exports, annotation, reports of one capture.

use std::path::Path;

use microscope_tests::microscope::run;
use microscope_tests::report::number;
use microscope_tests::{Folded, Record, Recording};

use crate::programs::program;

/// One short recording for the commands that read captures.
fn recording() -> Recording {
    Record::default().budget_ms(600).run(&program("shares.c", "-O2").build().unwrap()).unwrap()
}

#[test]
fn help_names_exactly_the_commands_that_exist() {
    let help = run(["--help"]).unwrap().expect_code(0).unwrap().stdout;
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut commands: Vec<_> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    commands.sort_unstable();
    assert_eq!(commands, ["annotate", "convert", "demo", "help", "record", "recover", "report"]);
}

#[test]
fn wrong_usage_exits_with_2() {
    for arguments in [&["record"][..], &["report"], &["nonsense"], &["report", "x", "--view", "nonsense"]] {
        run(arguments.iter().copied()).unwrap().expect_code(2).unwrap();
    }
}

#[test]
fn a_missing_file_exits_with_1_and_its_name() {
    let said = run(["report", "/nonexistent.mscope"]).unwrap().expect_code(1).unwrap();
    assert!(said.stderr.contains("/nonexistent.mscope"), "{}", said.stderr);
}

#[test]
fn record_exports_and_reads_back_what_it_exported() {
    let recording = recording();
    let whole = number(&recording.report("").unwrap(), "/whole/weight").unwrap();
    for (format, file) in [("folded", "out.folded"), ("pprof", "out.pb.gz")] {
        let out = recording.directory().join(file);
        convert(&recording.capture, &out, format);
        let imported = microscope_tests::microscope::report(&out, "").unwrap();
        assert_eq!(number(&imported, "/whole/weight").unwrap(), whole, "{format}");
        let back = recording.directory().join("back.folded");
        convert(&out, &back, "folded");
        let back = Folded::parse(&std::fs::read_to_string(back).unwrap()).unwrap();
        let hot = back.total_percent("hot") - recording.folded().unwrap().total_percent("hot");
        assert!(hot.abs() < 1e-9, "{format} changed the share of hot by {hot}");
    }
}

#[test]
fn record_exports_json_for_chrome_and_firefox() {
    let recording = recording();
    for format in ["chrome", "firefox"] {
        let out = recording.directory().join("out.json");
        convert(&recording.capture, &out, format);
        let text = std::fs::read_to_string(&out).unwrap();
        let exported: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(exported.is_object() && text.contains("\"spin\""), "{format} lacks the function spin");
    }
}

#[test]
fn record_then_annotate_shows_the_hot_line() {
    let recording = recording();
    let arguments = ["annotate".as_ref(), recording.capture.as_os_str(), "shares.c".as_ref()];
    let text = run(arguments).unwrap().expect_code(0).unwrap().stdout;
    let hot = text.lines().find(|line| line.contains("BURN(units)")).unwrap_or_else(|| panic!("{text}"));
    assert!(hot.contains('%'), "{hot}");
}

#[test]
fn record_then_every_view_has_text_and_json() {
    let recording = recording();
    for view in ["summary", "tree", "flat", "lines", "threads", "timeline", "losses"] {
        recording.report(&format!("--view {view}")).unwrap();
        let arguments = ["report".as_ref(), recording.capture.as_os_str(), "--view".as_ref(), view.as_ref()];
        let text = run(arguments).unwrap().expect_code(0).unwrap().stdout;
        assert!(!text.trim().is_empty(), "{view} prints nothing");
    }
}

#[test]
fn record_then_filters_take_parts_of_the_whole() {
    let recording = recording();
    let weight = |options: &str| number(&recording.report(options).unwrap(), "/whole/weight").unwrap();
    let (first, second) = (weight("--to 300ms"), weight("--from 300ms"));
    assert_eq!(first + second, weight(""));
    assert!(first > 0.0 && second > 0.0);
    assert_eq!(weight("--thread shares"), weight(""));
    assert_eq!(weight("--process shares"), weight(""));
}

fn convert(from: &Path, to: &Path, format: &str) {
    let arguments = ["convert".as_ref(), from.as_os_str(), to.as_os_str(), "--to".as_ref(), format.as_ref()];
    run(arguments).unwrap().expect_code(0).unwrap();
}
