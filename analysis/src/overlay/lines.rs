//! Costs on the lines of the overlaid file: mine, self and total in one walk of the stack tree.

use std::collections::BTreeMap;

use microscope_capture::{StringId, Tables};

use super::{Confidence, Lines, OverlayRequest};
use crate::ask::Question;
use crate::facts::{FactIndex, LineFact, line_of};
use crate::weights::Cost;

/// What a level of a frame is to the overlaid file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Code that is not the user's own.
    Outside,
    /// The user's own, but no line of this file.
    Workspace,
    /// A line of this file, by its place among them; whether the file is the user's own.
    Here(u32, bool),
}

#[derive(Debug, Clone, Copy, Default)]
struct LineCost {
    mine: Cost,
    own: Cost,
    total: Cost,
    /// Where the subtree of its last outermost occurrence ends.
    open_until: usize,
}

pub(super) fn lines(question: &Question<'_>, request: &OverlayRequest<'_>, confidence: &Confidence) -> Lines {
    let (levels, numbers) = levels(question.tables, request);
    let costs = costs(question, &levels, numbers.len());
    let mut columns =
        Lines { measure: super::measure_id(question.tables, question.measure), ..Lines::default() };
    for (line, cost) in numbers.into_iter().zip(costs) {
        if !cost.total.is_zero() {
            push(&mut columns, line, cost, question.whole(), confidence);
        }
    }
    columns
}

#[allow(clippy::cast_precision_loss, reason = "a share")]
fn push(columns: &mut Lines, line: u32, cost: LineCost, whole: Cost, confidence: &Confidence) {
    let share = if whole.weight == 0 { 0.0 } else { cost.mine.weight as f64 / whole.weight as f64 };
    let (low, high) = confidence.bounds(share);
    columns.line.push(line);
    columns.mine.push(cost.mine.weight);
    columns.own.push(cost.own.weight);
    columns.total.push(cost.total.weight);
    columns.samples.push(cost.mine.samples);
    columns.low.push(low);
    columns.high.push(high);
    columns.label.push(String::new());
}

/// By fact row: its level; and the lines of the file, ascending.
fn levels(tables: &Tables, request: &OverlayRequest<'_>) -> (Vec<Level>, Vec<u32>) {
    let path = |file: &StringId| tables.strings.get(*file);
    let workspace: Vec<bool> =
        tables.files.path.iter().map(|file| (request.is_workspace)(path(file))).collect();
    let here = |row: u32| match line_of(tables, row) {
        LineFact::Line(file, line) if request.files.contains(&file) => Some((file, line)),
        _ => None,
    };
    let rows = (0_u32..).take(tables.facts.len());
    let mut places: BTreeMap<u32, u32> = rows.clone().filter_map(here).map(|(_, line)| (line, 0)).collect();
    (0..).zip(places.values_mut()).for_each(|(at, place)| *place = at);
    let level = |row: u32| {
        let own = tables.facts.file[row as usize].is_some_and(|file| workspace[file.index()]);
        match here(row) {
            Some((_, line)) => Level::Here(places[&line], own),
            None if own => Level::Workspace,
            None => Level::Outside,
        }
    };
    (rows.map(level).collect(), places.keys().copied().collect())
}

fn costs(question: &Question<'_>, levels: &[Level], lines: usize) -> Vec<LineCost> {
    let Question { tables, paths, .. } = question;
    let facts = FactIndex::new(tables);
    let mut costs = vec![LineCost::default(); lines];
    // Open positions: where their subtree ends, and the innermost workspace level of their path.
    let mut open: Vec<(usize, Level)> = Vec::new();
    for at in 0..paths.len() {
        while open.last().is_some_and(|(end, _)| *end <= at) {
            open.pop();
        }
        let frame = || facts.rows(paths.frame(at)).iter().map(|row| levels[*row as usize]);
        let outer = open.last().map_or(Level::Outside, |(_, mine)| *mine);
        let mine = frame().find(|level| level.is_mine()).unwrap_or(outer);
        let end = paths.end(at);
        open.push((end, mine));
        if let Level::Here(line, _) = mine {
            costs[line as usize].mine += paths.own(at);
        }
        if let Some(Level::Here(line, _)) = frame().next() {
            costs[line as usize].own += paths.own(at);
        }
        for level in frame() {
            if let Level::Here(line, _) = level {
                costs[line as usize].pass(at, end, paths.total(at));
            }
        }
    }
    costs
}

impl Level {
    fn is_mine(self) -> bool {
        matches!(self, Self::Workspace | Self::Here(_, true))
    }
}

impl LineCost {
    /// Adds what passes through the subtree `at..end`, unless an open one was added.
    fn pass(&mut self, at: usize, end: usize, total: Cost) {
        if self.open_until <= at {
            self.open_until = end;
            self.total += total;
        }
    }
}
