//! Reads a MEDL script, and reports every mistake in it at once.

use super::ast::{Defined, Definition, Guard, Import, Imported, Invoked, Script, Update, Variable};
use crate::mac::ast::{Expr, Kind, Literal, Name};
use crate::mac::parser::{Language, Parser};
use crate::reading::cursor::{Token, suggest};
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_monitor::mac::Type;

static LANGUAGE: Language = Language {
    noun: "MEDL",
    opening: "ReqSpec",
    other: ("MonScr", "this is a PEDL script: give it a name that ends in `.pedl`"),
    statements: &["import", "var", "event", "condition", "property", "alarm"],
    functions: &["start", "end", "defined", "time", "value"],
    has_program: false,
};

const PARTS: &str =
    "a script has `import`, `var`, `event`, `condition`, `property`, `alarm` and `e -> { … }`";
const GUARD: &str = "write `e -> { x' = x + 1; print \"…\"; invoke action; }`";

/// Reads the MEDL script in `text`, the contents of the file known as `source`.
///
/// It is complete if there is no error among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::medl;
///
/// let text = "ReqSpec Gate  import event Open;  var int n;  property few = n < 3;  Open -> { n' = n + 1; }  End";
/// let (script, problems) = medl::parse(SourceId(0), text);
/// assert!(problems.is_empty());
/// assert_eq!(script.guards.len(), 1);
///
/// let (_, problems) = medl::parse(SourceId(0), &text.replace("n' =", "n ="));
/// assert_eq!(problems[0].help.as_deref(), Some("write `n' = …`: the prime stands for the new value"));
/// ```
pub fn parse(source: SourceId, text: &str) -> (Script, Vec<Diagnostic>) {
    let mut parser = Parser::new(&LANGUAGE, source, text);
    let script = parser.requirement_script();
    (script, parser.problems())
}

/// Prints the script in `text`, the contents of the file known as `source`, in one style: statements are indented, each
/// has its `;`, and lines that are broken stay broken. No comment is lost.
///
/// # Errors
/// If the script cannot be read; the diagnostics say why, and nothing is printed.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::medl;
///
/// let text = "ReqSpec Gate import event open; var int n;\n\nopen->{n'=n+1} end";
/// let printed = medl::format(SourceId(0), text).unwrap();
/// assert_eq!(printed, "\
/// ReqSpec Gate
///     import event open;
///     var int n;
///
///     open -> { n' = n + 1; }
/// End
/// ");
/// ```
pub fn format(source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut parser = Parser::new(&LANGUAGE, source, text);
    parser.requirement_script();
    parser.formatted()
}

