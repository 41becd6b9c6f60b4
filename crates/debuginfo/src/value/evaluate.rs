//! Evaluation of expressions in a frame.

use crate::value::error::ExpressionError;
use crate::value::expression::{Binary, Expression, Kind, Node, TypeName, Unary};
use crate::value::number::{ArithmeticError, Integer, Number, OperationResult, compute};
use crate::value::read::{computed, number_of};
use crate::value::scope::Scope;
use crate::value::typed_value::{Location, TypedValue, Unavailable, register_number};
use crate::value::types::{Basic, Encoding, Shape, Type};
use std::sync::Arc;

/// Maximum nesting depth of macro expansions.
pub(crate) const MAX_MACRO_DEPTH: u8 = 16;

/// Why an evaluation stops.
pub(crate) enum EvalError {
    /// The expression is invalid.
    Invalid(ExpressionError),
    /// The expression is valid, but there is no value.
    Missing(Unavailable),
    /// The expression does not apply to the current values, with the reason for prepared reads.
    Inapplicable(ExpressionError, Unavailable),
}

impl From<ExpressionError> for EvalError {
    fn from(error: ExpressionError) -> Self {
        EvalError::Invalid(error)
    }
}

impl From<Unavailable> for EvalError {
    fn from(reason: Unavailable) -> Self {
        EvalError::Missing(reason)
    }
}

/// Operand of an operator.
enum Operand {
    Number(Number),
    Pointer(u64, Type),
}

impl Operand {
    fn number(&self) -> Number {
        match self {
            Operand::Number(number) => *number,
            Operand::Pointer(address, _) => Number::Integer(Integer::new(u128::from(*address), 64, false)),
        }
    }
}

