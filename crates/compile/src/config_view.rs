//! Configurations in generated code: words in memory, with the changed ones in registers.

use crate::function_emitter::{FIXED, FunctionEmitter, Goto, MEMORY, Number};
use crate::ranges::Range;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use std::collections::BTreeMap;

/// A configuration.
#[derive(Clone)]
pub(crate) struct ConfigView {
    /// Address of the original words.
    pub(crate) memory: Value,
    /// The changed words: their current values, and the length of `log` that these include.
    changed: BTreeMap<u32, (Value, usize)>,
    /// Changes to words whose index is computed at run time.
    pub(crate) log: Vec<DynamicWrite>,
}

/// A change of one of several words to `it & keep | bits`.
#[derive(Clone, Copy)]
pub(crate) struct DynamicWrite {
    /// The first and the last word that it can be.
    pub(crate) among: (u32, u32),
    pub(crate) word: Value,
    pub(crate) keep: Value,
    pub(crate) bits: Value,
}

/// Position of an element.
#[derive(Clone, Copy)]
pub(crate) enum BitPosition {
    /// The element has no bits.
    Nowhere,
    /// A fixed bit of a fixed word.
    Fixed(u32, u32),
    /// A computed bit of a fixed word.
    Within(u32, Value),
    /// A computed bit of a computed word in a range.
    Among((u32, u32), Value, Value),
}

impl ConfigView {
    pub(crate) fn new(memory: Value) -> ConfigView {
        ConfigView { memory, changed: BTreeMap::new(), log: Vec::new() }
    }

    /// The current value of a word.
    pub(crate) fn word(&self, emit: &mut FunctionEmitter<'_, '_>, at: u32) -> Value {
        let (mut word, from) = match self.changed.get(&at) {
            Some(model_ranges) => *model_ranges,
            None => (emit.to.ins().load(I64, FIXED, self.memory, at as i32 * 8), 0),
        };
        for change in &self.log[from..] {
            if (change.among.0..=change.among.1).contains(&at) {
                let is_it = emit.compare(IntCC::Equal, change.word, i64::from(at));
                word = changed(emit, word, change, is_it);
            }
        }
        word
    }

    /// Sets the value of a word.
    pub(crate) fn set(&mut self, at: u32, word: Value) {
        self.changed.insert(at, (word, self.log.len()));
    }

    /// The current value of a word with a computed index.
    fn word_among(&self, emit: &mut FunctionEmitter<'_, '_>, among: (u32, u32), at: Value) -> Value {
        let offset = emit.up(at, 3);
        let address = emit.to.ins().iadd(self.memory, offset);
        let mut word = emit.to.ins().load(I64, MEMORY.with_readonly(), address, 0);
        for past in 0..=self.log.len() {
            for (&fixed, &(value, from)) in self.changed.range(among.0..=among.1) {
                if from == past {
                    let is_it = emit.compare(IntCC::Equal, at, i64::from(fixed));
                    word = emit.to.ins().select(is_it, value, word);
                }
            }
            if let Some(change) = self.log.get(past)
                && change.among.0 <= among.1
                && among.0 <= change.among.1
            {
                let is_it = emit.to.ins().icmp(IntCC::Equal, at, change.word);
                word = changed(emit, word, change, is_it);
            }
        }
        word
    }

    /// The value of an element of a variable.
    pub(crate) fn read(
        &self,
        emit: &mut FunctionEmitter<'_, '_>,
        variable: u32,
        spot: BitPosition,
    ) -> Number {
        let slot = emit.model_ranges.model.layout().slots[variable as usize];
        let bits = match spot {
            BitPosition::Nowhere => return emit.number(slot.low),
            BitPosition::Fixed(word, bit) => {
                let word = self.word(emit, word);
                let moved = emit.down(word, bit);
                if bit + slot.width == 64 { moved } else { emit.and(moved, slot.mask()) }
            }
            BitPosition::Within(word, bit) => {
                let word = self.word(emit, word);
                let moved = emit.to.ins().ushr(word, bit);
                emit.and(moved, slot.mask())
            }
            BitPosition::Among(among, word, bit) => {
                let word = self.word_among(emit, among, word);
                let moved = emit.to.ins().ushr(word, bit);
                emit.and(moved, slot.mask())
            }
        };
        let value = emit.add(bits, slot.low);
        Number {
            value,
            range: emit.model_ranges.range(variable),
            is_certain: emit.model_ranges.is_certain(variable),
        }
    }

