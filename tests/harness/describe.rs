//! A capture as text that a person can read in a review: what goldens and simulated histories are compared with.

use std::collections::BTreeMap;
use std::fmt::Write;

use microscope_capture::{Capture, ProcessId, StackId, ThreadId};

use crate::levels::{levels, module_name};

/// Processes with their threads and mappings, stacks with their sample numbers, losses.
pub fn describe(capture: &Capture) -> String {
    let mut text = String::new();
    for process in capture.processes.ids() {
        describe_process(capture, process, &mut text);
    }
    for (stack, samples) in stacks(capture) {
        let _ = writeln!(text, "{samples} × {stack}");
    }
    for (_, loss) in capture.losses.iter() {
        let _ = writeln!(text, "lost: {} {}", loss.count, loss.kind.name());
    }
    text
}

/// Each thread's stacks with their sample numbers: `pid/tid name: outer > inner (end)`.
pub fn stacks(capture: &Capture) -> BTreeMap<String, usize> {
    let mut stacks = BTreeMap::new();
    for (_, sample) in capture.samples.iter() {
        let frames = sample.stack.map_or_else(String::new, |stack| frames(capture, stack).join(" > "));
        let line = format!("{}: {frames} ({})", thread(capture, sample.thread), sample.end.name());
        *stacks.entry(line).or_default() += 1;
    }
    stacks
}

fn describe_process(capture: &Capture, id: ProcessId, text: &mut String) {
    let process = capture.processes.row(id);
    let name = capture.strings.get(process.name);
    let origin = match (process.exec_of, process.parent) {
        (Some(_), _) => ", by exec",
        (None, Some(_)) => ", by fork",
        (None, None) => "",
    };
    let _ = writeln!(text, "process {} {name}{origin}{}", process.pid, ending(process.end_ns));
    for (_, thread) in capture.threads.iter().filter(|(_, thread)| thread.process == id) {
        let name = capture.strings.get(thread.name);
        let _ = writeln!(text, "  thread {} {name}{}", thread.tid, ending(thread.end_ns));
    }
    for (_, mapping) in capture.mappings.iter().filter(|(_, mapping)| mapping.process == id) {
        let _ = writeln!(
            text,
            "  mapping {:#x}-{:#x} of {} at {:#x}{}{}",
            mapping.start_address,
            mapping.end_address,
            module_name(capture, mapping.module),
            mapping.relative_start,
            if mapping.uncertain { ", uncertain" } else { "" },
            ending(mapping.valid_until_ns),
        );
    }
}

fn ending(end_ns: Option<u64>) -> &'static str {
    if end_ns.is_some() { ", ended" } else { "" }
}

fn thread(capture: &Capture, id: ThreadId) -> String {
    let thread = capture.threads.row(id);
    let process = capture.processes.row(thread.process);
    format!("{}/{} {}", process.pid, thread.tid, capture.strings.get(thread.name))
}

/// The outermost frame first, inlined functions as frames of their own, each with its line.
fn frames(capture: &Capture, innermost: StackId) -> Vec<String> {
    levels(capture, innermost).into_iter().map(|level| level.to_string()).collect()
}
