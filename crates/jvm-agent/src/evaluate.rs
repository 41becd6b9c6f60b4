//! Evaluation of expressions, which reads the program's memory without running any of its code.

use crate::expression::{Expression, Literal, Operator};
use crate::names;
use crate::vm::{Jni, Primitive, Receiver, Ref, Ti, c_string};

/// Resolves the names in an expression.
pub(crate) trait Scope {
    /// A variable, a parameter, or another value of this name.
    fn variable(&self, name: &str) -> Option<Result<Primitive, String>>;

    /// `this`.
    fn this(&self) -> Option<Ref>;

    /// The class whose code is inspected.
    fn class(&self) -> Option<Ref>;

    /// Why variables cannot be read, if that is so.
    fn obstacle(&self) -> Option<String> {
        None
    }
}

/// A scope without names.
pub(crate) struct EmptyScope;

impl Scope for EmptyScope {
    fn variable(&self, _: &str) -> Option<Result<Primitive, String>> {
        None
    }

    fn this(&self) -> Option<Ref> {
        None
    }

    fn class(&self) -> Option<Ref> {
        None
    }
}

/// A location that can be assigned to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    Field { of: Receiver, field: crate::vm::Field },
    Element { of: Ref, at: usize },
}

/// A value, its type as class files write it, and its location.
#[derive(Clone, Debug)]
pub(crate) struct TypedValue {
    pub(crate) value: Primitive,
    pub(crate) signature: String,
    pub(crate) slot: Option<Slot>,
}

impl TypedValue {
    fn plain(value: Primitive, signature: &str) -> TypedValue {
        TypedValue { value, signature: signature.to_owned(), slot: None }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Evaluator<'a> {
    pub(crate) ti: Ti,
    pub(crate) jni: Jni,
    pub(crate) scope: &'a dyn Scope,
}

/// Maximum number of ancestors of a class that are searched.
const ANCESTORS: usize = 256;

impl Evaluator<'_> {
    /// The value of an expression. Its depth is bounded by its parser.
    pub(crate) fn evaluate(&self, expression: &Expression) -> Result<TypedValue, String> {
        match expression {
            Expression::Literal(literal) => self.literal(literal),
            Expression::Name(name) => self.named(name).unwrap_or_else(|| {
                let reason =
                    self.scope.obstacle().unwrap_or("no variable, no parameter, no field".to_owned());
                Err(format!("there is no `{name}` here: {reason}"))
            }),
            Expression::Member(of, name) => self.member(of, name),
            Expression::Index(of, index) => {
                let (array, index) = (self.evaluate(of)?, self.evaluate(index)?);
                self.element(&array, &index)
            }
            Expression::Unary(sign, of) => unary(*sign, &self.evaluate(of)?),
            Expression::Binary(operator, one, other) => self.binary(*operator, one, other),
        }
    }

    fn literal(&self, literal: &Literal) -> Result<TypedValue, String> {
        Ok(match literal {
            Literal::Null => TypedValue::plain(Primitive::Object(None), "Ljava/lang/Object;"),
            Literal::Bool(value) => TypedValue::plain(Primitive::Bool(*value), "Z"),
            Literal::Int(value) => match i32::try_from(*value) {
                Ok(value) => TypedValue::plain(Primitive::Int(value), "I"),
                Err(_) => TypedValue::plain(Primitive::Long(*value), "J"),
            },
            Literal::Long(value) => TypedValue::plain(Primitive::Long(*value), "J"),
            Literal::Float(value) => TypedValue::plain(Primitive::Double(*value), "D"),
            Literal::Char(value) => TypedValue::plain(Primitive::Char(*value), "C"),
            Literal::Text(text) => {
                let string = self.jni.string(text).ok_or("there is no memory left for a string")?;
                TypedValue::plain(Primitive::Object(Some(string)), "Ljava/lang/String;")
            }
        })
    }

    /// A variable, a field of `this`, or a static field of the class.
    fn named(&self, name: &str) -> Option<Result<TypedValue, String>> {
        if name == "this" {
            let this = self.scope.this()?;
            return Some(Ok(self.object(Some(this))));
        }
        if let Some(value) = self.scope.variable(name) {
            return Some(value.map(|value| self.typed(value)));
        }
        let this = self.scope.this();
        let class = match this {
            Some(this) => Some(self.jni.class_of(this)),
            None => self.scope.class(),
        };
        let found = self.field(this, class?, name).or_else(|| self.field(None, self.scope.class()?, name));
        found.map(Ok)
    }

