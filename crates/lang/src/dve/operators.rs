//! Parses expressions.
//!
//! Binding power, weakest first: `imply`; `and`, `or`; `&`, `|`, `^`; `==`, `!=`; `<`, `<=`, `>`, `>=`; `<<`, `>>`;
//! `+`, `-`; `*`, `/`, `%`. All are left-associative. Prefixes are `-`, `~`, and `not` or `!`.

use super::ast::{Expr, ExprKind};
use super::parser::DveParser;
use crate::parsing::cursor::Token;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{Binary, Unary};

/// The maximum depth of expressions: later passes recurse over them.
pub(super) const MAX_DEPTH: u32 = 150;

/// Returns the binary operator of a token, with its binding power.
fn operator(token: Token<'_>) -> Option<(Binary, u8)> {
    Some(match token {
        Token::Word("imply") => (Binary::Implies, 0),
        Token::Word("or") | Token::Mark("||") => (Binary::Or, 1),
        Token::Word("and") | Token::Mark("&&") => (Binary::And, 1),
        Token::Mark("|") => (Binary::BitOr, 2),
        Token::Mark("&") => (Binary::BitAnd, 2),
        Token::Mark("^") => (Binary::BitXor, 2),
        Token::Mark("==") => (Binary::Equal, 3),
        Token::Mark("!=") => (Binary::NotEqual, 3),
        Token::Mark("<") => (Binary::Less, 4),
        Token::Mark("<=") => (Binary::LessOrEqual, 4),
        Token::Mark(">") => (Binary::Greater, 4),
        Token::Mark(">=") => (Binary::GreaterOrEqual, 4),
        Token::Mark("<<") => (Binary::ShiftLeft, 5),
        Token::Mark(">>") => (Binary::ShiftRight, 5),
        Token::Mark("+") => (Binary::Add, 6),
        Token::Mark("-") => (Binary::Subtract, 6),
        Token::Mark("*") => (Binary::Multiply, 7),
        Token::Mark("/") => (Binary::Divide, 7),
        Token::Mark("%") => (Binary::Remainder, 7),
        _ => return None,
    })
}

/// Whether grouping of operands does not matter as long as their order is kept.
fn is_associative(operator: Binary) -> bool {
    use Binary::{Add, And, BitAnd, BitOr, BitXor, Multiply, Or};
    matches!(operator, And | Or | Add | Multiply | BitAnd | BitOr | BitXor)
}

impl DveParser<'_> {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Option<Expr> {
        self.binary_operators(0)
    }

    /// Parses operands and the operators between them that bind at least as tightly as `weakest`.
    fn binary_operators(&mut self, weakest: u8) -> Option<Expr> {
        let mut left = self.operand()?;
        while let Some((operator, strength)) = operator(self.at.token).filter(|(_, found)| *found >= weakest)
        {
            let at = self.take();
            let right = self.binary_operators(strength + 1)?;
            left = self.join(operator, at, left, right)?;
        }
        Some(left)
    }

    /// Joins two operands. Long sequences of an associative operator are kept flat, and lowered to a balanced tree.
    fn join(&mut self, operator: Binary, at: Span, left: Expr, right: Expr) -> Option<Expr> {
        let span = left.span.to(right.span);
        let (kind, depth) = match left.kind {
            ExprKind::Chain(chained, mut operands, deepest) if chained == operator => {
                let deepest = deepest.max(right.depth);
                operands.push(right);
                let depth = deepest + operands.len().ilog2() + 1;
                (ExprKind::Chain(chained, operands, deepest), depth)
            }
            _ => {
                let deepest = left.depth.max(right.depth);
                let kind = match is_associative(operator) {
                    true => ExprKind::Chain(operator, vec![left, right], deepest),
                    false => ExprKind::Binary(operator, Box::new((left, right))),
                };
                (kind, deepest + 2)
            }
        };
        self.check_depth(Expr { kind, span, depth }, at)
    }

    /// Rejects an expression that is too deep; `at` is the position reported.
    fn check_depth(&mut self, expr: Expr, at: Span) -> Option<Expr> {
        if expr.depth <= MAX_DEPTH {
            return Some(expr);
        }
        self.too_deep(at);
        None
    }

    fn too_deep(&mut self, at: Span) {
        let diagnostic = Diagnostic::error(at, "this expression is nested too deeply")
            .label(format!("more than {MAX_DEPTH} nested operators"))
            .help("compute a part of it in an earlier effect");
        self.report(diagnostic);
    }

    /// Parses a number, a variable, a parenthesised expression, or a prefix with its operand.
    pub(super) fn operand(&mut self) -> Option<Expr> {
        if self.nesting >= MAX_DEPTH {
            self.too_deep(self.here());
            return None;
        }
        self.nesting += 1;
        let operand = self.operand_inside();
        self.nesting -= 1;
        operand
    }

    fn operand_inside(&mut self) -> Option<Expr> {
        let start = self.at.start;
        let prefix = match self.at.token {
            Token::Mark("-") => Some(Unary::Negate),
            Token::Mark("~") => Some(Unary::Complement),
            Token::Word("not") | Token::Mark("!") => Some(Unary::Not),
            _ => None,
        };
        if let Some(prefix) = prefix {
            let at = self.take();
            let operand = self.operand()?;
            let depth = operand.depth + 1;
            let kind = ExprKind::Unary(prefix, Box::new(operand));
            return self.check_depth(Expr { kind, span: self.since(start), depth }, at);
        }
        if let Token::Number(digits) = self.at.token {
            let Ok(number) = digits.parse() else {
                let diagnostic = Diagnostic::error(self.here(), "this number is too large")
                    .label("more than 63 bits")
                    .help("a `byte` holds 0 to 255, an `int` -32768 to 32767");
                self.report(diagnostic);
                return None;
            };
            return Some(Expr { kind: ExprKind::Number(number), span: self.take(), depth: 1 });
        }
        if let Token::Word(word @ ("true" | "false")) = self.at.token {
            let kind = ExprKind::Number(i64::from(word == "true"));
            return Some(Expr { kind, span: self.take(), depth: 1 });
        }
        if self.take_mark("(") {
            let inside = self.expression()?;
            self.expect_mark(")", "add the missing `)`")?;
            return Some(Expr { span: self.since(start), ..inside });
        }
        let name = self.expect_name("an expression")?;
        let mut depth = 2;
        let kind = if self.take_mark(".") {
            ExprKind::InState(name, self.expect_name("a state name")?)
        } else if self.take_mark("->") {
            let variable = self.expect_name("a variable name")?;
            let index = self.index(&mut depth)?;
            ExprKind::ProcessVariable(name, variable, index)
        } else {
            match self.index(&mut depth)? {
                Some(index) => ExprKind::Element(name, index),
                None => ExprKind::Name(name.text),
            }
        };
        let span = self.since(start);
        self.check_depth(Expr { kind, span, depth }, span)
    }

    /// Parses an index, if present; returns `None` after an error.
    fn index(&mut self, depth: &mut u32) -> Option<Option<Box<Expr>>> {
        if !self.take_mark("[") {
            return Some(None);
        }
        let index = self.expression()?;
        self.expect_mark("]", "add the missing `]`")?;
        *depth = index.depth + 1;
        Some(Some(Box::new(index)))
    }
}
