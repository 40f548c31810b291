//! Commands, done between two rounds.

use super::Drain;
use crate::collector::arming::Arming;
use crate::collector::commands::Command;
use crate::collector::targets::Target;
use crate::collector::{Delivery, StartError, Topology};

impl Drain {
    pub(super) fn answer_requests(&mut self) {
        while let Ok((command, answer)) = self.requests.try_recv() {
            let done = self.execute(command);
            // Whoever asked may have stopped waiting.
            let _ = answer.try_send(done);
        }
    }

    fn execute(&mut self, command: Command) -> Result<usize, StartError> {
        match command {
            Command::Stop => self.progress.stop = true,
            Command::SetSampling(on) => self.events.set_sampling(self.kernel.as_ref(), 0, on),
            Command::Attach(pids) => return self.attach(&pids),
            Command::Rescan { pid, known } => return self.arm(pid, &known),
        }
        Ok(0)
    }

    fn attach(&mut self, pids: &[u32]) -> Result<usize, StartError> {
        let mut threads = 0;
        for pid in pids {
            let mut target = Target::attach(*pid)?;
            threads += self.arm(*pid, &[])?;
            target.begin(self.kernel.as_ref());
            self.targets.push(target);
            let watched = self.watch_targets(self.targets.len() - 1);
            watched.map_err(|errno| StartError::System { doing: "watch the target", errno })?;
        }
        Ok(threads)
    }

    /// Events that watch everyone need nothing more for one more process.
    fn arm(&mut self, pid: u32, covered: &[u32]) -> Result<usize, StartError> {
        if self.topology == Topology::SystemWide {
            return Ok(0);
        }
        let kernel = self.kernel.as_ref();
        let first = self.events.len();
        let mut arming =
            Arming { kernel, templates: &self.templates, rings: &self.rings, events: &mut self.events };
        let armed = arming.process(pid, covered);
        self.outbox.push(Delivery::Events(self.events.layouts_from(first)));
        self.events.set_sampling(kernel, first, true);
        armed
    }
}
