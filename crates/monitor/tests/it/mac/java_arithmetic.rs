//! Reference implementation of Java's arithmetic.

use crate::mac::script::Val;
use invigil_monitor::mac::{Binary, Type, Unary};

/// Applies an operator; `None` for integer division by zero.
pub(crate) fn binary(operator: Binary, a: &Val, b: &Val) -> Option<Val> {
    use Binary::*;
    if let (Val::Text(_), _) | (_, Val::Text(_)) = (a, b) {
        return Some(match operator {
            Equal => Val::Bool(a == b),
            NotEqual => Val::Bool(a != b),
            _ => unreachable!(),
        });
    }
    if let (Val::Bool(a), Val::Bool(b)) = (a, b) {
        return Some(Val::Bool(match operator {
            BitAnd => a & b,
            BitOr => a | b,
            BitXor | NotEqual => a ^ b,
            Equal => a == b,
            _ => unreachable!("the logic is elsewhere"),
        }));
    }
    if let ShiftLeft | ShiftRight | ShiftRightUnsigned = operator {
        let by = whole(b);
        return Some(match a {
            Val::Long(a) => {
                let by = by.rem_euclid(64) as u32;
                Val::Long(match operator {
                    ShiftLeft => a << by,
                    ShiftRight => a >> by,
                    _ => (*a as u64 >> by) as i64,
                })
            }
            other => {
                let (a, by) = (whole(other) as i32, by.rem_euclid(32) as u32);
                Val::Int(match operator {
                    ShiftLeft => a << by,
                    ShiftRight => a >> by,
                    _ => (a as u32 >> by) as i32,
                })
            }
        });
    }
    let is = |ty: fn(&Val) -> bool| ty(a) || ty(b);
    if is(|v| matches!(v, Val::Double(_))) {
        let (a, b) = (double(a), double(b));
        return Some(match operator {
            Add => Val::Double(a + b),
            Subtract => Val::Double(a - b),
            Multiply => Val::Double(a * b),
            Divide => Val::Double(a / b),
            Remainder => Val::Double(a % b),
            _ => Val::Bool(compare(operator, a.partial_cmp(&b))),
        });
    }
    if is(|v| matches!(v, Val::Float(_))) {
        let (a, b) = (float(a), float(b));
        return Some(match operator {
            Add => Val::Float(a + b),
            Subtract => Val::Float(a - b),
            Multiply => Val::Float(a * b),
            Divide => Val::Float(a / b),
            Remainder => Val::Float(a % b),
            _ => Val::Bool(compare(operator, a.partial_cmp(&b))),
        });
    }
    let long = is(|v| matches!(v, Val::Long(_)));
    let (a, b) = (i128::from(whole(a)), i128::from(whole(b)));
    let result = match operator {
        Add => a + b,
        Subtract => a - b,
        Multiply => a * b,
        Divide | Remainder if b == 0 => return None,
        Divide => a / b,
        Remainder => a % b,
        BitAnd => a & b,
        BitOr => a | b,
        BitXor => a ^ b,
        _ => return Some(Val::Bool(compare(operator, Some(a.cmp(&b))))),
    };
    Some(if long { Val::Long(result as i64) } else { Val::Int(result as i32) })
}

fn compare(operator: Binary, order: Option<std::cmp::Ordering>) -> bool {
    match operator {
        Binary::Less => order.is_some_and(|o| o.is_lt()),
        Binary::AtMost => order.is_some_and(|o| o.is_le()),
        Binary::Greater => order.is_some_and(|o| o.is_gt()),
        Binary::AtLeast => order.is_some_and(|o| o.is_ge()),
        Binary::Equal => order.is_some_and(|o| o.is_eq()),
        Binary::NotEqual => !order.is_some_and(|o| o.is_eq()),
        _ => unreachable!(),
    }
}

pub(crate) fn unary(operator: Unary, a: &Val) -> Val {
    match (operator, a) {
        (Unary::Not, Val::Bool(v)) => Val::Bool(!v),
        (Unary::Minus, Val::Double(v)) => Val::Double(-v),
        (Unary::Minus, Val::Float(v)) => Val::Float(-v),
        (Unary::Plus, Val::Double(_) | Val::Float(_) | Val::Long(_)) => a.clone(),
        (Unary::Plus, _) => Val::Int(whole(a) as i32),
        (Unary::Minus, Val::Long(v)) => Val::Long(v.wrapping_neg()),
        (Unary::Minus, _) => Val::Int((whole(a) as i32).wrapping_neg()),
        (Unary::Complement, Val::Long(v)) => Val::Long(-1 - v),
        (Unary::Complement, _) => Val::Int(-1 - whole(a) as i32),
        (Unary::Not, _) => unreachable!(),
    }
}

pub(crate) fn cast(ty: Type, a: &Val) -> Val {
    if let Val::Float(_) | Val::Double(_) = a {
        let number = double(a);
        // Via `int`, except for `long`.
        let int = if number.is_nan() { 0 } else { number.clamp(i32::MIN.into(), i32::MAX.into()) as i64 };
        return match ty {
            Type::Byte => Val::Byte(int as i8),
            Type::Char => Val::Char(int as u16),
            Type::Short => Val::Short(int as i16),
            Type::Int => Val::Int(int as i32),
            Type::Long => Val::Long(number as i64),
            Type::Float => Val::Float(float(a)),
            Type::Double => Val::Double(number),
            _ => unreachable!(),
        };
    }
    if let (Val::Bool(_) | Val::Text(_), _) = (a, ty) {
        return a.clone();
    }
    match ty {
        Type::Byte => Val::Byte(whole(a) as i8),
        Type::Char => Val::Char(whole(a) as u16),
        Type::Short => Val::Short(whole(a) as i16),
        Type::Int => Val::Int(whole(a) as i32),
        Type::Long => Val::Long(whole(a)),
        Type::Float => Val::Float(float(a)),
        Type::Double => Val::Double(double(a)),
        _ => unreachable!(),
    }
}

fn whole(a: &Val) -> i64 {
    match a {
        Val::Byte(v) => (*v).into(),
        Val::Char(v) => (*v).into(),
        Val::Short(v) => (*v).into(),
        Val::Int(v) => (*v).into(),
        Val::Long(v) => *v,
        _ => unreachable!(),
    }
}

fn double(a: &Val) -> f64 {
    match a {
        Val::Double(v) => *v,
        Val::Float(v) => (*v).into(),
        other => whole(other) as f64,
    }
}

fn float(a: &Val) -> f32 {
    match a {
        Val::Double(v) => *v as f32,
        Val::Float(v) => *v,
        other => whole(other) as f32,
    }
}

/// As text; the generator produces no numbers that are written with an exponent.
pub(crate) fn show(a: &Val) -> String {
    match a {
        Val::Bool(v) => v.to_string(),
        Val::Char(v) => char::from_u32((*v).into()).unwrap_or(char::REPLACEMENT_CHARACTER).to_string(),
        Val::Float(v) => format!("{v:?}"),
        Val::Double(v) => format!("{v:?}"),
        Val::Text(v) => v.clone(),
        other => whole(other).to_string(),
    }
}
