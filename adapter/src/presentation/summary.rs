//! A capture on one screen, and the end of a recording: the same hottest lines and the same paragraph.

use microscope_analysis::Granularity;
use microscope_analysis::views::{CpuTime, Summary};

use super::escape::terminal;
use super::flat::flat_table;
use super::numbers::duration_ns;
use super::page::{Page, whole_of};
use super::prose::{shell, wrap};
use super::screen::Style;
use super::worth::worth;
use super::{lines, threads};
use crate::service::query::Overview;

/// Processes and threads shown.
const ROWS: usize = 5;

/// The whole on one screen.
#[must_use]
pub fn summary(result: &Overview<'_>, page: &Page<'_>) -> String {
    let summary = &result.summary;
    let mut text = head(summary, page);
    if summary.processes.len() > 1 {
        text += &processes(summary, page);
    }
    if summary.threads.len() > 1 {
        text += &more_threads(summary, page);
    }
    text + &hottest(result, page) + &paragraph(result, page)
}

/// What a recording ends with. `capture` is the path that the command to run next names.
#[must_use]
pub fn closing(result: &Overview<'_>, capture: &str, page: &Page<'_>) -> String {
    let summary = &result.summary;
    let mut text = head(summary, page);
    if summary.processes.len() > 1 {
        text += &processes(summary, page);
    }
    text += &(hottest(result, page) + &paragraph(result, page));
    if summary.whole.samples == 0 {
        return text;
    }
    let next = format!("microscope report {} --view tree", shell(capture));
    text + &format!("\nNext: {}\n", page.screen.paint(&next, Style::Title))
}

fn head(summary: &Summary<'_>, page: &Page<'_>) -> String {
    let amount = whole_of(&summary.quantity, summary.whole.weight);
    // An imported profile may not say how long it took.
    let rest = match summary.recording.duration_ns {
        0 => String::new(),
        ns if amount.ends_with(&*terminal(summary.quantity.name)) => format!(" in {}", duration_ns(ns)),
        ns => format!(" in {} · {}", duration_ns(ns), terminal(summary.quantity.name)),
    };
    format!("{}{}\n\n", page.screen.paint(&amount, Style::Title), page.screen.paint(&rest, Style::Faint))
}

fn processes(summary: &Summary<'_>, page: &Page<'_>) -> String {
    let rows = &summary.processes[..summary.processes.len().min(ROWS)];
    threads::process_table(rows, summary.quantity.unit, summary.whole, page)
        + &more(summary.processes.len(), "processes", "threads", page)
        + "\n"
}

fn more_threads(summary: &Summary<'_>, page: &Page<'_>) -> String {
    let rows = &summary.threads[..summary.threads.len().min(ROWS)];
    threads::thread_table(rows, summary.quantity.unit, summary.whole, page)
        + &more(summary.threads.len(), "threads", "threads", page)
        + "\n"
}

fn more(all: usize, what: &str, view: &str, page: &Page<'_>) -> String {
    let Some(rest) = all.checked_sub(ROWS).filter(|rest| *rest > 0) else { return String::new() };
    let line = format!("… {rest} more {what}; --view {view} shows all");
    format!("{}\n", page.screen.paint(&line, Style::Faint))
}

/// The hottest lines; functions too where much of the cost has no line.
fn hottest(result: &Overview<'_>, page: &Page<'_>) -> String {
    let summary = &result.summary;
    if summary.whole.samples == 0 {
        return wrap(&nothing(summary), page.screen.columns);
    }
    let lineless: u64 =
        [summary.unlined, summary.no_debug, summary.no_stack].iter().map(|cost| cost.weight).sum();
    let lines = lines::line_table(&summary.lines, summary.whole, page);
    if lineless <= summary.whole.weight / 3 {
        return lines;
    }
    let functions = flat_table(&result.functions, summary.whole, Granularity::Function, page);
    // A table of tiny shares tells nothing.
    let is_barely_lined = lineless > summary.whole.weight / 10 * 9;
    if summary.lines.is_empty() || is_barely_lined { functions } else { format!("{functions}\n{lines}") }
}

/// Why there is nothing: said only as far as it is known.
fn nothing(summary: &Summary<'_>) -> String {
    let accounted = |time: CpuTime| time.user_ns.saturating_add(time.system_ns);
    match (summary.is_everything, summary.cpu_time.map(accounted)) {
        (false, _) => "Nothing was sampled in the threads and times asked for.".to_owned(),
        (true, Some(0)) => {
            "Nothing was sampled: the program used no CPU time while it was recorded.".to_owned()
        }
        (true, Some(used)) => format!(
            "Nothing was sampled, though the program used {} of CPU time while it was recorded.",
            duration_ns(used)
        ),
        (true, None) => "Nothing was sampled.".to_owned(),
    }
}

fn paragraph(result: &Overview<'_>, page: &Page<'_>) -> String {
    format!("\n{}", wrap(&worth(&result.summary, &result.losses), page.screen.columns))
}
