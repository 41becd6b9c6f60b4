//! Reads a PEDL script, and reports every mistake in it at once.

use super::ast::{Definition, Export, Monitored, Scope, Script, Sort, Timestamp};
use crate::mac::ast::{Base, Name, Path, ProgramType};
use crate::mac::parser::{Language, Parser};
use crate::reading::cursor::{Token, suggest};
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
    has_program: true,
};

const PARTS: &str = "a script has `export`, `monobj`, `monmeth`, `event` and `condition`";
const MONOBJ: &str = "a variable is watched with `monobj int Control.gatePos;`";
const MONMETH: &str = "a method is watched with `monmeth void Gate.gd(int);`";

/// Reads the PEDL script in `text`, the contents of the file known as `source`.
///
/// It is complete if there is no error among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::pedl;
///
/// let text = "MonScr Gate  export event Open;  monmeth void Control.open();
///             event Open = startM(Control.open());  End";
/// let (script, problems) = pedl::parse(SourceId(0), text);
/// assert!(problems.is_empty());
/// assert_eq!(script.monitored[0].path.to_string(), "Control.open()");
///
/// let (_, problems) = pedl::parse(SourceId(0), &text.replace("startM", "startm"));
/// assert_eq!(problems[0].help.as_deref(), Some("did you mean `startM`?"));
/// ```
pub fn parse(source: SourceId, text: &str) -> (Script, Vec<Diagnostic>) {
    let mut parser = Parser::new(&LANGUAGE, source, text);
    let script = parser.monitoring_script();
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
    let mut parser = Parser::new(&LANGUAGE, source, text);
    parser.monitoring_script();
    parser.formatted()
}

