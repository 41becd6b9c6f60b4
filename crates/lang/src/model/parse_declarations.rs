//! Parses the declarations of a model.

use super::ast::{IndexRange, Initial, Item, TypeExpr, VariableDecl, Variant};
use super::parser::{MAX_NESTING, ModelParser};
use super::scan::Token;
use super::syntax::{Expr, ExprKind, Range};
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};
use invigil_model::Side;

/// The keywords that start declarations.
const DECLARATIONS: [&str; 13] = [
    "const",
    "enum",
    "record",
    "type",
    "channel",
    "process",
    "system",
    "environment",
    "instance",
    "predicate",
    "invariant",
    "ltl",
    "committed",
];

/// Keywords of other languages, with the help that is shown for them.
const OTHER_WORDS: [(&str, &str); 9] = [
    ("var", "write a variable as `x: 0..7 = 0`"),
    ("int", "write a variable as `x: 0..7 = 0`"),
    ("byte", "write a variable as `x: 0..255 = 0`"),
    ("bool", "write a variable as `x: bool = false`"),
    ("chan", "write a channel as `channel c: 0..7`"),
    ("proctype", "write a process as `process P { state … }`"),
    ("active", "write a process as `process P { state … }`"),
    ("mtype", "write an enum as `enum Colour { red, green }`"),
    ("struct", "write a record as `record Point { x: 0..3, y: 0..3 }`"),
];

/// Parses all declarations of a text; also returns the diagnostics.
pub(super) fn parse_items(source: SourceId, text: &str) -> (Vec<Item>, Vec<Diagnostic>) {
    let mut parser = ModelParser::new(source, text);
    let mut items = Vec::new();
    while parser.peek() != Token::End {
        let before = parser.taken_count();
        match parser.item() {
            Some(item) => items.push(item),
            None => parser.skip_to_declaration(before),
        }
        parser.take_mark(";");
    }
    (items, parser.diagnostics)
}

