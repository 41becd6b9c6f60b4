//! From an expression to loads, where the places do not depend on more than a few registers.

use super::formula::{Base, Formula, Leaf, LeafKind, Path};
use crate::image::Reader;
use crate::machine::{RBP, RIP, RSP};
use crate::unwinding::rules::Cfa;
use crate::value::abi::Arguments;
use crate::value::catalog::Sort;
use crate::value::datum::{Place, register_number};
use crate::value::evaluate::literal;
use crate::value::expression::{Binary, Kind, Node, Unary};
use crate::value::info::{At, Entry};
use crate::value::location::Rule;
use crate::value::number::Number;
use crate::value::plain::Wanted;
use crate::value::scope::Scope;
use crate::value::types::{Basic, Bits, Encoding, Offset, Shape, Type};
use gimli::{Expression, Operation};
use std::sync::Arc;

/// The bytes of a general register.
const WORD: u64 = 8;

pub(super) struct Lowering<'s, 'a> {
    scope: &'s Scope<'a>,
    pc: u64,
}

/// A value on the way.
struct Lowered {
    path: Path,
    ty: Type,
    bits: Option<Bits>,
}

impl<'s, 'a> Lowering<'s, 'a> {
    pub(super) fn new(scope: &'s Scope<'a>, pc: u64) -> Self {
        Self { scope, pc }
    }

    /// The formula for an expression, if there is one.
    pub(super) fn formula(&self, node: &Node, wanted: Wanted) -> Option<Formula> {
        match &node.kind {
            Kind::Unary(Unary::Address, operand) => {
                let place = self.place(operand)?;
                let is_memory = matches!(place.path, Path::Memory { .. }) && place.bits.is_none();
                is_memory.then_some(Formula::Leaf(Leaf { path: place.path, kind: LeafKind::Address }))
            }
            Kind::Integer { .. } | Kind::Float(_) | Kind::Binary(..) | Kind::Conditional(..) => {
                self.number(node)
            }
            // Where the thread is: at this place, that is always the same.
            Kind::Register(name) if register_number(name) == Some((RIP, WORD)) => {
                Some(Formula::Leaf(Leaf { path: Path::at(Base::Absolute(self.pc)), kind: LeafKind::Address }))
            }
            Kind::Unary(Unary::Minus | Unary::Plus | Unary::Not | Unary::Complement, _) => self.number(node),
            _ => {
                let place = self.place(node)?;
                leaf(self.scope, place.path, &place.ty, place.bits, wanted).map(Formula::Leaf)
            }
        }
    }

