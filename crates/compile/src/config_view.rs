//! Configurations in generated code: words in memory, with the written ones in registers.

use crate::function_emitter::{FIXED, FunctionEmitter, Goto, MEMORY, Number};
use crate::ranges::Range;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use std::collections::BTreeMap;

/// A configuration as generated code sees it.
#[derive(Clone)]
pub(crate) struct ConfigView {
    /// Address of the original words.
    pub(crate) memory: Value,
    /// The written words: their current values, and the number of log entries that these include.
    written: BTreeMap<u32, (Value, usize)>,
    /// Writes to words whose index is computed at run time, in program order.
    pub(crate) log: Vec<DynamicWrite>,
}

/// A write to one of several words: `word & keep_mask | new_bits`.
#[derive(Clone, Copy)]
pub(crate) struct DynamicWrite {
    /// First and last word that the write may hit.
    pub(crate) span: (u32, u32),
    /// Index of the word.
    pub(crate) word: Value,
    pub(crate) keep_mask: Value,
    pub(crate) new_bits: Value,
}

/// Position of an element of a variable in a configuration.
#[derive(Clone, Copy)]
pub(crate) enum BitPosition {
    /// The element has no bits.
    NoBits,
    /// A fixed bit of a fixed word: their indices.
    Fixed(u32, u32),
    /// A computed bit of a fixed word: the index of the word, and the bit.
    DynamicBit(u32, Value),
    /// A computed bit of a computed word: first and last possible word, the index of the word, and the bit.
    DynamicWord((u32, u32), Value, Value),
}

impl ConfigView {
    pub(crate) fn new(memory: Value) -> ConfigView {
        ConfigView { memory, written: BTreeMap::new(), log: Vec::new() }
    }

    /// The current value of a word.
    pub(crate) fn word(&self, emit: &mut FunctionEmitter<'_, '_>, word_index: u32) -> Value {
        let (mut word, from) = match self.written.get(&word_index) {
            Some(written) => *written,
            None => (emit.builder.ins().load(I64, FIXED, self.memory, word_index as i32 * 8), 0),
        };
        for write in &self.log[from..] {
            if (write.span.0..=write.span.1).contains(&word_index) {
                let is_hit = emit.compare(IntCC::Equal, write.word, i64::from(word_index));
                word = apply_write(emit, word, write, is_hit);
            }
        }
        word
    }

    /// Sets the value of a word.
    pub(crate) fn set(&mut self, word_index: u32, word: Value) {
        self.written.insert(word_index, (word, self.log.len()));
    }

    /// The current value of a word with a computed index.
    fn word_in_span(&self, emit: &mut FunctionEmitter<'_, '_>, span: (u32, u32), word_index: Value) -> Value {
        let offset = emit.shift_left(word_index, 3);
        let address = emit.builder.ins().iadd(self.memory, offset);
        let mut word = emit.builder.ins().load(I64, MEMORY.with_readonly(), address, 0);
        for log_index in 0..=self.log.len() {
            for (&fixed, &(value, from)) in self.written.range(span.0..=span.1) {
                if from == log_index {
                    let is_hit = emit.compare(IntCC::Equal, word_index, i64::from(fixed));
                    word = emit.builder.ins().select(is_hit, value, word);
                }
            }
            if let Some(write) = self.log.get(log_index)
                && write.span.0 <= span.1
                && span.0 <= write.span.1
            {
                let is_hit = emit.builder.ins().icmp(IntCC::Equal, word_index, write.word);
                word = apply_write(emit, word, write, is_hit);
            }
        }
        word
    }

    /// The value of an element of a variable.
    pub(crate) fn read(
        &self,
        emit: &mut FunctionEmitter<'_, '_>,
        variable: u32,
        position: BitPosition,
    ) -> Number {
        let slot = emit.model_ranges.model.layout().slots[variable as usize];
        let bits = match position {
            BitPosition::NoBits => return emit.number(slot.low),
            BitPosition::Fixed(word, bit) => {
                let word = self.word(emit, word);
                let shifted = emit.shift_right(word, bit);
                if bit + slot.width == 64 { shifted } else { emit.and(shifted, slot.mask()) }
            }
            BitPosition::DynamicBit(word, bit) => {
                let word = self.word(emit, word);
                let shifted = emit.builder.ins().ushr(word, bit);
                emit.and(shifted, slot.mask())
            }
            BitPosition::DynamicWord(span, word, bit) => {
                let word = self.word_in_span(emit, span, word);
                let shifted = emit.builder.ins().ushr(word, bit);
                emit.and(shifted, slot.mask())
            }
        };
        let value = emit.add(bits, slot.low);
        Number {
            value,
            range: emit.model_ranges.range(variable),
            is_range_unconditional: emit.model_ranges.is_range_unconditional(variable),
        }
    }

