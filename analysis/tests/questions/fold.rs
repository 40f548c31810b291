//! The fold of segments is the analysis of the whole: cut anywhere, named whenever.

use microscope_analysis::views::{self, TreeOptions};
use microscope_analysis::{Accumulator, Filter, Granularity, Query, QueryError, Since};
use microscope_capture::{Capture, Facts, Segmenter};
use proptest::prelude::*;

use crate::properties::lines;
use crate::sketch::{Sketch, sketch};

/// What happens while something is recorded.
#[derive(Debug, Clone)]
enum Event {
    Sample(String),
    /// A debugger stops the process at this time.
    Stop(u64),
    /// Names of what was sampled so far arrive with the next segment.
    Names,
    Seal,
    /// A seal, after which ids begin anew.
    Epoch,
}

fn recording() -> impl Strategy<Value = Vec<Event>> {
    let samples = lines().prop_map(|lines| lines.into_iter().map(Event::Sample).collect::<Vec<_>>());
    let others = prop::collection::vec(
        prop_oneof![
            2 => (1..9_000_u64).prop_map(Event::Stop),
            2 => Just(Event::Names),
            4 => Just(Event::Seal),
            1 => Just(Event::Epoch),
        ],
        0..20,
    );
    (samples, others).prop_flat_map(|(samples, others)| Just([samples, others].concat()).prop_shuffle())
}

/// The time before which nothing comes among `events`.
fn complete_to(events: &[Event]) -> u64 {
    let time = |event: &Event| match event {
        Event::Sample(line) => line.split("t=").nth(1).and_then(|rest| rest.split(' ').next())?.parse().ok(),
        Event::Stop(time_ns) => Some(*time_ns),
        _ => None,
    };
    events.iter().filter_map(time).min().unwrap_or(u64::MAX)
}

/// Records `events` in segments, and folds each as it is sealed.
fn fold(events: &[Event]) -> Accumulator {
    let (mut sketch, mut segmenter, mut accumulator) = (Sketch::new(), Segmenter::new(), Accumulator::new());
    let (mut unnamed, mut named) = (Facts::default(), Facts::default());
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Sample(line) => sketch.sample(line),
            Event::Stop(time_ns) => sketch.stop(*time_ns, false),
            Event::Names => named = joined(named, std::mem::take(&mut unnamed)),
            Event::Seal => {
                sketch.name(std::mem::take(&mut named));
                accumulator
                    .fold(&segmenter.seal(sketch.builder.take_increment()), complete_to(&events[at..]));
            }
            Event::Epoch => {
                sketch.name(joined(std::mem::take(&mut named), std::mem::take(&mut unnamed)));
                accumulator
                    .fold(&segmenter.seal(sketch.builder.take_increment()), complete_to(&events[at..]));
                sketch = sketch.begin_epoch();
                segmenter.begin_epoch();
            }
        }
        unnamed = joined(unnamed, sketch.take_names());
    }
    sketch.name(joined(named, unnamed));
    accumulator.fold(&segmenter.seal(sketch.builder.take_increment()), u64::MAX);
    accumulator
}

fn joined(facts: Facts, more: Facts) -> Facts {
    facts.iter().chain(more.iter()).map(|(_, fact)| fact).collect()
}

/// The same as one capture.
fn whole(events: &[Event]) -> Capture {
    let lines = events.iter().filter_map(|event| match event {
        Event::Sample(line) => Some(line.as_str()),
        _ => None,
    });
    sketch(&lines.collect::<Vec<_>>().join("\n"))
}

fn last_stop(events: &[Event]) -> Option<u64> {
    let stops = events.iter().filter_map(|event| match event {
        Event::Stop(time_ns) => Some(*time_ns),
        _ => None,
    });
    stops.max()
}

fn json<T: serde::Serialize>(result: &T) -> String {
    serde_json::to_string_pretty(result).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_fold_of_all_segments_is_the_analysis_of_the_whole(events in recording()) {
        let (capture, accumulator) = (whole(&events), fold(&events));
        prop_assert_eq!(accumulator.late_stops(), 0);
        for by in [Granularity::Function, Granularity::Line, Granularity::Address, Granularity::Module] {
            let query = Query { by, ..Query::default() };
            let costs = accumulator.costs(&query, Since::Start).unwrap();
            prop_assert_eq!(json(&costs.flat().unwrap()), json(&views::flat(&capture, &query).unwrap()));
            prop_assert_eq!(json(&costs.lines().unwrap()), json(&views::lines(&capture, &query).unwrap()));
            let options = TreeOptions::default();
            let tree = views::tree(&capture, &query, &options).unwrap();
            prop_assert_eq!(json(&costs.tree(&options).unwrap()), json(&tree));
        }
    }

    #[test]
    fn the_totals_since_the_last_stop_are_those_of_the_time_after_it(events in recording()) {
        let (capture, accumulator) = (whole(&events), fold(&events));
        let after = Filter { from_ns: last_stop(&events), ..Filter::default() };
        let expected = views::flat(&capture, &Query { filter: after, ..Query::default() }).unwrap();
        let query = Query::default();
        let found = accumulator.costs(&query, Since::LastStop).unwrap().flat().unwrap();
        prop_assert_eq!(json(&found), json(&expected));
    }
}

#[test]
fn what_waits_for_its_stop_interval_counts_once_it_is_settled() {
    let (mut sketch, mut segmenter, mut accumulator) = (Sketch::new(), Segmenter::new(), Accumulator::new());
    sketch.sample("t=100 1: main");
    sketch.sample("t=300 2: main");
    accumulator.fold(&segmenter.seal(sketch.builder.take_increment()), 200);
    let query = Query::default();
    let whole = |accumulator: &Accumulator| {
        accumulator.costs(&query, Since::LastStop).unwrap().flat().unwrap().whole.weight
    };
    assert_eq!(whole(&accumulator), 1);
    sketch.stop(250, true);
    accumulator.fold(&segmenter.seal(sketch.builder.take_increment()), 400);
    assert_eq!(whole(&accumulator), 2);
    assert_eq!(accumulator.costs(&query, Since::Start).unwrap().flat().unwrap().whole.weight, 3);
}

#[test]
fn a_stop_that_comes_too_late_is_counted() {
    let (mut sketch, mut segmenter, mut accumulator) = (Sketch::new(), Segmenter::new(), Accumulator::new());
    sketch.sample("t=100 1: main");
    accumulator.fold(&segmenter.seal(sketch.builder.take_increment()), 200);
    sketch.stop(50, true);
    accumulator.fold(&segmenter.seal(sketch.builder.take_increment()), 200);
    assert_eq!(accumulator.late_stops(), 1);
}

#[test]
fn running_totals_refuse_a_time_range() {
    let (mut sketch, mut segmenter, mut accumulator) = (Sketch::new(), Segmenter::new(), Accumulator::new());
    sketch.sample("1: main");
    accumulator.fold(&segmenter.seal(sketch.builder.take_increment()), u64::MAX);
    let query = Query { filter: Filter { from_ns: Some(1), ..Filter::default() }, ..Query::default() };
    assert_eq!(accumulator.costs(&query, Since::Start).err(), Some(QueryError::NoTimes));
}
