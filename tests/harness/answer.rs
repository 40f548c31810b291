//! Known answers: the claims in a program's head comment, and the comparison with what was measured.
//!
//! One claim a line, `// answer: KIND THING SHARE %, THING SHARE %`:
//!
//! | kind | claims |
//! |---|---|
//! | `total F 70 %` | the function is in the stacks of this share of all cost |
//! | `self F 70 %` | the function is innermost in this share |
//! | `path A > B 70 %` | the functions call each other in this order, nothing between, in this share |
//! | `line 14 75 %` | the line of the program's source has this share of self cost |
//! | `threads T 60 %` | the thread of this name has this share |
//! | `module M 60-100 %` | code of the module is innermost in this share |
//! | `processes 2` | so many processes were recorded |
//! | `depth F..G 102` | from F to G a stack has so many frames, both counted |

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::Share;

/// What a program's head comment claims.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The claims in the order of the comment.
    pub claims: Vec<Claim>,
}

/// One thing known about a program before it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// A function's share, callees included.
    Total(String, Share),
    /// A function's own share.
    OwnCost(String, Share),
    /// The share of stacks in which functions call each other in this order, outermost first.
    Path(Vec<String>, Share),
    /// A line's own share.
    Line(u32, Share),
    /// A thread's share.
    Thread(String, Share),
    /// A module's own share.
    Module(String, Share),
    /// The number of processes.
    Processes(usize),
    /// The frames from one function to another.
    Depth {
        /// The outer function.
        outer: String,
        /// The inner function.
        inner: String,
        /// How many frames, both counted.
        frames: usize,
    },
}

impl Answer {
    /// Reads the head comment of a source file.
    pub fn of(source: &Path) -> Result<Self> {
        let text = fs::read_to_string(source).with_context(|| format!("reading {}", source.display()))?;
        let mut claims = Vec::new();
        for line in text.lines().map_while(|line| line.strip_prefix("//")) {
            if let Some(claim) = line.strip_prefix(" answer: ") {
                claims.extend(parse(claim).with_context(|| format!("in {}: {claim}", source.display()))?);
            }
        }
        if claims.is_empty() {
            bail!("{} claims nothing", source.display());
        }
        Ok(Self { claims })
    }
}

fn parse(line: &str) -> Result<Vec<Claim>> {
    let (kind, things) = line.split_once(' ').context("no kind")?;
    things.split(", ").map(|thing| parse_one(kind, thing)).collect()
}

fn parse_one(kind: &str, thing: &str) -> Result<Claim> {
    Ok(match kind {
        "processes" => Claim::Processes(thing.parse()?),
        "depth" => parse_depth(thing)?,
        _ => {
            let (name, share) = split_share(thing)?;
            match kind {
                "total" => Claim::Total(name, share),
                "self" => Claim::OwnCost(name, share),
                "path" => Claim::Path(name.split(" > ").map(str::to_owned).collect(), share),
                "line" => Claim::Line(name.parse()?, share),
                "threads" => Claim::Thread(name, share),
                "module" => Claim::Module(name, share),
                other => bail!("no claim is called {other}"),
            }
        }
    })
}

fn split_share(thing: &str) -> Result<(String, Share)> {
    let (name, share) =
        thing.strip_suffix(" %").and_then(|rest| rest.rsplit_once(' ')).context("no share")?;
    Ok((name.to_owned(), Share::parse(share)?))
}

fn parse_depth(thing: &str) -> Result<Claim> {
    let (functions, frames) = thing.rsplit_once(' ').context("no number of frames")?;
    let (outer, inner) = functions.split_once("..").context("no two functions")?;
    Ok(Claim::Depth { outer: outer.to_owned(), inner: inner.to_owned(), frames: frames.parse()? })
}
