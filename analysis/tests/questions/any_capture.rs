//! Captures that obey the rules and no more: every view and every exporter answers.

use microscope_analysis::export::{ExportError, Format, export};
use microscope_analysis::overlay::{Mapping, OverlayRequest, Proof, overlay};
use microscope_analysis::views::{self, TreeOptions, TreeOrder};
use microscope_analysis::{Granularity, MeasureChoice, Query, QueryError};
use microscope_capture::{Capture, testing};

/// Every quantity at every granularity.
fn queries(capture: &Capture) -> Vec<Query> {
    let names: Vec<&str> = capture.measures.name.iter().map(|name| capture.strings.get(*name)).collect();
    let all = [Granularity::Function, Granularity::Line, Granularity::Address, Granularity::Module];
    let query =
        |name: &&str, by| Query { by, measure: MeasureChoice::Named((*name).to_owned()), ..Query::default() };
    names.iter().flat_map(|name| all.map(|by| query(name, by))).collect()
}

fn every_view_answers(capture: &Capture, query: &Query) -> Result<(), QueryError> {
    let flat = views::flat(capture, query)?;
    assert_eq!(flat.rows.iter().map(|row| row.own.weight).sum::<u64>(), flat.whole.weight);
    for order in [TreeOrder::TopDown, TreeOrder::Inverted] {
        let tree = views::tree(capture, query, &TreeOptions { order, ..TreeOptions::default() })?;
        let roots = tree.rows.iter().filter(|row| row.depth == 0);
        assert_eq!(roots.map(|row| row.total.weight).sum::<u64>(), tree.whole.weight);
    }
    if let Some(row) = flat.rows.iter().find(|row| row.key.kind != microscope_analysis::KeyKind::NoStack) {
        views::callers(capture, query, &row.key.name)?;
        views::callees(capture, query, &row.key.name)?;
    }
    views::summary(capture, query, 10)?;
    views::losses(capture, query)?;
    views::timeline(capture, query, 10)?;
    let request = OverlayRequest {
        path: "any",
        files: &capture.files.ids().collect::<Vec<_>>(),
        filter: &query.filter,
        measure: &query.measure,
        is_workspace: &|path| path.len().is_multiple_of(2),
        proof: Proof::Unknown,
        mapping: Mapping::Unknown,
    };
    overlay(capture, &request).map(|_| ())
}

#[test]
fn every_view_and_exporter_answers() {
    for seed in 0..100 {
        let capture = Capture::validate(testing::random_tables(seed, 30)).unwrap();
        for query in queries(&capture) {
            every_view_answers(&capture, &query).unwrap();
        }
        for format in [Format::Folded, Format::Pprof, Format::Chrome, Format::Firefox] {
            match export(&capture, &Query::default(), format, &mut Vec::new()) {
                Ok(()) => {}
                Err(ExportError::Query(QueryError::NoMeasure)) => assert!(capture.measures.is_empty()),
                Err(error) => panic!("seed {seed}, {format:?}: {error}"),
            }
        }
    }
}
