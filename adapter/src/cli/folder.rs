//! Where captures go that nobody named: `.microscope/PROGRAM-TIME.mscope`, a folder that git ignores.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context;

const FOLDER: &str = ".microscope";

/// A path that no file has yet, for a recording of `program` that begins `now`. Makes the folder.
pub(super) fn capture_path(directory: &Path, program: &OsStr, now: SystemTime) -> anyhow::Result<PathBuf> {
    let folder = directory.join(FOLDER);
    make(&folder).with_context(|| {
        format!("cannot make the folder {}; name a file with -o instead", folder.display())
    })?;
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let stem = format!("{}-{}", file_stem(program), utc(seconds));
    let names = std::iter::once(stem.clone()).chain((2_u32..).map(|number| format!("{stem}-{number}")));
    let free = names.map(|name| folder.join(name + ".mscope")).find(|path| !is_taken(path));
    free.context("no name is left for the capture; name a file with -o")
}

fn make(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let ignore = folder.join(".gitignore");
    if ignore.exists() { Ok(()) } else { fs::write(ignore, "*\n") }
}

fn is_taken(path: &Path) -> bool {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    path.exists() || Path::new(&partial).exists()
}

/// The program's file name, without characters that are awkward in a shell.
fn file_stem(program: &OsStr) -> String {
    let name = Path::new(program).file_name().unwrap_or(program).to_string_lossy();
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '.' | '_' | '-' | '+');
    let stem: String =
        name.chars().map(|character| if plain(character) { character } else { '_' }).take(64).collect();
    if stem.trim_start_matches(['.', '-']).is_empty() { "program".to_owned() } else { stem }
}

/// `20260412-101500`, in UTC: names sort by time wherever they were made.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}{month:02}{day:02}-{:02}{:02}{:02}", second / 3600, second / 60 % 60, second % 60)
}

/// The Gregorian date of a day since 1970, by counting in eras of 400 years that begin on 1 March
/// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;

    #[test]
    fn names_carry_program_and_time_and_git_ignores_them() {
        let directory = tempfile::tempdir().unwrap();
        let now = UNIX_EPOCH + Duration::from_secs(1_775_988_900);
        let path = capture_path(directory.path(), OsStr::new("/usr/bin/my server"), now).unwrap();
        assert_eq!(path, directory.path().join(".microscope/my_server-20260412-101500.mscope"));
        assert_eq!(fs::read_to_string(directory.path().join(".microscope/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn a_taken_name_is_not_used_again() {
        let directory = tempfile::tempdir().unwrap();
        let first = capture_path(directory.path(), OsStr::new("a"), UNIX_EPOCH).unwrap();
        fs::write(first.with_extension("mscope.partial"), "").unwrap();
        let second = capture_path(directory.path(), OsStr::new("a"), UNIX_EPOCH).unwrap();
        assert!(second.ends_with("a-19700101-000000-2.mscope"), "{second:?}");
    }

    #[test]
    fn dates_are_gregorian() {
        assert_eq!(utc(951_782_399), "20000228-235959");
        assert_eq!(utc(951_782_400), "20000229-000000");
        assert_eq!(utc(4_107_542_400), "21000301-000000");
    }

    #[test]
    fn hostile_names_make_plain_files() {
        assert_eq!(file_stem(OsStr::new("a\x1b[31m\n$(rm)")), "a__31m___rm_");
        assert_eq!(file_stem(OsStr::new("..")), "program");
        assert_eq!(file_stem(OsStr::new(&"x".repeat(10_000))).len(), 64);
    }
}
