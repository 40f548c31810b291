//! Sentences: wrapped to the screen, lists with commas, commands that a shell reads as they are meant.

use super::escape::terminal;
use super::names::width;

/// `text` in lines of at most `columns`, each with its line break. Words longer than that stand alone; a number
/// stays with its unit.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match words.last_mut() {
            Some(number) if is_unit(word) && number.ends_with(|last: char| last.is_ascii_digit()) => {
                *number += &format!(" {word}");
            }
            _ => words.push(word.to_owned()),
        }
    }
    let mut wrapped = String::new();
    let mut used = 0;
    for word in &words {
        let needed = width(word);
        if used > 0 && used + 1 + needed > columns {
            wrapped.push('\n');
            used = 0;
        }
        if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += needed;
    }
    wrapped + "\n"
}

fn is_unit(word: &str) -> bool {
    let unit = word.trim_end_matches(|end: char| !end.is_alphanumeric() && end != '%');
    matches!(unit.trim_start_matches('('), "%" | "ns" | "µs" | "ms" | "s" | "B" | "KiB" | "MiB" | "GiB")
}

/// `a`, `a and b`, `a, b and c`.
#[must_use]
pub fn list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `argument` as a shell reads it: plain where it can be, else quoted, harmless for the terminal in any case.
#[must_use]
pub fn shell(argument: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_-./+=:,@%".contains(character);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        argument.to_owned()
    } else if terminal(argument) == argument {
        format!("'{}'", argument.replace('\'', "'\\''"))
    } else {
        format!("$'{}'", argument.bytes().map(escaped_byte).collect::<String>())
    }
}

fn escaped_byte(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"_-./ ".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("\\x{byte:02x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_fit_the_screen() {
        assert_eq!(wrap("one two three four", 9), "one two\nthree\nfour\n");
        assert_eq!(wrap("incomprehensible", 4), "incomprehensible\n");
        assert_eq!(wrap("all of 12.5 % is", 11), "all of\n12.5 % is\n");
    }

    #[test]
    fn lists_end_with_and() {
        let words = ["a", "b", "c"];
        assert_eq!(list(&words), "a, b and c");
        assert_eq!(list(&words[..1]), "a");
    }

    #[test]
    fn commands_can_be_pasted() {
        assert_eq!(shell(".microscope/a-1.mscope"), ".microscope/a-1.mscope");
        assert_eq!(shell("my file's"), "'my file'\\''s'");
        assert_eq!(shell("a\x1bb"), "$'a\\x1bb'");
    }
}
