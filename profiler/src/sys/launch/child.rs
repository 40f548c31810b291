//! The child's side of a launch. Between fork and exec only async-signal-safe functions may be called: another
//! thread may have held any lock, the allocator's too, when the process was copied. So everything is prepared
//! before, and from [`run`] on there are system calls alone.

use std::ffi::{CString, NulError, OsStr, OsString};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use super::{LaunchCommand, SignalState};
use crate::sys::limits;

/// What a shell answers for a program that could not be started.
pub(super) const EXIT_NOT_STARTED: libc::c_int = 127;
/// The step that failed, then the error number.
pub(super) const REPORT_BYTES: usize = 5;
pub(super) const DIRECTORY: u8 = 1;
pub(super) const STREAMS: u8 = 2;
pub(super) const EXECUTE: u8 = 3;

/// Signals there are, from 1.
const SIGNALS: libc::c_int = 64;

/// Everything the child needs, as the system calls take it. Invariant: the pointers are into the strings and end
/// with a null.
pub(super) struct Prepared {
    program: CString,
    argument_pointers: Vec<*const libc::c_char>,
    environment_pointers: Vec<*const libc::c_char>,
    directory: Option<CString>,
    streams: [Option<RawFd>; 3],
    signals: SignalState,
    descriptor_limit: Option<libc::rlimit>,
    _strings: [Vec<CString>; 2],
}

impl Prepared {
    pub(super) fn new(command: &LaunchCommand) -> Result<Self, NulError> {
        let arguments = std::iter::once(&command.program).chain(&command.arguments);
        let arguments = arguments.map(c_string).collect::<Result<Vec<_>, _>>()?;
        let environment = match &command.environment {
            Some(given) => given.iter().map(assignment).collect::<Result<Vec<_>, _>>()?,
            None => std::env::vars_os().map(|pair| assignment(&pair)).collect::<Result<Vec<_>, _>>()?,
        };
        Ok(Self {
            program: c_string(&command.program)?,
            argument_pointers: pointers(&arguments),
            environment_pointers: pointers(&environment),
            directory: command.directory.as_deref().map(|path| c_string(path.as_os_str())).transpose()?,
            streams: command.streams.each_ref().map(|stream| stream.as_ref().map(AsRawFd::as_raw_fd)),
            signals: command.signals,
            descriptor_limit: limits::descriptor_limit_before_raise(),
            _strings: [arguments, environment],
        })
    }
}

fn c_string(text: impl AsRef<OsStr>) -> Result<CString, NulError> {
    CString::new(text.as_ref().as_bytes())
}

fn assignment((name, value): &(OsString, OsString)) -> Result<CString, NulError> {
    CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// Runs in the child: arranges it, waits at the gate, executes. Returns only when the program was not started.
pub(super) fn run(prepared: &Prepared, gate: &OwnedFd, other_end: &OwnedFd, report: &OwnedFd) {
    let failed = match arrange(prepared) {
        // SAFETY: closes this process's copy of the recorder's end, so that the gate closes with the recorder.
        // The recorder's own copy is untouched, and the child does not use the value again.
        Ok(()) if unsafe { libc::close(other_end.as_raw_fd()) } == 0 => {
            if !wait_at(gate.as_raw_fd()) {
                return;
            }
            execute(prepared)
        }
        Ok(()) => EXECUTE,
        Err(step) => step,
    };
    tell(report.as_raw_fd(), failed);
}

fn arrange(prepared: &Prepared) -> Result<(), u8> {
    for signal in 1..=SIGNALS {
        let action = if prepared.signals.ignores(signal) { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: async-signal-safe. The two signals that cannot be set answer an error, which is harmless.
        unsafe { libc::signal(signal, action) };
    }
    if let Some(limit) = &prepared.descriptor_limit {
        // SAFETY: reads one structure. A limit that is only lowered again is never refused.
        unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) };
    }
    for (target, stream) in prepared.streams.iter().enumerate() {
        let Some(stream) = stream else { continue };
        // SAFETY: async-signal-safe; takes numbers only. A copy is not closed by exec.
        if unsafe { libc::dup2(*stream, target as RawFd) } < 0 {
            return Err(STREAMS);
        }
    }
    match &prepared.directory {
        // SAFETY: async-signal-safe; reads a string that ends with a zero.
        Some(directory) if unsafe { libc::chdir(directory.as_ptr()) } < 0 => Err(DIRECTORY),
        _ => Ok(()),
    }
}

/// Whether the gate was opened, rather than closed.
fn wait_at(gate: RawFd) -> bool {
    let mut byte = 0_u8;
    loop {
        // SAFETY: async-signal-safe; writes at most the one byte it is given.
        match unsafe { libc::read(gate, (&raw mut byte).cast(), 1) } {
            1 => return true,
            count if count < 0 && errno() == libc::EINTR => {}
            _ => return false,
        }
    }
}

/// Returns only when the program could not be executed. `execvpe` of glibc and musl keeps to the stack and to
/// system calls.
fn execute(prepared: &Prepared) -> u8 {
    // SAFETY: the set is whole; the arrays end with a null and point to strings that end with a zero (invariant
    // of `Prepared`).
    unsafe {
        libc::sigprocmask(libc::SIG_SETMASK, prepared.signals.blocked.as_ref(), ptr::null_mut());
        libc::execvpe(
            prepared.program.as_ptr(),
            prepared.argument_pointers.as_ptr(),
            prepared.environment_pointers.as_ptr(),
        );
    }
    EXECUTE
}

fn tell(report: RawFd, step: u8) {
    let [first, second, third, fourth] = errno().to_ne_bytes();
    let bytes: [u8; REPORT_BYTES] = [step, first, second, third, fourth];
    // SAFETY: async-signal-safe; reads the bytes it is given. They fit a pipe whole.
    unsafe { libc::write(report, bytes.as_ptr().cast(), bytes.len()) };
}

fn errno() -> libc::c_int {
    // SAFETY: the address of this thread's error number is always valid.
    unsafe { *libc::__errno_location() }
}
