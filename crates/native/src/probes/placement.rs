//! Placement: decides which sites get a jump, and describes each site to the agent.

use super::ProbeMode;
use super::agent::Agent;
use super::branch_targets::{self, BranchTargetCache};
use super::capture::{capture, capture_argument};
use super::trampoline::{
    FunctionCode, JUMP_LEN, NotPatchable, PatchWindow, SHORT_JUMP_LEN, TRAMPOLINE_SIZE, make_trampoline,
    window_at,
};
use crate::events::params::is_pointee_of_argument;
use crate::events::{EventPlan, EventSite, SiteRole, Trigger};
use crate::native_target::NativeTarget;
use crate::sites::{REGION_SIZE, SiteId};
use crate::trap_reasons::TrapReason;
use invigil_monitor::event::EventSet;
use invigil_probe::capture::Capture;
use invigil_probe::message::{Request, SiteEvent, SiteEvents};
use invigil_probe::pending_calls::ENTRY_MARK;
use invigil_probe::tail_calls::{RETURN_MARK, TAIL_CALL_MARK};
use invigil_target::TargetResult;
use std::ops::Range;

/// Memory for trampolines: a word with the address of the library's entry, then free space.
pub(crate) struct TrampolineArena {
    start: u64,
    used: u64,
    end: u64,
}

/// Reach of a jump, with a margin for operands of copied instructions.
const MAX_DISTANCE: u64 = 0x7000_0000;
/// Number of bytes after a function that may be padding.
const PADDING_BYTES: u64 = 16;

impl NativeTarget {
    /// Whether monitors can be embedded in the target.
    pub(crate) fn can_embed(&self) -> bool {
        self.probes.mode != ProbeMode::Trap
            && self.tracer.agent.is_some()
            && self.plans.all_triggers(Trigger::is_embeddable)
    }

    /// Whether embedding is worthwhile. It is not if every event needs a trap anyway.
    pub(crate) fn is_embedding_worthwhile(&self) -> bool {
        self.probes.any_jump || self.probes.trap_count_at_placement != self.trap_reasons.event_count()
    }

    /// Sends the library the events of each site, if they have changed, and prepares jumps for new sites.
    pub(super) fn update_agent_sites(&mut self) -> TargetResult {
        let all: EventSet = self.plans.all_events();
        if self.probes.needed_events.is_none() {
            self.probes.needed_events = Some(self.plans.active_events());
        }
        self.activate(&all)?;
        let event_traps = self.trap_reasons.event_count();
        if self.probes.trap_count_at_placement == event_traps {
            return Ok(());
        }
        self.probes.trap_count_at_placement = event_traps;
        if self.tracer.sites.has_jumps() {
            self.tracer.stop_all()?;
        }
        let mut cache = BranchTargetCache::default();
        for number in 0..self.tracer.sites.all.len() as u32 {
            self.make_probe(SiteId(number), &mut cache)?;
        }
        self.probes.any_jump = self.tracer.sites.all.iter().any(|site| site.jump.is_some());
        self.probes.known_sites = 0;
        self.send_new_sites()?;
        self.send_tail_call_events()
    }

    /// Prepares a jump for a site that needs one, if it has none or needs a different one now.
    pub(super) fn make_probe(&mut self, id: SiteId, cache: &mut BranchTargetCache) -> TargetResult {
        let Some(events) = self.events_at(id) else {
            self.probes.not_patchable.insert(id.0, NotPatchable::Capture);
            return Ok(());
        };
        let flags = self.flags_at(id);
        self.probes.tracks_entries |= flags & ENTRY_MARK != 0;
        let site = self.tracer.sites.get(id);
        let needs_new_jump = site
            .jump
            .as_ref()
            .is_none_or(|jump| jump.flags != flags || jump.entry != jump.call_start && !events.is_empty());
        if (flags != 0 || !events.is_empty()) && needs_new_jump && !site.unmapped {
            match self.make_jump(id, flags, cache)? {
                Ok(()) => self.probes.not_patchable.remove(&id.0),
                Err(not_patchable) => self.probes.not_patchable.insert(id.0, not_patchable),
            };
        }
        Ok(())
    }

