//! Trap sites: addresses that can carry a trap or a probe's jump, with their original code.

use crate::displaced_step::{self, DisplacedInstruction, SLOT_SIZE};
use crate::memory::ProcessMemory;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// The trap instruction, `int3`.
pub(crate) const TRAP: u8 = 0xcc;
/// Length of the longest instruction.
pub(crate) const MAX_INSTRUCTION_LEN: usize = 15;
/// Size of a memory region for displaced copies.
pub(crate) const REGION_SIZE: u64 = 64 << 10;
/// Maximum distance between a copy and its site: ±2 GiB less a margin, because RIP-relative operands must stay in
/// reach too.
const REACH: u64 = 0x7000_0000;

/// Index of a site in the [`SiteTable`].
///
/// Sites are not removed while the code stays mapped, so a thread that hit a trap just before it was removed can be
/// recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SiteId(pub(crate) u32);

/// An address that can carry a trap or a probe's jump.
#[derive(Clone, Debug)]
pub(crate) struct TrapSite {
    pub(crate) address: u64,
    /// The byte that the trap replaces.
    pub(crate) original: u8,
    /// Whether the trap is written to memory.
    pub(crate) inserted: bool,
    /// Address of the displaced copy.
    pub(crate) slot: u64,
    /// Code of the displaced copy, to write it again if restored memory does not contain it.
    copy: Box<[u8]>,
    /// Address in the copy after the instruction, and the corresponding logical address.
    copy_end: Option<(u64, u64)>,
    /// Number of reasons for the trap.
    pub(crate) trap_refs: u32,
    /// Whether the code was unmapped; the address may now hold other code.
    pub(crate) unmapped: bool,
    /// The jump that can replace the trap.
    pub(crate) jump: Option<ProbeJump>,
    /// Whether the jump is written to memory in place of the trap.
    pub(crate) jump_active: bool,
}

/// A probe's jump to its trampoline.
#[derive(Clone, Debug)]
pub(crate) struct ProbeJump {
    /// The jump and, if that is a short one, the jump island it leads to.
    pub(crate) patches: Vec<Patch>,
    /// Addresses that the jump overwrites or whose instructions run in the trampoline instead.
    pub(crate) range: Range<u64>,
    /// Address range of the trampoline.
    pub(crate) trampoline: Range<u64>,
    /// Address at which a thread enters the trampoline.
    pub(crate) entry: u64,
    /// Address at which the call of the library starts.
    pub(crate) call_start: u64,
    /// Address at which a thread resumes after dispatch: the copy of the site's instruction.
    pub(crate) resume_at: u64,
    /// Address at which a thread returns from the library.
    pub(crate) agent_return: u64,
    /// Flags that are passed to the library with the site number.
    pub(crate) flags: u32,
    /// Addresses of the copied instructions, each with the original address.
    pub(crate) copies: Vec<(u64, u64)>,
}

/// A code patch.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    pub(crate) at: u64,
    pub(crate) code: Box<[u8]>,
    /// The original bytes.
    pub(crate) original_code: Box<[u8]>,
}

impl Patch {
    pub(crate) fn range(&self) -> Range<u64> {
        self.at..self.at + self.code.len() as u64
    }
}

/// Memory in the target for displaced copies.
#[derive(Clone, Debug)]
struct Region {
    range: Range<u64>,
    /// Sites whose copies are in this region, in order.
    sites: Vec<SiteId>,
}

impl Region {
    fn has_free_slot(&self) -> bool {
        (self.sites.len() as u64 + 1) * SLOT_SIZE <= self.range.end - self.range.start
    }

    fn reaches(&self, address: u64) -> bool {
        self.range.start.abs_diff(address) < REACH && self.range.end.abs_diff(address) < REACH
    }
}

/// Why an address cannot carry a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiteError {
    /// There is no readable code.
    Unreadable,
    /// The displaced copy cannot be written.
    CopyNotWritten,
    /// The bytes are not a valid instruction, or the instruction cannot be executed elsewhere.
    Immovable,
    /// A region near the address is needed; add it with [`SiteTable::add_region`] and try again.
    NeedsRegion,
}

/// Position of a thread in a displaced copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyPosition {
    /// Before the instruction of this site.
    Before(SiteId),
    /// After the instruction; logically at this address.
    After(u64),
}

