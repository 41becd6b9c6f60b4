//! Lowering of expressions to read plans, if their locations depend only on a few registers.

use super::read_plan::{AccessPath, Computation, PathBase, ReadKind, ReadPlan};
use crate::image::Reader;
use crate::machine::{RBP, RIP, RSP};
use crate::unwinding::rules::Cfa;
use crate::value::abi::Arguments;
use crate::value::evaluate::literal;
use crate::value::expression::{Binary, Kind, Node, Unary};
use crate::value::info::{DieRef, Entry};
use crate::value::location::Rule;
use crate::value::number::Number;
use crate::value::scalar::ScalarKind;
use crate::value::scope::Scope;
use crate::value::type_index::DeclKind;
use crate::value::typed_value::{Location, register_number};
use crate::value::types::{Basic, Bits, Encoding, Offset, Shape, Type};
use gimli::{Expression, Operation};
use std::sync::Arc;

/// Size of a general register in bytes.
const WORD: u64 = 8;

pub(super) struct Lowering<'s, 'a> {
    scope: &'s Scope<'a>,
    pc: u64,
}

/// An intermediate value.
struct Lowered {
    path: AccessPath,
    ty: Type,
    bits: Option<Bits>,
}

impl<'s, 'a> Lowering<'s, 'a> {
    pub(super) fn new(scope: &'s Scope<'a>, pc: u64) -> Self {
        Self { scope, pc }
    }

    /// The computation for an expression, if it can be lowered.
    pub(super) fn computation(&self, node: &Node, wanted: ScalarKind) -> Option<Computation> {
        match &node.kind {
            Kind::Unary(Unary::Address, operand) => {
                let location = self.location(operand)?;
                let is_memory = matches!(location.path, AccessPath::Memory { .. }) && location.bits.is_none();
                is_memory
                    .then_some(Computation::Read(ReadPlan { path: location.path, kind: ReadKind::Address }))
            }
            Kind::Integer { .. } | Kind::Float(_) | Kind::Binary(..) | Kind::Conditional(..) => {
                self.number(node)
            }
            // The thread is always at the same address here.
            Kind::Register(name) if register_number(name) == Some((RIP, WORD)) => {
                Some(Computation::Read(ReadPlan {
                    path: AccessPath::at(PathBase::Absolute(self.pc)),
                    kind: ReadKind::Address,
                }))
            }
            Kind::Unary(Unary::Minus | Unary::Plus | Unary::Not | Unary::Complement, _) => self.number(node),
            _ => {
                let location = self.location(node)?;
                read_plan(self.scope, location.path, &location.ty, location.bits, wanted)
                    .map(Computation::Read)
            }
        }
    }

    /// The computation for a number. Addresses are accepted only where their type does not matter.
    fn number(&self, node: &Node) -> Option<Computation> {
        match &node.kind {
            Kind::Integer { value, unsigned, long, decimal } => {
                Some(Computation::Constant(Number::Integer(literal(*value, *unsigned, *long, *decimal))))
            }
            Kind::Float(value) => Some(Computation::Constant(Number::Float(*value))),
            Kind::Unary(operator @ (Unary::Minus | Unary::Plus | Unary::Complement), operand) => {
                Some(Computation::Unary(*operator, Box::new(self.arithmetic(operand)?)))
            }
            Kind::Unary(Unary::Not, operand) => {
                Some(Computation::Unary(Unary::Not, Box::new(self.number(operand)?)))
            }
            Kind::Binary(Binary::Repeat, ..) => None,
            Kind::Binary(operator, left, right) => {
                let compares = matches!(
                    operator,
                    Binary::Less
                        | Binary::LessEqual
                        | Binary::Greater
                        | Binary::GreaterEqual
                        | Binary::Equal
                        | Binary::Unequal
                        | Binary::LogicalAnd
                        | Binary::LogicalOr
                );
                let side = |node: &Node| if compares { self.number(node) } else { self.arithmetic(node) };
                Some(Computation::Binary(*operator, Box::new(side(left)?), Box::new(side(right)?)))
            }
            Kind::Conditional(condition, yes, no) => Some(Computation::Conditional(
                Box::new(self.number(condition)?),
                Box::new(self.arithmetic(yes)?),
                Box::new(self.arithmetic(no)?),
            )),
            _ => match self.computation(node, ScalarKind::Any)? {
                Computation::Read(ReadPlan { kind: ReadKind::Text(_) | ReadKind::TextPointer, .. }) => None,
                other => Some(other),
            },
        }
    }

