//! Finding the old instructions among the new.

use std::collections::{HashMap, HashSet};

use super::Words;
use super::gap::Run;
use crate::code::Code;
use crate::descriptor::Shape;
use crate::opcode::*;
use crate::raw::Raw;

/// Where a way out of a locked write leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// To this place of the new code.
    To(usize),
    /// Out of the method.
    Out,
}

/// Which new instruction each old one is.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    /// The numbers of the new instructions.
    pub(crate) new: Vec<usize>,
    /// Where jumps to a place really go.
    islands: HashMap<usize, usize>,
    /// Where the part behind all old instructions begins.
    pub(crate) tail: usize,
    /// Where exceptions are reported.
    pub(crate) handler: Option<usize>,
    /// The ways out of locked writes.
    pub(crate) exits: HashMap<usize, Exit>,
    /// How many probes there are.
    pub(crate) probes: usize,
}

/// The search for the next old instruction: how far it has come.
struct Search {
    at: usize,
    run: Run,
}

/// What the comparison looks at.
struct Pair<'c> {
    was: &'c Code<'c>,
    is: &'c Code<'c>,
    raw: &'c Raw<'c>,
    helper: &'c str,
}

impl Alignment {
    /// Finds the old instructions, so that all between them is probes; and checks that branches go where they went.
    pub(crate) fn find(
        was: &Code<'_>,
        is: &Code<'_>,
        raw: &Raw<'_>,
        helper: &str,
    ) -> Result<Alignment, Words> {
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

    /// Whether a place of the new code belongs to an old instruction: it is between the one before and itself.
    pub(crate) fn belongs(&self, is: &Code<'_>, old: usize, place: usize) -> bool {
        let start = old.checked_sub(1).map_or(0, |before| is.pc(self.new[before] + 1));
        let end = self.new.get(old).map_or(self.tail, |&new| is.pc(new));
        (start..=end).contains(&place)
    }
}

impl Pair<'_> {
    fn search(&self) -> Result<Alignment, Words> {
        let mut found = Alignment::default();
        let mut searches = vec![Search { at: 0, run: Run::default() }];
        let mut failed = HashSet::new();
        let mut furthest = 0;
        while let Some(search) = searches.last_mut() {
            let old = found.new.len();
            if let Some((at, run)) = self.next(old, search, &mut found.islands, &failed) {
                furthest = furthest.max(old);
                found.new.push(at);
                if found.new.len() < self.was.len() {
                    searches.push(Search { at: at + 1, run });
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
        Err(format!("behind place {} it is not only probes that were added", self.was.pc(furthest)))
    }

    /// The next place where an old instruction may be, and the state behind it.
    fn next(
        &self,
        old: usize,
        search: &mut Search,
        islands: &mut HashMap<usize, usize>,
        failed: &HashSet<(usize, usize)>,
    ) -> Option<(usize, Run)> {
        while search.at < self.is.len() {
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
            if search.run.step(self.is, at, self.was.max_locals, self.raw, self.helper) {
                search.at += 1;
            } else {
                search.at = self.is.len();
            }
            if let Some(run) = arrived {
                return Some((at, run));
            }
        }
        None
    }

    /// The state behind an old instruction, if probes may stand before it in that way.
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

    /// Whether an old and a new instruction are the same, but for the places they name.
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

    /// Islands behind the probes at the beginning. Gives the instruction behind them.
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

    /// Reads what stands behind all old instructions. `false` if it is not what the weaver puts there.
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

    fn check_branches(&self, found: &Alignment) -> Result<(), Words> {
        for (old, &new) in found.new.iter().enumerate() {
            let op = self.was.op(old);
            let words = |problem: crate::Problem| problem.to_string();
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
                return Err("a handler is nowhere".to_owned());
            }
        }
        Ok(())
    }

    /// A jump to an old instruction must run whole probes before it.
    fn check_target(&self, found: &Alignment, old: usize, new: usize) -> Result<(), Words> {
        let place = self.is.pc(new);
        let place = found.islands.get(&place).copied().unwrap_or(place);
        let wrong = || format!("a branch to place {} goes elsewhere", self.was.pc(old));
        let start = self.is.find(place).filter(|_| found.belongs(self.is, old, place)).ok_or_else(wrong)?;
        let mut run = Run::default();
        let whole = (start..found.new[old])
            .all(|at| run.step(self.is, at, self.was.max_locals, self.raw, self.helper));
        if whole && self.arrive(old, &run).is_some() { Ok(()) } else { Err(wrong()) }
    }
}
