//! When each thread ran: a lane of densities per thread under an axis of time.

use microscope_analysis::views::{Lane, Timeline};

use super::blocks::height;
use super::names::width;
use super::numbers::moment_ns;
use super::page::{Page, share_cell};
use super::screen::{Screen, Style};
use super::table::{Cell, Column, Fit, Table};
use super::threads::named;

/// Columns that are not lanes: a thread's name, its share, and gaps.
const BESIDE: usize = 32;

/// How many buckets fit the screen.
#[must_use]
pub fn buckets(screen: &Screen) -> u32 {
    u32::try_from(screen.columns.saturating_sub(BESIDE).clamp(8, 400)).unwrap_or(8)
}

/// The lanes of `timeline`.
#[must_use]
pub fn timeline(timeline: &Timeline<'_>, page: &Page<'_>) -> String {
    let headline = page.headline("Time on processors", &timeline.quantity, timeline.whole);
    if timeline.bucket_ns == 1 {
        return headline + "This profile does not say when its samples were taken.\n";
    }
    let mut table =
        Table::new(&[Column::text("", Fit::End), Column::text("", Fit::Whole), Column::number("")]);
    let lanes = page.shown(&timeline.lanes);
    table.push(vec![Cell::default(), Cell::new(axis(timeline)).style(Style::Faint), Cell::new("share")]);
    let full = full_height(timeline);
    for lane in lanes {
        table.push(vec![
            Cell::new(named(lane.thread.name, lane.thread.tid)),
            Cell::new(density(lane, full)).style(Style::Warm),
            share_cell(lane.thread.cost.weight, timeline.whole.weight),
        ]);
    }
    headline
        + &table.render(&page.screen)
        + &page.left_out(lanes.len(), timeline.lanes.len(), "threads")
        + &format!("\n{}\n", page.screen.paint(&legend(timeline), Style::Faint))
}

/// What a full column stands for: one processor all the time, or the highest bucket where that has no meaning.
fn full_height(timeline: &Timeline<'_>) -> u64 {
    if timeline.quantity.unit == "ns" {
        return timeline.bucket_ns;
    }
    timeline.lanes.iter().flat_map(|lane| &lane.weights).copied().max().unwrap_or(0)
}

fn legend(timeline: &Timeline<'_>) -> String {
    let bucket = super::numbers::duration_ns(timeline.bucket_ns);
    match timeline.quantity.unit {
        "ns" => format!("One column is {bucket}; █ is one processor all that time."),
        _ => format!("One column is {bucket}; █ is the most of any."),
    }
}

fn density(lane: &Lane<'_>, full: u64) -> String {
    lane.weights.iter().map(|weight| height(*weight, full)).collect()
}

/// Moments above the lanes, at round times that are far enough apart.
fn axis(timeline: &Timeline<'_>) -> String {
    let columns = timeline.lanes.first().map_or(0, |lane| lane.weights.len()) as u64;
    let step = round_step(timeline.bucket_ns.saturating_mul(12));
    let mut axis = String::new();
    let mut moment = timeline.from_ns.div_ceil(step).saturating_mul(step);
    loop {
        let column = moment.saturating_sub(timeline.from_ns) / timeline.bucket_ns.max(1);
        let label = moment_ns(moment, step);
        let used = width(&axis) as u64;
        if column + width(&label) as u64 > columns || used > column {
            return axis;
        }
        axis.push_str(&" ".repeat(usize::try_from(column - used).unwrap_or(0)));
        axis.push_str(&label);
        moment = moment.saturating_add(step);
    }
}

/// The least of 1, 2, 5, 10, 20, 50 … that is not below `ns`.
fn round_step(ns: u64) -> u64 {
    let mut unit = 1_u64;
    loop {
        for step in [unit, unit.saturating_mul(2), unit.saturating_mul(5)] {
            if step >= ns {
                return step;
            }
        }
        unit = unit.saturating_mul(10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_axis_are_round() {
        assert_eq!([1, 3, 6, 11, 501].map(round_step), [1, 5, 10, 20, 1000]);
        assert_eq!(round_step(u64::MAX), u64::MAX);
    }

    #[test]
    fn lanes_fit_any_screen() {
        assert_eq!(buckets(&Screen::PLAIN), 48);
        assert_eq!(buckets(&Screen { columns: 1, color: false }), 8);
    }
}
