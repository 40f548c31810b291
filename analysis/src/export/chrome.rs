//! Trace events with V8 CPU profiles: one `Profile` event per thread, followed by `ProfileChunk` events.
//!
//! That is what Chrome writes itself when it samples, so DevTools, Perfetto and speedscope read it as samples.
//! The older `stackFrames`/`samples` members are read by `chrome://tracing` alone, and begin/end events would
//! claim calls that nobody saw.
//!
//! In these profiles a sample lasts until the next one. So one that stands for `w` ns of CPU time is put `w`
//! before its own time, and the thread is `(idle)` from its time until the next one begins.

use std::io::{self, Write};

use microscope_capture::{SampleId, StackId, Tables, ThreadId, Unit};
use rustc_hash::FxHashMap;
use serde_json::json;

use super::json::Json;
use super::levels::Levels;
use super::per_thread::{ThreadSamples, UsedStacks, split};
use crate::ask::Question;
use crate::select::Selection;

pub(super) const LOSES: &[&str] = &[
    "weights that are not time: each sample then lasts until the next one",
    "times below a microsecond, and overlap of samples that stand for more time than passed",
    "executed lines, modules, build identities, addresses, the processor, how stacks ended, losses",
];

/// Samples in one event, so that readers need no large buffer.
const SAMPLES_PER_CHUNK: usize = 4096;
/// The node numbers that every profile begins with.
const ROOT: u32 = 1;
const IDLE: u32 = 2;
const FIRST_FREE: u32 = 3;

pub(super) fn write(question: &Question<'_>, selection: &Selection, out: &mut impl Write) -> io::Result<()> {
    let tables = question.tables;
    let levels = Levels::new(question);
    let mut used = UsedStacks::new(tables);
    let mut json = Json::new(out);
    json.object()?;
    json.field("displayTimeUnit", "ns")?;
    json.key("traceEvents")?;
    json.array()?;
    for (number, thread) in split(tables, selection).iter().enumerate() {
        let mut profile =
            Profile { json: &mut json, tables, levels: &levels, id: format!("{:#x}", number + 1) };
        profile.names(thread.thread)?;
        profile.begin(thread)?;
        let nodes = profile.nodes(thread.thread, &used.of(tables, &thread.samples))?;
        profile.samples(thread, &nodes, time_of(question))?;
    }
    json.end_array()?;
    json.end_object()
}

/// When a sample begins and ends, in nanoseconds.
type TimeOf = fn(&Tables, SampleId) -> (u64, u64);

fn time_of(question: &Question<'_>) -> TimeOf {
    if question.tables.measures.unit[question.measure.index()] == Unit::Nanoseconds {
        |tables, sample| {
            let end_ns = tables.samples.time_ns[sample.index()];
            (end_ns.saturating_sub(tables.samples.weight[sample.index()]), end_ns)
        }
    } else {
        |tables, sample| (tables.samples.time_ns[sample.index()], u64::MAX)
    }
}

struct Profile<'w, 'q, 'c, W> {
    json: &'w mut Json<W>,
    tables: &'c Tables,
    levels: &'q Levels<'q, 'c>,
    /// What the events of one profile have in common.
    id: String,
}

