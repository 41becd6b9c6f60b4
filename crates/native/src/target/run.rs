//! Running until there is something to tell, and serving those who have a point where a thread stands.

use super::Target;
use super::signals::detail;
use crate::engine::{Engine, Happening, lost, signal_name};
use crate::images;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::uses::Use;
use invigil_session::due::Owners;
use invigil_session::subject::{Done, Owner, Stop};
use std::time::Instant;

impl Target {
    /// Runs the program until there is something to tell.
    pub(crate) fn run(&mut self) -> Done<Stop> {
        self.without_probes()?;
        loop {
            let stop = self.run_on()?;
            // What monitors inside have dealt with, and nobody is to react to, is not told.
            let is_told =
                stop != Stop::Events || !self.inline.used || self.inline.is_told() || self.step_inside()?;
            if is_told {
                return Ok(stop);
            }
        }
    }

    fn run_on(&mut self) -> Done<Stop> {
        if let Some(ending) = &self.ended {
            return Ok(Stop::Ended(ending.clone()));
        }
        if let Some(tid) = self.serving
            && let Some(stop) = self.serve(tid)?
        {
            return Ok(stop);
        }
        if let Some(info) = self.alert.take() {
            return self.tell(Stop::Signal { name: signal_name(info.number), detail: detail(info) });
        }
        if let Some(stop) = self.served()? {
            return Ok(stop);
        }
        loop {
            let happening = self.engine.next()?;
            if let Some(stop) = self.dispatch(happening)? {
                return Ok(stop);
            }
        }
    }

    /// All is told where the thread stands that was being served: it goes on, unless its step ends here.
    fn served(&mut self) -> Done<Option<Stop>> {
        if let Some(tid) = self.serving
            && self.steps_here(tid)?
        {
            return self.step_went_on(tid);
        }
        self.go_on()?;
        Ok(None)
    }

    /// Lets the program go on where it stands.
    pub(crate) fn go_on(&mut self) -> Done {
        if let Some(tid) = self.departs()
            && self.engine.tasks.contains_key(&tid)
        {
            self.serving = None;
            self.engine.hold()?;
            self.await_left()?;
            self.engine.task(tid)?.steps = true;
            return self.engine.let_go(tid);
        }
        if self.engine.is_held() {
            self.serving = None;
            self.put_jumps()?;
            return self.engine.let_all_go();
        }
        self.serving.take().map_or(Ok(()), |tid| self.engine.let_go(tid))
    }

    /// Deals with what a thread did; gives what is to be told of it.
    fn dispatch(&mut self, happening: Happening) -> Done<Option<Stop>> {
        match happening {
            Happening::Hit { tid, site } => return self.hit(tid, site),
            Happening::Reacts { tid } => return self.reacts(tid).map(Some),
            Happening::Stepped { tid } => return self.stepped(tid),
            Happening::Syscall { tid, entering } => return self.syscall(tid, entering),
            Happening::Signal { tid, info } => return self.signal(tid, info),
            Happening::Started { tid } => {
                self.engine.presented(tid);
                self.affinity.inherited(tid);
                if let Some(stop) = self.system_event(tid, "#thread")? {
                    return Ok(Some(stop));
                }
                self.engine.let_go(tid)?;
            }
            Happening::Gone { tid } => {
                self.watches.before_call.remove(&tid);
                if self.current == tid {
                    self.current = self.engine.process;
                }
                return self.system_event(tid, "#thread_exit");
            }
            Happening::Forked { tid, child } => {
                self.plans.last_child = child;
                self.affinity.inherited(child);
                // One that shares the program's memory shares what is watched in it, too.
                if !self.engine.tasks.contains_key(&child) {
                    self.open_copy(child);
                }
                self.engine.release(child)?;
                if let Some(stop) = self.system_event(tid, "#fork")? {
                    return Ok(Some(stop));
                }
                self.engine.let_go(tid)?;
            }
            Happening::Execed { tid } => {
                self.became_another()?;
                self.record_anew()?;
                let told = self.system_event(tid, "#exec")?;
                if let Some(stop) = self.with_due(told) {
                    return Ok(Some(stop));
                }
                if self.is_recording() { self.go_on() } else { self.engine.let_go(tid) }?;
            }
            Happening::Held => self.go_on()?,
            Happening::Interrupted { tid } => {
                self.current = tid;
                return self.tell(Stop::Interrupted).map(Some);
            }
            Happening::Ended { status } => {
                let ending = Engine::ending(status);
                self.ended = Some(ending.clone());
                self.serving = None;
                self.save_past();
                let told = self.system_event(self.engine.process, "#exit")?;
                if let Some(stop) = self.with_due(told) {
                    return Ok(Some(stop));
                }
                return Ok(Some(Stop::Ended(ending)));
            }
        }
        Ok(None)
    }

