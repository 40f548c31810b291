//! Rules of label spans, probes, marks and settings.

use rustc_hash::FxHashMap;

use super::processes::forward;
use super::{Invalid, Rule};
use crate::{ProbeEdge, ProbeKind, ProcessId, TableKind, Tables, ThreadId};

/// Label spans do not run backwards.
pub(super) fn spans_run_forward(tables: &Tables) -> Result<(), Invalid> {
    let starts = tables.label_spans.start_ns.iter().copied().map(Some);
    forward(TableKind::LabelSpans, "end_ns", starts, &tables.label_spans.end_ns)
}

/// Zones begin and end; other sites write points.
pub(super) fn edges_fit_their_site(tables: &Tables) -> Result<(), Invalid> {
    let records = &tables.probe_records;
    for (row, (site, edge)) in records.site.iter().zip(&records.edge).enumerate() {
        let kind = tables.probe_sites.kind[site.index()];
        if (kind == ProbeKind::Zone) == (*edge == ProbeEdge::Point) {
            let rule = Rule::WrongEdge { kind: kind.name(), edge: edge.name() };
            return Err(Invalid::cell(TableKind::ProbeRecords, row, "edge", rule));
        }
    }
    Ok(())
}

/// Probe records ascend by thread, then time; records of one thread and time keep their order.
pub(super) fn probe_records_ascend(tables: &Tables) -> Result<(), Invalid> {
    let records = &tables.probe_records;
    let keys = records.thread.iter().zip(&records.time_ns);
    match keys.clone().zip(keys.skip(1)).position(|(before, after)| after < before) {
        None => Ok(()),
        Some(row) => {
            let rule = Rule::Unsorted { by: "thread, time_ns" };
            Err(Invalid::cell(TableKind::ProbeRecords, row + 1, "time_ns", rule))
        }
    }
}

/// A mark that names a process and a thread names a thread of that process.
pub(super) fn marks_name_threads_of_their_process(tables: &Tables) -> Result<(), Invalid> {
    let marks = tables.marks.process.iter().zip(&tables.marks.thread);
    threads_of_their_process(tables, TableKind::Marks, marks)
}

/// Checks rows that name both a process and a thread.
pub(super) fn threads_of_their_process<'a>(
    tables: &Tables,
    table: TableKind,
    rows: impl Iterator<Item = (&'a Option<ProcessId>, &'a Option<ThreadId>)>,
) -> Result<(), Invalid> {
    for (row, pair) in rows.enumerate() {
        let (Some(process), Some(thread)) = pair else { continue };
        let of = tables.threads.process[thread.index()];
        if of != *process {
            let rule = Rule::OtherProcess { of: of.index(), found: process.index() };
            return Err(Invalid::cell(table, row, "thread", rule));
        }
    }
    Ok(())
}

/// Settings have names.
pub(super) fn settings_have_names(tables: &Tables) -> Result<(), Invalid> {
    match tables.settings.name.iter().position(|name| tables.strings.get(*name).is_empty()) {
        None => Ok(()),
        Some(row) => Err(Invalid::cell(TableKind::Settings, row, "name", Rule::NoName)),
    }
}

/// A setting is given once for the recording or for a process.
pub(super) fn settings_are_unique(tables: &Tables) -> Result<(), Invalid> {
    let settings = &tables.settings;
    let mut seen = FxHashMap::default();
    for (row, key) in settings.process.iter().zip(&settings.name).enumerate() {
        if let Some(other) = seen.insert(key, row) {
            return Err(Invalid::cell(TableKind::Settings, row, "name", Rule::Duplicate { other }));
        }
    }
    Ok(())
}