impl<W: Write> Profile<'_, '_, '_, W> {
    fn names(&mut self, thread: ThreadId) -> io::Result<()> {
        let row = self.tables.threads.row(thread);
        let process = self.tables.processes.row(row.process);
        let name = |kind: &str, id| {
            json!({"name": kind, "ph": "M", "pid": process.pid, "tid": row.tid,
                   "args": {"name": self.tables.strings.get(id)}})
        };
        self.json.value(&name("process_name", process.name))?;
        self.json.value(&name("thread_name", row.name))
    }

    fn begin(&mut self, thread: &ThreadSamples) -> io::Result<()> {
        self.event(thread.thread, "Profile")?;
        self.json.field("args", &json!({"data": {"startTime": 0}}))?;
        self.json.end_object()
    }

    /// The members that all events of a profile share. The caller adds `args` and closes the object.
    fn event(&mut self, thread: ThreadId, name: &str) -> io::Result<()> {
        let row = self.tables.threads.row(thread);
        self.json.object()?;
        self.json.field("name", name)?;
        self.json.field("cat", "disabled-by-default-v8.cpu_profiler")?;
        self.json.field("ph", "P")?;
        self.json.field("id", &self.id)?;
        self.json.field("pid", &self.tables.processes.pid[row.process.index()])?;
        self.json.field("tid", &row.tid)?;
        self.json.field("ts", &0)
    }

    /// Opens a chunk up to its data. [`Self::end_chunk`] closes it.
    fn chunk(&mut self, thread: ThreadId) -> io::Result<()> {
        self.event(thread, "ProfileChunk")?;
        self.json.key("args")?;
        self.json.object()?;
        self.json.key("data")?;
        self.json.object()
    }

    fn end_chunk(&mut self) -> io::Result<()> {
        (0..3).try_for_each(|_| self.json.end_object())
    }

    /// Writes the nodes of `stacks`; answers the profile's number of each level that samples may end at.
    fn nodes(&mut self, thread: ThreadId, stacks: &[StackId]) -> io::Result<FxHashMap<u32, u32>> {
        let mut numbers = FxHashMap::default();
        self.chunk(thread)?;
        self.json.key("cpuProfile")?;
        self.json.object()?;
        self.json.key("nodes")?;
        self.json.array()?;
        self.json.value(&node(ROOT, None, "(root)", "", 0))?;
        self.json.value(&node(IDLE, Some(ROOT), "(idle)", "", 0))?;
        // Stacks that differ in lines only are one node: nodes have no lines of their own.
        let mut merged = FxHashMap::default();
        for (level, row) in stacks.iter().flat_map(|stack| self.levels.of_stack(*stack)) {
            let parent = row.parent.and_then(|parent| numbers.get(&parent)).copied().unwrap_or(ROOT);
            let next = FIRST_FREE + u32::try_from(merged.len()).unwrap_or(u32::MAX - FIRST_FREE);
            let number = *merged.entry((parent, self.levels.key(row))).or_insert(next);
            numbers.insert(level, number);
            if number == next {
                let text = self.levels.text(row);
                self.json.value(&node(number, Some(parent), &text.name, text.file, text.declared))?;
            }
        }
        self.json.end_array()?;
        self.json.field("samples", &[0_u32; 0])?;
        self.json.end_object()?;
        self.json.field("timeDeltas", &[0_i64; 0])?;
        self.end_chunk()?;
        Ok(numbers)
    }

    fn samples(
        &mut self,
        thread: &ThreadSamples,
        nodes: &FxHashMap<u32, u32>,
        time_of: TimeOf,
    ) -> io::Result<()> {
        let mut points = Points { until_us: 0, now_us: 0, rows: Vec::new() };
        for sample in &thread.samples {
            let stack = self.tables.samples.stack[sample.index()];
            let level = stack.and_then(|stack| self.levels.innermost(stack));
            let node = level.and_then(|level| nodes.get(&level)).copied().unwrap_or(ROOT);
            points.sample(time_of(self.tables, *sample), node);
            if points.rows.len() >= SAMPLES_PER_CHUNK {
                self.points(thread.thread, &mut points)?;
            }
        }
        points.end();
        self.points(thread.thread, &mut points)
    }

    fn points(&mut self, thread: ThreadId, points: &mut Points) -> io::Result<()> {
        self.chunk(thread)?;
        self.json.key("cpuProfile")?;
        self.json.object()?;
        self.json.column("samples", points.rows.iter().map(|(_, node)| node))?;
        self.json.end_object()?;
        self.json.column("timeDeltas", points.rows.iter().map(|(delta_us, _)| delta_us))?;
        points.rows.clear();
        self.end_chunk()
    }
}

fn node(id: u32, parent: Option<u32>, name: &str, file: &str, declared: u32) -> serde_json::Value {
    // Lines count from 0 here, and -1 is none.
    let line = i64::from(declared) - 1;
    let call =
        json!({"functionName": name, "scriptId": 0, "url": file, "lineNumber": line, "columnNumber": -1});
    match parent {
        None => json!({"id": id, "callFrame": call}),
        Some(parent) => json!({"id": id, "parent": parent, "callFrame": call}),
    }
}

/// Moments at which the running node changes, as distances from the moment before.
struct Points {
    /// When the last sample ended.
    until_us: u64,
    /// When the last row is.
    now_us: u64,
    /// Distance and node.
    rows: Vec<(u64, u32)>,
}

impl Points {
    fn sample(&mut self, (start_ns, end_ns): (u64, u64), node: u32) {
        let start_us = (start_ns / 1000).max(self.now_us);
        if start_us > self.until_us {
            self.point(self.until_us, IDLE);
        }
        self.point(start_us, node);
        self.until_us = if end_ns == u64::MAX { end_ns } else { (end_ns / 1000).max(start_us) };
    }

    /// The last sample ends, too.
    fn end(&mut self) {
        let until_us = if self.until_us == u64::MAX { self.now_us } else { self.until_us };
        self.point(until_us, IDLE);
    }

    fn point(&mut self, at_us: u64, node: u32) {
        self.rows.push((at_us.saturating_sub(self.now_us), node));
        self.now_us = self.now_us.max(at_us);
    }
}
