//! Parser of MEDL, with error recovery: all errors of a script are reported together.

use super::ast::{
    ActionCall, Definition, DefinitionKind, Guard, Import, ImportKind, Script, Update, Variable,
};
use crate::mac::ast::{Expr, Literal, Name, NodeKind};
use crate::mac::parser::{Language, ScriptParser};
use crate::parsing::cursor::{Token, suggest};
use invigil_expr::diag::{Diagnostic, SourceId};
use invigil_monitor::mac::Type;

static LANGUAGE: Language = Language {
    noun: "MEDL",
    opening: "ReqSpec",
    other: ("MonScr", "this is a PEDL script: give it a name that ends in `.pedl`"),
    statements: &["import", "var", "event", "condition", "property", "alarm"],
    functions: &["start", "end", "defined", "time", "value"],
    allows_target_names: false,
};

const STATEMENTS_HELP: &str =
    "statements are `import`, `var`, `event`, `condition`, `property`, `alarm` and `e -> { … }`";
const GUARD_HELP: &str = "write `e -> { x' = x + 1; print \"…\"; invoke action; }`";

/// Parses the MEDL script in `text`, the contents of the file `source`.
///
/// The script is complete if there is no error among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::medl;
///
/// let text = "ReqSpec Gate  import event Open;  var int n;  property few = n < 3;  Open -> { n' = n + 1; }  End";
/// let (script, diagnostics) = medl::parse(SourceId(0), text);
/// assert!(diagnostics.is_empty());
/// assert_eq!(script.guards.len(), 1);
///
/// let (_, diagnostics) = medl::parse(SourceId(0), &text.replace("n' =", "n ="));
/// assert_eq!(diagnostics[0].help.as_deref(), Some("write `n' = …`: the prime denotes the new value"));
/// ```
pub fn parse(source: SourceId, text: &str) -> (Script, Vec<Diagnostic>) {
    let mut parser = ScriptParser::new(&LANGUAGE, source, text);
    let script = parser.requirement_script();
    (script, parser.into_diagnostics())
}

/// Formats the script in `text`, the contents of the file `source`: statements are indented, each ends in `;`, and
/// existing line breaks inside statements are kept. No comment is lost.
///
/// # Errors
/// If the script has syntax errors: returns the diagnostics and formats nothing.
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
    let mut parser = ScriptParser::new(&LANGUAGE, source, text);
    parser.requirement_script();
    parser.formatted()
}

