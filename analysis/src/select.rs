//! A filter resolved against a capture: names and numbers become ids once, then samples are only compared.

use std::ops::Range;

use microscope_capture::{Measure, MeasureId, MeasureSource, ProcessId, Tables, ThreadId};

use crate::{Filter, MeasureChoice, Query, QueryError, Who};

/// Which samples count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The quantity.
    pub(crate) measure: MeasureId,
    /// By thread id; absent when every thread counts.
    threads: Option<Vec<bool>>,
    /// Whether the capture has no other measure.
    only_measure: bool,
    pub(crate) from_ns: u64,
    /// Exclusive; absent is no end.
    pub(crate) to_ns: Option<u64>,
}

impl Selection {
    pub(crate) fn new(tables: &Tables, query: &Query) -> Result<Self, QueryError> {
        let (from_ns, to_ns) = (query.filter.from_ns.unwrap_or(0), query.filter.to_ns);
        if let Some(to_ns) = to_ns.filter(|to_ns| *to_ns <= from_ns) {
            return Err(QueryError::EmptyRange { from_ns, to_ns });
        }
        Ok(Self {
            measure: choose_measure(tables, &query.measure)?,
            threads: choose_threads(tables, &query.filter)?,
            only_measure: tables.measures.len() == 1,
            from_ns,
            to_ns,
        })
    }

    /// The rows within the time range. Invariant of captures: samples are in the order of time.
    pub(crate) fn range(&self, tables: &Tables) -> Range<usize> {
        let times = &tables.samples.time_ns;
        let start = if self.from_ns == 0 { 0 } else { times.partition_point(|time| *time < self.from_ns) };
        let end = self.to_ns.map_or(times.len(), |to_ns| times.partition_point(|time| *time < to_ns));
        start..end.max(start)
    }

    /// Whether neither threads nor times are left out.
    pub(crate) fn is_everything(&self) -> bool {
        self.threads.is_none() && self.from_ns == 0 && self.to_ns.is_none()
    }

    /// Whether every row of [`Self::range`] counts.
    pub(crate) fn takes_all_of_range(&self) -> bool {
        self.threads.is_none() && self.only_measure
    }

    /// Whether samples of `thread` and `measure` count.
    #[inline]
    pub(crate) fn takes(&self, thread: ThreadId, measure: MeasureId) -> bool {
        measure == self.measure && self.takes_thread(thread)
    }

    /// Whether samples of `thread` count.
    #[inline]
    pub(crate) fn takes_thread(&self, thread: ThreadId) -> bool {
        self.threads.as_ref().is_none_or(|threads| threads[thread.index()])
    }

    /// Whether losses of this thread or process, as far as it is known, concern the selected threads.
    pub(crate) fn concerns(
        &self,
        tables: &Tables,
        process: Option<ProcessId>,
        thread: Option<ThreadId>,
    ) -> bool {
        match (thread, process) {
            (Some(thread), _) => self.takes_thread(thread),
            (None, Some(process)) => tables
                .threads
                .ids()
                .any(|id| tables.threads.process[id.index()] == process && self.takes_thread(id)),
            (None, None) => true,
        }
    }

    /// Whether a span of time overlaps the selected one.
    pub(crate) fn overlaps(&self, from_ns: u64, until_ns: u64) -> bool {
        until_ns >= self.from_ns && self.to_ns.is_none_or(|to_ns| from_ns < to_ns)
    }
}

fn choose_measure(tables: &Tables, choice: &MeasureChoice) -> Result<MeasureId, QueryError> {
    let named = |row: &Measure, name: &str| tables.strings.get(row.name) == name;
    match choice {
        MeasureChoice::Main => main_measure(tables).ok_or(QueryError::NoMeasure),
        MeasureChoice::Named(name) => {
            tables.measures.iter().find(|(_, row)| named(row, name)).map(|(id, _)| id).ok_or_else(|| {
                QueryError::UnknownMeasure { name: name.clone(), known: measure_names(tables) }
            })
        }
    }
}

/// What an imported profile says to show first; else CPU time where there is some, else the first quantity
/// that has samples, else the first.
fn main_measure(tables: &Tables) -> Option<MeasureId> {
    let measures = &tables.measures;
    let is_cpu = |id: &MeasureId| {
        matches!(measures.source[id.index()], MeasureSource::CpuSamples | MeasureSource::UserCpuSamples)
    };
    let wanted = tables.setting("default-measure").filter(|name| !name.is_empty());
    let is_wanted = |id: &MeasureId| Some(tables.strings.get(measures.name[id.index()])) == wanted;
    let cpu = || measures.ids().find(is_cpu);
    let sampled = || tables.samples.measure.iter().min().copied();
    measures.ids().find(is_wanted).or_else(cpu).or_else(sampled).or_else(|| measures.ids().next())
}

fn measure_names(tables: &Tables) -> String {
    let names: Vec<&str> = tables.measures.name.iter().map(|name| tables.strings.get(*name)).collect();
    names.join(", ")
}

fn choose_threads(tables: &Tables, filter: &Filter) -> Result<Option<Vec<bool>>, QueryError> {
    if filter.threads.is_empty() && filter.processes.is_empty() {
        return Ok(None);
    }
    let processes = chosen(&filter.processes, tables.processes.ids(), |id| {
        let row = tables.processes.row(id);
        (row.pid, row.namespace_pid, tables.strings.get(row.name))
    })
    .map_err(QueryError::UnknownProcess)?;
    let threads = chosen(&filter.threads, tables.threads.ids(), |id| {
        let row = tables.threads.row(id);
        (row.tid, row.namespace_tid, tables.strings.get(row.name))
    })
    .map_err(QueryError::UnknownThread)?;
    let of_process = tables.threads.process.iter().map(|process| processes[process.index()]);
    Ok(Some(threads.into_iter().zip(of_process).map(|(thread, process)| thread && process).collect()))
}

/// Which ids any of `wanted` names; all when none is wanted; the first that names nothing is the error.
fn chosen<'c, Id: Copy>(
    wanted: &[Who],
    ids: impl Iterator<Item = Id>,
    identity: impl Fn(Id) -> (u32, Option<u32>, &'c str),
) -> Result<Vec<bool>, String> {
    let rows: Vec<_> = ids.map(identity).collect();
    let matches = |who: &Who, (id, inner, name): &(u32, Option<u32>, &str)| match who {
        Who::Id(number) => number == id || inner.as_ref() == Some(number),
        Who::Name(text) => text == name,
    };
    if let Some(who) = wanted.iter().find(|who| !rows.iter().any(|row| matches(who, row))) {
        return Err(who.to_string());
    }
    Ok(rows.iter().map(|row| wanted.is_empty() || wanted.iter().any(|who| matches(who, row))).collect())
}
