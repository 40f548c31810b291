//! A kernel that does what a test says: it refuses, it has hardware this machine lacks, its threads come and go,
//! and its rings hold what the test writes. A [`Script`] stays with the test, its clone goes to the collector.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::sys::eventfd::EventFd;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::ftruncate;

use super::{Event, EventAttributes, Kernel, Start, Subject};
use crate::sys;
use crate::sys::machine::{Descriptors, Lockable, Machine};
use crate::sys::process::ProcessTimes;
use crate::sys::ring::RingMemory;

/// Whether an event is refused, and why.
type Rule = Box<dyn Fn(&EventAttributes, Subject) -> Option<Errno> + Send>;

/// A kernel by script.
#[derive(Clone)]
pub(crate) struct Script(Arc<Mutex<State>>);

struct State {
    machine: Machine,
    refuse: Rule,
    /// What may be locked, really.
    lockable_bytes: u64,
    now_ns: u64,
    /// One list for each time the threads are asked for; the last one stays.
    threads: VecDeque<Vec<u32>>,
    times: ProcessTimes,
    opened: Vec<Opened>,
    open: BTreeMap<RawFd, usize>,
}

/// An event that was opened at some time.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) attributes: EventAttributes,
    pub(crate) subject: Subject,
    pub(crate) cpu: u32,
    pub(crate) counts: bool,
    pub(crate) lost: u64,
    /// The event whose ring it writes to.
    output: Option<usize>,
    ring: Option<RingMemory>,
}

impl Script {
    /// A machine with two processors that permits everything and counts cycles.
    pub(crate) fn permissive() -> Self {
        let machine = Machine {
            cpus: vec![0, 1],
            paranoid: Some(-1),
            rate_limit_hz: Some(100_000),
            lockable: Lockable::Unlimited,
            descriptors: Descriptors { open: 10, limit: 1024 },
            memory_bytes: 1 << 30,
        };
        Self(Arc::new(Mutex::new(State {
            machine,
            refuse: Box::new(|_, _| None),
            lockable_bytes: u64::MAX,
            now_ns: 1_000_000_000,
            threads: VecDeque::from([vec![std::process::id()]]),
            times: ProcessTimes::default(),
            opened: Vec::new(),
            open: BTreeMap::new(),
        })))
    }

    /// The same for a user without rights at level 2, on a virtual machine that counts no cycles.
    pub(crate) fn unprivileged() -> Self {
        let script = Self::permissive().refusing(|attributes, subject| {
            if attributes.source.is_hardware() {
                Some(Errno::ENOENT)
            } else if !attributes.exclude_kernel || subject == Subject::Everyone {
                Some(Errno::EACCES)
            } else {
                None
            }
        });
        script.on_machine(|machine| {
            machine.paranoid = Some(2);
            machine.lockable = Lockable::Bytes((516 * 2 + 8192) << 10);
        })
    }

    pub(crate) fn refusing(
        self,
        rule: impl Fn(&EventAttributes, Subject) -> Option<Errno> + Send + 'static,
    ) -> Self {
        self.state().refuse = Box::new(rule);
        self
    }

    pub(crate) fn on_machine(self, change: impl FnOnce(&mut Machine)) -> Self {
        change(&mut self.state().machine);
        self
    }

    pub(crate) fn with_threads(self, lists: impl IntoIterator<Item = Vec<u32>>) -> Self {
        self.state().threads = lists.into_iter().collect();
        self
    }

    /// Lets rings take no more than this, whatever the limits say.
    pub(crate) fn locking_at_most(self, bytes: u64) -> Self {
        self.state().lockable_bytes = bytes;
        self
    }

    pub(crate) fn set_times(&self, times: ProcessTimes) {
        self.state().times = times;
    }

    pub(crate) fn boxed(&self) -> Box<dyn Kernel> {
        Box::new(self.clone())
    }

    /// Looks at every event that was opened, in order.
    pub(crate) fn opened<Answer>(&self, look: impl FnOnce(&[Opened]) -> Answer) -> Answer {
        look(&self.state().opened)
    }