    /// Like `number`, without pointers: pointer arithmetic counts elements, which computations do not support.
    fn arithmetic(&self, node: &Node) -> Option<Computation> {
        if let Some(location) = self.location(node) {
            let is_address =
                matches!(self.scope.info.shape(&location.ty), Shape::Pointer(_) | Shape::Array(..));
            if is_address {
                return None;
            }
        }
        if matches!(node.kind, Kind::Unary(Unary::Address, _)) {
            return None;
        }
        self.number(node)
    }

    fn location(&self, node: &Node) -> Option<Lowered> {
        let lowered = match &node.kind {
            Kind::Name(path) => self.variable(path)?,
            Kind::Unary(Unary::Deref, operand) => self.pointee(self.location(operand)?)?,
            Kind::Register(name) if name.starts_with("arg") => self.argument(name)?,
            Kind::Register(name) => {
                let is_word = |(number, size): &(gimli::Register, u64)| *size == WORD && *number != RIP;
                let (number, _) = register_number(name).filter(is_word)?;
                let ty = match number {
                    RBP | RSP => Type::Pointer(Arc::new(Type::Void)),
                    _ => Type::Basic(Basic::LONG),
                };
                Lowered { path: AccessPath::Register { number, offset: 0 }, ty, bits: None }
            }
            Kind::Cast(ty, operand) => {
                let ty = self.scope.named_type(ty, node.at()).ok()?;
                self.pointer_of(ty, self.location(operand)?)?
            }
            Kind::Member(whole, name) | Kind::Arrow(whole, name) => {
                let mut whole = self.location(whole)?;
                while matches!(self.scope.info.shape(&whole.ty), Shape::Pointer(_)) {
                    whole = self.pointee(whole)?;
                }
                self.member(whole, name)?
            }
            Kind::Index(array, index) => {
                let Kind::Integer { value, .. } = &index.kind else { return None };
                let array = self.location(array)?;
                let first = self.pointee(array)?;
                let size = self.scope.info.size(&first.ty)?;
                Lowered { path: first.path.plus(value.wrapping_mul(size)), ..first }
            }
            _ => return None,
        };
        // C++ references are always followed.
        match self.scope.info.shape(&lowered.ty) {
            Shape::Reference(target) => {
                Some(Lowered { path: lowered.path.pointee()?, ty: target, bits: None })
            }
            _ => Some(lowered),
        }
    }

    /// `$arg1`, `$arg2` …
    fn argument(&self, name: &str) -> Option<Lowered> {
        let number: usize = name.strip_prefix("arg")?.parse().ok()?;
        let arguments = self.scope.arguments();
        self.variable(&[arguments.get(number.checked_sub(1)?)?.name.to_owned()])
    }

    /// Treats a word as a pointer.
    fn pointer_of(&self, ty: Type, word: Lowered) -> Option<Lowered> {
        let is_word = match self.scope.info.shape(&word.ty) {
            Shape::Pointer(_) => true,
            Shape::Basic(basic) => basic.size == WORD && basic.encoding != Encoding::Float,
            _ => false,
        };
        let is_pointer = matches!(self.scope.info.shape(&ty), Shape::Pointer(_));
        (is_word && is_pointer && word.bits.is_none()).then_some(Lowered { ty, ..word })
    }

