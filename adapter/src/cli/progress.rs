//! What long work says of itself on stderr: one line that changes on a terminal, rare plain lines elsewhere.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
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
            output::note(&format!("microscope: {}", state()));
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

/// Says what goes on, again and again until dropped, while the work itself has no moment to say it.
///
/// Its thread owns the line of progress, waits for time to pass, and ends when the channel is closed.
#[derive(Debug)]
pub struct Ticker {
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    /// Says `state` of the time that has passed. Without a thread nothing is said.
    #[must_use]
    pub fn start(state: impl Fn(Duration) -> String + Send + 'static) -> Self {
        const PAUSE: Duration = Duration::from_millis(200);
        let (running, ended) = channel::<()>();
        let tick = move || {
            let (start, mut progress) = (Instant::now(), Progress::start());
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                progress.update(|| state(start.elapsed()));
            }
        };
        let thread = std::thread::Builder::new().name("progress".to_owned()).spawn(tick).ok();
        Self { running: Some(running), thread }
    }

    /// Says `what` is done, and for how long already.
    #[must_use]
    pub fn work(what: String) -> Self {
        Self::start(move |elapsed| format!("{what} … {} s", elapsed.as_secs()))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.running.take());
        if let Some(thread) = self.thread.take() {
            // A line of progress that failed is not a problem of the work.
            let _ = thread.join();
        }
    }
}

fn overwrite(text: &str) {
    let mut stderr = io::stderr().lock();
    // Progress that cannot be shown is not a problem of the work.
    let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
}
