//! The reasons for the trap at each site.

use crate::sites::SiteId;
use crate::sys::Tid;
use crate::watchpoints::WatchpointId;
use invigil_target::BreakpointId;

/// Reason for a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrapReason {
    /// A breakpoint of the user or a scenario.
    Breakpoint(BreakpointId),
    /// An event: index of its plan, and of the site in the plan.
    Event { plan_index: u32, site_index: u32 },
    /// A tail-called function returns here, in place of the function that jumped to it.
    TailReturn,
    /// The dynamic loader reports loaded and unloaded libraries here.
    Loader,
    /// A step, `finish` or `until` ends here if this thread arrives with its stack pointer above this value.
    StepEnd { tid: Tid, above: u64 },
    /// A watched local variable ceases to exist when this thread arrives with its stack pointer above this value.
    FrameEnd { watchpoint: WatchpointId, tid: Tid, above: u64 },
}

/// The reasons for the traps at all sites.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrapReasons {
    by_site: Vec<Vec<TrapReason>>,
}

impl TrapReasons {
    /// The reasons of a site.
    #[inline]
    pub(crate) fn at(&self, site: SiteId) -> &[TrapReason] {
        self.by_site.get(site.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Adds a reason. Events stay in the order of the event catalog.
    pub(crate) fn add(&mut self, site: SiteId, reason: TrapReason) {
        let index = site.0 as usize;
        if self.by_site.len() <= index {
            self.by_site.resize_with(index + 1, Vec::new);
        }
        let all = &mut self.by_site[index];
        all.push(reason);
        all.sort_by_key(|reason| match reason {
            TrapReason::Event { plan_index, .. } => *plan_index,
            _ => 0,
        });
    }

    /// Number of reasons that are events.
    pub(crate) fn event_count(&self) -> usize {
        self.by_site.iter().flatten().filter(|reason| matches!(reason, TrapReason::Event { .. })).count()
    }

    /// Removes a reason once. Returns whether there was one.
    pub(crate) fn remove(&mut self, site: SiteId, reason: TrapReason) -> bool {
        let Some(all) = self.by_site.get_mut(site.0 as usize) else { return false };
        let found = all.iter().position(|known| *known == reason);
        found.map(|at| all.remove(at)).is_some()
    }

    /// Removes all reasons of an unmapped site.
    pub(crate) fn forget(&mut self, site: SiteId) {
        if let Some(all) = self.by_site.get_mut(site.0 as usize) {
            all.clear();
        }
    }

    /// Removes all reasons of all sites.
    pub(crate) fn clear(&mut self) {
        self.by_site.clear();
    }
}
