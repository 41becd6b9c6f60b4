//! Prints expressions; parsing the text yields the same expression.

use super::{Kind, Node, TypeName, Unary};
use std::fmt;

/// Binds tighter than every binary operator.
const UNARY: u8 = 13;
const POSTFIX: u8 = 14;

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, 0)
    }
}

impl Node {
    fn level(&self) -> u8 {
        match &self.kind {
            Kind::Conditional(..) => 0,
            Kind::Binary(operator, ..) => operator.level(),
            Kind::Unary(..) => UNARY,
            Kind::Cast(ty, _) if ty.is_certain() => UNARY,
            _ => POSTFIX,
        }
    }

    /// Prints with parentheses if the context binds tighter.
    fn print(&self, f: &mut fmt::Formatter<'_>, context_level: u8) -> fmt::Result {
        if self.level() < context_level {
            f.write_str("(")?;
            self.print_bare(f)?;
            f.write_str(")")
        } else {
            self.print_bare(f)
        }
    }

    fn print_bare(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Name(path) => print_name(f, path),
            Kind::Integer { value, unsigned, long, decimal } => {
                if *decimal {
                    write!(f, "{value}")?;
                } else {
                    write!(f, "{value:#x}")?;
                }
                f.write_str(if *unsigned { "u" } else { "" })?;
                f.write_str(if *long { "l" } else { "" })
            }
            Kind::Float(value) => write!(f, "{value:?}"),
            Kind::Character(byte) => write!(f, "'{}'", escaped(&[*byte], '\'')),
            Kind::Text(text) => write!(f, "\"{}\"", escaped(text.as_bytes(), '"')),
            Kind::Register(name) => write!(f, "${name}"),
            // `sizeof (T) a` would be the size of the type.
            Kind::Unary(Unary::SizeOf, operand) if matches!(operand.kind, Kind::Cast(..)) => {
                f.write_str("sizeof(")?;
                operand.print(f, 0)?;
                f.write_str(")")
            }
            Kind::Unary(operator, operand) => {
                f.write_str(operator.token())?;
                // Without the space, `- -a` and `& &a` would be different tokens.
                if matches!(operand.kind, Kind::Unary(..)) && *operator != Unary::SizeOf {
                    f.write_str(" ")?;
                }
                operand.print(f, UNARY)
            }
            Kind::Binary(operator, left, right) => {
                left.print(f, operator.level())?;
                write!(f, " {} ", operator.token())?;
                right.print(f, operator.level() + 1)
            }
            Kind::Conditional(condition, yes, no) => {
                condition.print(f, 1)?;
                f.write_str(" ? ")?;
                yes.print(f, 0)?;
                f.write_str(" : ")?;
                no.print(f, 0)
            }
            Kind::Index(array, index) => {
                array.print(f, POSTFIX)?;
                f.write_str("[")?;
                index.print(f, 0)?;
                f.write_str("]")
            }
            // `10.x` would be another number.
            Kind::Member(whole, name) if matches!(whole.kind, Kind::Integer { .. } | Kind::Float(_)) => {
                f.write_str("(")?;
                whole.print(f, 0)?;
                write!(f, ").{name}")
            }
            Kind::Member(whole, name) => {
                whole.print(f, POSTFIX)?;
                write!(f, ".{name}")
            }
            Kind::Arrow(whole, name) => {
                whole.print(f, POSTFIX)?;
                write!(f, "->{name}")
            }
            Kind::Cast(ty, operand) => {
                if ty.is_certain() {
                    write!(f, "({ty}) ")?;
                    return operand.print(f, UNARY);
                }
                // `(T) -a` could be read as a subtraction; `a as T` cannot.
                f.write_str("(")?;
                operand.print(f, UNARY)?;
                write!(f, " as {ty})")
            }
            Kind::SizeOf(ty) => write!(f, "sizeof({ty})"),
            Kind::Call(name, arguments) => {
                write!(f, "{name}(")?;
                for (i, argument) in arguments.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    argument.print(f, 0)?;
                }
                f.write_str(")")
            }
        }
    }
}

fn print_name(f: &mut fmt::Formatter<'_>, path: &[String]) -> fmt::Result {
    for (i, part) in path.iter().enumerate() {
        f.write_str(if i == 0 { "" } else { "::" })?;
        let plain = part.chars().all(|c| c.is_alphanumeric() || c == '_')
            && !part.starts_with(|c: char| c.is_ascii_digit());
        if plain {
            f.write_str(part)?;
        } else {
            write!(f, "'{}'", escaped(part.as_bytes(), '\''))?;
        }
    }
    Ok(())
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tag) = &self.tag {
            write!(f, "{tag} ")?;
        }
        f.write_str(&self.name)?;
        if self.pointers > 0 {
            f.write_str(" ")?;
        }
        (0..self.pointers).try_for_each(|_| f.write_str("*"))
    }
}

/// Escapes a text for printing between quotes.
pub(crate) fn escaped(bytes: &[u8], quote: char) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                '\0' => out.push_str("\\000"),
                '\\' => out.push_str("\\\\"),
                c if c == quote => {
                    out.push('\\');
                    out.push(c);
                }
                c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\{:03o}", c as u32)),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\{byte:03o}"));
        }
    }
    out
}