    /// Assigns a value to an element of a variable, truncated to its bits.
    pub(crate) fn write(
        &mut self,
        emit: &mut FunctionEmitter<'_, '_>,
        variable: u32,
        spot: BitPosition,
        value: Number,
    ) {
        let slot = emit.model_ranges.model.layout().slots[variable as usize];
        let distance = emit.add(value.value, slot.low.wrapping_neg());
        let fits = match i64::try_from(slot.mask()).ok().and_then(|mask| slot.low.checked_add(mask)) {
            Some(high) => value.range.is_within(Range::of(slot.low, high)),
            None => false,
        };
        let bits = if fits { distance } else { emit.and(distance, slot.mask()) };
        match spot {
            BitPosition::Nowhere => {}
            BitPosition::Fixed(word, bit) => {
                let old = self.word(emit, word);
                let kept = emit.and(old, !(slot.mask() << bit));
                let bits = emit.up(bits, bit);
                let new = emit.to.ins().bor(kept, bits);
                self.set(word, new);
            }
            BitPosition::Within(word, bit) => {
                let (keep, bits) = moved(emit, slot.mask(), bits, bit);
                let old = self.word(emit, word);
                let kept = emit.to.ins().band(old, keep);
                let new = emit.to.ins().bor(kept, bits);
                self.set(word, new);
            }
            BitPosition::Among(among, word, bit) => {
                let (keep, bits) = moved(emit, slot.mask(), bits, bit);
                self.log.push(DynamicWrite { among, word, keep, bits });
            }
        }
    }

    /// Writes all words to memory that does not overlap the original.
    pub(crate) fn store(&self, emit: &mut FunctionEmitter<'_, '_>, to: Value) {
        let words = emit.model_ranges.model.layout().words as u32;
        let is_long = words > 16;
        if is_long {
            copy(emit, self.memory, to, words);
        }
        for at in 0..words {
            if !is_long && !self.changed.contains_key(&at) {
                let word = emit.to.ins().load(I64, FIXED, self.memory, at as i32 * 8);
                emit.to.ins().store(MEMORY, word, to, at as i32 * 8);
            }
        }
        for past in 0..=self.log.len() {
            for (&at, &(word, from)) in &self.changed {
                if from == past {
                    emit.to.ins().store(MEMORY, word, to, at as i32 * 8);
                }
            }
            if let Some(change) = self.log.get(past) {
                let offset = emit.up(change.word, 3);
                let address = emit.to.ins().iadd(to, offset);
                let word = emit.to.ins().load(I64, MEMORY, address, 0);
                let kept = emit.to.ins().band(word, change.keep);
                let new = emit.to.ins().bor(kept, change.bits);
                emit.to.ins().store(MEMORY, new, address, 0);
            }
        }
    }
}

/// Applies a change to a word if it is the changed one.
fn changed(emit: &mut FunctionEmitter<'_, '_>, word: Value, change: &DynamicWrite, is_it: Value) -> Value {
    let kept = emit.to.ins().band(word, change.keep);
    let new = emit.to.ins().bor(kept, change.bits);
    emit.to.ins().select(is_it, new, word)
}

/// The mask of kept bits and the new bits of a word, for bits at a computed position.
fn moved(emit: &mut FunctionEmitter<'_, '_>, mask: u64, bits: Value, bit: Value) -> (Value, Value) {
    let mask = emit.constant(mask as i64);
    let covered = emit.to.ins().ishl(mask, bit);
    (emit.to.ins().bnot(covered), emit.to.ins().ishl(bits, bit))
}

/// Copies words, one after the other.
fn copy(emit: &mut FunctionEmitter<'_, '_>, from: Value, to: Value, words: u32) {
    let (head, after) = (emit.to.create_block(), emit.to.create_block());
    let offset = emit.to.append_block_param(head, I64);
    let zero = emit.constant(0);
    emit.jump(Goto { block: head, with: &[zero.into()] });
    emit.to.switch_to_block(head);
    let (source, target) = (emit.to.ins().iadd(from, offset), emit.to.ins().iadd(to, offset));
    let word = emit.to.ins().load(I64, MEMORY, source, 0);
    emit.to.ins().store(MEMORY, word, target, 0);
    let next = emit.add(offset, 8);
    let is_more = emit.compare(IntCC::UnsignedLessThan, next, i64::from(words) * 8);
    emit.split(is_more, Goto { block: head, with: &[next.into()] }, after.into());
    emit.to.switch_to_block(after);
}
