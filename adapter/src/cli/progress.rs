//! What long work says of itself on stderr: one line that changes on a terminal, rare plain lines elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use super::output;

/// Progress of one piece of work. The line on the terminal goes away with it.
#[derive(Debug)]
pub struct Progress {
    terminal: bool,
    last: Instant,
    shown: bool,
}

impl Progress {
    /// Work begins. Nothing is said of work that is done soon.
    #[must_use]
    pub fn start() -> Self {
        Self { terminal: io::stderr().is_terminal(), last: Instant::now(), shown: false }
    }

    /// Says `state`, unless something was said a moment ago.
    pub fn update(&mut self, state: impl FnOnce() -> String) {
        let pause = Duration::from_millis(if self.terminal { 100 } else { 5_000 });
        if self.last.elapsed() < pause {
            return;
        }
        self.last = Instant::now();
        if self.terminal {
            self.shown = true;
            overwrite(&state());
        } else {
            output::note(&state());
        }
    }

    /// Says `text` for good.
    pub fn note(&mut self, text: &str) {
        self.clear();
        output::note(text);
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            overwrite("");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn overwrite(text: &str) {
    let mut stderr = io::stderr().lock();
    // Progress that cannot be shown is not a problem of the work.
    let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
}
