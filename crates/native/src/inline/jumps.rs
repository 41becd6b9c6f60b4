//! Jumps in the place of traps, while the program runs.
//!
//! A jump lies over five bytes, so no thread may be in the middle of those when it is put there, and whoever looks at the
//! program must not see it. Therefore jumps are there only while the program runs: they are put when all threads stand
//! still and are about to be let go, and lifted as soon as all stand still again. In between, all is as with traps.

use super::trampoline::{JUMP, Trampoline, Unfit};
use crate::memory::RawMemory;
use crate::sites::{Jump, LONGEST as INSTRUCTION, Site, SiteId, Sites, TRAP};
use std::ops::Range;

/// Where a thread is in a trampoline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InTrampoline {
    /// On its way to the library.
    Coming(SiteId),
    /// It has come back, and has not left what the trampoline put on the stack.
    Back(SiteId),
    /// Before a copy of an instruction which the program calls this address; or behind the last of them.
    Copy(SiteId, u64),
}

impl Sites {
    /// Keeps a jump over a window for a place. The trampoline lies at `at`.
    pub(crate) fn prepare_jump(
        &mut self,
        memory: &RawMemory,
        id: SiteId,
        (at, made): (u64, &Trampoline),
        range: Range<u64>,
        begins: bool,
    ) -> Result<(), Unfit> {
        let is_taken = |site: &Site| site.jump.as_ref().is_some_and(|jump| overlap(&jump.range, &range));
        if self.near(&range).any(is_taken) {
            return Err(Unfit::Crowded);
        }
        let mut under = [0; JUMP];
        memory.read(range.start, &mut under).map_err(|_| Unfit::Short)?;
        self.clean(range.start, &mut under);
        let distance = at.wrapping_sub(range.start + JUMP as u64) as i64;
        let distance = i32::try_from(distance).map_err(|_| Unfit::Far)?;
        let mut code = [0xe9; JUMP];
        code[1..].copy_from_slice(&distance.to_le_bytes());
        memory.write(at, &made.code).map_err(|_| Unfit::Far)?;
        let copies = made.copies.iter().map(|(offset, address)| (at + offset, *address));
        let site = &mut self.all[id.0 as usize];
        let copies: Vec<(u64, u64)> = copies.collect();
        let own = copies.iter().find(|(_, address)| *address == site.address);
        site.jump = Some(Jump {
            code,
            under,
            on: own.map_or(at + made.back, |(at, _)| *at),
            trampoline: at..at + made.code.len() as u64,
            probe: at + made.probe,
            back: at + made.back,
            begins,
            copies,
            range,
        });
        self.trampolines.insert(at, id);
        Ok(())
    }

    /// A place is to have another jump, or none. It has none now.
    pub(crate) fn drop_jump(&mut self, id: SiteId) {
        self.all[id.0 as usize].jump = None;
    }

    /// Whether there are jumps now.
    pub(crate) fn has_jumps(&self) -> bool {
        self.jumping > 0
    }

    /// Puts a jump in the place of a trap. All threads stand still, none of them in its middle.
    pub(crate) fn put_jump(&mut self, memory: &RawMemory, id: SiteId) {
        let site = &mut self.all[id.0 as usize];
        let Some(jump) = &site.jump else { return };
        if site.jumps || site.buried {
            return;
        }
        if site.inserted {
            let _ = memory.write(site.address, &[site.original]);
            site.inserted = false;
        }
        if memory.write(jump.range.start, &jump.code).is_ok() {
            site.jumps = true;
            self.jumping += 1;
        }
    }

    /// Puts traps in the place of all jumps, where they are wanted. All threads stand still.
    pub(crate) fn lift_jumps(&mut self, memory: &RawMemory) {
        if std::mem::take(&mut self.jumping) == 0 {
            return;
        }
        for site in self.all.iter_mut().filter(|site| site.jumps) {
            site.jumps = false;
            let Some(jump) = &site.jump else { continue };
            // If the memory is gone, so is the jump.
            let _ = memory.write(jump.range.start, &jump.under);
            site.inserted = site.wanted > 0 && memory.write(site.address, &[TRAP]).is_ok();
        }
    }

    /// There are no trampolines any more, and no jumps.
    pub(crate) fn forget_jumps(&mut self) {
        self.all.iter_mut().for_each(|site| (site.jump, site.jumps) = (None, false));
        self.trampolines.clear();
        self.jumping = 0;
    }

    /// Whether a jump lies over something of an instruction that begins at an address.
    pub(crate) fn is_jumped_over(&self, address: u64) -> bool {
        self.has_jumps()
            && self.near(&(address..address + INSTRUCTION as u64)).any(|site| {
                let over = site.jump.as_ref().filter(|_| site.jumps).map(|jump| &jump.range);
                over.is_some_and(|over| overlap(over, &(address..address + INSTRUCTION as u64)))
            })
    }

    /// Puts the program's own bytes in the place of jumps, in memory read from `start`.
    pub(crate) fn clean_jumps(&self, start: u64, bytes: &mut [u8]) {
        let all = self.trampolines.values().map(|id| self.get(*id)).filter(|site| site.jumps);
        for jump in all.filter_map(|site| site.jump.as_ref()) {
            for (at, byte) in (jump.range.start..).zip(jump.under) {
                if let Some(read) = at.checked_sub(start).and_then(|at| bytes.get_mut(at as usize)) {
                    *read = byte;
                }
            }
        }
    }

    /// Whether somebody else's place lies in the middle of what the jump of a place lies over.
    pub(crate) fn is_shared(&self, id: SiteId, has_uses: impl Fn(SiteId) -> bool) -> bool {
        let Some(jump) = &self.get(id).jump else { return false };
        jump.range.clone().filter_map(|address| self.at(address)).any(|other| other != id && has_uses(other))
    }

    /// Where a thread is whose instruction pointer lies in a trampoline.
    pub(crate) fn in_trampoline(&self, pc: u64) -> Option<InTrampoline> {
        let (_, id) = self.trampolines.range(..=pc).next_back()?;
        let jump = self.get(*id).jump.as_ref().filter(|jump| jump.trampoline.contains(&pc))?;
        if (jump.probe..jump.back).contains(&pc) {
            return Some(InTrampoline::Coming(*id));
        }
        if pc == jump.back {
            return Some(InTrampoline::Back(*id));
        }
        // In the middle of a copied call there is no such address.
        let copy = jump.copies.iter().find(|(at, _)| *at == pc)?;
        Some(InTrampoline::Copy(*id, copy.1))
    }

    /// The places whose jumps may lie over something of a range.
    fn near(&self, range: &Range<u64>) -> impl Iterator<Item = &Site> {
        // The window of a place begins or ends with its instruction.
        let around = range.start.saturating_sub(LONGEST_WINDOW)..range.end + LONGEST_WINDOW;
        around.filter_map(|address| self.at(address)).map(|id| self.get(id))
    }
}

/// No window is longer: four bytes, and then the longest instruction; or the other way round.
const LONGEST_WINDOW: u64 = 24;

fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}
