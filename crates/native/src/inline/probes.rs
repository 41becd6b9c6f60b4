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
        let mut looked = Looked::default();
        let mut sites = Vec::new();
        for number in 0..self.engine.sites.all.len() as u32 {
            let id = SiteId(number);
            let told = self.events_at(id);
            let begins = told.is_some() && self.begins_at(id);
            self.inline.begins |= begins;
            let site = self.engine.sites.get(id);
            if let Some(told) = &told
                && (begins || !told.is_empty())
                && site.jump.as_ref().is_none_or(|jump| jump.begins != begins)
                && !site.buried
            {
                match self.make_jump(id, begins, &mut looked)? {
                    Ok(()) => self.inline.unfit.remove(&number),
                    Err(unfit) => self.inline.unfit.insert(number, unfit),
                };
            }
            if told.is_none() {
                self.inline.unfit.insert(number, Unfit::Capture);
            }
            sites.push(told.unwrap_or_default());
        }
        self.ask(&Request::Sites { first: 0, sites }).map(drop)
    }

    /// What a probe at a place tells; `None` if the tool must look itself.
    fn events_at(&self, id: SiteId) -> Option<Site> {
        let mut site = Site::new();
        for reason in self.uses.at(id) {
            let Use::Event { plan, place } = reason else { continue };
            let plan = self.plans.get(*plan);
            let place = &plan.places[*place as usize];
            match place.role {
                Role::Fire => {}
                Role::Gone => continue,
                Role::Begin if self.is_noted_inside(plan) => continue,
                Role::Begin | Role::Tail => return None,
            }
            site.push(Told { symbol: plan.symbol, captures: self.captures(plan, place)? });
        }
        Some(site)
    }

    /// Whether a call that a place begins is to be noted there.
    fn begins_at(&self, id: SiteId) -> bool {
        let is_begin =
            |plan: u32, place: u32| self.plans.get(plan).places[place as usize].role == Role::Begin;
        self.uses
            .at(id)
            .iter()
            .any(|reason| matches!(reason, Use::Event { plan, place } if is_begin(*plan, *place)))
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

    fn make_jump(&mut self, id: SiteId, begins: bool, looked: &mut Looked) -> Done<Result<(), Unfit>> {
        self.engine.sites.drop_jump(id);
        let address = self.engine.sites.get(id).address;
        let (window, stone) = match self.window(address, looked) {
            Ok(found) => found,
            Err(unfit) => return Ok(Err(unfit)),
        };
        let Some((at, entry)) = self.room_near(address)? else { return Ok(Err(Unfit::Far)) };
        let number = if begins { id.0 | BEGINS } else { id.0 };
        let made = match make(&window, at, number, entry) {
            Ok(made) => made,
            Err(unfit) => return Ok(Err(unfit)),
        };
        let range = (window.range(), stone);
        let kept = self.engine.sites.prepare_jump(&self.engine.memory, id, (at, &made), range, begins);
        if kept.is_ok() {
            self.take_room(at);
        }
        Ok(kept)
    }

    /// The instructions that a jump for a probe at an address can lie over, and where the jump behind a short one can lie.
    fn window(&self, address: u64, looked: &mut Looked) -> Result<(Window, Option<u64>), Unfit> {
        match self.window_for(address, JUMP, looked) {
            Ok(window) => Ok((window, None)),
            Err(unfit @ (Unfit::Entered | Unfit::Short)) => {
                let window = self.window_for(address, SHORT_JUMP, looked).map_err(|_| unfit)?;
                let is_free = |range: &Range<u64>| self.engine.sites.is_free_for_jump(range);
                let stone = entered::stepping_stone(&self.program, window.start, looked, is_free);
                Ok((window, Some(stone.ok_or(unfit)?)))
            }
            Err(unfit) => Err(unfit),
        }
    }

    fn window_for(&self, address: u64, jump: usize, looked: &mut Looked) -> Result<Window, Unfit> {
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
            return Ok(());
        }
        // Others that share the memory run on, and may be anywhere.
        if self.engine.tasks.values().any(|task| task.foreign) {
            return Ok(());
        }
        self.put_calls()?;
        for number in 0..self.engine.sites.all.len() as u32 {
            let id = SiteId(number);
            let site = self.engine.sites.get(id);
            let Some(begins) = site.jump.as_ref().filter(|_| !site.buried).map(|jump| jump.begins) else {
                continue;
            };
            let own = |reason: &Use| matches!(reason, Use::Event { .. });
            let is_shared = self.engine.sites.is_shared(id, |other| !self.uses.at(other).is_empty());
            if is_shared
                || !self.uses.at(id).iter().all(own)
                || self.events_at(id).is_none_or(|told| told.is_empty() && !begins)
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
