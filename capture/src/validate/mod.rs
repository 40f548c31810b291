//! From [`Tables`] to [`Capture`]: every count, index, range and cross-reference is checked here, once.
//!
//! [`structure`] proves that ids can be followed; the other modules then check one rule in one function.
//! Everything is linear in the rows; only dictionaries whose rows do not ascend are hashed.

mod activity;
mod code;
mod invalid;
mod labels;
mod processes;
mod quality;
mod samples;
mod stacks;
mod structure;
mod unique;

pub use invalid::{Invalid, Rule};
pub use structure::ROWS_MAX;
pub(crate) use structure::check as check_structure;

use crate::{Capture, Tables};

/// The longest source text a capture carries.
pub const SOURCE_TEXT_BYTES_MAX: usize = 4 << 20;

impl Capture {
    /// Checks every rule and makes the rows a capture. The error names the first rule that is broken.
    pub fn validate(tables: Tables) -> Result<Self, Invalid> {
        structure::check(&tables)?;
        for check in CHECKS {
            check(&tables)?;
        }
        Ok(Self(tables))
    }

    /// The rows, to make another capture of them.
    #[must_use]
    pub fn into_tables(self) -> Tables {
        self.0
    }
}

type Check = fn(&Tables) -> Result<(), Invalid>;

/// One entry per rule, in the order of the tables.
const CHECKS: &[Check] = &[
    unique::strings,
    unique::dictionaries,
    code::hashes_fit_their_kind,
    code::identities_fit_their_kind,
    code::one_text_per_file,
    code::texts_are_bounded,
    processes::exec_keeps_the_pid,
    processes::processes_end_after_they_start,
    processes::threads_end_after_they_start,
    processes::mappings_hold_addresses,
    processes::mappings_end_after_they_begin,
    stacks::named_frames_have_no_module,
    stacks::facts_are_dense,
    samples::samples_ascend,
    samples::weights_fit,
    activity::intervals_run_forward,
    activity::syscalls_run_forward,
    activity::tasks_run_forward,
    activity::claims_ascend,
    labels::spans_run_forward,
    labels::edges_fit_their_site,
    labels::probe_records_ascend,
    labels::marks_name_threads_of_their_process,
    labels::settings_have_names,
    labels::settings_are_unique,
    quality::duty_is_a_share,
    quality::losses_run_forward,
    quality::losses_name_threads_of_their_process,
    quality::failures_run_forward,
];

#[cfg(test)]
mod tests;
