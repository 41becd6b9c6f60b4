//! Configurations in generated code: words in memory, and what was changed of them in registers.

use crate::emit::{Emit, FIXED, Goto, MEMORY, Number};
use crate::range::Range;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use std::collections::BTreeMap;

/// A configuration.
#[derive(Clone)]
pub(crate) struct View {
    /// Where its words were.
    pub(crate) memory: Value,
    /// The words that changed: what they hold now, and how much of `log` that takes into account.
    changed: BTreeMap<u32, (Value, usize)>,
    /// Changes of words of which only the running code knows which they are.
    pub(crate) log: Vec<Change>,
}

/// A word of some becomes `it & keep | bits`.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    /// The first and the last word that it can be.
    pub(crate) among: (u32, u32),
    pub(crate) word: Value,
    pub(crate) keep: Value,
    pub(crate) bits: Value,
}

/// Where an element lies.
#[derive(Clone, Copy)]
pub(crate) enum Spot {
    /// It takes no bits.
    Nowhere,
    /// From a bit of a word.
    Fixed(u32, u32),
    /// In a word, from a bit that the running code computes.
    Within(u32, Value),
    /// In one of some words, and from a bit, that the running code computes.
    Among((u32, u32), Value, Value),
}

impl View {
    pub(crate) fn new(memory: Value) -> View {
        View { memory, changed: BTreeMap::new(), log: Vec::new() }
    }

    /// What a word holds now.
    pub(crate) fn word(&self, emit: &mut Emit<'_, '_>, at: u32) -> Value {
        let (mut word, from) = match self.changed.get(&at) {
            Some(known) => *known,
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

    /// A word is this now.
    pub(crate) fn set(&mut self, at: u32, word: Value) {
        self.changed.insert(at, (word, self.log.len()));
    }

    /// What a word holds of which the running code knows which it is.
    fn word_among(&self, emit: &mut Emit<'_, '_>, among: (u32, u32), at: Value) -> Value {
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
    pub(crate) fn read(&self, emit: &mut Emit<'_, '_>, variable: u32, spot: Spot) -> Number {
        let slot = emit.known.model.layout().slots[variable as usize];
        let bits = match spot {
            Spot::Nowhere => return emit.number(slot.low),
            Spot::Fixed(word, bit) => {
                let word = self.word(emit, word);
                let moved = emit.down(word, bit);
                if bit + slot.width == 64 { moved } else { emit.and(moved, slot.mask()) }
            }
            Spot::Within(word, bit) => {
                let word = self.word(emit, word);
                let moved = emit.to.ins().ushr(word, bit);
                emit.and(moved, slot.mask())
            }
            Spot::Among(among, word, bit) => {
                let word = self.word_among(emit, among, word);
                let moved = emit.to.ins().ushr(word, bit);
                emit.and(moved, slot.mask())
            }
        };
        let value = emit.add(bits, slot.low);
        Number { value, range: emit.known.range(variable), is_certain: emit.known.is_certain(variable) }
    }

    /// An element of a variable takes a value, of which only the bits that fit are kept.
    pub(crate) fn write(&mut self, emit: &mut Emit<'_, '_>, variable: u32, spot: Spot, value: Number) {
        let slot = emit.known.model.layout().slots[variable as usize];
        let distance = emit.add(value.value, slot.low.wrapping_neg());
        let fits = match i64::try_from(slot.mask()).ok().and_then(|mask| slot.low.checked_add(mask)) {
            Some(high) => value.range.is_within(Range::of(slot.low, high)),
            None => false,
        };
        let bits = if fits { distance } else { emit.and(distance, slot.mask()) };
        match spot {
            Spot::Nowhere => {}
            Spot::Fixed(word, bit) => {
                let old = self.word(emit, word);
                let kept = emit.and(old, !(slot.mask() << bit));
                let bits = emit.up(bits, bit);
                let new = emit.to.ins().bor(kept, bits);
                self.set(word, new);
            }
            Spot::Within(word, bit) => {
                let (keep, bits) = moved(emit, slot.mask(), bits, bit);
                let old = self.word(emit, word);
                let kept = emit.to.ins().band(old, keep);
                let new = emit.to.ins().bor(kept, bits);
                self.set(word, new);
            }
            Spot::Among(among, word, bit) => {
                let (keep, bits) = moved(emit, slot.mask(), bits, bit);
                self.log.push(Change { among, word, keep, bits });
            }
        }
    }

    /// Writes all words to memory that overlaps nothing else.
    pub(crate) fn store(&self, emit: &mut Emit<'_, '_>, to: Value) {
        let words = emit.known.model.layout().words as u32;
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

/// What a word becomes by a change, if that is about it.
fn changed(emit: &mut Emit<'_, '_>, word: Value, change: &Change, is_it: Value) -> Value {
    let kept = emit.to.ins().band(word, change.keep);
    let new = emit.to.ins().bor(kept, change.bits);
    emit.to.ins().select(is_it, new, word)
}

/// The bits to keep of a word, and those to add, for bits that go to a place that the running code computes.
fn moved(emit: &mut Emit<'_, '_>, mask: u64, bits: Value, bit: Value) -> (Value, Value) {
    let mask = emit.constant(mask as i64);
    let covered = emit.to.ins().ishl(mask, bit);
    (emit.to.ins().bnot(covered), emit.to.ins().ishl(bits, bit))
}

/// Copies words, one after the other.
fn copy(emit: &mut Emit<'_, '_>, from: Value, to: Value, words: u32) {
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
