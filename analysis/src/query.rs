//! What is asked: which samples, of which quantity, seen how, and how finely.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A question's subject, common to all views.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// How a path is seen.
    pub look: Look,
    /// What costs are added up by.
    pub by: Granularity,
    /// Which samples count.
    pub filter: Filter,
    /// Which quantity is added up.
    pub measure: MeasureChoice,
}

/// How a sample's path is seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// Native frames only: interpreted frames are dropped, the interpreter's own frames stand for them.
    #[default]
    Native,
}

/// What costs are added up by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// Functions of one name, module and declaring file; inlined ones are functions of their own.
    #[default]
    Function,
    /// Source lines, `file:line`; inlined calls count at the line called and at the line of the call.
    Line,
    /// Instruction addresses of modules; calls count at the address before the return address.
    Address,
    /// Modules; neighbors of one module in a path are one step.
    Module,
}

/// Which samples count. The default is all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Threads, any of these; all when empty.
    pub threads: Vec<Who>,
    /// Processes, any of these; all when empty.
    pub processes: Vec<Who>,
    /// Samples at or after this time.
    pub from_ns: Option<u64>,
    /// Samples before this time.
    pub to_ns: Option<u64>,
}

/// A thread or process as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// By its number, in the recorder's or in its own namespace.
    Id(u32),
    /// By its name (comm).
    Name(String),
}

impl FromStr for Who {
    type Err = Infallible;
    /// A decimal number is an id, anything else a name.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Id))
    }
}

impl fmt::Display for Who {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(out, "{id}"),
            Self::Name(name) => out.write_str(name),
        }
    }
}

/// Which quantity is added up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum MeasureChoice {
    /// What an imported profile says to show first; else CPU time where there is some, else the first quantity
    /// that has samples, else the first.
    #[default]
    Main,
    /// The quantity of this name.
    Named(String),
}
