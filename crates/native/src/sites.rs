//! The places in the code that carry a trap, and what is under it.

use crate::displace::{self, Displaced, SLOT};
use crate::memory::RawMemory;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// The instruction that stops a thread.
pub(crate) const TRAP: u8 = 0xcc;
/// The longest instruction there is.
pub(crate) const LONGEST: usize = 15;
/// How much memory is taken at a time for copies of instructions.
pub(crate) const REGION: u64 = 64 << 10;
/// A jump back reaches this far, with some room for what the instruction itself refers to.
const REACH: u64 = 0x7000_0000;

/// A place, by its position in [`Sites`]. Places are never forgotten while the program's code is the same,
/// so that a thread which ran into a trap just before it was removed is known to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SiteId(pub(crate) u32);

#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) address: u64,
    pub(crate) original: u8,
    /// Whether the trap is there now.
    pub(crate) inserted: bool,
    /// Where a copy of the instruction is.
    pub(crate) slot: u64,
    /// The copy: memory from before it was made lacks it.
    copy: Box<[u8]>,
    /// Where in the copy it has been executed, and the address that the program would say it is at then.
    back: Option<(u64, u64)>,
    /// How many want the trap.
    pub(crate) wanted: u32,
    /// Whether the code was taken away: what is at the address now is none of ours.
    pub(crate) buried: bool,
    /// The jump that can be there instead of the trap.
    pub(crate) jump: Option<Jump>,
    /// Whether it is there now, and no trap.
    pub(crate) jumps: bool,
}

/// A jump to a trampoline.
#[derive(Clone, Debug)]
pub(crate) struct Jump {
    /// The jump itself, and, where that is a short one, the other that it leads to.
    pub(crate) patches: Vec<Patch>,
    /// What it lies over, and the instructions that are executed elsewhere.
    pub(crate) range: Range<u64>,
    /// Where the trampoline lies.
    pub(crate) trampoline: Range<u64>,
    /// Where in it a thread comes that is at the place.
    pub(crate) enter: u64,
    /// Where in it the way to the library begins.
    pub(crate) probe: u64,
    /// Where a thread goes on that has been served: at the copy of the instruction of the place.
    pub(crate) on: u64,
    /// Where a thread comes back to it from the library.
    pub(crate) back: u64,
    /// What is noted there besides events, as the library is told with the number of the place.
    pub(crate) marks: u32,
    /// Where the copies of the program's instructions lie, and what the program calls these places.
    pub(crate) copies: Vec<(u64, u64)>,
}

/// A jump where something else is.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    pub(crate) at: u64,
    pub(crate) code: Box<[u8]>,
    /// The program's own bytes.
    pub(crate) under: Box<[u8]>,
}

impl Patch {
    pub(crate) fn range(&self) -> Range<u64> {
        self.at..self.at + self.code.len() as u64
    }
}

/// Memory in the program for copies of instructions.
#[derive(Clone, Debug)]
struct Region {
    range: Range<u64>,
    /// The places whose copies lie here, in order.
    sites: Vec<SiteId>,
}

impl Region {
    fn has_room(&self) -> bool {
        (self.sites.len() as u64 + 1) * SLOT <= self.range.end - self.range.start
    }

    fn reaches(&self, address: u64) -> bool {
        self.range.start.abs_diff(address) < REACH && self.range.end.abs_diff(address) < REACH
    }
}

/// Why there can be no trap at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSite {
    /// There is no code that can be read there.
    Unreadable,
    /// What is there is no instruction, or one that cannot be executed elsewhere.
    Immovable,
    /// Memory for a copy is needed near this address; add it with [`Sites::add_region`] and try again.
    NeedsRegion,
}

/// Where a thread is whose instruction pointer lies in a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InCopy {
    /// Before the instruction of this place.
    Before(SiteId),
    /// Behind it: the program would call it this address.
    Behind(u64),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Sites {
    by_address: FxHashMap<u64, SiteId>,
    pub(crate) all: Vec<Site>,
    regions: Vec<Region>,
    /// The places whose trampolines begin at these addresses.
    pub(crate) trampolines: BTreeMap<u64, SiteId>,
    /// Where jumps lie that short jumps lead to, each with its place.
    pub(crate) stones: BTreeMap<u64, SiteId>,
    /// Where functions return to for others and the library knows that, by address. There are jumps there whenever there
    /// are any.
    pub(crate) returns: BTreeMap<u64, SiteId>,
    /// How many jumps there are now.
    pub(crate) jumping: usize,
    /// From the first to behind the last address with a trap.
    extent: Range<u64>,
}

