//! Recursive-descent parser for expressions.

use super::lexer::{Token, tokenize};
use super::{Binary, Expression, Kind, MAX_DEPTH, Node, TypeName, Unary};
use crate::value::error::ExpressionError;

pub(super) fn expression(text: &str) -> Result<Expression, ExpressionError> {
    let mut parser = Parser::new(text)?;
    let root = parser.conditional()?;
    parser.expect_end()?;
    Ok(Expression { root })
}

pub(super) fn assignment(text: &str) -> Result<(Expression, Option<Expression>), ExpressionError> {
    let mut parser = Parser::new(text)?;
    let location = Expression { root: parser.conditional()? };
    let value = match parser.accept("=") {
        true => Some(Expression { root: parser.conditional()? }),
        false => None,
    };
    parser.expect_end()?;
    Ok((location, value))
}

/// Words that can only start a type.
const TYPE_WORDS: [&str; 25] = [
    "void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool", "bool",
    "__int128", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
    "const",
];
const TAGS: [&str; 4] = ["struct", "union", "enum", "class"];

impl TypeName {
    /// Whether the text can only denote a type.
    pub(super) fn is_certain(&self) -> bool {
        let first = self.name.split(' ').next().unwrap_or("");
        self.pointers > 0 || self.tag.is_some() || TYPE_WORDS.contains(&first) || first.ends_with("_t")
    }
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    depth: u16,
}

impl Parser {
    fn new(text: &str) -> Result<Self, ExpressionError> {
        Ok(Self { tokens: tokenize(text)?, next: 0, depth: 0 })
    }

    fn peek(&self) -> &Token {
        self.ahead(0)
    }

