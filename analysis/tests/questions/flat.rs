//! Costs by key.

use std::fmt::Write;

use microscope_analysis::{Granularity, Query, QueryError, views};

use crate::sketch::sketch;

fn by(by: Granularity) -> Query {
    Query { by, ..Query::default() }
}

/// Checks the rows as `self total name`.
fn check(samples: &str, query: &Query, expected: &[&str]) {
    let capture = sketch(samples);
    let rows = views::flat(&capture, query).unwrap().rows;
    let text = |row: &views::FlatRow<'_>| format!("{} {} {}", row.own.weight, row.total.weight, row.key.name);
    assert_eq!(rows.iter().map(text).collect::<Vec<_>>(), expected);
}

#[test]
fn own_cost_goes_to_the_innermost_function_and_total_to_all_on_the_path() {
    check(
        "10: main; parse; hash\n5: main; parse",
        &Query::default(),
        &["10 10 hash", "5 15 parse", "0 15 main"],
    );
}

#[test]
fn a_recursive_function_counts_a_sample_once() {
    check("10: main; f; g; f; f", &Query::default(), &["10 10 f", "0 10 g", "0 10 main"]);
}

#[test]
fn siblings_after_recursion_count_again() {
    check("1: f; f; g\n2: f; h; f\n4: f", &Query::default(), &["6 7 f", "1 1 g", "0 2 h"]);
}

#[test]
fn inlined_functions_are_functions_of_their_own() {
    check(
        "10: main@a.c:3; hash@h.c:7<parse@a.c:12",
        &Query::default(),
        &["10 10 hash", "0 10 main", "0 10 parse"],
    );
}

#[test]
fn functions_of_one_name_in_two_modules_stay_apart() {
    check("10: a!init\n5: b!init", &Query::default(), &["10 10 init", "5 5 init"]);
}

#[test]
fn a_caller_is_found_at_the_address_before_its_return_address() {
    // A caller's frame is sketched at its return address: one past the address given.
    check("10: ?10; ?10", &by(Granularity::Address), &["10 10 app+0x10"]);
}

#[test]
fn code_without_a_name_is_told_by_module_and_address() {
    check("10: main; ?20", &Query::default(), &["10 10 app+0x20", "0 10 main"]);
}

#[test]
fn kernel_code_without_symbols_is_hidden_as_one() {
    let expected = ["10 15 vfs_read", "5 15 kernel (hidden)", "0 15 main"];
    check("10: main; k!?40; k!vfs_read\n5: main; k!vfs_read; k!?50", &Query::default(), &expected);
}

#[test]
fn modules_join_neighbors_and_count_once() {
    check("10: a!f; a!g; b!h; a!f", &by(Granularity::Module), &["10 10 /lib/a", "0 10 /lib/b"]);
}

#[test]
fn lines_name_file_and_line() {
    let expected = ["10 10 h.c:7", "0 10 a.c:3", "0 10 a.c:12"];
    check("10: main@a.c:3; hash@h.c:7<parse@a.c:12", &by(Granularity::Line), &expected);
}

#[test]
fn named_frames_are_named_by_their_text() {
    check(r#"10: "main"; "worker 7""#, &Query::default(), &["10 10 worker 7", "0 10 main"]);
}

#[test]
fn samples_without_a_stack_are_a_row() {
    check("10: main\n3:", &Query::default(), &["10 10 main", "3 3 no stack"]);
}

#[test]
fn folded_functions_are_marked() {
    let capture = sketch("10: main; drop%");
    let rows = views::flat(&capture, &Query::default()).unwrap().rows;
    assert_eq!(
        rows.iter().map(|row| (&*row.key.name, row.key.folded)).collect::<Vec<_>>(),
        [("drop", true), ("main", false)]
    );
}

#[test]
fn equal_costs_are_ordered_by_name() {
    check("1: b\n1: a\n1: c", &Query::default(), &["1 1 a", "1 1 b", "1 1 c"]);
}

fn filtered(filter: impl FnOnce(&mut microscope_analysis::Filter)) -> Query {
    let mut query = Query::default();
    filter(&mut query.filter);
    query
}

#[test]
fn filters_choose_threads_by_id_or_name_and_a_half_open_time() {
    let samples = "tid=1 t=100 1: a\ntid=2 t=200 2: b\ntid=3 t=300 4: c";
    check(samples, &filtered(|filter| filter.threads.push("2".parse().unwrap())), &["2 2 b"]);
    check(samples, &filtered(|filter| filter.threads.push("thread-3".parse().unwrap())), &["4 4 c"]);
    check(
        samples,
        &filtered(|filter| (filter.from_ns, filter.to_ns) = (Some(100), Some(300))),
        &["2 2 b", "1 1 a"],
    );
    check(
        samples,
        &filtered(|filter| filter.processes.push("app".parse().unwrap())),
        &["4 4 c", "2 2 b", "1 1 a"],
    );
}

#[test]
fn a_filter_that_names_nothing_is_an_error() {
    let capture = sketch("1: a");
    let query = filtered(|filter| filter.threads.push("worker".parse().unwrap()));
    let error = views::flat(&capture, &query).unwrap_err();
    assert_eq!(error, QueryError::UnknownThread("worker".to_owned()));
}

#[test]
fn callers_and_callees_count_a_sample_once_each() {
    let capture = sketch("10: main; f; g; f; h\n5: main; f\n1: other; g; h");
    let text = |edges: views::Edges<'_>| {
        let mut text = format!("total {} none {}", edges.total.weight, edges.none.weight);
        edges.rows.iter().for_each(|row| write!(text, " {}={}", row.key.name, row.cost.weight).unwrap());
        text
    };
    let callers = |name| text(views::callers(&capture, &Query::default(), name).unwrap());
    let callees = |name| text(views::callees(&capture, &Query::default(), name).unwrap());
    assert_eq!(callers("f"), "total 15 none 0 main=15 g=10");
    assert_eq!(callees("f"), "total 15 none 5 g=10 h=10");
    assert_eq!(callers("main"), "total 15 none 15");
    assert!(views::callers(&capture, &Query::default(), "absent").is_err());
}
