//! Code for expressions.

use crate::arithmetic;
use crate::config_view::{BitPosition, ConfigView};
use crate::function_emitter::{FunctionEmitter, Goto, MAX_DEPTH, Number};
use crate::ranges::{self, Range};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use invigil_model::{Binary, Expression, LValue, Unary};

/// The step in which an expression is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Step<'v> {
    pub(crate) source: &'v ConfigView,
    /// Index of the action; `None` if the code never has one.
    pub(crate) action: Option<Value>,
    pub(crate) target: &'v ConfigView,
}

impl<'v> Step<'v> {
    /// A single configuration.
    pub(crate) fn at(view: &'v ConfigView) -> Step<'v> {
        Step { source: view, action: None, target: view }
    }
}

impl FunctionEmitter<'_, '_> {
    /// Emits the value of an expression.
    pub(crate) fn emit_value(&mut self, expression: &Expression, step: Step<'_>) -> Number {
        if self.depth > MAX_DEPTH {
            self.is_too_deep = true;
            return self.number(0);
        }
        self.depth += 1;
        let number = self.emit_value_within(expression, step);
        self.depth -= 1;
        match number.range.constant() {
            Some(value) => self.number(value),
            None => number,
        }
    }

    fn emit_value_within(&mut self, expression: &Expression, step: Step<'_>) -> Number {
        match expression {
            Expression::Constant(value) => self.number(*value),
            Expression::Read(place) => {
                let position = self.emit_position(place, step);
                step.target.read(self, place.variable, position)
            }
            Expression::Unary(Unary::Not, _) | Expression::Happens(_) | Expression::Enabled(_) => {
                self.emit_truth_value(expression, step)
            }
            Expression::Unary(operator, operand) => {
                let operand = self.emit_value(operand, step);
                let value = match operator {
                    Unary::Negate => self.builder.ins().ineg(operand.value),
                    _ => self.builder.ins().bnot(operand.value),
                };
                Number { value, range: ranges::unary(*operator, operand.range), ..operand }
            }
            Expression::Binary(operator, both) if arithmetic::is_arithmetic(*operator) => {
                let left = self.emit_value(&both.0, step);
                let right = self.emit_value(&both.1, step);
                self.emit_arithmetic(*operator, left, right)
            }
            Expression::Binary(..) => self.emit_truth_value(expression, step),
            Expression::If(parts) => self.emit_conditional(parts, step),
            Expression::Before(earlier) => self.emit_value(earlier, Step::at(step.source)),
        }
    }

    fn emit_truth_value(&mut self, expression: &Expression, step: Step<'_>) -> Number {
        let range = self.model_ranges.simple_range(expression).unwrap_or(Range::of(0, 1));
        let truth = self.emit_truth(expression, step);
        // Memory accesses may rely only on a condition being 0 or 1.
        Number {
            value: self.builder.ins().uextend(I64, truth),
            range,
            is_range_unconditional: range == Range::of(0, 1),
        }
    }

    fn emit_conditional(&mut self, parts: &(Expression, Expression, Expression), step: Step<'_>) -> Number {
        if self.model_ranges.simple_range(&parts.1).is_some()
            && self.model_ranges.simple_range(&parts.2).is_some()
        {
            let condition = self.emit_truth(&parts.0, step);
            let (yes, no) = (self.emit_value(&parts.1, step), self.emit_value(&parts.2, step));
            let value = self.builder.ins().select(condition, yes.value, no.value);
            return join_numbers(value, yes, no);
        }
        let (then, otherwise) = (self.builder.create_block(), self.builder.create_block());
        let after = self.builder.create_block();
        let value = self.builder.append_block_param(after, I64);
        self.emit_branch(&parts.0, step, then.into(), otherwise.into());
        self.builder.switch_to_block(then);
        let yes = self.emit_value(&parts.1, step);
        self.jump(Goto { block: after, arguments: &[yes.value.into()] });
        self.builder.switch_to_block(otherwise);
        let no = self.emit_value(&parts.2, step);
        self.jump(Goto { block: after, arguments: &[no.value.into()] });
        self.builder.switch_to_block(after);
        join_numbers(value, yes, no)
    }