    /// Writes a record as the first event that `picks` matches would; whether there was room.
    pub(crate) fn write(&self, picks: impl Fn(&Opened) -> bool, record: &[u8]) -> bool {
        let mut state = self.state();
        let Some(writer) = state.opened.iter().position(|opened| opened.output.is_some() && picks(opened))
        else {
            return false;
        };
        let owner = state.opened[writer].output.unwrap_or(writer);
        let written = state.opened[owner].ring.as_ref().is_some_and(|ring| ring.write(record).is_ok());
        state.opened[writer].lost += u64::from(!written);
        written
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn place(&self, event: &Event) -> Result<usize, Errno> {
        self.open.get(&event.as_fd().as_raw_fd()).copied().ok_or(Errno::EBADF)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl Kernel for Script {
    fn open(&self, attributes: &EventAttributes, subject: Subject, cpu: u32) -> Result<Event, Errno> {
        let mut state = self.state();
        if let Some(errno) = (state.refuse)(attributes, subject) {
            return Err(errno);
        }
        // Something that can be waited for and is never ready.
        let event = Event::new(OwnedFd::from(EventFd::new()?));
        let place = state.opened.len();
        state.open.insert(event.as_fd().as_raw_fd(), place);
        state.opened.push(Opened {
            attributes: *attributes,
            subject,
            cpu,
            counts: attributes.start == Start::Enabled,
            lost: 0,
            output: None,
            ring: None,
        });
        Ok(event)
    }

    /// Two mappings of the same memory: one for the collector, one to write.
    fn map(&self, event: &Event, data_bytes: usize) -> Result<RingMemory, Errno> {
        let mut state = self.state();
        let locked = (data_bytes + sys::page_bytes()) as u64;
        state.lockable_bytes = state.lockable_bytes.checked_sub(locked).ok_or(Errno::EPERM)?;
        let memory = memfd_create("ring", MFdFlags::MFD_CLOEXEC)?;
        ftruncate(&memory, locked.cast_signed())?;
        let place = state.place(event)?;
        state.opened[place].ring = Some(RingMemory::map(memory.as_fd(), data_bytes)?);
        RingMemory::map(memory.as_fd(), data_bytes)
    }

    fn redirect(&self, event: &Event, owner: &Event) -> Result<(), Errno> {
        let mut state = self.state();
        let (place, owner) = (state.place(event)?, state.place(owner)?);
        if state.opened[place].cpu != state.opened[owner].cpu || state.opened[owner].ring.is_none() {
            return Err(Errno::EINVAL);
        }
        state.opened[place].output = Some(owner);
        Ok(())
    }

    fn enable(&self, event: &Event) -> Result<(), Errno> {
        let mut state = self.state();
        let place = state.place(event)?;
        state.opened[place].counts = true;
        Ok(())
    }

    fn disable(&self, event: &Event) -> Result<(), Errno> {
        let mut state = self.state();
        let place = state.place(event)?;
        state.opened[place].counts = false;
        Ok(())
    }

    fn id(&self, event: &Event) -> Result<u64, Errno> {
        self.state().place(event).map(|place| place as u64 + 1)
    }

    fn lost(&self, event: &Event) -> Result<u64, Errno> {
        let state = self.state();
        let opened = &state.opened[state.place(event)?];
        if opened.attributes.count_lost { Ok(opened.lost) } else { Err(Errno::ENODATA) }
    }

    fn machine(&self) -> Machine {
        self.state().machine.clone()
    }

    fn threads(&self, _pid: u32) -> io::Result<Vec<u32>> {
        let mut state = self.state();
        let list =
            if state.threads.len() > 1 { state.threads.pop_front() } else { state.threads.front().cloned() };
        list.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn process_times(&self, _pid: u32) -> io::Result<ProcessTimes> {
        Ok(self.state().times)
    }

    /// Each look at the clock takes a tenth of a millisecond.
    fn now_ns(&self) -> u64 {
        let mut state = self.state();
        state.now_ns += 100_000;
        state.now_ns
    }
}
