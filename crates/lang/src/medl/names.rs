//! Symbol table of a MEDL script.

use super::ast::{Import, ImportKind, Variable};
use crate::mac::ast::{Name, Path};
use crate::mac::lower::{Build, Compiled, NameResolver, ValueKnowledge, not_in_medl};
use crate::parsing::cursor::suggest;
use crate::pedl::{ScriptExport, ast::ExportKind};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_monitor::mac::{ActionId, AuxiliaryId, ConditionId, ScriptEventId, Type, Value};
use std::collections::{HashMap, HashSet};

/// The variable with the current time.
pub(super) const NOW: &str = "currentTime";

/// The meaning of a name.
#[derive(Clone, Copy)]
pub(super) enum Symbol {
    Event(ScriptEventId),
    Condition(ConditionId),
    /// An auxiliary variable with its declared type.
    Variable(AuxiliaryId, Type),
    /// `currentTime`, with its declared type.
    Now(Type),
    Action(ActionId),
    /// A definition that has not been compiled yet, or that has errors.
    Uncompiled,
}

impl Symbol {
    fn word(self) -> &'static str {
        match self {
            Symbol::Event(_) => "an event",
            Symbol::Condition(_) => "a condition",
            Symbol::Variable(..) | Symbol::Now(_) => "a variable",
            Symbol::Action(_) => "an action",
            Symbol::Uncompiled => "a definition",
        }
    }
}

/// The symbol table of a script.
#[derive(Default)]
pub(super) struct SymbolTable<'a> {
    symbols: HashMap<String, Symbol>,
    /// The position of each declaration.
    declared: HashMap<String, Span>,
    /// The exports of the PEDL script, if known.
    exports: Option<HashMap<&'a str, &'a ScriptExport>>,
    /// The actions, by number.
    pub(super) actions: Vec<(String, Span)>,
    pub(super) used: HashSet<String>,
    /// What is known about each value of an imported event, and about further values.
    event_values: HashMap<String, (Vec<ValueKnowledge>, ValueKnowledge)>,
}

impl<'a> SymbolTable<'a> {
    pub(super) fn new(exports: Option<&'a [ScriptExport]>) -> SymbolTable<'a> {
        let by_name =
            |exports: &'a [ScriptExport]| exports.iter().map(|one| (one.name.as_str(), one)).collect();
        SymbolTable { exports: exports.map(by_name), ..SymbolTable::default() }
    }

    /// Adds a name, unless it is declared already.
    pub(super) fn add(&mut self, name: &Name, symbol: Symbol, build: &mut Build) {
        if let Some(first) = self.declared.get(&name.text) {
            let diagnostic = Diagnostic::error(name.span, format!("`{}` is declared twice", name.text))
                .label("second declaration");
            build
                .diagnostics
                .push(diagnostic.related(*first, "first declaration").help("remove or rename one of them"));
            return;
        }
        self.declared.insert(name.text.clone(), name.span);
        self.symbols.insert(name.text.clone(), symbol);
    }

    /// Sets the compiled form of the definition at `name`.
    pub(super) fn set_compiled(&mut self, name: &Name, symbol: Symbol) {
        // If a name is defined twice, the first definition is used.
        if self.declared.get(&name.text) == Some(&name.span) {
            self.symbols.insert(name.text.clone(), symbol);
        }
    }

    /// Records that an event carries the values of another one.
    pub(super) fn set_carrier(&mut self, event: &str, carrier: &str) {
        if let Some(values) = self.event_values.get(carrier).cloned() {
            self.event_values.insert(event.to_owned(), values);
        }
    }

    pub(super) fn import(&mut self, import: &Import, build: &mut Build) {
        let name = &import.name;
        let symbol = match import.kind {
            ImportKind::Action => {
                self.actions.push((name.text.clone(), name.span));
                Symbol::Action(build.parts.action(&name.text))
            }
            ImportKind::Condition => {
                self.check(import, ExportKind::Condition, build);
                Symbol::Condition(build.parts.import_condition(&name.text))
            }
            ImportKind::Event => {
                let exported = self.check(import, ExportKind::Event, build);
                let values = self.values(import, exported, build);
                Symbol::Event(build.parts.import_event(&name.text, &values))
            }
        };
        self.add(name, symbol, build);
    }

    /// Checks that an import is exported.
    fn check(&self, import: &Import, kind: ExportKind, build: &mut Build) -> Option<&'a ScriptExport> {
        let exports = self.exports.as_ref()?;
        let (name, span) = (&import.name.text, import.name.span);
        let Some(export) = exports.get(name.as_str()).copied() else {
            if build.is_full() {
                return None;
            }
            let mut of_kind: Vec<&str> = exports
                .values()
                .filter(|export| export.kind == kind)
                .map(|export| export.name.as_str())
                .collect();
            of_kind.sort_unstable();
            let help = suggest(name, of_kind)
                .unwrap_or_else(|| format!("define it there, and write `export {} {name};`", kind.word()));
            let diagnostic = Diagnostic::error(span, format!("the PEDL script does not export `{name}`"));
            return build.report(diagnostic.label("not exported").help(help));
        };
        if export.kind != kind {
            let actual = export.kind.word();
            let diagnostic =
                Diagnostic::error(span, format!("`{name}` is exported as `{actual}`")).label("wrong kind");
            let diagnostic = diagnostic.related(export.span, "exported here");
            return build.report(diagnostic.help(format!("write `import {actual} {name};`")));
        }
        Some(export)
    }