    /// Tells the developer: the whole program stands still for that.
    pub(crate) fn tell(&mut self, stop: Stop) -> Done<Stop> {
        self.end_step();
        self.frame = 0;
        self.affinity.free_all();
        self.engine.hold()?;
        Ok(stop)
    }

    /// Makes the program stand still for the developer.
    pub(crate) fn suspend(&mut self) -> Done {
        self.end_step();
        self.affinity.free_all();
        if self.ended.is_some() { Ok(()) } else { self.engine.hold() }
    }

    /// A thread ran into a trap, or stepped to one.
    pub(crate) fn hit(&mut self, tid: Tid, site: SiteId) -> Done<Option<Stop>> {
        self.now = Instant::now();
        self.affinity.stopped(tid, self.now);
        let mut loader = false;
        for index in 0..self.uses.at(site).len() {
            match self.uses.at(site)[index] {
                Use::Event { plan, place } => self.note_call(tid, plan, place)?,
                Use::Loader => loader = true,
                Use::FrameEnd { watcher, tid: watched, above }
                    if watched == tid && self.engine.task(tid)?.registers().map_err(lost)?.rsp > above =>
                {
                    self.frame_ended(site, watcher)?;
                }
                _ => {}
            }
        }
        if loader && images::is_consistent(&self.program, &self.view()) {
            self.images_changed()?;
            self.record_new_places()?;
        }
        self.serving = Some(tid);
        self.current = tid;
        self.frame = 0;
        match self.serve(tid)? {
            Some(stop) => Ok(Some(stop)),
            None => self.served(),
        }
    }

    /// Serves those who have a point where a thread stands, one after the other.
    fn serve(&mut self, tid: Tid) -> Done<Option<Stop>> {
        if self.watches.touch.is_some()
            && let Some(stop) = self.serve_touch()?
        {
            return Ok(Some(stop));
        }
        loop {
            let Some(task) = self.engine.tasks.get_mut(&tid) else {
                self.serving = None;
                return Ok(None);
            };
            let Some(site) = task.standing else { return Ok(None) };
            let handled = task.handled;
            let Some(owner) = self.present(site).next(handled) else { return Ok(None) };
            if let Some(task) = self.engine.tasks.get_mut(&tid) {
                task.handled = handled.with(owner);
            }
            let stop = match owner {
                Owner::Monitors => self.fire_all(tid, site)?,
                owner => self.points_hit(tid, site, owner)?,
            };
            if stop.is_some() {
                return Ok(stop);
            }
        }
    }

    /// Who has a point at a place.
    fn present(&self, site: SiteId) -> Owners {
        let mut owners = Owners::default();
        for reason in self.uses.at(site) {
            match reason {
                Use::Event { plan, place } if !self.plans.fires(*plan, *place) => {}
                Use::Event { .. } | Use::Return => owners = owners.with(Owner::Monitors),
                Use::Point(id) => {
                    if let Some(owner) = self.points.owner(*id) {
                        owners = owners.with(owner);
                    }
                }
                Use::Loader | Use::StepEnd { .. } | Use::FrameEnd { .. } => {}
            }
        }
        owners
    }
}
