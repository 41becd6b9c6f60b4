//! Expressions over a Java program's values: paths, indexes, literals, arithmetic and comparisons.
//!
//! Methods cannot be called, because that would run the program.

use std::fmt;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A literal.
    Literal(Literal),
    /// A parameter, a variable, `this`, a field of `this`, or the first word of a class name.
    Name(String),
    /// `a.b`.
    Member(Box<Expression>, String),
    /// `a[i]`.
    Index(Box<Expression>, Box<Expression>),
    /// `-a`, `!a`.
    Unary(char, Box<Expression>),
    /// `a + b` and the like.
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// `3`.
    Int(i64),
    /// `3L`.
    Long(i64),
    /// `3.5`.
    Float(f64),
    /// `'a'`.
    Char(u16),
    /// `"abc"`.
    Text(String),
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `||`.
    Or,
    /// `&&`.
    And,
    /// `==`.
    Equal,
    /// `!=`.
    Unequal,
    /// `<`.
    Less,
    /// `<=`.
    AtMost,
    /// `>`.
    Greater,
    /// `>=`.
    AtLeast,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
    /// `&`.
    BitAnd,
    /// `|`.
    BitOr,
}

/// How each operator is written, and how tightly it binds. Longer ones come first.
const OPERATORS: [(&str, Operator, u8); 15] = [
    ("||", Operator::Or, 1),
    ("&&", Operator::And, 2),
    ("==", Operator::Equal, 5),
    ("!=", Operator::Unequal, 5),
    ("<=", Operator::AtMost, 6),
    (">=", Operator::AtLeast, 6),
    ("|", Operator::BitOr, 3),
    ("&", Operator::BitAnd, 4),
    ("<", Operator::Less, 6),
    (">", Operator::Greater, 6),
    ("+", Operator::Add, 7),
    ("-", Operator::Subtract, 7),
    ("*", Operator::Multiply, 8),
    ("/", Operator::Divide, 8),
    ("%", Operator::Remainder, 8),
];

