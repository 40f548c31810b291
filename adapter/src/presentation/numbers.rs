//! Numbers as text: the only place that decides digits, units and separators.

/// A share of a whole as a percentage: `37.1 %`. What is there but rounds to nothing says so: `<0.1 %`.
#[must_use]
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 || part == 0 {
        return "0.0 %".to_owned();
    }
    let tenths = u64::try_from((u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole));
    match tenths.unwrap_or(u64::MAX) {
        0 => "<0.1 %".to_owned(),
        // Only the whole is the whole: a rounded 100.0 would hide that something is missing.
        1000 if part < whole => ">99.9 %".to_owned(),
        tenths => format!("{}.{} %", tenths / 10, tenths % 10),
    }
}

/// A whole number with separators: `1,234,567`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and its noun: `1 sample`, `2,000 samples`.
#[must_use]
pub fn counted(number: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", count(number), if number == 1 { singular } else { plural })
}

/// A length of time with three significant digits: `830 ns`, `12.3 ms`, `1.98 s`, `2 min 03 s`.
#[must_use]
pub fn duration_ns(ns: u64) -> String {
    const MINUTE: u64 = 60_000_000_000;
    // Borders are where rounding would carry into the next unit: 999.6 ms is 1.00 s.
    match ns {
        0 => "0 s".to_owned(),
        1..1_000 => format!("{ns} ns"),
        1_000..999_500 => scaled(ns, 1_000, "µs"),
        999_500..999_500_000 => scaled(ns, 1_000_000, "ms"),
        999_500_000..59_950_000_000 => scaled(ns, 1_000_000_000, "s"),
        _ => {
            let seconds = ns.saturating_add(500_000_000) / 1_000_000_000;
            let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
            if ns >= 60 * MINUTE {
                format!("{hours} h {minutes:02} min")
            } else {
                format!("{minutes} min {:02} s", seconds % 60)
            }
        }
    }
}

/// A moment since the start, for axes: always seconds, with the digits that `step_ns` needs.
#[must_use]
pub fn moment_ns(ns: u64, step_ns: u64) -> String {
    let digits = match step_ns {
        0..1_000_000 => 6,
        1_000_000..10_000_000 => 3,
        10_000_000..100_000_000 => 2,
        100_000_000..1_000_000_000 => 1,
        _ => 0,
    };
    format!("{:.digits$} s", seconds(ns))
}

/// A number of bytes in binary units: `512 B`, `4.2 MiB`.
#[must_use]
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    let mut value = to_f64(number) / 1024.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if value < 1023.5 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    format!("{} {unit}", three_digits(value))
}

/// An address: `0x7f30a2c41000`.
#[must_use]
pub fn address(address: u64) -> String {
    format!("{address:#x}")
}

/// Seconds as a number, for programs and axes.
#[must_use]
pub fn seconds(ns: u64) -> f64 {
    to_f64(ns) / 1e9
}

fn scaled(ns: u64, unit_ns: u64, unit: &str) -> String {
    format!("{} {unit}", three_digits(to_f64(ns) / to_f64(unit_ns)))
}

fn three_digits(value: f64) -> String {
    if value < 9.995 {
        format!("{value:.2}")
    } else if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// Nearest double: display needs no more than its 53 bits.
#[allow(clippy::cast_precision_loss, reason = "display needs three digits")]
fn to_f64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_one_digit_and_never_round_away() {
        let cases = [(0, 10, "0.0 %"), (371, 1000, "37.1 %"), (1, 1_000_000, "<0.1 %"), (10, 10, "100.0 %")];
        for (part, whole, text) in cases {
            assert_eq!(percent(part, whole), text);
        }
        assert_eq!(percent(999_999, 1_000_000), ">99.9 %");
        assert_eq!(percent(5, 0), "0.0 %");
        assert_eq!(percent(u64::MAX, u64::MAX), "100.0 %");
    }

    #[test]
    fn counts_are_separated_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "sample", "samples"), "1 sample");
    }

    #[test]
    fn durations_have_three_digits_and_the_right_unit() {
        let cases = [
            (0, "0 s"),
            (830, "830 ns"),
            (12_300, "12.3 µs"),
            (999_499, "999 µs"),
            (999_600, "1.00 ms"),
            (1_980_000_000, "1.98 s"),
            (59_960_000_000, "1 min 00 s"),
            (123_000_000_000, "2 min 03 s"),
            (3_600_000_000_000, "1 h 00 min"),
        ];
        for (ns, text) in cases {
            assert_eq!(duration_ns(ns), text, "{ns}");
        }
        assert!(duration_ns(u64::MAX).ends_with(" min"));
    }

    #[test]
    fn bytes_use_binary_units() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(4_404_019), "4.20 MiB");
        assert_eq!(bytes(1_048_500), "1.00 MiB");
        assert!(bytes(u64::MAX).ends_with(" TiB"));
    }
}
