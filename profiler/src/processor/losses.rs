//! What was lost, where and when: one row for each run of losses in a ring.

use std::collections::BTreeMap;

use microscope_capture::{Builder, Loss, LossKind};

use crate::collector::{CollectorReport, RingId, RingKind};
use crate::order::Unit;
use crate::records::Body;

/// Losses of a ring that lie no farther apart are one row.
const APART_NS: u64 = 100_000_000;
/// Rows of rings at most, about: later losses widen the last row of their ring and kind.
const ROWS_MAX: usize = 1 << 14;

/// The stage that notes losses.
pub(super) struct Losses {
    start_ns: u64,
    rings: BTreeMap<RingId, Ring>,
    rows: Vec<Loss>,
}

#[derive(Default)]
struct Ring {
    /// The last record that got through: what is lost lies after it.
    seen_ns: u64,
    counted: u64,
    /// Index of the last row of each kind.
    last: BTreeMap<LossKind, usize>,
}

impl Losses {
    pub(super) fn new(start_ns: u64) -> Self {
        Self { start_ns, rings: BTreeMap::new(), rows: Vec::new() }
    }

    pub(super) fn on(&mut self, unit: &Unit<'_>) {
        let time_ns = unit.record.stamp.time_ns;
        match &unit.record.body {
            Body::Lost(lost) => self.lost(unit.ring, lost.count, time_ns),
            Body::Throttle(throttle) if throttle.is_stopped => {
                self.note(unit.ring, LossKind::Throttled, 1, time_ns);
            }
            _ => {}
        }
        let ring = self.rings.entry(unit.ring).or_default();
        ring.seen_ns = ring.seen_ns.max(time_ns);
    }

    fn lost(&mut self, ring: RingId, count: u64, time_ns: u64) {
        let counted = &mut self.rings.entry(ring).or_default().counted;
        *counted = counted.saturating_add(count);
        self.note(ring, kind_of(ring), count, time_ns);
    }

    fn note(&mut self, id: RingId, kind: LossKind, count: u64, time_ns: u64) {
        let ring = self.rings.entry(id).or_default();
        let from_ns = ring.seen_ns.max(self.start_ns).min(time_ns).saturating_sub(self.start_ns);
        let until_ns = time_ns.saturating_sub(self.start_ns).max(from_ns);
        let is_full = self.rows.len() >= ROWS_MAX;
        let near = |row: &&mut Loss| is_full || from_ns.saturating_sub(row.until_ns) <= APART_NS;
        let last = ring.last.get(&kind).and_then(|last| self.rows.get_mut(*last));
        if let Some(row) = last.filter(near) {
            row.count = row.count.saturating_add(count);
            row.until_ns = row.until_ns.max(until_ns);
        } else {
            ring.last.insert(kind, self.rows.len());
            self.rows.push(row(kind, count, (from_ns, until_ns), Some(id)));
        }
    }

    /// The kernel's own counts know more than its records said: the rest was lost after the last of them.
    pub(super) fn on_report(&mut self, report: &CollectorReport) {
        for ring in &report.rings {
            let counted = self.rings.get(&ring.ring).map_or(0, |ring| ring.counted);
            let rest = ring.lost_records.unwrap_or(0).saturating_sub(counted);
            if rest > 0 {
                self.lost(ring.ring, rest, report.ended_ns);
            }
        }
    }

    /// A loss of which only the number is known.
    pub(super) fn add(&mut self, kind: LossKind, count: u64, until_ns: u64) {
        if count > 0 {
            self.rows.push(row(kind, count, (0, until_ns.saturating_sub(self.start_ns)), None));
        }
    }

    /// Records of one ring that are counted, not lost.
    pub(super) fn add_in_ring(&mut self, kind: LossKind, count: u64, ring: RingId, span_ns: (u64, u64)) {
        let from = span_ns.0.saturating_sub(self.start_ns);
        let until = span_ns.1.saturating_sub(self.start_ns).max(from);
        self.rows.push(row(kind, count, (from, until), Some(ring)));
    }

    pub(super) fn write(self, builder: &mut Builder) {
        for row in self.rows {
            builder.tables.losses.push(row);
        }
    }
}

const fn kind_of(ring: RingId) -> LossKind {
    match ring.kind {
        RingKind::Samples => LossKind::RingFull,
        RingKind::SideBand => LossKind::SideBandFull,
    }
}

