//! Jumps in the place of traps, while the program runs.
//!
//! A jump lies over five bytes, so no thread may be in the middle of those when it is put there, and whoever looks at the
//! program must not see it. Therefore jumps are there only while the program runs: they are put when all threads stand
//! still and are about to be let go, and lifted as soon as all stand still again. In between, all is as with traps.

use super::trampoline::{JUMP, SHORT_JUMP, Trampoline, Unfit};
use crate::memory::RawMemory;
use crate::sites::{Jump, LONGEST as INSTRUCTION, Patch, Site, SiteId, Sites, TRAP};
use std::ops::Range;

/// Where a thread is in a trampoline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InTrampoline {
    /// At its place, and nothing has happened there yet.
    Ahead(SiteId),
    /// On its way to the library.
    Coming(SiteId),
    /// It has come back, and has not left what the trampoline put on the stack.
    Back(SiteId),
    /// Before a copy of an instruction which the program calls this address; or behind the last of them.
    Copy(SiteId, u64),
}

impl Sites {
    /// Keeps a jump over a window for a place. The trampoline lies at `at`; the jump leads there by way of `stone`, if that is
    /// given.
    pub(crate) fn prepare_jump(
        &mut self,
        memory: &RawMemory,
        id: SiteId,
        (at, made): (u64, &Trampoline),
        (range, stone): (Range<u64>, Option<u64>),
        marks: u32,
    ) -> Result<(), Unfit> {
        if !self.is_free_for_jump(&range) {
            return Err(Unfit::Crowded);
        }
        let mut patches = vec![match stone {
            Some(stone) => self.patch(memory, range.start, short_jump(range.start, stone)?)?,
            None => self.patch(memory, range.start, jump(range.start, at)?)?,
        }];
        if let Some(stone) = stone {
            patches.push(self.patch(memory, stone, jump(stone, at)?)?);
            self.stones.insert(stone, id);
        }
        memory.write(at, &made.code).map_err(|_| Unfit::Far)?;
        let copies = made.copies.iter().map(|(offset, address)| (at + offset, *address));
        let site = &mut self.all[id.0 as usize];
        let copies: Vec<(u64, u64)> = copies.collect();
        let own = copies.iter().find(|(_, address)| *address == site.address);
        site.jump = Some(Jump {
            patches,
            on: own.map_or(at + made.back, |(at, _)| *at),
            trampoline: at..at + made.code.len() as u64,
            enter: at + made.enter,
            probe: at + made.probe,
            back: at + made.back,
            marks,
            copies,
            range,
        });
        self.trampolines.insert(at, id);
        Ok(())
    }

    fn patch(&self, memory: &RawMemory, at: u64, code: Box<[u8]>) -> Result<Patch, Unfit> {
        let mut under = vec![0; code.len()];
        memory.read(at, &mut under).map_err(|_| Unfit::Short)?;
        self.clean(at, &mut under);
        Ok(Patch { at, code, under: under.into() })
    }

    /// Whether no jump of another place lies, or would lie, over something of a range.
    pub(crate) fn is_free_for_jump(&self, range: &Range<u64>) -> bool {
        let is_taken = |site: &Site| site.jump.as_ref().is_some_and(|jump| overlap(&jump.range, range));
        !self.near(range).any(is_taken) && self.stones_in(range).next().is_none()
    }

    /// The places whose short jumps lead to somewhere that overlaps a range.
    fn stones_in(&self, range: &Range<u64>) -> impl Iterator<Item = SiteId> {
        let first = range.start.saturating_sub(JUMP as u64 - 1);
        self.stones.range(first..range.end).map(|(_, id)| *id)
    }

    /// A place is to have another jump, or none. It has none now.
    pub(crate) fn drop_jump(&mut self, id: SiteId) {
        if self.all[id.0 as usize].jump.take().is_some() {
            self.stones.retain(|_, owner| *owner != id);
        }
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
        // Where it leads to comes first.
        if jump.patches.iter().rev().all(|patch| memory.write(patch.at, &patch.code).is_ok()) {
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
            for patch in &jump.patches {
                let _ = memory.write(patch.at, &patch.under);
            }
            site.inserted = site.wanted > 0 && memory.write(site.address, &[TRAP]).is_ok();
        }
    }

    /// There are no trampolines any more, and no jumps.
    pub(crate) fn forget_jumps(&mut self) {
        self.all.iter_mut().for_each(|site| (site.jump, site.jumps) = (None, false));
        self.trampolines.clear();
        self.stones.clear();
        self.returns.clear();
        self.jumping = 0;
    }

