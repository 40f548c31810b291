//! The processor's thread: owns the processor, waits on the bounded queue, ends with the collector's report.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::collector::{CollectorControl, CollectorReport, Delivery};
use crate::processor::{Processor, ProcessorError};
use crate::rawlog::RawLogWriter;

/// What is known of a recording while it runs.
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

/// How the processor's thread ends.
pub(super) type Processed = Result<(Processor, Box<CollectorReport>), ProcessorError>;

/// The thread, as the session sees it.
pub(super) struct Running {
    pub(super) thread: JoinHandle<Processed>,
    pub(super) status: Arc<Status>,
    /// Closed by the thread's end; nothing is ever sent.
    ended: Receiver<Infallible>,
}

impl Running {
    /// Waits for the thread's end at most so long. Whether it came.
    pub(super) fn ended_within(&self, duration: Duration) -> bool {
        self.ended.recv_timeout(duration) == Err(RecvTimeoutError::Disconnected)
    }
}

pub(super) struct Worker {
    processor: Processor,
    queue: Receiver<Delivery>,
    control: CollectorControl,
    raw_log: Option<Arc<RawLogWriter>>,
    status: Arc<Status>,
    is_stopping: bool,
}

impl Worker {
    pub(super) fn new(
        processor: Processor,
        queue: Receiver<Delivery>,
        control: CollectorControl,
        raw_log: Option<Arc<RawLogWriter>>,
    ) -> Self {
        Self { processor, queue, control, raw_log, status: Arc::default(), is_stopping: false }
    }

    pub(super) fn spawn(self) -> std::io::Result<Running> {
        let status = Arc::clone(&self.status);
        let (running, ended) = channel();
        let thread = thread::Builder::new().name("processor".to_owned()).spawn(|| {
            let _running: Sender<Infallible> = running;
            self.run()
        })?;
        Ok(Running { thread, status, ended })
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
