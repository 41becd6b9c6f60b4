//! Code for expressions.

use crate::arithmetic;
use crate::config_view::{BitPosition, ConfigView};
use crate::function_emitter::{DEEPEST, FunctionEmitter, Goto, Number};
use crate::ranges::{self, Range};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use invigil_model::{Binary, Expression, LValue, Unary};

/// The step in which an expression is evaluated.
#[derive(Clone, Copy)]
pub(crate) struct Step<'v> {
    pub(crate) source: &'v ConfigView,
    /// The index of the action; `None` if there never is one.
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
    /// Code for the value of an expression.
    pub(crate) fn value(&mut self, expression: &Expression, step: Step<'_>) -> Number {
        if self.depth > DEEPEST {
            self.is_too_deep = true;
            return self.number(0);
        }
        self.depth += 1;
        let number = self.value_within(expression, step);
        self.depth -= 1;
        match number.range.constant() {
            Some(value) => self.number(value),
            None => number,
        }
    }

    fn value_within(&mut self, expression: &Expression, step: Step<'_>) -> Number {
        match expression {
            Expression::Constant(value) => self.number(*value),
            Expression::Read(place) => {
                let spot = self.spot(place, step);
                step.target.read(self, place.variable, spot)
            }
            Expression::Unary(Unary::Not, _) | Expression::Happens(_) | Expression::Enabled(_) => {
                self.truth_value(expression, step)
            }
            Expression::Unary(operator, operand) => {
                let of = self.value(operand, step);
                let value = match operator {
                    Unary::Negate => self.to.ins().ineg(of.value),
                    _ => self.to.ins().bnot(of.value),
                };
                Number { value, range: ranges::unary(*operator, of.range), ..of }
            }
            Expression::Binary(operator, both) if arithmetic::is_arithmetic(*operator) => {
                let left = self.value(&both.0, step);
                let right = self.value(&both.1, step);
                self.arithmetic(*operator, left, right)
            }
            Expression::Binary(..) => self.truth_value(expression, step),
            Expression::If(parts) => self.choice(parts, step),
            Expression::Before(inside) => self.value(inside, Step::at(step.source)),
        }
    }

    fn truth_value(&mut self, expression: &Expression, step: Step<'_>) -> Number {
        let range = self.model_ranges.simple(expression).unwrap_or(Range::of(0, 1));
        let truth = self.truth(expression, step);
        // For memory accesses, no more than this is assumed about a condition.
        Number { value: self.to.ins().uextend(I64, truth), range, is_certain: range == Range::of(0, 1) }
    }

    fn choice(&mut self, parts: &(Expression, Expression, Expression), step: Step<'_>) -> Number {
        if self.model_ranges.simple(&parts.1).is_some() && self.model_ranges.simple(&parts.2).is_some() {
            let condition = self.truth(&parts.0, step);
            let (yes, no) = (self.value(&parts.1, step), self.value(&parts.2, step));
            let value = self.to.ins().select(condition, yes.value, no.value);
            return joined(value, yes, no);
        }
        let (then, otherwise) = (self.to.create_block(), self.to.create_block());
        let after = self.to.create_block();
        let value = self.to.append_block_param(after, I64);
        self.branch(&parts.0, step, then.into(), otherwise.into());
        self.to.switch_to_block(then);
        let yes = self.value(&parts.1, step);
        self.jump(Goto { block: after, with: &[yes.value.into()] });
        self.to.switch_to_block(otherwise);
        let no = self.value(&parts.2, step);
        self.jump(Goto { block: after, with: &[no.value.into()] });
        self.to.switch_to_block(after);
        joined(value, yes, no)
    }

    /// Code for the position of an lvalue. An index out of bounds is a fault.
    pub(crate) fn spot(&mut self, place: &LValue, step: Step<'_>) -> BitPosition {
        let slot = self.model_ranges.model.layout().slots[place.variable as usize];
        if let Some(element) = self.model_ranges.element(place) {
            let (word, bit) = slot.at(element);
            return if slot.width == 0 { BitPosition::Nowhere } else { BitPosition::Fixed(word as u32, bit) };
        }
        let index = match &place.index {
            Some(index) => self.value(index, step),
            None => self.number(0),
        };
        let length = self.model_ranges.model.variable(place.variable).elements();
        let among = self.model_ranges.words(place.variable);
        let is_within = index.range.is_within(Range::of(0, i64::from(length) - 1));
        if !is_within || (among.0 != among.1 && !index.is_certain) {
            let is_there = self.compare(IntCC::UnsignedLessThan, index.value, i64::from(length));
            self.check(is_there);
        }
        if slot.width == 0 {
            return BitPosition::Nowhere;
        }
        let (first, bit) = slot.at(0);
        let distance = self.up(index.value, slot.width.trailing_zeros());
        if among.0 == among.1 {
            return BitPosition::Within(first as u32, self.add(distance, i64::from(bit)));
        }
        let bit = self.add(distance, i64::from(slot.bit));
        BitPosition::Among(among, self.down(bit, 6), bit)
    }

    /// Code for the truth of an expression, as 0 or 1 in one byte.
    pub(crate) fn truth(&mut self, expression: &Expression, step: Step<'_>) -> Value {
        if self.depth > DEEPEST {
            self.is_too_deep = true;
            return self.to.ins().iconst(I8, 0);
        }
        self.depth += 1;
        let truth = self.truth_within(expression, step);
        self.depth -= 1;
        truth
    }

    fn truth_within(&mut self, expression: &Expression, step: Step<'_>) -> Value {
        match expression {
            Expression::Unary(Unary::Not, operand) => {
                let of = self.truth(operand, step);
                let one = self.to.ins().iconst(I8, 1);
                self.to.ins().bxor(of, one)
            }
            Expression::Binary(operator, both) => {
                if let Some(how) = arithmetic::comparison(*operator) {
                    return self.comparison(how, both, step);
                }
                if arithmetic::is_arithmetic(*operator) {
                    let number = self.value(expression, step);
                    return self.compare(IntCC::NotEqual, number.value, 0);
                }
                if self.model_ranges.simple(&both.1).is_none() {
                    return self.truth_by_branches(expression, step);
                }
                let (left, right) = (self.truth(&both.0, step), self.truth(&both.1, step));
                match operator {
                    Binary::And => self.to.ins().band(left, right),
                    Binary::Or => self.to.ins().bor(left, right),
                    _ => {
                        let one = self.to.ins().iconst(I8, 1);
                        let not = self.to.ins().bxor(left, one);
                        self.to.ins().bor(not, right)
                    }
                }
            }
            Expression::Happens(actions) => self.happens(actions, step),
            Expression::Enabled(actions) => self.enabled(actions, step.target),
            Expression::Before(inside) => self.truth(inside, Step::at(step.source)),
            _ => {
                let number = self.value(expression, step);
                self.compare(IntCC::NotEqual, number.value, 0)
            }
        }
    }

    fn truth_by_branches(&mut self, expression: &Expression, step: Step<'_>) -> Value {
        let after = self.to.create_block();
        let truth = self.to.append_block_param(after, I8);
        let (yes, no) = (self.to.ins().iconst(I8, 1), self.to.ins().iconst(I8, 0));
        let goto = |with| Goto { block: after, with };
        self.branch(expression, step, goto(&[yes.into()]), goto(&[no.into()]));
        self.to.switch_to_block(after);
        truth
    }

    fn comparison(&mut self, how: IntCC, both: &(Expression, Expression), step: Step<'_>) -> Value {
        if matches!(how, IntCC::Equal | IntCC::NotEqual) {
            let (place, constant) = match both {
                (Expression::Read(place), Expression::Constant(value))
                | (Expression::Constant(value), Expression::Read(place)) => (Some(place), *value),
                _ => (None, 0),
            };
            if let Some(place) = place
                && self.model_ranges.element(place).is_some()
                && self.model_ranges.range(place.variable).holds(constant)
                && let BitPosition::Fixed(word, bit) = self.spot(place, step)
            {
                // The bits need not be shifted to be compared.
                let slot = self.model_ranges.model.layout().slots[place.variable as usize];
                let word = step.target.word(self, word);
                let bits = self.and(word, slot.mask() << bit);
                return self.compare(how, bits, constant.wrapping_sub(slot.low) << bit);
            }
        }
        let (left, right) = (self.value(&both.0, step), self.value(&both.1, step));
        self.to.ins().icmp(how, left.value, right.value)
    }

    fn happens(&mut self, actions: &[u32], step: Step<'_>) -> Value {
        let mut any = self.to.ins().iconst(I8, 0);
        let Some(action) = step.action else { return any };
        // Consecutive actions are tested together.
        for run in actions.chunk_by(|a, b| a + 1 == *b) {
            let distance = self.add(action, -i64::from(run[0]));
            let is_one = self.compare(IntCC::UnsignedLessThan, distance, run.len() as i64);
            any = self.to.ins().bor(any, is_one);
        }
        any
    }

    /// Code that branches on an expression.
    pub(crate) fn branch(&mut self, expression: &Expression, step: Step<'_>, yes: Goto<'_>, no: Goto<'_>) {
        if self.depth > DEEPEST {
            self.is_too_deep = true;
            return self.jump(no);
        }
        self.depth += 1;
        match (self.model_ranges.simple(expression), expression) {
            (Some(range), _) if range.truth() == Some(true) => self.jump(yes),
            (Some(range), _) if range.truth() == Some(false) => self.jump(no),
            (None, Expression::Unary(Unary::Not, operand)) => self.branch(operand, step, no, yes),
            (None, Expression::Binary(operator @ (Binary::And | Binary::Or | Binary::Implies), both)) => {
                let on = self.to.create_block();
                match operator {
                    Binary::And => self.branch(&both.0, step, on.into(), no),
                    Binary::Or => self.branch(&both.0, step, yes, on.into()),
                    _ => self.branch(&both.0, step, on.into(), yes),
                }
                self.to.switch_to_block(on);
                self.branch(&both.1, step, yes, no);
            }
            _ => {
                let truth = self.truth(expression, step);
                self.split(truth, yes, no);
            }
        }
        self.depth -= 1;
    }

    /// Continues only if an expression is true.
    pub(crate) fn require(&mut self, expression: &Expression, step: Step<'_>, otherwise: Goto<'_>) {
        let on = self.to.create_block();
        self.branch(expression, step, on.into(), otherwise);
        self.to.switch_to_block(on);
    }
}

fn joined(value: Value, yes: Number, no: Number) -> Number {
    Number { value, range: yes.range.join(no.range), is_certain: yes.is_certain && no.is_certain }
}
