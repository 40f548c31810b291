//! Raw logs of a real kernel, replayed to text: `tests/goldens/NAME.rawlog` must give `NAME.txt`.
//!
//! `scripts/refresh-goldens` records all anew. With `MICROSCOPE_UPDATE_GOLDENS=1` the texts alone are written again:
//! read the difference before you commit it.

use std::path::PathBuf;
use std::{env, fs};

use microscope_tests::describe::describe;
use microscope_tests::replay::replay;
use microscope_tests::{Program, Record, repository};

/// The recorded programs: small, and between them with every kind of record that a side band has.
const GOLDENS: [(&str, &str, &str); 5] = [
    ("shares", "shares.c", "-O2"),
    ("signals", "signals.c", "-O2"),
    ("fork", "fork.c", "-O2"),
    ("thread_exec", "thread_exec.c", "-O2"),
    ("inlined", "inlined.cpp", "-O2"),
];

fn file(name: &str, ending: &str) -> PathBuf {
    repository::tests_dir().join("goldens").join(name).with_extension(ending)
}

#[test]
fn raw_logs_replay_to_their_texts() {
    for (name, _, _) in GOLDENS {
        let described = describe(&replay(&file(name, "rawlog")).unwrap());
        if env::var_os("MICROSCOPE_UPDATE_GOLDENS").is_some() {
            fs::write(file(name, "txt"), &described).unwrap();
        }
        assert_eq!(described, fs::read_to_string(file(name, "txt")).unwrap(), "{name}");
    }
}

#[test]
fn a_replay_gives_the_same_bytes_every_time() {
    let bytes = || replay(&file("shares", "rawlog")).unwrap().to_bytes();
    assert!(bytes() == bytes());
}

#[test]
#[ignore = "writes tests/goldens; scripts/refresh-goldens runs it"]
fn record_goldens_anew() {
    for (name, source, flags) in GOLDENS {
        // No path of this machine in what is committed.
        let map =
            format!("-ffile-prefix-map={}=/microscope/tests/programs", repository::programs_dir().display());
        let built = Program::new(source).flags(flags).flags(&map).build().unwrap();
        let log = file(name, "rawlog");
        let options = format!("--rate 499 --stack-bytes 1024 --kernel off --raw-log {}", log.display());
        Record::plain().options(&options).budget_ms(100).run(&built).unwrap();
        assert!(log.is_file());
    }
}
