//! Reads the JSON of `microscope report` (docs/json.md) as shares.

use anyhow::{Context, Result};
use serde_json::Value;

use crate::Recording;

/// Rows of one view with the whole that they are parts of.
#[derive(Clone, Debug)]
pub struct Rows {
    rows: Vec<Value>,
    whole: f64,
}

impl Rows {
    /// All rows of a view, such as `lines`.
    pub fn of(recording: &Recording, view: &str) -> Result<Self> {
        Self::at(&recording.report(&format!("--view {view} --limit 0"))?, "/rows")
    }

    /// How stacks ended.
    pub fn of_ends(recording: &Recording) -> Result<Self> {
        Self::at(&recording.report("--view losses --limit 0")?, "/ends")
    }

    fn at(report: &Value, pointer: &str) -> Result<Self> {
        let rows =
            report.pointer(pointer).and_then(Value::as_array).with_context(|| format!("no {pointer}"))?;
        Ok(Self { rows: rows.clone(), whole: number(report, "/whole/weight")? })
    }

    /// The same rows as parts of another whole.
    #[must_use]
    pub fn with_whole(self, whole: f64) -> Self {
        Self { whole, ..self }
    }

    /// The percentage that the matching rows have of the whole, by the cost that the pointer names.
    pub fn percent(&self, cost: &str, matches: impl Fn(&Value) -> bool) -> Result<f64> {
        let mut part = 0.0;
        for row in self.rows.iter().filter(|row| matches(row)) {
            part += number(row, cost)?;
        }
        Ok(if self.whole == 0.0 { 0.0 } else { 100.0 * part / self.whole })
    }

    /// The rows themselves.
    pub fn rows(&self) -> &[Value] {
        &self.rows
    }
}

impl Recording {
    /// The number of samples.
    pub fn samples(&self) -> Result<u64> {
        self.report("")?.pointer("/whole/samples").and_then(Value::as_u64).context("no /whole/samples")
    }

    /// The percentage of stacks that are proved to be whole.
    pub fn whole_stacks_percent(&self) -> Result<f64> {
        Rows::of_ends(self)?.percent("/cost/weight", |row| row["reason"] == "complete")
    }

    /// How many processes were sampled. One that became another program by exec counts once: it kept its pid.
    pub fn processes(&self) -> Result<usize> {
        let report = self.report("")?;
        let rows = report.pointer("/processes").and_then(Value::as_array).context("no /processes")?;
        let mut pids: Vec<_> = rows.iter().filter_map(|row| row["pid"].as_u64()).collect();
        pids.sort_unstable();
        pids.dedup();
        Ok(pids.len())
    }

    /// The samples that were lost.
    pub fn lost_samples(&self) -> Result<u64> {
        self.report("")?.pointer("/lost_samples").and_then(Value::as_u64).context("no /lost_samples")
    }
}

/// The number at a pointer.
pub fn number(value: &Value, pointer: &str) -> Result<f64> {
    value
        .pointer(pointer)
        .and_then(Value::as_f64)
        .with_context(|| format!("no number at {pointer} of {value}"))
}
