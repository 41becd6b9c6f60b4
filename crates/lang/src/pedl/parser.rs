//! Parser of PEDL, with error recovery: all errors of a script are reported together.

use super::ast::{Definition, EntityDecl, Export, ExportKind, Scope, Script, Timestamp};
use crate::mac::ast::{BaseType, Name, Path, ProgramType};
use crate::mac::parser::{Language, ScriptParser};
use crate::parsing::cursor::{Token, suggest};
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_monitor::mac::Type;

static LANGUAGE: Language = Language {
    noun: "PEDL",
    opening: "MonScr",
    other: ("ReqSpec", "this is a MEDL script: give it a name that ends in `.medl`"),
    statements: &[
        "export",
        "timestamp",
        "multithread",
        "deltavalue",
        "valueabstract",
        "valueabstraction",
        "monobj",
        "monmeth",
        "event",
        "condition",
    ],
    functions: &["start", "end", "update", "startM", "endM", "IOM", "InM", "defined", "time", "value"],
    allows_target_names: true,
};

const STATEMENTS_HELP: &str = "statements start with `export`, `monobj`, `monmeth`, `event` or `condition`";
const MONOBJ_HELP: &str = "declare a variable with `monobj int Control.gatePos;`";
const MONMETH_HELP: &str = "declare a method with `monmeth void Gate.gd(int);`";

