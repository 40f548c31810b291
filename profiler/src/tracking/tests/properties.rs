//! The tracker against a model so simple that it cannot be wrong, and against the rules of the capture.

use microscope_capture::Capture;
use proptest::prelude::*;

use super::*;

/// A mapping of one of three files, or of data, over some of 16 pages.
#[derive(Debug, Clone, Copy)]
struct Change {
    file: usize,
    first: u64,
    pages: u64,
    ticks: u64,
}

const PAGE: u64 = 0x1000;
const NAMES: [&str; 4] = ["/a off=0x1000 id=aa", "/b off=0x1000 id=bb", "/c off=0x1000 id=cc", "/data data"];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = (0..4_usize, 0..16_u64, 1..6_u64, 1..4_u64);
    let change = change.prop_map(|(file, first, pages, ticks)| Change { file, first, pages, ticks });
    proptest::collection::vec(change, 0..12)
}

/// The file and relative address that the last change over a page before a time gives it.
fn model(changes: &[(u64, Change)], page: u64, time_ns: u64) -> String {
    let covers = |change: &Change| change.first <= page && page < change.first + change.pages;
    let last = changes.iter().rev().find(|(time, change)| *time <= time_ns && covers(change));
    match last {
        Some((_, change)) if change.file < 3 => {
            let relative = world::SEGMENT_SVMA + (page - change.first) * PAGE;
            format!("{}+{relative:#x}", ["/a", "/b", "/c"][change.file])
        }
        _ => "nothing".to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_page_at_every_time_is_what_was_mapped_last(changes in changes()) {
        let limits = Limits { mappings_of_process: 1000, mappings: 10_000, ..OPTIONS.limits };
        let mut run = Run::new(TrackerOptions { limits, ..OPTIONS });
        run.records("exec 10 a @1");
        let mut now = 1;
        let mut history = Vec::new();
        for change in changes {
            now += change.ticks;
            history.push((now, change));
            let (start, end) = (change.first * PAGE, (change.first + change.pages) * PAGE);
            run.records(&format!("mmap 10 {start:#x}..{end:#x} {} @{now}", NAMES[change.file]));
        }
        for time_ns in 1..=now {
            for page in 0..22 {
                let found = run.find(10, page * PAGE, time_ns);
                prop_assert_eq!(found, model(&history, page, time_ns), "page {} at {}", page, time_ns);
            }
        }
    }

    #[test]
    fn any_history_makes_a_valid_capture(
        lines in proptest::collection::vec((0..9_usize, 1..5_u32, 1..7_u32, 0..40_u64, 0..12_u64), 0..40),
    ) {
        let mut run = Run::new(OPTIONS);
        for (kind, pid, tid, time, page) in lines {
            let (start, end) = (page * PAGE, (page + 3) * PAGE);
            let line = match kind {
                0 => format!("fork {pid} {tid} @{time}"),
                1 => format!("thread {pid} {tid} @{time}"),
                2 => format!("exit {pid}/{tid} @{time}"),
                3 => format!("exec {pid} program @{time}"),
                4 => format!("name {pid}/{tid} worker @{time}"),
                5 | 6 => format!("mmap {pid} {start:#x}..{end:#x} {} @{time}", NAMES[tid as usize % 4]),
                7 => format!("lost 1 @{time}"),
                _ => {
                    run.resolve(pid, tid, time);
                    continue;
                }
            };
            run.records(&line);
        }
        run.tracker.finish(&mut run.rows);
        let valid = Capture::validate(std::mem::take(&mut run.rows.tables));
        prop_assert!(valid.is_ok(), "{:?}", valid.err());
    }
}
