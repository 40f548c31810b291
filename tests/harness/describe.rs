//! A capture as text that a person can read in a review: what goldens and simulated histories are compared with.

use std::collections::BTreeMap;
use std::fmt::Write;

use microscope_capture::{Capture, FrameId, ModuleId, ProcessId, StackId, ThreadId};

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
            module(capture, mapping.module),
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

/// The outermost frame first, inlined functions as frames of their own.
fn frames(capture: &Capture, innermost: StackId) -> Vec<String> {
    let (mut frames, mut next) = (Vec::new(), Some(innermost));
    while let Some(stack) = next {
        let row = capture.stacks.row(stack);
        frames.extend(names(capture, row.frame));
        next = row.parent;
    }
    frames.reverse();
    frames
}

/// The functions at a frame, the innermost first; its place in its module when no name is known.
fn names(capture: &Capture, id: FrameId) -> Vec<String> {
    let facts = capture.facts.iter().filter(|(_, fact)| fact.frame == id);
    let functions = facts.map(|(_, fact)| {
        let function = capture.strings.get(capture.functions.name[fact.function.index()]);
        if fact.line == 0 { function.to_owned() } else { format!("{function}:{}", fact.line) }
    });
    let functions: Vec<_> = functions.collect();
    if !functions.is_empty() {
        return functions;
    }
    let frame = capture.frames.row(id);
    vec![match frame.module {
        Some(owner) => format!("{}+{:#x}", module(capture, owner), frame.address),
        None => format!("{:#x}", frame.address),
    }]
}

/// The file name of a module's path, which does not depend on where the test runs.
fn module(capture: &Capture, id: ModuleId) -> &str {
    let path = capture.strings.get(capture.modules.path[id.index()]);
    path.rsplit('/').next().unwrap_or(path)
}
