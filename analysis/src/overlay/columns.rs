//! Overlay schema 1, by column. Columns of one object have one length.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Mapping, Proof};

/// An overlay of one file.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Overlay {
    /// The path as the asker knows it.
    pub path: String,
    /// What is known of the text.
    pub proof: Proof,
    /// Whether lines are those of that text.
    pub mapping: Mapping,
    /// The quantities of the columns below.
    pub measures: Vec<Measure>,
    /// Lines with any cost, in ascending order.
    pub lines: Lines,
    /// Functions with any cost that have code in the file, by line, then name.
    pub functions: Functions,
    /// Zones; none before probes are recorded.
    pub zones: Zones,
    /// Probe sites; none before probes are recorded.
    pub sites: Sites,
}

/// A quantity.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Measure {
    /// Its name in column names: `cpu` for CPU time.
    pub id: String,
    /// Where it comes from.
    pub source: &'static str,
    /// What it counts.
    pub unit: &'static str,
    /// All samples asked for, in the unit.
    pub whole: u64,
    /// How many.
    pub samples: u64,
    /// The share of the accounted CPU time that samples could stand for; absent when that was not read.
    pub coverage: Option<f64>,
    /// What was lost.
    pub lost: Lost,
}

/// Samples that were taken but are not in the capture.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Lost {
    /// How many.
    pub samples: u64,
    /// Of all that were taken.
    pub share: f64,
}

/// Lines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lines {
    /// The measure's id, for the names of its columns.
    pub measure: String,
    /// From 1.
    pub line: Vec<u32>,
    /// Samples whose innermost workspace line it is.
    pub mine: Vec<u64>,
    /// Samples at the line, inlined code attributed to its own lines.
    pub own: Vec<u64>,
    /// Samples that have the line anywhere in their path, each once.
    pub total: Vec<u64>,
    /// How many samples [`Self::mine`] is.
    pub samples: Vec<u64>,
    /// The lower 95 % bound of the share that [`Self::mine`] has of the whole.
    pub low: Vec<f64>,
    /// The upper one.
    pub high: Vec<f64>,
    /// For people; filled in by presentation.
    pub label: Vec<String>,
}

/// Functions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Functions {
    /// The measure's id, for the names of its columns.
    pub measure: String,
    /// The name.
    pub name: Vec<String>,
    /// Where it is declared; where that is not known, its first line that was seen.
    pub line: Vec<u32>,
    /// Its last line that was seen.
    pub end_line: Vec<u32>,
    /// Samples whose innermost function it is.
    pub own: Vec<u64>,
    /// Samples that have it anywhere in their path, each once.
    pub total: Vec<u64>,
    /// For people; filled in by presentation.
    pub label: Vec<String>,
}

/// Zones, by site.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the columns of the schema; empty until probes are recorded")]
pub struct Zones {
    pub site: Vec<u32>,
    pub name: Vec<String>,
    pub line: Vec<u32>,
    pub count: Vec<u64>,
    pub total_ns: Vec<u64>,
    pub self_ns: Vec<u64>,
    pub cpu_ns: Vec<u64>,
    pub mean_ns: Vec<u64>,
    pub p50_ns: Vec<u64>,
    pub p90_ns: Vec<u64>,
    pub p99_ns: Vec<u64>,
    pub max_ns: Vec<u64>,
    pub label: Vec<String>,
}

/// Probe sites.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[allow(missing_docs, reason = "the columns of the schema; empty until probes are recorded")]
pub struct Sites {
    pub site: Vec<u32>,
    pub name: Vec<String>,
    pub kind: Vec<String>,
    pub line: Vec<u32>,
}

impl Serialize for Lines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(8))?;
        map.serialize_entry("line", &self.line)?;
        map.serialize_entry(&format!("{}.mine", self.measure), &self.mine)?;
        map.serialize_entry(&format!("{}.self", self.measure), &self.own)?;
        map.serialize_entry(&format!("{}.total", self.measure), &self.total)?;
        map.serialize_entry("samples", &self.samples)?;
        map.serialize_entry("low", &self.low)?;
        map.serialize_entry("high", &self.high)?;
        map.serialize_entry("label", &self.label)?;
        map.end()
    }
}

impl Serialize for Functions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(6))?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("line", &self.line)?;
        map.serialize_entry("endLine", &self.end_line)?;
        map.serialize_entry(&format!("{}.self", self.measure), &self.own)?;
        map.serialize_entry(&format!("{}.total", self.measure), &self.total)?;
        map.serialize_entry("label", &self.label)?;
        map.end()
    }
}
