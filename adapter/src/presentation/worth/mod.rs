//! One honest paragraph: how much was sampled, what was lost or cut and what would help, what it cost.

mod ended;
mod lost;

use microscope_analysis::Cost;
use microscope_analysis::views::{LossRow, Recording, Summary};
use microscope_capture::setting_names::{
    EXIT, KERNEL_SYMBOLS, NOTES, RECORDER_CPU_NS, RECORDER_MEMORY_BYTES, SYMBOLS,
};

use super::escape::terminal;
use super::names::cut_end;
use super::numbers::{bytes, count, counted, duration_ns, percent};
use super::prose::list;

/// Columns of one text from the capture at most: names of the target may be in it.
const TEXT_COLUMNS: usize = 300;

/// The paragraph of a summary and its losses, as sentences on one line.
pub(super) fn worth(summary: &Summary<'_>, losses: &[LossRow<'_>]) -> String {
    let recording = &summary.recording;
    // Rows of an imported profile are sums of samples, and it says nothing of losses.
    let is_imported = summary.quantity.source == "imported";
    let sentences = [
        (!is_imported).then(|| sampled(summary)),
        (!is_imported || !losses.is_empty()).then(|| lost::lost(losses)),
        ended::ended(summary),
        unplaced(summary),
        unsampled(summary),
        unnamed(recording),
        exit(recording),
        recorder(recording),
        notes(recording),
    ];
    sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn sampled(summary: &Summary<'_>) -> String {
    let samples = counted(summary.whole.samples, "sample", "samples");
    let recording = &summary.recording;
    match (recording.achieved_hz, recording.rate_hz) {
        (Some(achieved), Some(wanted)) => format!(
            "{samples}: {} a second of CPU time, of {} asked for.",
            whole(achieved),
            count(u64::from(wanted))
        ),
        (None, Some(wanted)) => {
            format!("{samples}; {} a second of CPU time were asked for.", count(u64::from(wanted)))
        }
        _ => format!("{samples}."),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float saturates")]
fn whole(rate: f64) -> String {
    count(rate.round() as u64)
}

fn unplaced(summary: &Summary<'_>) -> Option<String> {
    let said = not_on_a_line([summary.unlined, summary.no_debug, summary.no_stack], summary.whole)?;
    let is_much = summary.no_debug.weight > summary.whole.weight / 3 && summary.quantity.source != "imported";
    let help = if is_much {
        " What would help: debug information (-g, debug = true, -dbgsym packages)."
    } else {
        ""
    };
    Some(said + help)
}

/// What lines do not show: `Not on any line: 12.3 % in code without debug information.`
pub(crate) fn not_on_a_line([unlined, no_debug, no_stack]: [Cost; 3], whole: Cost) -> Option<String> {
    let parts = [
        (unlined, "in code that belongs to no line"),
        (no_debug, "in code without debug information"),
        (no_stack, "without any frame"),
    ];
    let shares = parts.iter().filter(|(cost, _)| !cost.is_zero());
    let said: Vec<String> =
        shares.map(|(cost, words)| format!("{} {words}", percent(cost.weight, whole.weight))).collect();
    (!said.is_empty()).then(|| format!("Not on any line: {}.", list(&said)))
}

fn unsampled(summary: &Summary<'_>) -> Option<String> {
    let missed = missed(summary);
    if !summary.quantity.user_only {
        return missed;
    }
    let kernel = "Kernel code was not sampled: every total is user time only";
    let Some(time) = summary.cpu_time else { return Some(format!("{kernel}.")) };
    let share = percent(time.system_ns, time.user_ns.saturating_add(time.system_ns));
    let missing = duration_ns(time.system_ns);
    let unseen =
        format!("{kernel}, without the {share} of CPU time ({missing}) that was spent in the kernel.");
    Some(missed.map_or_else(|| unseen.clone(), |missed| format!("{unseen} {missed}")))
}

/// CPU time that was to be sampled and that no sample stands for, where it is more than one in a hundred.
fn missed(summary: &Summary<'_>) -> Option<String> {
    let time = summary.cpu_time.filter(|_| summary.quantity.unit == "ns")?;
    let (accounted, what) = if summary.quantity.user_only {
        (time.user_ns, "user CPU time")
    } else {
        (time.user_ns.saturating_add(time.system_ns), "CPU time")
    };
    let missed = accounted.saturating_sub(summary.whole.weight);
    let share = percent(missed, accounted);
    let words = || {
        let missed = duration_ns(missed);
        format!(
            "{share} of the {what} ({missed}) has no samples; threads that end before one is due have none."
        )
    };
    (missed > accounted / 100).then(words)
}

fn unnamed(recording: &Recording<'_>) -> Option<String> {
    if setting(recording, SYMBOLS) == Some("pending") {
        return Some("The recording was cut off before all names were in.".to_owned());
    }
    let why = setting(recording, KERNEL_SYMBOLS)?;
    Some(format!("Kernel functions have no names: {}.", cut_end(&terminal(why), TEXT_COLUMNS)))
}

/// How the program ended, unless it ended well.
fn exit(recording: &Recording<'_>) -> Option<String> {
    match setting(recording, EXIT)?.split_once(' ')? {
        ("exit", "0") => None,
        ("exit", code) => Some(format!("The program ended with exit code {}.", terminal(code))),
        ("signal", number) => Some(format!("The program was ended by signal {}.", terminal(number))),
        _ => None,
    }
}

fn recorder(recording: &Recording<'_>) -> Option<String> {
    let number = |name| setting(recording, name)?.parse::<u64>().ok();
    let cpu = duration_ns(number(RECORDER_CPU_NS)?);
    let memory = number(RECORDER_MEMORY_BYTES)
        .map_or_else(String::new, |held| format!(" and {} of memory", bytes(held)));
    Some(format!("Recording itself took {cpu} of CPU time{memory}."))
}

fn notes(recording: &Recording<'_>) -> Option<String> {
    let lines = setting(recording, NOTES)?.lines().filter(|line| !line.trim().is_empty());
    let notes: Vec<String> = lines.map(|line| cut_end(&terminal(line), TEXT_COLUMNS)).collect();
    (!notes.is_empty()).then(|| format!("Note: {}.", notes.join("; ")))
}

fn setting<'c>(recording: &Recording<'c>, name: &str) -> Option<&'c str> {
    recording.settings.iter().find(|(key, _)| *key == name).map(|(_, text)| *text)
}