impl Sites {
    #[inline]
    pub(crate) fn at(&self, address: u64) -> Option<SiteId> {
        self.by_address.get(&address).copied()
    }

    #[inline]
    pub(crate) fn get(&self, id: SiteId) -> &Site {
        &self.all[id.0 as usize]
    }

    /// The place at an address, prepared for a trap but without one.
    pub(crate) fn prepare(&mut self, memory: &RawMemory, address: u64) -> Result<SiteId, NoSite> {
        if let Some(id) = self.at(address) {
            return Ok(id);
        }
        let mut bytes = [0; LONGEST];
        let read = memory.read_some(address, &mut bytes);
        self.clean(address, &mut bytes[..read]);
        let bytes = &bytes[..read];
        let original = *bytes.first().ok_or(NoSite::Unreadable)?;
        let id = SiteId(self.all.len() as u32);
        let region = self.regions.iter_mut().find(|region| region.has_room() && region.reaches(address));
        let region = region.ok_or(NoSite::NeedsRegion)?;
        let slot = region.range.start + region.sites.len() as u64 * SLOT;
        let Displaced { code, back, length } =
            displace::displace(bytes, address, slot).ok_or(NoSite::Immovable)?;
        memory.write(slot, &code).map_err(|_| NoSite::Unreadable)?;
        region.sites.push(id);
        let back = back.map(|back| (slot + back, address + length));
        let copy = code.into_boxed_slice();
        self.all.push(Site {
            address,
            original,
            inserted: false,
            slot,
            copy,
            back,
            wanted: 0,
            buried: false,
            jump: None,
            jumps: false,
        });
        self.by_address.insert(address, id);
        let behind = address + 1;
        self.extent = match self.extent.is_empty() {
            true => address..behind,
            false => self.extent.start.min(address)..self.extent.end.max(behind),
        };
        Ok(id)
    }

    /// Says that memory for copies was made in the program.
    pub(crate) fn add_region(&mut self, start: u64, end: u64) {
        self.regions.push(Region { range: start..end, sites: Vec::new() });
    }

    /// Whether there is memory for a copy of an instruction at this address.
    pub(crate) fn has_region_for(&self, address: u64) -> bool {
        self.regions.iter().any(|region| region.has_room() && region.reaches(address))
    }

    /// One more wants the trap.
    pub(crate) fn want(&mut self, memory: &RawMemory, id: SiteId) {
        let site = &mut self.all[id.0 as usize];
        if site.buried {
            return;
        }
        site.wanted += 1;
        if !site.inserted && !site.jumps {
            site.inserted = memory.write(site.address, &[TRAP]).is_ok();
        }
    }

    /// One less wants the trap.
    pub(crate) fn release(&mut self, memory: &RawMemory, id: SiteId) {
        let site = &mut self.all[id.0 as usize];
        site.wanted = site.wanted.saturating_sub(1);
        if site.wanted == 0 && site.inserted {
            // If the memory is gone, so is the trap.
            let _ = memory.write(site.address, &[site.original]);
            site.inserted = false;
        }
    }

    /// The code in a range was taken away, and its traps with it. Gives the places that were there.
    pub(crate) fn bury(&mut self, range: &Range<u64>) -> Vec<SiteId> {
        let there = |site: &SiteId| range.contains(&self.get(*site).address);
        let buried: Vec<SiteId> = self.by_address.values().copied().filter(there).collect();
        for id in &buried {
            let site = &mut self.all[id.0 as usize];
            (site.inserted, site.wanted, site.buried) = (false, 0, true);
            self.jumping -= usize::from(site.jumps);
            (site.jump, site.jumps) = (None, false);
            self.by_address.remove(&site.address);
        }
        self.stones.retain(|_, id| !self.all[id.0 as usize].buried);
        buried
    }