impl ModelParser<'_> {
    fn item(&mut self) -> Option<Item> {
        match self.peek() {
            Token::Word("const") => {
                self.take();
                let name = self.expect_name("the name of the constant")?;
                self.expect("=")?;
                Some(Item::Constant { name, value: self.expression()? })
            }
            Token::Word("enum") => {
                self.take();
                let name = self.expect_name("the name of the enum")?;
                let variants = self.braced(ModelParser::variant)?;
                Some(Item::Enum { name, variants })
            }
            Token::Word("record") => {
                self.take();
                let name = self.expect_name("the name of the record")?;
                let fields = self.braced(ModelParser::declared)?;
                Some(Item::Record { name, fields })
            }
            Token::Word("type") => {
                self.take();
                let name = self.expect_name("the name of the type")?;
                self.expect("=")?;
                Some(Item::Alias { name, ty: self.type_expression()? })
            }
            Token::Word("channel") => self.channel(),
            Token::Word("process") => self.process(Side::System).map(|of| Item::Process(of.into())),
            Token::Word("instance") => self.instance(Side::System),
            Token::Word(word @ ("system" | "environment")) => {
                self.take();
                let side = if word == "system" { Side::System } else { Side::Environment };
                match self.peek() {
                    Token::Word("process") => self.process(side).map(|of| Item::Process(of.into())),
                    Token::Word("instance") => self.instance(side),
                    _ => {
                        let diagnostic = self.expected("`process` or `instance`");
                        self.report(diagnostic);
                        None
                    }
                }
            }
            Token::Word("predicate") => {
                self.take();
                let name = self.expect_name("the name of the predicate")?;
                self.expect("=")?;
                Some(Item::Predicate { name, body: self.expression()? })
            }
            Token::Word("invariant") => {
                self.take();
                let name = self.expect_name("the name of the invariant")?;
                self.expect(":")?;
                Some(Item::Invariant { name, body: self.expression()? })
            }
            Token::Word("ltl") => {
                self.take();
                let name = self.expect_name("the name of the formula")?;
                self.expect(":")?;
                Some(Item::Temporal { name, formula: self.formula()? })
            }
            Token::Word(_) if matches!(self.peek_at(1), Token::Mark(":" | ",")) => {
                self.declared().map(Item::Variable)
            }
            _ => {
                let diagnostic = self.expected("a declaration");
                let diagnostic = match self.peek() {
                    Token::Word(word) => self.with_remedy(diagnostic, word, &DECLARATIONS[..12]),
                    _ => {
                        diagnostic.help("declarations are processes `process P { state … }`, variables `x: 0..7`, channels, …")
                    }
                };
                self.report(diagnostic);
                None
            }
        }
    }

    /// Adds the help for an unexpected word.
    pub(super) fn with_remedy(
        &self,
        diagnostic: Diagnostic,
        word: &str,
        known: &[&'static str],
    ) -> Diagnostic {
        if let Some((_, help)) = OTHER_WORDS.iter().find(|(other, _)| *other == word) {
            return diagnostic.help(*help);
        }
        match nearest(word, known.iter().copied()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic,
        }
    }

    /// Skips the rest of an invalid declaration, at least one token.
    fn skip_to_declaration(&mut self, before: usize) {
        if self.taken_count() == before {
            self.take();
        }
        let mut depth = 0_u32;
        loop {
            match self.peek() {
                Token::End => return,
                Token::Word(word) if depth == 0 && DECLARATIONS.contains(&word) => return,
                Token::Word(_) if depth == 0 && self.starts_line() && self.peek_at(1) == Token::Mark(":") => {
                    return;
                }
                Token::Word("process") if self.starts_line() => return,
                Token::Mark("{") => depth += 1,
                Token::Mark("}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.take();
        }
    }

    /// Parses a list in braces; commas are optional.
    fn braced<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.expect("{")?;
        let mut all = Vec::new();
        while !self.at_mark("}") {
            all.push(one(self)?);
            if !self.take_mark(",") {
                self.take_mark(";");
            }
        }
        self.take();
        Some(all)
    }

    fn variant(&mut self) -> Option<Variant> {
        let name = self.expect_name("a name")?;
        let mut values = Vec::new();
        if self.take_mark("(") {
            values = self.types()?;
            self.expect(")")?;
        }
        Some(Variant { name, values })
    }

    /// Parses comma-separated types, optionally preceded by names.
    fn types(&mut self) -> Option<Vec<TypeExpr>> {
        let mut values = Vec::new();
        loop {
            if matches!((self.peek(), self.peek_at(1)), (Token::Word(_), Token::Mark(":"))) {
                self.take();
                self.take();
            }
            values.push(self.type_expression()?);
            if !self.take_mark(",") {
                return Some(values);
            }
        }
    }

    /// Parses `x, y: 0..7 = 0`.
    pub(super) fn declared(&mut self) -> Option<VariableDecl> {
        let mut names = vec![self.expect_name("the name of a variable")?];
        while self.take_mark(",") {
            names.push(self.expect_name("the name of a variable")?);
        }
        if !self.at_mark(":") {
            let diagnostic = self.expected("`:` and a type").help("write a variable as `x: 0..7 = 0`");
            self.report(diagnostic);
            return None;
        }
        self.take();
        let ty = self.type_expression()?;
        let initial = if self.take_mark("=") { Some(self.initial()?) } else { None };
        Some(VariableDecl { names, ty, initial })
    }

    /// Parses a type.
    pub(super) fn type_expression(&mut self) -> Option<TypeExpr> {
        match self.peek() {
            Token::Word("bool") => {
                self.take();
                Some(TypeExpr::Boolean)
            }
            Token::Word("int") => {
                let diagnostic = Diagnostic::error(self.here(), "an integer type needs a range");
                self.report(diagnostic.label("missing range").help("write `0..7`, or `-8..7`"));
                None
            }
            Token::Mark("[") => {
                self.take();
                let length = self.expression()?;
                self.expect("]")?;
                if !self.take_word("of") {
                    let diagnostic = self.expected("`of`").help("write an array type as `[4] of bool`");
                    self.report(diagnostic);
                    return None;
                }
                self.nesting += 1;
                let of = if self.nesting < MAX_NESTING { self.type_expression() } else { None };
                self.nesting -= 1;
                if of.is_none() && self.diagnostics.is_empty() {
                    let diagnostic = Diagnostic::error(self.here(), "these arrays are nested too deeply");
                    self.report(diagnostic.label("too deep"));
                }
                Some(TypeExpr::Array(Box::new((length, of?))))
            }
            Token::Word(word)
                if !matches!(self.peek_at(1), Token::Mark(".." | "+" | "-" | "*" | "/" | "%")) =>
            {
                if word == "byte" {
                    let byte = |number| {
                        Box::new(Expr { kind: ExprKind::Number(number), span: self.here(), depth: 1 })
                    };
                    let range = Range { low: byte(0), high: byte(255) };
                    self.take();
                    return Some(TypeExpr::Range(range));
                }
                Some(TypeExpr::Named(self.expect_name("a type")?))
            }
            Token::Word(_) | Token::Number(_) | Token::Mark("-" | "(") => {
                Some(TypeExpr::Range(self.range()?))
            }
            _ => {
                let diagnostic = self.expected("a type");
                self.report(diagnostic.help("types are `0..7`, `bool`, `[4] of bool`, enums and records"));
                None
            }
        }
    }

    /// Parses an initial value.
    fn initial(&mut self) -> Option<Initial> {
        if self.at_mark("[") {
            let start = self.take();
            let mut values = Vec::new();
            while !self.at_mark("]") {
                self.nesting += 1;
                let value = if self.nesting < MAX_NESTING { self.initial() } else { None };
                self.nesting -= 1;
                if value.is_none() && self.diagnostics.is_empty() {
                    let diagnostic = Diagnostic::error(self.here(), "these lists are nested too deeply");
                    self.report(diagnostic.label("too deep"));
                }
                values.push(value?);
                if !self.take_mark(",") {
                    break;
                }
            }
            let end = self.expect("]")?;
            return Some(Initial::List(values, start.to(end)));
        }
        if self.at_word("any") {
            let span = self.here();
            return Some(Initial::Any(self.any()?, span));
        }
        Some(Initial::Value(self.expression()?))
    }

    /// Parses `any` or `any(0..3)`.
    pub(super) fn any(&mut self) -> Option<Option<Range>> {
        self.take();
        if !self.take_mark("(") {
            return Some(None);
        }
        let range = self.range()?;
        self.expect(")")?;
        Some(Some(range))
    }

    /// Parses `[i in 0..3]`, if present.
    pub(super) fn index_range(&mut self) -> Option<Option<IndexRange>> {
        let is_there = self.at_mark("[")
            && matches!((self.peek_at(1), self.peek_at(2)), (Token::Word(_), Token::Word("in")));
        if !is_there {
            return Some(None);
        }
        self.take();
        let index = self.expect_name("the name of the index")?;
        self.take();
        let range = self.range()?;
        self.expect("]")?;
        Some(Some(IndexRange { index, range }))
    }

    fn channel(&mut self) -> Option<Item> {
        self.take();
        let name = self.expect_name("the name of the channel")?;
        let array = self.index_range()?;
        let mut capacity = None;
        if self.take_mark("[") {
            capacity = Some(self.expression()?);
            self.expect("]")?;
        }
        let values = if self.take_mark(":") { self.types()? } else { Vec::new() };
        Some(Item::Channel { name, array, capacity, values })
    }

    fn instance(&mut self, side: Side) -> Option<Item> {
        self.take();
        let name = self.expect_name("the name of the instance")?;
        let array = self.index_range()?;
        self.expect("=")?;
        let template = self.expect_name("the name of a process with parameters")?;
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.at_mark(")") {
            arguments.push(self.expression()?);
            if !self.take_mark(",") {
                break;
            }
        }
        self.expect(")")?;
        Some(Item::Instance { name, array, template, arguments, side })
    }

    /// Returns the position of a formula, which ends at `;` or before a line that starts a declaration.
    fn formula(&mut self) -> Option<Span> {
        let start = self.here();
        let mut span = start;
        loop {
            let is_over = match self.peek() {
                Token::End | Token::Mark(";" | "{" | "}") => true,
                Token::Word(word) => {
                    let is_declared = DECLARATIONS.contains(&word) || self.peek_at(1) == Token::Mark(":");
                    self.starts_line() && is_declared
                }
                _ => false,
            };
            if is_over {
                break;
            }
            span = start.to(self.take());
        }
        if span == start && matches!(self.peek(), Token::End | Token::Mark(";")) && self.here() == start {
            let diagnostic = self.expected("a formula");
            self.report(diagnostic);
            return None;
        }
        Some(span)
    }
}
