//! Runs the real processor on deliveries that come from elsewhere than a collector: a raw log, the simulated kernel.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use microscope_capture::{Capture, Spool};
use microscope_profiler::collector::{CollectorReport, Delivery};
use microscope_profiler::files::Files;
use microscope_profiler::processor::{Processor, Setup, Targets};
use microscope_profiler::rawlog::{RawLog, Start};

/// Replays a raw log to the capture that its recording made.
pub fn replay(path: &Path) -> Result<Capture> {
    let mut log = RawLog::open(path)?;
    let (start, files) = (log.start().clone(), log.files());
    let mut replay = Replay::new(start, files)?;
    for delivery in log.deliveries()? {
        if let Some(report) = replay.processor.on(delivery?)? {
            return replay.capture(&report);
        }
    }
    anyhow::bail!("{} ends before its recording did", path.display())
}

/// Records deliveries, with a report at their end.
pub fn process(
    start: Start,
    files: Arc<dyn Files>,
    deliveries: Vec<Delivery>,
    report: CollectorReport,
) -> Result<Capture> {
    let mut replay = Replay::new(start, files)?;
    for delivery in deliveries {
        replay.processor.on(delivery)?;
    }
    let report =
        replay.processor.on(Delivery::Finished(Box::new(report)))?.context("the report comes back")?;
    replay.capture(&report)
}

struct Replay {
    processor: Processor,
    /// Where the spool lies as long as the processor needs it.
    _directory: tempfile::TempDir,
}

impl Replay {
    fn new(start: Start, files: Arc<dyn Files>) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let processor = Processor::new(Setup {
            plan: start.plan,
            layouts: start.layouts,
            targets: start.launched.map_or(Targets::Attached(start.attached), Targets::Launched),
            start_ns: start.start_ns,
            files,
            spool: Spool::create(directory.path().join("replay.partial"))?,
            // One, so that names arrive in one order.
            namers: NonZeroUsize::MIN,
        })?;
        Ok(Self { processor, _directory: directory })
    }

    fn capture(self, report: &CollectorReport) -> Result<Capture> {
        Ok(self.processor.seal(report)?.name(|_| ()).builder.finish()?)
    }
}
