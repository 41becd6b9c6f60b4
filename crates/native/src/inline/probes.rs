//! Which places get a jump, and what the library knows of them.

use super::Probes;
use super::agent::Agent;
use super::capture::{capture, passed};
use super::entered::{self, Looked};
use super::trampoline::{Around, JUMP, ROOM, SHORT_JUMP, Unfit, Window, make, window_at};
use crate::events::params::is_behind_argument;
use crate::events::{Place, Plan, Role, What};
use crate::sites::{REGION, SiteId};
use crate::target::Target;
use crate::uses::Use;
use invigil_monitor::event::EventSet;
use invigil_probe::calls::BEGINS;
use invigil_probe::capture::Capture;
use invigil_probe::message::{Request, Site, Told};
use invigil_probe::tails::{LEAVES, RETURNS};
use invigil_session::subject::Done;
use std::ops::Range;

/// Memory for trampolines: a word with the library's entry, and free room behind.
pub(crate) struct Room {
    start: u64,
    used: u64,
    end: u64,
}

/// A jump reaches this far, with some room for what an instruction itself refers to.
const REACH: u64 = 0x7000_0000;
/// So many bytes behind a function may be looked at for padding.
const BEHIND: u64 = 16;

impl Target {
    /// Whether monitors can step inside the program.
    pub(crate) fn can_step_inside(&self) -> bool {
        let by_code = |what: &What| matches!(what, What::Code | What::Exit | What::System);
        self.inline.probes != Probes::Trap && self.engine.agent.is_some() && self.plans.all_are(by_code)
    }

    /// Whether it is worth while: not if each event would be told by a trap all the same, as far as is known.
    pub(crate) fn is_worth_stepping_inside(&self) -> bool {
        self.inline.fits || self.inline.looked_at != self.uses.events()
    }

    /// Tells the library what happens at which place, if that has changed, and makes jumps for new places.
    pub(super) fn tell_places(&mut self) -> Done {
        let all: EventSet = self.plans.symbols();
        if self.inline.needs.is_none() {
            self.inline.needs = Some(self.plans.active());
        }
        self.activate(&all)?;
        let uses = self.uses.events();
        if self.inline.looked_at == uses {
            return Ok(());
        }
        self.inline.looked_at = uses;
        if self.engine.sites.has_jumps() {
            self.engine.hold()?;
        }
        let mut looked = Looked::default();
        for number in 0..self.engine.sites.all.len() as u32 {
            self.make_probe(SiteId(number), &mut looked)?;
        }
        self.inline.fits = self.engine.sites.all.iter().any(|site| site.jump.is_some());
        self.inline.told = 0;
        self.tell_new_sites()?;
        self.tell_tails()
    }

    /// Makes a jump for a place that is to have one, and has none, or another.
    pub(super) fn make_probe(&mut self, id: SiteId, looked: &mut Looked) -> Done {
        let Some(told) = self.events_at(id) else {
            self.inline.unfit.insert(id.0, Unfit::Capture);
            return Ok(());
        };
        let marks = self.marks_at(id);
        self.inline.begins |= marks & BEGINS != 0;
        let site = self.engine.sites.get(id);
        let is_new = site
            .jump
            .as_ref()
            .is_none_or(|jump| jump.marks != marks || jump.enter != jump.probe && !told.is_empty());
        if (marks != 0 || !told.is_empty()) && is_new && !site.buried {
            match self.make_jump(id, marks, looked)? {
                Ok(()) => self.inline.unfit.remove(&id.0),
                Err(unfit) => self.inline.unfit.insert(id.0, unfit),
            };
        }
        Ok(())
    }

    /// Tells the library of places that it does not know yet.
    pub(super) fn tell_new_sites(&mut self) -> Done {
        let (first, end) = (self.inline.told, self.engine.sites.all.len() as u32);
        let sites = (first..end).map(|number| self.events_at(SiteId(number)).unwrap_or_default()).collect();
        self.inline.told = end;
        self.ask(&Request::Sites { first, sites }).map(drop)
    }

    /// What a probe at a place tells; `None` if the tool must look itself.
    pub(super) fn events_at(&self, id: SiteId) -> Option<Site> {
        let mut site = Site::new();
        for reason in self.uses.at(id) {
            let Use::Event { plan, place } = reason else { continue };
            let plan = self.plans.get(*plan);
            let place = &plan.places[*place as usize];
            match place.role {
                Role::Fire => {}
                Role::Gone => continue,
                Role::Begin if self.is_noted_inside(plan) => continue,
                Role::Tail if self.leaving(plan, place).is_some() => continue,
                Role::Begin | Role::Tail => return None,
            }
            site.push(Told { symbol: plan.symbol, captures: self.captures(plan, place)? });
        }
        Some(site)
    }

