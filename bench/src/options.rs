//! The command line of a bench: `--rounds N`, `--smoke`, `--save`, `--cause TEXT`.

use anyhow::{Context, Result, bail};

/// What a bench is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How many interleaved rounds; absent for the bench's own number.
    pub rounds: Option<u32>,
    /// Only see that everything works: one short round, no comparison.
    pub smoke: bool,
    /// Write the results as the new baseline.
    pub save: bool,
    /// Why the baseline changes.
    pub cause: Option<String>,
}

impl Options {
    /// Reads the arguments; `--bench` is cargo's own.
    pub fn from_arguments() -> Result<Self> {
        let mut options = Self::default();
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--rounds" => {
                    options.rounds = Some(arguments.next().context("--rounds needs a number")?.parse()?)
                }
                "--smoke" => options.smoke = true,
                "--save" => options.save = true,
                "--cause" => options.cause = Some(arguments.next().context("--cause needs a text")?),
                other => bail!("there is no option {other}"),
            }
        }
        Ok(options)
    }

    /// The rounds to run: one for a smoke test.
    pub fn rounds_or(&self, default: u32) -> u32 {
        if self.smoke { 1 } else { self.rounds.unwrap_or(default) }
    }
}
