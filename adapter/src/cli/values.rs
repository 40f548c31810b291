//! Values of options: names of the recorder's choices, times with their unit, sizes with theirs.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Parses the names of a choice of the recorder, and lists them in help.
pub fn choice<T>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T>
where
    T: Copy + FromStr + Send + Sync + 'static,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.iter().map(|value| name(*value))).try_map(|given| given.parse::<T>())
}

/// A time since the start of a recording, or a length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// In nanoseconds.
    pub ns: u64,
}

/// `1.5s`, `200ms`, `2min`: a decimal number and its unit.
pub fn parse_moment(text: &str) -> Result<Moment, String> {
    const UNITS: [(&str, u64); 7] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("ms", 1_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    scaled(text, &UNITS).map(|ns| Moment { ns }).map_err(|problem| match problem {
        Problem::Unit => "a time needs its unit, as in 1.5s, 200ms or 2min".to_owned(),
        Problem::Number => "this is no time; write it as in 1.5s, 200ms or 2min".to_owned(),
    })
}

/// `16384`, `16KiB`, `16k`: a number of bytes in binary units.
pub fn parse_size(text: &str) -> Result<u32, String> {
    const UNITS: [(&str, u64); 8] = [
        ("KiB", 1 << 10),
        ("kib", 1 << 10),
        ("K", 1 << 10),
        ("k", 1 << 10),
        ("MiB", 1 << 20),
        ("M", 1 << 20),
        ("B", 1),
        ("", 1),
    ];
    let bytes = scaled(text, &UNITS).ok().and_then(|bytes| u32::try_from(bytes).ok());
    bytes.ok_or_else(|| "this is no number of bytes; write it as in 16384 or 16KiB".to_owned())
}

enum Problem {
    Number,
    Unit,
}

/// The number before the first unit that `text` ends with, times that unit.
fn scaled(text: &str, units: &[(&str, u64)]) -> Result<u64, Problem> {
    let digits_end = text.find(|character: char| !character.is_ascii_digit() && character != '.');
    let (number, unit) = text.split_at(digits_end.unwrap_or(text.len()));
    let (_, scale) = units.iter().find(|(name, _)| *name == unit).ok_or(Problem::Unit)?;
    decimal(number, *scale).ok_or(Problem::Number)
}

/// `number · scale` without the errors of binary fractions.
fn decimal(number: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') || fraction.len() > 18 {
        return None;
    }
    let digits = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u128>().ok() };
    let tenth = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let units = digits(whole)?.checked_mul(tenth)?.checked_add(digits(fraction)?)?;
    u64::try_from(units.checked_mul(u128::from(scale))? / tenth).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_carry_their_unit() {
        let cases = [("1.5s", 1_500_000_000), ("200ms", 200_000_000), ("0s", 0), ("2min", 120_000_000_000)];
        for (text, ns) in cases {
            assert_eq!(parse_moment(text), Ok(Moment { ns }), "{text}");
        }
        assert_eq!(parse_moment(".3s"), Ok(Moment { ns: 300_000_000 }));
    }

    #[test]
    fn a_time_without_unit_is_refused_with_an_example() {
        assert!(parse_moment("15").is_err_and(|problem| problem.contains("1.5s")));
        for text in ["", "s", "1.2.3s", "-1s", "1e3s", "99999999999999999999h"] {
            assert!(parse_moment(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_may_have_units() {
        assert_eq!(parse_size("16384"), Ok(16384));
        assert_eq!(parse_size("16KiB"), Ok(16384));
        assert_eq!(parse_size("16k"), Ok(16384));
        assert!(parse_size("16 apples").is_err());
    }
}