    /// Returns the types of the values that an imported event carries.
    fn values(&mut self, import: &Import, exported: Option<&ScriptExport>, build: &mut Build) -> Vec<Type> {
        let written: Option<Vec<Option<Type>>> =
            import.values.as_ref().map(|types| types.iter().map(|ty| ty.script_type()).collect());
        let exported = exported.map(|export| (export.values.as_ref(), export.span));
        if let (Some(written), Some((Some(values), span))) = (&written, exported)
            && written != values
        {
            let types = |types: &[Option<Type>]| {
                types.iter().map(|ty| ty.map_or("object", Type::word)).collect::<Vec<_>>().join(", ")
            };
            let name = &import.name;
            let message = format!(
                "`{}` carries ({}), but is imported with ({})",
                name.text,
                types(values),
                types(written)
            );
            let diagnostic = Diagnostic::error(name.span, message).label("wrong types");
            build.diagnostics.push(
                diagnostic
                    .related(span, "exported here")
                    .help("omit the types: they are taken from the export"),
            );
        }
        let (values, others) = match (written, exported) {
            (Some(written), _) => (written, ValueKnowledge::Known),
            (None, Some((Some(values), _))) => (values.clone(), ValueKnowledge::Known),
            (None, Some((None, _))) => (Vec::new(), ValueKnowledge::Broken),
            // An import without an export has been reported.
            (None, None) if self.exports.is_some() => (Vec::new(), ValueKnowledge::Broken),
            (None, None) => (Vec::new(), ValueKnowledge::Undeclared),
        };
        let each =
            values.iter().map(|ty| if ty.is_some() { ValueKnowledge::Known } else { ValueKnowledge::Object });
        self.event_values.insert(import.name.text.clone(), (each.collect(), others));
        // An object keeps its place in the list, but is never read.
        values.into_iter().map(|ty| ty.unwrap_or(Type::Boolean)).collect()
    }

    pub(super) fn variable(&mut self, variable: &Variable, build: &mut Build) {
        let (name, ty) = (&variable.name, variable.ty);
        if name.text == NOW {
            if !ty.is_number() {
                let diagnostic = Diagnostic::error(
                    name.span,
                    format!("`{NOW}` is a number of milliseconds, not a `{ty}`"),
                );
                build.diagnostics.push(
                    diagnostic
                        .label("not a number")
                        .help(format!("write `var long {NOW};`, or remove the declaration")),
                );
            }
            let ty = if ty.is_number() { exact(ty) } else { Type::Long };
            return self.add(name, Symbol::Now(ty), build);
        }
        let result = build.parts.auxiliary(&name.text, exact(ty), Value::Undefined);
        if let Some(id) = build.or_report_mismatch(name.span, result) {
            self.add(name, Symbol::Variable(id, ty), build);
        }
    }

