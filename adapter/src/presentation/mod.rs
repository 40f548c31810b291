//! The only place where numbers become text: digits, units, words, escapes, tables, trees.
//!
//! Views take results of `microscope_analysis` and a [`Screen`] and return the finished text. They read no
//! file and compute no cost.

mod annotation;
pub mod blocks;
mod branches;
pub mod escape;
mod flat;
mod lines;
mod losses;
pub mod names;
pub mod numbers;
mod page;
pub mod places;
pub mod prose;
mod screen;
mod summary;
pub mod table;
mod threads;
mod timeline;
mod tree;
pub mod words;
mod worth;

pub use annotation::{annotation, fill_labels};
pub use flat::flat;
pub use lines::lines;
pub use losses::losses;
pub use page::{Page, amount, whole_of};
pub use screen::{Screen, Style};
pub use summary::{closing, summary};
pub use threads::threads;
pub use timeline::{buckets, timeline};
pub use tree::tree;

use microscope_analysis::Granularity;

use crate::service::query::{Answer, Rows};

/// Any answer as text. `by` is what it was asked for by.
#[must_use]
pub fn answer(answer: &Answer<'_>, by: Granularity, page: &Page<'_>) -> String {
    match &answer.rows {
        Rows::Summary(rows) => summary(rows, page),
        Rows::Tree(rows) => tree(rows, page),
        Rows::Flat(rows) => flat(rows, by, page),
        Rows::Lines(rows) => lines(rows, page),
        Rows::Threads(rows) => threads(rows, page),
        Rows::Timeline(rows) => timeline(rows, page),
        Rows::Losses(rows) => losses(rows, page),
    }
}
