//! What to start, and how.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::SignalState;

/// A program to start. By default it gets the recorder's environment, folder and standard streams.
#[derive(Debug)]
pub struct LaunchCommand {
    /// A path, or a name to look for in `PATH`.
    pub program: OsString,
    /// Its arguments, without its own name.
    pub arguments: Vec<OsString>,
    /// Its environment; absent is the recorder's.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Its working folder; absent is the recorder's.
    pub directory: Option<PathBuf>,
    /// Its standard input, output and error; absent are the recorder's.
    pub streams: [Option<OwnedFd>; 3],
    /// The signals it finds blocked and ignored.
    pub signals: SignalState,
}

impl LaunchCommand {
    /// Starts `program` as this process would have been allowed to at this moment: signals that the recorder
    /// blocks or ignores later are not handed on.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: None,
            directory: None,
            streams: [None, None, None],
            signals: SignalState::current(),
        }
    }

    /// Adds arguments.
    pub fn with_arguments<Argument: AsRef<OsStr>>(
        mut self,
        arguments: impl IntoIterator<Item = Argument>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }
}