impl ScriptParser<'_> {
    fn requirement_script(&mut self) -> Script {
        let mut script = Script { title: self.opening(), ..Script::default() };
        self.statements(|parser| match parser.at.token {
            Token::Word("import") => parser.import(&mut script),
            Token::Word("var") => parser.variables(&mut script),
            Token::Word("event") => parser.medl_definition(DefinitionKind::Event, &mut script),
            Token::Word("condition") => parser.medl_definition(DefinitionKind::Condition, &mut script),
            Token::Word("property") => parser.medl_definition(DefinitionKind::Property, &mut script),
            Token::Word("alarm") => parser.medl_definition(DefinitionKind::Alarm, &mut script),
            Token::Word(word @ ("export" | "monobj" | "monmeth" | "timestamp")) => {
                let message = format!("`{word}` is only allowed in PEDL scripts");
                let diagnostic = Diagnostic::error(parser.here(), message).label("unknown in MEDL");
                parser.report(
                    diagnostic.help("export an event or a condition from the PEDL script and import it here"),
                );
                parser.skip_line();
                Some(())
            }
            Token::Word(_) | Token::Mark("(") if parser.may_be_guard() => parser.guard(&mut script),
            _ => {
                parser.stray("a declaration, a definition or a guard", STATEMENTS_HELP);
                Some(())
            }
        });
        script
    }

    /// Whether a guard follows rather than a misspelt keyword, which would precede another name.
    fn may_be_guard(&self) -> bool {
        self.at_mark("(") || !matches!(self.peek(), Token::Word(word) if word != "when")
    }

    fn import(&mut self, script: &mut Script) -> Option<()> {
        self.take();
        let kind = match self.at.token {
            Token::Word("event") => ImportKind::Event,
            Token::Word("condition") => ImportKind::Condition,
            Token::Word("action") => ImportKind::Action,
            _ => {
                let diagnostic = self.expected("`event`, `condition` or `action`");
                self.report(diagnostic.help("write `import event e1, e2;`"));
                return None;
            }
        };
        self.take();
        loop {
            let name = self.expect_name(&format!("the name of the {}", kind.word()))?;
            let values = match kind == ImportKind::Event && self.at_mark("(") {
                true => Some(self.parameters()?),
                false => None,
            };
            let call = match kind == ImportKind::Action && self.take_mark("=") {
                true => Some(self.action_call()?),
                false => None,
            };
            script.imports.push(Import { kind, name, values, call });
            if !self.take_mark(",") {
                return Some(());
            }
        }
    }

    /// Parses the method that an action calls, with its arguments.
    fn action_call(&mut self) -> Option<ActionCall> {
        const HELP: &str = "write `import action stop = Control.gate.stop();`, with constant arguments";
        let start = self.at.start;
        let mut names = vec![self.expect_name("a class of the target")?];
        while self.take_mark(".") {
            names.push(match self.at.token {
                // Reserved words can be names in the target.
                Token::Word(text) => Name { text: text.to_owned(), span: self.take() },
                _ => self.expect_name("a name after the dot")?,
            });
        }
        if names.len() < 2 {
            let diagnostic = self.expected("`.` and a method").help(HELP);
            self.report(diagnostic);
            return None;
        }
        self.expect_mark("(", HELP)?;
        let mut arguments = Vec::new();
        while !self.at_mark(")") {
            let expression = self.expr()?;
            let Some(NodeKind::Literal(literal)) = expression
                .nodes
                .last()
                .map(|node| &node.kind)
                .filter(|kind| **kind != NodeKind::Literal(Literal::Null))
            else {
                let diagnostic = Diagnostic::error(expression.span(), "this is not a constant");
                self.report(diagnostic.label("expected a number, a string, `true` or `false`").help(HELP));
                return None;
            };
            arguments.push(literal.clone());
            if !self.take_mark(",") {
                break;
            }
        }
        self.expect_mark(")", HELP)?;
        Some(ActionCall { names, arguments, span: self.since(start) })
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
            let diagnostic = self.expected("a type");
            let suggestion = match self.at.token {
                Token::Word(word) => suggest(word, words),
                _ => None,
            };
            self.report(diagnostic.help(suggestion.unwrap_or_else(|| HELP.to_owned())));
            return None;
        };
        self.take();
        let names = self.names("the name of a variable")?;
        if self.at_mark("=") {
            let message = "an auxiliary variable cannot be initialised";
            let diagnostic = Diagnostic::error(self.here(), message).label("expected `;`");
            self.report(diagnostic.help("set it in a guard that is triggered when the program starts"));
            return None;
        }
        script.variables.extend(names.into_iter().map(|name| Variable { ty, name }));
        Some(())
    }

    fn medl_definition(&mut self, kind: DefinitionKind, script: &mut Script) -> Option<()> {
        let (name, expr) = self.definition(kind.word())?;
        script.definitions.push(Definition { kind, name, expr });
        Some(())
    }

    fn guard(&mut self, script: &mut Script) -> Option<()> {
        let start = self.at.start;
        let trigger = self.guard_trigger()?;
        if !self.take_mark("->") {
            let diagnostic = self.expected("`->`");
            let first = trigger
                .nodes
                .first()
                .map(|node| &self.text[node.span.start as usize..node.span.end as usize]);
            let suggestion = first.and_then(|word| suggest(word, LANGUAGE.statements.iter().copied()));
            self.report(diagnostic.help(suggestion.unwrap_or_else(|| GUARD_HELP.to_owned())));
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

    fn guard_trigger(&mut self) -> Option<Expr> {
        self.nodes.clear();
        self.nesting = 0;
        self.stops_at_when = false;
        self.trigger()?;
        Some(Expr { nodes: std::mem::take(&mut self.nodes) })
    }

    /// Parses the updates of a guard and its closing brace.
    fn updates(&mut self, updates: &mut Vec<Update>) {
        loop {
            while self.take_mark(";") {}
            if self.take_mark("}") {
                return;
            }
            if self.at_statement() || self.at_end() {
                let diagnostic = self.expected("`}`").help("add the missing `}`");
                self.report(diagnostic);
                return;
            }
            match self.update() {
                Some(update) => {
                    updates.push(update);
                    if !self.at_mark("}") && !self.at_mark(";") {
                        let diagnostic = self.expected("`;`").help("end each update with `;`");
                        self.report(diagnostic);
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
                let diagnostic = Diagnostic::error(self.here(), format!("`{word}` has no prime"))
                    .label("refers to the old value");
                self.report(diagnostic.help(format!("write `{word}' = …`: the prime denotes the new value")));
                None
            }
            _ => {
                let diagnostic = self.expected("an update");
                let suggestion = match self.at.token {
                    Token::Word(word) => suggest(word, ["print", "invoke"]),
                    _ => None,
                };
                self.report(diagnostic.help(suggestion.unwrap_or_else(|| GUARD_HELP.to_owned())));
                None
            }
        }
    }
}