    /// Sends the library the sites that it does not know yet.
    pub(super) fn send_new_sites(&mut self) -> TargetResult {
        let (first, end) = (self.probes.known_sites, self.tracer.sites.all.len() as u32);
        let sites = (first..end).map(|number| self.events_at(SiteId(number)).unwrap_or_default()).collect();
        self.probes.known_sites = end;
        self.call_agent(&Request::Sites { first, sites }).map(drop)
    }

    /// The events that a probe at a site reports. `None` if the debugger must read them.
    pub(super) fn events_at(&self, id: SiteId) -> Option<SiteEvents> {
        let mut site = SiteEvents::new();
        for reason in self.trap_reasons.at(id) {
            let TrapReason::Event { plan_index, site_index } = reason else { continue };
            let plan = self.plans.get(*plan_index);
            let event_site = &plan.sites[*site_index as usize];
            match event_site.role {
                SiteRole::Event => {}
                SiteRole::Unmapped => continue,
                SiteRole::Entry if self.can_track_in_agent(plan) => continue,
                SiteRole::TailCall if self.tail_call_event(plan, event_site).is_some() => continue,
                SiteRole::Entry | SiteRole::TailCall => return None,
            }
            site.push(SiteEvent { event: plan.event, captures: self.captures(plan, event_site)? });
        }
        Some(site)
    }

    /// The flags of a site: whether calls are tracked from here, whether it is a tail call, and whether tail calls return
    /// here.
    pub(super) fn flags_at(&self, id: SiteId) -> u32 {
        let role = |reason: &TrapReason| match reason {
            TrapReason::Event { plan_index, site_index } => {
                Some(self.plans.get(*plan_index).sites[*site_index as usize].role)
            }
            _ => None,
        };
        let flags = self.trap_reasons.at(id).iter().filter_map(role).map(|role| match role {
            SiteRole::Entry => ENTRY_MARK,
            SiteRole::TailCall => TAIL_CALL_MARK,
            SiteRole::Event | SiteRole::Unmapped => 0,
        });
        let returns =
            if self.probes.tail_calls.known_return_sites.get(&id) == Some(&true) { RETURN_MARK } else { 0 };
        flags.fold(returns, |all, mark| all | mark)
    }

    /// Whether a probe at a function's entry can save everything that its exits need.
    pub(crate) fn can_track_in_agent(&self, plan: &EventPlan) -> bool {
        let mut exits = plan.sites.iter().filter(|event_site| event_site.role == SiteRole::Event);
        exits.all(|event_site| self.captures(plan, event_site).is_some())
    }

    /// How a probe at a site reads the parameters of an event. `None` if the debugger must read them.
    fn captures(&self, plan: &EventPlan, event_site: &EventSite) -> Option<Vec<Capture>> {
        let mut entries = plan.sites.iter().filter(|event_site| event_site.role == SiteRole::Entry);
        let entry = entries.next();
        if entries.next().is_some() {
            return None;
        }
        let captures = plan.params.iter().enumerate().map(|(position, param)| {
            let read = event_site.reads.get(position)?.as_ref();
            let saved = entry.and_then(|entry| Some((entry.site.0, entry.reads.get(position)?.as_ref()?)));
            match saved {
                Some((site, saved)) if read.is_none_or(|read| !read.is_available()) => {
                    capture_argument(site, saved, is_pointee_of_argument(&param.source))
                }
                _ => capture(param, read, self.tracer.process, self.started_at_nanos),
            }
        });
        captures.collect()
    }