/// All sites, with the memory for their displaced copies.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteTable {
    by_address: FxHashMap<u64, SiteId>,
    pub(crate) all: Vec<TrapSite>,
    regions: Vec<Region>,
    /// Start addresses of the trampolines, with their sites.
    pub(crate) trampolines: BTreeMap<u64, SiteId>,
    /// Addresses of the jump islands, with their sites.
    pub(crate) jump_islands: BTreeMap<u64, SiteId>,
    /// Return sites that the probe library tracks, by address. Their jumps are active whenever any jump is.
    pub(crate) return_sites: BTreeMap<u64, SiteId>,
    /// Number of active jumps.
    pub(crate) active_jumps: usize,
    /// Smallest range that contains all sites.
    site_range: Range<u64>,
}

impl SiteTable {
    #[inline]
    pub(crate) fn at(&self, address: u64) -> Option<SiteId> {
        self.by_address.get(&address).copied()
    }

    #[inline]
    pub(crate) fn get(&self, id: SiteId) -> &TrapSite {
        &self.all[id.0 as usize]
    }

    /// Returns the site at an address, prepared for a trap but without one.
    pub(crate) fn prepare(&mut self, memory: &ProcessMemory, address: u64) -> Result<SiteId, SiteError> {
        if let Some(id) = self.at(address) {
            return Ok(id);
        }
        let mut bytes = [0; MAX_INSTRUCTION_LEN];
        let read = memory.read_some(address, &mut bytes);
        self.mask_traps(address, &mut bytes[..read]);
        let bytes = &bytes[..read];
        let original = *bytes.first().ok_or(SiteError::Unreadable)?;
        let id = SiteId(self.all.len() as u32);
        let region = self.regions.iter_mut().find(|region| region.has_free_slot() && region.reaches(address));
        let region = region.ok_or(SiteError::NeedsRegion)?;
        let slot = region.range.start + region.sites.len() as u64 * SLOT_SIZE;
        let DisplacedInstruction { code, jump_back, length } =
            displaced_step::copy_instruction(bytes, address, slot).ok_or(SiteError::Immovable)?;
        memory.write(slot, &code).map_err(|_| SiteError::CopyNotWritten)?;
        region.sites.push(id);
        let copy_end = jump_back.map(|at| (slot + at, address + length));
        let copy = code.into_boxed_slice();
        self.all.push(TrapSite {
            address,
            original,
            inserted: false,
            slot,
            copy,
            copy_end,
            trap_refs: 0,
            unmapped: false,
            jump: None,
            jump_active: false,
        });
        self.by_address.insert(address, id);
        let end = address + 1;
        self.site_range = match self.site_range.is_empty() {
            true => address..end,
            false => self.site_range.start.min(address)..self.site_range.end.max(end),
        };
        Ok(id)
    }

    /// Adds memory for displaced copies.
    pub(crate) fn add_region(&mut self, start: u64, end: u64) {
        self.regions.push(Region { range: start..end, sites: Vec::new() });
    }

    /// Whether there is memory for a displaced copy near an address.
    pub(crate) fn has_region_for(&self, address: u64) -> bool {
        self.regions.iter().any(|region| region.has_free_slot() && region.reaches(address))
    }

    /// Adds a reason for the trap, and writes it.
    pub(crate) fn add_trap_ref(&mut self, memory: &ProcessMemory, id: SiteId) {
        let site = &mut self.all[id.0 as usize];
        if site.unmapped {
            return;
        }
        site.trap_refs += 1;
        if !site.inserted && !site.jump_active {
            site.inserted = memory.write(site.address, &[TRAP]).is_ok();
        }
    }

    /// Removes a reason for the trap, and the trap with the last one.
    pub(crate) fn remove_trap_ref(&mut self, memory: &ProcessMemory, id: SiteId) {
        let site = &mut self.all[id.0 as usize];
        site.trap_refs = site.trap_refs.saturating_sub(1);
        if site.trap_refs == 0 && site.inserted {
            // If the memory was unmapped, so was the trap.
            let _ = memory.write(site.address, &[site.original]);
            site.inserted = false;
        }
    }

