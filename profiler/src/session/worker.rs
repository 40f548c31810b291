//! The processor's thread: owns the processor, waits on the bounded queue, ends with the collector's report.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use crate::collector::{CollectorControl, CollectorReport, Delivery};
use crate::processor::{Processor, ProcessorError};
use crate::rawlog::RawLogWriter;

/// What is known of a recording while it runs.
#[derive(Debug)]
pub struct Status {
    samples: AtomicU64,
    /// Closed by the worker's end; nothing is ever sent.
    running: Receiver<Infallible>,
}

impl Status {
    /// Samples that became rows so far.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples.load(Ordering::Relaxed)
    }

    /// Waits for the last record at most so long. Whether it came.
    pub(super) fn ended_within(&self, duration: Duration) -> bool {
        self.running.recv_timeout(duration) == Err(RecvTimeoutError::Disconnected)
    }
}

/// How the processor's thread ends.
pub(super) type Processed = Result<(Processor, Box<CollectorReport>), ProcessorError>;

pub(super) struct Worker {
    processor: Processor,
    queue: Receiver<Delivery>,
    control: CollectorControl,
    raw_log: Option<Arc<RawLogWriter>>,
    status: Arc<Status>,
    /// Dropped at the end: its receiver is the status.
    _running: Sender<Infallible>,
    is_stopping: bool,
}

impl Worker {
    pub(super) fn new(
        processor: Processor,
        queue: Receiver<Delivery>,
        control: CollectorControl,
        raw_log: Option<Arc<RawLogWriter>>,
    ) -> Self {
        let (running, receiver) = crossbeam_channel::bounded(0);
        let status = Arc::new(Status { samples: AtomicU64::new(0), running: receiver });
        Self { processor, queue, control, raw_log, status, _running: running, is_stopping: false }
    }

    pub(super) fn status(&self) -> Arc<Status> {
        Arc::clone(&self.status)
    }

    pub(super) fn spawn(self) -> std::io::Result<JoinHandle<Processed>> {
        thread::Builder::new().name("processor".to_owned()).spawn(|| self.run())
    }

    fn run(mut self) -> Processed {
        while let Ok(delivery) = self.queue.recv() {
            if let Some(raw_log) = &self.raw_log {
                raw_log.delivery(&delivery);
            }
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
