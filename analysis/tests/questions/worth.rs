//! What a recording is worth: how stacks ended, what was lost, and the page that sums it up.

use microscope_analysis::views::{self, Remedy};
use microscope_analysis::{Query, QueryError};
use microscope_capture::{
    Builder, EndReason, Failure, Loss, LossKind, ModuleKind, RateChange, ThreadId, setting_names,
};

use crate::sketch::{Sketch, sketch};

#[test]
fn more_stack_bytes_help_only_where_there_are_more() {
    let remedy_at = |bytes: &str| {
        let mut drawing = Sketch::new();
        drawing.sample("end=stack-bytes 10: a!f");
        drawing.builder.set(None, setting_names::STACK_BYTES, bytes);
        let capture = drawing.builder.finish().unwrap();
        views::ends(&capture, &Query::default()).unwrap().rows[0].remedy
    };
    assert_eq!(remedy_at("16384"), Some(Remedy::MoreStackBytes));
    assert_eq!(remedy_at("65528"), Some(Remedy::FramePointers));
}

#[test]
fn stacks_end_by_reason_and_the_module_reached() {
    let capture = sketch(
        "end=stack-bytes 10: a!f; b!g
         end=stack-bytes 10: a!f
         end=no-rule 10: b!g
         1: a!main
         end=no-registers 5:",
    );
    let ends = views::ends(&capture, &Query::default()).unwrap().rows;
    let rows: Vec<_> =
        ends.iter().map(|row| (row.reason, row.module, row.cost.samples, row.remedy)).collect();
    assert_eq!(
        rows,
        [
            (EndReason::Complete, Some("/lib/a"), 1, None),
            (EndReason::StackBytes, Some("/lib/a"), 2, Some(Remedy::MoreStackBytes)),
            (EndReason::NoRule, Some("/lib/b"), 1, Some(Remedy::UnwindTables)),
            (EndReason::NoRegisters, None, 1, None),
        ]
    );
}

#[test]
fn code_made_at_run_time_is_not_to_be_built_otherwise() {
    let mut drawing = Sketch::new();
    drawing.sample("end=no-rule 1: a!f");
    drawing.builder.tables.modules.kind[0] = ModuleKind::Anonymous;
    let capture = drawing.builder.finish().unwrap();
    let ends = views::ends(&capture, &Query::default()).unwrap().rows;
    assert_eq!((ends[0].reason, ends[0].remedy), (EndReason::NoRule, Some(Remedy::DescribeGeneratedCode)));
}

fn loss(kind: LossKind, count: u64, from_ns: u64, thread: Option<ThreadId>, drawing: &mut Sketch) {
    let detail = drawing.builder.string("ring of processor 0");
    let (until_ns, cpu, process) = (from_ns + 10, Some(0), None);
    drawing.builder.tables.losses.push(Loss { kind, count, from_ns, until_ns, cpu, process, thread, detail });
}

#[test]
fn losses_are_those_of_the_threads_and_times_asked_for() {
    let mut drawing = Sketch::new();
    drawing.sample("tid=1 t=100 1: main");
    drawing.sample("tid=2 t=200 1: main");
    let other = drawing.thread(2);
    loss(LossKind::RingFull, 7, 100, None, &mut drawing);
    loss(LossKind::UnknownThread, 2, 150, Some(other), &mut drawing);
    loss(LossKind::Late, 9, 900, None, &mut drawing);
    let capture = drawing.builder.finish().unwrap();
    let lost = |query: &Query| {
        let losses = views::losses(&capture, query).unwrap();
        (losses.lost_samples, losses.rows.iter().map(|row| (row.count, row.unit)).collect::<Vec<_>>())
    };
    assert_eq!(lost(&Query::default()), (9, vec![(7, "samples"), (2, "samples"), (9, "records")]));
    let mut query = Query::default();
    query.filter.threads.push("1".parse().unwrap());
    query.filter.to_ns = Some(500);
    assert_eq!(lost(&query), (7, vec![(7, "samples")]));
}

