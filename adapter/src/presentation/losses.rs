//! What was lost, how stacks ended and what has no name, each with what would help.

use microscope_analysis::views::{EndRow, FailureRow, LossRow, Losses, Tried};

use super::escape::terminal;
use super::names::{cut_end, width};
use super::numbers::{address, count, duration_ns, moment_ns, percent};
use super::page::Page;
use super::places::{self, path};
use super::prose::wrap;
use super::screen::Style;
use super::table::{Cell, Column, Fit, Table};
use super::words;

/// The three tables of `losses`.
#[must_use]
pub fn losses(losses: &Losses<'_>, page: &Page<'_>) -> String {
    page.headline("What the recording is worth", &losses.quantity, losses.whole)
        + &lost(losses, page)
        + &ended(losses, page)
        + &unnamed(losses, page)
}

fn lost(losses: &Losses<'_>, page: &Page<'_>) -> String {
    if losses.rows.is_empty() {
        return "Nothing was lost.\n".to_owned();
    }
    let rows = page.shown(&losses.rows);
    let mut table = Table::new(&[
        Column::number("lost"),
        Column::text("what", Fit::End),
        Column::text("when", Fit::Whole),
        Column::text("where", Fit::End),
    ]);
    for row in rows {
        table.push(vec![
            Cell::new(loss_amount(row.unit, row.count)).style(Style::Problem),
            Cell::new(words::loss(row.kind)),
            Cell::new(period(row.from_ns, row.until_ns)),
            Cell::new(loss_place(row)).style(Style::Faint),
        ]);
    }
    let mut text = table.render(&page.screen) + &page.left_out(rows.len(), losses.rows.len(), "losses");
    text += &details(rows, page);
    let mut remedies: Vec<_> = losses.rows.iter().filter_map(|row| words::loss_remedy(row.kind)).collect();
    remedies.sort_unstable();
    remedies.dedup();
    remedies.iter().for_each(|remedy| text += &help(remedy, page));
    text
}

/// What single losses say beyond their kind.
fn details(rows: &[LossRow<'_>], page: &Page<'_>) -> String {
    let mut said: Vec<&str> = rows.iter().map(|row| row.detail).filter(|detail| !detail.is_empty()).collect();
    said.sort_unstable();
    said.dedup();
    said.iter().map(|detail| cut_end(&terminal(detail), page.screen.columns) + "\n").collect()
}

fn ended(losses: &Losses<'_>, page: &Page<'_>) -> String {
    let rows = page.shown(&losses.ends);
    let mut table = Table::new(&[
        Column::number("samples"),
        Column::number("share"),
        Column::text("stacks that", Fit::End),
        Column::text("outermost module", Fit::Path),
    ]);
    for row in rows {
        table.push(vec![
            Cell::new(count(row.cost.samples)),
            Cell::new(percent(row.cost.samples, losses.whole.samples)),
            Cell::new(words::end_reason(row.reason)),
            Cell::new(module(row)).style(Style::Faint),
        ]);
    }
    let mut text = format!("\n{}", table.render(&page.screen));
    text += &page.left_out(rows.len(), losses.ends.len(), "ends");
    let mut remedies: Vec<_> = losses.ends.iter().filter_map(|row| row.remedy).collect();
    remedies.sort_unstable();
    remedies.dedup();
    remedies.iter().for_each(|remedy| text += &help(words::end_remedy(*remedy), page));
    text
}

fn module(row: &EndRow<'_>) -> String {
    row.module.map_or_else(|| "in no known module".to_owned(), |module| places::module(module).into_owned())
}

fn unnamed(losses: &Losses<'_>, page: &Page<'_>) -> String {
    if losses.failures.is_empty() {
        return String::new();
    }
    let files: Vec<&[FailureRow<'_>]> =
        losses.failures.chunk_by(|a, b| (a.module, a.identity) == (b.module, b.identity)).collect();
    let shown = page.shown(&files);
    let mut text = format!("\n{}\n", page.screen.paint("Without names", Style::Title));
    shown.iter().for_each(|ranges| text += &failure(ranges, page));
    text += &page.left_out(shown.len(), files.len(), "files");
    text + &help(
        "install the debug symbols of these files, such as their -dbgsym or -debuginfo packages",
        page,
    )
}

/// A file: which of its addresses have no names, and where names were looked for.
fn failure(ranges: &[FailureRow<'_>], page: &Page<'_>) -> String {
    let [row, more @ ..] = ranges else { return String::new() };
    let which = if more.is_empty() {
        format!("{}–{}", address(row.from_address), address(row.to_address))
    } else {
        format!("{} address ranges", count(ranges.len() as u64))
    };
    let identity = if row.identity.is_empty() {
        "without identity".to_owned()
    } else {
        format!("{} {}", row.identity_kind, terminal(row.identity))
    };
    let columns = page.screen.columns;
    let head = format!("{}: {which} ({identity})", path(row.module, page.directory));
    let mut text = cut_end(&head, columns) + "\n";
    let tried: Vec<&Tried<'_>> = ranges.iter().flat_map(|row| &row.tried).collect();
    for (reason, files) in by_reason(&tried) {
        let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
        let why = format!("{more}: {}", terminal(reason));
        let room = columns.saturating_sub(width("  tried ") + width(&why)).max(columns / 3);
        let line = format!("  tried {}{why}", cut_end(&path(files[0], page.directory), room));
        text += &(page.screen.paint(&cut_end(&line, columns), Style::Faint) + "\n");
    }
    text
}

/// The files that were refused for each reason, each once, as they come.
fn by_reason<'a>(tried: &[&Tried<'a>]) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for Tried { file, reason } in tried {
        let at = groups.iter().position(|(told, _)| told == reason).unwrap_or_else(|| {
            groups.push((reason, Vec::new()));
            groups.len() - 1
        });
        if !groups[at].1.contains(file) {
            groups[at].1.push(file);
        }
    }
    groups
}

fn help(remedy: &str, page: &Page<'_>) -> String {
    let wrapped = wrap(remedy, page.screen.columns.saturating_sub(2));
    let lines =
        wrapped.lines().enumerate().map(|(at, line)| format!("{} {line}", if at == 0 { '→' } else { ' ' }));
    lines.map(|line| page.screen.paint(&line, Style::Warm) + "\n").collect()
}

/// `1.98 s`, `1,234`, `unknown`.
pub(crate) fn loss_amount(unit: &str, number: u64) -> String {
    match (number, unit) {
        // A loss is noted because there was one: only its size can be unknown.
        (0, _) => "unknown".to_owned(),
        (number, "ns") => duration_ns(number),
        (number, _) => count(number),
    }
}

/// `at 1.20 s`, `1.20 s – 1.40 s`.
pub(crate) fn period(from_ns: u64, until_ns: u64) -> String {
    let moment = |ns| moment_ns(ns, 10_000_000);
    let (from, until) = (moment(from_ns), moment(until_ns));
    if from == until { format!("at {from}") } else { format!("{from} – {until}") }
}

fn loss_place(row: &LossRow<'_>) -> String {
    let parts = [
        row.cpu.map(|cpu| format!("CPU {cpu}")),
        row.pid.map(|pid| format!("process {pid}")),
        row.tid.map(|tid| format!("thread {tid}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
