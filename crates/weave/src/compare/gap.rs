//! Symbolic execution of the code between two original instructions.

use crate::code::Code;
use crate::descriptor::{self, Shape};
use crate::opcode::*;
use crate::raw::ClassFileParts;

/// Symbolic content of a stack slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotSymbol {
    /// A value of the program, counted from the top of the stack.
    Old(u16),
    /// The helper's lock.
    Lock,
    /// A value computed by the probe.
    Computed,
}

/// State after a part of the probe code in a gap: its effect on the stack since an original instruction.
///
/// A value of two slots is two symbols, so no types are needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct GapState {
    /// The stack above the untouched values.
    stack: Vec<SlotSymbol>,
    /// The number of values of the program that were touched.
    touched: u16,
    /// Contents of the additional variables; there are only a few.
    additional: Vec<(u16, SlotSymbol)>,
    /// Whether the lock is held.
    pub(crate) holds_lock: bool,
    /// Whether the lock was held already and must be released first.
    pub(crate) must_release: bool,
}

impl GapState {
    fn pop(&mut self) -> SlotSymbol {
        self.stack.pop().unwrap_or_else(|| {
            self.touched = self.touched.saturating_add(1);
            SlotSymbol::Old(self.touched)
        })
    }

    fn pop_many(&mut self, count: u16) -> Vec<SlotSymbol> {
        let mut popped: Vec<_> = (0..count).map(|_| self.pop()).collect();
        popped.reverse();
        popped
    }

    /// Duplicates `count` slots from the top and inserts them below the `over` slots under them.
    fn dup(&mut self, count: u16, over: u16) {
        let top = self.pop_many(count);
        let below = self.pop_many(over);
        self.stack.extend(top.iter().chain(&below).chain(&top));
    }

    fn push_computed(&mut self, slots: u16) {
        self.stack.extend((0..slots).map(|_| SlotSymbol::Computed));
    }

    /// Whether the stack is unchanged.
    pub(crate) fn is_neutral(&self) -> bool {
        self.inserted_below(0) == Some(0)
    }

    /// If the topmost `operands` slots are unchanged, the number of slots inserted below them.
    pub(crate) fn inserted_below(&self, operands: u16) -> Option<usize> {
        // All touched values must be present again, the operands on top.
        let touched = usize::from(self.touched);
        let operands = usize::from(operands).min(touched);
        let bottom = touched - operands;
        let inserted = self.stack.len().checked_sub(touched)?;
        let expected = |at: usize| SlotSymbol::Old((touched - at) as u16);
        let bottom_is_old = (0..bottom).all(|at| self.stack[at] == expected(at));
        let top_is_old = (bottom..touched).all(|at| self.stack[inserted + at] == expected(at));
        (bottom_is_old && top_is_old).then_some(inserted)
    }

    /// The state after an instruction that consumed the operands and left the inserted slots.
    pub(crate) fn after(&self, inserted: usize) -> GapState {
        let forget_computed = |&(slot, symbol): &(u16, SlotSymbol)| {
            (slot, if symbol == SlotSymbol::Lock { symbol } else { SlotSymbol::Computed })
        };
        GapState {
            stack: vec![SlotSymbol::Computed; inserted],
            touched: 0,
            additional: self.additional.iter().filter(|_| self.holds_lock).map(forget_computed).collect(),
            holds_lock: self.holds_lock,
            must_release: self.holds_lock,
        }
    }

    /// Executes one instruction. Returns `false` if it cannot be part of a probe.
    pub(crate) fn step(
        &mut self,
        code: &Code<'_>,
        index: usize,
        first_additional: u16,
        raw: &ClassFileParts<'_>,
        helper: &str,
    ) -> bool {
        let op = code.op(index);
        match op {
            // Constants: null and identities.
            ACONST_NULL | 0x02..=0x08 | BIPUSH | SIPUSH | LDC_W => self.push_computed(1),
            POP => _ = self.pop(),
            POP2 => _ = self.pop_many(2),
            DUP => self.dup(1, 0),
            DUP_X1 => self.dup(1, 1),
            DUP_X2 => self.dup(1, 2),
            DUP2 => self.dup(2, 0),
            DUP2_X1 => self.dup(2, 1),
            I2L | F2D => {
                self.pop();
                self.push_computed(2);
            }
            GETSTATIC => {
                let Some(field) = raw.pool.field(code.operand(index)) else { return false };
                if field.owner != helper || field.name != crate::helper::LOCK {
                    return false;
                }
                self.stack.push(SlotSymbol::Lock);
            }
            MONITORENTER | MONITOREXIT => {
                let is_enter = op == MONITORENTER;
                if self.pop() != SlotSymbol::Lock || self.holds_lock == is_enter {
                    return false;
                }
                self.holds_lock = is_enter;
                self.must_release &= is_enter;
            }
            INVOKESTATIC => return self.call(code, index, raw, helper),
            _ => {
                if let Some((shape, slot)) = written_variable(code.bytes, code.pc(index)) {
                    // An `iinc` is not a store.
                    if slot < first_additional
                        || matches!(code.instruction(index), [IINC, ..] | [WIDE, IINC, ..])
                    {
                        return false;
                    }
                    let values = self.pop_many(shape.slots());
                    self.additional
                        .retain(|&(known, _)| known < slot || known >= slot.saturating_add(shape.slots()));
                    self.additional.extend(values.into_iter().zip(slot..).map(|(value, slot)| (slot, value)));
                } else if let Some((shape, slot)) = read_variable(code.instruction(index)) {
                    for slot in slot..slot.saturating_add(shape.slots()) {
                        let known = self.additional.iter().find(|&&(known, _)| known == slot);
                        self.stack.push(known.map_or(SlotSymbol::Computed, |&(_, symbol)| symbol));
                    }
                } else {
                    return false;
                }
            }
        }
        true
    }

    fn call(&mut self, code: &Code<'_>, index: usize, raw: &ClassFileParts<'_>, helper: &str) -> bool {
        let Some(method) = raw.pool.method(code.operand(index)) else { return false };
        let is_bits = method.owner == "java/lang/Double"
            && method.name == "doubleToRawLongBits"
            && method.descriptor == "(D)J";
        let letters = method.name.strip_prefix(['p', 'h']);
        let is_report = method.owner == helper
            && letters.is_some_and(|letters| method.descriptor == crate::helper::descriptor(letters));
        if !is_report && !is_bits {
            return false;
        }
        let Some((parameters, result)) = descriptor::method(&method.descriptor) else { return false };
        for parameter in parameters {
            self.pop_many(Shape::of(parameter).map_or(0, Shape::slots));
        }
        self.push_computed(result.and_then(Shape::of).map_or(0, Shape::slots));
        true
    }
}

/// The variable that an instruction reads.
fn read_variable(instruction: &[u8]) -> Option<(Shape, u16)> {
    const SHAPES: [Shape; 5] = [Shape::Int, Shape::Long, Shape::Float, Shape::Double, Shape::Reference];
    match *instruction {
        [op @ ILOAD_0..=0x2d] => {
            Some((SHAPES[usize::from((op - ILOAD_0) / 4)], u16::from((op - ILOAD_0) % 4)))
        }
        [op @ ILOAD..=0x19, slot] => Some((SHAPES[usize::from(op - ILOAD)], u16::from(slot))),
        [WIDE, op @ ILOAD..=0x19, high, low] => {
            Some((SHAPES[usize::from(op - ILOAD)], u16::from_be_bytes([high, low])))
        }
        _ => None,
    }
}