    /// Emits the position of an lvalue. An index out of bounds is a fault.
    pub(crate) fn emit_position(&mut self, place: &LValue, step: Step<'_>) -> BitPosition {
        let slot = self.model_ranges.model.layout().slots[place.variable as usize];
        if let Some(element) = self.model_ranges.constant_element(place) {
            let (word, bit) = slot.at(element);
            return if slot.width == 0 { BitPosition::NoBits } else { BitPosition::Fixed(word as u32, bit) };
        }
        let index = match &place.index {
            Some(index) => self.emit_value(index, step),
            None => self.number(0),
        };
        let length = self.model_ranges.model.variable(place.variable).elements();
        let span = self.model_ranges.word_span(place.variable);
        let is_within = index.range.is_within(Range::of(0, i64::from(length) - 1));
        if !is_within || (span.0 != span.1 && !index.is_range_unconditional) {
            let is_in_bounds = self.compare(IntCC::UnsignedLessThan, index.value, i64::from(length));
            self.check(is_in_bounds);
        }
        if slot.width == 0 {
            return BitPosition::NoBits;
        }
        let (first, bit) = slot.at(0);
        let distance = self.shift_left(index.value, slot.width.trailing_zeros());
        if span.0 == span.1 {
            return BitPosition::DynamicBit(first as u32, self.add(distance, i64::from(bit)));
        }
        let bit = self.add(distance, i64::from(slot.bit));
        BitPosition::DynamicWord(span, self.shift_right(bit, 6), bit)
    }

    /// Emits the truth of an expression, as 0 or 1 in one byte.
    pub(crate) fn emit_truth(&mut self, expression: &Expression, step: Step<'_>) -> Value {
        if self.depth > MAX_DEPTH {
            self.is_too_deep = true;
            return self.builder.ins().iconst(I8, 0);
        }
        self.depth += 1;
        let truth = self.emit_truth_within(expression, step);
        self.depth -= 1;
        truth
    }

    fn emit_truth_within(&mut self, expression: &Expression, step: Step<'_>) -> Value {
        match expression {
            Expression::Unary(Unary::Not, operand) => {
                let operand = self.emit_truth(operand, step);
                let one = self.builder.ins().iconst(I8, 1);
                self.builder.ins().bxor(operand, one)
            }
            Expression::Binary(operator, both) => {
                if let Some(comparison) = arithmetic::comparison(*operator) {
                    return self.emit_comparison(comparison, both, step);
                }
                if arithmetic::is_arithmetic(*operator) {
                    let number = self.emit_value(expression, step);
                    return self.compare(IntCC::NotEqual, number.value, 0);
                }
                if self.model_ranges.simple_range(&both.1).is_none() {
                    return self.emit_truth_by_branches(expression, step);
                }
                let (left, right) = (self.emit_truth(&both.0, step), self.emit_truth(&both.1, step));
                match operator {
                    Binary::And => self.builder.ins().band(left, right),
                    Binary::Or => self.builder.ins().bor(left, right),
                    _ => {
                        let one = self.builder.ins().iconst(I8, 1);
                        let not = self.builder.ins().bxor(left, one);
                        self.builder.ins().bor(not, right)
                    }
                }
            }
            Expression::Happens(actions) => self.emit_happens(actions, step),
            Expression::Enabled(actions) => self.emit_enabled(actions, step.target),
            Expression::Before(earlier) => self.emit_truth(earlier, Step::at(step.source)),
            _ => {
                let number = self.emit_value(expression, step);
                self.compare(IntCC::NotEqual, number.value, 0)
            }
        }
    }

