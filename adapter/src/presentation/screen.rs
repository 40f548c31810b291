//! What a text is shown on, and the few styles there are.

/// How wide it is and whether it has colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns of text.
    pub columns: usize,
    /// Whether styles become escape sequences.
    pub color: bool,
}

impl Screen {
    /// What every view fits: 80 columns, no color.
    pub const PLAIN: Self = Self { columns: 80, color: false };

    /// `text` in `style`. The text is already escaped.
    #[must_use]
    pub fn paint(&self, text: &str, style: Style) -> String {
        match style.sequence() {
            Some(sequence) if self.color && !text.is_empty() => format!("\x1b[{sequence}m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// What a piece of text means to the eye.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Plain.
    #[default]
    Plain,
    /// A title.
    Title,
    /// Of less interest.
    Faint,
    /// Much of the whole.
    Hot,
    /// Some of the whole.
    Warm,
    /// A place in source text.
    Place,
    /// Something is missing or wrong.
    Problem,
}

impl Style {
    /// The style of a share of a whole.
    #[must_use]
    pub fn of_share(part: u64, whole: u64) -> Self {
        let per_mille = (u128::from(part) * 1000).checked_div(u128::from(whole)).unwrap_or(0);
        match per_mille {
            200.. => Self::Hot,
            50..200 => Self::Warm,
            5..50 => Self::Plain,
            _ => Self::Faint,
        }
    }

    fn sequence(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Title => Some("1"),
            Self::Faint => Some("2"),
            Self::Hot => Some("1;31"),
            Self::Warm => Some("33"),
            Self::Place => Some("36"),
            Self::Problem => Some("35"),
        }
    }
}