    /// Takes the traps out of the memory of another process that is a copy of this one, or of this one when
    /// it is left to itself. The places stay wanted.
    pub(crate) fn remove_from(&self, memory: &RawMemory) {
        for site in self.all.iter().filter(|site| site.inserted) {
            let _ = memory.write(site.address, &[site.original]);
        }
        let jumps = self.all.iter().filter(|site| site.jumps).filter_map(|site| site.jump.as_ref());
        for patch in jumps.flat_map(|jump| &jump.patches) {
            let _ = memory.write(patch.at, &patch.under);
        }
    }

    /// Makes memory that was brought back from an earlier time agree with what is wanted now. `is_there` says
    /// whether the code at an address is what it was when its place was prepared: if not, what is there then
    /// is none of ours.
    pub(crate) fn renew(&mut self, memory: &RawMemory, is_there: impl Fn(u64) -> bool) {
        for index in 0..self.all.len() {
            let site = &mut self.all[index];
            let _ = memory.write(site.slot, &site.copy);
            if site.buried {
                // Its code may be back, with a trap that nobody wants.
                let mut byte = [0];
                if memory.read(site.address, &mut byte).is_ok() && byte == [TRAP] {
                    let _ = memory.write(site.address, &[site.original]);
                }
                continue;
            }
            if !is_there(site.address) {
                site.inserted = false;
                continue;
            }
            let byte = if site.wanted > 0 { TRAP } else { site.original };
            let written = memory.write(site.address, &[byte]).is_ok();
            site.inserted = site.wanted > 0 && written;
        }
    }

    /// Puts what is really there in place of the traps, in memory read from `start`.
    #[inline]
    pub(crate) fn clean(&self, start: u64, bytes: &mut [u8]) {
        let end = start.saturating_add(bytes.len() as u64);
        if self.has_jumps() {
            self.clean_jumps(start, bytes);
        }
        if start >= self.extent.end || end <= self.extent.start {
            return;
        }
        // Few places or few bytes: go through whichever are fewer.
        if bytes.len() < self.all.len() {
            for (at, byte) in bytes.iter_mut().enumerate() {
                if let Some(site) = self.at(start + at as u64).map(|id| self.get(id))
                    && site.inserted
                {
                    *byte = site.original;
                }
            }
        } else {
            for site in self.all.iter().filter(|site| site.inserted && (start..end).contains(&site.address)) {
                bytes[(site.address - start) as usize] = site.original;
            }
        }
    }

    /// Writes to the program's memory, around the traps.
    pub(crate) fn write_around(&mut self, memory: &RawMemory, start: u64, bytes: &[u8]) -> bool {
        let mut bytes = bytes.to_vec();
        let range = start..start.saturating_add(bytes.len() as u64);
        for site in self.all.iter_mut().filter(|site| !site.buried && range.contains(&site.address)) {
            let byte = &mut bytes[(site.address - start) as usize];
            site.original = *byte;
            if site.inserted {
                *byte = TRAP;
            }
        }
        memory.write(start, &bytes).is_ok()
    }

    /// Where a thread is whose instruction pointer lies in a copy, if it does.
    pub(crate) fn in_copy(&self, pc: u64) -> Option<InCopy> {
        let region = self.regions.iter().find(|region| region.range.contains(&pc))?;
        let index = ((pc - region.range.start) / SLOT) as usize;
        let id = *region.sites.get(index)?;
        let site = self.get(id);
        if pc == site.slot {
            return Some(InCopy::Before(id));
        }
        // In the middle of a copied call there is no such address.
        site.back.filter(|(at, _)| *at == pc).map(|(_, behind)| InCopy::Behind(behind))
    }

    /// Whether an address lies in memory for copies.
    pub(crate) fn is_inside_copy(&self, pc: u64) -> bool {
        self.regions.iter().any(|region| region.range.contains(&pc))
    }

    /// The memory for copies, each from its begin to its end.
    pub(crate) fn regions(&self) -> Vec<Range<u64>> {
        self.regions.iter().map(|region| region.range.clone()).collect()
    }

    /// Forgets everything: the program's code was replaced.
    pub(crate) fn clear(&mut self) {
        *self = Sites::default();
    }
}