    /// What is noted at a place besides: calls that begin there, are left, or end because another function has returned.
    pub(super) fn marks_at(&self, id: SiteId) -> u32 {
        let role = |reason: &Use| match reason {
            Use::Event { plan, place } => Some(self.plans.get(*plan).places[*place as usize].role),
            _ => None,
        };
        let marks = self.uses.at(id).iter().filter_map(role).map(|role| match role {
            Role::Begin => BEGINS,
            Role::Tail => LEAVES,
            Role::Fire | Role::Gone => 0,
        });
        let returns = if self.inline.tails.places.get(&id) == Some(&true) { RETURNS } else { 0 };
        marks.fold(returns, |all, mark| all | mark)
    }

    /// Whether what the ends of a function tell of its begin can be noted there by a probe.
    pub(crate) fn is_noted_inside(&self, plan: &Plan) -> bool {
        let mut ends = plan.places.iter().filter(|place| place.role == Role::Fire);
        ends.all(|place| self.captures(plan, place).is_some())
    }

    /// How a probe at a place gets what an event carries; `None` if the tool must look itself.
    fn captures(&self, plan: &Plan, place: &Place) -> Option<Vec<Capture>> {
        let mut begins = plan.places.iter().filter(|place| place.role == Role::Begin);
        let begin = begins.next();
        if begins.next().is_some() {
            return None;
        }
        let captures = plan.params.iter().enumerate().map(|(position, param)| {
            let read = place.reads.get(position)?.as_ref();
            let noted = begin.and_then(|begin| Some((begin.site.0, begin.reads.get(position)?.as_ref()?)));
            match noted {
                Some((site, noted)) if read.is_none_or(|read| !read.is_available()) => {
                    passed(site, noted, is_behind_argument(&param.source))
                }
                _ => capture(param, read, self.engine.process, self.began_at),
            }
        });
        captures.collect()
    }

    fn make_jump(&mut self, id: SiteId, marks: u32, looked: &mut Looked) -> Done<Result<(), Unfit>> {
        self.engine.sites.drop_jump(id);
        let address = self.engine.sites.get(id).address;
        let (window, stone) = match self.window(address, marks & RETURNS != 0, looked) {
            Ok(found) => found,
            Err(unfit) => return Ok(Err(unfit)),
        };
        let Some((at, entry)) = self.room_near(address)? else { return Ok(Err(Unfit::Far)) };
        // Only calls that are left are noted just when a jump is taken.
        let is_for_jump = marks == LEAVES && self.events_at(id).is_some_and(|told| told.is_empty());
        if marks & LEAVES != 0 && window.is_conditional() && !is_for_jump {
            return Ok(Err(Unfit::Crowded));
        }
        let made = match make(&window, at, (id.0 | marks, is_for_jump), entry) {
            Ok(made) => made,
            Err(unfit) => return Ok(Err(unfit)),
        };
        let range = (window.range(), stone);
        let kept = self.engine.sites.prepare_jump(&self.engine.memory, id, (at, &made), range, marks);
        if kept.is_ok() {
            self.take_room(at);
        }
        if marks & RETURNS != 0 && kept.is_ok() && self.is_interrupted_in(&window.range()) {
            self.engine.sites.drop_jump(id);
            return Ok(Err(Unfit::Entered));
        }
        Ok(kept)
    }

    /// The instructions that a jump for a probe at an address can lie over, and where the jump behind a short one can lie.
    /// `inner` if that is in the middle of a function.
    fn window(&self, address: u64, inner: bool, looked: &mut Looked) -> Result<(Window, Option<u64>), Unfit> {
        match self.window_for(address, inner, JUMP, looked) {
            Ok(window) => Ok((window, None)),
            Err(unfit @ (Unfit::Entered | Unfit::Short)) => {
                let window = self.window_for(address, inner, SHORT_JUMP, looked).map_err(|_| unfit)?;
                let is_free = |range: &Range<u64>| self.engine.sites.is_free_for_jump(range);
                let stone = entered::stepping_stone(&self.program, window.start, looked, is_free);
                Ok((window, Some(stone.ok_or(unfit)?)))
            }
            Err(unfit) => Err(unfit),
        }
    }

