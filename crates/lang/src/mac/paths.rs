//! Reads names of the watched program, and types.

use super::ast::{Base, Path, ProgramType, Segment};
use super::parser::Parser;
use crate::reading::cursor::Token;
use invigil_monitor::mac::Type;

/// More parameters than any method of Java can have.
const MAX_PARAMETERS: usize = 255;

impl Parser<'_> {
    /// Reads a path: names with dots between them, methods with the types of their parameters.
    pub(crate) fn path(&mut self, what: &str) -> Option<Path> {
        let start = self.at.start;
        let mut segments = vec![self.segment("", what)?];
        loop {
            let joint = match self.at.token {
                Token::Mark(".") => ".",
                Token::Mark("::") => "::",
                _ => break,
            };
            self.take();
            segments.push(self.segment(joint, "a name behind the dot")?);
        }
        Some(Path { segments, span: self.since(start) })
    }

    fn segment(&mut self, joint: &'static str, what: &str) -> Option<Segment> {
        let name = match self.at.token {
            // Constructors, as the class file calls them.
            Token::Mark("<") if joint == "." && matches!(self.peek(), Token::Word("init" | "clinit")) => {
                let start = self.take().start as usize;
                self.take();
                self.expect_mark(">", "a constructor is written `A.<init>(int)`")?;
                self.text[start..self.since(start).end as usize].to_owned()
            }
            // Behind a dot, any word is a name: programs do not know our keywords.
            Token::Word(word) if !joint.is_empty() => {
                self.take();
                word.to_owned()
            }
            _ => self.expect_name(what)?.text,
        };
        let parameters = match self.language.has_program && self.at_mark("(") {
            true => Some(self.parameters()?),
            false => None,
        };
        Some(Segment { joint, name, parameters })
    }

    /// Reads types in parentheses, with the parentheses.
    pub(crate) fn parameters(&mut self) -> Option<Vec<ProgramType>> {
        const HELP: &str = "a method is written with the types of its parameters: `Gate.gd(int, String)`";
        self.take();
        let mut types = Vec::new();
        if self.take_mark(")") {
            return Some(types);
        }
        loop {
            if types.len() == MAX_PARAMETERS {
                let problem = self.expected("`)`").help("no method has more than 255 parameters");
                self.report(problem);
                return None;
            }
            types.push(self.ty(HELP)?);
            if !self.take_mark(",") {
                self.expect_mark(")", HELP)?;
                return Some(types);
            }
        }
    }

    /// Reads a type.
    pub(crate) fn ty(&mut self, help: &str) -> Option<ProgramType> {
        let Token::Word(word) = self.at.token else {
            let problem = self.expected("a type").help(help);
            self.report(problem);
            return None;
        };
        let base = match Type::from_word(word) {
            Some(ty) => {
                self.take();
                Base::Known(ty)
            }
            None => Base::Class(self.class_name()?),
        };
        Some(ProgramType { base, dimensions: self.brackets()? })
    }

    fn class_name(&mut self) -> Option<String> {
        let mut name = self.expect_name("a type")?.text;
        while matches!(self.at.token, Token::Mark("." | "::")) {
            let joint = self.take();
            name += &self.text[joint.start as usize..joint.end as usize];
            name += &self.expect_name("a name behind the dot")?.text;
        }
        Some(name)
    }

    fn brackets(&mut self) -> Option<usize> {
        let mut dimensions = 0;
        while self.take_mark("[") {
            self.expect_mark("]", "the type of an array is written `int[]`")?;
            dimensions += 1;
        }
        Some(dimensions)
    }

    /// What looked like a path but is the name of a type, with its brackets.
    pub(crate) fn as_type(&mut self, path: &Path) -> Option<ProgramType> {
        let name = path.to_string();
        let base = Type::from_word(&name).map_or(Base::Class(name), Base::Known);
        Some(ProgramType { base, dimensions: self.brackets()? })
    }
}
