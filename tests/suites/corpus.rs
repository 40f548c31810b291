//! Replays the fuzzing corpus: every input that once mattered, through the function that fuzzing runs.

use std::fs;

use microscope_tests::fuzz::{TARGETS, corpus};
use microscope_tests::repository;

#[test]
fn every_input_of_the_corpus_is_survived() {
    for (name, target) in TARGETS {
        let inputs: Vec<_> = fs::read_dir(corpus(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(inputs.len() >= 3, "{name} has {} inputs", inputs.len());
        for input in inputs {
            target(&fs::read(&input).unwrap());
        }
    }
}

#[test]
fn every_target_is_fuzzed() {
    let directory = repository::root().join("fuzz/targets");
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut built: Vec<_> = entries.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    built.sort();
    let mut defined = TARGETS.map(|(name, _)| name.to_owned());
    defined.sort();
    assert_eq!(built, defined);
}
