//! The collector's end of the bounded queue. It never waits while recording: what the queue does not take is kept
//! in order here, and the collector then leaves samples in their rings for as long as those last.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

use super::Delivery;

/// Deliveries on their way to the processor, in order.
#[derive(Debug)]
pub(super) struct Outbox {
    queue: SyncSender<Delivery>,
    backlog: VecDeque<Delivery>,
    receiver_gone: bool,
}

impl Outbox {
    pub(super) fn new(queue: SyncSender<Delivery>) -> Self {
        Self { queue, backlog: VecDeque::new(), receiver_gone: false }
    }

    /// Sends, or keeps for later when the queue is full.
    pub(super) fn push(&mut self, delivery: Delivery) {
        self.backlog.push_back(delivery);
        self.flush();
    }

    /// Sends what was kept, as far as the queue takes it.
    pub(super) fn flush(&mut self) {
        while let Some(delivery) = self.backlog.pop_front() {
            match self.queue.try_send(delivery) {
                Ok(()) => {}
                Err(TrySendError::Full(delivery)) => {
                    self.backlog.push_front(delivery);
                    return;
                }
                Err(TrySendError::Disconnected(_)) => {
                    self.receiver_gone = true;
                    self.backlog.clear();
                }
            }
        }
    }

    /// Sends everything that was kept, waiting for room.
    pub(super) fn flush_waiting(&mut self) {
        for delivery in std::mem::take(&mut self.backlog) {
            if self.queue.send(delivery).is_err() {
                self.receiver_gone = true;
                return;
            }
        }
    }

    /// Whether the processor is behind.
    pub(super) fn is_behind(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Whether nobody receives any more.
    pub(super) fn is_receiver_gone(&self) -> bool {
        self.receiver_gone
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn round(complete_to_ns: u64) -> Delivery {
        Delivery::Round { complete_to_ns }
    }

    #[test]
    fn what_a_full_queue_refuses_follows_in_order() {
        let (sender, receiver) = std::sync::mpsc::sync_channel(2);
        let mut outbox = Outbox::new(sender);
        (0..5).for_each(|time| outbox.push(round(time)));
        assert!(outbox.is_behind());
        let mut seen = Vec::new();
        while seen.len() < 5 {
            seen.extend(receiver.try_iter().map(|delivery| match delivery {
                Delivery::Round { complete_to_ns } => complete_to_ns,
                _ => u64::MAX,
            }));
            outbox.flush();
        }
        assert_eq!(seen, [0, 1, 2, 3, 4]);
        assert!(!outbox.is_behind());
    }

    #[test]
    fn a_receiver_that_left_is_noticed() {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        drop(receiver);
        let mut outbox = Outbox::new(sender);
        outbox.push(round(1));
        assert!(outbox.is_receiver_gone() && !outbox.is_behind());
    }
}
