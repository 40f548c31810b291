//! Which signals a program finds blocked and ignored.

use std::fs;

use nix::sys::signal::{SigSet, SigmaskHow, pthread_sigmask};

/// Signals that are blocked and ignored. Handlers need no mention: exec resets them.
#[derive(Clone, Copy, Debug)]
pub struct SignalState {
    pub(super) blocked: SigSet,
    /// Bit `n - 1` stands for signal `n`.
    ignored: u64,
}

impl SignalState {
    /// Those of the calling thread. Take it before the recorder arranges signals for itself. SIGPIPE counts as not
    /// ignored, since it is Rust's own start-up that ignores it.
    pub fn current() -> Self {
        let mut blocked = SigSet::empty();
        // Only a bad argument can fail, and there is none; the set then stays empty.
        let _ = pthread_sigmask(SigmaskHow::SIG_BLOCK, None, Some(&mut blocked));
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let pipe = 1 << (libc::SIGPIPE - 1);
        Self { blocked, ignored: ignored_in(&status).unwrap_or(0) & !pipe }
    }

    /// Whether the program finds a signal ignored.
    pub(super) fn ignores(&self, signal: libc::c_int) -> bool {
        self.ignored >> (signal - 1) & 1 == 1
    }
}

fn ignored_in(status: &str) -> Option<u64> {
    let hex = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(hex.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_bits() {
        let state = SignalState {
            blocked: SigSet::empty(),
            ignored: ignored_in("SigIgn:\t0000000000001001\n").unwrap_or(0),
        };
        assert!(state.ignores(libc::SIGHUP) && state.ignores(13) && !state.ignores(libc::SIGINT));
    }

    #[test]
    fn what_rust_ignores_is_not_handed_on() {
        assert!(!SignalState::current().ignores(libc::SIGPIPE));
    }
}
