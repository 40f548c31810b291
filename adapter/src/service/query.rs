//! One typed question about a capture and its answer: what the command line asks today and other front ends
//! will ask alike.

use microscope_analysis::views::{self, Flat, Lines, Losses, Summary, Threads, Timeline, Tree};
use microscope_analysis::views::{TreeOptions, TreeOrder};
use microscope_analysis::{Granularity, Query, QueryError};
use microscope_capture::Capture;
use serde::Serialize;

/// The version of the JSON that answers serialize as; see `docs/json.md`.
pub const SCHEMA: u32 = 1;

/// Lines and functions on the one page of a summary.
const SUMMARY_ROWS: usize = 10;

/// Which question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The whole on one page.
    Summary,
    /// Calls as a tree.
    Tree {
        /// From what ran outward, instead of from the top.
        inverted: bool,
        /// Nodes below this share, in millionths, are only counted.
        min_ppm: u32,
    },
    /// Costs by key.
    Flat,
    /// Costs by source line.
    Lines,
    /// Costs by thread.
    Threads,
    /// Density over time by thread.
    Timeline {
        /// Parts that the time is cut into.
        buckets: u32,
    },
    /// What is missing.
    Losses,
}

/// An answer. It serializes as the documented JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer<'c> {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The rows.
    #[serde(flatten)]
    pub rows: Rows<'c>,
}

/// The rows of an answer, by view.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "view", rename_all = "kebab-case")]
pub enum Rows<'c> {
    /// The whole on one page.
    Summary(Box<Overview<'c>>),
    /// Calls as a tree.
    Tree(Tree<'c>),
    /// Costs by key.
    Flat(Flat<'c>),
    /// Costs by source line.
    Lines(Lines<'c>),
    /// Costs by thread.
    Threads(Threads<'c>),
    /// Density over time by thread.
    Timeline(Timeline<'c>),
    /// What is missing.
    Losses(Losses<'c>),
}

/// A summary and what stands beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview<'c> {
    /// The summary.
    #[serde(flatten)]
    pub summary: Summary<'c>,
    /// The hottest functions.
    pub functions: Vec<views::FlatRow<'c>>,
    /// What was lost.
    pub losses: Vec<views::LossRow<'c>>,
}

/// Answers `view` of `capture`, with at most `limit` rows.
pub fn answer<'c>(
    capture: &'c Capture,
    view: View,
    query: &Query,
    limit: Option<usize>,
) -> Result<Answer<'c>, QueryError> {
    let mut rows = rows(capture, view, query)?;
    if let Some(limit) = limit {
        rows.truncate(limit);
    }
    Ok(Answer { schema: SCHEMA, rows })
}

fn rows<'c>(capture: &'c Capture, view: View, query: &Query) -> Result<Rows<'c>, QueryError> {
    Ok(match view {
        View::Summary => Rows::Summary(Box::new(overview(capture, query)?)),
        View::Tree { inverted, min_ppm } => {
            let order = if inverted { TreeOrder::Inverted } else { TreeOrder::TopDown };
            Rows::Tree(views::tree(capture, query, &TreeOptions { order, min_ppm, depth_max: None })?)
        }
        View::Flat => Rows::Flat(views::flat(capture, query)?),
        View::Lines => Rows::Lines(views::lines(capture, query)?),
        View::Threads => Rows::Threads(views::threads(capture, query)?),
        View::Timeline { buckets } => Rows::Timeline(views::timeline(capture, query, buckets)?),
        View::Losses => Rows::Losses(views::losses(capture, query)?),
    })
}

/// The one page, whatever granularity the query names.
pub fn overview<'c>(capture: &'c Capture, query: &Query) -> Result<Overview<'c>, QueryError> {
    let mut functions = views::flat(capture, &Query { by: Granularity::Function, ..query.clone() })?.rows;
    functions.truncate(SUMMARY_ROWS);
    Ok(Overview {
        summary: views::summary(capture, query, SUMMARY_ROWS)?,
        functions,
        losses: views::losses(capture, query)?.rows,
    })
}

impl Rows<'_> {
    fn truncate(&mut self, limit: usize) {
        match self {
            Self::Summary(page) => page.summary.lines.truncate(limit),
            Self::Tree(tree) => tree.rows.truncate(limit),
            Self::Flat(flat) => flat.rows.truncate(limit),
            Self::Lines(lines) => lines.rows.truncate(limit),
            Self::Threads(threads) => threads.rows.truncate(limit),
            Self::Timeline(timeline) => timeline.lanes.truncate(limit),
            Self::Losses(losses) => losses.rows.truncate(limit),
        }
    }
}
