//! The columns an editor draws over one source file: overlay schema 1 of the service.
//!
//! The numbers are made here; the `label` columns are filled by the adapter's presentation, so that every
//! carrier shows the same text.

mod bounds;
mod columns;
mod functions;
mod lines;
mod proof;

use microscope_capture::{Capture, FileId, MeasureId, MeasureSource, Tables};

pub use bounds::Confidence;
pub use columns::{Functions, Lines, Lost, Measure, Overlay, Sites, Zones};
pub use proof::{Mapping, Proof, TextEvidence};

use crate::ask::Question;
use crate::select::Selection;
use crate::views;
use crate::weights::Quantity;
use crate::{Filter, Granularity, MeasureChoice, Query, QueryError};

/// Which file is overlaid, and with what.
#[derive(Clone, Copy)]
pub struct OverlayRequest<'a> {
    /// The path as the asker knows it; it is only handed back.
    pub path: &'a str,
    /// The files of the capture that are this source.
    pub files: &'a [FileId],
    /// Which samples count.
    pub filter: &'a Filter,
    /// Which quantity is shown.
    pub measure: &'a MeasureChoice,
    /// Whether a path of the capture is the user's own code: library cost lands on the line there that caused it.
    pub is_workspace: &'a dyn Fn(&str) -> bool,
    /// What is known of the text that will be drawn on.
    pub proof: Proof,
    /// Whether lines are those of that text.
    pub mapping: Mapping,
}

/// Costs on the lines and functions of one file.
pub fn overlay(capture: &Capture, request: &OverlayRequest<'_>) -> Result<Overlay, QueryError> {
    let query = Query {
        by: Granularity::Function,
        filter: request.filter.clone(),
        measure: request.measure.clone(),
        ..Query::default()
    };
    let selection = Selection::new(capture, &query)?;
    let question = Question::new(capture, &query)?;
    let confidence = Confidence::new(capture, &selection);
    Ok(Overlay {
        path: request.path.to_owned(),
        proof: request.proof,
        mapping: request.mapping,
        measures: vec![measure(capture, &selection, &confidence)],
        lines: lines::lines(&question, request, &confidence),
        functions: functions::functions(&question, request.files),
        zones: Zones::default(),
        sites: Sites::default(),
    })
}

fn measure(capture: &Capture, selection: &Selection, confidence: &Confidence) -> Measure {
    let threads = views::threads_of(capture, selection);
    let Quantity { source, unit, .. } = threads.quantity;
    let accounted = views::cpu_time(capture, selection, &threads);
    Measure {
        id: measure_id(capture, selection.measure),
        source,
        unit,
        whole: threads.whole.weight,
        samples: threads.whole.samples,
        coverage: accounted.map(|time| time.coverage * confidence.duty),
        lost: Lost { samples: confidence.lost_samples, share: confidence.lost_share },
    }
}

/// A measure's name in column names.
fn measure_id(tables: &Tables, measure: MeasureId) -> String {
    let row = tables.measures.row(measure);
    match row.source {
        MeasureSource::CpuSamples | MeasureSource::UserCpuSamples => "cpu".to_owned(),
        _ => tables.strings.get(row.name).to_owned(),
    }
}
