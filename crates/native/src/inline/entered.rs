//! Whether something may jump into the middle of the instructions that a jump is to lie over.
//!
//! The image says where long jumps, addresses and tables lead ([`Program::may_be_entered`]). Jumps of two bytes come from at most
//! 128 bytes away: the code around is looked at, that of other functions, too, for assembler jumps from one function into
//! another.

use super::trampoline::{JUMP, SHORT_JUMP, Targets, is_padding};
use invigil_debuginfo::program::Program;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// So far reaches a short jump, with its own two bytes.
const NEAR: u64 = 130;

/// Parts of functions whose jumps were looked at, by where they begin.
pub(super) type Looked = FxHashMap<u64, Targets>;

/// Where the jumps of a part of a function go.
pub(super) fn targets<'l>(program: &Program, part: &Range<u64>, looked: &'l mut Looked) -> &'l Targets {
    looked.entry(part.start).or_insert_with(|| {
        let mut targets = Targets::default();
        let code = program.code_bytes(part.start);
        targets.add(&code[..code.len().min((part.end - part.start) as usize)], part.start);
        targets.sort();
        targets
    })
}

/// Whether something may jump behind the begin of `range`, but not behind its end.
pub(super) fn is_entered(program: &Program, range: &Range<u64>, looked: &mut Looked) -> bool {
    let middle = range.start + 1..range.end;
    if program.may_be_entered(middle.clone()) {
        return true;
    }
    let first = range.start.saturating_sub(NEAR);
    let mut code = program.code_bytes(first);
    let start = if code.is_empty() { range.start } else { first };
    if code.is_empty() {
        // The segment begins in between.
        code = program.code_bytes(start);
    }
    let code = &code[..code.len().min((range.end + NEAR - start) as usize)];
    code.windows(2).zip(start..).any(|(pair, at)| {
        let is_short = matches!(pair[0], 0x70..=0x7f | 0xe0..=0xe3 | 0xeb);
        let to = (at + 2).wrapping_add_signed((pair[1] as i8).into());
        is_short && middle.contains(&to) && !range.contains(&at) && {
            // It looks like one: is it an instruction at all?
            match program.code_part(at) {
                Some(part) => {
                    let targets = targets(program, &part, looked);
                    targets.is_garbled || targets.any_in(middle.clone())
                }
                None => !is_padding_between(program, at),
            }
        }
    })
}

/// Whether an address lies in no function, and only fills what is between two.
fn is_padding_between(program: &Program, at: u64) -> bool {
    let before = (1..16).find_map(|back| program.code_part(at - back));
    let Some((end, next)) = before.map(|part| part.end).zip(program.next_code(at)) else { return false };
    let bytes = program.code_bytes(end);
    next > end && bytes.get(..(next - end) as usize).is_some_and(is_padding)
}

/// Room for a jump that a short jump at an address reaches: bytes between two functions that are never executed.
pub(super) fn stepping_stone(
    program: &Program,
    address: u64,
    looked: &mut Looked,
    is_free: impl Fn(&Range<u64>) -> bool,
) -> Option<u64> {
    let from = address + SHORT_JUMP as u64;
    let reach = from.saturating_sub(128)..from + 127;
    let mut at = reach.start;
    while at < reach.end {
        let Some(part) = program.code_part(at) else {
            at += 1;
            continue;
        };
        let room = part.end..program.next_code(part.end - 1)?;
        let bytes = program.code_bytes(room.start);
        let is_dead = room.start + JUMP as u64 <= room.end
            && bytes.get(..(room.end - room.start) as usize).is_some_and(is_padding)
            && {
                let before = targets(program, &part, looked);
                !before.falls_through && !before.is_garbled
            };
        if is_dead {
            let stones = (room.start.max(reach.start)..(room.end - JUMP as u64 + 1).min(reach.end))
                .map(|stone| stone..stone + JUMP as u64);
            for stone in stones.step_by(JUMP).filter(&is_free) {
                if !is_entered(program, &(stone.start - 1..stone.end), looked) {
                    return Some(stone.start);
                }
            }
        }
        at = part.end.max(at + 1);
    }
    None
}
