//! Parses qualified names of the target, and types.

use super::ast::{BaseType, Path, ProgramType, Segment};
use super::parser::ScriptParser;
use crate::parsing::cursor::Token;
use invigil_monitor::mac::Type;

/// The maximum number of parameters; Java allows no more.
const MAX_PARAMETERS: usize = 255;

impl ScriptParser<'_> {
    /// Parses a path: names separated by dots, methods with their parameter types.
    pub(crate) fn path(&mut self, what: &str) -> Option<Path> {
        let start = self.at.start;
        let mut segments = vec![self.segment("", what)?];
        loop {
            let separator = match self.at.token {
                Token::Mark(".") => ".",
                Token::Mark("::") => "::",
                _ => break,
            };
            self.take();
            segments.push(self.segment(separator, "a name after the dot")?);
        }
        Some(Path { segments, span: self.since(start) })
    }

    fn segment(&mut self, separator: &'static str, what: &str) -> Option<Segment> {
        let name = match self.at.token {
            // A constructor, named as in class files.
            Token::Mark("<") if separator == "." && matches!(self.peek(), Token::Word("init" | "clinit")) => {
                let start = self.take().start as usize;
                self.take();
                self.expect_mark(">", "write a constructor as `A.<init>(int)`")?;
                self.text[start..self.since(start).end as usize].to_owned()
            }
            // After a dot, reserved words are ordinary names of the target.
            Token::Word(word) if !separator.is_empty() => {
                self.take();
                word.to_owned()
            }
            _ => self.expect_name(what)?.text,
        };
        let parameters = match self.language.allows_target_names && self.at_mark("(") {
            true => Some(self.parameters()?),
            false => None,
        };
        Some(Segment { separator, name, parameters })
    }

    /// Parses the types in parentheses, including the parentheses.
    pub(crate) fn parameters(&mut self) -> Option<Vec<ProgramType>> {
        const HELP: &str = "write a method with its parameter types: `Gate.gd(int, String)`";
        self.take();
        let mut types = Vec::new();
        if self.take_mark(")") {
            return Some(types);
        }
        loop {
            if types.len() == MAX_PARAMETERS {
                let diagnostic = self.expected("`)`").help("methods have at most 255 parameters");
                self.report(diagnostic);
                return None;
            }
            types.push(self.ty(HELP)?);
            if !self.take_mark(",") {
                self.expect_mark(")", HELP)?;
                return Some(types);
            }
        }
    }

    /// Parses a type.
    pub(crate) fn ty(&mut self, help: &str) -> Option<ProgramType> {
        let Token::Word(word) = self.at.token else {
            let diagnostic = self.expected("a type").help(help);
            self.report(diagnostic);
            return None;
        };
        let base = match Type::from_word(word) {
            Some(ty) => {
                self.take();
                BaseType::Known(ty)
            }
            None => BaseType::Class(self.class_name()?),
        };
        Some(ProgramType { base, dimensions: self.brackets()? })
    }

    fn class_name(&mut self) -> Option<String> {
        let mut name = self.expect_name("a type")?.text;
        while matches!(self.at.token, Token::Mark("." | "::")) {
            let separator = self.take();
            name += &self.text[separator.start as usize..separator.end as usize];
            name += &self.expect_name("a name after the dot")?.text;
        }
        Some(name)
    }

    fn brackets(&mut self) -> Option<usize> {
        let mut dimensions = 0;
        while self.take_mark("[") {
            self.expect_mark("]", "write an array type as `int[]`")?;
            dimensions += 1;
        }
        Some(dimensions)
    }

    /// Reinterprets a path as a type, with the brackets that follow.
    pub(crate) fn as_type(&mut self, path: &Path) -> Option<ProgramType> {
        let name = path.to_string();
        let base = Type::from_word(&name).map_or(BaseType::Class(name), BaseType::Known);
        Some(ProgramType { base, dimensions: self.brackets()? })
    }
}
