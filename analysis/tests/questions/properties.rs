//! Rules that hold for every capture.

use std::collections::{BTreeMap, BTreeSet};

use microscope_analysis::views::{self, Tree, TreeOptions, TreeOrder};
use microscope_analysis::{Granularity, Query, Who};
use microscope_capture::{Capture, StackId};
use proptest::prelude::*;
use proptest::sample::select;

use crate::sketch::sketch;

const ALL: [Granularity; 4] =
    [Granularity::Function, Granularity::Line, Granularity::Address, Granularity::Module];

fn frame() -> impl Strategy<Value = &'static str> {
    select(vec![
        "main@a.c:1",
        "f@a.c:10",
        "f@a.c:11",
        "f@a.c:0",
        "get@a.h:3<f@a.c:12",
        "get@a.h:3<put@a.h:9<get@a.h:4<main@a.c:2",
        "b!f@b.c:10",
        "b!memcpy",
        "b!?40",
        "b!?50",
        "k!vfs_read",
        "k!?60",
        r#""text""#,
    ])
}

fn line() -> impl Strategy<Value = String> {
    let end = select(vec!["complete", "no-rule", "stack-bytes"]);
    (1..4_u32, 0..9_000_u64, end, 0..100_u64, prop::collection::vec(frame(), 0..7)).prop_map(
        |(tid, time, end, weight, frames)| {
            format!("tid={tid} t={time} end={end} {weight}: {}", frames.join("; "))
        },
    )
}

pub(crate) fn lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(line(), 1..40)
}

fn by(by: Granularity) -> Query {
    Query { by, ..Query::default() }
}

fn json<T: serde::Serialize>(result: &T) -> String {
    serde_json::to_string_pretty(result).unwrap()
}

fn trees<'c>(capture: &'c Capture, query: &Query) -> [Tree<'c>; 2] {
    [TreeOrder::TopDown, TreeOrder::Inverted]
        .map(|order| views::tree(capture, query, &TreeOptions { order, ..TreeOptions::default() }).unwrap())
}

/// Every view as text.
fn every_view(capture: &Capture, query: &Query) -> Vec<String> {
    let mut texts = vec![
        json(&views::flat(capture, query).unwrap()),
        json(&views::lines(capture, query).unwrap()),
        json(&views::threads(capture, query).unwrap()),
        json(&views::ends(capture, query).unwrap()),
        json(&views::timeline(capture, query, 7).unwrap()),
    ];
    texts.extend(trees(capture, query).iter().map(json));
    texts
}

