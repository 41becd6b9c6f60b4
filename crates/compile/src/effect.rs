//! Code for effects: statements and their outcomes.

use crate::config_view::{ConfigView, DynamicWrite};
use crate::function_emitter::{FunctionEmitter, Goto, MAX_DEPTH, Number};
use crate::ranges::{ModelRanges, Range};
use crate::value::Step;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, Value};
use invigil_model::{Action, Expression, LValue, Statement};
use std::collections::BTreeSet;

/// Number of ways in which the choices of an action can be resolved.
pub(crate) fn outcome_count(action: &Action) -> u64 {
    let choices = |statement: &Statement| match statement {
        Statement::Choose { low, high, .. } => high.wrapping_sub(*low) as u64 + 1,
        _ => 1,
    };
    action.effect.iter().map(choices).product()
}

/// Whether different choices may lead to the same configuration.
pub(crate) fn has_duplicates(model_ranges: &ModelRanges<'_>, action: &Action) -> bool {
    action.effect.iter().enumerate().any(|(index, statement)| {
        let Statement::Choose { place, low, high } = statement else { return false };
        let is_moved = action.moves.iter().any(|movement| {
            model_ranges.model.parts().processes[movement.process as usize].location == place.variable
        });
        let is_written = action.effect[index + 1..].iter().any(|later| writes(later, place.variable));
        low < high && (is_moved || is_written || model_ranges.constant_element(place).is_none())
    })
}

/// Whether a statement writes to a variable.
pub(crate) fn writes(statement: &Statement, variable: u32) -> bool {
    match statement {
        Statement::Assign { place, .. } | Statement::Choose { place, .. } => place.variable == variable,
        Statement::If { then, otherwise, .. } => {
            then.iter().chain(otherwise).any(|nested| writes(nested, variable))
        }
        Statement::Require(_) | Statement::Assert { .. } => false,
    }
}

/// The words that the generated code of some statements may write.
#[derive(Default)]
struct WriteSet {
    /// The words with a fixed index.
    words: BTreeSet<u32>,
    /// Maximum number of writes to words whose index is computed at run time.
    dynamic_writes: usize,
    /// First and last word that a dynamic write may hit.
    dynamic_span: Option<(u32, u32)>,
}

impl WriteSet {
    fn of_statements(model_ranges: &ModelRanges<'_>, statements: &[Statement]) -> WriteSet {
        let mut write_set = WriteSet::default();
        for statement in statements {
            match statement {
                Statement::Assign { place, .. } | Statement::Choose { place, .. } => {
                    write_set.add_place(model_ranges, place);
                }
                Statement::If { then, otherwise, .. } => {
                    let (then, otherwise) = (
                        WriteSet::of_statements(model_ranges, then),
                        WriteSet::of_statements(model_ranges, otherwise),
                    );
                    write_set.words.extend(then.words.iter().chain(&otherwise.words));
                    write_set.dynamic_writes += then.dynamic_writes.max(otherwise.dynamic_writes);
                    write_set.extend_span(then.dynamic_span);
                    write_set.extend_span(otherwise.dynamic_span);
                }
                Statement::Require(_) | Statement::Assert { .. } => {}
            }
        }
        write_set
    }

    fn add_place(&mut self, model_ranges: &ModelRanges<'_>, place: &LValue) {
        let slot = model_ranges.model.layout().slots[place.variable as usize];
        let span = model_ranges.word_span(place.variable);
        match model_ranges.constant_element(place) {
            _ if slot.width == 0 => {}
            Some(element) => drop(self.words.insert(slot.at(element).0 as u32)),
            None if span.0 == span.1 => drop(self.words.insert(span.0)),
            None => {
                self.dynamic_writes += 1;
                self.extend_span(Some(span));
            }
        }
    }

    fn extend_span(&mut self, span: Option<(u32, u32)>) {
        self.dynamic_span = match (self.dynamic_span, span) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }
}

impl FunctionEmitter<'_, '_> {
    /// Emits a statement. A choice emits nothing: the caller loops over it.
    ///
    /// Jumps to `if_disabled` if a `Require` fails.
    pub(crate) fn emit_statement(
        &mut self,
        statement: &Statement,
        view: &mut ConfigView,
        if_disabled: Goto<'_>,
    ) {
        match statement {
            Statement::Assign { place, value, wraps } => {
                let value = self.emit_value(value, Step::at(view));
                self.emit_assign(place, value, *wraps, view);
            }
            Statement::Choose { .. } => {}
            Statement::Require(condition) => self.emit_require(condition, Step::at(view), if_disabled),
            Statement::Assert { condition, .. } => {
                let always_holds = self
                    .model_ranges
                    .simple_range(condition)
                    .is_some_and(|range| range.truth() == Some(true));
                self.can_fault |= !always_holds;
                self.emit_require(condition, Step::at(view), self.fault.into());
            }
            Statement::If { .. } if self.depth > MAX_DEPTH => self.is_too_deep = true,
            Statement::If { condition, then, otherwise } => {
                self.depth += 1;
                self.emit_if(condition, then, otherwise, view, if_disabled);
                self.depth -= 1;
            }
        }
    }

