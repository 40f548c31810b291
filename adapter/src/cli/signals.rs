//! Signals of the person who records, turned into one request: end the recording now.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::{Handle, Signals};

/// Whose Ctrl-C is it?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The launched program's, which gets it from the terminal itself: only a second one ends the recording.
    Program,
    /// The recording's: it attached to a program that is in another terminal.
    Recording,
}

/// That a recording is to end: asked for at most once, heard whenever it is listened to.
#[derive(Clone, Default)]
pub struct StopRequest(Arc<Mutex<State>>);

#[derive(Default)]
enum State {
    /// Nobody asked, nobody listens.
    #[default]
    Quiet,
    /// Somebody listens.
    Waiting(Box<dyn FnOnce() + Send>),
    /// It was asked for.
    Asked,
}

impl StopRequest {
    /// Runs `action` when the end is asked for; at once when it was already. Replaces an earlier action.
    pub fn when_asked(&self, action: impl FnOnce() + Send + 'static) {
        let mut state = self.state();
        if matches!(*state, State::Asked) {
            drop(state);
            action();
        } else {
            *state = State::Waiting(Box::new(action));
        }
    }

    /// Asks for the end.
    pub fn ask(&self) {
        let before = std::mem::replace(&mut *self.state(), State::Asked);
        if let State::Waiting(action) = before {
            action();
        }
    }

    /// A panic of an action leaves the state as it was set before: there is nothing to repair.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StopRequest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("StopRequest").finish_non_exhaustive()
    }
}

/// Listens until dropped.
///
/// Its thread owns the stream of signals, waits for one, asks for the end, and ends when the stream is closed.
#[derive(Debug)]
pub struct StopSignals {
    request: StopRequest,
    stream: Handle,
    thread: Option<JoinHandle<()>>,
}

impl StopSignals {
    /// Listens from now on.
    pub fn listen(owner: Owner) -> io::Result<Self> {
        let ignored = ignored_mask(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
        let heard = [SIGINT, SIGQUIT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_in(*signal, ignored));
        let mut signals = Signals::new(heard)?;
        if !is_in(SIGXFSZ, ignored) {
            // Not a reason to die, but a write that fails and is told of. Ignoring would reach the program.
            signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        }
        let stream = signals.handle();
        let request = StopRequest::default();
        let asked = request.clone();
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut rule = Rule { owner, interrupts: 0 };
            for signal in signals.forever() {
                if rule.ends(signal) {
                    asked.ask();
                }
            }
        })?;
        Ok(Self { request, stream, thread: Some(thread) })
    }

    /// What the signals ask for.
    #[must_use]
    pub fn request(&self) -> StopRequest {
        self.request.clone()
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
    fn an_end_asked_for_early_is_not_missed() {
        let heard = Arc::new(Mutex::new(0));
        let action = || {
            let heard = Arc::clone(&heard);
            move || *heard.lock().unwrap_or_else(PoisonError::into_inner) += 1
        };
        let (early, late) = (StopRequest::default(), StopRequest::default());
        early.ask();
        early.when_asked(action());
        late.when_asked(action());
        late.ask();
        late.ask();
        assert_eq!(*heard.lock().unwrap_or_else(PoisonError::into_inner), 2);
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
