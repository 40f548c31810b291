//! A recording of the simulated kernel: its deliveries through the real processor, to a capture.

use std::num::NonZeroUsize;
use std::sync::Arc;

use anyhow::{Context, Result};
use microscope_capture::{Capture, Spool};
use microscope_profiler::collector::{
    ChosenEvent, CollectorReport, Delivery, EndCause, KernelCoverage, PeriodUnit, Plan, RingSizes, Topology,
};
use microscope_profiler::files::{Answer, FileProblem, Files, OpenedFile, Place, Text};
use microscope_profiler::options::{EventChoice, StackPolicy};
use microscope_profiler::processor::{Processor, Setup, Targets};

use super::{Kernel, PERIOD_NS, layouts};

/// Records what a kernel does from the launch of a process on.
pub fn record(kernel: &mut Kernel, launched: u32) -> Result<Capture> {
    let directory = tempfile::tempdir()?;
    let mut processor = Processor::new(Setup {
        plan: plan(kernel.cpus),
        layouts: layouts(kernel.cpus),
        targets: Targets::Launched(launched),
        start_ns: kernel.start_ns,
        files: Arc::new(NoFiles),
        spool: Spool::create(directory.path().join("simulated.partial"))?,
        namers: NonZeroUsize::MIN,
    })?;
    for delivery in kernel.take_deliveries() {
        processor.on(delivery)?;
    }
    let report =
        processor.on(Delivery::Finished(Box::new(report(kernel))))?.context("the report comes back")?;
    Ok(processor.seal(&report)?.name(|_| ()).builder.finish()?)
}

fn plan(cpus: u32) -> Plan {
    let event = ChosenEvent {
        event: EventChoice::CpuClock,
        unit: PeriodUnit::Nanoseconds,
        period_ns: Some(PERIOD_NS),
    };
    Plan {
        topology: Topology::PerThread,
        cpus: (0..cpus).collect(),
        event,
        rate_hz: 1000,
        stack: StackPolicy::Copy,
        stack_bytes: 1024,
        kernel: KernelCoverage::Excluded,
        children: true,
        rings: RingSizes { sample_bytes: 1 << 16, side_band_bytes: 1 << 14, buffer_ms: 100 },
        notes: Vec::new(),
    }
}

fn report(kernel: &Kernel) -> CollectorReport {
    CollectorReport {
        cause: EndCause::TargetsGone,
        started_ns: kernel.start_ns,
        ended_ns: kernel.now_ns,
        rings: Vec::new(),
        targets: Vec::new(),
        exit: None,
        own: Default::default(),
        wakeups: 0,
        copied_bytes: 0,
    }
}

/// A machine on which every process is gone before its files are asked for.
struct NoFiles;

impl Files for NoFiles {
    fn open(&self, _: &Place) -> Result<OpenedFile, FileProblem> {
        Err(FileProblem::Missing)
    }

    fn text(&self, _: &Text) -> Result<Answer<Vec<u8>>, FileProblem> {
        Err(FileProblem::Missing)
    }

    fn threads(&self, _: u32) -> Result<Answer<Vec<u32>>, FileProblem> {
        Err(FileProblem::Missing)
    }
}
