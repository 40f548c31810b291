//! Waits for whichever comes first: a descriptor that is ready, a tick, or a call from another thread.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

const TICK: u64 = u64::MAX;
const CALL: u64 = u64::MAX - 1;
const READY_MAX: usize = 64;

/// Waits on descriptors, a timer and a [`Waker`].
#[derive(Debug)]
pub struct Poller {
    epoll: Epoll,
    timer: TimerFd,
    call: Arc<EventFd>,
    ready: Vec<u64>,
}

/// Ends a [`Poller`]'s wait from another thread.
#[derive(Clone, Debug)]
pub struct Waker(Arc<EventFd>);

impl Waker {
    /// Ends the wait that is going on, or else the next one.
    pub fn wake(&self) {
        // Only an overflowing count can fail, and then a wake-up is pending already.
        let _ = self.0.write(1);
    }
}

impl Poller {
    /// Ticks every `period`.
    pub fn new(period: Duration) -> Result<Self, Errno> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)?;
        let call = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TICK))?;
        epoll.add(&call, EpollEvent::new(EpollFlags::EPOLLIN, CALL))?;
        timer.set(Expiration::Interval(TimeSpec::from_duration(period)), TimerSetTimeFlags::empty())?;
        Ok(Self { epoll, timer, call: Arc::new(call), ready: Vec::with_capacity(READY_MAX) })
    }

    /// Also waits for `source`, which the wait then names by `token`.
    pub fn add(&self, source: impl AsFd, token: u32) -> Result<(), Errno> {
        self.epoll.add(source, EpollEvent::new(EpollFlags::EPOLLIN, u64::from(token)))
    }

    /// No longer waits for `source`.
    pub fn remove(&self, source: impl AsFd) -> Result<(), Errno> {
        self.epoll.delete(source)
    }

    /// What ends waits here from elsewhere.
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.call))
    }

    /// Waits, and gives the tokens of the descriptors that are ready: none after a tick, a call or a signal.
    pub fn wait(&mut self) -> Result<impl Iterator<Item = u32> + '_, Errno> {
        let mut events = [EpollEvent::empty(); READY_MAX];
        let count = match self.epoll.wait(&mut events, EpollTimeout::NONE) {
            Err(Errno::EINTR) => 0,
            answer => answer?,
        };
        self.ready.clear();
        self.ready.extend(events.iter().take(count).map(EpollEvent::data));
        self.acknowledge();
        Ok(self.ready.iter().filter_map(|token| u32::try_from(*token).ok()))
    }

    /// Reads what a tick or a call left, else the next wait would end at once. Neither blocks nor matters if it
    /// has nothing to read.
    fn acknowledge(&self) {
        if self.ready.contains(&TICK) {
            let _ = self.timer.wait();
        }
        if self.ready.contains(&CALL) {
            let _ = self.call.read();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::Instant;

    use super::*;

    #[test]
    fn a_tick_ends_a_wait_without_tokens() {
        let mut poller = Poller::new(Duration::from_millis(5)).unwrap();
        let before = Instant::now();
        assert_eq!(poller.wait().unwrap().count(), 0);
        assert!(before.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_call_from_another_thread_ends_a_wait() {
        let mut poller = Poller::new(Duration::from_secs(600)).unwrap();
        let waker = poller.waker();
        std::thread::spawn(move || waker.wake()).join().unwrap();
        assert_eq!(poller.wait().unwrap().count(), 0);
    }

    #[test]
    fn a_ready_descriptor_is_named() {
        let mut poller = Poller::new(Duration::from_secs(600)).unwrap();
        let source = EventFd::from_value(1).unwrap();
        poller.add(&source, 7).unwrap();
        assert_eq!(poller.wait().unwrap().collect::<Vec<_>>(), [7]);
        poller.remove(&source).unwrap();
        poller.waker().wake();
        assert_eq!(poller.wait().unwrap().count(), 0);
    }
}
