//! Locates the original instructions among the new ones.

use std::collections::{HashMap, HashSet};

use super::Reason;
use super::gap::GapState;
use crate::code::Code;
use crate::descriptor::Shape;
use crate::opcode::*;
use crate::raw::ClassFileParts;

/// Target of an exit path of a locked write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// An offset of the new code.
    To(usize),
    /// Out of the method.
    Out,
}

/// The new instruction of each original one.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    /// Indices of the new instructions.
    pub(crate) new: Vec<usize>,
    /// Final targets of jumps to islands.
    islands: HashMap<usize, usize>,
    /// Start of the code after all original instructions.
    pub(crate) tail: usize,
    /// The handler that reports exceptions.
    pub(crate) handler: Option<usize>,
    /// The exit paths of locked writes.
    pub(crate) exits: HashMap<usize, Exit>,
    /// The number of probes.
    pub(crate) probes: usize,
}

/// State of the search for the next original instruction.
struct Search {
    at: usize,
    state: GapState,
    /// Whether no further probe can follow.
    ends: bool,
}

/// Maximum number of steps of a search. Real methods take a few for each instruction; a malformed file could require
/// billions.
const BUDGET: usize = 1 << 23;

/// The two versions of a method.
struct Pair<'c> {
    old_code: &'c Code<'c>,
    new_code: &'c Code<'c>,
    raw: &'c ClassFileParts<'c>,
    helper: &'c str,
}

impl Alignment {
    /// Locates the original instructions, such that only probes are between them, and checks that branches keep
    /// their targets.
    pub(crate) fn find(
        old_code: &Code<'_>,
        new_code: &Code<'_>,
        raw: &ClassFileParts<'_>,
        helper: &str,
    ) -> Result<Alignment, Reason> {
        let pair = Pair { old_code, new_code, raw, helper };
        let mut found = pair.search()?;
        let calls = |code: &Code<'_>| {
            let is_probe = |&index: &usize| {
                code.op(index) == INVOKESTATIC
                    && raw
                        .pool
                        .method(code.operand(index))
                        .is_some_and(|method| method.owner == helper && method.name.starts_with('p'))
            };
            (0..code.len()).filter(is_probe).count()
        };
        found.probes = calls(new_code) - calls(old_code);
        pair.check_branches(&found)?;
        Ok(found)
    }

    /// Whether an offset of the new code belongs to an original instruction: it is between the previous one and itself.
    pub(crate) fn belongs(&self, new_code: &Code<'_>, old: usize, pc: usize) -> bool {
        let start = old.checked_sub(1).map_or(0, |before| new_code.pc(self.new[before] + 1));
        let end = self.new.get(old).map_or(self.tail, |&new| new_code.pc(new));
        (start..=end).contains(&pc)
    }
}