impl Scope<'_> {
    /// Evaluates an expression in the frame. An unavailable value is a [`TypedValue`] that contains the reason, not an
    /// error.
    ///
    /// # Errors
    /// If a name is unknown, the types do not fit the operators, an index or count is out of range, or an operand has no
    /// address.
    pub fn evaluate(&self, expression: &Expression) -> Result<TypedValue, ExpressionError> {
        self.evaluate_within(&expression.root, MAX_MACRO_DEPTH)
    }

    fn evaluate_within(&self, node: &Node, macro_depth_left: u8) -> Result<TypedValue, ExpressionError> {
        match self.eval(node, macro_depth_left) {
            Ok(typed_value) => Ok(typed_value),
            Err(EvalError::Invalid(error) | EvalError::Inapplicable(error, _)) => Err(error),
            Err(EvalError::Missing(reason)) => Ok(TypedValue::none(Type::Void, reason)),
        }
    }

    pub(crate) fn eval(&self, node: &Node, macro_depth_left: u8) -> Result<TypedValue, EvalError> {
        match &node.kind {
            Kind::Name(path) => self.resolve(path, node.at(), macro_depth_left),
            Kind::Integer { value, unsigned, long, decimal } => {
                Ok(computed(Number::Integer(literal(*value, *unsigned, *long, *decimal))))
            }
            Kind::Float(value) => Ok(computed(Number::Float(*value))),
            Kind::Character(byte) => Ok(TypedValue::known(Type::Basic(Basic::CHAR), &[*byte])),
            Kind::Text(text) => {
                let bytes = [text.as_bytes(), &[0]].concat();
                let ty = Type::Array(Arc::new(Type::Basic(Basic::CHAR)), Some(bytes.len() as u64));
                Ok(TypedValue::known(ty, &bytes))
            }
            Kind::Register(name) => self.named_register(name, node.at()),
            Kind::Unary(operator, operand) => self.unary(*operator, operand, node.at(), macro_depth_left),
            Kind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, node.at(), macro_depth_left)
            }
            Kind::Conditional(condition, yes, no) => {
                let chosen = if self.is_true(condition, macro_depth_left)? { yes } else { no };
                self.eval(chosen, macro_depth_left)
            }
            Kind::Index(array, index) => {
                let whole = self.eval(array, macro_depth_left)?;
                let index_value = self.eval(index, macro_depth_left)?;
                let Operand::Number(Number::Integer(number)) = self.operand(&index_value, index.at())? else {
                    return Err(ExpressionError::new(index.at(), "an index must be an integer").into());
                };
                // Any index will do for a check, unless it is a constant.
                let is_placeholder = self.is_check && !matches!(index.kind, Kind::Integer { .. });
                let number = if is_placeholder { 0 } else { number.low() as i64 };
                self.element(&whole, number, node.at())
            }
            Kind::Member(whole, name) | Kind::Arrow(whole, name) => {
                let whole = self.eval(whole, macro_depth_left)?;
                self.select(&whole, name, node.at())
            }
            Kind::Cast(ty, operand) => {
                let ty = self.named_type(ty, node.at())?;
                let typed_value = self.eval(operand, macro_depth_left)?;
                self.cast(ty, &typed_value, node.at())
            }
            Kind::SizeOf(ty) => {
                let ty = self.named_type(ty, node.at())?;
                self.size_value(&ty, node.at())
            }
            Kind::Call(name, arguments) => self.call_macro(name, arguments, node.at(), macro_depth_left),
        }
    }

    /// The value of an expression for a prepared read, whose names and types are known from a check.
    pub(crate) fn evaluate_checked(&self, expression: &Expression) -> Result<TypedValue, Unavailable> {
        self.eval(&expression.root, MAX_MACRO_DEPTH).map_err(|error| match error {
            EvalError::Missing(reason) | EvalError::Inapplicable(_, reason) => reason,
            // Only the names in callers' frames are unknown to the check.
            EvalError::Invalid(_) => Unavailable::NoCaller,
        })
    }

    fn named_register(&self, name: &str, at: usize) -> Result<TypedValue, EvalError> {
        if let Some(number) = name.strip_prefix("arg").and_then(|digits| digits.parse::<usize>().ok()) {
            return self.numbered_argument(number, at);
        }
        let Some((number, size)) = register_number(name) else {
            return Err(ExpressionError::new(at, format!("unknown register `${name}`"))
                .remedy("the general registers, $rip, $xmm0 to $xmm15, and the arguments $arg1, $arg2 … are supported")
                .into());
        };
        let ty = match (number.0, size) {
            (6 | 7 | 16, 8) => Type::Pointer(Arc::new(Type::Void)),
            (_, 16) => Type::Array(Arc::new(Type::Basic(Basic::DOUBLE)), Some(2)),
            (_, 1 | 2) => Type::Basic(Basic::INT.sized(size)),
            _ => Type::Basic(Basic::integer((size * 8) as u8, true)),
        };
        Ok(TypedValue::new(ty, Location::Register { number, offset: 0, frame: self.level }))
    }

    /// `$arg1`, `$arg2` …: the arguments of the frame's function by position.
    fn numbered_argument(&self, number: usize, at: usize) -> Result<TypedValue, EvalError> {
        let mut arguments = self.arguments();
        let count = arguments.len();
        if number == 0 || number > count {
            let plural = if count == 1 { "" } else { "s" };
            let message = format!("this function has {count} argument{plural}, counted from 1");
            return Err(ExpressionError::new(at, message).into());
        }
        Ok(arguments.swap_remove(number - 1).value)
    }

    fn unary(
        &self,
        operator: Unary,
        operand: &Node,
        at: usize,
        macro_depth_left: u8,
    ) -> Result<TypedValue, EvalError> {
        if operator == Unary::Caller {
            let caller = self.caller().ok_or(Unavailable::NoCaller)?;
            return caller.eval(operand, macro_depth_left);
        }
        if operator == Unary::SizeOf {
            return self.size_of(operand, at, macro_depth_left);
        }
        let typed_value = self.eval(operand, macro_depth_left)?;
        let needs = |operand_kind: &str| {
            EvalError::from(ExpressionError::new(at, format!("`{}` needs {operand_kind}", operator.token())))
        };
        match operator {
            Unary::Deref => self.pointee(&typed_value, at),
            Unary::Address => self.address_of(&typed_value, at),
            Unary::Not => Ok(truth(!self.operand(&typed_value, at)?.number().is_true())),
            Unary::Minus => match self.operand(&typed_value, at)? {
                Operand::Number(number) => Ok(computed(number.negated())),
                Operand::Pointer(..) => Err(needs("a number")),
            },
            Unary::Plus => match self.operand(&typed_value, at)? {
                Operand::Number(number) => Ok(computed(number.promoted())),
                Operand::Pointer(..) => Err(needs("a number")),
            },
            _ => match self.operand(&typed_value, at)? {
                Operand::Number(number) => {
                    Ok(computed(number.complement().ok_or_else(|| needs("an integer"))?))
                }
                Operand::Pointer(..) => Err(needs("an integer")),
            },
        }
    }

    fn size_of(&self, operand: &Node, at: usize, macro_depth_left: u8) -> Result<TypedValue, EvalError> {
        match self.eval(operand, macro_depth_left) {
            Ok(typed_value) => {
                // `sizeof` of a reference is the size of its target.
                let ty = match self.info.shape(&typed_value.ty) {
                    Shape::Reference(target) => target,
                    _ => typed_value.ty,
                };
                self.size_value(&ty, at)
            }
            Err(EvalError::Invalid(error)) => {
                let Kind::Name(path) = &operand.kind else { return Err(error.into()) };
                let name = TypeName { tag: None, name: path.join("::"), pointers: 0 };
                match self.named_type(&name, at) {
                    Ok(ty) => self.size_value(&ty, at),
                    Err(_) => Err(error.into()),
                }
            }
            Err(missing) => Err(missing),
        }
    }

    fn size_value(&self, ty: &Type, at: usize) -> Result<TypedValue, EvalError> {
        let size =
            self.info.size(ty).ok_or_else(|| ExpressionError::new(at, "the size of this type is unknown"))?;
        Ok(TypedValue::known(Type::Basic(Basic::UNSIGNED_LONG), &size.to_le_bytes()))
    }

    /// Dereferences a pointer.
    pub(crate) fn pointee(&self, typed_value: &TypedValue, at: usize) -> Result<TypedValue, EvalError> {
        let typed_value = self.without_reference(typed_value)?;
        match self.info.shape(&typed_value.ty) {
            Shape::Pointer(Type::Void) => Err(ExpressionError::new(at, "cannot dereference a `void *`")
                .remedy("cast it, as in `*(int *) p`")
                .into()),
            Shape::Pointer(target) => {
                if let Some(reason) = typed_value.unavailable_reason() {
                    return Ok(TypedValue::none(target, reason));
                }
                let address = self.word_at(&typed_value.location, 8)? as u64;
                Ok(TypedValue::new(target, Location::Memory(address)))
            }
            Shape::Array(element, _) => {
                let size = self.info.size(&element);
                Ok(TypedValue::new(element, typed_value.location.at(0, size)))
            }
            Shape::Function(_) => Ok(typed_value),
            Shape::Record(_) if self.elements_of(&typed_value).is_some() => self.element(&typed_value, 0, at),
            Shape::Basic(basic) if basic.encoding != Encoding::Float => {
                let address = self.word_at(&typed_value.location, basic.size)? as u64;
                Ok(TypedValue::new(Type::Basic(Basic::LONG), Location::Memory(address)))
            }
            _ => Err(ExpressionError::new(
                at,
                format!("`*` needs a pointer, but this has type `{}`", self.type_name(&typed_value.ty)),
            )
            .into()),
        }
    }

    fn address_of(&self, typed_value: &TypedValue, at: usize) -> Result<TypedValue, EvalError> {
        let typed_value = self.without_reference(typed_value)?;
        if typed_value.bits.is_some() {
            return Err(ExpressionError::new(at, "a bit-field has no address").into());
        }
        match typed_value.location {
            Location::Memory(address) => {
                Ok(TypedValue::known(Type::Pointer(Arc::new(typed_value.ty)), &address.to_le_bytes()))
            }
            Location::Register { .. } => {
                Err(ExpressionError::new(at, "this value is in a register and has no address").into())
            }
            Location::Unavailable(reason) => Err(reason.into()),
            Location::Pieces(_) | Location::Bytes(_) => {
                Err(ExpressionError::new(at, "this value is not in memory").into())
            }
        }
    }

    /// The element of an array, or the element at an offset from a pointer.
    pub(crate) fn element(&self, whole: &TypedValue, index: i64, at: usize) -> Result<TypedValue, EvalError> {
        let whole = self.without_reference(whole)?;
        let stride = |element: &Type| {
            self.info
                .size(element)
                .ok_or_else(|| ExpressionError::new(at, "the size of the elements is unknown"))
        };
        match self.info.shape(&whole.ty) {
            Shape::Array(element, count) => {
                let size = stride(&element)?;
                let outside = index < 0 || count.is_some_and(|count| index as u64 >= count);
                let by = (index as u64).wrapping_mul(size);
                match &whole.location {
                    Location::Memory(address) => {
                        Ok(TypedValue::new(element, Location::Memory(address.wrapping_add(by))))
                    }
                    _ if outside => Err(out_of_range(at, format!("index {index} is out of bounds"))),
                    location => Ok(TypedValue::new(element, location.at(by, Some(size)))),
                }
            }
            Shape::Pointer(Type::Void) => Err(ExpressionError::new(at, "cannot dereference a `void *`")
                .remedy("cast it, as in `((int *) p)[0]`")
                .into()),
            Shape::Pointer(element) => {
                let size = stride(&element)?;
                let start = self.word_at(&whole.location, 8)? as u64;
                let address = start.wrapping_add((index as u64).wrapping_mul(size));
                Ok(TypedValue::new(element, Location::Memory(address)))
            }
            Shape::Record(_) if let Some(slice) = self.elements_of(&whole) => {
                let (element, start, length) = slice?;
                if !self.is_check && (index < 0 || index as u64 >= length) {
                    let text = format!("index {index} is out of bounds; the length is {length}");
                    return Err(out_of_range(at, text));
                }
                let by = (index as u64).wrapping_mul(stride(&element)?);
                Ok(TypedValue::new(element, Location::Memory(start.wrapping_add(by))))
            }
            _ => {
                let ty = self.type_name(&whole.ty);
                Err(ExpressionError::new(
                    at,
                    format!("`[]` needs an array or a pointer, but this has type `{ty}`"),
                )
                .into())
            }
        }
    }

    /// Converts a value to an operand: a number or an address.
    fn operand(&self, typed_value: &TypedValue, at: usize) -> Result<Operand, EvalError> {
        let typed_value = self.without_reference(typed_value)?;
        match self.info.shape(&typed_value.ty) {
            Shape::Pointer(target) => {
                let (bits, _) = self.scalar(&typed_value)?.ok_or(Unavailable::NotUnderstood)?;
                Ok(Operand::Pointer(bits as u64, target))
            }
            Shape::Array(element, _) => match self.address(&typed_value)? {
                Some(address) => Ok(Operand::Pointer(address, element)),
                None => Err(ExpressionError::new(at, "this array is not in memory").into()),
            },
            Shape::Function(_) => match self.address(&typed_value)? {
                Some(address) => Ok(Operand::Pointer(address, typed_value.ty)),
                None => Err(Unavailable::NotUnderstood.into()),
            },
            _ => {
                if let Some(reason) = typed_value.unavailable_reason() {
                    return Err(reason.into());
                }
                match self.number(&typed_value)? {
                    Some(number) => Ok(Operand::Number(number)),
                    None => {
                        let ty = self.type_name(&typed_value.ty);
                        Err(ExpressionError::new(at, format!("a value of type `{ty}` is not a number"))
                            .remedy("select one of its members")
                            .into())
                    }
                }
            }
        }
    }

    pub(crate) fn is_true(&self, node: &Node, macro_depth_left: u8) -> Result<bool, EvalError> {
        let typed_value = self.eval(node, macro_depth_left)?;
        Ok(self.operand(&typed_value, node.at())?.number().is_true())
    }

    fn binary(
        &self,
        operator: Binary,
        left: &Node,
        right: &Node,
        at: usize,
        macro_depth_left: u8,
    ) -> Result<TypedValue, EvalError> {
        match operator {
            Binary::LogicalAnd => {
                return Ok(truth(
                    self.is_true(left, macro_depth_left)? && self.is_true(right, macro_depth_left)?,
                ));
            }
            Binary::LogicalOr => {
                return Ok(truth(
                    self.is_true(left, macro_depth_left)? || self.is_true(right, macro_depth_left)?,
                ));
            }
            _ => {}
        }
        let (a, b) = (self.eval(left, macro_depth_left)?, self.eval(right, macro_depth_left)?);
        let is_text = |node: &Node| matches!(node.kind, Kind::Text(_));
        if matches!(operator, Binary::Equal | Binary::Unequal) && (is_text(left) || is_text(right)) {
            if let (Some(x), Some(y)) = (self.text_of(&a, usize::MAX)?, self.text_of(&b, usize::MAX)?) {
                return Ok(truth((x == y) == (operator == Binary::Equal)));
            }
            return Err(ExpressionError::new(at, "a string can only be compared with a string").into());
        }
        if operator == Binary::Repeat {
            return self.repeat(a, &b, at, right.at());
        }
        let (x, y) = (self.operand(&a, left.at())?, self.operand(&b, right.at())?);
        if let Some(typed_value) = self.pointer_arithmetic(operator, &x, &y, at)? {
            return Ok(typed_value);
        }
        match compute(operator, x.number(), y.number()) {
            Ok(OperationResult::Truth(holds)) => Ok(truth(holds)),
            Ok(OperationResult::Number(number)) => Ok(computed(number)),
            Err(ArithmeticError::DivisionByZero) => Err(Unavailable::DivisionByZero.into()),
            Err(ArithmeticError::NeedsIntegers) => {
                Err(ExpressionError::new(at, format!("`{}` needs integers", operator.token())).into())
            }
        }
    }

    /// `a @ n`: `n` elements starting with `a`.
    fn repeat(
        &self,
        first: TypedValue,
        count: &TypedValue,
        at: usize,
        count_at: usize,
    ) -> Result<TypedValue, EvalError> {
        let Operand::Number(Number::Integer(count)) = self.operand(count, count_at)? else {
            return Err(ExpressionError::new(count_at, "the number of elements must be an integer").into());
        };
        let first = self.without_reference(&first)?;
        let is_positive = self.is_check || (count.bits() as i128) > 0;
        match first.location {
            Location::Memory(_) if first.bits.is_none() && is_positive => {
                Ok(TypedValue::new(Type::Array(Arc::new(first.ty), Some(count.low())), first.location))
            }
            Location::Unavailable(reason) => Err(reason.into()),
            Location::Memory(_) => Err(out_of_range(count_at, "there must be at least one element")),
            _ => Err(ExpressionError::new(at, "the operand before `@` must be in memory").into()),
        }
    }

    /// Pointer arithmetic, in units of elements.
    fn pointer_arithmetic(
        &self,
        operator: Binary,
        x: &Operand,
        y: &Operand,
        at: usize,
    ) -> Result<Option<TypedValue>, EvalError> {
        let size = |target: &Type| self.info.size(target).unwrap_or(1).max(1);
        let moved = |address: u64, target: &Type, by: Number, back: bool| {
            let by = (by.to_bits() as u64).wrapping_mul(size(target));
            let address = if back { address.wrapping_sub(by) } else { address.wrapping_add(by) };
            Some(TypedValue::known(Type::Pointer(Arc::new(target.clone())), &address.to_le_bytes()))
        };
        Ok(match (operator, x, y) {
            (Binary::Plus, Operand::Pointer(address, target), Operand::Number(by))
            | (Binary::Plus, Operand::Number(by), Operand::Pointer(address, target)) => {
                moved(*address, target, *by, false)
            }
            (Binary::Minus, Operand::Pointer(address, target), Operand::Number(by)) => {
                moved(*address, target, *by, true)
            }
            (Binary::Minus, Operand::Pointer(a, target), Operand::Pointer(b, _)) => {
                let between = (a.wrapping_sub(*b) as i64) / i64::try_from(size(target)).unwrap_or(i64::MAX);
                Some(TypedValue::known(Type::Basic(Basic::LONG), &between.to_le_bytes()))
            }
            (Binary::Plus | Binary::Times | Binary::Divide | Binary::Modulo, Operand::Pointer(..), _)
            | (Binary::Times | Binary::Divide | Binary::Modulo, _, Operand::Pointer(..)) => {
                return Err(ExpressionError::new(
                    at,
                    format!("`{}` does not work on addresses", operator.token()),
                )
                .into());
            }
            _ => None,
        })
    }

    fn cast(&self, ty: Type, typed_value: &TypedValue, at: usize) -> Result<TypedValue, EvalError> {
        let bits = match self.info.shape(&ty) {
            Shape::Basic(basic) => encoded(self.operand(typed_value, at)?.number(), &basic),
            Shape::Enumeration(_) | Shape::Pointer(_) => {
                let size = self.info.size(&ty).unwrap_or(8);
                encoded(self.operand(typed_value, at)?.number(), &Basic::UNSIGNED_LONG.sized(size))
            }
            Shape::Reference(_) | Shape::Record(_) | Shape::Array(..) => {
                let typed_value = self.without_reference(typed_value)?;
                return match typed_value.location {
                    Location::Memory(_) => Ok(TypedValue::new(ty, typed_value.location)),
                    Location::Unavailable(reason) => Err(reason.into()),
                    _ => Err(ExpressionError::new(
                        at,
                        format!("this cannot be cast to `{}`", self.type_name(&ty)),
                    )
                    .into()),
                };
            }
            _ => {
                return Err(ExpressionError::new(
                    at,
                    format!("no value can be cast to `{}`", self.type_name(&ty)),
                )
                .into());
            }
        };
        Ok(TypedValue::known(ty, &bits))
    }
}

