//! The names of a MEDL script, and what they stand for.

use super::ast::{Import, Imported, Variable};
use crate::mac::ast::{Name, Path};
use crate::mac::lower::{Build, Carried, Made, Names, no_program};
use crate::pedl::{Exported, ast::Sort};
use crate::reading::cursor::suggest;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_monitor::mac::{ActionId, AuxiliaryId, ConditionId, EventId, Type, Value};
use std::collections::{HashMap, HashSet};

/// The variable that tells the time.
pub(super) const NOW: &str = "currentTime";

/// What a name stands for.
#[derive(Clone, Copy)]
pub(super) enum Symbol {
    Event(EventId),
    Condition(ConditionId),
    /// An auxiliary variable, and its type as it is declared.
    Variable(AuxiliaryId, Type),
    /// `currentTime`, declared with this type.
    Now(Type),
    Action(ActionId),
    /// A definition that has not been made yet, or that has mistakes.
    Nothing,
}

impl Symbol {
    fn word(self) -> &'static str {
        match self {
            Symbol::Event(_) => "an event",
            Symbol::Condition(_) => "a condition",
            Symbol::Variable(..) | Symbol::Now(_) => "a variable",
            Symbol::Action(_) => "an action",
            Symbol::Nothing => "defined",
        }
    }
}

/// The names of a script.
#[derive(Default)]
pub(super) struct Known<'a> {
    symbols: HashMap<String, Symbol>,
    /// Where each name is declared.
    declared: HashMap<String, Span>,
    /// What could be imported, if that is known.
    exports: Option<HashMap<&'a str, &'a Exported>>,
    /// The actions, by their numbers.
    pub(super) actions: Vec<(String, Span)>,
    pub(super) used: HashSet<String>,
    /// What is known of each value of an imported event, and of those beyond.
    carried: HashMap<String, (Vec<Carried>, Carried)>,
}

impl<'a> Known<'a> {
    pub(super) fn new(exports: Option<&'a [Exported]>) -> Known<'a> {
        let by_name = |exports: &'a [Exported]| exports.iter().map(|one| (one.name.as_str(), one)).collect();
        Known { exports: exports.map(by_name), ..Known::default() }
    }

    /// Adds a name, unless it is taken.
    pub(super) fn add(&mut self, name: &Name, symbol: Symbol, build: &mut Build) {
        if let Some(first) = self.declared.get(&name.text) {
            let problem =
                Diagnostic::error(name.span, format!("`{}` is declared twice", name.text)).label("again");
            build
                .problems
                .push(problem.related(*first, "first here").help("keep one, or give one another name"));
            return;
        }
        self.declared.insert(name.text.clone(), name.span);
        self.symbols.insert(name.text.clone(), symbol);
    }

    /// Says what the definition at `name` has become.
    pub(super) fn made(&mut self, name: &Name, symbol: Symbol) {
        // Of two definitions of one name, the first counts.
        if self.declared.get(&name.text) == Some(&name.span) {
            self.symbols.insert(name.text.clone(), symbol);
        }
    }

    /// Says that an event carries what another one carries.
    pub(super) fn carries(&mut self, event: &str, carrier: &str) {
        if let Some(carried) = self.carried.get(carrier).cloned() {
            self.carried.insert(event.to_owned(), carried);
        }
    }

    pub(super) fn import(&mut self, import: &Import, build: &mut Build) {
        let name = &import.name;
        let symbol = match import.sort {
            Imported::Action => {
                self.actions.push((name.text.clone(), name.span));
                Symbol::Action(build.parts.action(&name.text))
            }
            Imported::Condition => {
                self.check(import, Sort::Condition, build);
                Symbol::Condition(build.parts.import_condition(&name.text))
            }
            Imported::Event => {
                let exported = self.check(import, Sort::Event, build);
                let values = self.values(import, exported, build);
                Symbol::Event(build.parts.import_event(&name.text, &values))
            }
        };
        self.add(name, symbol, build);
    }

    /// Checks that what is imported is exported.
    fn check(&self, import: &Import, sort: Sort, build: &mut Build) -> Option<&'a Exported> {
        let exports = self.exports.as_ref()?;
        let (name, span) = (&import.name.text, import.name.span);
        let Some(export) = exports.get(name.as_str()).copied() else {
            if build.is_full() {
                return None;
            }
            let mut of_sort: Vec<&str> = exports
                .values()
                .filter(|export| export.sort == sort)
                .map(|export| export.name.as_str())
                .collect();
            of_sort.sort_unstable();
            let help = suggest(name, of_sort)
                .unwrap_or_else(|| format!("define it there, and write `export {} {name};`", sort.word()));
            let problem = Diagnostic::error(span, format!("the PEDL script does not export `{name}`"));
            return build.problem(problem.label("not exported").help(help));
        };
        if export.sort != sort {
            let is = export.sort.word();
            let problem =
                Diagnostic::error(span, format!("`{name}` is exported as `{is}`")).label("not of this sort");
            let problem = problem.related(export.span, "exported here");
            return build.problem(problem.help(format!("write `import {is} {name};`")));
        }
        Some(export)
    }

