//! One honest paragraph: how much was sampled, what was lost or cut and what would help, what it cost.

use std::collections::BTreeMap;

use microscope_analysis::Cost;
use microscope_analysis::views::{EndRow, LossRow, Recording, Remedy, Summary};
use microscope_capture::setting_names::{NOTES, RECORDER_CPU_NS, RECORDER_MEMORY_BYTES};
use microscope_capture::{EndReason, LossKind};

use super::escape::terminal;
use super::losses::period;
use super::names::cut_end;
use super::numbers::{bytes, count, counted, duration_ns, percent};
use super::places;
use super::prose::list;
use super::words;

/// Columns of one note at most: names of the target may be in it.
const NOTE_COLUMNS: usize = 300;

/// Columns of a module's name in a sentence at most.
const MODULE_COLUMNS: usize = 60;

/// Reasons of cut stacks that are told one by one; the others are added up.
const REASONS: usize = 3;

/// The paragraph of a summary and its losses, as sentences on one line.
pub(super) fn worth(summary: &Summary<'_>, losses: &[LossRow<'_>]) -> String {
    let mut sentences = vec![sampled(summary), lost(losses)];
    sentences.extend(ended(summary));
    sentences.extend(unplaced(summary));
    sentences.extend(unsampled(summary));
    sentences.extend(recorder(&summary.recording));
    sentences.extend(notes(&summary.recording));
    sentences.join(" ")
}

fn sampled(summary: &Summary<'_>) -> String {
    let samples = counted(summary.whole.samples, "sample", "samples");
    let recording = &summary.recording;
    match (recording.achieved_hz, recording.rate_hz) {
        (Some(achieved), Some(wanted)) => format!(
            "{samples}: {achieved:.0} a second of CPU time, of {} asked for.",
            count(u64::from(wanted))
        ),
        (None, Some(wanted)) => {
            format!("{samples}; {} a second of CPU time were asked for.", count(u64::from(wanted)))
        }
        _ => format!("{samples}."),
    }
}

fn lost(rows: &[LossRow<'_>]) -> String {
    if rows.is_empty() {
        return "None was lost.".to_owned();
    }
    let mut kinds = BTreeMap::<LossKind, Lost>::new();
    rows.iter().for_each(|row| kinds.entry(row.kind).or_default().add(row));
    let said: Vec<String> = kinds.iter().map(|(kind, lost)| lost.sentence(*kind)).collect();
    let mut remedies: Vec<&str> = kinds.keys().filter_map(|kind| words::loss_remedy(*kind)).collect();
    remedies.dedup();
    let help = remedies.first().map_or_else(String::new, |remedy| format!(" What would help: {remedy}."));
    format!("Of others, {}.{help}", list(&said))
}

/// Losses of one kind together.
#[derive(Default)]
struct Lost {
    count: u64,
    unit: &'static str,
    times_ns: Option<(u64, u64)>,
    cpus: Vec<u16>,
}

impl Lost {
    fn add(&mut self, row: &LossRow<'_>) {
        let (from, until) = self.times_ns.unwrap_or((row.from_ns, row.until_ns));
        self.count = self.count.saturating_add(row.count);
        self.unit = row.unit;
        self.times_ns = Some((from.min(row.from_ns), until.max(row.until_ns)));
        if let Some(cpu) = row.cpu
            && let Err(at) = self.cpus.binary_search(&cpu)
        {
            self.cpus.insert(at, cpu);
        }
    }

    /// `120 samples found no room in a ring (1.20 s – 1.40 s, CPU 1)`.
    fn sentence(&self, kind: LossKind) -> String {
        let amount = if self.unit == "ns" { duration_ns(self.count) } else { count(self.count) };
        let (from, until) = self.times_ns.unwrap_or_default();
        let place = match self.cpus.as_slice() {
            [] => String::new(),
            [only] => format!(", CPU {only}"),
            several => format!(", on {} CPUs", several.len()),
        };
        format!("{amount} {} ({}{place})", words::loss(kind), period(from, until))
    }
}

fn ended(summary: &Summary<'_>) -> Option<String> {
    let whole = summary.whole.samples;
    let mut reasons = by_reason(&summary.ends);
    let complete = reasons.iter().position(|group| group.reason == EndReason::Complete);
    let complete = complete.map_or(0, |at| reasons.remove(at).samples);
    if reasons.is_empty() && whole > 0 {
        return Some("All stacks are whole.".to_owned());
    }
    if reasons.iter().all(|group| group.reason == EndReason::Unknown) {
        return None;
    }
    let rest: u64 = reasons.iter().skip(REASONS).map(|group| group.samples).sum();
    let mut said: Vec<String> = reasons.iter().take(REASONS).map(|group| group.words(whole)).collect();
    if rest > 0 {
        said.push(format!("{} end early for other reasons", percent(rest, whole)));
    }
    let help = reasons.iter().find_map(|group| group.remedy).map(words::end_remedy);
    let help = help.map_or_else(String::new, |remedy| format!(" What would help: {remedy}."));
    Some(format!("{} of the stacks are whole; {}.{help}", percent(complete, whole), list(&said)))
}

/// Stacks that ended for one reason, the most first.
struct Ended<'a> {
    reason: EndReason,
    samples: u64,
    /// The module that most of them ended in.
    module: Option<&'a str>,
    remedy: Option<Remedy>,
}

