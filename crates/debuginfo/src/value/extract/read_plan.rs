//! Read plans and computations: values that need only a few loads and some arithmetic.

use super::RegisterNeeds;
use crate::machine::{Memory, Registers, XMM0};
use crate::value::expression::{Binary, Unary};
use crate::value::number::{ArithmeticError, Integer, Number, OperationResult, compute};
use crate::value::read::{number_of, text_in};
use crate::value::scalar::{Scalar, ScalarKind, scalar_of};
use crate::value::typed_value::Unavailable;
use crate::value::types::{Basic, Bits};
use gimli::Register;

/// Maximum length of a string in bytes.
const MAX_TEXT_LEN: usize = 4096;

/// Arithmetic over read plans.
#[derive(Clone, Debug)]
pub(super) enum Computation {
    Read(ReadPlan),
    Constant(Number),
    Unary(Unary, Box<Computation>),
    Binary(Binary, Box<Computation>, Box<Computation>),
    Conditional(Box<Computation>, Box<Computation>, Box<Computation>),
}

/// Lowered read of one value of the program.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    /// How to reach it.
    pub path: AccessPath,
    /// How to interpret it.
    pub kind: ReadKind,
}

/// Interpretation of the bytes that a plan reads.
#[derive(Clone, Copy, Debug)]
pub enum ReadKind {
    /// A number, or the given bits of one.
    Scalar(Basic, Option<Bits>),
    /// The address itself.
    Address,
    /// The string at the location, of at most this many bytes.
    Text(usize),
    /// The zero-terminated string that the pointer at the location refers to.
    TextPointer,
}

/// How to reach the location of a value.
#[derive(Clone, Debug)]
pub enum AccessPath {
    /// In a register.
    Register {
        /// The register.
        number: Register,
        /// Offset in bytes.
        offset: u64,
    },
    /// In memory: starting at a base, each step loads a word and adds an offset to it.
    Memory {
        /// The base.
        base: PathBase,
        /// The offsets of the steps.
        steps: Vec<u64>,
    },
}

/// Start of a path.
#[derive(Clone, Copy, Debug)]
pub enum PathBase {
    /// A fixed address.
    Absolute(u64),
    /// The value of a register plus an offset.
    Register(Register, u64),
    /// An offset from the thread control block.
    ThreadLocal(u64),
}

impl AccessPath {
    /// The path to a base itself.
    pub(super) fn at(base: PathBase) -> AccessPath {
        AccessPath::Memory { base, steps: Vec::new() }
    }

    /// The path to the target of the pointer at this path.
    pub(super) fn pointee(self) -> Option<AccessPath> {
        match self {
            AccessPath::Register { number, offset: 0 } if number.0 < XMM0.0 => {
                Some(AccessPath::at(PathBase::Register(number, 0)))
            }
            AccessPath::Register { .. } => None,
            AccessPath::Memory { base, mut steps } => {
                steps.push(0);
                Some(AccessPath::Memory { base, steps })
            }
        }
    }

    /// The path at an additional offset.
    pub(super) fn plus(mut self, by: u64) -> AccessPath {
        match &mut self {
            AccessPath::Register { offset, .. } => *offset = offset.wrapping_add(by),
            AccessPath::Memory { base, steps } => match steps.last_mut() {
                Some(last) => *last = last.wrapping_add(by),
                None => {
                    let (PathBase::Absolute(start)
                    | PathBase::Register(_, start)
                    | PathBase::ThreadLocal(start)) = base;
                    *start = start.wrapping_add(by);
                }
            },
        }
        self
    }

    fn address(&self, registers: &Registers, memory: &dyn Memory) -> Result<u64, Unavailable> {
        let AccessPath::Memory { base, steps } = self else { return Err(Unavailable::NotUnderstood) };
        let mut address = match base {
            PathBase::Absolute(address) => *address,
            PathBase::Register(number, by) => {
                registers.get(*number).ok_or(Unavailable::NoRegister(number.0))?.wrapping_add(*by)
            }
            PathBase::ThreadLocal(by) => registers.thread_base.wrapping_add(*by),
        };
        for step in steps {
            address = memory.word(address).map_err(|e| Unavailable::Unreadable(e.0))?.wrapping_add(*step);
        }
        Ok(address)
    }