    /// The target of a pointer, or the first element of an array.
    fn pointee(&self, location: Lowered) -> Option<Lowered> {
        match self.scope.info.shape(&location.ty) {
            Shape::Pointer(Type::Void) => None,
            Shape::Pointer(target) => {
                Some(Lowered { path: location.path.pointee()?, ty: target, bits: None })
            }
            Shape::Array(element, _) if matches!(location.path, AccessPath::Memory { .. }) => {
                Some(Lowered { ty: element, ..location })
            }
            _ => None,
        }
    }

    fn member(&self, whole: Lowered, name: &str) -> Option<Lowered> {
        let Shape::Record(record) = self.scope.info.shape(&whole.ty) else { return None };
        let mut path = whole.path;
        let mut last = None;
        for member in self.scope.path_to_member(record, name)? {
            let Offset::Fixed(offset) = member.offset else { return None };
            path = path.plus(offset);
            last = Some(member);
        }
        let last = last?;
        Some(Lowered { path, ty: last.ty, bits: last.bits })
    }

    fn variable(&self, path: &[String]) -> Option<Lowered> {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let local = match parts.as_slice() {
            [name] => self.scope.entry_in_blocks(name),
            _ => None,
        };
        let entry = match local {
            Some(entry) => entry,
            None => {
                // Names that may denote members of `this` are left to the general evaluation.
                if self.scope.entry_in_blocks("this").is_some() && parts.len() == 1 {
                    return None;
                }
                let is_value = |kind| matches!(kind, DeclKind::Variable | DeclKind::Enumerator(_));
                let found =
                    self.scope.info.types.find(self.scope.info, self.scope.function(), &parts, is_value);
                let (at, DeclKind::Variable) = found? else { return None };
                self.scope.info.entry(at)?
            }
        };
        self.lower_entry(&entry)
    }

    fn lower_entry(&self, entry: &Entry) -> Option<Lowered> {
        let scope = self.scope;
        let own = Entry { at: entry.at, raw: entry.raw.clone() };
        let origins = scope.info.origins(own);
        let ty = origins.iter().map(|origin| scope.info.type_of(origin)).find(|ty| *ty != Type::Void)?;
        if origins.iter().any(|origin| origin.attribute(gimli::DW_AT_const_value).is_some()) {
            return None;
        }
        let found =
            origins.iter().find_map(|origin| Some((scope.rule(origin, gimli::DW_AT_location)?, origin.at)));
        let path = match found? {
            (Rule::Everywhere(rule), at) => {
                if scope.is_in_prologue() && scope.is_frame_relative(at, rule) {
                    // In the middle of the prologue, the location depends on which arguments have been stored.
                    if !scope.is_at_entry() {
                        return None;
                    }
                    return Some(Lowered { path: self.argument_path(entry)?, ty, bits: None });
                }
                self.by_rule(at, rule)?
            }
            (Rule::Here(rule), at) => self.by_rule(at, rule)?,
            (Rule::Nowhere, _) if scope.is_rust_entry(entry) => self.argument_path(entry)?,
            (Rule::Nowhere, _) => return None,
        };
        Some(Lowered { path, ty, bits: None })
    }

    /// An argument that is still where the caller passed it.
    fn argument_path(&self, entry: &Entry) -> Option<AccessPath> {
        // On a stack that starts at 0, addresses are offsets.
        let (location, by_address) = self.scope.argument_location(entry, Arguments::new)?;
        let path = match location {
            Location::Register { number, offset, .. } => AccessPath::Register { number, offset },
            Location::Memory(offset) => AccessPath::at(self.cfa_plus(offset)?),
            _ => return None,
        };
        if by_address { path.pointee() } else { Some(path) }
    }

    /// The base at an offset from the canonical frame address.
    fn cfa_plus(&self, offset: u64) -> Option<PathBase> {
        let mapped = self.scope.info.program.image_at(self.pc)?;
        match mapped.image.unwinding().at(mapped.in_file(self.pc))?.cfa {
            Cfa::Register(register, by) => Some(PathBase::Register(register, offset.wrapping_add_signed(by))),
            Cfa::Expression(_) => None,
        }
    }

