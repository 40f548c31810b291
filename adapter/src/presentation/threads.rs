//! Threads and processes by cost.

use microscope_analysis::Cost;
use microscope_analysis::views::{ProcessRow, ThreadRow, Threads};

use super::escape::terminal;
use super::numbers::duration_ns;
use super::page::{Page, amount, bar_cell, share_cell};
use super::screen::Style;
use super::table::{Cell, Column, Fit, Table};

/// The table of `threads`.
#[must_use]
pub fn threads(threads: &Threads<'_>, page: &Page<'_>) -> String {
    // Rows come by cost, so those that were never seen running are the last; a program that becomes another one
    // has such a row for each name it had.
    let seen = threads.rows.iter().take_while(|row| row.cost.samples > 0).count();
    let rows = if page.limit == 0 { &threads.rows } else { page.shown(&threads.rows[..seen]) };
    page.headline("Threads by cost", &threads.quantity, threads.whole)
        + &thread_table(rows, threads.quantity.unit, threads.whole, page)
        + &page.left_out(rows.len(), seen, "threads")
        + &page.left_out(rows.len().max(seen), threads.rows.len(), "without samples")
}

/// The table of single threads, without headline.
pub(crate) fn thread_table(rows: &[ThreadRow<'_>], unit: &str, whole: Cost, page: &Page<'_>) -> String {
    let mut table = Table::new(&[
        Column::number("share"),
        Column::text("", Fit::Whole),
        Column::number("sampled"),
        Column::number("user"),
        Column::number("kernel"),
        Column::text("thread", Fit::End),
        Column::text("process", Fit::End),
    ]);
    for row in rows {
        table.push(vec![
            share_cell(row.cost.weight, whole.weight),
            bar_cell(row.cost.weight, whole.weight),
            Cell::new(amount(unit, row.cost.weight)),
            time_cell(row.user_time_ns),
            time_cell(row.system_time_ns),
            Cell::new(named(row.name, row.tid)),
            Cell::new(named(row.process, row.pid)).style(Style::Faint),
        ]);
    }
    table.render(&page.screen)
}

/// The table of processes, without headline.
pub(crate) fn process_table(rows: &[ProcessRow<'_>], unit: &str, whole: Cost, page: &Page<'_>) -> String {
    let mut table = Table::new(&[
        Column::number("share"),
        Column::text("", Fit::Whole),
        Column::number("sampled"),
        Column::text("process", Fit::End),
        Column::text("executable", Fit::Path),
    ]);
    for row in rows {
        table.push(vec![
            share_cell(row.cost.weight, whole.weight),
            bar_cell(row.cost.weight, whole.weight),
            Cell::new(amount(unit, row.cost.weight)),
            Cell::new(named(row.name, row.pid)),
            Cell::new(super::places::path(row.executable, page.directory)).style(Style::Faint),
        ]);
    }
    table.render(&page.screen)
}

/// `worker (4711)`; names of imported profiles may have no number.
pub(crate) fn named(name: &str, id: u32) -> String {
    if id == 0 { terminal(name).into_owned() } else { format!("{} ({id})", terminal(name)) }
}

fn time_cell(ns: Option<u64>) -> Cell {
    Cell::new(ns.map_or_else(String::new, duration_ns)).style(Style::Faint)
}
