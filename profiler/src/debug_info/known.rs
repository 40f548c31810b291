//! Physical functions named so far: demangling and choosing among symbols is done once for each, not per address.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxBuildHasher;

use super::FunctionName;
use super::dwarf::Die;

/// Functions that are kept; more are named anew.
const FUNCTIONS_MAX: usize = 1 << 18;

/// A function: its first address, and its entry in the debug information if it has one.
type Key = (u64, Option<Die>);

/// The functions, shared between the threads that look up.
#[derive(Default)]
pub(super) struct KnownFunctions(Mutex<HashMap<Key, Arc<FunctionName>, FxBuildHasher>>);

impl KnownFunctions {
    /// The function of `key`, made by `make` the first time.
    pub(super) fn of(&self, key: Key, make: impl FnOnce() -> FunctionName) -> Arc<FunctionName> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(known);
        }
        let made = Arc::new(make());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < FUNCTIONS_MAX {
            return Arc::clone(known.entry(key).or_insert(made));
        }
        made
    }
}
