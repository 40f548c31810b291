//! Limits of this process that a recorder raises for itself and must not hand on.

use std::sync::OnceLock;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

static BEFORE_RAISE: OnceLock<(u64, u64)> = OnceLock::new();

/// Lets this process open as many descriptors as its hard limit allows.
pub fn raise_descriptor_limit() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() {
        let _ = BEFORE_RAISE.set((soft, hard));
    }
}

/// The limit that started programs should find, if it was raised.
pub(super) fn descriptor_limit_before_raise() -> Option<libc::rlimit> {
    BEFORE_RAISE.get().map(|(soft, hard)| libc::rlimit { rlim_cur: *soft, rlim_max: *hard })
}
