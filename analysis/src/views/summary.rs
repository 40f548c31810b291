//! The whole on one page: how much, by whom, on which lines, and how far it can be believed.

use microscope_capture::{Capture, ProcessId, RateChange, Tables, setting_names};
use serde::Serialize;

use super::ends::{self, EndRow};
use super::lines::{self, LineRow};
use super::losses;
use super::threads::{self, ThreadRow};
use crate::ask::Question;
use crate::select::Selection;
use crate::weights::{Cost, Quantity};
use crate::{Granularity, Query, QueryError};

/// A recording on one page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary<'c> {
    /// What the weights are.
    pub quantity: Quantity<'c>,
    /// All samples asked for.
    pub whole: Cost,
    /// How it was recorded.
    pub recording: Recording<'c>,
    /// Processes by cost, the largest first, then pid.
    pub processes: Vec<ProcessRow<'c>>,
    /// Threads that were sampled, as in [`super::Threads`].
    pub threads: Vec<ThreadRow<'c>>,
    /// The hottest lines, as in [`super::Lines`].
    pub lines: Vec<LineRow<'c>>,
    /// Samples in code that debug information attributes to no line.
    pub unlined: Cost,
    /// Samples in code without debug information.
    pub no_debug: Cost,
    /// Samples without any frame.
    pub no_stack: Cost,
    /// What the kernel accounted, against what was sampled.
    pub cpu_time: Option<CpuTime>,
    /// Samples that were taken but are not in the capture.
    pub lost_samples: u64,
    /// How stacks ended.
    pub ends: Vec<EndRow<'c>>,
    /// Whether all threads and times were asked for.
    #[serde(skip)]
    pub is_everything: bool,
}

/// How a capture was recorded.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recording<'c> {
    /// From its beginning to the last thing seen.
    pub duration_ns: u64,
    /// The sampling rate asked for, last; absent when not known.
    pub rate_hz: Option<u32>,
    /// Samples a second of CPU time the kernel accounted; absent when that was not read.
    pub achieved_hz: Option<f64>,
    /// Name and text of every setting of the whole recording.
    pub settings: Vec<(&'c str, &'c str)>,
}

/// One program image of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProcessRow<'c> {
    /// Its id.
    pub pid: u32,
    /// Its name.
    pub name: &'c str,
    /// The path of its executable, or empty.
    pub executable: &'c str,
    /// Its samples.
    pub cost: Cost,
    /// When it began, or was first seen.
    pub start_ns: u64,
    /// When it ended; absent when it outlived the recording.
    pub end_ns: Option<u64>,
}

/// What the kernel accounted to the selected threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CpuTime {
    /// User time.
    pub user_ns: u64,
    /// Kernel time.
    pub system_ns: u64,
    /// The share of it that samples could stand for: all, or user time where kernel time was not permitted.
    pub coverage: f64,
}

/// The page, with at most `lines_max` lines. The query's granularity is not used.
pub fn summary<'c>(capture: &'c Capture, query: &Query, lines_max: usize) -> Result<Summary<'c>, QueryError> {
    let selection = Selection::new(capture, query)?;
    let threads = threads::of(capture, &selection);
    let by_line = Query { by: Granularity::Line, ..query.clone() };
    let mut lines = lines::of(&Question::new(capture, &by_line)?);
    lines.rows.truncate(lines_max);
    let cpu_time = cpu_time(capture, &selection, &threads);
    Ok(Summary {
        quantity: threads.quantity,
        whole: threads.whole,
        recording: recording(capture, &selection, &threads),
        processes: processes(capture, &selection),
        lines: lines.rows,
        unlined: lines.unlined,
        no_debug: lines.no_debug,
        no_stack: lines.no_stack,
        cpu_time,
        lost_samples: losses::lost_samples(capture, &selection),
        ends: ends::of(capture, &selection).rows,
        is_everything: selection.is_everything(),
        threads: threads.rows.into_iter().filter(|row| !row.cost.is_zero()).collect(),
    })
}

