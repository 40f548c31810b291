//! Every view of `microscope report` as text at 80 columns, against golden files.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use clap::Parser;
use microscope_adapter::cli::arguments::{Arguments, Command};
use microscope_adapter::cli::report::report;
use microscope_adapter::presentation::Screen;
use microscope_capture::{Capture, LossKind, MeasureSource};
use support::{PERIOD_NS, Recording, check_golden, server};

fn text(capture: &Capture, options: &str) -> String {
    let words = ["microscope", "report", "run.mscope"].into_iter().chain(options.split_whitespace());
    let Command::Report(arguments) = Arguments::try_parse_from(words).expect("the options are right").command
    else {
        panic!("not a report");
    };
    report(capture, &arguments, Screen::PLAIN, "/home/me/app").expect("the question has an answer")
}

fn colored(capture: &Capture) -> String {
    let Command::Report(arguments) = Arguments::parse_from(["microscope", "report", "x"]).command else {
        panic!("not a report");
    };
    report(capture, &arguments, Screen { color: true, ..Screen::PLAIN }, "")
        .expect("the question has an answer")
}

fn check(capture: &Capture, options: &str, golden: &str) {
    let text = text(capture, options);
    for line in text.lines() {
        let width = microscope_adapter::presentation::names::width(line);
        assert!(width <= 80 || options.contains("json"), "{width} columns: {line}");
    }
    check_golden(golden, &text);
}

#[test]
fn the_summary_fits_one_screen() {
    check(&server().seal(), "", "summary.txt");
}

#[test]
fn a_tree_shows_chains_without_indenting_them() {
    check(&server().seal(), "--view tree", "tree.txt");
}

#[test]
fn an_inverted_tree_begins_with_what_ran() {
    check(&server().seal(), "--view tree --inverted", "tree-inverted.txt");
}

#[test]
fn flat_rows_may_stand_for_anything() {
    for by in ["function", "line", "address", "module"] {
        check(&server().seal(), &format!("--view flat --by {by}"), &format!("flat-{by}.txt"));
    }
}

#[test]
fn lines_say_what_is_on_no_line() {
    check(&server().seal(), "--view lines --limit 3", "lines.txt");
}

#[test]
fn threads_are_listed_by_cost() {
    check(&server().seal(), "--view threads", "threads.txt");
}

#[test]
fn a_timeline_has_a_lane_for_each_thread() {
    check(&server().seal(), "--view timeline", "timeline.txt");
}

#[test]
fn losses_say_where_when_and_what_would_help() {
    let mut recording = server();
    recording.loss(LossKind::RingFull, 120, 200 * PERIOD_NS, 240 * PERIOD_NS, Some(1));
    recording.loss(LossKind::RingFull, 7, 300 * PERIOD_NS, 300 * PERIOD_NS, Some(0));
    recording.loss(LossKind::BeforeArming, 2_500_000, 0, 0, None);
    let capture = recording.seal();
    check(&capture, "--view losses", "losses.txt");
    check(&capture, "", "summary-losses.txt");
}

#[test]
fn filters_narrow_every_view() {
    check(&server().seal(), "--view flat --thread worker --from 700ms --to 0.8s", "flat-filtered.txt");
}

/// Forty functions that each call the next and a helper: every level branches.
fn deep() -> Capture {
    let mut recording = Recording::new(MeasureSource::UserCpuSamples);
    recording.process(7, "deep");
    let thread = recording.thread(7, "deep");
    let mut path = "main@a.c:1".to_owned();
    for level in 0..40 {
        path += &format!(" > level_{level:02}@a.c:{}", level + 2);
        recording.sample(thread, level * 100 * PERIOD_NS, 50, &format!("{path} > helper@a.c:99"));
    }
    for small in 0..9 {
        recording.sample(
            thread,
            (5_000 + small) * PERIOD_NS,
            1,
            &format!("main@a.c:1 > small_{small}@a.c:200"),
        );
    }
    recording.seal()
}

#[test]
fn a_deep_tree_stays_on_the_screen_and_counts_what_it_leaves_out() {
    check(&deep(), "--view tree", "tree-deep.txt");
}

#[test]
fn of_a_long_chain_only_the_ends_are_shown() {
    let mut recording = Recording::new(MeasureSource::CpuSamples);
    recording.process(7, "chain");
    let thread = recording.thread(7, "chain");
    let chain: Vec<String> = (0..12).map(|level| format!("level_{level:02}@a.c:1")).collect();
    recording.sample(thread, 0, 10, &chain.join(" > "));
    let capture = recording.seal();
    check(&capture, "--view tree", "tree-chain.txt");
    check(&capture, "--view tree --inverted", "tree-chain-inverted.txt");
    assert!(text(&capture, "--view tree --limit 0").contains("level_05"));
}

#[test]
fn user_time_only_is_said_wherever_a_total_stands() {
    let capture = deep();
    for view in ["summary", "tree", "flat", "lines", "threads", "timeline", "losses"] {
        assert!(text(&capture, &format!("--view {view}")).contains("user CPU time only"), "{view}");
    }
}

#[test]
fn no_samples_are_explained_only_as_far_as_is_known() {
    let narrowed = text(&server().seal(), "--from 90s");
    assert!(narrowed.contains("Nothing was sampled in the threads and times asked for."), "{narrowed}");
    let empty = |used_ns| {
        let mut recording = Recording::new(MeasureSource::CpuSamples);
        recording.setting("target-user-ns", used_ns);
        recording.setting("target-system-ns", "0");
        text(&recording.seal(), "").replace('\n', " ")
    };
    assert!(empty("0").contains("the program used no CPU time while"), "{}", empty("0"));
    assert!(
        empty("460000000").contains("though the program used 460 ms of CPU time"),
        "{}",
        empty("460000000")
    );
}

#[test]
fn user_time_without_samples_is_said_too() {
    let mut recording = Recording::new(MeasureSource::UserCpuSamples);
    recording.setting("target-user-ns", "245000000");
    recording.setting("target-system-ns", "5000000");
    let said = text(&recording.seal(), "").replace('\n', " ");
    assert!(said.contains("100.0 % of the user CPU time (245 ms) has no samples"), "{said}");
}

#[test]
fn a_loss_of_unknown_size_is_not_shown_as_zero() {
    let mut recording = server();
    recording.loss(LossKind::Unspooled, 0, 5, 5, None);
    let capture = recording.seal();
    let said = text(&capture, "").replace('\n', " ");
    assert!(said.contains("Of others, an unknown number of rows of a killed recording"), "{said}");
    assert!(text(&capture, "--view losses").contains("unknown  rows of a killed recording"));
}

#[test]
fn colors_are_for_terminals() {
    let colored = colored(&server().seal());
    assert!(colored.contains("\x1b[1;31m41.0 %\x1b[0m"), "{colored:?}");
}
