//! Costs by line, and what belongs to none.

use microscope_analysis::{Query, views};

use crate::sketch::sketch;

/// Checks the rows as `file:line self inlined total`, after `unlined no-debug no-stack`.
fn check(samples: &str, outside: (u64, u64, u64), expected: &[&str]) {
    let capture = sketch(samples);
    let lines = views::lines(&capture, &Query::default()).unwrap();
    let text = |row: &views::LineRow<'_>| {
        let (own, inlined, total) = (row.own.weight, row.inlined.weight, row.total.weight);
        format!("{}:{} {own} {inlined} {total}", row.file, row.line)
    };
    assert_eq!(lines.rows.iter().map(text).collect::<Vec<_>>(), expected);
    assert_eq!((lines.unlined.weight, lines.no_debug.weight, lines.no_stack.weight), outside);
}

#[test]
fn own_cost_is_on_the_innermost_inlined_line_and_the_call_site_says_inlined() {
    let expected = ["a.h:7 10 0 10", "a.c:1 0 0 10", "a.c:5 0 10 10"];
    check("10: main@a.c:1; get@a.h:7<parse@a.c:5", (0, 0, 0), &expected);
}

#[test]
fn inlining_further_out_is_no_inlined_cost() {
    check("10: get@a.h:7<main@a.c:5; f@b.c:2", (0, 0, 0), &["b.c:2 10 0 10", "a.c:5 0 0 10", "a.h:7 0 0 10"]);
}

#[test]
fn a_line_counts_a_sample_once_however_often_it_recurs() {
    check("10: f@a.c:1; g@a.c:2; f@a.c:1; f@a.c:1", (0, 0, 0), &["a.c:1 10 0 10", "a.c:2 0 0 10"]);
}

#[test]
fn a_call_site_inlined_twice_counts_once() {
    check("4: x@a.c:9<f@a.c:1<f@a.c:1", (0, 0, 0), &["a.c:9 4 0 4", "a.c:1 0 4 4"]);
}

#[test]
fn line_zero_symbols_unknown_code_and_no_stack_are_told_apart() {
    let samples = "1: main@a.c:1; f@a.c:0\n2: main@a.c:1; memcpy\n4: main@a.c:1; ?20\n8: k!?30\n16:";
    check(samples, (1, 14, 16), &["a.c:1 0 0 7"]);
}
