//! Decides whether a branch may lead into the middle of the instructions that a jump is to replace.
//!
//! The image knows the targets of long jumps, addresses and tables ([`Program::may_contain_jump_target`]). Jumps of two bytes
//! come from at most 128 bytes away: the surrounding code is searched, including that of other functions, because
//! assembly code jumps between functions.

use super::trampoline::{BranchTargets, JUMP_LEN, SHORT_JUMP_LEN, is_padding};
use invigil_debuginfo::program::Program;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Reach of a short jump, including its own two bytes.
const NEAR: u64 = 130;

/// Branch targets of parts of functions, by their start addresses.
pub(super) type BranchTargetCache = FxHashMap<u64, BranchTargets>;

/// Branch targets of a part of a function.
pub(super) fn targets<'l>(
    program: &Program,
    part: &Range<u64>,
    cache: &'l mut BranchTargetCache,
) -> &'l BranchTargets {
    cache.entry(part.start).or_insert_with(|| {
        let mut targets = BranchTargets::default();
        let code = program.code_bytes(part.start);
        targets.add(&code[..code.len().min((part.end - part.start) as usize)], part.start);
        targets.sort();
        targets
    })
}

/// Whether a branch may lead into `range`, its start excluded.
pub(super) fn may_branch_into(program: &Program, range: &Range<u64>, cache: &mut BranchTargetCache) -> bool {
    let middle = range.start + 1..range.end;
    if program.may_contain_jump_target(middle.clone()) {
        return true;
    }
    let first = range.start.saturating_sub(NEAR);
    let mut code = program.code_bytes(first);
    let start = if code.is_empty() { range.start } else { first };
    if code.is_empty() {
        // The segment starts in between.
        code = program.code_bytes(start);
    }
    let code = &code[..code.len().min((range.end + NEAR - start) as usize)];
    code.windows(2).zip(start..).any(|(pair, at)| {
        let is_short = matches!(pair[0], 0x70..=0x7f | 0xe0..=0xe3 | 0xeb);
        let to = (at + 2).wrapping_add_signed((pair[1] as i8).into());
        is_short && middle.contains(&to) && !range.contains(&at) && {
            // The bytes look like a jump: are they an instruction?
            match program.code_part(at) {
                Some(part) => {
                    let targets = targets(program, &part, cache);
                    targets.has_invalid_code || targets.any_in(middle.clone())
                }
                None => !is_padding_between(program, at),
            }
        }
    })
}

/// Whether an address is in the padding between two functions.
fn is_padding_between(program: &Program, at: u64) -> bool {
    let before = (1..16).find_map(|back| program.code_part(at - back));
    let Some((end, next)) = before.map(|part| part.end).zip(program.next_code(at)) else { return false };
    let bytes = program.code_bytes(end);
    next > end && bytes.get(..(next - end) as usize).is_some_and(is_padding)
}

/// Finds dead bytes between two functions, within reach of a short jump at `address`, that have room for a jump.
pub(super) fn find_jump_island(
    program: &Program,
    address: u64,
    cache: &mut BranchTargetCache,
    is_free: impl Fn(&Range<u64>) -> bool,
) -> Option<u64> {
    let from = address + SHORT_JUMP_LEN as u64;
    let reach = from.saturating_sub(128)..from + 127;
    let mut at = reach.start;
    while at < reach.end {
        let Some(part) = program.code_part(at) else {
            at += 1;
            continue;
        };
        let gap = part.end..program.next_code(part.end - 1)?;
        let bytes = program.code_bytes(gap.start);
        let is_dead = gap.start + JUMP_LEN as u64 <= gap.end
            && bytes.get(..(gap.end - gap.start) as usize).is_some_and(is_padding)
            && {
                let before = targets(program, &part, cache);
                !before.falls_through && !before.has_invalid_code
            };
        if is_dead {
            let jump_islands = (gap.start.max(reach.start)..(gap.end - JUMP_LEN as u64 + 1).min(reach.end))
                .map(|island| island..island + JUMP_LEN as u64);
            for island in jump_islands.step_by(JUMP_LEN).filter(&is_free) {
                if !may_branch_into(program, &(island.start - 1..island.end), cache) {
                    return Some(island.start);
                }
            }
        }
        at = part.end.max(at + 1);
    }
    None
}
