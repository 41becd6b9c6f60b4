//! Effects as code: statements, and the outcomes they lead to.

use crate::emit::{DEEPEST, Emit, Goto, Number};
use crate::range::{Known, Range};
use crate::value::Step;
use crate::view::{Change, View};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, Value};
use invigil_model::{Action, Expression, Place, Statement};
use std::collections::BTreeSet;

/// The number of ways in which an action makes its choices.
pub(crate) fn ways(action: &Action) -> u64 {
    let ways = |statement: &Statement| match statement {
        Statement::Choose { low, high, .. } => high.wrapping_sub(*low) as u64 + 1,
        _ => 1,
    };
    action.effect.iter().map(ways).product()
}

/// Whether different choices may lead to the same configuration.
pub(crate) fn has_twins(known: &Known<'_>, action: &Action) -> bool {
    action.effect.iter().enumerate().any(|(at, statement)| {
        let Statement::Choose { place, low, high } = statement else { return false };
        let is_moved = action
            .moves
            .iter()
            .any(|by| known.model.parts().processes[by.process as usize].location == place.variable);
        let is_written = action.effect[at + 1..].iter().any(|later| writes(later, place.variable));
        low < high && (is_moved || is_written || known.element(place).is_none())
    })
}

/// Whether a statement writes to a variable.
pub(crate) fn writes(statement: &Statement, variable: u32) -> bool {
    match statement {
        Statement::Assign { place, .. } | Statement::Choose { place, .. } => place.variable == variable,
        Statement::If { then, otherwise, .. } => {
            then.iter().chain(otherwise).any(|inside| writes(inside, variable))
        }
        Statement::Require(_) | Statement::Assert { .. } => false,
    }
}

/// What statements may change, as the code for them will do it.
#[derive(Default)]
struct Written {
    words: BTreeSet<u32>,
    /// The number of changes of words that only the running code knows.
    changes: usize,
    /// The first and the last word of those.
    among: Option<(u32, u32)>,
}

impl Written {
    fn by(known: &Known<'_>, statements: &[Statement]) -> Written {
        let mut written = Written::default();
        for statement in statements {
            match statement {
                Statement::Assign { place, .. } | Statement::Choose { place, .. } => {
                    written.place(known, place);
                }
                Statement::If { then, otherwise, .. } => {
                    let (then, otherwise) = (Written::by(known, then), Written::by(known, otherwise));
                    written.words.extend(then.words.iter().chain(&otherwise.words));
                    written.changes += then.changes.max(otherwise.changes);
                    written.cover(then.among);
                    written.cover(otherwise.among);
                }
                Statement::Require(_) | Statement::Assert { .. } => {}
            }
        }
        written
    }

    fn place(&mut self, known: &Known<'_>, place: &Place) {
        let slot = known.model.layout().slots[place.variable as usize];
        let among = known.words(place.variable);
        match known.element(place) {
            _ if slot.width == 0 => {}
            Some(element) => drop(self.words.insert(slot.at(element).0 as u32)),
            None if among.0 == among.1 => drop(self.words.insert(among.0)),
            None => {
                self.changes += 1;
                self.cover(Some(among));
            }
        }
    }

    fn cover(&mut self, among: Option<(u32, u32)>) {
        self.among = match (self.among, among) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }
}

impl Emit<'_, '_> {
    /// Runs a statement that chooses nothing. Where there is no outcome, goes on elsewhere.
    pub(crate) fn statement(&mut self, statement: &Statement, view: &mut View, none: Goto<'_>) {
        match statement {
            Statement::Assign { place, value, wraps } => {
                let value = self.value(value, Step::at(view));
                self.assign(place, value, *wraps, view);
            }
            Statement::Choose { .. } => {}
            Statement::Require(condition) => self.require(condition, Step::at(view), none),
            Statement::Assert { condition, .. } => {
                let is_certain = self.known.simple(condition).is_some_and(|of| of.truth() == Some(true));
                self.can_fault |= !is_certain;
                self.require(condition, Step::at(view), self.fault.into());
            }
            Statement::If { .. } if self.depth > DEEPEST => self.is_too_deep = true,
            Statement::If { condition, then, otherwise } => {
                self.depth += 1;
                self.either(condition, then, otherwise, view, none);
                self.depth -= 1;
            }
        }
    }

