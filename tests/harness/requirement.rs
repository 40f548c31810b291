//! What a test needs of the machine. A test that cannot run says why, and under `scripts/test` it fails instead.

use std::env;
use std::path::PathBuf;

/// Says that a test is skipped, and why. Invariant: nothing passes in silence where everything should be there.
pub fn skip(reason: &str) {
    assert!(env::var_os("MICROSCOPE_NO_SKIP").is_none(), "MICROSCOPE_NO_SKIP is set, but {reason}");
    report(reason);
}

#[allow(clippy::print_stderr, reason = "the runner shows a skipped test's reason from here")]
fn report(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// The path of a program of the system, if it is installed.
pub fn installed(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}

/// Whether a program is installed; skips the test otherwise.
#[must_use]
pub fn program(name: &str, package: &str) -> bool {
    let found = installed(name).is_some();
    if !found {
        skip(&format!("{name} is not installed (Debian package {package})"));
    }
    found
}

/// Whether the test runs as root; skips it otherwise.
#[must_use]
pub fn root() -> bool {
    let root =
        std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !root {
        skip("only root may record the kernel and become another user");
    }
    root
}
