//! Strings of a target, made harmless for the place they go to. Each string is escaped once, here.

use std::borrow::Cow;
use std::fmt::Write;

/// Where a text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// A terminal, or a file somebody may print on one.
    Terminal,
    /// Markdown, as hovers of editors render it.
    Markdown,
    /// The text of an HTML element or attribute.
    Html,
}

/// `text` such that `destination` shows it and does nothing else with it.
///
/// Control characters, line breaks and characters that reorder or hide text become visible escapes in
/// every destination; markup is escaped in the two that have some.
#[must_use]
pub fn escape(text: &str, destination: Destination) -> Cow<'_, str> {
    if text.chars().all(|character| is_harmless(character, destination)) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push_escaped(&mut escaped, character, destination);
    }
    Cow::Owned(escaped)
}

/// [`escape`] for a terminal.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    escape(text, Destination::Terminal)
}

fn is_harmless(character: char, destination: Destination) -> bool {
    !is_control(character)
        && match destination {
            Destination::Terminal => true,
            Destination::Markdown => !is_markdown(character),
            Destination::Html => html_entity(character).is_none(),
        }
}

fn push_escaped(into: &mut String, character: char, destination: Destination) {
    if is_control(character) {
        push_visible(into, character);
        return;
    }
    match destination {
        Destination::Terminal => into.push(character),
        Destination::Markdown => {
            if is_markdown(character) {
                into.push('\\');
            }
            into.push(character);
        }
        Destination::Html => match html_entity(character) {
            Some(entity) => into.push_str(entity),
            None => into.push(character),
        },
    }
}

fn push_visible(into: &mut String, character: char) {
    match character {
        '\n' => into.push_str("\\n"),
        '\r' => into.push_str("\\r"),
        '\t' => into.push_str("\\t"),
        other => {
            // Writing to a string cannot fail.
            let _ = write!(into, "\\u{{{:x}}}", u32::from(other));
        }
    }
}

/// Controls of terminals, and format characters that reorder, join or hide what stands beside them.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

fn is_markdown(character: char) -> bool {
    matches!(
        character,
        '\\' | '`'
            | '*'
            | '_'
            | '{'
            | '}'
            | '['
            | ']'
            | '('
            | ')'
            | '<'
            | '>'
            | '#'
            | '+'
            | '-'
            | '!'
            | '|'
            | '~'
            | '&'
            | '$'
            | ':'
            | '@'
    )
}

fn html_entity(character: char) -> Option<&'static str> {
    Some(match character {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_borrowed() {
        assert!(matches!(terminal("std::vec::Vec<T>::push"), Cow::Borrowed(_)));
        assert!(matches!(terminal("größe/日本"), Cow::Borrowed(_)));
    }

    #[test]
    fn terminal_sequences_become_visible() {
        assert_eq!(terminal("a\x1b[31mred\x07\u{9b}2J"), "a\\u{1b}[31mred\\u{7}\\u{9b}2J");
    }

    #[test]
    fn line_breaks_cannot_forge_rows() {
        assert_eq!(terminal("one\ntwo\rthree\tfour\u{2028}five"), "one\\ntwo\\rthree\\tfour\\u{2028}five");
    }

    #[test]
    fn reordering_characters_become_visible() {
        assert_eq!(terminal("\u{202e}evil\u{200b}"), "\\u{202e}evil\\u{200b}");
    }

    #[test]
    fn markdown_cannot_form_links_or_html() {
        assert_eq!(escape("[a](b)<img>", Destination::Markdown), "\\[a\\]\\(b\\)\\<img\\>");
    }

    #[test]
    fn html_cannot_form_tags_or_leave_attributes() {
        assert_eq!(escape("<b a='1'>\"&", Destination::Html), "&lt;b a=&#39;1&#39;&gt;&quot;&amp;");
    }
}
