//! The only place where numbers become text: digits, units, words, escapes, tables, trees.
//!
//! Views take results of `microscope_analysis` and a [`Screen`] and return the finished text. They read no
//! file and compute no cost.

pub mod blocks;
pub mod escape;
pub mod names;
pub mod numbers;
mod screen;
pub mod table;
pub mod words;

pub use screen::{Screen, Style};
