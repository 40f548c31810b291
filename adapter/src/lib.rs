//! The `microscope` command.
//!
//! `cli` parses what a person asked for, `service` opens captures and answers questions about them, and
//! `presentation` turns the answers into text. `demo` is the sample program that `microscope demo` records.
#![forbid(unsafe_code)]

pub mod cli;
pub mod demo;
pub mod presentation;
pub mod service;