    /// An argument on the stack of a function without debug information. At the function's entry, only the
    /// return address is between the stack pointer and the arguments.
    pub(super) fn stack_argument(&self, offset: u64, at_entry: bool) -> Option<PathBase> {
        if at_entry { Some(PathBase::Register(RSP, offset.wrapping_add(8))) } else { self.cfa_plus(offset) }
    }

    fn by_rule(&self, near: DieRef, rule: Expression<Reader>) -> Option<AccessPath> {
        let info = self.scope.info;
        let mut operations = rule.operations(info.encoding(near)?);
        let first = operations.next().ok()??;
        let second = operations.next().ok()?;
        let absolute =
            |address: u64| AccessPath::at(PathBase::Absolute(address.wrapping_add(info.bias(near.image))));
        match (first, second) {
            (Operation::Register { register }, None) => {
                Some(AccessPath::Register { number: register, offset: 0 })
            }
            (Operation::RegisterOffset { register, offset, base_type }, None) if base_type.0 == 0 => {
                Some(AccessPath::at(PathBase::Register(register, offset as u64)))
            }
            (Operation::Address { address }, None) => Some(absolute(address)),
            (Operation::AddressIndex { index }, None) => {
                Some(absolute(info.unit(near)?.address(index).ok()?))
            }
            (Operation::FrameOffset { offset }, None) => {
                let base = self.frame_base()?;
                Some(AccessPath::at(base).plus(offset as u64))
            }
            (Operation::Address { address: offset }, Some(Operation::TLS))
            | (Operation::UnsignedConstant { value: offset }, Some(Operation::TLS)) => {
                // The scope has its thread control block at 1, because 0 means unknown: the address minus 1 is the
                // offset.
                let at = self.scope.thread_local(near.image, offset).ok()?;
                self.scope
                    .is_main(near.image)
                    .then(|| AccessPath::at(PathBase::ThreadLocal(at.wrapping_sub(1))))
            }
            _ => None,
        }
    }

    fn frame_base(&self) -> Option<PathBase> {
        let function = self.scope.function()?;
        let entry = self.scope.info.entry(function)?;
        let rule = match self.scope.rule(&entry, gimli::DW_AT_frame_base)? {
            Rule::Everywhere(rule) | Rule::Here(rule) => rule,
            Rule::Nowhere => return None,
        };
        let mut operations = rule.operations(self.scope.info.encoding(function)?);
        let first = operations.next().ok()??;
        if operations.next().ok()?.is_some() {
            return None;
        }
        match first {
            Operation::CallFrameCFA => self.cfa_plus(0),
            Operation::Register { register } => Some(PathBase::Register(register, 0)),
            Operation::RegisterOffset { register, offset, .. } => {
                Some(PathBase::Register(register, offset as u64))
            }
            _ => None,
        }
    }
}

/// The read plan for a value of a type.
pub(super) fn read_plan(
    scope: &Scope<'_>,
    path: AccessPath,
    ty: &Type,
    bits: Option<Bits>,
    wanted: ScalarKind,
) -> Option<ReadPlan> {
    let kind = match scope.info.shape(ty) {
        Shape::Basic(basic) if (1..=16).contains(&basic.size) => ReadKind::Scalar(basic, bits),
        Shape::Enumeration(at) => {
            let size = scope.info.size(ty)?;
            let width = (size * 8).clamp(8, 128) as u8;
            ReadKind::Scalar(Basic::integer(width, scope.info.enumeration_is_signed(at)).sized(size), bits)
        }
        Shape::Pointer(target) if wanted == ScalarKind::Str && scope.is_char(&target) => {
            ReadKind::TextPointer
        }
        Shape::Pointer(_) => ReadKind::Scalar(Basic::ADDRESS, None),
        Shape::Array(element, Some(count))
            if scope.is_char(&element) && matches!(path, AccessPath::Memory { .. }) =>
        {
            ReadKind::Text(count as usize)
        }
        _ => return None,
    };
    Some(ReadPlan { path, kind })
}
