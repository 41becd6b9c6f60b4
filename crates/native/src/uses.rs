//! Who has a reason to stop a thread at a place.

use crate::sites::SiteId;
use crate::sys::Tid;
use crate::watch::Watcher;
use invigil_session::subject::PointId;

/// A reason for a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A point of the developer or the scenario.
    Point(PointId),
    /// An event of the monitors: the plan, and the place in it.
    Event { plan: u32, place: u32 },
    /// Calls return to here that were followed to their end.
    Return,
    /// The loader says that libraries came or went.
    Loader,
    /// A step of the developer ends here, if this thread comes here with its stack pointer above this.
    StepEnd { tid: Tid, above: u64 },
    /// What is watched is a variable of a call that ends when this thread comes here with its stack pointer
    /// above this.
    FrameEnd { watcher: Watcher, tid: Tid, above: u64 },
}

/// The reasons at each place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    by_site: Vec<Vec<Use>>,
}

impl Uses {
    #[inline]
    pub(crate) fn at(&self, site: SiteId) -> &[Use] {
        self.by_site.get(site.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Adds a reason. Events stay in the order of the catalog.
    pub(crate) fn add(&mut self, site: SiteId, reason: Use) {
        let index = site.0 as usize;
        if self.by_site.len() <= index {
            self.by_site.resize_with(index + 1, Vec::new);
        }
        let all = &mut self.by_site[index];
        all.push(reason);
        all.sort_by_key(|reason| match reason {
            Use::Event { plan, .. } => *plan,
            _ => 0,
        });
    }

    /// How many reasons are events.
    pub(crate) fn events(&self) -> usize {
        self.by_site.iter().flatten().filter(|reason| matches!(reason, Use::Event { .. })).count()
    }

    /// Removes one such reason; says whether there was one.
    pub(crate) fn remove(&mut self, site: SiteId, reason: Use) -> bool {
        let Some(all) = self.by_site.get_mut(site.0 as usize) else { return false };
        let found = all.iter().position(|known| *known == reason);
        found.map(|at| all.remove(at)).is_some()
    }

    /// A place is no more.
    pub(crate) fn forget(&mut self, site: SiteId) {
        if let Some(all) = self.by_site.get_mut(site.0 as usize) {
            all.clear();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.by_site.clear();
    }
}