    fn make_jump(
        &mut self,
        id: SiteId,
        flags: u32,
        cache: &mut BranchTargetCache,
    ) -> TargetResult<Result<(), NotPatchable>> {
        self.tracer.sites.drop_jump(id);
        let address = self.tracer.sites.get(id).address;
        let (window, island) = match self.window(address, flags & RETURN_MARK != 0, cache) {
            Ok(found) => found,
            Err(not_patchable) => return Ok(Err(not_patchable)),
        };
        let Some((at, entry)) = self.arena_near(address)? else { return Ok(Err(NotPatchable::OutOfReach)) };
        // A site that only records tail calls needs its probe only if the jump is taken.
        let is_for_jump =
            flags == TAIL_CALL_MARK && self.events_at(id).is_some_and(|events| events.is_empty());
        if flags & TAIL_CALL_MARK != 0 && window.is_conditional() && !is_for_jump {
            return Ok(Err(NotPatchable::OtherProbe));
        }
        let trampoline = match make_trampoline(&window, at, (id.0 | flags, is_for_jump), entry) {
            Ok(trampoline) => trampoline,
            Err(not_patchable) => return Ok(Err(not_patchable)),
        };
        let range = (window.range(), island);
        let prepared =
            self.tracer.sites.prepare_jump(&self.tracer.memory, id, (at, &trampoline), range, flags);
        if prepared.is_ok() {
            self.commit_arena(at);
        }
        if flags & RETURN_MARK != 0 && prepared.is_ok() && self.is_interrupted_in(&window.range()) {
            self.tracer.sites.drop_jump(id);
            return Ok(Err(NotPatchable::JumpTarget));
        }
        Ok(prepared)
    }

    /// The instructions that the jump of a site can replace, and the address of a jump island if one is needed.
    /// A return site of a tail call is in the middle of a function, so it has more restrictions.
    fn window(
        &self,
        address: u64,
        is_return_site: bool,
        cache: &mut BranchTargetCache,
    ) -> Result<(PatchWindow, Option<u64>), NotPatchable> {
        match self.window_for(address, is_return_site, JUMP_LEN, cache) {
            Ok(window) => Ok((window, None)),
            Err(not_patchable @ (NotPatchable::JumpTarget | NotPatchable::Short)) => {
                let window = self
                    .window_for(address, is_return_site, SHORT_JUMP_LEN, cache)
                    .map_err(|_| not_patchable)?;
                let is_free = |range: &Range<u64>| self.tracer.sites.is_free_for_jump(range);
                let island = branch_targets::find_jump_island(&self.program, window.start, cache, is_free);
                Ok((window, Some(island.ok_or(not_patchable)?)))
            }
            Err(not_patchable) => Err(not_patchable),
        }
    }

    fn window_for(
        &self,
        address: u64,
        is_return_site: bool,
        jump_length: usize,
        cache: &mut BranchTargetCache,
    ) -> Result<PatchWindow, NotPatchable> {
        let part = self.program.code_part(address).ok_or(NotPatchable::Immovable)?;
        let end = part.end;
        let code = self.program.code_bytes(part.start);
        let code = &code[..code.len().min((end + PADDING_BYTES - part.start) as usize)];
        let targets = branch_targets::targets(&self.program, &part, cache);
        if targets.sets_direction_flag && address != part.start {
            return Err(NotPatchable::DirectionFlag);
        }
        let next = self.program.next_code(address).unwrap_or(end).max(end);
        let function = FunctionCode { code, start: part.start, end, next, targets };
        let window = window_at(address, &function, jump_length)?;
        if is_return_site && targets.has_unknown_targets && !window.is_single() {
            // A jump table may target the middle of the window.
            return Err(NotPatchable::JumpTarget);
        }
        let range = window.range();
        let has_code_start_inside = self.program.next_code(window.start).is_some_and(|next| next < range.end);
        if has_code_start_inside || branch_targets::may_branch_into(&self.program, &range, cache) {
            return Err(NotPatchable::JumpTarget);
        }
        let mut in_memory = vec![0; (range.end - range.start) as usize];
        let length = self.tracer.memory.read_some(range.start, &mut in_memory);
        self.tracer.sites.mask_traps(range.start, &mut in_memory[..length]);
        let in_file = code.get((range.start - part.start) as usize..).unwrap_or_default();
        if !in_file.starts_with(&in_memory) {
            return Err(NotPatchable::Changed);
        }
        Ok(window)
    }