/// Parses the PEDL script in `text`, the contents of the file `source`.
///
/// The script is complete if there is no error among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::pedl;
///
/// let text = "MonScr Gate  export event Open;  monmeth void Control.open();
///             event Open = startM(Control.open());  End";
/// let (script, diagnostics) = pedl::parse(SourceId(0), text);
/// assert!(diagnostics.is_empty());
/// assert_eq!(script.monitored[0].path.to_string(), "Control.open()");
///
/// let (_, diagnostics) = pedl::parse(SourceId(0), &text.replace("startM", "startm"));
/// assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `startM`?"));
/// ```
pub fn parse(source: SourceId, text: &str) -> (Script, Vec<Diagnostic>) {
    let mut parser = ScriptParser::new(&LANGUAGE, source, text);
    let script = parser.monitoring_script();
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
/// use invigil_lang::pedl;
///
/// let text = "MonScr Gate export event Open monmeth void Control.open( ) // the gate\nevent Open=startM(Control.open()) end";
/// let printed = pedl::format(SourceId(0), text).unwrap();
/// assert_eq!(printed, "\
/// MonScr Gate
///     export event Open;
///     monmeth void Control.open();  // the gate
///     event Open = startM(Control.open());
/// End
/// ");
/// ```
pub fn format(source: SourceId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut parser = ScriptParser::new(&LANGUAGE, source, text);
    parser.monitoring_script();
    parser.formatted()
}

impl ScriptParser<'_> {
    fn monitoring_script(&mut self) -> Script {
        let mut script = Script { title: self.opening(), ..Script::default() };
        self.statements(|parser| match parser.at.token {
            Token::Word("export") => parser.export(&mut script),
            Token::Word("timestamp") => parser.timestamp(&mut script),
            Token::Word("multithread") => parser.flag("multithread", &mut script.options.multithread),
            Token::Word("deltavalue") => parser.flag("deltavalue", &mut script.options.deltavalue),
            Token::Word("valueabstract" | "valueabstraction") => {
                parser.flag("valueabstract", &mut script.options.valueabstract)
            }
            Token::Word("monobj") => parser.monobj(&mut script),
            Token::Word("monmeth") => parser.monmeth(&mut script),
            Token::Word("event") => parser.pedl_definition(ExportKind::Event, &mut script),
            Token::Word("condition") => parser.pedl_definition(ExportKind::Condition, &mut script),
            Token::Word("import") => {
                let diagnostic =
                    Diagnostic::error(parser.here(), "`import` is not allowed in PEDL").label("unknown");
                parser.report(diagnostic.help("MEDL scripts import; a PEDL script exports"));
                parser.skip_line();
                Some(())
            }
            _ => {
                parser.stray("a declaration or a definition", STATEMENTS_HELP);
                Some(())
            }
        });
        script
    }

    fn export(&mut self, script: &mut Script) -> Option<()> {
        self.take();
        let kind = match self.at.token {
            Token::Word("event") => ExportKind::Event,
            Token::Word("condition") => ExportKind::Condition,
            _ => {
                let diagnostic = self.expected("`event` or `condition`");
                self.report(diagnostic.help("write `export event e1, e2;` or `export condition c;`"));
                return None;
            }
        };
        self.take();
        let names = self.names(&format!("the name of {} {}", article(kind), kind.word()))?;
        script.exports.extend(names.into_iter().map(|name| Export { kind, name }));
        Some(())
    }

    fn flag(&mut self, word: &str, flag: &mut Option<Span>) -> Option<()> {
        let span = self.take();
        match flag {
            Some(first) => {
                let diagnostic =
                    Diagnostic::warning(span, format!("duplicate `{word}`")).label("second occurrence");
                self.report(diagnostic.related(*first, "first occurrence"));
            }
            None => *flag = Some(span),
        }
        Some(())
    }

    fn timestamp(&mut self, script: &mut Script) -> Option<()> {
        const HELP: &str = "write `timestamp 100;`: a whole number of milliseconds";
        let start = self.take();
        let Token::Number(written) = self.at.token else {
            let diagnostic = self.expected("a number of milliseconds").help(HELP);
            self.report(diagnostic);
            return None;
        };
        let number = self.take();
        let scale = match self.at.token {
            Token::Word("ms" | "millis" | "milliseconds") => Some(1),
            Token::Word("s" | "sec" | "seconds") => Some(1000),
            Token::Word(word) if !self.at_statement() && !self.at_end() => {
                let diagnostic = Diagnostic::error(self.here(), format!("`{word}` is not a unit of time"));
                self.report(diagnostic.label("unknown").help("write `ms` or `s`; the default is `ms`"));
                return None;
            }
            _ => None,
        };
        if scale.is_some() {
            self.take();
        }
        let period = written.parse().ok().and_then(|period: u32| period.checked_mul(scale.unwrap_or(1)));
        let Some(milliseconds) = period.filter(|period| *period > 0) else {
            let diagnostic =
                Diagnostic::error(number, format!("`{written}` is not a valid period")).label("not a period");
            self.report(diagnostic.help(HELP));
            return Some(());
        };
        let span = start.to(number);
        match &script.options.timestamp {
            Some(first) => {
                let diagnostic = Diagnostic::error(span, "duplicate `timestamp`").label("second occurrence");
                self.report(diagnostic.related(first.span, "first occurrence").help("keep one of them"));
            }
            None => script.options.timestamp = Some(Timestamp { milliseconds, span }),
        }
        Some(())
    }

    fn monobj(&mut self, script: &mut Script) -> Option<()> {
        self.take();
        if self.at_word("void") {
            let diagnostic =
                Diagnostic::error(self.here(), "a variable cannot be `void`").label("not a variable type");
            self.report(diagnostic.help("write `monmeth` for a method"));
            return None;
        }
        let ty_start = self.at.start;
        let ty = self.ty(MONOBJ_HELP)?;
        let ty_span = self.since(ty_start);
        if !matches!(self.at.token, Token::Word(_)) {
            let diagnostic = Diagnostic::error(self.here(), "the type of the variable is missing")
                .label("expected the name of a variable")
                .related(ty_span, "parsed as its type")
                .help(MONOBJ_HELP);
            self.report(diagnostic);
            return None;
        }
        self.check_monitorable(&ty, ty_span);
        let first = script.monitored.len();
        loop {
            let (alias, path) = self.maybe_alias("the name of a variable")?;
            if path.is_method() {
                let diagnostic = Diagnostic::error(path.span, format!("`{path}` is a method"));
                self.report(diagnostic.label("not a variable").help("write `monmeth` for a method"));
            }
            script.monitored.push(EntityDecl {
                is_method: false,
                ty: Some(ty.clone()),
                alias,
                path,
                scope: None,
            });
            if !self.take_mark(",") {
                break;
            }
        }
        self.scope(&mut script.monitored[first..])
    }

    /// Reports types whose values cannot be read.
    fn check_monitorable(&mut self, ty: &ProgramType, span: Span) {
        let (what, help) = match &ty.base {
            _ if ty.dimensions > 0 => (format!("`{ty}` is an array"), None),
            BaseType::Class(name) => {
                (format!("`{name}` is a class"), suggest(name, Type::ALL.map(Type::word)))
            }
            BaseType::Known(_) => return,
        };
        let help = help.unwrap_or_else(|| "monitor a member of primitive type, as in `A.b1.c1`".to_owned());
        let diagnostic = Diagnostic::error(span, format!("{what}: whole objects cannot be monitored"));
        self.report(diagnostic.label("neither a primitive type nor `String`").help(help));
    }

    fn monmeth(&mut self, script: &mut Script) -> Option<()> {
        self.take();
        let ty = self.result()?;
        let first = script.monitored.len();
        loop {
            let (alias, path) = self.maybe_alias("the name of a method")?;
            if !path.is_method() {
                let diagnostic = Diagnostic::error(path.span, format!("`{path}` has no parameter list"));
                self.report(
                    diagnostic
                        .label("not a method")
                        .help(format!("write `{path}()`, with the parameter types if any")),
                );
            }
            script.monitored.push(EntityDecl { is_method: true, ty: ty.clone(), alias, path, scope: None });
            if !self.take_mark(",") {
                break;
            }
        }
        self.scope(&mut script.monitored[first..])
    }

    /// Parses the optional result type of a method; the next tokens may already be its name.
    fn result(&mut self) -> Option<Option<ProgramType>> {
        if self.take_word("void") {
            return Some(None);
        }
        let start = self.at.start;
        let path = match self.at.token {
            Token::Word(word) if Type::from_word(word).is_some() => {
                let span = self.take();
                Path::name(word, span)
            }
            _ => self.path("a type or the name of a method")?,
        };
        if path.segments.iter().any(|segment| segment.parameters.is_some())
            || matches!(self.at.token, Token::Mark("<-" | "<->"))
        {
            self.jump(start);
            return Some(None);
        }
        if !matches!(self.at.token, Token::Word(_) | Token::Mark("[")) {
            let diagnostic = Diagnostic::error(path.span, format!("`{path}` has no parameter list"));
            self.report(diagnostic.label("not a method").help(MONMETH_HELP));
            return None;
        }
        self.as_type(&path).map(Some)
    }

    /// Parses `alias <- path`, `alias <-> path`, or just a path.
    fn maybe_alias(&mut self, what: &str) -> Option<(Option<Name>, Path)> {
        let path = self.path(what)?;
        if !self.take_mark("<-") && !self.take_mark("<->") {
            return Some((None, path));
        }
        let Some(alias) = path.as_name() else {
            let diagnostic =
                Diagnostic::error(path.span, "an alias is a single name").label("not a single name");
            self.report(diagnostic.help("write `alias <- the.name.in.the.program`"));
            return None;
        };
        let alias = Name { text: alias.to_owned(), span: path.span };
        Some((Some(alias), self.path(what)?))
    }

    /// Parses the scope of a declaration: where its names are monitored.
    fn scope(&mut self, names: &mut [EntityDecl]) -> Option<()> {
        let is_negated = self.at_word("not");
        if !is_negated && !self.at_word("in") {
            return Some(());
        }
        self.take();
        if is_negated && !self.take_word("in") {
            let diagnostic =
                self.expected("`in`").help("write `not in PART`, with a package, class or method");
            self.report(diagnostic);
            return None;
        }
        let path = self.path("a package, class or method")?;
        if self.at_mark(",") {
            let diagnostic = self.expected("`;`");
            self.report(
                diagnostic.help(
                    "`in` ends a declaration and applies to all its names: declare the others separately",
                ),
            );
            return None;
        }
        let scope = Scope { is_negated, path };
        names.iter_mut().for_each(|name| name.scope = Some(scope.clone()));
        Some(())
    }

    fn pedl_definition(&mut self, kind: ExportKind, script: &mut Script) -> Option<()> {
        let (name, expr) = self.definition(kind.word())?;
        script.definitions.push(Definition { kind, name, expr });
        Some(())
    }
}

fn article(kind: ExportKind) -> &'static str {
    match kind {
        ExportKind::Event => "an",
        ExportKind::Condition => "a",
    }
}
