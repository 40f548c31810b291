//! Signals of the person who records, turned into one question: should the recording end now?

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// Whose Ctrl-C is it?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The launched program's, which gets it from the terminal itself: only a second one ends the recording.
    Program,
    /// The recording's: it attached to a program that is in another terminal.
    Recording,
}

/// Listens until dropped.
///
/// Its thread owns the stream of signals, waits for one, sets the flag, and ends when the stream is closed.
#[derive(Debug)]
pub struct StopSignals {
    stop: Arc<AtomicBool>,
    stream: Handle,
    thread: Option<JoinHandle<()>>,
}

impl StopSignals {
    /// Listens from now on.
    pub fn listen(owner: Owner) -> io::Result<Self> {
        let ignored = ignored_mask(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
        let heard = [SIGINT, SIGQUIT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_in(*signal, ignored));
        let mut signals = Signals::new(heard)?;
        let stream = signals.handle();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut rule = Rule { owner, interrupts: 0 };
            for signal in signals.forever() {
                if rule.ends(signal) {
                    flag.store(true, Ordering::Relaxed);
                }
            }
        })?;
        Ok(Self { stop, stream, thread: Some(thread) })
    }

    /// Becomes true when the recording is to end.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }
}

impl Drop for StopSignals {
    fn drop(&mut self) {
        self.stream.close();
        if let Some(thread) = self.thread.take() {
            // A listener that panicked has nothing left to tell.
            let _ = thread.join();
        }
    }
}

/// The signals this process was started to ignore (nohup, background jobs), as the kernel shows them. They stay
/// ignored: a handler would make the launched program hear them.
fn ignored_mask(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn is_in(signal: i32, mask: u64) -> bool {
    u32::try_from(signal - 1).is_ok_and(|bit| mask.checked_shr(bit).is_some_and(|rest| rest & 1 == 1))
}

struct Rule {
    owner: Owner,
    interrupts: u32,
}

impl Rule {
    fn ends(&mut self, signal: i32) -> bool {
        match (signal, self.owner) {
            (SIGINT | SIGQUIT, Owner::Program) => {
                self.interrupts = self.interrupts.saturating_add(1);
                self.interrupts >= 2
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(owner: Owner, signals: &[i32], expected: &[bool]) {
        let mut rule = Rule { owner, interrupts: 0 };
        let ends: Vec<bool> = signals.iter().map(|signal| rule.ends(*signal)).collect();
        assert_eq!(ends, expected);
    }

    #[test]
    fn the_first_interrupt_belongs_to_the_program() {
        check(Owner::Program, &[SIGINT, SIGINT], &[false, true]);
    }

    #[test]
    fn an_interrupt_ends_an_attached_recording() {
        check(Owner::Recording, &[SIGINT], &[true]);
    }

    #[test]
    fn signals_ignored_from_the_start_are_told_from_status() {
        let mask = ignored_mask("Name:\tsh\nSigIgn:\t0000000000000001\n");
        assert!(is_in(SIGHUP, mask));
        assert!(!is_in(SIGINT, mask));
    }

    #[test]
    fn termination_ends_any_recording() {
        check(Owner::Program, &[SIGTERM], &[true]);
        check(Owner::Recording, &[SIGTERM], &[true]);
    }
}
