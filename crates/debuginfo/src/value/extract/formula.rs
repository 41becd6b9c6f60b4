//! A few loads and some arithmetic.

use super::Needs;
use crate::machine::{Memory, Registers, XMM0};
use crate::value::datum::Unavailable;
use crate::value::expression::{Binary, Unary};
use crate::value::number::{Integer, Number, Outcome, Undefined, compute};
use crate::value::plain::{Plain, Wanted, plain_of};
use crate::value::read::{number_of, text_in};
use crate::value::types::{Basic, Bits};
use gimli::Register;

/// The longest text that is read.
const LONGEST: usize = 4096;

/// What is computed.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    Leaf(Leaf),
    Constant(Number),
    Unary(Unary, Box<Formula>),
    Binary(Binary, Box<Formula>, Box<Formula>),
    Conditional(Box<Formula>, Box<Formula>, Box<Formula>),
}

/// One value of the program.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Where it is.
    pub path: Path,
    /// What it is.
    pub kind: LeafKind,
}

/// What a value is.
#[derive(Clone, Copy, Debug)]
pub enum LeafKind {
    /// A number; of some bits, if it is only these.
    Scalar(Basic, Option<Bits>),
    /// The address itself.
    Address,
    /// The text that is there, of so many bytes at most.
    Text(usize),
    /// The text behind the pointer that is there.
    TextBehind,
}

/// How to get where a value is.
#[derive(Clone, Debug)]
pub enum Path {
    /// It is in a register.
    Register {
        /// Which.
        number: Register,
        /// After so many bytes.
        offset: u64,
    },
    /// From a base: each step reads the word there and adds to it.
    Memory {
        /// The base.
        base: Base,
        /// The steps.
        steps: Vec<u64>,
    },
}

/// Where a path begins.
#[derive(Clone, Copy, Debug)]
pub enum Base {
    /// At an address.
    Absolute(u64),
    /// So far from where a register points.
    Register(Register, u64),
    /// Relative to the thread's own block.
    Thread(u64),
}

impl Path {
    /// What is at a base.
    pub(super) fn at(base: Base) -> Path {
        Path::Memory { base, steps: Vec::new() }
    }

    /// What a pointer that is there points to.
    pub(super) fn behind(self) -> Option<Path> {
        match self {
            Path::Register { number, offset: 0 } if number.0 < XMM0.0 => {
                Some(Path::at(Base::Register(number, 0)))
            }
            Path::Register { .. } => None,
            Path::Memory { base, mut steps } => {
                steps.push(0);
                Some(Path::Memory { base, steps })
            }
        }
    }

    /// What is some bytes further on.
    pub(super) fn plus(mut self, by: u64) -> Path {
        match &mut self {
            Path::Register { offset, .. } => *offset = offset.wrapping_add(by),
            Path::Memory { base, steps } => match steps.last_mut() {
                Some(last) => *last = last.wrapping_add(by),
                None => {
                    let (Base::Absolute(start) | Base::Register(_, start) | Base::Thread(start)) = base;
                    *start = start.wrapping_add(by);
                }
            },
        }
        self
    }

    fn address(&self, registers: &Registers, memory: &dyn Memory) -> Result<u64, Unavailable> {
        let Path::Memory { base, steps } = self else { return Err(Unavailable::NotUnderstood) };
        let mut address = match base {
            Base::Absolute(address) => *address,
            Base::Register(number, by) => {
                registers.get(*number).ok_or(Unavailable::NoRegister(number.0))?.wrapping_add(*by)
            }
            Base::Thread(by) => registers.thread_base.wrapping_add(*by),
        };
        for step in steps {
            address = memory.word(address).map_err(|e| Unavailable::Unreadable(e.0))?.wrapping_add(*step);
        }
        Ok(address)
    }

    fn bits(&self, size: u64, registers: &Registers, memory: &dyn Memory) -> Result<u128, Unavailable> {
        if let Path::Register { number, offset } = self {
            let vector = number.0.checked_sub(XMM0.0);
            let value = match vector {
                Some(vector) => registers.vector(usize::from(vector)),
                None => registers.get(*number).map(u128::from),
            };
            let value = value.ok_or(Unavailable::NoRegister(number.0))?;
            return Ok(value >> (offset * 8).min(127));
        }
        let mut bytes = [0; 16];
        let wanted = bytes.get_mut(..size.min(16) as usize).unwrap_or_default();
        let address = self.address(registers, memory)?;
        memory.read(address, wanted).map_err(|e| Unavailable::Unreadable(e.0))?;
        Ok(u128::from_le_bytes(bytes))
    }

    fn needs(&self) -> Needs {
        match self {
            Path::Register { number, .. } if number.0 >= XMM0.0 => Needs::Vector,
            Path::Memory { base: Base::Absolute(_), .. } => Needs::Nothing,
            _ => Needs::General,
        }
    }
}

impl Leaf {
    pub(super) fn scalar(path: Path, basic: Basic) -> Leaf {
        Leaf { path, kind: LeafKind::Scalar(basic, None) }
    }

