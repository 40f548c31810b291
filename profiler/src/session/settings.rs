//! What a capture says of its own making: the plan, the targets' processor time, the recorder's cost.

use std::fmt::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{SystemTime, UNIX_EPOCH};

use microscope_capture::{Builder, Tables, setting_names as names};

use super::Target;
use crate::collector::{CollectorReport, EndCause, KernelCoverage, Plan, Topology};
use crate::sys::process::CpuTimes;

/// What is known before the first sample. Written first, so that a killed recording has it too.
pub(super) fn opening(plan: &Plan, target: &Target) -> Vec<(&'static str, String)> {
    let directory = std::env::current_dir().unwrap_or_default();
    let mut settings = vec![
        (names::RECORDER, concat!("microscope ", env!("CARGO_PKG_VERSION")).to_owned()),
        (names::MACHINE, machine(plan.cpus.len())),
        (names::START_REALTIME_NS, since_1970_ns().to_string()),
        (names::TARGET, target.to_string()),
        (names::DIRECTORY, directory.to_string_lossy().into_owned()),
        (names::EVENT, plan.event.event.name().to_owned()),
        (names::RATE_HZ, plan.rate_hz.to_string()),
        (names::STACK, plan.stack.name().to_owned()),
        (names::STACK_BYTES, plan.stack_bytes.to_string()),
        (names::KERNEL, kernel(plan.kernel).to_owned()),
        (names::TOPOLOGY, topology(plan.topology).to_owned()),
        (names::SYMBOLS, "pending".to_owned()),
    ];
    if !plan.notes.is_empty() {
        settings.push((names::NOTES, lines(&plan.notes)));
    }
    settings
}

fn since_1970_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// Writes what only the end tells.
pub(super) fn write_report(report: &CollectorReport, builder: &mut Builder) {
    let mut set = |name, value: u64| builder.set(None, name, &value.to_string());
    let (used, before) = target_times(report);
    set(names::DURATION_NS, report.ended_ns.saturating_sub(report.started_ns));
    set(names::TARGET_USER_NS, used.user_ns);
    set(names::TARGET_SYSTEM_NS, used.system_ns);
    set(names::TARGET_BEFORE_NS, before.total_ns());
    if let Some(status) = report.exit {
        builder.set(None, names::EXIT, &exit(status));
    }
}

/// A target that ends this much later than its events had its sampling ended by the kernel.
const UNWATCHED_NS: u64 = 100_000_000;

/// Says that the kernel ended the sampling before the program ended, as it does when a program takes other
/// rights by its exec.
pub(super) fn note_unwatched(report: &CollectorReport, builder: &mut Builder) {
    let Some(from_ns) = unwatched_from(report, &builder.tables) else { return };
    let note = format!(
        "the kernel ended sampling {} ms after the start, long before the program ended, as it does for \
         programs that take other rights (setuid) or may not be read",
        from_ns / 1_000_000
    );
    let notes = match builder.tables.setting(names::NOTES) {
        Some(notes) => format!("{notes}\n{note}"),
        None => note,
    };
    builder.set(None, names::NOTES, &notes);
}

/// When the records of the only target say that it ended, though it went on.
fn unwatched_from(report: &CollectorReport, tables: &Tables) -> Option<u64> {
    let ([target], EndCause::TargetsGone) = (report.targets.as_slice(), report.cause) else { return None };
    let last = tables.processes.pid.iter().rposition(|pid| *pid == target.pid)?;
    let ended_ns = tables.processes.end_ns[last]?;
    let lasted_ns = report.ended_ns.saturating_sub(report.started_ns);
    (lasted_ns > ended_ns.saturating_add(UNWATCHED_NS)).then_some(ended_ns)
}

/// Writes what the recorder cost, as late as it can be known.
pub(super) fn write_cost(cost: super::RecorderCost, builder: &mut Builder) {
    builder.set(None, names::RECORDER_CPU_NS, &cost.cpu_ns.to_string());
    builder.set(None, names::RECORDER_MEMORY_BYTES, &cost.memory_peak_bytes.to_string());
}

/// Processor time of all targets while sampled, their waited-for children included, and before.
fn target_times(report: &CollectorReport) -> (CpuTimes, CpuTimes) {
    let (mut used, mut before) = (CpuTimes::default(), CpuTimes::default());
    for target in &report.targets {
        used = used + target.used + target.children_used;
        before = before + target.before;
    }
    (used, before)
}

fn machine(cpus: usize) -> String {
    let uname = nix::sys::utsname::uname().ok();
    let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (machine, system) = (uname.as_ref().map(|u| u.machine()), uname.as_ref().map(|u| u.sysname()));
    let release = uname.as_ref().map(|u| u.release());
    format!("{} {} {}, {cpus} processors", text(machine), text(system), text(release))
}

const fn kernel(coverage: KernelCoverage) -> &'static str {
    match coverage {
        KernelCoverage::Stacks => "stacks",
        KernelCoverage::Counted => "counted",
        KernelCoverage::Excluded => "excluded",
    }
}

const fn topology(topology: Topology) -> &'static str {
    match topology {
        Topology::PerThread => "per-thread",
        Topology::SystemWide => "system-wide",
    }
}

fn lines(notes: &[crate::collector::PlanNote]) -> String {
    let mut text = String::new();
    for note in notes {
        let _ = write!(text, "{}{note}", if text.is_empty() { "" } else { "\n" });
    }
    text
}

fn exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}
