//! Two rings for each processor, and the events that own them.

use nix::errno::Errno;

use super::planned::Planned;
use super::{RingId, RingKind, StartError};
use crate::sys::perf::{Event, EventAttributes, Kernel};
use crate::sys::ring::Ring;

/// A ring with the event that owns it, whose watermark wakes the collector.
#[derive(Debug)]
pub(super) struct OwnedRing {
    pub(super) id: RingId,
    pub(super) owner: Event,
    pub(super) ring: Ring,
}

/// All rings, by processor and kind.
#[derive(Debug)]
pub(super) struct Rings(Vec<OwnedRing>);

impl Rings {
    pub(super) fn iter(&self) -> impl Iterator<Item = &OwnedRing> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut OwnedRing> {
        self.0.iter_mut()
    }
}

/// Opens the rings of a plan. What may be locked is shared with other recordings of this user and cannot be asked
/// for: refused sizes are halved until they fit, and the plan then says so.
pub(super) fn open_rings(kernel: &dyn Kernel, mut planned: Planned) -> Result<(Planned, Rings), StartError> {
    loop {
        match try_open_rings(kernel, &planned) {
            Ok(rings) => return Ok((planned, rings)),
            Err(StartError::System { errno: Errno::EPERM | Errno::ENOMEM, .. }) => {
                let mut allowance = planned.allowance;
                allowance.bytes = planned.ring_bytes() / 2;
                planned = planned.sized(allowance)?;
            }
            Err(error) => return Err(error),
        }
    }
}

fn try_open_rings(kernel: &dyn Kernel, planned: &Planned) -> Result<Rings, StartError> {
    let sizes = planned.plan.rings;
    let kinds = [(RingKind::SideBand, sizes.side_band_bytes), (RingKind::Samples, sizes.sample_bytes)];
    let mut rings = Vec::with_capacity(2 * planned.plan.cpus.len());
    for cpu in &planned.plan.cpus {
        for (kind, data_bytes) in kinds {
            rings.push(open_ring(kernel, planned, RingId { cpu: *cpu, kind }, data_bytes)?);
        }
    }
    Ok(Rings(rings))
}

fn open_ring(
    kernel: &dyn Kernel,
    planned: &Planned,
    id: RingId,
    data_bytes: usize,
) -> Result<OwnedRing, StartError> {
    let watermark_bytes = u32::try_from(data_bytes / 4).unwrap_or(u32::MAX);
    let attributes = EventAttributes { watermark_bytes, ..planned.templates.owner };
    let failed = |doing| move |errno| StartError::System { doing, errno };
    let subject = planned.templates.owner_subject;
    let owner = kernel.open(&attributes, subject, id.cpu).map_err(failed("open the owner of a ring"))?;
    let memory = kernel.map(&owner, data_bytes).map_err(failed("map a ring"))?;
    Ok(OwnedRing { id, owner, ring: Ring::new(memory) })
}
