//! The end-to-end suites: each records real programs with the real `microscope`, or reads the repository itself.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod repository;
