//! Call trees.

use std::fmt::Write;

use microscope_analysis::views::{self, Hidden, Tree, TreeOptions, TreeOrder};
use microscope_analysis::{Granularity, Query};

use crate::sketch::sketch;

const TOP_DOWN: TreeOptions = TreeOptions { order: TreeOrder::TopDown, min_ppm: 0, depth_max: None };
const INVERTED: TreeOptions = TreeOptions { order: TreeOrder::Inverted, min_ppm: 0, depth_max: None };

fn text(tree: &Tree<'_>) -> String {
    let hidden = |hidden: Hidden| match hidden.nodes {
        0 => String::new(),
        nodes => format!(" (+{nodes}: {})", hidden.total.weight),
    };
    let mut text = String::new();
    for row in &tree.rows {
        let (indent, name) = (2 * row.depth as usize, &tree.keys[row.key as usize].name);
        let (total, own) = (row.total.weight, row.own.weight);
        writeln!(text, "{:indent$}{name} {total} {own}{}", "", hidden(row.hidden)).unwrap();
    }
    text + &hidden(tree.hidden)
}

/// Checks the tree as indented `name total self`.
fn check(samples: &str, by: Granularity, options: TreeOptions, expected: &str) {
    let capture = sketch(samples);
    let tree = views::tree(&capture, &Query { by, ..Query::default() }, &options).unwrap();
    let expected: String = expected
        .lines()
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .fold(String::new(), |text, line| if line.is_empty() { text } else { text + line + "\n" });
    assert_eq!(text(&tree).trim_end(), expected.trim_end());
}

const SAMPLES: &str = "10: main; parse; hash
     5: main; parse
     2: main; print
     1: start; print";

#[test]
fn children_follow_their_parent_by_weight() {
    let expected = "
    main 17 0
      parse 15 5
        hash 10 10
      print 2 2
    start 1 0
      print 1 1";
    check(SAMPLES, Granularity::Function, TOP_DOWN, expected);
}

#[test]
fn an_inverted_tree_starts_where_samples_ended() {
    let expected = "
    hash 10 0
      parse 10 0
        main 10 10
    parse 5 0
      main 5 5
    print 3 0
      main 2 2
      start 1 1";
    check(SAMPLES, Granularity::Function, INVERTED, expected);
}

#[test]
fn stacks_that_differ_in_addresses_only_meet() {
    let expected = "
    main 3 0
      f 3 3";
    check("1: main@a.c:1; f@a.c:5\n2: main@a.c:2; f@a.c:6", Granularity::Function, TOP_DOWN, expected);
}

#[test]
fn inlined_levels_are_nodes_inside_their_caller() {
    let samples = "4: main@a.c:1; hash@h.c:7<parse@a.c:12";
    check(
        samples,
        Granularity::Function,
        TOP_DOWN,
        "
    main 4 0
      parse 4 0
        hash 4 4",
    );
    check(
        samples,
        Granularity::Function,
        INVERTED,
        "
    hash 4 0
      parse 4 0
        main 4 4",
    );
}

#[test]
fn recursion_is_a_chain() {
    check(
        "3: f; f; f",
        Granularity::Function,
        TOP_DOWN,
        "
    f 3 0
      f 3 0
        f 3 3",
    );
}

#[test]
fn neighbors_of_one_module_are_one_step() {
    let samples = "3: a!f; a!g; b!h; b!i; a!j";
    check(
        samples,
        Granularity::Module,
        TOP_DOWN,
        "
    /lib/a 3 0
      /lib/b 3 0
        /lib/a 3 3",
    );
    check(
        samples,
        Granularity::Module,
        INVERTED,
        "
    /lib/a 3 0
      /lib/b 3 0
        /lib/a 3 3",
    );
}

#[test]
fn what_a_limit_hides_is_counted_at_its_parent() {
    let limits = TreeOptions { min_ppm: 200_000, ..TOP_DOWN };
    let expected = "
    main 17 0 (+1: 2)
      parse 15 5
        hash 10 10
     (+1: 1)";
    let capture = sketch(SAMPLES);
    let tree = views::tree(&capture, &Query::default(), &limits).unwrap();
    assert_eq!(
        text(&tree),
        expected.trim_start_matches('\n').replace("\n    ", "\n").replacen("    ", "", 1)
    );
}

#[test]
fn an_inverted_tree_has_the_same_limits() {
    let limits = TreeOptions { min_ppm: 200_000, depth_max: Some(1), ..INVERTED };
    let capture = sketch(SAMPLES);
    let tree = views::tree(&capture, &Query::default(), &limits).unwrap();
    assert_eq!(text(&tree), "hash 10 0 (+1: 10)\nparse 5 0 (+1: 5)\n (+1: 3)");
}

#[test]
fn samples_without_a_stack_are_the_last_root() {
    check(
        "9:\n1: main",
        Granularity::Function,
        TOP_DOWN,
        "
    main 1 1
    no stack 9 9",
    );
}
