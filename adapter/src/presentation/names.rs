//! Long names and paths, cut to a number of columns so that what tells them apart stays.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands for what was cut.
pub const ELLIPSIS: char = '…';

/// The columns `text` takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// A function's name in at most `columns`. What goes, in this order: inner arguments, modules within brackets,
/// arguments, leading modules, its end.
#[must_use]
pub fn shorten_function(name: &str, columns: usize) -> String {
    let steps: [fn(&str) -> Option<String>; 3] =
        [|name| fold_arguments(name, 2), |name| Some(unqualify_arguments(name)), fold_outer_arguments];
    let mut shortest = name.to_owned();
    for step in steps {
        if width(&shortest) <= columns {
            return shortest;
        }
        shortest = step(&shortest).unwrap_or(shortest);
    }
    if width(&shortest) <= columns {
        return shortest;
    }
    drop_leading(&shortest, "::", columns).unwrap_or_else(|| cut_end(&shortest, columns))
}

/// A path in at most `columns`: leading directories go first, then its beginning.
#[must_use]
pub fn shorten_path(path: &str, columns: usize) -> String {
    if width(path) <= columns {
        return path.to_owned();
    }
    drop_leading(path, "/", columns).unwrap_or_else(|| cut_start(path, columns))
}

/// `text` in at most `columns`, the end replaced by an ellipsis.
#[must_use]
pub fn cut_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let mut cut: String = prefix(text.chars(), room).collect();
    cut.push(ELLIPSIS);
    cut
}

/// `text` in at most `columns`, the beginning replaced by an ellipsis.
#[must_use]
pub fn cut_start(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let mut kept: Vec<char> = prefix(text.chars().rev(), room).collect();
    kept.push(ELLIPSIS);
    kept.into_iter().rev().collect()
}

fn prefix(characters: impl Iterator<Item = char>, room: usize) -> impl Iterator<Item = char> {
    let mut used = 0;
    characters.take_while(move |character| {
        used += character.width().unwrap_or(0);
        used <= room
    })
}

/// The longest tail that starts at a separator and fits behind an ellipsis.
fn drop_leading(text: &str, separator: &str, columns: usize) -> Option<String> {
    text.rmatch_indices(separator)
        .map(|(at, _)| &text[at..])
        .take_while(|tail| width(tail) < columns)
        .last()
        .filter(|tail| tail.len() > separator.len())
        .map(|tail| format!("{ELLIPSIS}{tail}"))
}

/// `Vec<T>::push(T)` → `Vec<…>::push(…)`: brackets nested `depth` deep lose what is in them. `None` when the
/// brackets do not match, as in `operator<`.
fn fold_arguments(name: &str, depth: usize) -> Option<String> {
    let mut folded = String::new();
    let mut open = Vec::new();
    let mut characters = name.chars().peekable();
    let mut before = ' ';
    while let Some(character) = characters.next() {
        let arrow = before == '-' && character == '>';
        before = character;
        if !arrow && let Some(opening) = opening_of(character) {
            (open.pop() == Some(opening)).then_some(())?;
        }
        if open.len() < depth {
            folded.push(character);
        }
        if matches!(character, '<' | '(' | '[') {
            open.push(character);
            let empty = characters.peek().is_some_and(|next| opening_of(*next) == Some(character));
            if open.len() == depth && !empty {
                folded.push(ELLIPSIS);
            }
        }
    }
    open.is_empty().then_some(folded)
}

/// [`fold_arguments`] of all but the type that a Rust method's name begins with: `<Lexer>::bump` keeps it.
fn fold_outer_arguments(name: &str) -> Option<String> {
    match name.starts_with('<').then(|| name.find(">::")).flatten() {
        Some(at) => Some(name[..=at].to_owned() + &fold_arguments(&name[at + 1..], 1)?),
        None => fold_arguments(name, 1),
    }
}

/// `<alloc::vec::Vec<T> as core::ops::Drop>::drop` → `<Vec<T> as Drop>::drop`: within brackets, paths keep their
/// last part.
fn unqualify_arguments(name: &str) -> String {
    let mut short = String::new();
    let mut depth = 0_usize;
    for character in name.chars() {
        short.push(character);
        match character {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ':' if depth > 0 && short.ends_with("::") => {
                let path = short.trim_end_matches("::");
                let is_name = |character: char| character.is_alphanumeric() || character == '_';
                let kept = path.trim_end_matches(is_name).len();
                // Without a name before it, as in `<…>::Item`, there is nothing to leave out.
                if kept < path.len() {
                    short.truncate(kept);
                }
            }
            _ => {}
        }
    }
    short
}

fn opening_of(closing: char) -> Option<char> {
    match closing {
        '>' => Some('<'),
        ')' => Some('('),
        ']' => Some('['),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, columns: usize, expected: &str) {
        let short = shorten_function(name, columns);
        assert_eq!(short, expected);
        assert!(width(&short) <= columns);
    }

    #[test]
    fn names_that_fit_stay() {
        check("alloc::vec::Vec<T>::push", 30, "alloc::vec::Vec<T>::push");
    }

    #[test]
    fn inner_arguments_go_first() {
        check("Map<Vec<u8>, Vec<String>>::get(&self)", 31, "Map<Vec<…>, Vec<…>>::get(&self)");
        check("Map<Vec<u8>, Vec<String>>::get(&self)", 30, "Map<…>::get(…)");
        check("call<fn() -> u8>::now()", 22, "call<…>::now()");
    }

    #[test]
    fn modules_within_brackets_go_before_types() {
        check("<alloc::vec::Vec<T> as core::ops::Drop>::drop", 30, "<Vec<…> as Drop>::drop");
        check("<rustc_middle::graph::Data<D>>::mark::<a::B>", 26, "<Data<…>>::mark::<B>");
        check("<rustc_middle::graph::Data>::mark::<a::Bcdef>", 17, "<Data>::mark::<…>");
    }

    #[test]
    fn leading_modules_go_next() {
        check("alpha::beta::gamma::delta", 15, "…::gamma::delta");
    }

    #[test]
    fn the_end_goes_last() {
        check("averyveryverylongname", 8, "averyve…");
        check("operator<", 5, "oper…");
        check("anything", 0, "");
    }

    #[test]
    fn paths_keep_their_file() {
        assert_eq!(shorten_path("/home/me/project/src/main.rs:12", 17), "…/src/main.rs:12");
        assert_eq!(shorten_path("averyveryverylongfile.rs:12", 10), "…ile.rs:12");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(width(&cut_end("日本語日本語", 7)), 7);
    }

    #[test]
    fn a_huge_name_is_cut_quickly() {
        let name = "a::".repeat(100_000);
        assert!(width(&shorten_function(&name, 40)) <= 40);
    }
}