    fn ahead(&self, by: usize) -> &Token {
        self.tokens.get(self.next + by).map_or(&Token::End, |(token, _)| token)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).or(self.tokens.last()).map_or(0, |&(_, at)| at)
    }

    fn is(&self, punctuation: &str) -> bool {
        matches!(self.peek(), Token::Punctuation(text) if *text == punctuation)
    }

    fn accept(&mut self, punctuation: &str) -> bool {
        let is = self.is(punctuation);
        self.next += usize::from(is);
        is
    }

    fn expect(&mut self, punctuation: &str) -> Result<(), ExpressionError> {
        match self.accept(punctuation) {
            true => Ok(()),
            false => Err(ExpressionError::new(self.at(), format!("expected `{punctuation}`"))),
        }
    }

    fn expect_end(&self) -> Result<(), ExpressionError> {
        match self.peek() {
            Token::End => Ok(()),
            Token::Punctuation("=") => {
                Err(ExpressionError::new(self.at(), "an assignment has no value").remedy("compare with `==`"))
            }
            _ => Err(ExpressionError::new(self.at(), "expected the end of the expression")),
        }
    }

    /// Creates an inner node, unless the tree would be too deep.
    fn node(&self, at: usize, kind: Kind) -> Result<Node, ExpressionError> {
        let below = match &kind {
            Kind::Unary(_, a) | Kind::Member(a, _) | Kind::Arrow(a, _) | Kind::Cast(_, a) => a.depth,
            Kind::Binary(_, a, b) | Kind::Index(a, b) => a.depth.max(b.depth),
            Kind::Conditional(a, b, c) => a.depth.max(b.depth).max(c.depth),
            Kind::Call(_, all) => all.iter().map(|a| a.depth).max().unwrap_or(0),
            _ => 0,
        };
        if below >= MAX_DEPTH {
            return Err(too_deep(at));
        }
        Ok(Node { kind, at: u32::try_from(at).unwrap_or(u32::MAX), depth: below + 1 })
    }

    /// Parses one level deeper, unless the maximum depth is reached.
    fn deeper<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, ExpressionError>,
    ) -> Result<T, ExpressionError> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep(self.at()));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn conditional(&mut self) -> Result<Node, ExpressionError> {
        self.deeper(|parser| {
            let condition = parser.binary(1)?;
            if !parser.is("?") {
                return Ok(condition);
            }
            let at = parser.at();
            parser.next += 1;
            let yes = parser.conditional()?;
            parser.expect(":")?;
            let no = parser.conditional()?;
            parser.node(at, Kind::Conditional(Box::new(condition), Box::new(yes), Box::new(no)))
        })
    }

    fn binary(&mut self, lowest: u8) -> Result<Node, ExpressionError> {
        let mut left = self.cast_with_as()?;
        while let Token::Punctuation(punctuation) = *self.peek() {
            let Some(operator) = operator(punctuation) else { break };
            if operator.level() < lowest {
                break;
            }
            let at = self.at();
            self.next += 1;
            let right = self.deeper(|parser| parser.binary(operator.level() + 1))?;
            left = self.node(at, Kind::Binary(operator, Box::new(left), Box::new(right)))?;
        }
        Ok(left)
    }

    /// `a as type`
    fn cast_with_as(&mut self) -> Result<Node, ExpressionError> {
        let mut node = self.unary()?;
        while matches!(self.peek(), Token::Name(name) if name == "as") {
            let at = self.at();
            self.next += 1;
            let ty = match self.type_name(false) {
                Some(ty) => ty,
                None => return Err(ExpressionError::new(self.at(), "expected a type after `as`")),
            };
            node = self.node(at, Kind::Cast(ty, Box::new(node)))?;
        }
        Ok(node)
    }

    fn unary(&mut self) -> Result<Node, ExpressionError> {
        let at = self.at();
        let operator = match self.peek() {
            Token::Punctuation("*") => Unary::Deref,
            Token::Punctuation("&") => Unary::Address,
            Token::Punctuation("-") => Unary::Minus,
            Token::Punctuation("+") => Unary::Plus,
            Token::Punctuation("!") => Unary::Not,
            Token::Punctuation("~") => Unary::Complement,
            Token::Punctuation("^") => Unary::Caller,
            // A leading `&&a` would be the address of an address, which does not exist.
            Token::Punctuation("&&") => {
                return Err(ExpressionError::new(at, "expected an operand before `&&`"));
            }
            Token::Name(name) if name == "sizeof" => return self.size_of(),
            Token::Punctuation("(") => {
                if let Some(ty) = self.cast_type() {
                    let operand = self.deeper(Self::unary)?;
                    return self.node(at, Kind::Cast(ty, Box::new(operand)));
                }
                return self.postfix();
            }
            _ => return self.postfix(),
        };
        self.next += 1;
        let operand = self.deeper(Self::unary)?;
        self.node(at, Kind::Unary(operator, Box::new(operand)))
    }

    fn size_of(&mut self) -> Result<Node, ExpressionError> {
        let at = self.at();
        self.next += 1;
        if self.is("(") {
            let back = self.next;
            self.next += 1;
            if let Some(ty) = self.type_name(true)
                && ty.is_certain()
                && self.accept(")")
            {
                return self.node(at, Kind::SizeOf(ty));
            }
            self.next = back;
        }
        let operand = self.deeper(Self::unary)?;
        self.node(at, Kind::Unary(Unary::SizeOf, Box::new(operand)))
    }

    /// Parses `(type)` if the next tokens are a cast; otherwise consumes nothing.
    fn cast_type(&mut self) -> Option<TypeName> {
        let back = self.next;
        self.next += 1;
        if let Some(ty) = self.type_name(true)
            && self.accept(")")
            && (ty.is_certain() || self.begins_operand())
            && !matches!(self.peek(), Token::End | Token::Punctuation(")" | "]" | "," | "." | "->"))
        {
            return Some(ty);
        }
        self.next = back;
        None
    }

    /// Whether the next token starts an operand and cannot continue `(a)`.
    fn begins_operand(&self) -> bool {
        match self.peek() {
            Token::Name(name) => name != "as",
            Token::Integer { .. }
            | Token::Float(_)
            | Token::Character(_)
            | Token::Text(_)
            | Token::Register(_)
            | Token::Punctuation("!" | "~" | "(") => true,
            _ => false,
        }
    }

    fn word(&mut self) -> Option<String> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.next += 1;
                Some(name)
            }
            _ => None,
        }
    }

    /// Parses a type name; `stars` allows C's `*` after it.
    fn type_name(&mut self, stars: bool) -> Option<TypeName> {
        let mut pointers = 0u8;
        // Rust writes `*const T`.
        while matches!((self.peek(), self.ahead(1)), (Token::Punctuation("*"), Token::Name(word)) if word == "const" || word == "mut")
        {
            self.next += 2;
            pointers = pointers.checked_add(1)?;
        }
        let mut tag = None;
        let mut name = String::new();
        while let Token::Name(word) = self.peek() {
            let word = word.clone();
            if word == "as" || word == "sizeof" {
                break;
            }
            if word == "const" || word == "volatile" {
                self.next += 1;
                continue;
            }
            if TAGS.contains(&word.as_str()) && tag.is_none() && name.is_empty() {
                self.next += 1;
                tag = Some(word);
                continue;
            }
            let builtin = TYPE_WORDS.contains(&word.as_str());
            // Only words of built-in types can follow each other: `unsigned long`.
            let continues = builtin && TYPE_WORDS.contains(&name.split(' ').next().unwrap_or(""));
            if !name.is_empty() && !continues {
                break;
            }
            if !name.is_empty() {
                name.push(' ');
            }
            self.next += 1;
            name.push_str(&word);
            while self.accept("::") {
                name.push_str("::");
                name.push_str(&self.word()?);
            }
        }
        if name.is_empty() {
            return None;
        }
        while stars && self.accept("*") {
            pointers = pointers.checked_add(1)?;
            while matches!(self.peek(), Token::Name(word) if word == "const" || word == "volatile") {
                self.next += 1;
            }
        }
        Some(TypeName { tag, name, pointers })
    }

    fn postfix(&mut self) -> Result<Node, ExpressionError> {
        let mut node = self.primary()?;
        loop {
            let at = self.at();
            if self.accept("[") {
                let index = self.conditional()?;
                self.expect("]")?;
                node = self.node(at, Kind::Index(Box::new(node), Box::new(index)))?;
            } else if self.accept(".") {
                let name = self.member()?;
                node = self.node(at, Kind::Member(Box::new(node), name))?;
                if self.is("::") {
                    node = self.file_qualified_name(node)?;
                }
            } else if self.accept("->") {
                let name = self.member()?;
                node = self.node(at, Kind::Arrow(Box::new(node), name))?;
            } else if self.is("(") {
                node = self.call(node)?;
            } else {
                return Ok(node);
            }
        }
    }

    fn member(&mut self) -> Result<String, ExpressionError> {
        self.word().ok_or_else(|| ExpressionError::new(self.at(), "expected the name of a member"))
    }

    /// `file.c::x` looks like a member access up to the `::`.
    fn file_qualified_name(&mut self, node: Node) -> Result<Node, ExpressionError> {
        let at = node.at();
        if let Kind::Member(whole, extension) = &node.kind
            && let Kind::Name(parts) = &whole.kind
            && let [file] = parts.as_slice()
        {
            let mut path = vec![format!("{file}.{extension}")];
            self.path(&mut path)?;
            return self.node(whole.at(), Kind::Name(path));
        }
        Err(ExpressionError::new(at, "`::` can only follow a name"))
    }

    fn call(&mut self, node: Node) -> Result<Node, ExpressionError> {
        let at = node.at();
        let Kind::Name(path) = &node.kind else {
            return Err(ExpressionError::new(self.at(), "functions of the target cannot be called"));
        };
        let name = path.join("::");
        self.next += 1;
        let mut arguments = Vec::new();
        if !self.accept(")") {
            loop {
                arguments.push(self.conditional()?);
                if !self.accept(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.node(at, Kind::Call(name, arguments))
    }

    /// Parses the segments after the first one of a path.
    fn path(&mut self, path: &mut Vec<String>) -> Result<(), ExpressionError> {
        while self.accept("::") {
            let at = self.at();
            match self.peek().clone() {
                Token::Name(part) | Token::Quoted(part) => path.push(part),
                _ => return Err(ExpressionError::new(at, "expected a name after `::`")),
            }
            self.next += 1;
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<Node, ExpressionError> {
        let at = self.at();
        let token = self.peek().clone();
        self.next += 1;
        let kind = match token {
            Token::Name(first) | Token::Quoted(first) => {
                let mut path = vec![first];
                self.path(&mut path)?;
                Kind::Name(path)
            }
            Token::Punctuation("::") => {
                self.next -= 1;
                let mut path = vec![String::new()];
                self.path(&mut path)?;
                Kind::Name(path)
            }
            Token::Integer { value, unsigned, long, decimal } => {
                Kind::Integer { value, unsigned, long, decimal }
            }
            Token::Float(value) => Kind::Float(value),
            Token::Character(byte) => Kind::Character(byte),
            Token::Text(text) => Kind::Text(text),
            Token::Register(name) => Kind::Register(name),
            Token::Punctuation("(") => {
                let node = self.conditional()?;
                self.expect(")")?;
                return Ok(node);
            }
            Token::End => return Err(ExpressionError::new(at, "expected an operand at the end")),
            Token::Punctuation(punctuation) => {
                return Err(ExpressionError::new(at, format!("expected an operand before `{punctuation}`")));
            }
        };
        self.node(at, kind)
    }
}

fn too_deep(at: usize) -> ExpressionError {
    ExpressionError::new(at, "the expression is nested too deeply").remedy("split it")
}

fn operator(punctuation: &str) -> Option<Binary> {
    Some(match punctuation {
        "*" => Binary::Times,
        "/" => Binary::Divide,
        "%" => Binary::Modulo,
        "+" => Binary::Plus,
        "-" => Binary::Minus,
        "<<" => Binary::ShiftLeft,
        ">>" => Binary::ShiftRight,
        "<" => Binary::Less,
        "<=" => Binary::LessEqual,
        ">" => Binary::Greater,
        ">=" => Binary::GreaterEqual,
        "==" => Binary::Equal,
        "!=" => Binary::Unequal,
        "&" => Binary::And,
        "^" => Binary::Xor,
        "|" => Binary::Or,
        "&&" => Binary::LogicalAnd,
        "||" => Binary::LogicalOr,
        "@" => Binary::Repeat,
        _ => return None,
    })
}