    fn object(&self, object: Option<Ref>) -> TypedValue {
        self.typed(Primitive::Object(object))
    }

    /// A value with the type that it has itself.
    fn typed(&self, value: Primitive) -> TypedValue {
        let signature = match value {
            Primitive::Object(Some(object)) => self
                .ti
                .signature(self.jni.class_of(object))
                .unwrap_or_else(|_| "Ljava/lang/Object;".to_owned()),
            Primitive::Object(None) => "Ljava/lang/Object;".to_owned(),
            Primitive::Bool(_) => "Z".to_owned(),
            Primitive::Byte(_) => "B".to_owned(),
            Primitive::Char(_) => "C".to_owned(),
            Primitive::Short(_) => "S".to_owned(),
            Primitive::Int(_) => "I".to_owned(),
            Primitive::Long(_) => "J".to_owned(),
            Primitive::Float(_) => "F".to_owned(),
            Primitive::Double(_) => "D".to_owned(),
        };
        TypedValue { value, signature, slot: None }
    }

    /// The field of that name in a class or one that it extends or implements. Without an object, only static fields.
    pub(crate) fn field(&self, of: Option<Ref>, class: Ref, name: &str) -> Option<TypedValue> {
        let mut pending = vec![class];
        for _ in 0..ANCESTORS {
            let class = pending.pop()?;
            for field in self.ti.fields(class).unwrap_or_default() {
                let Ok((known, signature, is_static)) = self.ti.field(class, field) else { continue };
                if known != name {
                    continue;
                }
                let of = match (is_static, of) {
                    (true, _) => Receiver::Static(class),
                    (false, Some(object)) => Receiver::Of(object),
                    (false, None) => continue,
                };
                let value = self.jni.get(of, field, &signature);
                return Some(TypedValue { value, signature, slot: Some(Slot::Field { of, field }) });
            }
            // Constants of interfaces come after what is inherited from classes.
            pending.splice(0..0, self.ti.interfaces(class).unwrap_or_default());
            pending.extend(self.jni.superclass(class));
        }
        None
    }

    fn member(&self, of: &Expression, name: &str) -> Result<TypedValue, String> {
        let found = match of {
            // `a.b.C.field`: a class, unless its first word is a name in scope.
            Expression::Name(_) | Expression::Member(..) if !self.is_rooted_in_scope(of) => {
                let path = of.path().unwrap_or_default();
                let class = self.class_named(&path).ok_or_else(|| {
                    format!("there is no `{path}` here: no variable, no field, no class that is loaded")
                })?;
                return self
                    .field(None, class, name)
                    .ok_or_else(|| format!("the class `{path}` has no static field `{name}`"));
            }
            _ => self.evaluate(of)?,
        };
        let Primitive::Object(object) = found.value else {
            return Err(format!("a value of type `{}` has no fields", names::type_name(&found.signature)));
        };
        let Some(object) = object else {
            return Err(match of.path() {
                Some(path) => format!("`{path}` is null"),
                None => "the expression before the dot is null".to_owned(),
            });
        };
        let class = self.jni.class_of(object);
        let signature = self.ti.signature(class).unwrap_or_default();
        if signature.starts_with('[') && name == "length" {
            return Ok(TypedValue::plain(Primitive::Int(self.jni.length(object) as i32), "I"));
        }
        self.field(Some(object), class, name).ok_or_else(|| self.no_field(class, &signature, name))
    }

    fn no_field(&self, class: Ref, signature: &str, name: &str) -> String {
        let fields = self.ti.fields(class).unwrap_or_default();
        let known = fields.into_iter().filter_map(|field| Some(self.ti.field(class, field).ok()?.0));
        let known: Vec<String> = known.collect();
        let near = invigil_expr::diag::nearest(name, known.iter().map(String::as_str));
        let help = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        format!("the class `{}` has no field `{name}`{help}", names::type_name(signature))
    }

