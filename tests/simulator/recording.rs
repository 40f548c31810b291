//! A recording of the simulated kernel: its deliveries through the real processor, to a capture.

use std::sync::Arc;

use anyhow::Result;
use microscope_capture::Capture;
use microscope_profiler::collector::{
    ChosenEvent, CollectorReport, EndCause, KernelCoverage, PeriodUnit, Plan, RingSizes, Topology,
};
use microscope_profiler::files::{Answer, FileProblem, Files, OpenedFile, Place, Text};
use microscope_profiler::options::{EventChoice, StackPolicy};
use microscope_profiler::rawlog::Start;

use super::{Kernel, PERIOD_NS, layouts};
use crate::replay::process;

/// Records what a kernel does from the launch of a process on.
pub fn record(kernel: &mut Kernel, launched: u32) -> Result<Capture> {
    let start = Start {
        start_ns: kernel.start_ns,
        plan: plan(kernel.cpus),
        layouts: layouts(kernel.cpus),
        launched: Some(launched),
        attached: Vec::new(),
    };
    process(start, Arc::new(NoFiles), kernel.take_deliveries(), report(kernel))
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