/// The bytes of a number, converted to a type as in C.
pub(crate) fn encoded(number: Number, basic: &Basic) -> Vec<u8> {
    let size = basic.size.min(16) as usize;
    let bits = match (basic.encoding, basic.size) {
        (Encoding::Float, 4) => u128::from((number.to_float() as f32).to_bits()),
        (Encoding::Float, 8) => u128::from(number.to_float().to_bits()),
        (Encoding::Float, _) => {
            let mut bytes = crate::value::number::to_extended(number.to_float()).to_vec();
            bytes.resize(size, 0);
            return bytes;
        }
        (Encoding::Bool, _) => u128::from(number.is_true()),
        _ => number.to_bits(),
    };
    bits.to_le_bytes().get(..size).unwrap_or_default().to_vec()
}

/// The inverse of [`encoded`]. `None` if the type has an unsupported encoding or size.
pub(crate) fn decoded(bytes: &[u8], basic: &Basic) -> Option<Number> {
    let mut all = [0; 16];
    all.get_mut(..bytes.len())?.copy_from_slice(bytes);
    number_of(u128::from_le_bytes(all), basic)
}

fn out_of_range(at: usize, message: impl Into<String>) -> EvalError {
    EvalError::Inapplicable(ExpressionError::new(at, message), Unavailable::OutOfRange)
}

fn truth(holds: bool) -> TypedValue {
    TypedValue::known(Type::Basic(Basic::BOOL), &[u8::from(holds)])
}

/// An integer literal has the first type into which it fits.
pub(crate) fn literal(value: u64, unsigned: bool, long: bool, decimal: bool) -> Integer {
    let bits = u128::from(value);
    let fits =
        |width: u8, signed: bool| value.checked_shr(u32::from(width) - u32::from(signed)).unwrap_or(0) == 0;
    for (width, signed) in [(32, true), (32, false), (64, true), (64, false)] {
        let allowed =
            (width == 64 || !long) && if signed { !unsigned } else { unsigned || !decimal || width == 64 };
        if allowed && fits(width, signed) {
            return Integer::new(bits, width, signed);
        }
    }
    Integer::new(bits, 64, false)
}