    /// The types of the values that an imported event carries.
    fn values(&mut self, import: &Import, exported: Option<&Exported>, build: &mut Build) -> Vec<Type> {
        let written: Option<Vec<Option<Type>>> =
            import.values.as_ref().map(|types| types.iter().map(|ty| ty.known()).collect());
        let exported = exported.map(|export| (export.values.as_ref(), export.span));
        if let (Some(written), Some((Some(values), span))) = (&written, exported)
            && written != values
        {
            let types = |types: &[Option<Type>]| {
                types.iter().map(|ty| ty.map_or("object", Type::word)).collect::<Vec<_>>().join(", ")
            };
            let name = &import.name;
            let message = format!("`{}` carries ({}), not ({})", name.text, types(values), types(written));
            let problem = Diagnostic::error(name.span, message).label("other values");
            build
                .problems
                .push(problem.related(span, "exported here").help("leave the types out: they are known"));
        }
        let (values, others) = match (written, exported) {
            (Some(written), _) => (written, Carried::Known),
            (None, Some((Some(values), _))) => (values.clone(), Carried::Known),
            (None, Some((None, _))) => (Vec::new(), Carried::Broken),
            // What is imported and not exported has been complained about.
            (None, None) if self.exports.is_some() => (Vec::new(), Carried::Broken),
            (None, None) => (Vec::new(), Carried::Untold),
        };
        let each = values.iter().map(|ty| if ty.is_some() { Carried::Known } else { Carried::Object });
        self.carried.insert(import.name.text.clone(), (each.collect(), others));
        // An object takes its place in the list, and is never read.
        values.into_iter().map(|ty| ty.unwrap_or(Type::Boolean)).collect()
    }

    pub(super) fn variable(&mut self, variable: &Variable, build: &mut Build) {
        let (name, ty) = (&variable.name, variable.ty);
        if name.text == NOW {
            if !ty.is_number() {
                let problem = Diagnostic::error(
                    name.span,
                    format!("`{NOW}` is a number of milliseconds, not a `{ty}`"),
                );
                build
                    .problems
                    .push(problem.label("not a number").help(format!("write `var long {NOW};`, or nothing")));
            }
            let ty = if ty.is_number() { exact(ty) } else { Type::Long };
            return self.add(name, Symbol::Now(ty), build);
        }
        let made = build.parts.auxiliary(&name.text, exact(ty), Value::Undefined);
        if let Some(made) = build.fits(name.span, made) {
            self.add(name, Symbol::Variable(made, ty), build);
        }
    }