    /// Whether a path starts with a variable or field that is in scope, rather than with a class name.
    fn is_rooted_in_scope(&self, path: &Expression) -> bool {
        let mut at = path;
        loop {
            match at {
                Expression::Member(of, _) => at = of,
                Expression::Name(name) => return self.named(name).is_some(),
                _ => return true,
            }
        }
    }

    fn class_named(&self, name: &str) -> Option<Ref> {
        let mut found = None;
        for class in self.ti.loaded_classes().ok()? {
            let signature = self.ti.signature(class).unwrap_or_default();
            let Some(known) = signature.strip_prefix('L').and_then(|rest| rest.strip_suffix(';')) else {
                continue;
            };
            if names::dotted(known) == name {
                return Some(class);
            }
            if names::matches_name(name, known) || known.strip_prefix("java/lang/") == Some(name) {
                found = Some(class);
            }
        }
        found
    }

    fn element(&self, array: &TypedValue, index: &TypedValue) -> Result<TypedValue, String> {
        let Primitive::Object(Some(object)) = array.value else {
            return Err("the expression before the bracket is null or not an array".to_owned());
        };
        let signature = self.ti.signature(self.jni.class_of(object)).unwrap_or_default();
        let Some(element) = signature.strip_prefix('[') else {
            let type_name = names::type_name(&signature);
            return Err(format!(
                "`{type_name}` is not an array; the elements of a collection are in its fields"
            ));
        };
        let Some(at) = whole(index.value) else {
            return Err("an index must be a whole number".to_owned());
        };
        let length = self.jni.length(object);
        let Some(at) = usize::try_from(at).ok().filter(|at| *at < length) else {
            return Err(format!("there is no element {at}: the array has {length}"));
        };
        let value = self.jni.element(object, at, element);
        Ok(TypedValue { value, signature: element.to_owned(), slot: Some(Slot::Element { of: object, at }) })
    }

    fn binary(&self, operator: Operator, one: &Expression, other: &Expression) -> Result<TypedValue, String> {
        let left = self.evaluate(one)?;
        let left = TypedValue { value: self.unboxed(left.value), ..left };
        if matches!(operator, Operator::And | Operator::Or) {
            let Primitive::Bool(first) = left.value else {
                return Err("the operands of `&&` and `||` must be conditions".into());
            };
            if first == (operator == Operator::Or) {
                return Ok(TypedValue::plain(Primitive::Bool(first), "Z"));
            }
            let Primitive::Bool(second) = self.unboxed(self.evaluate(other)?.value) else {
                return Err("the operands of `&&` and `||` must be conditions".into());
            };
            return Ok(TypedValue::plain(Primitive::Bool(second), "Z"));
        }
        let right = self.evaluate(other)?;
        let right = TypedValue { value: self.unboxed(right.value), ..right };
        if let Some(equal) = self.equal(left.value, right.value)
            && matches!(operator, Operator::Equal | Operator::Unequal)
        {
            return Ok(TypedValue::plain(Primitive::Bool(equal == (operator == Operator::Equal)), "Z"));
        }
        arithmetic(operator, left.value, right.value)
    }

    /// Whether two values that are not numbers are equal. Strings are compared by their text, which is what users mean.
    fn equal(&self, one: Primitive, other: Primitive) -> Option<bool> {
        match (one, other) {
            (Primitive::Bool(one), Primitive::Bool(other)) => Some(one == other),
            (Primitive::Object(None), Primitive::Object(None)) => Some(true),
            (Primitive::Object(Some(one)), Primitive::Object(Some(other))) => {
                let same = self.jni.is_same(one, other);
                let texts = || Some(self.text_of(one)? == self.text_of(other)?);
                Some(same || texts().unwrap_or(false))
            }
            (Primitive::Object(_), Primitive::Object(_)) => Some(false),
            _ => None,
        }
    }

    /// The text of a string; nothing for other objects.
    fn text_of(&self, object: Ref) -> Option<String> {
        let signature = self.ti.signature(self.jni.class_of(object)).ok()?;
        (signature == "Ljava/lang/String;").then(|| self.jni.text(object, 1 << 20).0)
    }

