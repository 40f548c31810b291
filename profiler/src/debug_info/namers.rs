//! The pool of threads that names addresses while a recording runs.
//!
//! In come requests per module, merged until a thread is free; out come answers over a channel. The module with the
//! most weight (samples) is served first. A lookup that panics costs its own address only and is counted.
//! Which thread answers when does not change any answer, only the order of their arrival.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use super::{Failure, NameSource, NamedAddress};

/// Addresses waiting for a name at most; beyond it the requester keeps its request and asks again.
const WAITING_MAX: usize = 1 << 20;
/// Addresses that a thread takes at a time: enough to share a compile unit, few enough to share the work.
const CHUNK: usize = 64;

/// An address to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The requester's own number for it, returned with the name.
    pub tag: u64,
    /// The relative address.
    pub relative_address: u64,
    /// Whether it is a return address.
    pub is_caller: bool,
}

/// Addresses of one module to name.
#[derive(Clone)]
pub struct Request {
    /// The requester's own number for the module.
    pub module: u64,
    /// What names its addresses.
    pub source: Arc<dyn NameSource>,
    /// How many samples the addresses have; added to what the module already waits for.
    pub weight: u64,
    /// The addresses.
    pub targets: Vec<Target>,
}

/// Names of some addresses of one module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The requester's number for the module.
    pub module: u64,
    /// The names by tag; those of addresses that nothing names are empty.
    pub names: Vec<(u64, NamedAddress)>,
    /// Why addresses without a name have none; one for each range.
    pub failures: Vec<Failure>,
    /// Tags whose lookup panicked. They are in [`Self::names`] too, without a name.
    pub panicked: Vec<u64>,
}

/// The threads that name addresses. Dropping it ends them after the lookups they are at.
pub struct Namers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    modules: BTreeMap<u64, Waiting>,
    waiting: usize,
    /// No more requests come: end when nothing waits.
    finished: bool,
    /// End now.
    stopped: bool,
}

struct Waiting {
    source: Arc<dyn NameSource>,
    weight: u64,
    targets: Vec<Target>,
    /// A thread is at the module's first lookups, which load it; others would only wait for that.
    loading: bool,
    loaded: bool,
}

impl Namers {
    /// Starts `threads` threads. The channel closes once [`Self::finish`] was called and everything is named.
    ///
    /// # Errors
    /// The system refused to start a thread.
    pub fn start(threads: NonZeroUsize) -> std::io::Result<(Self, Receiver<Named>)> {
        let shared = Arc::new(Shared::default());
        // Unbounded, since it never holds more than was waiting, and that is bounded.
        let (sender, receiver) = channel();
        let mut namers = Self { shared: Arc::clone(&shared), threads: Vec::new() };
        for number in 0..threads.get() {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            let builder = thread::Builder::new().name(format!("namer {number}"));
            namers.threads.push(builder.spawn(move || work(&shared, &sender))?);
        }
        Ok((namers, receiver))
    }

    /// Adds addresses to what their module waits for.
    ///
    /// # Errors
    /// Too many addresses wait: the request comes back unchanged.
    pub fn request(&self, request: Request) -> Result<(), Request> {
        let mut queue = self.shared.lock();
        if queue.waiting.saturating_add(request.targets.len()) > WAITING_MAX {
            return Err(request);
        }
        queue.add(request);
        drop(queue);
        self.shared.wake.notify_all();
        Ok(())
    }

    /// How many addresses wait for a thread.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shared.lock().waiting
    }

    /// Says that no more requests come: the threads end, and the channel closes, when everything is named.
    pub fn finish(&self) {
        self.shared.lock().finished = true;
        self.shared.wake.notify_all();
    }
}

impl Drop for Namers {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            // A namer catches its panics; if one got out, the addresses it held stay unnamed.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece of work; `None` when there will be no more.
    fn next(&self) -> Option<Chunk> {
        let mut queue = self.lock();
        loop {
            if queue.stopped {
                return None;
            }
            if let Some(chunk) = queue.take() {
                return Some(chunk);
            }
            if queue.finished && queue.waiting == 0 {
                return None;
            }
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    fn mark_loaded(&self, module: u64) {
        if let Some(waiting) = self.lock().modules.get_mut(&module) {
            (waiting.loading, waiting.loaded) = (false, true);
        }
        self.wake.notify_all();
    }
}

/// Some addresses of one module, sorted so that neighbors share what is parsed for them.
struct Chunk {
    module: u64,
    source: Arc<dyn NameSource>,
    targets: Vec<Target>,
}

impl Queue {
    fn add(&mut self, request: Request) {
        self.waiting += request.targets.len();
        let Request { module, source, weight, targets } = request;
        let fresh = || Waiting { source, weight: 0, targets: Vec::new(), loading: false, loaded: false };
        let waiting = self.modules.entry(module).or_insert_with(fresh);
        waiting.weight = waiting.weight.saturating_add(weight);
        waiting.targets.extend(targets);
        waiting
            .targets
            .sort_unstable_by_key(|target| std::cmp::Reverse((target.relative_address, target.tag)));
    }

    fn take(&mut self) -> Option<Chunk> {
        let ready = self.modules.iter_mut().filter(|(_, w)| !w.targets.is_empty() && !w.loading);
        let (module, hottest) = ready.max_by_key(|(module, w)| (w.weight, std::cmp::Reverse(**module)))?;
        let from = hottest.targets.len().saturating_sub(CHUNK);
        let mut targets = hottest.targets.split_off(from);
        targets.reverse();
        if hottest.targets.is_empty() {
            hottest.weight = 0;
        }
        hottest.loading = !hottest.loaded;
        self.waiting -= targets.len();
        Some(Chunk { module: *module, source: Arc::clone(&hottest.source), targets })
    }
}

/// A namer's life: it owns nothing, waits for work, and ends when the queue is finished or stopped.
fn work(shared: &Shared, answers: &Sender<Named>) {
    while let Some(chunk) = shared.next() {
        let mut named =
            Named { module: chunk.module, names: Vec::new(), failures: Vec::new(), panicked: Vec::new() };
        for target in &chunk.targets {
            if shared.is_stopped() {
                return;
            }
            named.add(&*chunk.source, target);
        }
        shared.mark_loaded(chunk.module);
        if answers.send(named).is_err() {
            return;
        }
    }
}

impl Named {
    fn add(&mut self, source: &dyn NameSource, target: &Target) {
        // A source is immutable but for caches that are written whole or not at all: a panic leaves it usable.
        let looked_up = catch_unwind(AssertUnwindSafe(|| {
            let name = source.name(target.relative_address, target.is_caller);
            let failure = (!name.is_named()).then(|| source.failure(target.relative_address));
            (name, failure)
        }));
        let (name, failure) = looked_up.unwrap_or_else(|_| {
            self.panicked.push(target.tag);
            (NamedAddress::unnamed(), None)
        });
        self.names.push((target.tag, name));
        if let Some(failure) = failure.filter(|failure| !self.failures.contains(failure)) {
            self.failures.push(failure);
        }
    }
}
