//! Last step before tables: a sample's addresses → capture frames, its stack → a row, its facts → a sample row.

mod stacks;

pub use stacks::{ROWS_MAX, Stacks};