    /// The value of an `Integer` or another boxed primitive; other values are unchanged.
    pub(crate) fn unboxed(&self, value: Primitive) -> Primitive {
        let Primitive::Object(Some(object)) = value else { return value };
        let class = self.jni.class_of(object);
        let kind = match self.ti.signature(class).as_deref() {
            Ok("Ljava/lang/Integer;") => "I",
            Ok("Ljava/lang/Long;") => "J",
            Ok("Ljava/lang/Short;") => "S",
            Ok("Ljava/lang/Byte;") => "B",
            Ok("Ljava/lang/Character;") => "C",
            Ok("Ljava/lang/Boolean;") => "Z",
            Ok("Ljava/lang/Float;") => "F",
            Ok("Ljava/lang/Double;") => "D",
            _ => return value,
        };
        match self.jni.field(class, c"value", &c_string(kind)) {
            Some(field) => self.jni.get(Receiver::Of(object), field, kind),
            None => value,
        }
    }
}

/// A whole number, if the value is one.
pub(crate) fn whole(value: Primitive) -> Option<i64> {
    Some(match value {
        Primitive::Byte(value) => value.into(),
        Primitive::Char(value) => value.into(),
        Primitive::Short(value) => value.into(),
        Primitive::Int(value) => value.into(),
        Primitive::Long(value) => value,
        _ => return None,
    })
}

/// A number, if the value is one.
pub(crate) fn number(value: Primitive) -> Option<f64> {
    match value {
        Primitive::Float(value) => Some(value.into()),
        Primitive::Double(value) => Some(value),
        value => whole(value).map(|value| value as f64),
    }
}

fn unary(sign: char, of: &TypedValue) -> Result<TypedValue, String> {
    match (sign, of.value) {
        ('!', Primitive::Bool(value)) => Ok(TypedValue::plain(Primitive::Bool(!value), "Z")),
        ('-', value) => arithmetic(Operator::Subtract, Primitive::Int(0), value),
        _ => Err(format!(
            "`{sign}` cannot be applied to a value of type `{}`",
            names::type_name(&of.signature)
        )),
    }
}

/// Arithmetic as in Java: `int` and `long` wrap. If an operand is a `float` or `double`, the result is a `double`.
fn arithmetic(operator: Operator, one: Primitive, other: Primitive) -> Result<TypedValue, String> {
    let truth = |value| Ok(TypedValue::plain(Primitive::Bool(value), "Z"));
    if let (Some(a), Some(b)) = (whole(one), whole(other)) {
        let is_long = matches!(one, Primitive::Long(_)) || matches!(other, Primitive::Long(_));
        let result = match operator {
            Operator::Equal => return truth(a == b),
            Operator::Unequal => return truth(a != b),
            Operator::Less => return truth(a < b),
            Operator::AtMost => return truth(a <= b),
            Operator::Greater => return truth(a > b),
            Operator::AtLeast => return truth(a >= b),
            Operator::Divide | Operator::Remainder if b == 0 => return Err("division by zero".to_owned()),
            Operator::Add => a.wrapping_add(b),
            Operator::Subtract => a.wrapping_sub(b),
            Operator::Multiply => a.wrapping_mul(b),
            Operator::Divide => a.wrapping_div(b),
            Operator::Remainder => a.wrapping_rem(b),
            Operator::BitAnd => a & b,
            Operator::BitOr => a | b,
            Operator::And | Operator::Or => {
                return Err("the operands of `&&` and `||` must be conditions".to_owned());
            }
        };
        return Ok(match is_long {
            true => TypedValue::plain(Primitive::Long(result), "J"),
            false => TypedValue::plain(Primitive::Int(result as i32), "I"),
        });
    }
    if let (Some(a), Some(b)) = (number(one), number(other)) {
        return Ok(TypedValue::plain(
            Primitive::Double(match operator {
                Operator::Equal => return truth(a == b),
                Operator::Unequal => return truth(a != b),
                Operator::Less => return truth(a < b),
                Operator::AtMost => return truth(a <= b),
                Operator::Greater => return truth(a > b),
                Operator::AtLeast => return truth(a >= b),
                Operator::Add => a + b,
                Operator::Subtract => a - b,
                Operator::Multiply => a * b,
                Operator::Divide => a / b,
                Operator::Remainder => a % b,
                _ => {
                    return Err("the operands of `&` and `|` must be whole numbers".to_owned());
                }
            }),
            "D",
        ));
    }
    Err("this operator cannot be applied to these values".to_owned())
}
