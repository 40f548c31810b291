//! Names of modules that have none, and why.

use crate::debug_info::{Failure, NameSource, NamedAddress, Tried};
use crate::tracking::NoImage;

/// A module without an image: no address of it has a name.
pub(super) struct Unnamable {
    tried: Tried,
}

impl Unnamable {
    pub(super) fn new(path: &str, reason: &NoImage) -> Self {
        Self { tried: Tried { path: path.to_owned(), refused: Some(reason.to_string()) } }
    }
}

impl NameSource for Unnamable {
    fn name(&self, _relative_address: u64, _is_caller: bool) -> NamedAddress {
        NamedAddress::unnamed()
    }

    /// The whole module: one row says it all.
    fn failure(&self, _relative_address: u64) -> Failure {
        Failure { range: 0..u64::MAX, tried: vec![self.tried.clone()] }
    }
}