    fn window_for(
        &self,
        address: u64,
        inner: bool,
        jump: usize,
        looked: &mut Looked,
    ) -> Result<Window, Unfit> {
        let part = self.program.code_part(address).ok_or(Unfit::Immovable)?;
        let end = part.end;
        let code = self.program.code_bytes(part.start);
        let code = &code[..code.len().min((end + BEHIND - part.start) as usize)];
        let targets = entered::targets(&self.program, &part, looked);
        if targets.is_backwards && address != part.start {
            return Err(Unfit::Backwards);
        }
        let next = self.program.next_code(address).unwrap_or(end).max(end);
        let around = Around { code, start: part.start, end, next, targets };
        let window = window_at(address, &around, jump)?;
        if inner && targets.is_open && !window.is_single() {
            // A jump through a table might lead there.
            return Err(Unfit::Entered);
        }
        let range = window.range();
        let is_named = self.program.next_code(window.start).is_some_and(|next| next < range.end);
        if is_named || entered::is_entered(&self.program, &range, looked) {
            return Err(Unfit::Entered);
        }
        let mut there = vec![0; (range.end - range.start) as usize];
        let length = self.engine.memory.read_some(range.start, &mut there);
        self.engine.sites.clean(range.start, &mut there[..length]);
        let written = code.get((range.start - part.start) as usize..).unwrap_or_default();
        if !written.starts_with(&there) {
            return Err(Unfit::Changed);
        }
        Ok(window)
    }

    /// The program was brought back from a time when trampolines may not have been there: they are made anew.
    pub(crate) fn forget_jumps(&mut self) {
        self.engine.sites.forget_jumps();
        self.inline.regions.clear();
        self.inline.looked_at = 0;
        (self.inline.used, self.inline.past, self.inline.due) = (false, None, None);
        self.inline.tails.is_outdated = true;
        let mut byte = [0];
        let is_there = |agent: &Agent| self.engine.memory.read(agent.places.entry, &mut byte).is_ok();
        if self.engine.agent.as_ref().is_some_and(is_there) {
            self.tell_process();
        } else {
            // It was not there yet.
            self.engine.agent = None;
            self.move_library_in();
        }
    }

    fn tell_process(&self) {
        if let Some(agent) = &self.engine.agent {
            // If its memory cannot be written, whoever needs it next is told so.
            let _ = agent.tell_process(self.engine.process as u32);
        }
    }

    /// Room for a trampoline near an address, and where the word with the library's entry is.
    fn room_near(&mut self, address: u64) -> Done<Option<(u64, u64)>> {
        let fits = |room: &&Room| room.used + ROOM <= room.end && room.start.abs_diff(address) < REACH;
        if let Some(room) = self.inline.regions.iter().find(fits) {
            return Ok(Some((room.used, room.start)));
        }
        let start = self.map_region(address)?;
        if start.abs_diff(address) >= REACH {
            return Ok(None);
        }
        let Some(agent) = &self.engine.agent else { return Ok(None) };
        if self.engine.memory.write(start, &agent.places.entry.to_le_bytes()).is_err() {
            return Ok(None);
        }
        let room = Room { start, used: start + 64, end: start + REGION };
        let found = (room.used, room.start);
        self.inline.regions.push(room);
        Ok(Some(found))
    }

    fn take_room(&mut self, at: u64) {
        if let Some(room) = self.inline.regions.iter_mut().find(|room| room.used == at) {
            room.used += ROOM;
        }
    }

    /// The program is about to go on, and stands still: puts jumps where they fit. Gives whether there are any.
    pub(crate) fn put_jumps(&mut self) -> Done {
        if !self.inline.used || self.stepping.is_some() || self.engine.agent.is_none() {
            return self.await_left();
        }
        // Others that share the memory run on, and may be anywhere.
        if self.engine.tasks.values().any(|task| task.foreign) {
            return self.await_left();
        }
        self.settle_returns()?;
        if self.notes_inside() {
            self.put_calls()?;
        }
        for number in 0..self.engine.sites.all.len() as u32 {
            let id = SiteId(number);
            let site = self.engine.sites.get(id);
            let Some(marks) = site.jump.as_ref().filter(|_| !site.buried).map(|jump| jump.marks) else {
                continue;
            };
            let is_used = marks & !RETURNS != 0 || self.engine.sites.is_return(id);
            let own = |reason: &Use| matches!(reason, Use::Event { .. });
            let is_shared = self.engine.sites.is_shared(id, |other| !self.uses.at(other).is_empty());
            if is_shared
                || !self.uses.at(id).iter().all(own)
                || self.events_at(id).is_none_or(|told| told.is_empty() && !is_used)
            {
                self.inline.unfit.insert(number, Unfit::Shared);
                continue;
            }
            self.inline.unfit.remove(&number);
            self.engine.sites.put_jump(&self.engine.memory, id);
        }
        for tid in self.engine.tasks.keys().copied().collect::<Vec<_>>() {
            self.engine.try_again(tid)?;
        }
        match &self.engine.agent {
            Some(agent) => agent.freeze(false),
            None => Ok(()),
        }
    }
}