/// What the kernel accounted to these threads; for the whole capture, what it accounted to the targets. Absent
/// when neither was read.
#[allow(clippy::cast_precision_loss, reason = "a share of times far below 2^52 ns")]
pub(crate) fn cpu_time(
    tables: &Tables,
    selection: &Selection,
    threads: &threads::Threads<'_>,
) -> Option<CpuTime> {
    let sum = |time: fn(&ThreadRow<'_>) -> Option<u64>| {
        threads.rows.iter().filter_map(time).reduce(u64::saturating_add)
    };
    let of_threads = || Some((sum(|row| row.user_time_ns)?, sum(|row| row.system_time_ns).unwrap_or(0)));
    let setting = |name| tables.setting(name)?.parse::<u64>().ok();
    let of_targets =
        || Some((setting(setting_names::TARGET_USER_NS)?, setting(setting_names::TARGET_SYSTEM_NS)?));
    let (user_ns, system_ns) =
        if selection.is_everything() { of_targets().or_else(of_threads)? } else { of_threads()? };
    let all_ns = user_ns.saturating_add(system_ns);
    let user_share = if all_ns == 0 { 1.0 } else { user_ns as f64 / all_ns as f64 };
    Some(CpuTime { user_ns, system_ns, coverage: if threads.quantity.user_only { user_share } else { 1.0 } })
}

#[allow(clippy::cast_precision_loss, reason = "a rate for people")]
fn recording<'c>(tables: &'c Tables, selection: &Selection, threads: &threads::Threads<'c>) -> Recording<'c> {
    let text = |id| tables.strings.get(id);
    let whole_recording = tables.settings.iter().filter(|(_, row)| row.process.is_none());
    let rate = |row: &RateChange| row.measure == selection.measure;
    let last_rate = tables.rate_changes.iter().map(|(_, row)| row).rfind(rate);
    let achieved = cpu_time(tables, selection, threads).and_then(|time| {
        let sampled_ns = if threads.quantity.user_only {
            time.user_ns
        } else {
            time.user_ns.saturating_add(time.system_ns)
        };
        (sampled_ns > 0).then(|| threads.whole.samples as f64 * 1e9 / sampled_ns as f64)
    });
    Recording {
        duration_ns: duration_ns(tables),
        rate_hz: last_rate.map(|row| row.rate_hz),
        achieved_hz: achieved,
        settings: whole_recording.map(|(_, row)| (text(row.name), text(row.value))).collect(),
    }
}

/// How long was recorded; where that was not kept, up to the last time of anything that ran.
fn duration_ns(tables: &Tables) -> u64 {
    let kept = tables.setting(setting_names::DURATION_NS).and_then(|text| text.parse().ok());
    if let Some(duration_ns) = kept {
        return duration_ns;
    }
    let ends = tables.threads.end_ns.iter().chain(&tables.processes.end_ns).filter_map(|end| *end);
    ends.chain(tables.samples.time_ns.last().copied()).max().unwrap_or(0)
}

fn processes<'c>(tables: &'c Tables, selection: &Selection) -> Vec<ProcessRow<'c>> {
    let mut costs = vec![Cost::default(); tables.processes.len()];
    for (id, row) in threads::by_cost(tables, selection) {
        costs[tables.threads.process[id.index()].index()] += row.cost;
    }
    let mut rows: Vec<_> = tables
        .processes
        .ids()
        .filter(|id| !costs[id.index()].is_zero())
        .map(|id| process_row(tables, id, costs[id.index()]))
        .collect();
    rows.sort_by(|a, b| b.cost.cmp(&a.cost).then_with(|| (a.pid, a.start_ns).cmp(&(b.pid, b.start_ns))));
    rows
}

fn process_row(tables: &Tables, id: ProcessId, cost: Cost) -> ProcessRow<'_> {
    let row = tables.processes.row(id);
    ProcessRow {
        pid: row.pid,
        name: tables.strings.get(row.name),
        executable: tables.strings.get(row.executable),
        cost,
        start_ns: row.start_ns,
        end_ns: row.end_ns,
    }
}