impl Parser<'_> {
    fn requirement_script(&mut self) -> Script {
        let mut script = Script { title: self.opening(), ..Script::default() };
        self.statements(|parser| match parser.at.token {
            Token::Word("import") => parser.import(&mut script),
            Token::Word("var") => parser.variables(&mut script),
            Token::Word("event") => parser.medl_definition(Defined::Event, &mut script),
            Token::Word("condition") => parser.medl_definition(Defined::Condition, &mut script),
            Token::Word("property") => parser.medl_definition(Defined::Property, &mut script),
            Token::Word("alarm") => parser.medl_definition(Defined::Alarm, &mut script),
            Token::Word(word @ ("export" | "monobj" | "monmeth" | "timestamp")) => {
                let message = format!("`{word}` stands in PEDL scripts");
                let problem = Diagnostic::error(parser.here(), message).label("unknown in MEDL");
                parser.report(problem.help("MEDL knows only what is imported from a PEDL script"));
                parser.skip_line();
                Some(())
            }
            Token::Word(_) | Token::Mark("(") if parser.may_be_guard() => parser.guard(&mut script),
            _ => {
                parser.stray("a declaration, a definition or a guard", PARTS);
                Some(())
            }
        });
        script
    }

    /// Whether what comes next is rather a guard than a misspelt keyword: another name follows that.
    fn may_be_guard(&self) -> bool {
        self.at_mark("(") || !matches!(self.peek(), Token::Word(word) if word != "when")
    }

    fn import(&mut self, script: &mut Script) -> Option<()> {
        self.take();
        let sort = match self.at.token {
            Token::Word("event") => Imported::Event,
            Token::Word("condition") => Imported::Condition,
            Token::Word("action") => Imported::Action,
            _ => {
                let problem = self.expected("`event`, `condition` or `action`");
                self.report(problem.help("write `import event e1, e2;`"));
                return None;
            }
        };
        self.take();
        loop {
            let name = self.expect_name(&format!("the name of the {}", sort.word()))?;
            let values = match sort == Imported::Event && self.at_mark("(") {
                true => Some(self.parameters()?),
                false => None,
            };
            let call = match sort == Imported::Action && self.take_mark("=") {
                true => Some(self.invoked()?),
                false => None,
            };
            script.imports.push(Import { sort, name, values, call });
            if !self.take_mark(",") {
                return Some(());
            }
        }
    }

    /// The method that an action calls, with what it is given.
    fn invoked(&mut self) -> Option<Invoked> {
        const HELP: &str =
            "write `import action stop = Control.gate.stop();`, with constants in the brackets";
        let start = self.at.start;
        let mut names = vec![self.expect_name("a class of the program")?];
        while self.take_mark(".") {
            names.push(match self.at.token {
                // The program has names of its own.
                Token::Word(text) => Name { text: text.to_owned(), span: self.take() },
                _ => self.expect_name("a name behind the dot")?,
            });
        }
        if names.len() < 2 {
            let problem = self.expected("`.` and a method").help(HELP);
            self.report(problem);
            return None;
        }
        self.expect_mark("(", HELP)?;
        let mut arguments = Vec::new();
        while !self.at_mark(")") {
            let expression = self.expr()?;
            let Some(Kind::Literal(literal)) = expression
                .nodes
                .last()
                .map(|node| &node.kind)
                .filter(|kind| **kind != Kind::Literal(Literal::Null))
            else {
                let problem = Diagnostic::error(expression.span(), "this is no constant");
                self.report(problem.label("a number, a text, `true` or `false`").help(HELP));
                return None;
            };
            arguments.push(literal.clone());
            if !self.take_mark(",") {
                break;
            }
        }
        self.expect_mark(")", HELP)?;
        Some(Invoked { names, arguments, span: self.since(start) })
    }

    fn variables(&mut self, script: &mut Script) -> Option<()> {
        const HELP: &str = "write `var int x, y;`";
        self.take();
        let ty = match self.at.token {
            Token::Word(word) => Type::from_word(word),
            _ => None,
        };
        let Some(ty) = ty else {
            let words = Type::ALL.map(Type::word);
            let problem = self.expected("a type");
            let suggestion = match self.at.token {
                Token::Word(word) => suggest(word, words),
                _ => None,
            };
            self.report(problem.help(suggestion.unwrap_or_else(|| HELP.to_owned())));
            return None;
        };
        self.take();
        let names = self.names("the name of a variable")?;
        if self.at_mark("=") {
            let message = "an auxiliary variable has no value at first";
            let problem = Diagnostic::error(self.here(), message).label("expected `;`");
            self.report(problem.help("give it one in a guard, when the program starts"));
            return None;
        }
        script.variables.extend(names.into_iter().map(|name| Variable { ty, name }));
        Some(())
    }

    fn medl_definition(&mut self, sort: Defined, script: &mut Script) -> Option<()> {
        let (name, expr) = self.definition(sort.word())?;
        script.definitions.push(Definition { sort, name, expr });
        Some(())
    }

    fn guard(&mut self, script: &mut Script) -> Option<()> {
        let start = self.at.start;
        let trigger = self.guarded()?;
        if !self.take_mark("->") {
            let problem = self.expected("`->`");
            let first = trigger
                .nodes
                .first()
                .map(|node| &self.text[node.span.start as usize..node.span.end as usize]);
            let suggestion = first.and_then(|word| suggest(word, LANGUAGE.statements.iter().copied()));
            self.report(problem.help(suggestion.unwrap_or_else(|| GUARD.to_owned())));
            if !self.at_mark("{") {
                return None;
            }
        }
        let mut updates = Vec::new();
        if self.take_mark("{") {
            self.updates(&mut updates);
        } else {
            // A single update needs no braces.
            updates.push(self.update()?);
        }
        script.guards.push(Guard { trigger, updates, span: self.since(start) });
        Some(())
    }

    fn guarded(&mut self) -> Option<Expr> {
        self.nodes.clear();
        self.nesting = 0;
        self.leaves_when = false;
        self.trigger()?;
        Some(Expr { nodes: std::mem::take(&mut self.nodes) })
    }

    /// Reads what stands in the braces of a guard, and the brace that closes them.
    fn updates(&mut self, updates: &mut Vec<Update>) {
        loop {
            while self.take_mark(";") {}
            if self.take_mark("}") {
                return;
            }
            if self.at_statement() || self.at_end() {
                let problem = self.expected("`}`").help("every `{` needs its `}`");
                self.report(problem);
                return;
            }
            match self.update() {
                Some(update) => {
                    updates.push(update);
                    if !self.at_mark("}") && !self.at_mark(";") {
                        let problem = self.expected("`;`").help("`;` ends what a guard does");
                        self.report(problem);
                        self.skip_update();
                    }
                }
                None => self.skip_update(),
            }
        }
    }

    fn skip_update(&mut self) {
        while !self.at_mark(";") && !self.at_mark("}") && !self.at_statement() && !self.at_end() {
            self.take();
        }
    }

    fn update(&mut self) -> Option<Update> {
        match self.at.token {
            Token::Primed(text) => {
                let name = Name { text: text.to_owned(), span: self.take() };
                if !self.take_mark(":=") {
                    self.expect_mark("=", &format!("write `{text}' = …;`"))?;
                }
                Some(Update::Assign(name, self.expr()?))
            }
            Token::Word("print") => {
                self.take();
                Some(Update::Print(self.expr()?))
            }
            Token::Word("invoke") => {
                self.take();
                Some(Update::Invoke(self.expect_name("the name of an action")?))
            }
            Token::Word(word) if matches!(self.peek(), Token::Mark("=" | ":=")) => {
                let problem =
                    Diagnostic::error(self.here(), format!("`{word}` has no prime")).label("the old value");
                self.report(problem.help(format!("write `{word}' = …`: the prime stands for the new value")));
                None
            }
            _ => {
                let problem = self.expected("an update");
                let suggestion = match self.at.token {
                    Token::Word(word) => suggest(word, ["print", "invoke"]),
                    _ => None,
                };
                self.report(problem.help(suggestion.unwrap_or_else(|| GUARD.to_owned())));
                None
            }
        }
    }
}
