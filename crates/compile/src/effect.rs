//! Code for effects: statements and their outcomes.

use crate::config_view::{ConfigView, DynamicWrite};
use crate::function_emitter::{DEEPEST, FunctionEmitter, Goto, Number};
use crate::ranges::{ModelRanges, Range};
use crate::value::Step;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, Value};
use invigil_model::{Action, Expression, LValue, Statement};
use std::collections::BTreeSet;

/// The number of combinations of choices of an action.
pub(crate) fn ways(action: &Action) -> u64 {
    let ways = |statement: &Statement| match statement {
        Statement::Choose { low, high, .. } => high.wrapping_sub(*low) as u64 + 1,
        _ => 1,
    };
    action.effect.iter().map(ways).product()
}

/// Whether different choices may lead to the same configuration.
pub(crate) fn has_duplicates(model_ranges: &ModelRanges<'_>, action: &Action) -> bool {
    action.effect.iter().enumerate().any(|(at, statement)| {
        let Statement::Choose { place, low, high } = statement else { return false };
        let is_moved = action
            .moves
            .iter()
            .any(|by| model_ranges.model.parts().processes[by.process as usize].location == place.variable);
        let is_written = action.effect[at + 1..].iter().any(|later| writes(later, place.variable));
        low < high && (is_moved || is_written || model_ranges.element(place).is_none())
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

/// The parts of a configuration that statements may change, as their code does it.
#[derive(Default)]
struct WriteSet {
    words: BTreeSet<u32>,
    /// The number of changes to words whose index is computed at run time.
    changes: usize,
    /// The first and the last word of these.
    among: Option<(u32, u32)>,
}

impl WriteSet {
    fn by(model_ranges: &ModelRanges<'_>, statements: &[Statement]) -> WriteSet {
        let mut written = WriteSet::default();
        for statement in statements {
            match statement {
                Statement::Assign { place, .. } | Statement::Choose { place, .. } => {
                    written.place(model_ranges, place);
                }
                Statement::If { then, otherwise, .. } => {
                    let (then, otherwise) =
                        (WriteSet::by(model_ranges, then), WriteSet::by(model_ranges, otherwise));
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

    fn place(&mut self, model_ranges: &ModelRanges<'_>, place: &LValue) {
        let slot = model_ranges.model.layout().slots[place.variable as usize];
        let among = model_ranges.words(place.variable);
        match model_ranges.element(place) {
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

impl FunctionEmitter<'_, '_> {
    /// Code for a statement without choices. If there is no outcome, jumps to `none`.
    pub(crate) fn statement(&mut self, statement: &Statement, view: &mut ConfigView, none: Goto<'_>) {
        match statement {
            Statement::Assign { place, value, wraps } => {
                let value = self.value(value, Step::at(view));
                self.assign(place, value, *wraps, view);
            }
            Statement::Choose { .. } => {}
            Statement::Require(condition) => self.require(condition, Step::at(view), none),
            Statement::Assert { condition, .. } => {
                let is_certain =
                    self.model_ranges.simple(condition).is_some_and(|of| of.truth() == Some(true));
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

    /// Code that assigns a value. The index is evaluated after the value.
    pub(crate) fn assign(&mut self, place: &LValue, value: Number, wraps: bool, view: &mut ConfigView) {
        let spot = self.spot(place, Step::at(view));
        let (low, high) = self.model_ranges.model.variable(place.variable).domain.range();
        let mut value = value;
        if !wraps && !value.range.is_within(Range::of(low, high)) {
            let distance = self.add(value.value, low.wrapping_neg());
            let fits = self.compare(IntCC::UnsignedLessThanOrEqual, distance, high.wrapping_sub(low));
            self.check(fits);
            value.range = Range::of(low, high);
        }
        view.write(self, place.variable, spot, value);
    }

    /// Code for one of two lists of statements. Afterwards, the words that either may have changed are merged.
    fn either(
        &mut self,
        condition: &Expression,
        then: &[Statement],
        otherwise: &[Statement],
        view: &mut ConfigView,
        none: Goto<'_>,
    ) {
        let mut written = WriteSet::by(self.model_ranges, then);
        let other = WriteSet::by(self.model_ranges, otherwise);
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
            DynamicWrite { among, word, keep, bits }
        });
        let changes: Vec<DynamicWrite> = changes.collect();
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

/// Code for a loop from the smallest value of a choice to the largest, with `each` as the body.
///
/// `state` is updated in each iteration. `each` must end in a jump to the given block with the new state; the final
/// state is returned.
pub(crate) fn count<'a, 'f, const N: usize>(
    emit: &mut FunctionEmitter<'a, 'f>,
    (low, high): (i64, i64),
    state: [Value; N],
    each: impl FnOnce(&mut FunctionEmitter<'a, 'f>, Number, [Value; N], Block),
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
