//! Beside the samples' way: frames get their names while the recording goes on.
//!
//! Comes in: the frame rows the builder gained since the last look, and a [`NameSource`] for each module. Goes
//! out, at the end: address facts, functions, files and failures as rows. No stored id depends on any of it,
//! so a capture is complete in its addresses before the last name is known.

mod facts;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use microscope_capture::{Builder, Frame, FrameId, ModuleId};
use rustc_hash::FxHashMap;

use crate::debug_info::{Failure, NameSource, Named, NamedAddress, Namers, Request, Target};

/// Asks the namers for each new frame and keeps their answers.
pub struct Naming {
    namers: Namers,
    answers: Receiver<Named>,
    sources: FxHashMap<ModuleId, Arc<dyn NameSource>>,
    /// Samples whose innermost frame is of a module, by its row, since it was last asked about.
    heat: Vec<u64>,
    /// Frames before this row were asked for, or have no module that can be named.
    asked: usize,
    /// Requests that the namers had no room for.
    refused: Vec<Request>,
    waiting: usize,
    found: Found,
}

/// What the namers answered so far.
#[derive(Default)]
struct Found {
    names: FxHashMap<FrameId, NamedAddress>,
    failures: Vec<(ModuleId, Failure)>,
    panicked: u64,
}

impl Naming {
    /// Starts `threads` namers.
    ///
    /// # Errors
    /// The system refused to start a thread.
    pub fn start(threads: NonZeroUsize) -> std::io::Result<Self> {
        let (namers, answers) = Namers::start(threads)?;
        Ok(Self {
            namers,
            answers,
            sources: FxHashMap::default(),
            heat: Vec::new(),
            asked: 0,
            refused: Vec::new(),
            waiting: 0,
            found: Found::default(),
        })
    }

    /// Says what names a module's addresses; before any frame of it is asked for.
    pub fn add_module(&mut self, module: ModuleId, source: Arc<dyn NameSource>) {
        self.sources.insert(module, source);
    }

    /// A sample's innermost frame is of this module: the hottest modules are named first.
    pub fn note_sample(&mut self, module: ModuleId) {
        if self.heat.len() <= module.index() {
            self.heat.resize(module.index() + 1, 0);
        }
        self.heat[module.index()] += 1;
    }

    /// Asks for the frames that came since the last call, and takes the answers that are there.
    pub fn advance(&mut self, builder: &Builder) {
        for request in std::mem::take(&mut self.refused) {
            self.send(request);
        }
        for request in self.new_requests(builder) {
            self.waiting += request.targets.len();
            self.send(request);
        }
        while let Ok(named) = self.answers.try_recv() {
            self.take(named);
        }
    }

    fn send(&mut self, request: Request) {
        self.refused.extend(self.namers.request(request).err());
    }

    fn new_requests(&mut self, builder: &Builder) -> Vec<Request> {
        let mut targets: FxHashMap<ModuleId, Vec<Target>> = FxHashMap::default();
        for id in builder.tables.frames.ids().skip(self.asked) {
            let frame = builder.tables.frames.row(id);
            if let Some(module) = frame.module.filter(|_| !frame.kind.is_named()) {
                targets.entry(module).or_default().push(target(id, frame));
            }
        }
        self.asked = builder.tables.frames.len();
        let mut requests: Vec<_> =
            targets.into_iter().filter_map(|(module, targets)| self.request(module, targets)).collect();
        requests.sort_unstable_by_key(|request| request.module);
        requests
    }

    fn request(&mut self, module: ModuleId, targets: Vec<Target>) -> Option<Request> {
        let source = Arc::clone(self.sources.get(&module)?);
        let weight = self.heat.get_mut(module.index()).map_or(0, std::mem::take);
        Some(Request { module: u64::from(module.get()), source, weight, targets })
    }

    fn take(&mut self, named: Named) {
        self.waiting = self.waiting.saturating_sub(named.names.len());
        self.found.take(named);
    }

    /// How many frames wait for a name.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Waits for every name, then writes the rows. `progress` is told how many frames still wait.
    pub fn finish(mut self, builder: &mut Builder, mut progress: impl FnMut(usize)) {
        self.advance(builder);
        while self.waiting > 0 {
            progress(self.waiting);
            let Ok(named) = self.answers.recv() else { break };
            self.take(named);
            self.advance(builder);
        }
        self.found.write(builder);
    }
}

impl Found {
    fn take(&mut self, named: Named) {
        let module = ModuleId::new(u32::try_from(named.module).unwrap_or(u32::MAX));
        self.panicked += named.panicked.len() as u64;
        self.failures.extend(named.failures.into_iter().map(|failure| (module, failure)));
        for (tag, name) in named.names {
            self.names.insert(FrameId::new(u32::try_from(tag).unwrap_or(u32::MAX)), name);
        }
    }
}

fn target(id: FrameId, frame: Frame) -> Target {
    Target { tag: u64::from(id.get()), relative_address: frame.address, is_caller: frame.kind.is_caller() }
}

#[cfg(test)]
mod tests;
