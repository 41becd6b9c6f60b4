//! Descriptors: the types of fields and methods as class files write them.

/// How a value of a type occupies slots and is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Int,
    Float,
    Long,
    Double,
    Reference,
}

impl Shape {
    /// The shape of a type, by its descriptor.
    pub(crate) fn of(descriptor: &str) -> Option<Shape> {
        Some(match descriptor.as_bytes().first()? {
            b'Z' | b'B' | b'C' | b'S' | b'I' => Shape::Int,
            b'F' => Shape::Float,
            b'J' => Shape::Long,
            b'D' => Shape::Double,
            b'L' | b'[' => Shape::Reference,
            _ => return None,
        })
    }

    /// The number of slots of a value.
    pub(crate) fn slots(self) -> u16 {
        if matches!(self, Shape::Long | Shape::Double) { 2 } else { 1 }
    }

    /// Index among the five variants of loads, stores and returns.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Shape::Int => 0,
            Shape::Long => 1,
            Shape::Float => 2,
            Shape::Double => 3,
            Shape::Reference => 4,
        }
    }
}

/// Splits off the type at the start of a descriptor.
fn first(descriptor: &str) -> Option<(&str, &str)> {
    let bytes = descriptor.as_bytes();
    let dimensions = bytes.iter().take_while(|&&b| b == b'[').count();
    let length = match bytes.get(dimensions)? {
        b'L' => dimensions + 1 + bytes[dimensions..].iter().position(|&b| b == b';')?,
        b'Z' | b'B' | b'C' | b'S' | b'I' | b'F' | b'J' | b'D' => dimensions + 1,
        _ => return None,
    };
    (dimensions < 256).then(|| descriptor.split_at(length))
}

/// The parameters of a method, and its result unless it is `void`. `None` if the text is not a method descriptor.
pub(crate) fn method(descriptor: &str) -> Option<(Vec<&str>, Option<&str>)> {
    let mut rest = descriptor.strip_prefix('(')?;
    let mut parameters = Vec::new();
    loop {
        if let Some(result) = rest.strip_prefix(')') {
            let result = if result == "V" { None } else { Some(first(result).filter(|r| r.1.is_empty())?.0) };
            return Some((parameters, result));
        }
        let (parameter, after) = first(rest)?;
        parameters.push(parameter);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_methods() {
        assert_eq!(method("()V"), Some((vec![], None)));
        assert_eq!(method("(I[[JLa/B;D)[La/B;"), Some((vec!["I", "[[J", "La/B;", "D"], Some("[La/B;"))));
        for wrong in ["", "(", "()", "(V)V", "()VV", "(L)V", "()La", "([)V", "I", "()II"] {
            assert_eq!(method(wrong), None, "{wrong}");
        }
    }
}