    /// Assigns a value to an element of a variable, truncated to its bits.
    pub(crate) fn write(
        &mut self,
        emit: &mut FunctionEmitter<'_, '_>,
        variable: u32,
        position: BitPosition,
        value: Number,
    ) {
        let slot = emit.model_ranges.model.layout().slots[variable as usize];
        let distance = emit.add(value.value, slot.low.wrapping_neg());
        let fits = match i64::try_from(slot.mask()).ok().and_then(|mask| slot.low.checked_add(mask)) {
            Some(high) => value.range.is_within(Range::of(slot.low, high)),
            None => false,
        };
        let bits = if fits { distance } else { emit.and(distance, slot.mask()) };
        match position {
            BitPosition::NoBits => {}
            BitPosition::Fixed(word, bit) => {
                let old = self.word(emit, word);
                let kept = emit.and(old, !(slot.mask() << bit));
                let bits = emit.shift_left(bits, bit);
                let new = emit.builder.ins().bor(kept, bits);
                self.set(word, new);
            }
            BitPosition::DynamicBit(word, bit) => {
                let (keep_mask, new_bits) = shifted_write(emit, slot.mask(), bits, bit);
                let old = self.word(emit, word);
                let kept = emit.builder.ins().band(old, keep_mask);
                let new = emit.builder.ins().bor(kept, new_bits);
                self.set(word, new);
            }
            BitPosition::DynamicWord(span, word, bit) => {
                let (keep_mask, new_bits) = shifted_write(emit, slot.mask(), bits, bit);
                self.log.push(DynamicWrite { span, word, keep_mask, new_bits });
            }
        }
    }

    /// Writes all words to memory that does not overlap the original.
    pub(crate) fn store(&self, emit: &mut FunctionEmitter<'_, '_>, to: Value) {
        let words = emit.model_ranges.model.layout().words as u32;
        let is_long = words > 16;
        if is_long {
            emit_copy(emit, self.memory, to, words);
        }
        for word_index in 0..words {
            if !is_long && !self.written.contains_key(&word_index) {
                let word = emit.builder.ins().load(I64, FIXED, self.memory, word_index as i32 * 8);
                emit.builder.ins().store(MEMORY, word, to, word_index as i32 * 8);
            }
        }
        for log_index in 0..=self.log.len() {
            for (&word_index, &(word, from)) in &self.written {
                if from == log_index {
                    emit.builder.ins().store(MEMORY, word, to, word_index as i32 * 8);
                }
            }
            if let Some(write) = self.log.get(log_index) {
                let offset = emit.shift_left(write.word, 3);
                let address = emit.builder.ins().iadd(to, offset);
                let word = emit.builder.ins().load(I64, MEMORY, address, 0);
                let kept = emit.builder.ins().band(word, write.keep_mask);
                let new = emit.builder.ins().bor(kept, write.new_bits);
                emit.builder.ins().store(MEMORY, new, address, 0);
            }
        }
    }
}

/// Applies a dynamic write to a word if it is the one that is hit.
fn apply_write(
    emit: &mut FunctionEmitter<'_, '_>,
    word: Value,
    write: &DynamicWrite,
    is_hit: Value,
) -> Value {
    let kept = emit.builder.ins().band(word, write.keep_mask);
    let new = emit.builder.ins().bor(kept, write.new_bits);
    emit.builder.ins().select(is_hit, new, word)
}

/// The mask of kept bits and the new bits of a word, for bits at a computed position.
fn shifted_write(emit: &mut FunctionEmitter<'_, '_>, mask: u64, bits: Value, bit: Value) -> (Value, Value) {
    let mask = emit.constant(mask as i64);
    let covered = emit.builder.ins().ishl(mask, bit);
    (emit.builder.ins().bnot(covered), emit.builder.ins().ishl(bits, bit))
}

/// Emits a loop that copies words.
fn emit_copy(emit: &mut FunctionEmitter<'_, '_>, from: Value, to: Value, words: u32) {
    let (head, after) = (emit.builder.create_block(), emit.builder.create_block());
    let offset = emit.builder.append_block_param(head, I64);
    let zero = emit.constant(0);
    emit.jump(Goto { block: head, arguments: &[zero.into()] });
    emit.builder.switch_to_block(head);
    let (source, target) = (emit.builder.ins().iadd(from, offset), emit.builder.ins().iadd(to, offset));
    let word = emit.builder.ins().load(I64, MEMORY, source, 0);
    emit.builder.ins().store(MEMORY, word, target, 0);
    let next = emit.add(offset, 8);
    let has_next = emit.compare(IntCC::UnsignedLessThan, next, i64::from(words) * 8);
    emit.branch_if(has_next, Goto { block: head, arguments: &[next.into()] }, after.into());
    emit.builder.switch_to_block(after);
}