    fn emit_truth_by_branches(&mut self, expression: &Expression, step: Step<'_>) -> Value {
        let after = self.builder.create_block();
        let truth = self.builder.append_block_param(after, I8);
        let (yes, no) = (self.builder.ins().iconst(I8, 1), self.builder.ins().iconst(I8, 0));
        let goto = |arguments| Goto { block: after, arguments };
        self.emit_branch(expression, step, goto(&[yes.into()]), goto(&[no.into()]));
        self.builder.switch_to_block(after);
        truth
    }

    fn emit_comparison(
        &mut self,
        comparison: IntCC,
        both: &(Expression, Expression),
        step: Step<'_>,
    ) -> Value {
        if matches!(comparison, IntCC::Equal | IntCC::NotEqual) {
            let (place, constant) = match both {
                (Expression::Read(place), Expression::Constant(value))
                | (Expression::Constant(value), Expression::Read(place)) => (Some(place), *value),
                _ => (None, 0),
            };
            if let Some(place) = place
                && self.model_ranges.constant_element(place).is_some()
                && self.model_ranges.range(place.variable).contains(constant)
                && let BitPosition::Fixed(word, bit) = self.emit_position(place, step)
            {
                // The bits need not be shifted to be compared.
                let slot = self.model_ranges.model.layout().slots[place.variable as usize];
                let word = step.target.word(self, word);
                let bits = self.and(word, slot.mask() << bit);
                return self.compare(comparison, bits, constant.wrapping_sub(slot.low) << bit);
            }
        }
        let (left, right) = (self.emit_value(&both.0, step), self.emit_value(&both.1, step));
        self.builder.ins().icmp(comparison, left.value, right.value)
    }

    fn emit_happens(&mut self, actions: &[u32], step: Step<'_>) -> Value {
        let mut any = self.builder.ins().iconst(I8, 0);
        let Some(action) = step.action else { return any };
        // Consecutive actions are tested together.
        for run in actions.chunk_by(|a, b| a + 1 == *b) {
            let distance = self.add(action, -i64::from(run[0]));
            let is_in_run = self.compare(IntCC::UnsignedLessThan, distance, run.len() as i64);
            any = self.builder.ins().bor(any, is_in_run);
        }
        any
    }

    /// Emits a branch on an expression.
    pub(crate) fn emit_branch(
        &mut self,
        expression: &Expression,
        step: Step<'_>,
        yes: Goto<'_>,
        no: Goto<'_>,
    ) {
        if self.depth > MAX_DEPTH {
            self.is_too_deep = true;
            return self.jump(no);
        }
        self.depth += 1;
        match (self.model_ranges.simple_range(expression), expression) {
            (Some(range), _) if range.truth() == Some(true) => self.jump(yes),
            (Some(range), _) if range.truth() == Some(false) => self.jump(no),
            (None, Expression::Unary(Unary::Not, operand)) => self.emit_branch(operand, step, no, yes),
            (None, Expression::Binary(operator @ (Binary::And | Binary::Or | Binary::Implies), both)) => {
                let next = self.builder.create_block();
                match operator {
                    Binary::And => self.emit_branch(&both.0, step, next.into(), no),
                    Binary::Or => self.emit_branch(&both.0, step, yes, next.into()),
                    _ => self.emit_branch(&both.0, step, next.into(), yes),
                }
                self.builder.switch_to_block(next);
                self.emit_branch(&both.1, step, yes, no);
            }
            _ => {
                let truth = self.emit_truth(expression, step);
                self.branch_if(truth, yes, no);
            }
        }
        self.depth -= 1;
    }

    /// Emits a jump to `otherwise` unless an expression is true.
    pub(crate) fn emit_require(&mut self, expression: &Expression, step: Step<'_>, otherwise: Goto<'_>) {
        let next = self.builder.create_block();
        self.emit_branch(expression, step, next.into(), otherwise);
        self.builder.switch_to_block(next);
    }
}

fn join_numbers(value: Value, yes: Number, no: Number) -> Number {
    Number {
        value,
        range: yes.range.join(no.range),
        is_range_unconditional: yes.is_range_unconditional && no.is_range_unconditional,
    }
}
