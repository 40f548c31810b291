//! From a target and options to a collector that runs: plan, rings, events, thread, gate.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use nix::errno::Errno;
use nix::sys::signal::Signal;

use super::arming::Arming;
use super::commands::{CollectorControl, CollectorHandle};
use super::drain::{DRAIN_PERIOD, Drain, Progress};
use super::events::Events;
use super::outbox::Outbox;
use super::planned::Planned;
use super::planning::{Occasion, plan};
use super::rings::{Rings, open_rings};
use super::targets::Target;
use super::templates::Templates;
use super::{Delivery, EventLayout, Plan, StartError, Topology};
use crate::options::RecordOptions;
use crate::sys::handle::ProcessHandle;
use crate::sys::launch::{Gate, LaunchCommand, LaunchFailure};
use crate::sys::limits;
use crate::sys::perf::{Kernel, Linux};
use crate::sys::poller::Poller;

/// A launched program. It is waited for by the collector alone; its status is in the report.
#[derive(Clone, Debug)]
pub struct ChildProcess(Arc<ProcessHandle>);

impl ChildProcess {
    /// Its process.
    pub fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// Sends it a signal, unless it has ended.
    pub fn signal(&self, signal: Signal) -> Result<(), Errno> {
        self.0.signal(signal)
    }
}

/// A recording whose events and rings are open, and which samples nothing yet. Dropped, it leaves nothing behind:
/// a program at its gate exits without having run.
#[derive(Debug)]
pub struct Armed {
    /// What was chosen and why.
    pub plan: Plan,
    /// Layouts of the events that are open.
    pub layouts: Vec<EventLayout>,
    /// The processes that are recorded.
    pub pids: Vec<u32>,
    kernel: Box<dyn Kernel>,
    templates: Templates,
    rings: Rings,
    events: Events,
    targets: Vec<Target>,
    gate: Option<(Gate, OsString)>,
}

/// Arms a recording of a program, which waits at its gate until [`Armed::start`].
pub fn launch(command: &LaunchCommand, options: &RecordOptions) -> Result<Armed, StartError> {
    launch_on(Box::new(Linux), command, options)
}

/// Arms a recording of processes that run, without stopping them. What they start later is recorded too.
pub fn attach(pids: &[u32], options: &RecordOptions) -> Result<Armed, StartError> {
    attach_on(Box::new(Linux), pids, options)
}

pub(super) fn launch_on(
    kernel: Box<dyn Kernel>,
    command: &LaunchCommand,
    options: &RecordOptions,
) -> Result<Armed, StartError> {
    let failed = |failure: LaunchFailure| StartError::Program { program: command.program.clone(), failure };
    limits::raise_descriptor_limit();
    // Planned first: a refusal of perf events should not cost a process.
    let planned = plan(kernel.as_ref(), &kernel.machine(), options, Occasion::Launch)?;
    let gate = Gate::launch(command).map_err(failed)?;
    let pid = gate.process().pid();
    let mut armed = Armed::open(kernel, planned)?;
    armed.arm(|arming| arming.gated(pid))?;
    armed.pids.push(pid);
    armed.gate = Some((gate, command.program.clone()));
    Ok(armed)
}

pub(super) fn attach_on(
    kernel: Box<dyn Kernel>,
    pids: &[u32],
    options: &RecordOptions,
) -> Result<Armed, StartError> {
    if pids.is_empty() {
        return Err(StartError::NoTarget);
    }
    limits::raise_descriptor_limit();
    let targets = pids.iter().map(|pid| Target::attach(*pid)).collect::<Result<Vec<_>, _>>()?;
    let threads = pids.iter().map(|pid| kernel.threads(*pid).map_or(0, |threads| threads.len())).sum();
    let planned = plan(kernel.as_ref(), &kernel.machine(), options, Occasion::Attach { threads })?;
    let mut armed = Armed::open(kernel, planned)?;
    for pid in pids {
        armed.arm(|arming| arming.process(*pid, &[]).map(drop))?;
    }
    armed.targets = targets;
    armed.pids = pids.to_vec();
    Ok(armed)
}

impl Armed {
    fn open(kernel: Box<dyn Kernel>, planned: Planned) -> Result<Self, StartError> {
        let (Planned { plan, templates, .. }, rings) = open_rings(kernel.as_ref(), planned)?;
        let mut armed = Self {
            plan,
            layouts: Vec::new(),
            pids: Vec::new(),
            kernel,
            templates,
            rings,
            events: Events::default(),
            targets: Vec::new(),
            gate: None,
        };
        if armed.plan.topology == Topology::SystemWide {
            armed.open_events(|arming| arming.everyone())?;
        }
        Ok(armed)
    }

    /// Opens a target's events, unless those that watch everyone are open.
    pub(super) fn arm(
        &mut self,
        open: impl FnOnce(&mut Arming<'_>) -> Result<(), StartError>,
    ) -> Result<(), StartError> {
        match self.plan.topology {
            Topology::SystemWide => Ok(()),
            Topology::PerThread => self.open_events(open),
        }
    }

    fn open_events(
        &mut self,
        open: impl FnOnce(&mut Arming<'_>) -> Result<(), StartError>,
    ) -> Result<(), StartError> {
        open(&mut Arming {
            kernel: self.kernel.as_ref(),
            templates: &self.templates,
            rings: &self.rings,
            events: &mut self.events,
        })?;
        self.layouts = self.events.layouts_from(0);
        Ok(())
    }

    /// Runs the collector's thread, which drains to `queue`, and starts sampling. A launched program begins when
    /// its rings are being drained, not before.
    pub fn start(mut self, queue: SyncSender<Delivery>) -> Result<CollectorHandle, StartError> {
        let failed = |doing| move |errno| StartError::System { doing, errno };
        let gate = self.gate.take();
        let mut child = None;
        if let Some((gate, _)) = &gate {
            let handle = gate.process();
            child = Some(ChildProcess(Arc::clone(&handle)));
            self.targets.push(Target::launched(handle));
        }
        let poller = Poller::new(DRAIN_PERIOD).map_err(failed("wait for events"))?;
        let (control, requests) = CollectorControl::new(poller.waker());
        let drain = Drain {
            kernel: self.kernel,
            templates: self.templates,
            topology: self.plan.topology,
            rings: self.rings,
            events: self.events,
            targets: self.targets,
            poller,
            requests,
            outbox: Outbox::new(queue),
            progress: Progress::default(),
        };
        let (thread, started_ns) = run(drain)?;
        if let Some((gate, program)) = gate
            && let Err(failure) = gate.open()
        {
            // The collector sees the end of the child, waits for it and ends.
            return Err(StartError::Program { program, failure });
        }
        Ok(CollectorHandle { control, thread, child, started_ns })
    }
}

/// Returns when the thread drains, with the time sampling began.
fn run(drain: Drain) -> Result<(thread::JoinHandle<()>, u64), StartError> {
    let (running, is_running) = sync_channel(1);
    let failed = |errno| StartError::System { doing: "run the collector's thread", errno };
    let thread = thread::Builder::new()
        .name("collector".to_owned())
        .spawn(move || drain.run(&running))
        .map_err(|error| failed(Errno::from_raw(error.raw_os_error().unwrap_or(libc::EAGAIN))))?;
    let started_ns = is_running.recv().map_err(|_| failed(Errno::ECANCELED))??;
    Ok((thread, started_ns))
}
