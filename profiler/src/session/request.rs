//! What a session is asked for.

use std::fmt;
use std::path::PathBuf;

use crate::options::RecordOptions;
use crate::sources::SourceRules;
use crate::sys::launch::LaunchCommand;

/// A recording to make.
pub struct SessionRequest {
    /// What to record.
    pub target: Target,
    /// How.
    pub options: RecordOptions,
    /// Where the capture goes.
    pub output: PathBuf,
    /// Which source texts it carries.
    pub sources: SourceRules,
    /// Where the raw log goes, when one is wanted. It holds stack bytes of the program.
    pub raw_log: Option<PathBuf>,
}

/// What to record.
pub enum Target {
    /// A program that is started for it.
    Launch(Box<LaunchCommand>),
    /// Processes that already run.
    Attach(Vec<u32>),
}

impl SessionRequest {
    /// Where rows are kept until the capture is published: `OUTPUT.partial`.
    #[must_use]
    pub fn spool_path(&self) -> PathBuf {
        let mut path = self.output.clone().into_os_string();
        path.push(".partial");
        path.into()
    }
}

/// The command line, or the pids.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(command) => {
                write!(f, "{}", command.program.to_string_lossy())?;
                command.arguments.iter().try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
            }
            Self::Attach(pids) => {
                let pids: Vec<_> = pids.iter().map(|pid| format!("pid {pid}")).collect();
                f.write_str(&pids.join(", "))
            }
        }
    }
}