#[test]
fn a_failure_names_each_file_with_its_reason() {
    let mut drawing = Sketch::new();
    drawing.sample("1: a!?40");
    let module = drawing.builder.tables.frames.module[0].unwrap();
    let tried = drawing.builder.string("/lib/a\n/usr/lib/debug/a.debug");
    let reason = drawing.builder.string("no symbols\nanother build ID");
    let row = Failure { module, from_address: 0x40, to_address: 0x41, tried, reason };
    drawing.builder.tables.failures.push(row);
    let capture = drawing.builder.finish().unwrap();
    let failures = views::losses(&capture, &Query::default()).unwrap().failures;
    let tried: Vec<_> = failures[0].tried.iter().map(|tried| (tried.file, tried.reason)).collect();
    assert_eq!(tried, [("/lib/a", "no symbols"), ("/usr/lib/debug/a.debug", "another build ID")]);
    assert_eq!((failures[0].module, failures[0].from_address), ("/lib/a", 0x40));
}

/// 999 samples a second from the beginning.
fn rate(drawing: &mut Sketch) {
    let measure = drawing.builder.tables.measures.ids().next().unwrap();
    let row = RateChange { time_ns: 0, measure, rate_hz: 999, stack_bytes: 16384 };
    drawing.builder.tables.rate_changes.push(row);
}

#[test]
fn a_summary_has_the_hottest_lines_and_what_the_kernel_accounted() {
    let mut drawing = Sketch::new();
    drawing.sample("tid=1 10: main@a.c:1; f@a.c:2");
    drawing.sample("tid=1 10: main@a.c:1; f@a.c:2");
    drawing.sample("tid=2 5: main@a.c:1");
    drawing.thread(3);
    drawing.builder.set(None, setting_names::DURATION_NS, "123456");
    rate(&mut drawing);
    let capture = drawing.builder.finish().unwrap();
    let summary = views::summary(&capture, &Query::default(), 1).unwrap();
    assert_eq!((summary.whole.weight, summary.whole.samples), (25, 3));
    assert_eq!(
        summary.lines.iter().map(|row| (row.file, row.line, row.own.weight)).collect::<Vec<_>>(),
        [("a.c", 2, 20)]
    );
    assert_eq!(
        summary.threads.iter().map(|row| (row.tid, row.cost.weight)).collect::<Vec<_>>(),
        [(1, 20), (2, 5)]
    );
    assert_eq!(summary.processes.iter().map(|row| (row.pid, row.cost.weight)).collect::<Vec<_>>(), [(1, 25)]);
    let cpu_time = summary.cpu_time.unwrap();
    assert_eq!((cpu_time.user_ns, cpu_time.system_ns), (2700, 300));
    assert_eq!((summary.recording.duration_ns, summary.recording.rate_hz), (123_456, Some(999)));
    // Three samples in 3,000 ns of CPU time.
    assert_eq!(summary.recording.achieved_hz, Some(1e6));
}

#[test]
fn a_timeline_puts_each_sample_in_its_bucket() {
    let mut query = Query::default();
    (query.filter.from_ns, query.filter.to_ns) = (Some(100), Some(500));
    let capture =
        sketch("tid=1 t=100 1: f\ntid=1 t=299 2: f\ntid=2 t=300 4: f\ntid=1 t=499 8: f\nt=500 16: f");
    let timeline = views::timeline(&capture, &query, 4).unwrap();
    assert_eq!((timeline.from_ns, timeline.bucket_ns), (100, 100));
    let lanes: Vec<_> = timeline.lanes.iter().map(|lane| (lane.thread.tid, lane.weights.clone())).collect();
    assert_eq!(lanes, [(1, vec![1, 2, 0, 8]), (2, vec![0, 0, 4, 0])]);
}

#[test]
fn a_capture_that_measures_nothing_says_so() {
    let capture = Builder::new().finish().unwrap();
    assert_eq!(views::flat(&capture, &Query::default()).err(), Some(QueryError::NoMeasure));
}

#[test]
fn a_recording_without_samples_has_empty_answers() {
    let mut drawing = Sketch::new();
    rate(&mut drawing);
    let capture = drawing.builder.finish().unwrap();
    let summary = views::summary(&capture, &Query::default(), 10).unwrap();
    assert_eq!((summary.whole.samples, summary.lines.len(), summary.ends.len()), (0, 0, 0));
    let timeline = views::timeline(&capture, &Query::default(), 10).unwrap();
    assert_eq!((timeline.bucket_ns, timeline.lanes.len()), (1, 0));
}
