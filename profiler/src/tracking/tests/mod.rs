//! Claims about processes, threads, mappings and modules, as records in and tables out.
#![allow(clippy::unwrap_used, reason = "tests")]

mod properties;
mod readings;
mod spaces;
mod tasks;
mod world;

use super::*;
use world::{OPTIONS, Run, check, check_mappings};