    /// Whether the library knows that functions return to a place for others.
    pub(crate) fn is_return(&self, id: SiteId) -> bool {
        self.returns.get(&self.get(id).address) == Some(&id)
    }

    /// Whether a jump lies over something of an instruction that begins at an address.
    pub(crate) fn is_jumped_over(&self, address: u64) -> bool {
        self.has_jumps()
            && self.near(&(address..address + INSTRUCTION as u64)).any(|site| {
                let over = site.jump.as_ref().filter(|_| site.jumps).map(|jump| &jump.range);
                over.is_some_and(|over| overlap(over, &(address..address + INSTRUCTION as u64)))
            })
            || self.has_jumps() && self.stones_in(&(address..address + 1)).next().is_some()
    }

    /// Puts the program's own bytes in the place of jumps, in memory read from `start`.
    pub(crate) fn clean_jumps(&self, start: u64, bytes: &mut [u8]) {
        let range = start..start.saturating_add(bytes.len() as u64);
        let mut clean = |site: &Site| {
            let jump = site.jump.as_ref().filter(|_| site.jumps);
            for patch in jump.map_or(&[][..], |jump| &jump.patches) {
                for (at, byte) in (patch.at..).zip(&patch.under) {
                    if let Some(read) = at.checked_sub(start).and_then(|at| bytes.get_mut(at as usize)) {
                        *read = *byte;
                    }
                }
            }
        };
        // Few bytes or few jumps: go through whichever are fewer.
        if range.end - range.start < self.trampolines.len() as u64 {
            self.near(&range).for_each(&mut clean);
            self.stones_in(&range).for_each(|id| clean(self.get(id)));
        } else {
            self.trampolines.values().for_each(|id| clean(self.get(*id)));
        }
    }

    /// Whether somebody else's place lies in the middle of what the jump of a place lies over.
    pub(crate) fn is_shared(&self, id: SiteId, has_uses: impl Fn(SiteId) -> bool) -> bool {
        let Some(jump) = &self.get(id).jump else { return false };
        let stones = jump.patches.iter().skip(1).flat_map(Patch::range);
        let mut others = jump.range.clone().chain(stones).filter_map(|address| self.at(address));
        others.any(|other| other != id && has_uses(other))
    }

    /// Where a thread is whose instruction pointer lies in a trampoline.
    pub(crate) fn in_trampoline(&self, pc: u64) -> Option<InTrampoline> {
        let (_, id) = self.trampolines.range(..=pc).next_back()?;
        let jump = self.get(*id).jump.as_ref().filter(|jump| jump.trampoline.contains(&pc))?;
        if (jump.probe..jump.back).contains(&pc) {
            return Some(InTrampoline::Coming(*id));
        }
        if pc == jump.enter {
            return Some(InTrampoline::Ahead(*id));
        }
        if pc == jump.back {
            return Some(InTrampoline::Back(*id));
        }
        // In the middle of a copied call there is no such address.
        let copy = jump.copies.iter().find(|(at, _)| *at == pc)?;
        Some(InTrampoline::Copy(*id, copy.1))
    }

    /// Where a thread goes on that is in the middle of what the jump of a place lies over, or is to lie over: at the copy of its
    /// instruction.
    pub(crate) fn out_of_window(&self, pc: u64, is_interrupted: bool) -> Option<u64> {
        let here = pc..pc + 1;
        let mut jumps = self.near(&here).filter_map(|site| Some((site, site.jump.as_ref()?)));
        let (site, jump) = jumps.find(|(_, jump)| jump.range.start < pc && pc < jump.range.end)?;
        if site.address == pc {
            // Its event is yet to happen; the library sends it back here if it has no use for it.
            return (site.jumps || is_interrupted).then_some(jump.enter);
        }
        jump.copies.iter().find(|(_, address)| *address == pc).map(|(at, _)| *at)
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

/// A jump that lies at an address and leads to another.
fn jump(from: u64, to: u64) -> Result<Box<[u8]>, Unfit> {
    let distance = to.wrapping_sub(from + JUMP as u64) as i64;
    let distance = i32::try_from(distance).map_err(|_| Unfit::Far)?;
    Ok(std::iter::once(0xe9).chain(distance.to_le_bytes()).collect())
}

/// The same for two that are near each other.
fn short_jump(from: u64, to: u64) -> Result<Box<[u8]>, Unfit> {
    let distance = to.wrapping_sub(from + SHORT_JUMP as u64) as i64;
    let distance = i8::try_from(distance).map_err(|_| Unfit::Far)?;
    Ok(Box::new([0xeb, distance as u8]))
}
