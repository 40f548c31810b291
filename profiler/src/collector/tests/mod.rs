//! Claims about the collector, on a scripted kernel.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod arming;
mod draining;
mod planning;

use super::start::{Armed, attach_on};
use super::{EventRole, StartError};
use crate::options::{RecordOptions, RecordRequest};
use crate::sys::perf::scripted::{Opened, Script};

/// Arms a recording of this process, whatever threads the script gives it.
fn attach_with(script: &Script, request: &RecordRequest) -> Result<Armed, StartError> {
    attach_on(script.boxed(), &[std::process::id()], &RecordOptions::check(request).unwrap())
}

fn attach_to(script: &Script) -> Result<Armed, StartError> {
    attach_with(script, &RecordRequest::default())
}

fn role(opened: &Opened) -> EventRole {
    if opened.attributes.side_band { EventRole::SideBand } else { EventRole::Sampler }
}