    /// Resolves a primed name to an auxiliary variable.
    pub(super) fn auxiliary(
        &mut self,
        name: &str,
        span: Span,
        build: &mut Build,
    ) -> Option<(AuxiliaryId, Type)> {
        match self.symbols.get(name) {
            Some(Symbol::Variable(id, ty)) => Some((*id, *ty)),
            _ if name == NOW => {
                let diagnostic = Diagnostic::error(span, format!("`{NOW}` cannot be assigned"));
                build.report(diagnostic.label("read-only").help("remove the prime to read it"))
            }
            Some(other) => {
                let diagnostic =
                    Diagnostic::error(span, format!("`{name}` is {} and cannot have a prime", other.word()));
                let help = "only variables declared with `var` can be updated";
                build.report(diagnostic.label("not a variable").help(help))
            }
            None => {
                let variables = self.sorted_names(|symbol| matches!(symbol, Symbol::Variable(..)));
                let help =
                    suggest(name, variables).unwrap_or_else(|| format!("declare it: `var int {name};`"));
                let diagnostic = Diagnostic::error(span, format!("unknown variable `{name}`"));
                build.report(diagnostic.label("unknown").help(help))
            }
        }
    }

    /// Resolves the name of an action.
    pub(super) fn action(&mut self, name: &Name, build: &mut Build) -> Option<ActionId> {
        if let Some(Symbol::Action(action)) = self.symbols.get(&name.text) {
            self.used.insert(name.text.clone());
            return Some(*action);
        }
        let actions = self.sorted_names(|symbol| matches!(symbol, Symbol::Action(_)));
        let help = suggest(&name.text, actions)
            .unwrap_or_else(|| format!("declare it: `import action {};`", name.text));
        let diagnostic = Diagnostic::error(name.span, format!("unknown action `{}`", name.text));
        build.report(diagnostic.label("unknown").help(help))
    }

    /// Returns the names of the symbols that are candidates for a suggestion.
    fn sorted_names(&self, is_candidate: impl Fn(&Symbol) -> bool) -> Vec<&str> {
        let candidates = self.symbols.iter().filter(|(_, symbol)| is_candidate(symbol));
        let mut names: Vec<&str> = candidates.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let diagnostic = Diagnostic::error(span, format!("unknown name `{name}`")).label("unknown");
        let export = self.exports.as_ref().and_then(|exports| exports.get(name));
        diagnostic.help(match export {
            Some(export) => {
                format!("the PEDL script exports it: write `import {} {name};`", export.kind.word())
            }
            None => {
                suggest(name, self.sorted_names(|_| true).into_iter().chain([NOW])).unwrap_or_else(|| {
                    "import or define events and conditions; declare variables with `var`".to_owned()
                })
            }
        })
    }
}

/// The type of an auxiliary variable in the checker. A `float` would be too imprecise for times in milliseconds.
fn exact(ty: Type) -> Type {
    match ty {
        Type::Float => Type::Double,
        other => other,
    }
}

impl NameResolver for SymbolTable<'_> {
    fn path(&mut self, build: &mut Build, path: &Path) -> Option<Compiled> {
        let Some(name) = path.as_name() else { return build.report(not_in_medl(path)) };
        let Some(symbol) = self.symbols.get(name).copied() else {
            return match name {
                NOW => Some(Compiled::Value(build.parts.now())),
                _ => build.report(self.unknown(name, path.span)),
            };
        };
        self.used.insert(name.to_owned());
        let result = match symbol {
            Symbol::Event(event) => build.parts.event(event).map(Compiled::Event),
            Symbol::Condition(condition) => build.parts.condition(condition).map(Compiled::Value),
            Symbol::Variable(variable, _) => build.parts.unprimed(variable).map(Compiled::Value),
            Symbol::Now(ty) => {
                let now = build.parts.now();
                build.parts.cast(ty, now).map(Compiled::Value)
            }
            Symbol::Action(_) => {
                let diagnostic =
                    Diagnostic::error(path.span, format!("`{name}` is an action")).label("not a value");
                return build
                    .report(diagnostic.help(format!("invoke it in a guard: `e -> {{ invoke {name}; }}`")));
            }
            Symbol::Uncompiled => return None,
        };
        build.or_report_mismatch(path.span, result)
    }

    fn event_value(&self, event: &str, index: u32) -> ValueKnowledge {
        self.event_values.get(event).map_or(ValueKnowledge::Known, |(each, others)| {
            each.get(index as usize).copied().unwrap_or(*others)
        })
    }

    fn primed(&mut self, build: &mut Build, name: &str, span: Span) -> Option<Compiled> {
        let (variable, _) = self.auxiliary(name, span, build)?;
        self.used.insert(name.to_owned());
        build.parts.primed(variable).ok().map(Compiled::Value)
    }
}