    fn bits(&self, size: u64, registers: &Registers, memory: &dyn Memory) -> Result<u128, Unavailable> {
        if let AccessPath::Register { number, offset } = self {
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

    fn needs(&self) -> RegisterNeeds {
        match self {
            AccessPath::Register { number, .. } if number.0 >= XMM0.0 => RegisterNeeds::Vector,
            AccessPath::Memory { base: PathBase::Absolute(_), .. } => RegisterNeeds::Nothing,
            _ => RegisterNeeds::General,
        }
    }
}

impl ReadPlan {
    pub(super) fn scalar(path: AccessPath, basic: Basic) -> ReadPlan {
        ReadPlan { path, kind: ReadKind::Scalar(basic, None) }
    }

    fn scalar_bits(&self, registers: &Registers, memory: &dyn Memory) -> Result<(u128, Basic), Unavailable> {
        match self.kind {
            ReadKind::Scalar(basic, None) => {
                let bits = self.path.bits(basic.size, registers, memory)?;
                let unused = 128 - (basic.size * 8).clamp(8, 128);
                Ok((bits << unused >> unused, basic))
            }
            ReadKind::Scalar(basic, Some(bits)) => {
                let word = self.path.bits((bits.first + bits.count).div_ceil(8), registers, memory)?;
                let width = bits.count.clamp(1, 128) as u8;
                Ok((Integer::new(word >> bits.first.min(127), width, basic.is_signed()).bits(), basic))
            }
            ReadKind::Address => Ok((u128::from(self.path.address(registers, memory)?), Basic::ADDRESS)),
            ReadKind::Text(_) | ReadKind::TextPointer => Err(Unavailable::Composite),
        }
    }

    fn text(&self, registers: &Registers, memory: &dyn Memory) -> Result<Option<String>, Unavailable> {
        let (address, most) = match self.kind {
            ReadKind::Text(most) => (self.path.address(registers, memory)?, most.min(MAX_TEXT_LEN)),
            ReadKind::TextPointer => (self.path.bits(8, registers, memory)? as u64, MAX_TEXT_LEN),
            _ => return Ok(None),
        };
        let (text, _) = text_in(memory, address, most)?;
        Ok(Some(
            String::from_utf8(text).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
        ))
    }
}

impl Computation {
    pub(super) fn needs(&self) -> RegisterNeeds {
        match self {
            Computation::Read(read_plan) => read_plan.path.needs(),
            Computation::Constant(_) => RegisterNeeds::Nothing,
            Computation::Unary(_, a) => a.needs(),
            Computation::Binary(_, a, b) => a.needs().max(b.needs()),
            Computation::Conditional(a, b, c) => a.needs().max(b.needs()).max(c.needs()),
        }
    }

    pub(super) fn read(&self, registers: &Registers, memory: &dyn Memory, wanted: ScalarKind) -> Scalar {
        self.value(registers, memory, wanted).unwrap_or_else(Scalar::Unavailable)
    }

    fn value(
        &self,
        registers: &Registers,
        memory: &dyn Memory,
        wanted: ScalarKind,
    ) -> Result<Scalar, Unavailable> {
        if let Computation::Read(read_plan) = self {
            if let Some(text) = read_plan.text(registers, memory)? {
                return Ok(Scalar::Str(text));
            }
            let (bits, basic) = read_plan.scalar_bits(registers, memory)?;
            return scalar_of(bits, &basic, wanted).ok_or(Unavailable::Composite);
        }
        let (bits, basic) = match self.outcome(registers, memory)? {
            OperationResult::Truth(holds) => (u128::from(holds), Basic::BOOL),
            OperationResult::Number(Number::Float(value)) => (u128::from(value.to_bits()), Basic::DOUBLE),
            OperationResult::Number(Number::Integer(value)) => {
                (value.bits(), Basic::integer(value.width(), value.is_signed()))
            }
        };
        scalar_of(bits, &basic, wanted).ok_or(Unavailable::Composite)
    }

    fn number(&self, registers: &Registers, memory: &dyn Memory) -> Result<Number, Unavailable> {
        Ok(match self.outcome(registers, memory)? {
            OperationResult::Truth(holds) => Number::Integer(Integer::new(u128::from(holds), 32, true)),
            OperationResult::Number(number) => number,
        })
    }

    fn outcome(&self, registers: &Registers, memory: &dyn Memory) -> Result<OperationResult, Unavailable> {
        Ok(match self {
            Computation::Read(read_plan) => {
                let (bits, basic) = read_plan.scalar_bits(registers, memory)?;
                OperationResult::Number(number_of(bits, &basic).ok_or(Unavailable::Composite)?)
            }
            Computation::Constant(number) => OperationResult::Number(*number),
            Computation::Unary(operator, operand) => {
                let number = operand.number(registers, memory)?;
                match operator {
                    Unary::Not => OperationResult::Truth(!number.is_true()),
                    Unary::Minus => OperationResult::Number(number.negated()),
                    Unary::Plus => OperationResult::Number(number.promoted()),
                    _ => OperationResult::Number(number.complement().ok_or(Unavailable::NotUnderstood)?),
                }
            }
            Computation::Binary(operator, left, right) => {
                let a = left.number(registers, memory)?;
                match operator {
                    Binary::LogicalAnd if !a.is_true() => return Ok(OperationResult::Truth(false)),
                    Binary::LogicalOr if a.is_true() => return Ok(OperationResult::Truth(true)),
                    _ => {}
                }
                let b = right.number(registers, memory)?;
                compute(*operator, a, b).map_err(|error| match error {
                    ArithmeticError::DivisionByZero => Unavailable::DivisionByZero,
                    ArithmeticError::NeedsIntegers => Unavailable::NotUnderstood,
                })?
            }
            Computation::Conditional(condition, yes, no) => {
                let chosen = if condition.number(registers, memory)?.is_true() { yes } else { no };
                chosen.outcome(registers, memory)?
            }
        })
    }
}