impl Parser<'_> {
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
            Token::Word("event") => parser.pedl_definition(Sort::Event, &mut script),
            Token::Word("condition") => parser.pedl_definition(Sort::Condition, &mut script),
            Token::Word("import") => {
                let problem = Diagnostic::error(parser.here(), "nothing is imported here").label("unknown");
                parser.report(problem.help("`import` stands in MEDL scripts; a PEDL script exports"));
                parser.skip_line();
                Some(())
            }
            _ => {
                parser.stray("a declaration or a definition", PARTS);
                Some(())
            }
        });
        script
    }

    fn export(&mut self, script: &mut Script) -> Option<()> {
        self.take();
        let sort = match self.at.token {
            Token::Word("event") => Sort::Event,
            Token::Word("condition") => Sort::Condition,
            _ => {
                let problem = self.expected("`event` or `condition`");
                self.report(problem.help("write `export event e1, e2;` or `export condition c;`"));
                return None;
            }
        };
        self.take();
        let names = self.names(&format!("the name of {} {}", article(sort), sort.word()))?;
        script.exports.extend(names.into_iter().map(|name| Export { sort, name }));
        Some(())
    }

    fn flag(&mut self, word: &str, flag: &mut Option<Span>) -> Option<()> {
        let span = self.take();
        match flag {
            Some(first) => {
                let problem = Diagnostic::warning(span, format!("`{word}` is said twice")).label("again");
                self.report(problem.related(*first, "first here"));
            }
            None => *flag = Some(span),
        }
        Some(())
    }

    fn timestamp(&mut self, script: &mut Script) -> Option<()> {
        const HELP: &str = "write `timestamp 100;`: a whole number of milliseconds";
        let start = self.take();
        let Token::Number(written) = self.at.token else {
            let problem = self.expected("a number of milliseconds").help(HELP);
            self.report(problem);
            return None;
        };
        let number = self.take();
        let scale = match self.at.token {
            Token::Word("ms" | "millis" | "milliseconds") => Some(1),
            Token::Word("s" | "sec" | "seconds") => Some(1000),
            Token::Word(word) if !self.at_statement() && !self.at_end() => {
                let problem = Diagnostic::error(self.here(), format!("`{word}` is no unit of time"));
                self.report(problem.label("unknown").help("write `ms` or `s`, or nothing for milliseconds"));
                return None;
            }
            _ => None,
        };
        if scale.is_some() {
            self.take();
        }
        let period = written.parse().ok().and_then(|period: u32| period.checked_mul(scale.unwrap_or(1)));
        let Some(milliseconds) = period.filter(|period| *period > 0) else {
            let problem =
                Diagnostic::error(number, format!("`{written}` is no period")).label("not a period");
            self.report(problem.help(HELP));
            return Some(());
        };
        let span = start.to(number);
        match &script.options.timestamp {
            Some(first) => {
                let problem = Diagnostic::error(span, "`timestamp` is said twice").label("again");
                self.report(problem.related(first.span, "first here").help("keep one"));
            }
            None => script.options.timestamp = Some(Timestamp { milliseconds, span }),
        }
        Some(())
    }

    fn monobj(&mut self, script: &mut Script) -> Option<()> {
        self.take();
        if self.at_word("void") {
            let problem =
                Diagnostic::error(self.here(), "no variable is `void`").label("not a type of variables");
            self.report(problem.help("write `monmeth` for a method"));
            return None;
        }
        let ty_start = self.at.start;
        let ty = self.ty(MONOBJ)?;
        let ty_span = self.since(ty_start);
        if !matches!(self.at.token, Token::Word(_)) {
            let problem = Diagnostic::error(self.here(), "the type of the variable is missing")
                .label("expected the name of a variable")
                .related(ty_span, "this is read as a type")
                .help(MONOBJ);
            self.report(problem);
            return None;
        }
        self.watchable(&ty, ty_span);
        let first = script.monitored.len();
        loop {
            let (alias, path) = self.maybe_alias("the name of a variable")?;
            if path.is_method() {
                let problem = Diagnostic::error(path.span, format!("`{path}` is a method"));
                self.report(problem.label("not a variable").help("write `monmeth` for a method"));
            }
            script.monitored.push(Monitored {
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

    /// Complains about types whose values cannot be reported.
    fn watchable(&mut self, ty: &ProgramType, span: Span) {
        let (what, help) = match &ty.base {
            _ if ty.dimensions > 0 => (format!("`{ty}` is an array"), None),
            Base::Class(name) => (format!("`{name}` is a class"), suggest(name, Type::ALL.map(Type::word))),
            Base::Known(_) => return,
        };
        let help =
            help.unwrap_or_else(|| "name a variable of primitive type in it, as in `A.b1.c1`".to_owned());
        let problem = Diagnostic::error(span, format!("{what}, and whole objects are not watched"));
        self.report(problem.label("neither a primitive type nor `String`").help(help));
    }

    fn monmeth(&mut self, script: &mut Script) -> Option<()> {
        self.take();
        let ty = self.result()?;
        let first = script.monitored.len();
        loop {
            let (alias, path) = self.maybe_alias("the name of a method")?;
            if !path.is_method() {
                let problem = Diagnostic::error(path.span, format!("`{path}` has no list of parameters"));
                self.report(
                    problem
                        .label("not a method")
                        .help(format!("write `{path}()`, with the types if there are any")),
                );
            }
            script.monitored.push(Monitored { is_method: true, ty: ty.clone(), alias, path, scope: None });
            if !self.take_mark(",") {
                break;
            }
        }
        self.scope(&mut script.monitored[first..])
    }

    /// The type of what a method returns. It may be left out, so what is written may be the method already.
    fn result(&mut self) -> Option<Option<ProgramType>> {
        if self.take_word("void") {
            return Some(None);
        }
        let here = self.at.start;
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
            self.jump(here);
            return Some(None);
        }
        if !matches!(self.at.token, Token::Word(_) | Token::Mark("[")) {
            let problem = Diagnostic::error(path.span, format!("`{path}` has no list of parameters"));
            self.report(problem.label("not a method").help(MONMETH));
            return None;
        }
        self.as_type(&path).map(Some)
    }

    /// `alias <- path`, `alias <-> path`, or just a path.
    fn maybe_alias(&mut self, what: &str) -> Option<(Option<Name>, Path)> {
        let path = self.path(what)?;
        if !self.take_mark("<-") && !self.take_mark("<->") {
            return Some((None, path));
        }
        let Some(alias) = path.as_name() else {
            let problem = Diagnostic::error(path.span, "an alias is one name").label("not one name");
            self.report(problem.help("write `alias <- the.name.in.the.program`"));
            return None;
        };
        let alias = Name { text: alias.to_owned(), span: path.span };
        Some((Some(alias), self.path(what)?))
    }

    /// Reads where the names of a declaration are watched.
    fn scope(&mut self, names: &mut [Monitored]) -> Option<()> {
        let is_negated = self.at_word("not");
        if !is_negated && !self.at_word("in") {
            return Some(());
        }
        self.take();
        if is_negated && !self.take_word("in") {
            let problem = self.expected("`in`").help("write `not in` and a package, class or method");
            self.report(problem);
            return None;
        }
        let path = self.path("a package, class or method")?;
        if self.at_mark(",") {
            let problem = self.expected("`;`");
            self.report(
                problem.help("`in` ends a declaration and is for all its names: declare the others apart"),
            );
            return None;
        }
        let scope = Scope { is_negated, path };
        names.iter_mut().for_each(|name| name.scope = Some(scope.clone()));
        Some(())
    }

    fn pedl_definition(&mut self, sort: Sort, script: &mut Script) -> Option<()> {
        let (name, expr) = self.definition(sort.word())?;
        script.definitions.push(Definition { sort, name, expr });
        Some(())
    }
}

fn article(sort: Sort) -> &'static str {
    match sort {
        Sort::Event => "an",
        Sort::Condition => "a",
    }
}
