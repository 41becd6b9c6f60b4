//! Which places get a jump, and what the library knows of them.

use super::Probes;
use super::agent::Agent;
use super::capture::{capture, passed};
use super::trampoline::{Around, ROOM, Targets, Unfit, make, window_at};
use crate::events::params::is_behind_argument;
use crate::events::{Place, Plan, Role, What};
use crate::sites::{REGION, SiteId};
use crate::target::Target;
use crate::uses::Use;
use invigil_debuginfo::program::Function;
use invigil_monitor::event::EventSet;
use invigil_probe::calls::BEGINS;
use invigil_probe::capture::Capture;
use invigil_probe::message::{Request, Site, Told};
use invigil_session::subject::Done;
use rustc_hash::FxHashMap;

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
/// Code of functions that was looked at.
type Looked = FxHashMap<u64, Option<(u64, Vec<u8>, u64, Targets)>>;

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
        let Some(function) = self.program.function_at(address) else { return Ok(Err(Unfit::Immovable)) };
        let around = looked
            .entry(address_of(&function, address))
            .or_insert_with(|| self.look_around(&function, address));
        let Some((start, code, end, targets)) = around else { return Ok(Err(Unfit::Immovable)) };
        let next = self.program.next_symbol(address).unwrap_or(*end).max(*end);
        let around = Around { code, start: *start, end: *end, next, targets };
        let window = match window_at(address, &around) {
            Ok(window) => window,
            Err(unfit) => return Ok(Err(unfit)),
        };
        if self.program.next_symbol(window.start).is_some_and(|symbol| symbol < window.range().end) {
            return Ok(Err(Unfit::Entered));
        }
        let Some((at, entry)) = self.room_near(address)? else { return Ok(Err(Unfit::Far)) };
        let number = if begins { id.0 | BEGINS } else { id.0 };
        let made = match make(&window, at, number, entry) {
            Ok(made) => made,
            Err(unfit) => return Ok(Err(unfit)),
        };
        let range = window.range();
        let kept = self.engine.sites.prepare_jump(&self.engine.memory, id, (at, &made), range, begins);
        if kept.is_ok() {
            self.take_room(at);
        }
        Ok(kept)
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

    /// The part of a function that has an address: where it begins, its code and a little more, where it ends, and where the
    /// function's jumps go.
    fn look_around(&self, function: &Function, address: u64) -> Option<(u64, Vec<u8>, u64, Targets)> {
        let part = function.ranges.iter().find(|range| range.contains(&address))?;
        let read = |start: u64, end: u64| {
            let mut code = vec![0; (end - start) as usize];
            let length = self.engine.memory.read_some(start, &mut code);
            code.truncate(length);
            self.engine.sites.clean(start, &mut code);
            code
        };
        let mut targets = Targets::default();
        for range in &function.ranges {
            targets.add(&read(range.start, range.end), range.start);
        }
        targets.sort();
        Some((part.start, read(part.start, part.end + BEHIND), part.end, targets))
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
        let mut standing = Vec::new();
        for task in self.engine.tasks.values_mut() {
            if task.standing.is_none() && !task.over {
                standing.extend(task.pc().ok());
            }
        }
        standing.sort_unstable();
        for number in 0..self.engine.sites.all.len() as u32 {
            let id = SiteId(number);
            let site = self.engine.sites.get(id);
            let Some(jump) = site.jump.as_ref().filter(|_| !site.buried) else { continue };
            let own = |reason: &Use| matches!(reason, Use::Event { .. });
            let is_shared = self.engine.sites.is_shared(id, |other| !self.uses.at(other).is_empty());
            if is_shared
                || !self.uses.at(id).iter().all(own)
                || self.events_at(id).is_none_or(|told| told.is_empty() && !jump.begins)
            {
                self.inline.unfit.insert(number, Unfit::Shared);
                continue;
            }
            let from = standing.partition_point(|pc| *pc <= jump.range.start);
            let in_middle = |pc: &u64| *pc < jump.range.end && *pc != site.address;
            if standing[from..].iter().take_while(|pc| **pc < jump.range.end).any(in_middle) {
                self.inline.unfit.insert(number, Unfit::Busy);
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

/// What tells a part of a function apart.
fn address_of(function: &Function, address: u64) -> u64 {
    let part = function.ranges.iter().find(|range| range.contains(&address));
    part.map_or(address, |part| part.start)
}
