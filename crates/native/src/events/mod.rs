//! Native events: from event declarations to sites in the target, and from a stop at a site to parameter values.

mod emit;
mod instrument;
pub(crate) mod params;
mod pending_calls;
mod predefined_events;
mod predefined_params;
mod resolve;

pub(crate) use params::fetch_registers;

use crate::sites::SiteId;
use crate::sys::Tid;
use crate::watchpoints::{AccessKind, WatchpointId};
use iced_x86::Instruction;
use invigil_debuginfo::value::{Extractor, RegisterNeeds};
use invigil_expr::value::Value;
use invigil_monitor::event::{EventId, EventSet, Param};
use invigil_monitor::predefined_event::PredefinedEvent;
use std::ops::Range;

/// Role of a site for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiteRole {
    /// The event occurs here.
    Event,
    /// Entry of the function: values that are not available at its exit are saved.
    Entry,
    /// Tail call: another function will return in place of this one.
    TailCall,
    /// The code was unmapped.
    Unmapped,
}

/// A site of an event.
pub(crate) struct EventSite {
    pub(crate) site: SiteId,
    pub(crate) role: SiteRole,
    /// For each parameter, its extractor if it is read here.
    pub(crate) reads: Vec<Option<Extractor>>,
    /// The registers that the extractors need.
    needs: RegisterNeeds,
    /// For [`SiteRole::TailCall`]: the jump, and the code ranges of the function that it may leave.
    pub(crate) jump: Option<(Instruction, Vec<Range<u64>>)>,
}

/// What triggers an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// A location in the code, such as the entry of a function.
    Location,
    /// The exit of a function.
    Exit,
    /// An access to memory.
    Access(AccessKind),
    /// The entry or exit of a system call.
    Syscall { number: i64, after: bool },
    /// A notification of the kernel: a signal, a new process, a new thread.
    Predefined(PredefinedEvent),
    /// The event does not occur at a site: it is derived by a script, or could not be resolved.
    WithoutSite,
}

impl Trigger {
    /// Whether an embedded monitor can observe the event; memory accesses and system calls need the debugger.
    pub(crate) fn is_embeddable(&self) -> bool {
        match self {
            Trigger::Location | Trigger::Exit | Trigger::Predefined(_) | Trigger::WithoutSite => true,
            Trigger::Access(_) | Trigger::Syscall { .. } => false,
        }
    }
}

/// How an event is observed: its trigger and its sites.
pub(crate) struct EventPlan {
    pub(crate) event: EventId,
    pub(crate) name: String,
    pub(crate) params: Vec<Param>,
    pub(crate) trigger: Trigger,
    pub(crate) sites: Vec<EventSite>,
    /// Addresses that are resolved already: entries of functions, and locations.
    resolved: Vec<u64>,
    /// Whether the event is instrumented now.
    active: bool,
    /// The watchpoint that observes it, if it is an access.
    watchpoint: Option<WatchpointId>,
}

/// The plans of all events of the catalog.
#[derive(Default)]
pub(crate) struct EventPlans {
    all: Vec<EventPlan>,
    /// The process that `#fork` reports.
    pub(crate) last_child: Tid,
    /// Whether events with unknown names are pending, because a library that is loaded later may define them.
    pub(crate) allow_pending: bool,
    /// Buffer for the values of one event.
    values: Vec<Value>,
}

impl EventPlans {
    /// Removes all sites: the target executed another program.
    pub(crate) fn forget_sites(&mut self) {
        for plan in &mut self.all {
            plan.sites.clear();
            plan.resolved.clear();
            plan.watchpoint = None;
        }
    }

    /// Marks a site whose code was unmapped. It keeps its index, but no event occurs there.
    pub(crate) fn forget_site(&mut self, site: SiteId) {
        let event_sites = self.all.iter_mut().flat_map(|plan| &mut plan.sites);
        event_sites
            .filter(|event_site| event_site.site == site)
            .for_each(|event_site| event_site.role = SiteRole::Unmapped);
    }

    /// Removes the functions of an unmapped range, so functions loaded there are resolved again.
    pub(crate) fn forget_range(&mut self, range: &Range<u64>) {
        self.all.iter_mut().for_each(|plan| plan.resolved.retain(|entry| !range.contains(entry)));
    }

    /// Whether the trigger of an active event satisfies a test.
    fn any_active(&self, test: impl Fn(&Trigger) -> bool) -> bool {
        self.all.iter().any(|plan| plan.active && test(&plan.trigger))
    }

    /// Whether an active event is triggered by a system call.
    pub(crate) fn needs_syscalls(&self) -> bool {
        self.any_active(|trigger| matches!(trigger, Trigger::Syscall { .. }))
    }

    /// All plans.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &EventPlan> {
        self.all.iter()
    }

    /// The plan with an index.
    pub(crate) fn get(&self, plan: u32) -> &EventPlan {
        &self.all[plan as usize]
    }

    /// Whether all triggers satisfy a test.
    pub(crate) fn all_triggers(&self, test: impl Fn(&Trigger) -> bool) -> bool {
        self.all.iter().all(|plan| test(&plan.trigger))
    }

    /// All events of the catalog.
    pub(crate) fn all_events(&self) -> EventSet {
        let mut set = EventSet::default();
        self.all.iter().for_each(|plan| set.insert(plan.event));
        set
    }

    /// The events that are instrumented now.
    pub(crate) fn active_events(&self) -> EventSet {
        let mut set = EventSet::default();
        self.all.iter().filter(|plan| plan.active).for_each(|plan| set.insert(plan.event));
        set
    }

    /// Whether the event of a plan occurs at one of its sites now.
    pub(crate) fn emits(&self, plan: u32, event_site: u32) -> bool {
        let plan = &self.all[plan as usize];
        plan.active && plan.sites[event_site as usize].role == SiteRole::Event
    }
}
