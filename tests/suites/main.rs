//! The end-to-end suites: each records real programs with the real `microscope`, or reads the repository itself.
//!
//! Tests of names that begin with `record` measure; `.config/nextest.toml` runs those one at a time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may panic")]

mod commands;
mod corpus;
mod goldens;
mod programs;
mod record_lifecycle;
mod record_limits;
mod record_oracle;
mod record_processes;
mod record_programs;
mod repository;
mod simulated;
