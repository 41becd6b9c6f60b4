//! Jumps that replace traps while the target runs.
//!
//! A jump replaces five bytes. So no thread may be in the middle of these bytes when it is inserted, and inspection
//! must not see it. Therefore jumps are in memory only while the target runs: they are inserted when all threads are
//! stopped and about to be resumed, and removed as soon as all are stopped again.

use super::trampoline::{JUMP_LEN, NotPatchable, SHORT_JUMP_LEN, Trampoline};
use crate::memory::ProcessMemory;
use crate::sites::{MAX_INSTRUCTION_LEN, Patch, ProbeJump, SiteId, SiteTable, TRAP, TrapSite};
use std::ops::Range;

/// Position of a thread in a trampoline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TrampolinePosition {
    /// At the site; nothing has happened yet.
    Entry(SiteId),
    /// On the way to the library.
    EnteringAgent(SiteId),
    /// Back from the library; the trampoline's stack is still in use.
    LeavingAgent(SiteId),
    /// Before the copy of an instruction, with its original address, or after the last copy.
    Copy(SiteId, u64),
}

impl SiteTable {
    /// Prepares a jump for a site. The trampoline is at address `at`; the jump leads there directly or through a jump
    /// island.
    pub(crate) fn prepare_jump(
        &mut self,
        memory: &ProcessMemory,
        id: SiteId,
        (at, trampoline): (u64, &Trampoline),
        (range, island): (Range<u64>, Option<u64>),
        flags: u32,
    ) -> Result<(), NotPatchable> {
        if !self.is_free_for_jump(&range) {
            return Err(NotPatchable::OtherProbe);
        }
        let mut patches = vec![match island {
            Some(island) => self.patch(memory, range.start, short_jump(range.start, island)?)?,
            None => self.patch(memory, range.start, jump(range.start, at)?)?,
        }];
        if let Some(island) = island {
            patches.push(self.patch(memory, island, jump(island, at)?)?);
            self.jump_islands.insert(island, id);
        }
        memory.write(at, &trampoline.code).map_err(|_| NotPatchable::OutOfReach)?;
        let copies = trampoline.copies.iter().map(|(offset, address)| (at + offset, *address));
        let site = &mut self.all[id.0 as usize];
        let copies: Vec<(u64, u64)> = copies.collect();
        let own_copy = copies.iter().find(|(_, address)| *address == site.address);
        site.jump = Some(ProbeJump {
            patches,
            resume_at: own_copy.map_or(at + trampoline.agent_return, |(at, _)| *at),
            trampoline: at..at + trampoline.code.len() as u64,
            entry: at + trampoline.entry,
            call_start: at + trampoline.call_start,
            agent_return: at + trampoline.agent_return,
            flags,
            copies,
            range,
        });
        self.trampolines.insert(at, id);
        Ok(())
    }

    fn patch(&self, memory: &ProcessMemory, at: u64, code: Box<[u8]>) -> Result<Patch, NotPatchable> {
        let mut original_code = vec![0; code.len()];
        memory.read(at, &mut original_code).map_err(|_| NotPatchable::Short)?;
        self.mask_traps(at, &mut original_code);
        Ok(Patch { at, code, original_code: original_code.into() })
    }

    /// Whether no jump of another site overlaps a range.
    pub(crate) fn is_free_for_jump(&self, range: &Range<u64>) -> bool {
        let overlaps = |site: &TrapSite| site.jump.as_ref().is_some_and(|jump| overlap(&jump.range, range));
        !self.near(range).any(overlaps) && self.islands_in(range).next().is_none()
    }

    /// The sites whose jump islands overlap a range.
    fn islands_in(&self, range: &Range<u64>) -> impl Iterator<Item = SiteId> {
        let first = range.start.saturating_sub(JUMP_LEN as u64 - 1);
        self.jump_islands.range(first..range.end).map(|(_, id)| *id)
    }

    /// Removes the prepared jump of a site. It must not be active.
    pub(crate) fn drop_jump(&mut self, id: SiteId) {
        if self.all[id.0 as usize].jump.take().is_some() {
            self.jump_islands.retain(|_, owner| *owner != id);
        }
    }

    /// Whether any jump is active.
    pub(crate) fn has_jumps(&self) -> bool {
        self.active_jumps > 0
    }

    /// Replaces a trap by its jump. All threads are stopped, none of them in the middle of the bytes.
    pub(crate) fn insert_jump(&mut self, memory: &ProcessMemory, id: SiteId) {
        let site = &mut self.all[id.0 as usize];
        let Some(jump) = &site.jump else { return };
        if site.jump_active || site.unmapped {
            return;
        }
        if site.inserted {
            let _ = memory.write(site.address, &[site.original]);
            site.inserted = false;
        }
        // The jump island first.
        if jump.patches.iter().rev().all(|patch| memory.write(patch.at, &patch.code).is_ok()) {
            site.jump_active = true;
            self.active_jumps += 1;
        }
    }

    /// Replaces all jumps by traps, where these have reasons. All threads are stopped.
    pub(crate) fn remove_jumps(&mut self, memory: &ProcessMemory) {
        if std::mem::take(&mut self.active_jumps) == 0 {
            return;
        }
        for site in self.all.iter_mut().filter(|site| site.jump_active) {
            site.jump_active = false;
            let Some(jump) = &site.jump else { continue };
            // If the memory was unmapped, so was the jump.
            for patch in &jump.patches {
                let _ = memory.write(patch.at, &patch.original_code);
            }
            site.inserted = site.trap_refs > 0 && memory.write(site.address, &[TRAP]).is_ok();
        }
    }

