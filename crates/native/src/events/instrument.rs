//! Putting points for the events that are needed now, and for no others.

use super::What;
use crate::target::Target;
use crate::uses::Use;
use crate::watch::{Access, Reason};
use invigil_monitor::event::EventSet;
use invigil_session::subject::Done;

impl Target {
    /// Puts points for these events, and for no others; or remembers to, while monitors inside are told everything.
    pub(crate) fn instrument(&mut self, needs: &EventSet) -> Done {
        match &mut self.inline.needs {
            Some(kept) => {
                kept.clone_from(needs);
                Ok(())
            }
            None => self.activate(needs),
        }
    }

    /// Puts points for these events, and for no others.
    pub(crate) fn activate(&mut self, needs: &EventSet) -> Done {
        for index in 0..self.plans.all.len() {
            let plan = &mut self.plans.all[index];
            let wanted = needs.contains(plan.symbol);
            if plan.active == wanted {
                continue;
            }
            plan.active = wanted;
            let is_exit = plan.what == What::Exit;
            for place in &plan.places {
                if wanted {
                    self.engine.sites.want(&self.engine.memory, place.site);
                } else {
                    self.engine.sites.release(&self.engine.memory, place.site);
                }
            }
            match plan.what.clone() {
                What::Access(access) if wanted => self.watch_event(index, access)?,
                What::Access(_) => {
                    if let Some(watcher) = plan.watcher.take() {
                        self.unwatch(watcher)?;
                    }
                }
                What::Syscall { .. } => self.set_syscalls()?,
                _ => {}
            }
            if is_exit {
                if wanted { self.note_standing(index)? } else { self.forget_calls(index) }
            }
        }
        Ok(())
    }

    /// Threads that stand at the begin of a call are in time for its end.
    fn note_standing(&mut self, index: usize) -> Done {
        let standing = self.engine.tasks.values().filter(|task| !task.foreign);
        let standing: Vec<_> = standing.filter_map(|task| Some((task.tid, task.standing?))).collect();
        for (tid, site) in standing {
            for place in 0..self.plans.all[index].places.len() {
                if self.plans.all[index].places[place].site == site {
                    self.note_call(tid, index as u32, place as u32)?;
                }
            }
        }
        Ok(())
    }

    /// What was noted for ends that nobody asks for any more would be out of date when somebody does again.
    fn forget_calls(&mut self, index: usize) {
        let symbol = self.plans.all[index].symbol;
        let mut returns = Vec::new();
        for task in self.engine.tasks.values_mut() {
            let forgotten = task.calls.extract_if(.., |call| call.symbol == symbol);
            returns.extend(forgotten.filter_map(|call| call.returns_to));
        }
        for site in returns {
            self.remove_use(site, Use::Return);
        }
    }

    /// Makes threads stop at system calls, or no longer.
    pub(crate) fn set_syscalls(&mut self) -> Done {
        let wanted = self.plans.wants_syscalls() || self.watches.has_pages() || self.is_armed();
        if self.engine.syscalls != wanted {
            self.engine.syscalls = wanted;
            // Threads that run stop at system calls only when they are let go anew.
            self.engine.hold()?;
        }
        Ok(())
    }

    /// After the code was replaced: what is asked for is asked for again.
    pub(super) fn rearm_plans(&mut self) -> Done {
        for index in 0..self.plans.all.len() {
            let plan = &self.plans.all[index];
            if let (true, What::Access(access), None) = (plan.active, plan.what.clone(), &plan.watcher) {
                self.watch_event(index, access)?;
            }
        }
        Ok(())
    }

    fn watch_event(&mut self, index: usize, access: Access) -> Done {
        let name = self.plans.all[index].name.clone();
        // A local variable can be watched while its function runs; later it may be there again.
        let watcher = match self.extent_of(&name) {
            Ok((datum, range)) => Some(self.watch(datum, range, access, Reason::Event(index as u32))?),
            Err(_) => None,
        };
        self.plans.all[index].watcher = watcher;
        Ok(())
    }

    /// The call is over whose variable an event is about.
    pub(crate) fn plan_watch_over(&mut self, plan: u32) {
        if let Some(plan) = self.plans.all.get_mut(plan as usize) {
            plan.watcher = None;
        }
    }

    /// Whether a plan is asked for now.
    pub(crate) fn is_plan_active(&self, plan: u32) -> bool {
        self.plans.all.get(plan as usize).is_some_and(|plan| plan.active)
    }
}
