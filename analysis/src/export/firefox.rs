//! Firefox Profiler's processed profile, version 55: one object per thread with tables of its own.
//!
//! Names, files, lines and inline levels are in the file, so the profiler asks no symbol server.

mod tables;

use std::io::{self, Write};

use microscope_capture::setting_names::START_REALTIME_NS;
use microscope_capture::{Tables, ThreadId};
use serde_json::json;

use super::json::Json;
use super::levels::Levels;
use super::per_thread::{ThreadSamples, UsedStacks, split};
use crate::ask::Question;
use crate::select::Selection;
use tables::{Libraries, ThreadTables};

pub(super) const LOSES: &[&str] = &[
    "how stacks ended, the processor, losses",
    "all quantities but one, and its unit where it is neither time nor bytes",
    "other names of folded functions",
];

/// The version of the processed format that is written.
const PROCESSED_VERSION: u32 = 55;
/// The version of the recording format that the processed one was made from; readers ignore it.
const RECORDED_VERSION: u32 = 24;

pub(super) fn write(question: &Question<'_>, selection: &Selection, out: &mut impl Write) -> io::Result<()> {
    let tables = question.tables;
    let levels = Levels::new(question);
    let libraries = Libraries::new(tables);
    let mut used = UsedStacks::new(tables);
    let mut json = Json::new(out);
    json.object()?;
    meta(&mut json, question)?;
    libraries.write(&mut json)?;
    json.key("threads")?;
    json.array()?;
    for thread in split(tables, selection) {
        let stacks = used.of(tables, &thread.samples);
        let local = ThreadTables::new(tables, &levels, &libraries, &stacks);
        write_thread(&mut json, question, &thread, &levels, local)?;
    }
    json.end_array()?;
    json.field("pages", &[0; 0])?;
    json.field("profilerOverhead", &[0; 0])?;
    json.field("counters", &[0; 0])?;
    json.end_object()
}

fn meta<W: Write>(json: &mut Json<W>, question: &Question<'_>) -> io::Result<()> {
    let tables = question.tables;
    let measure = question.quantity();
    let interval_ms = if measure.unit == "ns" { measure.period.map_or(1.0, milliseconds) } else { 1.0 };
    json.field(
        "meta",
        &json!({
            "categories": [
                {"name": "Other", "color": "grey", "subcategories": ["Other"]},
                {"name": "User", "color": "yellow", "subcategories": ["Other"]},
                {"name": "Kernel", "color": "orange", "subcategories": ["Other"]},
            ],
            "debug": false,
            "extensions": {"length": 0, "baseURL": [], "id": [], "name": []},
            "interval": interval_ms,
            "preprocessedProfileVersion": PROCESSED_VERSION,
            "processType": 0,
            "product": product(tables),
            "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs"},
            "startTime": start_time_ms(tables),
            "symbolicated": true,
            "pausedRanges": [],
            "version": RECORDED_VERSION,
            "usesOnlyOneStackType": true,
            "sourceCodeIsNotOnSearchfox": true,
            "markerSchema": [],
        }),
    )
}

/// The name of the first process.
fn product(tables: &Tables) -> &str {
    tables.processes.name.first().map_or("microscope", |name| tables.strings.get(*name))
}

/// The recording's start by the wall clock, when the capture has it.
fn start_time_ms(tables: &Tables) -> f64 {
    let is_start = |row: &microscope_capture::Setting| tables.strings.get(row.name) == START_REALTIME_NS;
    let start = tables.settings.iter().map(|(_, row)| row).find(is_start);
    start.and_then(|row| tables.strings.get(row.value).parse().ok()).map_or(0.0, milliseconds)
}

#[allow(clippy::cast_precision_loss, reason = "the format has times in floating-point milliseconds")]
fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn write_thread<W: Write>(
    json: &mut Json<W>,
    question: &Question<'_>,
    thread: &ThreadSamples,
    levels: &Levels<'_, '_>,
    local: ThreadTables<'_>,
) -> io::Result<()> {
    json.object()?;
    identity(json, question.tables, thread.thread)?;
    samples(json, question, thread, levels, &local)?;
    local.write(json)?;
    let none = json!({"length": 0, "category": [], "data": [], "endTime": [], "name": [], "phase": [],
                      "startTime": []});
    json.field("markers", &none)?;
    json.end_object()
}

fn identity<W: Write>(json: &mut Json<W>, tables: &Tables, thread: ThreadId) -> io::Result<()> {
    let row = tables.threads.row(thread);
    let process = tables.processes.row(row.process);
    json.field("name", tables.strings.get(row.name))?;
    json.field("isMainThread", &(row.tid == process.pid))?;
    json.field("pausedRanges", &[0; 0])?;
    json.field("pid", &process.pid.to_string())?;
    json.field("processName", tables.strings.get(process.name))?;
    json.field("processStartupTime", &milliseconds(process.start_ns))?;
    json.field("processShutdownTime", &process.end_ns.map(milliseconds))?;
    json.field("processType", "default")?;
    json.field("registerTime", &milliseconds(row.start_ns))?;
    json.field("unregisterTime", &row.end_ns.map(milliseconds))?;
    json.field("tid", &row.tid.to_string())?;
    json.field("showMarkersInTimeline", &false)
}

fn samples<W: Write>(
    json: &mut Json<W>,
    question: &Question<'_>,
    thread: &ThreadSamples,
    levels: &Levels<'_, '_>,
    local: &ThreadTables<'_>,
) -> io::Result<()> {
    let columns = &question.tables.samples;
    let unit = question.quantity().unit;
    let weights = thread.samples.iter().map(|sample| columns.weight[sample.index()]);
    let stack = |sample: &microscope_capture::SampleId| {
        columns.stack[sample.index()]
            .and_then(|stack| levels.innermost(stack))
            .and_then(|node| local.stack(node))
    };
    json.key("samples")?;
    json.object()?;
    json.field("length", &thread.samples.len())?;
    json.column("stack", thread.samples.iter().map(stack))?;
    let mut before_ns = 0;
    json.column(
        "timeDeltas",
        thread.samples.iter().map(|sample| {
            let time_ns = columns.time_ns[sample.index()];
            milliseconds(time_ns - std::mem::replace(&mut before_ns, time_ns))
        }),
    )?;
    match unit {
        "ns" => {
            json.field("weightType", "tracing-ms")?;
            json.column("weight", weights.clone().map(milliseconds))?;
            json.column("threadCPUDelta", weights.map(|weight| weight / 1000))?;
        }
        "bytes" => {
            json.field("weightType", "bytes")?;
            json.column("weight", weights)?;
        }
        _ => {
            json.field("weightType", "samples")?;
            json.column("weight", weights)?;
        }
    }
    json.end_object()
}