/// Maximum nesting depth.
const MAX_DEPTH: usize = 64;
/// Maximum number of operators in an expression.
const MAX_OPERATORS: usize = 500;

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// A message, if it is not a valid expression.
    ///
    /// ```
    /// use invigil_jvm_agent::expression::Expression;
    /// let expression = Expression::parse("this.items[head + 1].name == null").unwrap();
    /// assert_eq!(expression.names(), ["this", "head"]);
    /// assert!(Expression::parse("items.size()").unwrap_err().contains("methods"));
    /// ```
    pub fn parse(text: &str) -> Result<Expression, String> {
        let mut parser = Parser { text, at: 0, depth: 0, operators: 0 };
        let expression = parser.binary(0)?;
        parser.skip_blanks();
        match parser.rest().chars().next() {
            None => Ok(expression),
            Some(_) => Err(format!("invalid expression `{}`: unexpected `{}`", text.trim(), parser.rest())),
        }
    }

    /// The names that its paths start with, in order, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut found = Vec::new();
        let mut pending = vec![self];
        while let Some(expression) = pending.pop() {
            match expression {
                Expression::Literal(_) => {}
                Expression::Name(name) => {
                    if !found.contains(&name.as_str()) {
                        found.push(name);
                    }
                }
                Expression::Member(of, _) | Expression::Unary(_, of) => pending.push(of),
                Expression::Index(of, index) => pending.extend([&**index, of]),
                Expression::Binary(_, one, other) => pending.extend([&**other, one]),
            }
        }
        found
    }

    /// `a.b.c` as text, if the expression is such a path.
    pub fn path(&self) -> Option<String> {
        let mut words = Vec::new();
        let mut at = self;
        loop {
            match at {
                Expression::Name(name) => {
                    words.push(name.as_str());
                    words.reverse();
                    return Some(words.join("."));
                }
                Expression::Member(of, name) => {
                    words.push(name);
                    at = of;
                }
                _ => return None,
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    operators: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, mark: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(mark);
        self.at += if found { mark.len() } else { 0 };
        found
    }

    fn wrong<T>(&self, message: impl fmt::Display) -> Result<T, String> {
        Err(format!("invalid expression `{}`: {message}", self.text.trim()))
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.wrong("it is nested too deeply") } else { Ok(()) }
    }

    fn binary(&mut self, least: u8) -> Result<Expression, String> {
        self.deeper()?;
        let mut left = self.unary()?;
        loop {
            self.skip_blanks();
            let found = OPERATORS.iter().find(|(mark, _, _)| self.rest().starts_with(mark));
            let Some((mark, operator, binds)) = found.filter(|(_, _, binds)| *binds > least) else { break };
            self.at += mark.len();
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return self.wrong("it is too long");
            }
            let right = self.binary(*binds)?;
            left = Expression::Binary(*operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, String> {
        for mark in ["-", "!"] {
            let is_other = mark == "!" && self.rest().trim_start().starts_with("!=");
            if !is_other && self.eat(mark) {
                self.deeper()?;
                let of = self.unary()?;
                self.depth -= 1;
                return Ok(match (mark, of) {
                    ("-", Expression::Literal(Literal::Int(i))) => {
                        Expression::Literal(Literal::Int(i.wrapping_neg()))
                    }
                    (mark, of) => Expression::Unary(if mark == "-" { '-' } else { '!' }, Box::new(of)),
                });
            }
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Expression, String> {
        let mut value = self.primary()?;
        // The bound limits the depth of the result, which is the length of the path.
        for _ in 0..MAX_DEPTH {
            if self.eat(".") {
                self.skip_blanks();
                let name = self.word();
                if name.is_empty() {
                    return self.wrong("a name is missing after a dot");
                }
                value = Expression::Member(Box::new(value), name.to_owned());
            } else if self.eat("[") {
                let index = self.binary(0)?;
                if !self.eat("]") {
                    return self.wrong("`]` is missing");
                }
                value = Expression::Index(Box::new(value), Box::new(index));
            } else if self.eat("(") {
                return self.wrong(
                    "methods are not called, because that would run the program; name a field instead",
                );
            } else {
                return Ok(value);
            }
        }
        self.wrong("the path is too long")
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn primary(&mut self) -> Result<Expression, String> {
        if self.eat("(") {
            let inside = self.binary(0)?;
            return if self.eat(")") { Ok(inside) } else { self.wrong("`)` is missing") };
        }
        self.skip_blanks();
        match self.rest().chars().next() {
            None => self.wrong("it is incomplete"),
            Some('"') => self.quoted('"').map(|text| Expression::Literal(Literal::Text(text))),
            Some('\'') => {
                let text = self.quoted('\'')?;
                let mut units = text.encode_utf16();
                match (units.next(), units.next()) {
                    (Some(unit), None) => Ok(Expression::Literal(Literal::Char(unit))),
                    _ => self.wrong("single quotes enclose one character; use double quotes for text"),
                }
            }
            Some(digit) if digit.is_ascii_digit() => self.number().map(Expression::Literal),
            Some(letter) if letter.is_alphabetic() || letter == '_' || letter == '$' => {
                Ok(match self.word() {
                    "null" => Expression::Literal(Literal::Null),
                    "true" => Expression::Literal(Literal::Bool(true)),
                    "false" => Expression::Literal(Literal::Bool(false)),
                    name => Expression::Name(name.to_owned()),
                })
            }
            Some(other) => self.wrong(format_args!("a value cannot start with `{other}`")),
        }
    }

    fn number(&mut self) -> Result<Literal, String> {
        let rest = self.rest();
        let hex = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"));
        if let Some(digits) = hex {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            self.at += 2 + end;
            let number = u64::from_str_radix(&digits[..end], 16);
            let Ok(number) = number else { return self.wrong("a number is too large") };
            // As in Java, digits of 32 bits are an `int`, whose sign they hold.
            let is_long = self.eat("L") || self.eat("l") || number > u64::from(u32::MAX);
            return Ok(if is_long {
                Literal::Long(number as i64)
            } else {
                Literal::Int((number as u32 as i32).into())
            });
        }
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(rest.len());
        let exponent = rest[end..].strip_prefix(['e', 'E']).map(|tail| {
            let sign = usize::from(tail.starts_with(['+', '-']));
            1 + sign + tail[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len() - sign)
        });
        let end = end + exponent.unwrap_or(0);
        let digits = rest[..end].replace('_', "");
        self.at += end;
        if digits.contains(['.', 'e', 'E']) || self.rest().starts_with(['f', 'F', 'd', 'D']) {
            self.at += usize::from(self.rest().starts_with(['f', 'F', 'd', 'D']));
            return match digits.parse() {
                Ok(number) => Ok(Literal::Float(number)),
                Err(_) => self.wrong(format_args!("`{digits}` is not a number")),
            };
        }
        let Ok(number) = digits.parse() else {
            return self.wrong(format_args!("`{digits}` is not a number"));
        };
        Ok(if self.eat("L") || self.eat("l") { Literal::Long(number) } else { Literal::Int(number) })
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, '0')) => text.push('\0'),
                    Some((_, other)) => text.push(other),
                    None => break,
                },
                c if c == quote => {
                    self.at += at + c.len_utf8();
                    return Ok(text);
                }
                c => text.push(c),
            }
        }
        self.wrong("a quote is not closed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        format!("{:?}", Expression::parse(text))
    }

    #[test]
    fn operators_bind_as_in_java() {
        assert_eq!(shown("1 + 2 * 3 == 7 && !a || b"), shown("(((1 + (2 * 3)) == 7) && (!a)) || b"));
        assert_eq!(shown("a - b - c"), shown("(a - b) - c"));
        assert_eq!(shown("-1"), format!("{:?}", Ok::<_, String>(Expression::Literal(Literal::Int(-1)))));
        assert_eq!(Expression::parse("a.b.c").unwrap().path().as_deref(), Some("a.b.c"));
        assert_eq!(Expression::parse("a.b[0]").unwrap().path(), None);
    }

    #[test]
    fn literals_have_java_types() {
        let literal = |text: &str| match Expression::parse(text) {
            Ok(Expression::Literal(literal)) => literal,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(literal("0xffffffff"), Literal::Int(-1));
        assert_eq!(literal("1_000L"), Literal::Long(1000));
        assert_eq!(literal("2.5e-3"), Literal::Float(0.0025));
        assert_eq!(literal("3f"), Literal::Float(3.0));
        assert_eq!(literal(r#""a\"b\n""#), Literal::Text("a\"b\n".into()));
        assert_eq!(literal("'x'"), Literal::Char(120));
    }

    #[test]
    fn invalid_expressions_are_explained() {
        for text in [
            "",
            "a.",
            "a[",
            "a[1",
            "f(1)",
            "1 +",
            "'ab'",
            "\"abc",
            "a b",
            "#",
            "9999999999999999999",
            "1.2.3",
        ] {
            assert!(Expression::parse(text).unwrap_err().contains("invalid expression"), "{text}");
        }
        assert!(Expression::parse(&"(".repeat(100_000)).is_err());
        assert!(Expression::parse(&"-".repeat(100_000)).is_err());
        assert!(Expression::parse(&format!("a{}", ".b".repeat(100_000))).is_err());
        assert!(Expression::parse(&format!("a{}", "+1".repeat(100_000))).is_err());
        assert!(Expression::parse(&format!("a{}", "+1".repeat(50))).is_ok());
    }
}
