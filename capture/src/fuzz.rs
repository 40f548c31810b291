//! What fuzzers call: each takes any bytes, and panics only on a bug of ours.

use crate::import::{folded, pprof};
use crate::{Capture, recover_bytes};

/// Opens bytes as a capture. What opens must come out again as it went in.
pub fn fuzz_open(bytes: &[u8]) {
    if let Ok(capture) = Capture::read(bytes) {
        assert_read_back(&capture);
    }
}

/// Imports bytes as pprof. What is imported must be a capture that can be written.
pub fn fuzz_import_pprof(bytes: &[u8]) {
    if let Ok(capture) = pprof::read(bytes) {
        assert_read_back(&capture);
    }
}

/// Imports bytes as folded stacks. What is imported must be a capture that can be written.
pub fn fuzz_import_folded(bytes: &[u8]) {
    if let Ok(capture) = folded::read(bytes) {
        assert_read_back(&capture);
    }
}

/// Recovers bytes as a spool. What is recovered must be canonicalized or refused.
pub fn fuzz_recover(bytes: &[u8]) {
    if let Ok((mut tables, _)) = recover_bytes(bytes)
        && tables.canonicalize().is_ok()
        && let Ok(capture) = Capture::validate(tables)
    {
        assert_read_back(&capture);
    }
}

fn assert_read_back(capture: &Capture) {
    let again = Capture::read(&capture.to_bytes());
    assert!(again.as_ref().is_ok_and(|again| again == capture), "read back as {:?}", again.err());
}
