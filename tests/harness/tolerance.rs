//! Shares and how far a sampled one may lie from the true one.

use anyhow::{Result, bail, ensure};

/// A share in percent: a value, or a range when the answer is known only so well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Share {
    /// Reads `70`, or `60-100`.
    pub fn parse(text: &str) -> Result<Self> {
        let (low, high) = text.split_once('-').unwrap_or((text, text));
        let share = Self { low: low.parse()?, high: high.parse()? };
        ensure!(share.low <= share.high && share.high <= 100.0, "{text} is no share");
        Ok(share)
    }

    /// Whether a measured share agrees: within one point and two standard deviations of its sample number.
    pub fn check(self, what: &str, measured: f64, samples: u64) -> Result<()> {
        let low = self.low - tolerance(self.low, samples);
        let high = self.high + tolerance(self.high, samples);
        if (low..=high).contains(&measured) {
            return Ok(());
        }
        bail!("{what}: {measured:.2} % of {samples} samples, expected {low:.2} to {high:.2} %")
    }
}

/// One point plus two standard deviations of a binomial share, in percent.
fn tolerance(percent: f64, samples: u64) -> f64 {
    let p = percent / 100.0;
    1.0 + 200.0 * (p * (1.0 - p) / samples.max(1) as f64).sqrt()
}