impl Pair<'_> {
    fn search(&self) -> Result<Alignment, Reason> {
        let mut found = Alignment::default();
        let mut searches = vec![Search { at: 0, state: GapState::default(), ends: false }];
        let mut failed = HashSet::new();
        let mut furthest = 0;
        let mut steps = 0;
        while let Some(search) = searches.last_mut() {
            let old = found.new.len();
            let from = search.at;
            let next = self.next(old, search, &mut found.islands, &failed);
            steps += search.at - from + 1;
            if steps > BUDGET {
                return Err("it is too long for the comparison".to_owned());
            }
            if let Some((at, state)) = next {
                furthest = furthest.max(old);
                found.new.push(at);
                if found.new.len() < self.old_code.len() {
                    searches.push(Search { at: at + 1, state, ends: false });
                    continue;
                }
                if self.tail(at + 1, &mut found) {
                    return Ok(found);
                }
                failed.insert((old, at));
                found.new.pop();
            } else {
                searches.pop();
                if let Some(at) = found.new.pop() {
                    failed.insert((old - 1, at));
                }
            }
        }
        Err(format!("after offset {}, something other than a probe was added", self.old_code.pc(furthest)))
    }

    /// The next position at which an original instruction may be, and the state after it.
    fn next(
        &self,
        old: usize,
        search: &mut Search,
        islands: &mut HashMap<usize, usize>,
        failed: &HashSet<(usize, usize)>,
    ) -> Option<(usize, GapState)> {
        while !search.ends && search.at < self.new_code.len() {
            let at = search.at;
            if old == 0
                && search.state.is_neutral()
                && let Some(after) = self.first_islands(at, islands)
            {
                search.at = after;
                search.state = GapState::default();
                continue;
            }
            let next_state = if self.same(old, at) && !failed.contains(&(old, at)) {
                self.state_after(old, &search.state)
            } else {
                None
            };
            search.ends =
                !search.state.step(self.new_code, at, self.old_code.max_locals, self.raw, self.helper);
            search.at += 1;
            if let Some(state) = next_state {
                return Some((at, state));
            }
        }
        None
    }

    /// The state after an original instruction, if the probe code may precede it.
    fn state_after(&self, old: usize, state: &GapState) -> Option<GapState> {
        if state.must_release {
            return None;
        }
        let op = self.old_code.op(old);
        if matches!(op, PUTSTATIC | PUTFIELD) {
            let field = self.raw.pool.field(self.old_code.operand(old))?;
            let operands = Shape::of(&field.descriptor)?.slots() + u16::from(op == PUTFIELD);
            let inserted = state.inserted_below(operands)?;
            return (inserted <= usize::from(operands)).then(|| state.after(inserted));
        }
        let may_lock = written_variable(self.old_code.bytes, self.old_code.pc(old)).is_some();
        (state.is_neutral() && (may_lock || !state.holds_lock)).then(|| state.after(0))
    }

    /// Whether an original and a new instruction are equal except for offsets.
    fn same(&self, old: usize, new: usize) -> bool {
        let (a, b) = (self.old_code.op(old), self.new_code.op(new));
        match a {
            GOTO | GOTO_W => matches!(b, GOTO | GOTO_W),
            JSR | JSR_W => matches!(b, JSR | JSR_W),
            _ if is_conditional(a) => a == b,
            TABLESWITCH | LOOKUPSWITCH if a == b => {
                let (a, b) = (self.old_code.switch(old), self.new_code.switch(new));
                a.head == b.head && a.entries().map(|entry| entry.0).eq(b.entries().map(|entry| entry.0))
            }
            _ => self.old_code.instruction(old) == self.new_code.instruction(new),
        }
    }

    /// Parses the islands after the probes at the entry. Returns the instruction after them.
    fn first_islands(&self, at: usize, islands: &mut HashMap<usize, usize>) -> Option<usize> {
        if self.new_code.op(at) != GOTO {
            return None;
        }
        let after = self.new_code.branch_target(at).ok().filter(|&after| after > at + 1)?;
        let all = (at + 1..after).all(|island| self.new_code.op(island) == GOTO_W);
        all.then(|| (at + 1..after).for_each(|island| self.island(island, islands)))?;
        Some(after)
    }

    fn island(&self, at: usize, islands: &mut HashMap<usize, usize>) {
        if let Ok(target) = self.new_code.branch_target(at) {
            islands.insert(self.new_code.pc(at), self.new_code.pc(target));
        }
    }

    /// Parses the code after all original instructions. Returns `false` if it is not what the weaver emits there.
    fn tail(&self, start: usize, found: &mut Alignment) -> bool {
        found.tail = self.new_code.pc(start);
        found.handler = None;
        found.exits.clear();
        let mut at = start;
        while at < self.new_code.len() {
            let op = |at: usize| if at < self.new_code.len() { self.new_code.op(at) } else { 0 };
            if op(at) == GOTO_W {
                self.island(at, &mut found.islands);
                at += 1;
            } else if op(at + 1) == MONITOREXIT {
                let mut state = GapState::default();
                if !state.step(self.new_code, at, self.old_code.max_locals, self.raw, self.helper) {
                    return false;
                }
                let exit = match op(at + 2) {
                    ATHROW => Exit::Out,
                    GOTO_W => match self.new_code.branch_target(at + 2) {
                        Ok(target) => Exit::To(self.new_code.pc(target)),
                        Err(_) => return false,
                    },
                    _ => return false,
                };
                found.exits.insert(self.new_code.pc(at), exit);
                at += 3;
            } else {
                if found.handler.replace(self.new_code.pc(at)).is_some() {
                    return false;
                }
                let mut state = GapState::default();
                while op(at) != ATHROW {
                    if !state.step(self.new_code, at, self.old_code.max_locals, self.raw, self.helper) {
                        return false;
                    }
                    at += 1;
                    if at >= self.new_code.len() {
                        return false;
                    }
                }
                if !state.is_neutral() {
                    return false;
                }
                at += 1;
            }
        }
        true
    }

    fn check_branches(&self, found: &Alignment) -> Result<(), Reason> {
        for (old, &new) in found.new.iter().enumerate() {
            let op = self.old_code.op(old);
            let message = |error: crate::ClassFileError| error.to_string();
            if is_branch(op) {
                let (old_target, new_target) = (
                    self.old_code.branch_target(old).map_err(message)?,
                    self.new_code.branch_target(new).map_err(message)?,
                );
                self.check_target(found, old_target, new_target)?;
            } else if matches!(op, TABLESWITCH | LOOKUPSWITCH) {
                let (a, b) = (self.old_code.switch(old), self.new_code.switch(new));
                let offsets = a.entries().zip(b.entries()).map(|(a, b)| (a.1, b.1));
                for (old_offset, new_offset) in offsets.chain([(a.default, b.default)]) {
                    let old_target = self
                        .old_code
                        .relative_target(self.old_code.pc(old), old_offset.into())
                        .map_err(message)?;
                    let new_target = self
                        .new_code
                        .relative_target(self.new_code.pc(new), new_offset.into())
                        .map_err(message)?;
                    self.check_target(found, old_target, new_target)?;
                }
            }
        }
        for handler in &self.old_code.handlers {
            if self.old_code.find(handler.handler.into()).is_none_or(|at| at >= self.old_code.len()) {
                return Err("a handler has an invalid offset".to_owned());
            }
        }
        Ok(())
    }

    /// A jump to an original instruction must run all probes before it.
    fn check_target(&self, found: &Alignment, old: usize, new: usize) -> Result<(), Reason> {
        let pc = self.new_code.pc(new);
        let pc = found.islands.get(&pc).copied().unwrap_or(pc);
        let wrong = || format!("a branch to offset {} has a different target", self.old_code.pc(old));
        let start =
            self.new_code.find(pc).filter(|_| found.belongs(self.new_code, old, pc)).ok_or_else(wrong)?;
        let mut state = GapState::default();
        let is_probe_code = (start..found.new[old])
            .all(|at| state.step(self.new_code, at, self.old_code.max_locals, self.raw, self.helper));
        if is_probe_code && self.state_after(old, &state).is_some() { Ok(()) } else { Err(wrong()) }
    }
}