/// Functions on a stack, by module and name, found the slow way.
fn functions_on(capture: &Capture, mut stack: Option<StackId>) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    while let Some(id) = stack {
        let row = capture.stacks.row(id);
        for (_, fact) in capture.facts.iter().filter(|(_, fact)| fact.frame == row.frame) {
            let function = capture.functions.row(fact.function);
            let module =
                function.module.map_or("", |id| capture.strings.get(capture.modules.path[id.index()]));
            found.insert((module.to_owned(), capture.strings.get(function.name).to_owned()));
        }
        stack = row.parent;
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn own_costs_add_up_to_the_whole(lines in lines()) {
        let capture = sketch(&lines.join("\n"));
        for granularity in ALL {
            let flat = views::flat(&capture, &by(granularity)).unwrap();
            prop_assert_eq!(flat.rows.iter().map(|row| row.own.weight).sum::<u64>(), flat.whole.weight);
            prop_assert_eq!(flat.rows.iter().map(|row| row.own.samples).sum::<u64>(), flat.whole.samples);
            prop_assert!(flat.rows.iter().all(|row| row.own <= row.total && row.total.weight <= flat.whole.weight));
        }
        prop_assert_eq!(views::flat(&capture, &Query::default()).unwrap().whole.samples, lines.len() as u64);
    }

    #[test]
    fn lines_and_what_belongs_to_none_add_up_to_the_whole(lines in lines()) {
        let capture = sketch(&lines.join("\n"));
        let lines = views::lines(&capture, &Query::default()).unwrap();
        let outside = lines.unlined.weight + lines.no_debug.weight + lines.no_stack.weight;
        prop_assert_eq!(lines.rows.iter().map(|row| row.own.weight).sum::<u64>() + outside, lines.whole.weight);
        prop_assert!(lines.rows.iter().all(|row| row.own <= row.total && row.inlined <= row.total));
    }

    #[test]
    fn totals_count_each_sample_once(lines in lines()) {
        let capture = sketch(&lines.join("\n"));
        let mut expected = BTreeMap::new();
        for (_, sample) in capture.samples.iter() {
            for function in functions_on(&capture, sample.stack) {
                *expected.entry(function).or_insert(0) += sample.weight;
            }
        }
        expected.retain(|_, weight| *weight > 0);
        let mut found = BTreeMap::new();
        for row in views::flat(&capture, &Query::default()).unwrap().rows {
            if let (Some(module), Some(name), true) = (row.key.module, row.key.function, row.total.weight > 0) {
                found.insert((module.to_owned(), name.to_owned()), row.total.weight);
            }
        }
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn each_node_of_a_tree_is_its_own_cost_and_its_children(lines in lines()) {
        let capture = sketch(&lines.join("\n"));
        for tree in ALL.iter().flat_map(|granularity| trees(&capture, &by(*granularity))) {
            let roots = tree.rows.iter().filter(|row| row.depth == 0);
            prop_assert_eq!(roots.map(|row| row.total.weight).sum::<u64>(), tree.whole.weight);
            for (at, row) in tree.rows.iter().enumerate() {
                let below = tree.rows[at + 1..].iter().take_while(|below| below.depth > row.depth);
                let children = below.filter(|below| below.depth == row.depth + 1);
                let (weight, samples) = children
                    .fold((row.own.weight, row.own.samples), |(weight, samples), child| {
                        (weight + child.total.weight, samples + child.total.samples)
                    });
                prop_assert_eq!((weight, samples), (row.total.weight, row.total.samples));
            }
        }
    }

    #[test]
    fn a_limited_tree_hides_what_the_whole_one_shows(lines in lines(), min_ppm in 0..400_000_u32) {
        let capture = sketch(&lines.join("\n"));
        for whole in trees(&capture, &Query::default()) {
            let options = TreeOptions { order: whole.order, min_ppm, ..TreeOptions::default() };
            let limited = views::tree(&capture, &Query::default(), &options).unwrap();
            for (at, row) in limited.rows.iter().enumerate() {
                let below = limited.rows[at + 1..].iter().take_while(|below| below.depth > row.depth);
                let children = below.filter(|below| below.depth == row.depth + 1);
                let shown: u64 = children.map(|child| child.total.weight).sum();
                prop_assert_eq!(row.own.weight + shown + row.hidden.total.weight, row.total.weight);
            }
        }
    }

    #[test]
    fn filtering_before_or_after_aggregation_is_the_same(lines in lines(), tid in 1..4_u32) {
        let tag = format!("tid={tid} ");
        let of_thread: Vec<_> = lines.iter().filter(|line| line.starts_with(&tag)).cloned().collect();
        prop_assume!(!of_thread.is_empty());
        let (whole, part) = (sketch(&lines.join("\n")), sketch(&of_thread.join("\n")));
        for granularity in ALL {
            let mut query = by(granularity);
            query.filter.threads.push(Who::Id(tid));
            prop_assert_eq!(every_view(&whole, &query)[..4].to_vec(), every_view(&part, &by(granularity))[..4].to_vec());
            prop_assert_eq!(trees(&whole, &query).map(|tree| json(&tree)), trees(&part, &by(granularity)).map(|tree| json(&tree)));
        }
    }

    #[test]
    fn times_split_the_whole(lines in lines(), cut in 1..9_000_u64) {
        let capture = sketch(&lines.join("\n"));
        let whole = |from_ns, to_ns| {
            let mut query = Query::default();
            (query.filter.from_ns, query.filter.to_ns) = (from_ns, to_ns);
            views::flat(&capture, &query).unwrap().whole.weight
        };
        prop_assert_eq!(whole(None, Some(cut)) + whole(Some(cut), None), whole(None, None));
    }

    #[test]
    fn results_do_not_depend_on_the_order_of_arrival(
        (lines, shuffled) in lines().prop_flat_map(|lines| (Just(lines.clone()), Just(lines).prop_shuffle()))
    ) {
        let (capture, other) = (sketch(&lines.join("\n")), sketch(&shuffled.join("\n")));
        for granularity in ALL {
            prop_assert_eq!(every_view(&capture, &by(granularity)), every_view(&other, &by(granularity)));
        }
    }

    #[test]
    fn threads_ends_and_time_add_up_to_the_whole(lines in lines(), buckets in 1..50_u32) {
        let capture = sketch(&lines.join("\n"));
        let query = Query::default();
        let whole = views::flat(&capture, &query).unwrap().whole;
        let threads = views::threads(&capture, &query).unwrap();
        prop_assert_eq!(threads.rows.iter().map(|row| row.cost.weight).sum::<u64>(), whole.weight);
        let ends = views::ends(&capture, &query).unwrap();
        prop_assert_eq!(ends.rows.iter().map(|row| row.cost.samples).sum::<u64>(), whole.samples);
        let timeline = views::timeline(&capture, &query, buckets).unwrap();
        prop_assert_eq!(timeline.lanes.iter().flat_map(|lane| &lane.weights).sum::<u64>(), whole.weight);
    }
}