    /// Lets a place hold a value. The index is found after the value.
    pub(crate) fn assign(&mut self, place: &Place, value: Number, wraps: bool, view: &mut View) {
        let spot = self.spot(place, Step::at(view));
        let (low, high) = self.known.model.variable(place.variable).kind.range();
        let mut value = value;
        if !wraps && !value.range.is_within(Range::of(low, high)) {
            let distance = self.add(value.value, low.wrapping_neg());
            let fits = self.compare(IntCC::UnsignedLessThanOrEqual, distance, high.wrapping_sub(low));
            self.check(fits);
            value.range = Range::of(low, high);
        }
        view.write(self, place.variable, spot, value);
    }

    /// One list of statements or the other; afterwards, what either may have changed comes from it.
    fn either(
        &mut self,
        condition: &Expression,
        then: &[Statement],
        otherwise: &[Statement],
        view: &mut View,
        none: Goto<'_>,
    ) {
        let mut written = Written::by(self.known, then);
        let other = Written::by(self.known, otherwise);
        written.words.extend(&other.words);
        written.changes = written.changes.max(other.changes);
        written.cover(other.among);
        let among = written.among.unwrap_or((0, 0));

        let parts = [(self.to.create_block(), then), (self.to.create_block(), otherwise)];
        let after = self.to.create_block();
        let words: Vec<_> =
            written.words.iter().map(|word| (*word, self.to.append_block_param(after, I64))).collect();
        let changes = (0..written.changes).map(|_| {
            let [word, keep, bits] = [(); 3].map(|()| self.to.append_block_param(after, I64));
            Change { among, word, keep, bits }
        });
        let changes: Vec<Change> = changes.collect();
        self.branch(condition, Step::at(view), parts[0].0.into(), parts[1].0.into());
        for (block, statements) in parts {
            self.to.switch_to_block(block);
            let mut inside = view.clone();
            statements.iter().for_each(|statement| self.statement(statement, &mut inside, none));
            let mut with: Vec<BlockArg> = Vec::new();
            for word in &written.words {
                with.push(inside.word(self, *word).into());
            }
            for at in view.log.len()..view.log.len() + written.changes {
                let (word, keep, bits) = match inside.log.get(at) {
                    Some(change) => (change.word, change.keep, change.bits),
                    None => (self.constant(i64::from(among.0)), self.constant(-1), self.constant(0)),
                };
                with.extend([word, keep, bits].map(BlockArg::from));
            }
            self.jump(Goto { block: after, with: &with });
        }
        self.to.switch_to_block(after);
        view.log.extend(changes);
        for (at, word) in words {
            view.set(at, word);
        }
    }
}

/// Counts up from the smallest value of a choice to the largest, doing `each` with every one of them.
///
/// `state` is what changes from one to the next; `each` must end in a jump to the block that it is given, with the
/// new one, and what the last one leaves is given back.
pub(crate) fn count<'a, 'f, const N: usize>(
    emit: &mut Emit<'a, 'f>,
    (low, high): (i64, i64),
    state: [Value; N],
    each: impl FnOnce(&mut Emit<'a, 'f>, Number, [Value; N], Block),
) -> [Value; N] {
    let (body, latch, after) = (emit.to.create_block(), emit.to.create_block(), emit.to.create_block());
    let value = emit.to.append_block_param(body, I64);
    let inside = state.map(|_| emit.to.append_block_param(body, I64));
    let left = state.map(|_| emit.to.append_block_param(latch, I64));
    let first = emit.constant(low);
    let with = |value, state: [_; N]| -> Vec<BlockArg> {
        core::iter::once(value).chain(state).map(BlockArg::from).collect()
    };
    emit.jump(Goto { block: body, with: &with(first, state) });
    emit.to.switch_to_block(body);
    let chosen = Number { value, range: Range::of(low, high), is_certain: true };
    each(emit, chosen, inside, latch);
    emit.to.switch_to_block(latch);
    let is_more = emit.compare(IntCC::SignedLessThan, value, high);
    let next = emit.add(value, 1);
    emit.split(is_more, Goto { block: body, with: &with(next, left) }, after.into());
    emit.to.switch_to_block(after);
    left
}
