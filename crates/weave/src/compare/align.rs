//! Locates the original instructions among the new ones.

use std::collections::{HashMap, HashSet};

use super::Reason;
use super::gap::Run;
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
    run: Run,
    /// Whether no further probe can follow.
    ends: bool,
}

/// Maximum number of steps of a search. Real methods take a few for each instruction; a malformed file could require
/// billions.
const BUDGET: usize = 1 << 23;

/// The two versions of a method.
struct Pair<'c> {
    was: &'c Code<'c>,
    is: &'c Code<'c>,
    raw: &'c ClassFileParts<'c>,
    helper: &'c str,
}

impl Alignment {
    /// Locates the original instructions, such that only probes are between them, and checks that branches keep
    /// their targets.
    pub(crate) fn find(
        was: &Code<'_>,
        is: &Code<'_>,
        raw: &ClassFileParts<'_>,
        helper: &str,
    ) -> Result<Alignment, Reason> {
        let pair = Pair { was, is, raw, helper };
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
        found.probes = calls(is) - calls(was);
        pair.check_branches(&found)?;
        Ok(found)
    }

    /// Whether an offset of the new code belongs to an original instruction: it is between the previous one and itself.
    pub(crate) fn belongs(&self, is: &Code<'_>, old: usize, place: usize) -> bool {
        let start = old.checked_sub(1).map_or(0, |before| is.pc(self.new[before] + 1));
        let end = self.new.get(old).map_or(self.tail, |&new| is.pc(new));
        (start..=end).contains(&place)
    }
}