    fn scalar_bits(&self, registers: &Registers, memory: &dyn Memory) -> Result<(u128, Basic), Unavailable> {
        match self.kind {
            LeafKind::Scalar(basic, None) => {
                let bits = self.path.bits(basic.size, registers, memory)?;
                let unused = 128 - (basic.size * 8).clamp(8, 128);
                Ok((bits << unused >> unused, basic))
            }
            LeafKind::Scalar(basic, Some(bits)) => {
                let word = self.path.bits((bits.first + bits.count).div_ceil(8), registers, memory)?;
                let width = bits.count.clamp(1, 128) as u8;
                Ok((Integer::new(word >> bits.first.min(127), width, basic.is_signed()).bits(), basic))
            }
            LeafKind::Address => Ok((u128::from(self.path.address(registers, memory)?), Basic::ADDRESS)),
            LeafKind::Text(_) | LeafKind::TextBehind => Err(Unavailable::Composite),
        }
    }

    fn text(&self, registers: &Registers, memory: &dyn Memory) -> Result<Option<String>, Unavailable> {
        let (address, most) = match self.kind {
            LeafKind::Text(most) => (self.path.address(registers, memory)?, most.min(LONGEST)),
            LeafKind::TextBehind => (self.path.bits(8, registers, memory)? as u64, LONGEST),
            _ => return Ok(None),
        };
        let (text, _) = text_in(memory, address, most)?;
        Ok(Some(
            String::from_utf8(text).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
        ))
    }
}

impl Formula {
    pub(super) fn needs(&self) -> Needs {
        match self {
            Formula::Leaf(leaf) => leaf.path.needs(),
            Formula::Constant(_) => Needs::Nothing,
            Formula::Unary(_, a) => a.needs(),
            Formula::Binary(_, a, b) => a.needs().max(b.needs()),
            Formula::Conditional(a, b, c) => a.needs().max(b.needs()).max(c.needs()),
        }
    }

    pub(super) fn read(&self, registers: &Registers, memory: &dyn Memory, wanted: Wanted) -> Plain {
        self.value(registers, memory, wanted).unwrap_or_else(Plain::Unavailable)
    }

    fn value(
        &self,
        registers: &Registers,
        memory: &dyn Memory,
        wanted: Wanted,
    ) -> Result<Plain, Unavailable> {
        if let Formula::Leaf(leaf) = self {
            if let Some(text) = leaf.text(registers, memory)? {
                return Ok(Plain::Str(text));
            }
            let (bits, basic) = leaf.scalar_bits(registers, memory)?;
            return plain_of(bits, &basic, wanted).ok_or(Unavailable::Composite);
        }
        let (bits, basic) = match self.outcome(registers, memory)? {
            Outcome::Truth(holds) => (u128::from(holds), Basic::BOOL),
            Outcome::Number(Number::Float(value)) => (u128::from(value.to_bits()), Basic::DOUBLE),
            Outcome::Number(Number::Integer(value)) => {
                (value.bits(), Basic::integer(value.width(), value.is_signed()))
            }
        };
        plain_of(bits, &basic, wanted).ok_or(Unavailable::Composite)
    }

    fn number(&self, registers: &Registers, memory: &dyn Memory) -> Result<Number, Unavailable> {
        Ok(match self.outcome(registers, memory)? {
            Outcome::Truth(holds) => Number::Integer(Integer::new(u128::from(holds), 32, true)),
            Outcome::Number(number) => number,
        })
    }

    fn outcome(&self, registers: &Registers, memory: &dyn Memory) -> Result<Outcome, Unavailable> {
        Ok(match self {
            Formula::Leaf(leaf) => {
                let (bits, basic) = leaf.scalar_bits(registers, memory)?;
                Outcome::Number(number_of(bits, &basic).ok_or(Unavailable::Composite)?)
            }
            Formula::Constant(number) => Outcome::Number(*number),
            Formula::Unary(operator, operand) => {
                let number = operand.number(registers, memory)?;
                match operator {
                    Unary::Not => Outcome::Truth(!number.is_true()),
                    Unary::Minus => Outcome::Number(number.negated()),
                    Unary::Plus => Outcome::Number(number.promoted()),
                    _ => Outcome::Number(number.complement().ok_or(Unavailable::NotUnderstood)?),
                }
            }
            Formula::Binary(operator, left, right) => {
                let a = left.number(registers, memory)?;
                match operator {
                    Binary::Both if !a.is_true() => return Ok(Outcome::Truth(false)),
                    Binary::Either if a.is_true() => return Ok(Outcome::Truth(true)),
                    _ => {}
                }
                let b = right.number(registers, memory)?;
                compute(*operator, a, b).map_err(|undefined| match undefined {
                    Undefined::DivisionByZero => Unavailable::DivisionByZero,
                    Undefined::NeedsIntegers => Unavailable::NotUnderstood,
                })?
            }
            Formula::Conditional(condition, yes, no) => {
                let chosen = if condition.number(registers, memory)?.is_true() { yes } else { no };
                chosen.outcome(registers, memory)?
            }
        })
    }
}
