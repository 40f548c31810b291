//! What the repository promises about itself: arrows between crates, unsafe code, commands in its documents.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use microscope_tests::{microscope, repository};

/// The arrows: what each crate may use of the others.
const ARROWS: [(&str, &[&str]); 4] = [
    ("capture", &[]),
    ("analysis", &["capture"]),
    ("profiler", &["capture"]),
    ("adapter", &["analysis", "capture", "profiler"]),
];

#[test]
fn dependencies_point_one_way() {
    for (name, allowed) in ARROWS {
        let manifest = fs::read_to_string(repository::root().join(name).join("Cargo.toml")).unwrap();
        let used: BTreeSet<_> = manifest.lines().filter_map(own_crate).filter(|used| *used != name).collect();
        let forbidden: Vec<_> = used.iter().filter(|used| !allowed.contains(used)).collect();
        assert!(forbidden.is_empty(), "{name} may not use {forbidden:?}");
    }
}

/// `capture` of the line `microscope-capture.workspace = true`.
fn own_crate(line: &str) -> Option<&str> {
    let rest = line.trim().strip_prefix("microscope-")?;
    rest.split(['.', ' ', '=']).next()
}

#[test]
fn unsafe_code_is_only_where_it_may_be() {
    let sys = repository::root().join("profiler/src/sys");
    for file in product_sources().iter().filter(|file| !file.starts_with(&sys)) {
        let text = fs::read_to_string(file).unwrap();
        let found = text.lines().position(is_unsafe);
        assert!(found.is_none(), "unsafe code in {}:{}", file.display(), found.unwrap_or(0) + 1);
    }
}

fn is_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or(line).trim_start();
    ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe trait"]
        .iter()
        .any(|form| code.contains(form))
}

#[test]
fn every_source_file_says_what_it_is_for() {
    for file in product_sources() {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//!"), "{} does not open with //!", file.display());
    }
}

#[test]
fn ci_runs_the_test_command_of_the_readme() {
    let ci = fs::read_to_string(repository::root().join(".ci/run")).unwrap();
    let command = ci.lines().last().and_then(|line| line.strip_prefix("exec ")).unwrap();
    let readme = fs::read_to_string(repository::root().join("README.md")).unwrap();
    assert!(
        readme.lines().any(|line| line == command),
        "the README does not show {command} on a line of its own"
    );
}

#[test]
fn documented_commands_exist() {
    let mut commands = BTreeSet::new();
    for document in documents() {
        commands.extend(commands_of(&fs::read_to_string(document).unwrap()));
    }
    assert!(!commands.is_empty(), "the documents show no command");
    for command in commands {
        let subcommand = command.split_whitespace().next().unwrap_or_default();
        let help = microscope::run([subcommand, "--help"]).unwrap().expect_code(0).unwrap().stdout;
        for option in own_options(&command) {
            assert!(help.contains(option), "`microscope {command}`: there is no {option}");
        }
    }
}

/// The options before `--`: those after it are the recorded program's.
fn own_options(command: &str) -> impl Iterator<Item = &str> {
    command.split_whitespace().take_while(|word| *word != "--").filter(|word| word.starts_with("--"))
}

/// What follows `microscope` on the lines of indented and fenced code.
fn commands_of(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut commands = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let line = line.trim_start().trim_start_matches("$ ");
        let command =
            line.strip_prefix("microscope ").or_else(|| line.strip_prefix("cargo run --release -- "));
        if let (true, Some(command)) = (fenced, command) {
            commands.push(command.split(['#', '|', '>']).next().unwrap_or(command).trim().to_owned());
        }
    }
    commands
}

fn documents() -> Vec<PathBuf> {
    let root = repository::root();
    let mut found = vec![root.join("README.md")];
    found.extend(files_below(&root.join("docs"), "md"));
    found
}

fn product_sources() -> Vec<PathBuf> {
    let crates = ARROWS.iter().map(|(name, _)| repository::root().join(name).join("src"));
    // Programs that tests compile are sources of their own kind.
    crates.flat_map(|source| files_below(&source, "rs")).filter(|file| !is_target_program(file)).collect()
}

fn is_target_program(file: &Path) -> bool {
    file.parent().is_some_and(|directory| directory.ends_with("programs"))
}

/// All files with this ending, in order.
fn files_below(directory: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path.extension().is_some_and(|found| found == ending) {
            found.push(path);
        }
    }
    found
}