impl Ended<'_> {
    fn words(&self, whole: u64) -> String {
        let share = percent(self.samples, whole);
        let module = self.module.map_or_else(String::new, |path| {
            format!(" (most in {})", cut_end(&places::module(path), MODULE_COLUMNS))
        });
        format!("{share} {}{module}", words::end_reason(self.reason))
    }
}

/// Rows come with the most samples first, so the first row of a reason names its module.
fn by_reason<'a>(rows: &[EndRow<'a>]) -> Vec<Ended<'a>> {
    let mut groups: Vec<Ended<'a>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| group.reason == row.reason) {
            Some(group) => group.samples += row.cost.samples,
            None => groups.push(Ended {
                reason: row.reason,
                samples: row.cost.samples,
                module: row.module,
                remedy: row.remedy,
            }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.samples));
    groups
}

fn unplaced(summary: &Summary<'_>) -> Option<String> {
    let parts = [
        (summary.unlined, "in code that belongs to no line"),
        (summary.no_debug, "in code without debug information"),
        (summary.no_stack, "without any frame"),
    ];
    not_on_a_line(&parts, summary.whole)
}

/// What lines do not show: `Not on any line: 12.3 % in code without debug information.`
pub(crate) fn not_on_a_line(parts: &[(Cost, &str)], whole: Cost) -> Option<String> {
    let shares = parts.iter().filter(|(cost, _)| !cost.is_zero());
    let said: Vec<String> =
        shares.map(|(cost, words)| format!("{} {words}", percent(cost.weight, whole.weight))).collect();
    (!said.is_empty()).then(|| format!("Not on any line: {}.", list(&said)))
}

fn unsampled(summary: &Summary<'_>) -> Option<String> {
    let kernel = "Kernel code could not be sampled: every total is user time only";
    match summary.cpu_time.filter(|_| summary.quantity.user_only) {
        Some(time) => {
            let share = percent(time.system_ns, time.user_ns.saturating_add(time.system_ns));
            let missing = duration_ns(time.system_ns);
            Some(format!("{kernel}, and {share} of the CPU time ({missing}) was not sampled."))
        }
        None => summary.quantity.user_only.then(|| format!("{kernel}.")),
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
    let notes: Vec<String> = lines.map(|line| cut_end(&terminal(line), NOTE_COLUMNS)).collect();
    (!notes.is_empty()).then(|| format!("Note: {}.", notes.join("; ")))
}

fn setting<'c>(recording: &Recording<'c>, name: &str) -> Option<&'c str> {
    recording.settings.iter().find(|(key, _)| *key == name).map(|(_, text)| *text)
}