impl Pair<'_> {
    fn search(&self) -> Result<Alignment, Reason> {
        let mut found = Alignment::default();
        let mut searches = vec![Search { at: 0, run: Run::default(), ends: false }];
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
            if let Some((at, run)) = next {
                furthest = furthest.max(old);
                found.new.push(at);
                if found.new.len() < self.was.len() {
                    searches.push(Search { at: at + 1, run, ends: false });
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
        Err(format!("after offset {}, something other than a probe was added", self.was.pc(furthest)))
    }

    /// The next position at which an original instruction may be, and the state after it.
    fn next(
        &self,
        old: usize,
        search: &mut Search,
        islands: &mut HashMap<usize, usize>,
        failed: &HashSet<(usize, usize)>,
    ) -> Option<(usize, Run)> {
        while !search.ends && search.at < self.is.len() {
            let at = search.at;
            if old == 0
                && search.run.is_neutral()
                && let Some(behind) = self.first_islands(at, islands)
            {
                search.at = behind;
                search.run = Run::default();
                continue;
            }
            let arrived = if self.same(old, at) && !failed.contains(&(old, at)) {
                self.arrive(old, &search.run)
            } else {
                None
            };
            search.ends = !search.run.step(self.is, at, self.was.max_locals, self.raw, self.helper);
            search.at += 1;
            if let Some(run) = arrived {
                return Some((at, run));
            }
        }
        None
    }

    /// The state after an original instruction, if the probe code may precede it.
    fn arrive(&self, old: usize, run: &Run) -> Option<Run> {
        if run.must_release {
            return None;
        }
        let op = self.was.op(old);
        if matches!(op, PUTSTATIC | PUTFIELD) {
            let field = self.raw.pool.field(self.was.operand(old))?;
            let operands = Shape::of(&field.descriptor)?.slots() + u16::from(op == PUTFIELD);
            let under = run.over(operands)?;
            return (under <= usize::from(operands)).then(|| run.behind(under));
        }
        let may_lock = written(self.was.bytes, self.was.pc(old)).is_some();
        (run.is_neutral() && (may_lock || !run.holds_lock)).then(|| run.behind(0))
    }

    /// Whether an original and a new instruction are equal except for offsets.
    fn same(&self, old: usize, new: usize) -> bool {
        let (a, b) = (self.was.op(old), self.is.op(new));
        match a {
            GOTO | GOTO_W => matches!(b, GOTO | GOTO_W),
            JSR | JSR_W => matches!(b, JSR | JSR_W),
            _ if is_conditional(a) => a == b,
            TABLESWITCH | LOOKUPSWITCH if a == b => {
                let (a, b) = (self.was.switch(old), self.is.switch(new));
                a.head == b.head && a.entries().map(|entry| entry.0).eq(b.entries().map(|entry| entry.0))
            }
            _ => self.was.instruction(old) == self.is.instruction(new),
        }
    }

    /// Parses the islands after the probes at the entry. Returns the instruction after them.
    fn first_islands(&self, at: usize, islands: &mut HashMap<usize, usize>) -> Option<usize> {
        if self.is.op(at) != GOTO {
            return None;
        }
        let behind = self.is.branch_target(at).ok().filter(|&behind| behind > at + 1)?;
        let all = (at + 1..behind).all(|island| self.is.op(island) == GOTO_W);
        all.then(|| (at + 1..behind).for_each(|island| self.island(island, islands)))?;
        Some(behind)
    }

    fn island(&self, at: usize, islands: &mut HashMap<usize, usize>) {
        if let Ok(target) = self.is.branch_target(at) {
            islands.insert(self.is.pc(at), self.is.pc(target));
        }
    }

    /// Parses the code after all original instructions. Returns `false` if it is not what the weaver emits there.
    fn tail(&self, start: usize, found: &mut Alignment) -> bool {
        found.tail = self.is.pc(start);
        found.handler = None;
        found.exits.clear();
        let mut at = start;
        while at < self.is.len() {
            let op = |at: usize| if at < self.is.len() { self.is.op(at) } else { 0 };
            if op(at) == GOTO_W {
                self.island(at, &mut found.islands);
                at += 1;
            } else if op(at + 1) == MONITOREXIT {
                let mut run = Run::default();
                if !run.step(self.is, at, self.was.max_locals, self.raw, self.helper) {
                    return false;
                }
                let exit = match op(at + 2) {
                    ATHROW => Exit::Out,
                    GOTO_W => match self.is.branch_target(at + 2) {
                        Ok(target) => Exit::To(self.is.pc(target)),
                        Err(_) => return false,
                    },
                    _ => return false,
                };
                found.exits.insert(self.is.pc(at), exit);
                at += 3;
            } else {
                if found.handler.replace(self.is.pc(at)).is_some() {
                    return false;
                }
                let mut run = Run::default();
                while op(at) != ATHROW {
                    if !run.step(self.is, at, self.was.max_locals, self.raw, self.helper) {
                        return false;
                    }
                    at += 1;
                    if at >= self.is.len() {
                        return false;
                    }
                }
                if !run.is_neutral() {
                    return false;
                }
                at += 1;
            }
        }
        true
    }

    fn check_branches(&self, found: &Alignment) -> Result<(), Reason> {
        for (old, &new) in found.new.iter().enumerate() {
            let op = self.was.op(old);
            let words = |error: crate::ClassFileError| error.to_string();
            if is_branch(op) {
                let (was, is) =
                    (self.was.branch_target(old).map_err(words)?, self.is.branch_target(new).map_err(words)?);
                self.check_target(found, was, is)?;
            } else if matches!(op, TABLESWITCH | LOOKUPSWITCH) {
                let (a, b) = (self.was.switch(old), self.is.switch(new));
                let offsets = a.entries().zip(b.entries()).map(|(a, b)| (a.1, b.1));
                for (was, is) in offsets.chain([(a.default, b.default)]) {
                    let was = self.was.from(self.was.pc(old), was.into()).map_err(words)?;
                    let is = self.is.from(self.is.pc(new), is.into()).map_err(words)?;
                    self.check_target(found, was, is)?;
                }
            }
        }
        for handler in &self.was.handlers {
            if self.was.find(handler.handler.into()).is_none_or(|at| at >= self.was.len()) {
                return Err("a handler has an invalid offset".to_owned());
            }
        }
        Ok(())
    }

    /// A jump to an original instruction must run all probes before it.
    fn check_target(&self, found: &Alignment, old: usize, new: usize) -> Result<(), Reason> {
        let place = self.is.pc(new);
        let place = found.islands.get(&place).copied().unwrap_or(place);
        let wrong = || format!("a branch to offset {} has a different target", self.was.pc(old));
        let start = self.is.find(place).filter(|_| found.belongs(self.is, old, place)).ok_or_else(wrong)?;
        let mut run = Run::default();
        let whole = (start..found.new[old])
            .all(|at| run.step(self.is, at, self.was.max_locals, self.raw, self.helper));
        if whole && self.arrive(old, &run).is_some() { Ok(()) } else { Err(wrong()) }
    }
}