    /// Marks the sites of unmapped code as unmapped, forgets their addresses and returns them.
    pub(crate) fn unmap(&mut self, range: &Range<u64>) -> Vec<SiteId> {
        let is_in_range = |site: &SiteId| range.contains(&self.get(*site).address);
        let unmapped: Vec<SiteId> = self.by_address.values().copied().filter(is_in_range).collect();
        for id in &unmapped {
            let site = &mut self.all[id.0 as usize];
            (site.inserted, site.trap_refs, site.unmapped) = (false, 0, true);
            self.active_jumps -= usize::from(site.jump_active);
            (site.jump, site.jump_active) = (None, false);
            self.by_address.remove(&site.address);
        }
        self.jump_islands.retain(|_, id| !self.all[id.0 as usize].unmapped);
        unmapped
    }

    /// Restores the original code in a copy of the target's memory, or in the target itself before it is detached.
    /// The sites keep their reasons.
    pub(crate) fn restore_original_code(&self, memory: &ProcessMemory) {
        for site in self.all.iter().filter(|site| site.inserted) {
            let _ = memory.write(site.address, &[site.original]);
        }
        let jumps = self.all.iter().filter(|site| site.jump_active).filter_map(|site| site.jump.as_ref());
        for patch in jumps.flat_map(|jump| &jump.patches) {
            let _ = memory.write(patch.at, &patch.original_code);
        }
    }

    /// Makes restored memory agree with the current traps. `is_same_code` tests whether the code at an address is the
    /// code for which the site was prepared.
    pub(crate) fn restore_traps(&mut self, memory: &ProcessMemory, is_same_code: impl Fn(u64) -> bool) {
        for index in 0..self.all.len() {
            let site = &mut self.all[index];
            let _ = memory.write(site.slot, &site.copy);
            if site.unmapped {
                // The restored memory may hold the code with a stale trap.
                let mut byte = [0];
                if memory.read(site.address, &mut byte).is_ok() && byte == [TRAP] {
                    let _ = memory.write(site.address, &[site.original]);
                }
                continue;
            }
            if !is_same_code(site.address) {
                site.inserted = false;
                continue;
            }
            let byte = if site.trap_refs > 0 { TRAP } else { site.original };
            let written = memory.write(site.address, &[byte]).is_ok();
            site.inserted = site.trap_refs > 0 && written;
        }
    }

    /// Replaces traps by the original code, in memory read from `start`.
    #[inline]
    pub(crate) fn mask_traps(&self, start: u64, bytes: &mut [u8]) {
        let end = start.saturating_add(bytes.len() as u64);
        if self.has_jumps() {
            self.mask_jumps(start, bytes);
        }
        if start >= self.site_range.end || end <= self.site_range.start {
            return;
        }
        // Iterate over whichever is smaller.
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

    /// Writes to the target's memory and keeps the traps in place.
    pub(crate) fn write_around(&mut self, memory: &ProcessMemory, start: u64, bytes: &[u8]) -> bool {
        let mut bytes = bytes.to_vec();
        let range = start..start.saturating_add(bytes.len() as u64);
        for site in self.all.iter_mut().filter(|site| !site.unmapped && range.contains(&site.address)) {
            let byte = &mut bytes[(site.address - start) as usize];
            site.original = *byte;
            if site.inserted {
                *byte = TRAP;
            }
        }
        memory.write(start, &bytes).is_ok()
    }

    /// Position of a thread in a displaced copy, if it is in one.
    pub(crate) fn copy_position(&self, pc: u64) -> Option<CopyPosition> {
        let region = self.regions.iter().find(|region| region.range.contains(&pc))?;
        let index = ((pc - region.range.start) / SLOT_SIZE) as usize;
        let id = *region.sites.get(index)?;
        let site = self.get(id);
        if pc == site.slot {
            return Some(CopyPosition::Before(id));
        }
        // In the middle of a copied call there is no corresponding address.
        site.copy_end.filter(|(at, _)| *at == pc).map(|(_, after)| CopyPosition::After(after))
    }

    /// Whether an address is in a region of displaced copies.
    pub(crate) fn is_in_copy(&self, pc: u64) -> bool {
        self.regions.iter().any(|region| region.range.contains(&pc))
    }

    /// The regions of displaced copies.
    pub(crate) fn regions(&self) -> Vec<Range<u64>> {
        self.regions.iter().map(|region| region.range.clone()).collect()
    }

    /// Removes all sites: the target executed another program.
    pub(crate) fn clear(&mut self) {
        *self = SiteTable::default();
    }
}
