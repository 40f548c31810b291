//! A raw log → the capture that its recording made: goldens, the simulator and the real thing share one entry.

use std::path::Path;

use microscope_capture::{Capture, Spool};

use super::settings::write_report;
use super::{SessionError, setup};
use crate::processor::{Processor, ProcessorError, Targets};
use crate::rawlog::{RawLog, Start};

/// Processes a raw log again, spooling at `spool`. Nothing outside the log is read, so the capture has no source
/// texts and no settings but those of the recording's own report.
pub fn replay(raw_log: &Path, spool: &Path) -> Result<Capture, SessionError> {
    let mut log = RawLog::open(raw_log)?;
    let spool = Spool::create(spool)?;
    let (start, files) = (log.start().clone(), log.files());
    let targets = targets(&start);
    let mut processor = Processor::new(setup(start, targets, files, spool))?;
    let mut report = None;
    for delivery in log.deliveries()? {
        report = processor.on(delivery?)?.or(report);
    }
    let report = report.ok_or(ProcessorError::NoReport)?;
    let mut named = processor.seal(&report)?.name(|_| ());
    write_report(&report, &mut named.builder);
    let capture = named.builder.finish().map_err(ProcessorError::from)?;
    named.spool.discard()?;
    Ok(capture)
}

fn targets(start: &Start) -> Targets {
    match start.launched {
        Some(pid) => Targets::Launched(pid),
        None => Targets::Attached(start.attached.clone()),
    }
}
