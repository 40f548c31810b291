//! Exports, read back by the importers where there is one, and looked at otherwise.

use std::collections::BTreeMap;

use microscope_analysis::export::{Format, export};
use microscope_analysis::views;
use microscope_analysis::{Granularity, Query};
use microscope_capture::{Capture, import};
use proptest::prelude::*;
use serde_json::Value;

use crate::properties::lines;
use crate::sketch::sketch;

fn exported(capture: &Capture, format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    export(capture, &Query::default(), format, &mut bytes).unwrap();
    bytes
}

fn folded(samples: &str) -> String {
    String::from_utf8(exported(&sketch(samples), Format::Folded)).unwrap()
}

fn json(samples: &str, format: Format) -> Value {
    serde_json::from_slice(&exported(&sketch(samples), format)).unwrap()
}

/// What each stack of function names weighs.
fn weights(capture: &Capture) -> BTreeMap<String, u64> {
    let tree = views::tree(capture, &Query::default(), &views::TreeOptions::default()).unwrap();
    let mut path: Vec<&str> = Vec::new();
    let mut weights = BTreeMap::new();
    for row in &tree.rows {
        path.truncate(row.depth as usize);
        path.push(&tree.keys[row.key as usize].name);
        if row.own.weight > 0 {
            *weights.entry(path.join(";")).or_insert(0) += row.own.weight;
        }
    }
    weights
}

#[test]
fn folded_stacks_go_from_the_outermost_frame_in() {
    assert_eq!(
        folded("10: main; parse; hash\n5: main; parse\n1: main; parse\n7:"),
        "main;parse 6\nmain;parse;hash 10\nno stack 7\n"
    );
}

#[test]
fn folded_names_cannot_split_a_line() {
    let capture = import::folded::read(b"a;b 1").unwrap();
    assert_eq!(weights(&capture), BTreeMap::from([("a;b".to_owned(), 1)]));
    // A sketch splits at semicolons as well, so the name comes from a text with a line break.
    assert_eq!(folded("3: \"one\rtwo\""), "one two 3\n");
}

#[test]
fn folded_stacks_may_be_of_modules() {
    let mut bytes = Vec::new();
    let query = Query { by: Granularity::Module, ..Query::default() };
    export(&sketch("3: a!f; a!g; b!h"), &query, Format::Folded, &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "/lib/a;/lib/b 3\n");
}

#[test]
fn pprof_keeps_files_lines_inlining_modules_and_threads() {
    let original = sketch("tid=7 10: main@a.c:3; b!get@a.h:7<put@a.c:5");
    let back = import::pprof::read(&exported(&original, Format::Pprof)).unwrap();
    let lines = |capture: &Capture| {
        let lines = views::lines(capture, &Query::default()).unwrap();
        let row = |row: &views::LineRow<'_>| {
            format!(
                "{}:{} {} {} {} {}",
                row.file, row.line, row.function, row.own.weight, row.inlined.weight, row.total.weight
            )
        };
        lines.rows.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(lines(&back), lines(&original));
    let threads = views::threads(&back, &Query::default()).unwrap().rows;
    assert_eq!(
        (threads[0].pid, threads[0].tid, threads[0].name, threads[0].process),
        (1, 7, "thread-7", "app")
    );
    let flat = views::flat(&back, &Query::default()).unwrap();
    assert_eq!((flat.quantity.name, flat.quantity.unit, flat.quantity.period), ("cpu-clock", "ns", Some(10)));
    assert_eq!(flat.rows[0].key.module, Some("/lib/b"));
}

#[test]
fn every_format_says_what_it_loses() {
    for format in [Format::Folded, Format::Pprof, Format::Chrome, Format::Firefox] {
        assert!(!format.loses().is_empty());
    }
}

