//! Questions to running totals: the same views as of a capture, but for those that need times.

use microscope_capture::Tables;

use super::Accumulator;
use crate::ask::Question;
use crate::select::Selection;
use crate::views::{self, Flat, Lines, Tree, TreeOptions};
use crate::weights::Weights;
use crate::{Granularity, Query, QueryError};

/// From which stop on totals count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Since {
    /// The recording's beginning.
    #[default]
    Start,
    /// The last stop of each thread's process.
    LastStop,
    /// The stop at this time.
    Stop {
        /// When it was.
        time_ns: u64,
    },
}

/// Totals that were chosen by a query.
#[derive(Clone, Copy)]
pub struct Costs<'a> {
    accumulator: &'a Accumulator,
    query: &'a Query,
    since: Since,
}

impl Accumulator {
    /// The totals that `query` asks for; settled ones only. They keep no times, so it cannot have a time range.
    pub fn costs<'a>(&'a self, query: &'a Query, since: Since) -> Result<Costs<'a>, QueryError> {
        if query.filter.from_ns.is_some() || query.filter.to_ns.is_some() {
            return Err(QueryError::NoTimes);
        }
        let costs = Costs { accumulator: self, query, since };
        costs.selection()?;
        Ok(costs)
    }
}

impl<'a> Costs<'a> {
    /// Costs by key.
    pub fn flat(&self) -> Result<Flat<'a>, QueryError> {
        Ok(views::flat_of(&self.question(self.query)?))
    }

    /// Costs by line.
    pub fn lines(&self) -> Result<Lines<'a>, QueryError> {
        let query = Query { by: Granularity::Line, ..self.query.clone() };
        Ok(views::lines_of(&self.question(&query)?))
    }

    /// The call tree.
    pub fn tree(&self, options: &TreeOptions) -> Result<Tree<'a>, QueryError> {
        Ok(views::tree_of(&self.question(self.query)?, options))
    }

    fn tables(&self) -> &'a Tables {
        self.accumulator.dictionary.tables()
    }

    fn selection(&self) -> Result<Selection, QueryError> {
        Selection::new(self.tables(), self.query)
    }

    fn question(&self, query: &Query) -> Result<Question<'a>, QueryError> {
        let selection = self.selection()?;
        let weights = self.weights(&selection);
        Ok(Question::of_weights(self.tables(), query, selection.measure, weights))
    }

    /// Sums do not depend on the order of the cells.
    fn weights(&self, selection: &Selection) -> Weights {
        let mut weights = Weights::empty(self.tables().stacks.len());
        for (cell, cost) in &self.accumulator.cells {
            if selection.takes(cell.thread, cell.measure) && cell.since_ns >= self.since_ns(cell.thread) {
                weights.add(cell.stack, *cost);
            }
        }
        weights.sum();
        weights
    }

    fn since_ns(&self, thread: microscope_capture::ThreadId) -> u64 {
        match self.since {
            Since::Start => 0,
            Since::LastStop => self.accumulator.stopped_before(thread, u64::MAX),
            Since::Stop { time_ns } => time_ns,
        }
    }
}