    /// Removes all trampolines and jumps.
    pub(crate) fn forget_jumps(&mut self) {
        self.all.iter_mut().for_each(|site| (site.jump, site.jump_active) = (None, false));
        self.trampolines.clear();
        self.jump_islands.clear();
        self.return_sites.clear();
        self.active_jumps = 0;
    }

    /// Whether a site is a return site of the agent.
    pub(crate) fn is_return_site(&self, id: SiteId) -> bool {
        self.return_sites.get(&self.get(id).address) == Some(&id)
    }

    /// Whether an active jump overlaps an instruction at an address.
    pub(crate) fn is_under_jump(&self, address: u64) -> bool {
        self.has_jumps()
            && self.near(&(address..address + MAX_INSTRUCTION_LEN as u64)).any(|site| {
                let jump_range = site.jump.as_ref().filter(|_| site.jump_active).map(|jump| &jump.range);
                jump_range.is_some_and(|jump_range| {
                    overlap(jump_range, &(address..address + MAX_INSTRUCTION_LEN as u64))
                })
            })
            || self.has_jumps() && self.islands_in(&(address..address + 1)).next().is_some()
    }

    /// Replaces jumps by the original code, in memory read from `start`.
    pub(crate) fn mask_jumps(&self, start: u64, bytes: &mut [u8]) {
        let range = start..start.saturating_add(bytes.len() as u64);
        let mut clean = |site: &TrapSite| {
            let jump = site.jump.as_ref().filter(|_| site.jump_active);
            for patch in jump.map_or(&[][..], |jump| &jump.patches) {
                for (at, byte) in (patch.at..).zip(&patch.original_code) {
                    if let Some(read) = at.checked_sub(start).and_then(|at| bytes.get_mut(at as usize)) {
                        *read = *byte;
                    }
                }
            }
        };
        // Iterate over whichever is smaller.
        if range.end - range.start < self.trampolines.len() as u64 {
            self.near(&range).for_each(&mut clean);
            self.islands_in(&range).for_each(|id| clean(self.get(id)));
        } else {
            self.trampolines.values().for_each(|id| clean(self.get(*id)));
        }
    }

    /// Whether another site with users is in the range of a site's jump.
    pub(crate) fn is_shared(&self, id: SiteId, has_users: impl Fn(SiteId) -> bool) -> bool {
        let Some(jump) = &self.get(id).jump else { return false };
        let jump_islands = jump.patches.iter().skip(1).flat_map(Patch::range);
        let mut others = jump.range.clone().chain(jump_islands).filter_map(|address| self.at(address));
        others.any(|other| other != id && has_users(other))
    }

    /// Position of a thread in a trampoline, if it is in one.
    pub(crate) fn trampoline_position(&self, pc: u64) -> Option<TrampolinePosition> {
        let (_, id) = self.trampolines.range(..=pc).next_back()?;
        let jump = self.get(*id).jump.as_ref().filter(|jump| jump.trampoline.contains(&pc))?;
        if (jump.call_start..jump.agent_return).contains(&pc) {
            return Some(TrampolinePosition::EnteringAgent(*id));
        }
        if pc == jump.entry {
            return Some(TrampolinePosition::Entry(*id));
        }
        if pc == jump.agent_return {
            return Some(TrampolinePosition::LeavingAgent(*id));
        }
        // In the middle of a copied call there is no corresponding address.
        let copy = jump.copies.iter().find(|(at, _)| *at == pc)?;
        Some(TrampolinePosition::Copy(*id, copy.1))
    }

    /// New instruction pointer for a thread that is in the middle of the bytes of a jump: the copy of its
    /// instruction.
    pub(crate) fn relocate_pc(&self, pc: u64, is_interrupted: bool) -> Option<u64> {
        let byte = pc..pc + 1;
        let mut jumps = self.near(&byte).filter_map(|site| Some((site, site.jump.as_ref()?)));
        let (site, jump) = jumps.find(|(_, jump)| jump.range.start < pc && pc < jump.range.end)?;
        if site.address == pc {
            // Its event was not processed yet; the library sends it back here if it does not need it.
            return (site.jump_active || is_interrupted).then_some(jump.entry);
        }
        jump.copies.iter().find(|(_, address)| *address == pc).map(|(at, _)| *at)
    }

    /// The sites whose jumps may overlap a range.
    fn near(&self, range: &Range<u64>) -> impl Iterator<Item = &TrapSite> {
        // The window of a site begins or ends with the site's instruction.
        let code_around = range.start.saturating_sub(MAX_WINDOW)..range.end + MAX_WINDOW;
        code_around.filter_map(|address| self.at(address)).map(|id| self.get(id))
    }
}

/// Longest window: four bytes and the longest instruction, in either order.
const MAX_WINDOW: u64 = 24;

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Encodes a jump.
fn jump(from: u64, to: u64) -> Result<Box<[u8]>, NotPatchable> {
    let distance = to.wrapping_sub(from + JUMP_LEN as u64) as i64;
    let distance = i32::try_from(distance).map_err(|_| NotPatchable::OutOfReach)?;
    Ok(std::iter::once(0xe9).chain(distance.to_le_bytes()).collect())
}

/// Encodes a short jump.
fn short_jump(from: u64, to: u64) -> Result<Box<[u8]>, NotPatchable> {
    let distance = to.wrapping_sub(from + SHORT_JUMP_LEN as u64) as i64;
    let distance = i8::try_from(distance).map_err(|_| NotPatchable::OutOfReach)?;
    Ok(Box::new([0xeb, distance as u8]))
}