#[test]
fn a_chrome_sample_lasts_as_long_as_it_weighs() {
    // 3 µs of `f` ending at 5 µs, idle until 8 µs, then 2 µs of `main`.
    let profile = json("t=5000 3000: main; f\nt=10000 2000: main", Format::Chrome);
    let events = profile["traceEvents"].as_array().unwrap();
    let chunks: Vec<&Value> = events.iter().filter(|event| event["name"] == "ProfileChunk").collect();
    let data = |chunk: &Value, member: &str| chunk["args"]["data"]["cpuProfile"][member].clone();
    let names: Vec<String> = data(chunks[0], "nodes")
        .as_array()
        .unwrap()
        .iter()
        .map(|node| {
            format!(
                "{} {} {}",
                node["id"],
                node["parent"],
                node["callFrame"]["functionName"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(names, ["1 null (root)", "2 1 (idle)", "3 1 main", "4 3 f"]);
    assert_eq!(data(chunks[1], "samples"), serde_json::json!([2, 4, 2, 3, 2]));
    assert_eq!(chunks[1]["args"]["data"]["timeDeltas"], serde_json::json!([0, 2, 3, 3, 2]));
}

#[test]
fn a_chrome_profile_is_of_one_thread() {
    let profile = json("tid=1 t=5000 1000: main\ntid=2 t=5000 1000: work", Format::Chrome);
    let events = profile["traceEvents"].as_array().unwrap();
    let of = |name: &str| -> Vec<(String, u64)> {
        let events = events.iter().filter(|event| event["name"] == name);
        events.map(|event| (event["id"].to_string(), event["tid"].as_u64().unwrap())).collect()
    };
    assert_eq!(of("Profile"), [("\"0x1\"".to_owned(), 1), ("\"0x2\"".to_owned(), 2)]);
    assert_eq!(of("thread_name").len(), 2);
}

/// Checks that columns have the length that their table states, and that numbers name rows.
fn check_table(table: &Value, indexes: &[(&str, usize)]) {
    let rows = table["length"].as_u64().unwrap();
    for (name, column) in table.as_object().unwrap() {
        if let Some(cells) = column.as_array() {
            assert_eq!(cells.len() as u64, rows, "{name}");
        }
    }
    for (name, limit) in indexes {
        let cells = table[name].as_array().unwrap();
        assert!(cells.iter().filter_map(Value::as_u64).all(|cell| (cell as usize) < *limit), "{name}");
    }
}

#[test]
fn a_firefox_profile_names_rows_that_exist() {
    let profile =
        json("tid=1 5: main@a.c:1; get@a.h:3<f@a.c:2; k!vfs_read\ntid=2 t=9 7: b!?40\n3:", Format::Firefox);
    assert_eq!(profile["meta"]["preprocessedProfileVersion"], 55);
    let libraries = profile["libs"].as_array().unwrap().len();
    let threads = profile["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 2);
    for thread in threads {
        let rows = |table: &str| usize::try_from(thread[table]["length"].as_u64().unwrap()).unwrap();
        let strings = thread["stringArray"].as_array().unwrap().len();
        check_table(&thread["samples"], &[("stack", rows("stackTable"))]);
        check_table(&thread["stackTable"], &[("prefix", rows("stackTable")), ("frame", rows("frameTable"))]);
        check_table(&thread["frameTable"], &[("func", rows("funcTable")), ("category", 3)]);
        check_table(
            &thread["funcTable"],
            &[("name", strings), ("fileName", strings), ("resource", rows("resourceTable"))],
        );
        check_table(&thread["resourceTable"], &[("lib", libraries), ("name", strings)]);
    }
}

#[test]
fn firefox_stacks_read_from_the_outside_in_with_inline_levels() {
    let profile = json("5: main@a.c:1; get@a.h:3<f@a.c:2", Format::Firefox);
    let thread = &profile["threads"][0];
    let number = |table: &str, column: &str, row: u64| thread[table][column][row as usize].as_u64();
    let mut stack = thread["samples"]["stack"][0].as_u64();
    let mut found = Vec::new();
    while let Some(at) = stack {
        let frame = number("stackTable", "frame", at).unwrap();
        let func = number("frameTable", "func", frame).unwrap();
        let name = &thread["stringArray"][number("funcTable", "name", func).unwrap() as usize];
        let (line, depth) =
            (&thread["frameTable"]["line"][frame as usize], number("frameTable", "inlineDepth", frame));
        found.push(format!("{} {line} {}", name.as_str().unwrap(), depth.unwrap()));
        stack = number("stackTable", "prefix", at);
    }
    assert_eq!(found, ["get 3 1", "f 2 0", "main 1 0"]);
    assert_eq!(thread["samples"]["weightType"], "tracing-ms");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn folded_and_back_keeps_what_each_stack_weighs(lines in lines()) {
        let original = sketch(&lines.join("\n"));
        let expected = weights(&original);
        prop_assume!(!expected.is_empty());
        let back = import::folded::read(&exported(&original, Format::Folded)).unwrap();
        prop_assert_eq!(weights(&back), expected);
    }

    #[test]
    fn pprof_and_back_keeps_what_each_stack_weighs(lines in lines()) {
        let original = sketch(&lines.join("\n"));
        let bytes = exported(&original, Format::Pprof);
        let back = import::pprof::read(&bytes).unwrap();
        prop_assert_eq!(weights(&back), weights(&original));
        // What was lost, times and order, is lost once: a second trip changes nothing.
        let again = import::pprof::read(&exported(&back, Format::Pprof)).unwrap();
        prop_assert_eq!(weights(&again), weights(&back));
    }

    #[test]
    fn exports_of_one_capture_are_the_same_bytes(
        (lines, shuffled) in lines().prop_flat_map(|lines| (Just(lines.clone()), Just(lines).prop_shuffle()))
    ) {
        let (capture, other) = (sketch(&lines.join("\n")), sketch(&shuffled.join("\n")));
        for format in [Format::Folded, Format::Pprof, Format::Chrome, Format::Firefox] {
            prop_assert!(exported(&capture, format) == exported(&other, format), "{:?}", format);
        }
    }
}
