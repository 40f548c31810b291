//! The processor's thread: owns the processor, waits on the bounded queue, ends with the collector's report.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

use crossbeam_channel::Receiver;

use crate::collector::{CollectorControl, CollectorReport, Delivery};
use crate::processor::{Processor, ProcessorError};

/// Counts of a recording that runs.
#[derive(Debug, Default)]
pub struct Status {
    samples: AtomicU64,
}

impl Status {
    /// Samples that became rows so far.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples.load(Ordering::Relaxed)
    }
}

pub(super) struct Worker {
    processor: Processor,
    queue: Receiver<Delivery>,
    control: CollectorControl,
    status: Arc<Status>,
    is_stopping: bool,
}

impl Worker {
    pub(super) fn new(processor: Processor, queue: Receiver<Delivery>, control: CollectorControl) -> Self {
        Self { processor, queue, control, status: Arc::default(), is_stopping: false }
    }

    pub(super) fn status(&self) -> Arc<Status> {
        Arc::clone(&self.status)
    }

    #[expect(clippy::type_complexity, reason = "a thread's result, named once")]
    pub(super) fn spawn(
        self,
    ) -> std::io::Result<JoinHandle<Result<(Processor, Box<CollectorReport>), ProcessorError>>> {
        thread::Builder::new().name("processor".to_owned()).spawn(|| self.run())
    }

    fn run(mut self) -> Result<(Processor, Box<CollectorReport>), ProcessorError> {
        while let Ok(delivery) = self.queue.recv() {
            if let Some(report) = self.processor.on(delivery)? {
                return Ok((self.processor, report));
            }
            self.status.samples.store(self.processor.samples(), Ordering::Relaxed);
            self.stop_on_failure();
        }
        Err(ProcessorError::NoReport)
    }

    /// Ends the recording when its rows cannot be kept. A command is answered after the collector's round,
    /// which may wait for this thread to take deliveries, so another thread waits for the answer.
    fn stop_on_failure(&mut self) {
        if self.is_stopping || self.processor.failure().is_none() {
            return;
        }
        self.is_stopping = true;
        let control = self.control.clone();
        // Without the thread the queue is still drained to the targets' end; rows only grow until then.
        let _ = thread::Builder::new().name("stopper".to_owned()).spawn(move || control.stop());
    }
}
