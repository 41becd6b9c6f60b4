//! Emission of probe code: straight-line code that leaves the stack unchanged.

use crate::descriptor::Shape;
use crate::helper;
use crate::opcode::*;
use crate::plan::Probe;
use crate::pool::{Additions, PoolFullError};

/// Source of a captured value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// `null`, if there is no value.
    Null,
    /// A variable.
    Slot(Shape, u16),
    /// Already on the stack, above the values captured before it.
    Stack(Shape),
}

/// Emits code and tracks the stack depth.
pub(crate) struct Emitter<'p> {
    pub(crate) code: Vec<u8>,
    depth: u16,
    /// Maximum stack depth beyond that at the start of the code.
    pub(crate) peak: u16,
    pub(crate) pool: &'p mut Additions,
    helper: &'p str,
}

impl<'p> Emitter<'p> {
    pub(crate) fn new(pool: &'p mut Additions, helper: &'p str) -> Emitter<'p> {
        Emitter { code: Vec::new(), depth: 0, peak: 0, pool, helper }
    }

    /// Takes the code emitted so far. The values that it left on the stack are still counted.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.code)
    }

    /// Resets the stack depth, because the next code is placed elsewhere.
    pub(crate) fn restart(&mut self) {
        self.depth = 0;
    }

    /// Emits an instruction without operands that pushes `slots`.
    pub(crate) fn push(&mut self, op: u8, slots: u16) {
        self.code.push(op);
        self.grow(slots);
    }

    /// Emits an instruction without operands that pops `slots`.
    pub(crate) fn pop(&mut self, op: u8, slots: u16) {
        self.code.push(op);
        self.depth = self.depth.saturating_sub(slots);
    }

    /// Counts `slots` more on the stack.
    pub(crate) fn grow(&mut self, slots: u16) {
        self.depth += slots;
        self.peak = self.peak.max(self.depth);
    }

    /// Emits a load or store.
    pub(crate) fn load_or_store(code: &mut Vec<u8>, is_store: bool, shape: Shape, slot: u16) {
        let (general, short) = if is_store { (ISTORE, ISTORE_0) } else { (ILOAD, ILOAD_0) };
        let rank = shape.rank();
        match u8::try_from(slot) {
            Ok(slot @ 0..=3) => code.push(short + rank * 4 + slot),
            Ok(slot) => code.extend([general + rank, slot]),
            Err(_) => {
                code.extend([WIDE, general + rank]);
                code.extend(slot.to_be_bytes());
            }
        }
    }

    pub(crate) fn load(&mut self, shape: Shape, slot: u16) {
        Emitter::load_or_store(&mut self.code, false, shape, slot);
        self.grow(shape.slots());
    }

    pub(crate) fn store(&mut self, shape: Shape, slot: u16) {
        Emitter::load_or_store(&mut self.code, true, shape, slot);
        self.depth = self.depth.saturating_sub(shape.slots());
    }

    /// Duplicates the top of the stack.
    pub(crate) fn dup(&mut self, shape: Shape) {
        self.push(if shape.slots() == 2 { DUP2 } else { DUP }, shape.slots());
    }

    /// Clears a variable that held an object, so that the probe does not extend the object's lifetime.
    pub(crate) fn clear(&mut self, slot: u16) {
        self.push(ACONST_NULL, 1);
        self.store(Shape::Reference, slot);
    }

    fn with_constant(&mut self, op: u8, index: u16) {
        self.code.push(op);
        self.code.extend(index.to_be_bytes());
    }

    /// Converts the top of the stack to `long` unless it is an object. Returns its letter in the name of the helper
    /// method.
    fn convert(&mut self, shape: Shape) -> Result<char, PoolFullError> {
        match shape {
            Shape::Reference => return Ok('L'),
            Shape::Int => self.push(I2L, 1),
            Shape::Long => {}
            Shape::Float | Shape::Double => {
                if shape == Shape::Float {
                    self.push(F2D, 1);
                }
                let bits = self.pool.method("java/lang/Double", "doubleToRawLongBits", "(D)J")?;
                self.with_constant(INVOKESTATIC, bits);
            }
        }
        Ok('J')
    }

    fn integer(&mut self, value: i32) -> Result<(), PoolFullError> {
        match value {
            -1..=5 => self.code.push((i32::from(ICONST_0) + value) as u8),
            -128..=127 => self.code.extend([BIPUSH, value as u8]),
            -32768..=32767 => {
                self.code.push(SIPUSH);
                self.code.extend((value as i16).to_be_bytes());
            }
            _ => {
                let index = self.pool.integer(value)?;
                self.with_constant(LDC_W, index);
            }
        }
        self.grow(1);
        Ok(())
    }

    /// Emits the helper calls of a probe, one for every four captures.
    pub(crate) fn report(&mut self, probe: &Probe, sources: &[Source]) -> Result<(), PoolFullError> {
        let mut rest = sources;
        loop {
            let (group, following) = rest.split_at(rest.len().min(helper::GROUP));
            let mut name = String::from(if following.is_empty() { "p" } else { "h" });
            let mut argument_slots = 1;
            for source in group {
                let letter = match *source {
                    Source::Null => {
                        self.push(ACONST_NULL, 1);
                        'L'
                    }
                    Source::Slot(shape, slot) => {
                        self.load(shape, slot);
                        self.convert(shape)?
                    }
                    Source::Stack(shape) => self.convert(shape)?,
                };
                name.push(letter);
                argument_slots += if letter == 'J' { 2 } else { 1 };
            }
            self.integer(probe.id.cast_signed())?;
            let method = self.pool.probe(self.helper, &name)?;
            self.with_constant(INVOKESTATIC, method);
            self.depth = self.depth.saturating_sub(argument_slots);
            if following.is_empty() {
                return Ok(());
            }
            rest = following;
        }
    }

    /// Acquires the helper's lock and stores the lock object in a variable. JIT compilers can then see that the object
    /// that is released is the acquired one; otherwise they do not compile the method.
    pub(crate) fn lock_into(&mut self, slot: u16) -> Result<(), PoolFullError> {
        let field = self.pool.field(self.helper, helper::LOCK, "Ljava/lang/Object;")?;
        self.with_constant(GETSTATIC, field);
        self.grow(1);
        self.dup(Shape::Reference);
        self.store(Shape::Reference, slot);
        self.pop(MONITORENTER, 1);
        Ok(())
    }
}