    /// Forgets all jumps and trampolines after a restore, and maps the library again if the restored memory lacks it.
    pub(crate) fn forget_jumps(&mut self) {
        self.tracer.sites.forget_jumps();
        self.probes.arenas.clear();
        self.probes.trap_count_at_placement = 0;
        (self.probes.are_probes_used, self.probes.fetched_log, self.probes.pending_events) =
            (false, None, None);
        self.probes.tail_calls.is_outdated = true;
        let mut byte = [0];
        let is_mapped = |agent: &Agent| self.tracer.memory.read(agent.entry_points.entry, &mut byte).is_ok();
        if self.tracer.agent.as_ref().is_some_and(is_mapped) {
            self.update_agent_process();
        } else {
            // The library was not mapped at the checkpoint.
            self.tracer.agent = None;
            self.map_agent();
        }
    }

    fn update_agent_process(&self) {
        if let Some(agent) = &self.tracer.agent {
            // If its memory cannot be written, the next request reports it.
            let _ = agent.set_process(self.tracer.process as u32);
        }
    }

    /// Finds space for a trampoline near an address, and the address of the word with the library's entry.
    fn arena_near(&mut self, address: u64) -> TargetResult<Option<(u64, u64)>> {
        let fits = |arena: &&TrampolineArena| {
            arena.used + TRAMPOLINE_SIZE <= arena.end && arena.start.abs_diff(address) < MAX_DISTANCE
        };
        if let Some(arena) = self.probes.arenas.iter().find(fits) {
            return Ok(Some((arena.used, arena.start)));
        }
        let start = self.map_code_region(address)?;
        if start.abs_diff(address) >= MAX_DISTANCE {
            return Ok(None);
        }
        let Some(agent) = &self.tracer.agent else { return Ok(None) };
        if self.tracer.memory.write(start, &agent.entry_points.entry.to_le_bytes()).is_err() {
            return Ok(None);
        }
        let arena = TrampolineArena { start, used: start + 64, end: start + REGION_SIZE };
        let found = (arena.used, arena.start);
        self.probes.arenas.push(arena);
        Ok(Some(found))
    }

    fn commit_arena(&mut self, at: u64) {
        if let Some(arena) = self.probes.arenas.iter_mut().find(|arena| arena.used == at) {
            arena.used += TRAMPOLINE_SIZE;
        }
    }

    /// Inserts jumps where they fit. All threads are stopped and about to be resumed.
    pub(crate) fn insert_jumps(&mut self) -> TargetResult {
        if !self.probes.are_probes_used || self.stepping.is_some() || self.tracer.agent.is_none() {
            return self.await_tail_returns();
        }
        // Other processes that share the memory are not stopped, and may be executing the bytes to be patched.
        if self.tracer.threads.values().any(|thread| thread.is_foreign_process) {
            return self.await_tail_returns();
        }
        self.sync_return_sites()?;
        if self.agent_tracks_calls() {
            self.send_calls()?;
        }
        for number in 0..self.tracer.sites.all.len() as u32 {
            let id = SiteId(number);
            let site = self.tracer.sites.get(id);
            let Some(flags) = site.jump.as_ref().filter(|_| !site.unmapped).map(|jump| jump.flags) else {
                continue;
            };
            let is_used = flags & !RETURN_MARK != 0 || self.tracer.sites.is_return_site(id);
            let is_event = |reason: &TrapReason| matches!(reason, TrapReason::Event { .. });
            let is_shared = self.tracer.sites.is_shared(id, |other| !self.trap_reasons.at(other).is_empty());
            let is_alone = !is_shared && self.trap_reasons.at(id).iter().all(is_event);
            match self.events_at(id) {
                _ if !is_alone => drop(self.probes.not_patchable.insert(number, NotPatchable::OtherTrap)),
                None => drop(self.probes.not_patchable.insert(number, NotPatchable::Capture)),
                Some(events) => {
                    self.probes.not_patchable.remove(&number);
                    // Without events and calls to track, the site is idle for now.
                    if !events.is_empty() || is_used {
                        self.tracer.sites.insert_jump(&self.tracer.memory, id);
                    }
                }
            }
        }
        for tid in self.tracer.threads.keys().copied().collect::<Vec<_>>() {
            self.tracer.retry_at_probe(tid)?;
        }
        match &self.tracer.agent {
            Some(agent) => agent.freeze(false),
            None => Ok(()),
        }
    }
}
