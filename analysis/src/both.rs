//! Two independent parts of an answer at the same time. What they answer does not depend on it.

use std::thread;

/// Runs `one` here and `other` on a thread of its own. A panic in either is this thread's.
pub(crate) fn both<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        (one(), other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
