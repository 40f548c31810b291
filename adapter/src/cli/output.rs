//! Where results and problems go: stdout, stderr, and how wide and colorful they are.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use crate::presentation::Screen;

/// Writes a whole result to stdout. A reader that went away is not an error.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Stdout, as a stream that goes on silently when its reader went away.
#[must_use]
pub fn stdout() -> impl Write {
    Forgiving(io::stdout().lock())
}

/// A stream to which a broken pipe is not an error: what follows goes nowhere.
struct Forgiving<W>(W);

impl<W: Write> Write for Forgiving<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        forgive(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        forgive(self.0.flush(), ())
    }
}

fn forgive<T>(result: io::Result<T>, instead: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(instead),
        result => result,
    }
}

/// Writes one line of progress or of a problem to stderr; there is nowhere to say that it failed.
pub fn note(text: &str) {
    say(&format!("{text}\n"));
}

/// Writes whole lines to stderr; there is nowhere to say that it failed.
pub fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Whether something is there that must not be replaced by a file: a device, a pipe, a folder.
#[must_use]
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|there| !there.is_file())
}

/// Refuses to put a capture in the place of something that is no file.
pub fn check_replaceable(path: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(!is_special(path), "{} is there and is not a regular file", path.display());
    Ok(())
}

/// What stdout is shown on.
#[must_use]
pub fn screen() -> Screen {
    screen_of(io::stdout().is_terminal())
}

/// What stderr is shown on.
#[must_use]
pub fn screen_of_stderr() -> Screen {
    screen_of(io::stderr().is_terminal())
}

fn screen_of(terminal: bool) -> Screen {
    Screen { columns: columns(terminal), color: terminal && colors_wanted() }
}

/// The directory that paths are shown relative to; empty when there is none.
#[must_use]
pub fn directory() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |path| path.to_string_lossy().into_owned())
}

/// The terminal's width; `COLUMNS` where there is none; else 80.
fn columns(terminal: bool) -> usize {
    let of_terminal = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let of_environment = || std::env::var("COLUMNS").ok()?.parse().ok();
    let found = if terminal { of_terminal() } else { of_environment() };
    found.unwrap_or(Screen::PLAIN.columns).clamp(40, 1000)
}

/// <https://no-color.org>: any non-empty value means no.
fn colors_wanted() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    !refused && !dumb
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_broken_pipe_is_not_an_error() {
        assert!(Forgiving(Closed).write_all(b"text").is_ok());
    }
}
