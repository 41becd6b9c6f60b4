//! Writing the code of probes: straight lines that leave the stack as they found it.

use crate::descriptor::Shape;
use crate::helper;
use crate::opcode::*;
use crate::plan::Probe;
use crate::pool::{Additions, Full};

/// Where a captured value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Null, where there is nothing to be had.
    Null,
    /// A variable.
    Slot(Shape, u16),
    /// It already lies on the stack, with those captured before it below.
    Stack(Shape),
}

/// Writes code and counts how much of the stack it takes.
pub(crate) struct Emitter<'p> {
    pub(crate) code: Vec<u8>,
    depth: u16,
    /// The most that lay on the stack, beyond what lay there before.
    pub(crate) peak: u16,
    pub(crate) pool: &'p mut Additions,
    helper: &'p str,
}

impl<'p> Emitter<'p> {
    pub(crate) fn new(pool: &'p mut Additions, helper: &'p str) -> Emitter<'p> {
        Emitter { code: Vec::new(), depth: 0, peak: 0, pool, helper }
    }

    /// Takes the code written so far. What it left on the stack stays counted.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.code)
    }

    /// The stack is as it was: the next code stands elsewhere.
    pub(crate) fn restart(&mut self) {
        self.depth = 0;
    }

    /// An instruction without operands that pushes so much.
    pub(crate) fn push(&mut self, op: u8, slots: u16) {
        self.code.push(op);
        self.grow(slots);
    }

    /// An instruction without operands that pops so much.
    pub(crate) fn pop(&mut self, op: u8, slots: u16) {
        self.code.push(op);
        self.depth = self.depth.saturating_sub(slots);
    }

    /// So much lies on the stack beyond what was counted.
    pub(crate) fn grow(&mut self, slots: u16) {
        self.depth += slots;
        self.peak = self.peak.max(self.depth);
    }

    /// Writes a load or a store.
    pub(crate) fn variable(code: &mut Vec<u8>, stores: bool, shape: Shape, slot: u16) {
        let (general, short) = if stores { (ISTORE, ISTORE_0) } else { (ILOAD, ILOAD_0) };
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
        Emitter::variable(&mut self.code, false, shape, slot);
        self.grow(shape.slots());
    }

    pub(crate) fn store(&mut self, shape: Shape, slot: u16) {
        Emitter::variable(&mut self.code, true, shape, slot);
        self.depth = self.depth.saturating_sub(shape.slots());
    }

    /// Doubles what lies on top.
    pub(crate) fn dup(&mut self, shape: Shape) {
        self.push(if shape.slots() == 2 { DUP2 } else { DUP }, shape.slots());
    }

    /// Lets go of an object that was held in a variable, so that it lives no longer than without the probe.
    pub(crate) fn forget(&mut self, slot: u16) {
        self.push(ACONST_NULL, 1);
        self.store(Shape::Reference, slot);
    }

    fn with_constant(&mut self, op: u8, index: u16) {
        self.code.push(op);
        self.code.extend(index.to_be_bytes());
    }

    /// Turns what lies on top into a `long`, unless it is an object. Gives the letter.
    fn convert(&mut self, shape: Shape) -> Result<char, Full> {
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

    fn integer(&mut self, value: i32) -> Result<(), Full> {
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

    /// Calls the helper: once for every four captures.
    pub(crate) fn report(&mut self, probe: &Probe, sources: &[Source]) -> Result<(), Full> {
        let mut rest = sources;
        loop {
            let (group, behind) = rest.split_at(rest.len().min(helper::GROUP));
            let mut name = String::from(if behind.is_empty() { "p" } else { "h" });
            let mut passed = 1;
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
                passed += if letter == 'J' { 2 } else { 1 };
            }
            self.integer(probe.id.cast_signed())?;
            let method = self.pool.method(self.helper, &name, &helper::descriptor(&name[1..]))?;
            self.with_constant(INVOKESTATIC, method);
            self.depth = self.depth.saturating_sub(passed);
            if behind.is_empty() {
                return Ok(());
            }
            rest = behind;
        }
    }

    /// Takes the helper's lock, and remembers it in a variable: only so do compilers see that what is released is
    /// what was taken, and they leave methods alone where they do not.
    pub(crate) fn lock_into(&mut self, slot: u16) -> Result<(), Full> {
        let field = self.pool.field(self.helper, helper::LOCK, "Ljava/lang/Object;")?;
        self.with_constant(GETSTATIC, field);
        self.grow(1);
        self.dup(Shape::Reference);
        self.store(Shape::Reference, slot);
        self.pop(MONITORENTER, 1);
        Ok(())
    }
}