fn row(kind: LossKind, count: u64, (from_ns, until_ns): (u64, u64), ring: Option<RingId>) -> Loss {
    Loss {
        kind,
        count,
        from_ns,
        until_ns,
        cpu: ring.map(|ring| u16::try_from(ring.cpu).unwrap_or(u16::MAX)),
        process: None,
        thread: None,
        detail: microscope_capture::StringId::new(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Lost, Record, Stamp};

    const SAMPLES: RingId = RingId { cpu: 3, kind: RingKind::Samples };
    const SIDE_BAND: RingId = RingId { cpu: 3, kind: RingKind::SideBand };

    /// Notes records of a recording that began at 1 s: time in ms and how many were lost (0: another record).
    fn losses(records: &[(RingId, u64, u64)]) -> Losses {
        let mut losses = Losses::new(1_000_000_000);
        for (ring, time_ms, lost) in records {
            let stamp = Stamp { event: 0, pid: 1, tid: 1, time_ns: time_ms * 1_000_000, cpu: ring.cpu };
            let body = match lost {
                0 => Body::Output(&[]),
                count => Body::Lost(Lost { count: *count, samples_only: false }),
            };
            let record = Record { stamp, body };
            losses.on(&Unit { ring: *ring, position: 0, is_late: false, attached: None, record });
        }
        losses
    }

    fn rows(losses: Losses) -> Vec<(LossKind, u64, u64, u64)> {
        let mut builder = Builder::new();
        losses.write(&mut builder);
        let rows = builder.tables.losses.iter().map(|(_, row)| {
            assert_eq!(row.cpu, Some(3));
            (row.kind, row.count, row.from_ns / 1_000_000, row.until_ns / 1_000_000)
        });
        rows.collect()
    }

    #[test]
    fn a_loss_lies_after_the_last_record_of_its_own_ring() {
        let seen = [(SAMPLES, 1200, 0), (SIDE_BAND, 1300, 0), (SAMPLES, 1500, 7), (SIDE_BAND, 1600, 2)];
        let expected = [(LossKind::RingFull, 7, 200, 500), (LossKind::SideBandFull, 2, 300, 600)];
        assert_eq!(rows(losses(&seen)), expected);
    }

    #[test]
    fn losses_close_together_are_one_row() {
        let seen = [(SAMPLES, 1100, 1), (SAMPLES, 1150, 2), (SAMPLES, 1400, 0), (SAMPLES, 1450, 4)];
        let expected = [(LossKind::RingFull, 3, 0, 150), (LossKind::RingFull, 4, 400, 450)];
        assert_eq!(rows(losses(&seen)), expected);
    }

    #[test]
    fn rows_are_bounded_though_kinds_alternate() {
        let mut losses = losses(&[]);
        for time_s in 1..=ROWS_MAX as u64 {
            losses.rings.entry(SAMPLES).or_default().seen_ns = time_s * 1_000_000_000 - 500_000_000;
            losses.note(SAMPLES, LossKind::RingFull, 1, time_s * 1_000_000_000);
            losses.note(SAMPLES, LossKind::Throttled, 1, time_s * 1_000_000_000);
        }
        let rows = rows(losses);
        assert_eq!(rows.len(), ROWS_MAX);
        assert_eq!(rows.iter().map(|(_, count, ..)| count).sum::<u64>(), 2 * ROWS_MAX as u64);
    }

    #[test]
    fn what_only_the_kernels_count_knows_was_lost_at_the_end() {
        let mut losses = losses(&[(SAMPLES, 1100, 1), (SAMPLES, 1900, 0)]);
        losses.on_report(&CollectorReport {
            cause: crate::collector::EndCause::Stopped,
            started_ns: 1_000_000_000,
            ended_ns: 2_000_000_000,
            rings: vec![crate::collector::RingReport { ring: SAMPLES, bytes: 0, lost_records: Some(5) }],
            targets: Vec::new(),
            exit: None,
            own: crate::sys::process::CpuTimes::default(),
            wakeups: 0,
            copied_bytes: 0,
        });
        assert_eq!(rows(losses), [(LossKind::RingFull, 1, 0, 100), (LossKind::RingFull, 4, 900, 1000)]);
    }
}
