//! Paths as people know them: relative to where they are, without hashes that nobody reads.

use std::borrow::Cow;

use super::escape::terminal;

/// `path`, escaped, relative to `directory` when under it. `directory` may be empty.
#[must_use]
pub fn path<'p>(path: &'p str, directory: &str) -> Cow<'p, str> {
    let relative = path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/'));
    match relative.filter(|rest| !directory.is_empty() && !rest.is_empty()) {
        Some(relative) => terminal(relative),
        None => without_hash(path)
            .map_or_else(|| terminal(path), |short| Cow::Owned(terminal(&short).into_owned())),
    }
}

/// `path:line`, or only the path when the line is not known.
#[must_use]
pub fn place(file: &str, line: Option<u32>, directory: &str) -> String {
    let path = path(file, directory);
    line.map_or_else(|| path.to_string(), |line| format!("{path}:{line}"))
}

/// The last part of a module's path: `libc.so.6`, `[vdso]`.
#[must_use]
pub fn module(path: &str) -> Cow<'_, str> {
    let name = path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(path);
    terminal(name)
}

/// `/rustc/HASH/library/…` and Cargo's `registry/src/INDEX-HASH/…` lose the part that tells nothing.
fn without_hash(path: &str) -> Option<String> {
    if let Some(rest) = path.strip_prefix("/rustc/") {
        return Some(format!("/rustc/…{}", &rest[rest.find('/')?..]));
    }
    let (_, rest) = path.split_once("/registry/src/")?;
    Some(format!("…{}", &rest[rest.find('/')?..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_where_a_person_is() {
        assert_eq!(place("/home/me/app/src/a.rs", Some(12), "/home/me/app"), "src/a.rs:12");
        assert_eq!(place("/home/me/apple/a.rs", None, "/home/me/app"), "/home/me/apple/a.rs");
        assert_eq!(place("/a.rs", Some(1), ""), "/a.rs:1");
    }

    #[test]
    fn hashes_of_toolchains_are_left_out() {
        assert_eq!(path("/rustc/59807616e1/library/core/src/num.rs", ""), "/rustc/…/library/core/src/num.rs");
        assert_eq!(
            path("/root/.cargo/registry/src/index.crates.io-1949/serde-1/src/de.rs", ""),
            "…/serde-1/src/de.rs"
        );
    }

    #[test]
    fn hostile_paths_are_escaped() {
        assert_eq!(place("/a\x1b[2J/b\n.rs", Some(1), "/a"), "/a\\u{1b}[2J/b\\n.rs:1");
        assert_eq!(module("/lib/\x07.so"), "\\u{7}.so");
    }
}
