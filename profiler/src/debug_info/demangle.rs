//! Names for people out of names for linkers: Rust v0 and legacy, C++.
//!
//! Targets choose these strings, so recursion and output are bounded; what cannot be demangled stays as it is.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// A name's bytes at most, before and after demangling.
pub(super) const NAME_BYTES_MAX: usize = 4_096;
/// C++ names nest their templates about this deep at most in practice.
const RECURSION_MAX: u32 = 96;

/// What the name of a linker's stub ends with.
const STUB: &str = "@plt";

/// The name for people: without hashes (Rust) and return types (C++), cut at 4 KiB.
#[must_use]
pub fn demangle(linkage_name: &str) -> String {
    let linkage_name = cut(linkage_name);
    if let Some(target) = linkage_name.strip_suffix(STUB) {
        return demangle(target) + STUB;
    }
    rust(linkage_name).or_else(|| cpp(linkage_name)).unwrap_or_else(|| linkage_name.to_owned())
}

/// The first 4 KiB, ended between characters.
pub(super) fn cut(name: &str) -> &str {
    let mut end = name.len().min(NAME_BYTES_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default()
}

/// Whether the name looks like one that [`demangle`] would change.
pub(super) fn is_mangled(name: &str) -> bool {
    ["_Z", "_R", "__Z", "__R"].iter().any(|prefix| name.starts_with(prefix))
}

fn rust(name: &str) -> Option<String> {
    let demangled = rustc_demangle::try_demangle(name).ok()?;
    let mut text = Bounded::default();
    // The alternate form leaves the hash out.
    let written = write!(text, "{demangled:#}");
    text.finish(written)
}

fn cpp(name: &str) -> Option<String> {
    if !is_mangled(name) && !name.starts_with("_GLOBAL_") {
        return None;
    }
    let limit = ParseOptions::default().recursion_limit(RECURSION_MAX);
    let symbol = Symbol::new_with_options(name, &limit).ok()?;
    let options = DemangleOptions::new().no_return_type().recursion_limit(RECURSION_MAX);
    let mut text = Bounded::default();
    let written = symbol.structured_demangle(&mut text, &options);
    text.finish(written)
}

/// Text that refuses to grow beyond the limit, and ends with an ellipsis where it was cut.
#[derive(Default)]
struct Bounded {
    text: String,
    full: bool,
}

impl Write for Bounded {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        if self.text.len() + more.len() > NAME_BYTES_MAX {
            self.full = true;
            return Err(fmt::Error);
        }
        self.text.push_str(more);
        Ok(())
    }
}

impl Bounded {
    fn finish(self, written: fmt::Result) -> Option<String> {
        match written {
            Ok(()) => Some(self.text),
            Err(_) if self.full => Some(self.text + "…"),
            Err(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(linkage_name: &str, expected: &str) {
        assert_eq!(demangle(linkage_name), expected);
    }

    #[test]
    fn rust_names_lose_their_hash() {
        check("_ZN4core3fmt9Formatter3pad17h3b1c2d3e4f5a6b7cE", "core::fmt::Formatter::pad");
        check("_RNvCs1234_7mycrate3foo", "mycrate::foo");
        check(
            "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE.llvm.12",
            "std::rt::lang_start::{{closure}}",
        );
    }

    #[test]
    fn cpp_names_keep_their_parameters_and_lose_their_return_type() {
        check("_ZN3foo3barEi", "foo::bar(int)");
        check("_Z3addIiET_S0_S0_", "add<int>(int, int)");
        check("_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run()");
        check("_Z3runv.cold", "run() [clone .cold]");
        check("_ZdlPvm@plt", "operator delete(void*, unsigned long)@plt");
    }

    #[test]
    fn what_is_no_mangled_name_stays_as_it_is() {
        for name in ["main", "_start", "_Z9", "_R", "_ZN", "", "été"] {
            check(name, name);
        }
    }

    #[test]
    fn hostile_names_are_bounded() {
        let nested = format!("_Z1fI{}E", "1aI".repeat(3_000));
        assert!(demangle(&nested).len() <= NAME_BYTES_MAX);
        let doubling = format!("_Z1fI1aE{}v", "S_".repeat(2_000));
        assert!(demangle(&doubling).len() <= NAME_BYTES_MAX + 3);
        assert_eq!(demangle(&"é".repeat(5_000)).len(), NAME_BYTES_MAX);
    }
}
