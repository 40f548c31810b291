//! How far a share can be believed, from the number and evenness of samples, losses and off-duty time.

use microscope_capture::Tables;

use crate::select::Selection;
use crate::views;

/// The 97.5 % quantile of the normal distribution: 95 % lie within it on both sides.
const Z: f64 = 1.959_964;

/// What bounds of shares start from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Confidence {
    /// (Σ weight)² / Σ weight²: how many samples of equal weight say as much. Times the duty, since a
    /// duty period is seen or missed as one.
    pub effective_samples: f64,
    /// Samples that were taken but are not there.
    pub lost_samples: u64,
    /// Of all that were taken. Lost samples may all be on a line, or none of them.
    pub lost_share: f64,
    /// The share of time that was sampled.
    pub duty: f64,
}

#[allow(clippy::cast_precision_loss, reason = "shares need far fewer than 52 bits")]
impl Confidence {
    /// The confidence of shares of the selected samples.
    pub(crate) fn new(tables: &Tables, selection: &Selection) -> Self {
        let (sum, squares, samples) = moments(tables, selection);
        let lost_samples = views::lost_samples(tables, selection);
        let duty = duty(tables, selection);
        let even = if squares > 0.0 { sum * sum / squares } else { 0.0 };
        let taken = lost_samples as f64 + samples;
        Self {
            effective_samples: even * duty,
            lost_samples,
            lost_share: if taken > 0.0 { lost_samples as f64 / taken } else { 0.0 },
            duty,
        }
    }

    /// The 95 % bounds of a share: Wilson's interval, widened by what lost samples could have been.
    #[must_use]
    pub fn bounds(&self, share: f64) -> (f64, f64) {
        let (low, high) = wilson(share.clamp(0.0, 1.0), self.effective_samples);
        let seen = 1.0 - self.lost_share;
        (low * seen, high * seen + self.lost_share)
    }
}

fn wilson(share: f64, samples: f64) -> (f64, f64) {
    if samples <= 0.0 {
        return (0.0, 1.0);
    }
    let z2 = Z * Z / samples;
    let center = share + z2 / 2.0;
    let spread = Z * (share * (1.0 - share) / samples + z2 / (4.0 * samples)).sqrt();
    (((center - spread) / (1.0 + z2)).clamp(0.0, share), ((center + spread) / (1.0 + z2)).clamp(share, 1.0))
}

/// Σ weight, Σ weight², samples.
#[allow(clippy::cast_precision_loss, reason = "shares need far fewer than 52 bits")]
fn moments(tables: &Tables, selection: &Selection) -> (f64, f64, f64) {
    let samples = &tables.samples;
    let mut moments = (0.0, 0.0, 0.0);
    for at in selection.range(tables) {
        if selection.takes(samples.thread[at], samples.measure[at]) {
            let weight = samples.weight[at] as f64;
            moments = (moments.0 + weight, moments.1 + weight * weight, moments.2 + 1.0);
        }
    }
    moments
}

/// The on-duty share of the selected time, up to the last sample. Always on before the first change.
#[allow(clippy::cast_precision_loss, reason = "shares need far fewer than 52 bits")]
fn duty(tables: &Tables, selection: &Selection) -> f64 {
    let last_ns = tables.samples.time_ns.last().copied().unwrap_or(0);
    let until_ns = selection.to_ns.map_or(last_ns, |to_ns| to_ns.min(last_ns));
    let changes = &tables.duty_changes;
    let (mut now_ns, mut ppm, mut on) = (selection.from_ns, 1_000_000_u32, 0_u128);
    for (_, change) in changes.iter().filter(|(_, change)| change.time_ns < until_ns) {
        on += u128::from(change.time_ns.saturating_sub(now_ns)) * u128::from(ppm);
        (now_ns, ppm) = (change.time_ns.max(now_ns), change.duty_ppm);
    }
    on += u128::from(until_ns.saturating_sub(now_ns)) * u128::from(ppm);
    let all = u128::from(until_ns.saturating_sub(selection.from_ns)) * 1_000_000;
    if all == 0 { f64::from(ppm) / 1e6 } else { on as f64 / all as f64 }
}
