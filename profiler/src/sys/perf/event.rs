//! An open perf event: a descriptor that is closed with it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// An open perf event.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    pub(super) fn new(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