    /// The same where a number is needed. Addresses only take part where they need no type.
    fn number(&self, node: &Node) -> Option<Formula> {
        match &node.kind {
            Kind::Integer { value, unsigned, long, decimal } => {
                Some(Formula::Constant(Number::Integer(literal(*value, *unsigned, *long, *decimal))))
            }
            Kind::Float(value) => Some(Formula::Constant(Number::Float(*value))),
            Kind::Unary(operator @ (Unary::Minus | Unary::Plus | Unary::Complement), operand) => {
                Some(Formula::Unary(*operator, Box::new(self.arithmetic(operand)?)))
            }
            Kind::Unary(Unary::Not, operand) => {
                Some(Formula::Unary(Unary::Not, Box::new(self.number(operand)?)))
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
                        | Binary::Both
                        | Binary::Either
                );
                let side = |node: &Node| if compares { self.number(node) } else { self.arithmetic(node) };
                Some(Formula::Binary(*operator, Box::new(side(left)?), Box::new(side(right)?)))
            }
            Kind::Conditional(condition, yes, no) => Some(Formula::Conditional(
                Box::new(self.number(condition)?),
                Box::new(self.arithmetic(yes)?),
                Box::new(self.arithmetic(no)?),
            )),
            _ => match self.formula(node, Wanted::Any)? {
                Formula::Leaf(Leaf { kind: LeafKind::Text(_) | LeafKind::TextBehind, .. }) => None,
                other => Some(other),
            },
        }
    }

    /// The same where an address would count in elements, which formulas do not.
    fn arithmetic(&self, node: &Node) -> Option<Formula> {
        if let Some(place) = self.place(node) {
            let is_address = matches!(self.scope.info.shape(&place.ty), Shape::Pointer(_) | Shape::Array(..));
            if is_address {
                return None;
            }
        }
        if matches!(node.kind, Kind::Unary(Unary::Address, _)) {
            return None;
        }
        self.number(node)
    }

    fn place(&self, node: &Node) -> Option<Lowered> {
        let lowered = match &node.kind {
            Kind::Name(path) => self.variable(path)?,
            Kind::Unary(Unary::Deref, operand) => self.behind(self.place(operand)?)?,
            Kind::Register(name) if name.starts_with("arg") => self.argument(name)?,
            Kind::Register(name) => {
                let is_word = |(number, size): &(gimli::Register, u64)| *size == WORD && *number != RIP;
                let (number, _) = register_number(name).filter(is_word)?;
                let ty = match number {
                    RBP | RSP => Type::Pointer(Arc::new(Type::Void)),
                    _ => Type::Basic(Basic::LONG),
                };
                Lowered { path: Path::Register { number, offset: 0 }, ty, bits: None }
            }
            Kind::Cast(ty, operand) => {
                let ty = self.scope.named_type(ty, node.at()).ok()?;
                self.pointer_of(ty, self.place(operand)?)?
            }
            Kind::Member(whole, name) | Kind::Arrow(whole, name) => {
                let mut whole = self.place(whole)?;
                while matches!(self.scope.info.shape(&whole.ty), Shape::Pointer(_)) {
                    whole = self.behind(whole)?;
                }
                self.member(whole, name)?
            }
            Kind::Index(array, index) => {
                let Kind::Integer { value, .. } = &index.kind else { return None };
                let array = self.place(array)?;
                let first = self.behind(array)?;
                let size = self.scope.info.size(&first.ty)?;
                Lowered { path: first.path.plus(value.wrapping_mul(size)), ..first }
            }
            _ => return None,
        };
        // References of C++ are followed wherever they are.
        match self.scope.info.shape(&lowered.ty) {
            Shape::Reference(target) => {
                Some(Lowered { path: lowered.path.behind()?, ty: target, bits: None })
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

    /// A word, taken for a pointer.
    fn pointer_of(&self, ty: Type, word: Lowered) -> Option<Lowered> {
        let is_word = match self.scope.info.shape(&word.ty) {
            Shape::Pointer(_) => true,
            Shape::Basic(basic) => basic.size == WORD && basic.encoding != Encoding::Float,
            _ => false,
        };
        let is_pointer = matches!(self.scope.info.shape(&ty), Shape::Pointer(_));
        (is_word && is_pointer && word.bits.is_none()).then_some(Lowered { ty, ..word })
    }

    /// What a pointer points to, or the first element of an array.
    fn behind(&self, place: Lowered) -> Option<Lowered> {
        match self.scope.info.shape(&place.ty) {
            Shape::Pointer(Type::Void) => None,
            Shape::Pointer(target) => Some(Lowered { path: place.path.behind()?, ty: target, bits: None }),
            Shape::Array(element, _) if matches!(place.path, Path::Memory { .. }) => {
                Some(Lowered { ty: element, ..place })
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
                // Names that could mean a member of `this` are left to the general way.
                if self.scope.entry_in_blocks("this").is_some() && parts.len() == 1 {
                    return None;
                }
                let is_value = |sort| matches!(sort, Sort::Variable | Sort::Enumerator(_));
                let found =
                    self.scope.info.catalog.find(self.scope.info, self.scope.function(), &parts, is_value);
                let (at, Sort::Variable) = found? else { return None };
                self.scope.info.entry(at)?
            }
        };
        self.of_entry(&entry)
    }

    fn of_entry(&self, entry: &Entry) -> Option<Lowered> {
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
                if scope.is_in_prologue() && scope.counts_from_frame(at, rule) {
                    // In the middle of the prologue it depends on what has been stored already.
                    if !scope.is_at_entry() {
                        return None;
                    }
                    return Some(Lowered { path: self.passed(entry)?, ty, bits: None });
                }
                self.by_rule(at, rule)?
            }
            (Rule::Here(rule), at) => self.by_rule(at, rule)?,
            (Rule::Nowhere, _) if scope.is_rust_entry(entry) => self.passed(entry)?,
            (Rule::Nowhere, _) => return None,
        };
        Some(Lowered { path, ty, bits: None })
    }

    /// An argument that is still where the caller put it.
    fn passed(&self, entry: &Entry) -> Option<Path> {
        // From a stack that begins at 0, places on it are distances.
        let (place, by_address) = self.scope.passed_in(entry, Arguments::new)?;
        let path = match place {
            Place::Register { number, offset, .. } => Path::Register { number, offset },
            Place::Memory(offset) => Path::at(self.frame_at(offset)?),
            _ => return None,
        };
        if by_address { path.behind() } else { Some(path) }
    }

    /// What is at a distance from the canonical frame address.
    fn frame_at(&self, offset: u64) -> Option<Base> {
        let loaded = self.scope.info.program.image_at(self.pc)?;
        match loaded.image.unwinding().at(loaded.in_file(self.pc))?.cfa {
            Cfa::Register(register, by) => Some(Base::Register(register, offset.wrapping_add_signed(by))),
            Cfa::Expression(_) => None,
        }
    }

    /// An argument on the stack of a function of which nothing is known; at its entry the return address is
    /// the only thing above it.
    pub(super) fn stack_argument(&self, offset: u64, at_entry: bool) -> Option<Base> {
        if at_entry { Some(Base::Register(RSP, offset.wrapping_add(8))) } else { self.frame_at(offset) }
    }

    fn by_rule(&self, near: At, rule: Expression<Reader>) -> Option<Path> {
        let info = self.scope.info;
        let mut operations = rule.operations(info.encoding(near)?);
        let first = operations.next().ok()??;
        let second = operations.next().ok()?;
        let absolute = |address: u64| Path::at(Base::Absolute(address.wrapping_add(info.bias(near.image))));
        match (first, second) {
            (Operation::Register { register }, None) => Some(Path::Register { number: register, offset: 0 }),
            (Operation::RegisterOffset { register, offset, base_type }, None) if base_type.0 == 0 => {
                Some(Path::at(Base::Register(register, offset as u64)))
            }
            (Operation::Address { address }, None) => Some(absolute(address)),
            (Operation::AddressIndex { index }, None) => {
                Some(absolute(info.unit(near)?.address(index).ok()?))
            }
            (Operation::FrameOffset { offset }, None) => {
                let base = self.frame_base()?;
                Some(Path::at(base).plus(offset as u64))
            }
            (Operation::Address { address: offset }, Some(Operation::TLS))
            | (Operation::UnsignedConstant { value: offset }, Some(Operation::TLS)) => {
                // With a blank thread whose block is at 1, the place is a distance.
                let at = self.scope.thread_local(near.image, offset).ok()?;
                self.scope.is_main(near.image).then(|| Path::at(Base::Thread(at.wrapping_sub(1))))
            }
            _ => None,
        }
    }

    fn frame_base(&self) -> Option<Base> {
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
            Operation::CallFrameCFA => self.frame_at(0),
            Operation::Register { register } => Some(Base::Register(register, 0)),
            Operation::RegisterOffset { register, offset, .. } => {
                Some(Base::Register(register, offset as u64))
            }
            _ => None,
        }
    }
}

/// How a value of a type is read.
pub(super) fn leaf(
    scope: &Scope<'_>,
    path: Path,
    ty: &Type,
    bits: Option<Bits>,
    wanted: Wanted,
) -> Option<Leaf> {
    let kind = match scope.info.shape(ty) {
        Shape::Basic(basic) if (1..=16).contains(&basic.size) => LeafKind::Scalar(basic, bits),
        Shape::Enumeration(at) => {
            let size = scope.info.size(ty)?;
            let width = (size * 8).clamp(8, 128) as u8;
            LeafKind::Scalar(Basic::integer(width, scope.info.enumeration_is_signed(at)).sized(size), bits)
        }
        Shape::Pointer(target) if wanted == Wanted::Str && scope.is_char(&target) => LeafKind::TextBehind,
        Shape::Pointer(_) => LeafKind::Scalar(Basic::ADDRESS, None),
        Shape::Array(element, Some(count))
            if scope.is_char(&element) && matches!(path, Path::Memory { .. }) =>
        {
            LeafKind::Text(count as usize)
        }
        _ => return None,
    };
    Some(Leaf { path, kind })
}
