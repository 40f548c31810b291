//! The harness of the end-to-end tests: real programs, the real `microscope`, and answers known beforehand.
//!
//! [`Program`] compiles a target of `tests/programs`, [`Record`] records it with the binary under test, and
//! [`check`] compares what the capture says with what the target's head comment claims. [`perf`] is an
//! independent witness of the same targets. Not for unit tests: those live beside the code they test.

pub mod answer;
pub mod check;
pub mod describe;
pub mod folded;
pub mod fuzz;
pub mod levels;
pub mod microscope;
pub mod perf;
pub mod program;
pub mod replay;
pub mod report;
pub mod repository;
pub mod requirement;
#[path = "../simulator/mod.rs"]
pub mod simulator;
pub mod tolerance;

pub use answer::{Answer, Claim};
pub use folded::Folded;
pub use microscope::{Record, Recording};
pub use program::{Built, Program};
pub use tolerance::Share;
