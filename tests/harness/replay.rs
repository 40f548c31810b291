//! Runs the real processor on deliveries that come from elsewhere than a collector: a raw log, the simulated kernel.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use microscope_capture::{Capture, Spool};
use microscope_profiler::collector::{CollectorReport, Delivery};
use microscope_profiler::files::Files;
use microscope_profiler::processor::{Processor, Setup, Targets};
use microscope_profiler::rawlog::Start;
use microscope_profiler::session;

/// Replays a raw log to the capture that its recording made.
pub fn replay(path: &Path) -> Result<Capture> {
    let directory = tempfile::tempdir()?;
    Ok(session::replay(path, &directory.path().join("replay.partial"))?)
}

/// Records deliveries, with a report at their end.
pub fn process(
    start: Start,
    files: Arc<dyn Files>,
    deliveries: Vec<Delivery>,
    report: CollectorReport,
) -> Result<Capture> {
    let directory = tempfile::tempdir()?;
    let mut processor = Processor::new(Setup {
        plan: start.plan,
        layouts: start.layouts,
        targets: start.launched.map_or(Targets::Attached(start.attached), Targets::Launched),
        start_ns: start.start_ns,
        settings: Vec::new(),
        files,
        spool: Spool::create(directory.path().join("replay.partial"))?,
        namers: NonZeroUsize::MIN,
    })?;
    for delivery in deliveries {
        processor.on(delivery)?;
    }
    let report = processor.on(Delivery::Finished(Box::new(report)))?.context("the report comes back")?;
    Ok(processor.seal(&report)?.name(|_| ()).builder.finish()?)
}
