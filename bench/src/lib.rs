//! Measures recorders from outside: CPU of all their processes and threads, what they made of a target, what they
//! lost. [`Recorder`] runs one recording, [`rounds`] interleaves many, [`statistics`] says what to believe of them.
//! Benches of single steps (unwinder, opening captures, queries) live in their crates.

pub mod options;
pub mod recorder;
pub mod rounds;
pub mod statistics;
pub mod usage;

pub use options::Options;
pub use recorder::{Facts, Recorder};
