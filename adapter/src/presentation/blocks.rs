//! Shares drawn with block characters: bars that grow to the right, densities that grow upward.

const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar of `part` of `whole`, at most `columns` wide, to an eighth of a column. Something is never nothing.
#[must_use]
pub fn bar(part: u64, whole: u64, columns: usize) -> String {
    let eighths = eighths(part, whole, columns);
    let mut bar = "█".repeat(eighths / 8);
    if let Some(rest) = (eighths % 8).checked_sub(1) {
        bar.push(EIGHTHS[rest]);
    }
    bar
}

/// One column whose height is `part` of `whole`; a blank for nothing.
#[must_use]
pub fn height(part: u64, whole: u64) -> char {
    match eighths(part, whole, 1) {
        0 => ' ',
        height => HEIGHTS[height.min(8) - 1],
    }
}

fn eighths(part: u64, whole: u64, columns: usize) -> usize {
    if part == 0 || whole == 0 {
        return 0;
    }
    let most = columns * 8;
    let exact = u128::from(part.min(whole)) * most as u128 / u128::from(whole);
    usize::try_from(exact).unwrap_or(most).clamp(1, most.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_drawn_to_an_eighth() {
        assert_eq!(bar(100, 100, 3), "███");
        assert_eq!(bar(50, 100, 3), "█▌");
        assert_eq!(bar(0, 100, 3), "");
    }

    #[test]
    fn something_is_never_nothing() {
        assert_eq!(bar(1, u64::MAX, 3), "▏");
        assert_eq!(height(1, 1_000_000), '▁');
        assert_eq!(height(0, 5), ' ');
    }

    #[test]
    fn more_than_the_whole_is_the_whole() {
        assert_eq!(bar(7, 5, 2), "██");
        assert_eq!(height(7, 5), '█');
    }
}
