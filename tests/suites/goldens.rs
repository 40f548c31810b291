//! Raw logs of a real kernel, replayed to text: `tests/goldens/NAME.rawlog` must give `NAME.txt`.
//!
//! `scripts/refresh-goldens` records all anew. With `MICROSCOPE_UPDATE_GOLDENS=1` the texts alone are written again:
//! read the difference before you commit it.

use std::path::{Path, PathBuf};
use std::{env, fs};

use microscope_tests::describe::describe;
use microscope_tests::replay::replay;
use microscope_tests::{Built, Program, Record, repository};

/// The recorded programs: small, and between them with every kind of record that a side band has.
const GOLDENS: [(&str, &str, &str); 5] = [
    ("shares", "shares.c", "-O2 -static"),
    ("signals", "signals.c", "-O2 -static"),
    ("fork", "fork.c", "-O2 -static"),
    ("thread_exec", "thread_exec.c", "-O2 -static"),
    ("inlined", "inlined.cpp", "-O2 -static"),
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
        let program = anonymous(&Program::new(source).flags(flags));
        let log = file(name, "rawlog");
        let options = format!("--rate 499 --stack-bytes 8192 --kernel off --raw-log {}", log.display());
        Record::plain().options(&options).without_environment().budget_ms(100).run(&program).unwrap();
        assert!(log.is_file());
    }
}

/// The program where nothing of this machine or its user is in its paths.
fn anonymous(program: &Program) -> Built {
    let sources = repository::programs_dir();
    let map = format!("-ffile-prefix-map={}=/microscope/tests/programs", sources.display());
    let built = program.clone().flags(&map).build().unwrap();
    let directory = Path::new("/tmp/microscope-goldens");
    fs::create_dir_all(directory).unwrap();
    let executable = directory.join(program.name());
    fs::copy(&built.executable, &executable).unwrap();
    Built { executable, ..built }
}