    /// Emits an assignment. The index is evaluated after the value.
    pub(crate) fn emit_assign(&mut self, place: &LValue, value: Number, wraps: bool, view: &mut ConfigView) {
        let position = self.emit_position(place, Step::at(view));
        let (low, high) = self.model_ranges.model.variable(place.variable).domain.range();
        let mut value = value;
        if !wraps && !value.range.is_within(Range::of(low, high)) {
            let distance = self.add(value.value, low.wrapping_neg());
            let fits = self.compare(IntCC::UnsignedLessThanOrEqual, distance, high.wrapping_sub(low));
            self.check(fits);
            value.range = Range::of(low, high);
        }
        view.write(self, place.variable, position, value);
    }

    /// Emits a conditional statement. Afterwards, the words that the two branches may have written are merged.
    fn emit_if(
        &mut self,
        condition: &Expression,
        then: &[Statement],
        otherwise: &[Statement],
        view: &mut ConfigView,
        if_disabled: Goto<'_>,
    ) {
        let mut write_set = WriteSet::of_statements(self.model_ranges, then);
        let other = WriteSet::of_statements(self.model_ranges, otherwise);
        write_set.words.extend(&other.words);
        write_set.dynamic_writes = write_set.dynamic_writes.max(other.dynamic_writes);
        write_set.extend_span(other.dynamic_span);
        let span = write_set.dynamic_span.unwrap_or((0, 0));

        let branches = [(self.builder.create_block(), then), (self.builder.create_block(), otherwise)];
        let after = self.builder.create_block();
        let words: Vec<_> =
            write_set.words.iter().map(|word| (*word, self.builder.append_block_param(after, I64))).collect();
        let merged_writes = (0..write_set.dynamic_writes).map(|_| {
            let [word, keep_mask, new_bits] = [(); 3].map(|()| self.builder.append_block_param(after, I64));
            DynamicWrite { span, word, keep_mask, new_bits }
        });
        let merged_writes: Vec<DynamicWrite> = merged_writes.collect();
        self.emit_branch(condition, Step::at(view), branches[0].0.into(), branches[1].0.into());
        for (block, statements) in branches {
            self.builder.switch_to_block(block);
            let mut branch_view = view.clone();
            statements
                .iter()
                .for_each(|statement| self.emit_statement(statement, &mut branch_view, if_disabled));
            let mut arguments: Vec<BlockArg> = Vec::new();
            for word in &write_set.words {
                arguments.push(branch_view.word(self, *word).into());
            }
            for log_index in view.log.len()..view.log.len() + write_set.dynamic_writes {
                let (word, keep_mask, new_bits) = match branch_view.log.get(log_index) {
                    Some(write) => (write.word, write.keep_mask, write.new_bits),
                    None => (self.constant(i64::from(span.0)), self.constant(-1), self.constant(0)),
                };
                arguments.extend([word, keep_mask, new_bits].map(BlockArg::from));
            }
            self.jump(Goto { block: after, arguments: &arguments });
        }
        self.builder.switch_to_block(after);
        view.log.extend(merged_writes);
        for (word_index, word) in words {
            view.set(word_index, word);
        }
    }
}

/// Emits a loop over the values of a choice, from the smallest to the largest.
///
/// `state` is updated in each iteration. `emit_body` emits the body, which must end in a jump to the given block with
/// the new state. Returns the final state.
pub(crate) fn emit_choice_loop<'a, 'f, const N: usize>(
    emit: &mut FunctionEmitter<'a, 'f>,
    (low, high): (i64, i64),
    state: [Value; N],
    emit_body: impl FnOnce(&mut FunctionEmitter<'a, 'f>, Number, [Value; N], Block),
) -> [Value; N] {
    let (body, latch, after) =
        (emit.builder.create_block(), emit.builder.create_block(), emit.builder.create_block());
    let value = emit.builder.append_block_param(body, I64);
    let state_in = state.map(|_| emit.builder.append_block_param(body, I64));
    let state_out = state.map(|_| emit.builder.append_block_param(latch, I64));
    let first = emit.constant(low);
    let arguments = |value, state: [_; N]| -> Vec<BlockArg> {
        core::iter::once(value).chain(state).map(BlockArg::from).collect()
    };
    emit.jump(Goto { block: body, arguments: &arguments(first, state) });
    emit.builder.switch_to_block(body);
    let chosen = Number { value, range: Range::of(low, high), is_range_unconditional: true };
    emit_body(emit, chosen, state_in, latch);
    emit.builder.switch_to_block(latch);
    let has_next = emit.compare(IntCC::SignedLessThan, value, high);
    let next = emit.add(value, 1);
    emit.branch_if(has_next, Goto { block: body, arguments: &arguments(next, state_out) }, after.into());
    emit.builder.switch_to_block(after);
    state_out
}
