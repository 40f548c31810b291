//! Medians, and how far they may be from the truth.

/// The median; 0 of nothing.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Half the width of the band in which repeated medians of so many values fall: three standard errors of the
/// median, the spread taken from the median absolute deviation so that one disturbed round does not widen it.
pub fn noise(values: &[f64]) -> f64 {
    let middle = median(values);
    let deviations: Vec<_> = values.iter().map(|value| (value - middle).abs()).collect();
    let deviation = 1.4826 * median(&deviations);
    3.0 * 1.2533 * deviation / (values.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn one_disturbed_round_does_not_widen_the_noise() {
        let quiet = noise(&[1.0, 1.1, 0.9, 1.05, 0.95]);
        let disturbed = noise(&[1.0, 1.1, 0.9, 1.05, 9.0]);
        assert!(disturbed < 2.0 * quiet);
    }
}