    /// The auxiliary variable of this name, which has a prime.
    pub(super) fn auxiliary(
        &mut self,
        name: &str,
        span: Span,
        build: &mut Build,
    ) -> Option<(AuxiliaryId, Type)> {
        match self.symbols.get(name) {
            Some(Symbol::Variable(id, ty)) => Some((*id, *ty)),
            _ if name == NOW => {
                let problem = Diagnostic::error(span, format!("`{NOW}` is set by the program's clock"));
                build.problem(problem.label("has no prime").help("leave the prime out to read it"))
            }
            Some(other) => {
                let problem =
                    Diagnostic::error(span, format!("`{name}` is {}, and has no prime", other.word()));
                let help = "only variables, declared with `var`, have new values";
                build.problem(problem.label("not a variable").help(help))
            }
            None => {
                let variables = self.sorted(|symbol| matches!(symbol, Symbol::Variable(..)));
                let help =
                    suggest(name, variables).unwrap_or_else(|| format!("declare it: `var int {name};`"));
                let problem = Diagnostic::error(span, format!("there is no variable `{name}`"));
                build.problem(problem.label("unknown").help(help))
            }
        }
    }

    /// The action of this name.
    pub(super) fn action(&mut self, name: &Name, build: &mut Build) -> Option<ActionId> {
        if let Some(Symbol::Action(action)) = self.symbols.get(&name.text) {
            self.used.insert(name.text.clone());
            return Some(*action);
        }
        let actions = self.sorted(|symbol| matches!(symbol, Symbol::Action(_)));
        let help = suggest(&name.text, actions)
            .unwrap_or_else(|| format!("declare it: `import action {};`", name.text));
        let problem = Diagnostic::error(name.span, format!("there is no action `{}`", name.text));
        build.problem(problem.label("unknown").help(help))
    }

    fn sorted(&self, is_meant: impl Fn(&Symbol) -> bool) -> Vec<&str> {
        let meant = self.symbols.iter().filter(|(_, symbol)| is_meant(symbol));
        let mut names: Vec<&str> = meant.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let problem = Diagnostic::error(span, format!("there is no `{name}`")).label("unknown");
        let export = self.exports.as_ref().and_then(|exports| exports.get(name));
        problem.help(match export {
            Some(export) => {
                format!("the PEDL script exports it: write `import {} {name};`", export.sort.word())
            }
            None => suggest(name, self.sorted(|_| true).into_iter().chain([NOW])).unwrap_or_else(|| {
                "events and conditions are imported or defined, variables declared with `var`".to_owned()
            }),
        })
    }
}

/// The type that an auxiliary variable has in the checker. Times in milliseconds would soon be too large for a `float`.
fn exact(ty: Type) -> Type {
    match ty {
        Type::Float => Type::Double,
        other => other,
    }
}

impl Names for Known<'_> {
    fn path(&mut self, build: &mut Build, path: &Path) -> Option<Made> {
        let Some(name) = path.as_name() else { return build.problem(no_program(path)) };
        let Some(symbol) = self.symbols.get(name).copied() else {
            return match name {
                NOW => Some(Made::Value(build.parts.now())),
                _ => build.problem(self.unknown(name, path.span)),
            };
        };
        self.used.insert(name.to_owned());
        let made = match symbol {
            Symbol::Event(event) => build.parts.event(event).map(Made::Event),
            Symbol::Condition(condition) => build.parts.condition(condition).map(Made::Value),
            Symbol::Variable(variable, _) => build.parts.unprimed(variable).map(Made::Value),
            Symbol::Now(ty) => {
                let now = build.parts.now();
                build.parts.cast(ty, now).map(Made::Value)
            }
            Symbol::Action(_) => {
                let problem =
                    Diagnostic::error(path.span, format!("`{name}` is an action")).label("not a value");
                return build.problem(problem.help(format!("a guard does it: `e -> {{ invoke {name}; }}`")));
            }
            Symbol::Nothing => return None,
        };
        build.fits(path.span, made)
    }

    fn carried(&self, event: &str, index: u32) -> Carried {
        self.carried
            .get(event)
            .map_or(Carried::Known, |(each, others)| each.get(index as usize).copied().unwrap_or(*others))
    }

    fn primed(&mut self, build: &mut Build, name: &str, span: Span) -> Option<Made> {
        let (variable, _) = self.auxiliary(name, span, build)?;
        self.used.insert(name.to_owned());
        build.parts.primed(variable).ok().map(Made::Value)
    }
}
