//! Compiles a PEDL script to the input of a recogniser.

use super::ast::{Definition, EntityDecl, ExportKind, Literal, Options, Path, Script};
use super::entity::{Entity, EntityId};
use crate::mac::ast::{MethodPhase, NodeKind};
use crate::mac::lower::{Build, Compiled, ExpressionCompiler, NameResolver};
use crate::mac::order;
use crate::parsing::cursor::suggest;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_monitor::mac::{ConditionId, ScriptDef, ScriptEventId, Type};
use std::collections::{HashMap, HashSet};

/// A compiled script: names are resolved and types are checked.
#[derive(Clone, Debug)]
pub struct MonitoringScript {
    /// The title, if any.
    pub title: Option<String>,
    /// The input of a recogniser.
    pub parts: ScriptDef,
    /// The monitored entities, in source order.
    pub entities: Vec<Entity>,
    /// The constants of the target that definitions use.
    pub constants: Vec<Constant>,
    /// The exports, in source order.
    pub exports: Vec<ScriptExport>,
    /// How snapshots are taken and sent.
    pub options: Options,
}

/// A constant of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name in the target.
    pub name: String,
    /// Its value in the target.
    pub value: Literal,
    /// The position of its first use.
    pub span: Span,
}

/// An exported event or condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptExport {
    /// Event or condition.
    pub kind: ExportKind,
    /// Its name.
    pub name: String,
    /// The types of the values that an event carries; `None` for an object, which is not monitored. `None` as a
    /// whole if the definition has errors.
    pub values: Option<Vec<Option<Type>>>,
    /// The position of the export.
    pub span: Span,
}

/// Returns the names in a script that are neither declared nor defined, and may be constants of the target. Each is
/// listed once, with its first position.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::pedl;
/// let script = pedl::parse(SourceId(0), "MonScr monobj int A.x; condition c = A.x == A.TOP; End").0;
/// assert_eq!(pedl::constants(&script)[0].0, "A.TOP");
/// ```
pub fn constants(script: &Script) -> Vec<(String, Span)> {
    let mut known: HashSet<String> = script.monitored.iter().map(|one| one.path.to_string()).collect();
    known.extend(script.monitored.iter().filter_map(|one| Some(one.alias.as_ref()?.text.clone())));
    known.extend(script.definitions.iter().map(|one| one.name.text.clone()));
    let nodes = script.definitions.iter().flat_map(|definition| &definition.expr.nodes);
    let paths = nodes.filter_map(|node| match &node.kind {
        NodeKind::Path(path) if may_be_constant(path) => Some(path),
        _ => None,
    });
    paths.filter(|path| known.insert(path.to_string())).map(|path| (path.to_string(), path.span)).collect()
}

/// Returns the exports of a script that may have errors.
pub(crate) fn exports(script: &Script) -> Vec<ScriptExport> {
    let export = |export: &super::ast::Export| ScriptExport {
        kind: export.kind,
        name: export.name.text.clone(),
        values: None,
        span: export.name.span,
    };
    script.exports.iter().map(export).collect()
}

/// Whether a path can be a constant. A path with a method is a method or a local variable.
fn may_be_constant(path: &Path) -> bool {
    path.segments.iter().all(|segment| segment.parameters.is_none())
}

/// Compiles a script: resolves its names, checks its types and builds the input of a recogniser.
///
/// `constants` returns the value of a constant of the target, such as `Control.GATE_DOWN`, or `None`. It is called for
/// undeclared names, and also for declared variables: a `static final` field is never assigned, so its value would
/// never be reported.
///
/// Returns a result if no error is among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::pedl::{self, ast::Literal};
///
/// let text = "MonScr Gate  export condition Down;  monobj int Control.gatePos;
///             condition Down = Control.gatePos == Control.DOWN;  End";
/// let (script, _) = pedl::parse(SourceId(0), text);
/// let (lowered, diagnostics) = pedl::lower(&script, &|name| (name == "Control.DOWN").then_some(Literal::Int(1)));
/// assert!(diagnostics.is_empty());
/// assert_eq!(lowered.unwrap().parts.exports().conditions, ["Down"]);
///
/// let (lowered, diagnostics) = pedl::lower(&script, &|_| None);
/// assert!(lowered.is_none());
/// assert_eq!(diagnostics[0].message, "`Control.DOWN` is neither monitored nor a constant of the target");
/// ```
pub fn lower(
    script: &Script,
    constants: &dyn Fn(&str) -> Option<Literal>,
) -> (Option<MonitoringScript>, Vec<Diagnostic>) {
    let mut build = Build::default();
    let mut names = SymbolTable::declared(script, constants, &mut build);
    names.define(script, &mut build);
    let exports = names.export(script, &mut build);
    if build.has_errors() {
        return (None, build.finish().1);
    }
    names.report_unused(script, &mut build.diagnostics);
    let (parts, diagnostics) = build.finish();
    let lowered = MonitoringScript {
        title: script.title.as_ref().map(|title| title.text.clone()),
        parts,
        entities: names.entities,
        constants: names.constants,
        exports,
        options: script.options.clone(),
    };
    (Some(lowered), diagnostics)
}

/// The names in a path, without parameter types.
fn names_of(path: &Path) -> impl Iterator<Item = &str> {
    path.segments.iter().map(|segment| segment.name.as_str())
}

/// The meaning of a name.
#[derive(Clone, Copy)]
enum Symbol {
    /// A monitored entity.
    Entity(usize),
    /// A definition, and its compiled form; `None` if it has errors.
    Definition(usize, Option<Named>),
}

#[derive(Clone, Copy)]
enum Named {
    Event(ScriptEventId),
    Condition(ConditionId),
}

/// The symbol table of a script.
struct SymbolTable<'a> {
    lookup: &'a dyn Fn(&str) -> Option<Literal>,
    symbols: HashMap<String, Symbol>,
    /// The position of each declaration.
    declared: HashMap<String, Span>,
    entities: Vec<Entity>,
    /// The values of entities that are constants.
    fixed: HashMap<usize, Literal>,
    constants: Vec<Constant>,
    named_constants: HashSet<String>,
    used: HashSet<String>,
}

impl<'a> SymbolTable<'a> {
    fn declared(
        script: &Script,
        lookup: &'a dyn Fn(&str) -> Option<Literal>,
        build: &mut Build,
    ) -> SymbolTable<'a> {
        let mut names = SymbolTable {
            lookup,
            symbols: HashMap::new(),
            declared: HashMap::new(),
            entities: Vec::new(),
            fixed: HashMap::new(),
            constants: Vec::new(),
            named_constants: HashSet::new(),
            used: HashSet::new(),
        };
        for declaration in &script.monitored {
            names.entity(declaration, build);
        }
        for (at, definition) in script.definitions.iter().enumerate() {
            let name = &definition.name;
            names.add(&name.text, name.span, Symbol::Definition(at, None), build);
        }
        names
    }

    fn entity(&mut self, declaration: &EntityDecl, build: &mut Build) {
        let number = self.entities.len();
        let path = declaration.path.to_string();
        let id = match declaration.is_method {
            true => {
                let last = declaration.path.segments.last().and_then(|last| last.parameters.as_deref());
                let parameters: Vec<Option<Type>> =
                    last.unwrap_or_default().iter().map(|ty| ty.script_type()).collect();
                let result = declaration.ty.as_ref().and_then(|ty| ty.script_type());
                EntityId::Method(build.parts.method(&path, &parameters, result))
            }
            false => {
                // The parser has reported types that cannot be monitored.
                let ty = declaration.ty.as_ref().and_then(|ty| ty.script_type()).unwrap_or(Type::Int);
                if may_be_constant(&declaration.path)
                    && let Some(value) = (self.lookup)(&path)
                    && let Some(actual) = value.value().ty()
                {
                    if actual == ty || actual.is_number() && ty.is_number() {
                        self.fixed.insert(number, value);
                    } else {
                        let message = format!(
                            "`{path}` is declared as `{ty}`, but it is a constant of type `{actual}`"
                        );
                        let diagnostic =
                            Diagnostic::error(declaration.path.span, message).label("wrong type");
                        build.diagnostics.push(diagnostic.help(format!("write `monobj {actual} {path};`")));
                    }
                }
                EntityId::Variable(build.parts.variable(&path, ty))
            }
        };
        self.entities.push(Entity::new(id, declaration, self.fixed.contains_key(&number)));
        let symbol = Symbol::Entity(number);
        self.add(&path, declaration.path.span, symbol, build);
        if let Some(alias) = declaration.alias.as_ref().filter(|alias| alias.text != path) {
            self.add(&alias.text, alias.span, symbol, build);
        }
    }

    fn add(&mut self, name: &str, span: Span, symbol: Symbol, build: &mut Build) {
        if let Some(first) = self.declared.get(name) {
            let diagnostic =
                Diagnostic::error(span, format!("`{name}` is declared twice")).label("second declaration");
            build
                .diagnostics
                .push(diagnostic.related(*first, "first declaration").help("remove or rename one of them"));
            return;
        }
        self.declared.insert(name.to_owned(), span);
        self.symbols.insert(name.to_owned(), symbol);
    }

    fn define(&mut self, script: &Script, build: &mut Build) {
        let definitions = &script.definitions;
        let numbers: HashMap<&str, usize> =
            definitions.iter().enumerate().map(|(at, one)| (one.name.text.as_str(), at)).collect();
        let dependencies: order::Dependencies =
            definitions.iter().map(|one| order::references(&one.expr, &numbers).collect()).collect();
        match order::order(&dependencies) {
            Ok(order) => {
                for at in order {
                    let named = self.definition(&definitions[at], build);
                    if let Some(Symbol::Definition(number, slot)) =
                        self.symbols.get_mut(&definitions[at].name.text)
                        && *number == at
                    {
                        *slot = named;
                    }
                }
            }
            Err(cycle) => {
                let cycle: Vec<_> = cycle.into_iter().map(|at| definitions[at].name.clone()).collect();
                build.diagnostics.push(order::cycle_diagnostic(&cycle));
            }
        }
    }

    fn definition(&mut self, definition: &Definition, build: &mut Build) -> Option<Named> {
        let name = &definition.name.text;
        let mut compiler = ExpressionCompiler { build, names: self };
        match definition.kind {
            ExportKind::Event => {
                let event = compiler.event(&definition.expr)?;
                build.parts.define_event(name, event).ok().map(Named::Event)
            }
            ExportKind::Condition => {
                let condition = compiler.condition(&definition.expr, &format!("`{name}`"))?;
                build.parts.define_condition(name, condition).ok().map(Named::Condition)
            }
        }
    }

    fn export(&mut self, script: &Script, build: &mut Build) -> Vec<ScriptExport> {
        let mut exports: Vec<ScriptExport> = Vec::new();
        let mut spans: HashMap<&str, Span> = HashMap::new();
        let defined: HashSet<&str> = script.definitions.iter().map(|one| one.name.text.as_str()).collect();
        for export in &script.exports {
            if build.is_full() {
                break;
            }
            let Build { parts, diagnostics, .. } = build;
            let (name, span, kind) = (&export.name.text, export.name.span, export.kind);
            if let Some(first) = spans.insert(name, span) {
                let diagnostic = Diagnostic::warning(span, format!("`{name}` is exported twice"))
                    .label("second declaration");
                diagnostics.push(diagnostic.related(first, "first declaration"));
                continue;
            }
            let Some(Symbol::Definition(at, named)) = self.symbols.get(name).copied() else {
                // Duplicate definitions have been reported.
                if !defined.contains(name.as_str()) {
                    diagnostics.push(self.undefined(script, name, span, kind));
                }
                continue;
            };
            self.used.insert(name.clone());
            let definition = &script.definitions[at];
            if definition.kind != kind {
                let actual = definition.kind.word();
                let diagnostic =
                    Diagnostic::error(span, format!("`{name}` is defined as `{actual}`")).label("wrong kind");
                let diagnostic = diagnostic.related(definition.name.span, "defined here");
                diagnostics.push(diagnostic.help(format!("write `export {actual} {name};`")));
                continue;
            }
            let values = match named {
                Some(Named::Event(event)) => {
                    _ = parts.export_event(event);
                    parts.event(event).and_then(|event| parts.values_of(event)).ok()
                }
                Some(Named::Condition(condition)) => {
                    _ = parts.export_condition(condition);
                    Some(Vec::new())
                }
                None => None,
            };
            exports.push(ScriptExport { kind, name: name.clone(), values, span });
        }
        exports
    }

    fn undefined(&self, script: &Script, name: &str, span: Span, kind: ExportKind) -> Diagnostic {
        let diagnostic =
            Diagnostic::error(span, format!("`{name}` is exported but not defined")).label("not defined");
        let of_kind = script.definitions.iter().filter(|one| one.kind == kind);
        let help = suggest(name, of_kind.map(|one| one.name.text.as_str()))
            .unwrap_or_else(|| format!("define it: `{} {name} = …;`", kind.word()));
        diagnostic.help(help)
    }

    /// Reports unused definitions and entities, which only cost time.
    fn report_unused(&self, script: &Script, diagnostics: &mut Vec<Diagnostic>) {
        for (declaration, entity) in script.monitored.iter().zip(&self.entities) {
            let path = declaration.path.to_string();
            if !self.used.contains(&path) {
                let diagnostic = Diagnostic::warning(entity.span, format!("`{path}` is not used"))
                    .label("monitored but not used");
                diagnostics.push(diagnostic.help("use it in an event or a condition, or remove it"));
            }
        }
        for definition in &script.definitions {
            let name = &definition.name.text;
            if !self.used.contains(name) {
                let diagnostic = Diagnostic::warning(definition.name.span, format!("`{name}` is not used"));
                let help = format!("export it: `export {} {name};`", definition.kind.word());
                diagnostics.push(diagnostic.label("neither exported nor used").help(help));
            }
        }
    }

    /// Finds an entity and marks it as used.
    fn find_entity(&mut self, path: &Path) -> Option<usize> {
        let Symbol::Entity(number) = *self.symbols.get(&path.to_string())? else { return None };
        self.used.insert(self.entities[number].path.to_string());
        Some(number)
    }

    /// Returns a help text with the most similar name.
    fn suggestion(&self, text: &str) -> Option<String> {
        let mut known: Vec<&str> = self.symbols.keys().map(String::as_str).collect();
        known.sort_unstable();
        suggest(text, known)
    }

    /// The diagnostic for an unknown variable.
    fn unknown(&self, path: &Path) -> Diagnostic {
        let text = path.to_string();
        let message = match path.as_name() {
            Some(name) => format!("unknown name `{name}`"),
            None if may_be_constant(path) => {
                format!("`{text}` is neither monitored nor a constant of the target")
            }
            None => format!("`{text}` is not monitored"),
        };
        let remedy = match path.is_method() {
            true => "a method is not a value: use `startM(…)`, `endM(…)` or `InM(…)`".to_owned(),
            false if may_be_constant(path) => {
                format!("declare it (`monobj int {text};`), or write its value if it is a constant")
            }
            false => format!("declare it: `monobj int {text};`"),
        };
        Diagnostic::error(path.span, message)
            .label("not declared")
            .help(self.suggestion(&text).unwrap_or(remedy))
    }

    /// The diagnostic for an unknown method.
    fn unknown_method(&self, path: &Path) -> Diagnostic {
        let text = path.to_string();
        let diagnostic =
            Diagnostic::error(path.span, format!("`{text}` is not monitored")).label("not declared");
        let is_same = |entity: &&Entity| {
            matches!(entity.id, EntityId::Method(_)) && names_of(&entity.path).eq(names_of(path))
        };
        diagnostic.help(match self.entities.iter().find(is_same) {
            Some(entity) => format!("did you mean `{}`?", entity.path),
            None => self.suggestion(&text).unwrap_or_else(|| match path.is_method() {
                true => format!("declare it: `monmeth void {text};`"),
                false => format!("declare it: `monmeth void {text}();`"),
            }),
        })
    }

    /// Compiles the reading of an entity: a constant, or the value reported last.
    fn read(&self, build: &mut Build, number: usize, span: Span) -> Option<Compiled> {
        let entity = &self.entities[number];
        let result = match (self.fixed.get(&number), entity.id) {
            (Some(value), _) => {
                let constant = build.parts.constant(value.value());
                let ty = entity.ty.as_ref().and_then(|ty| ty.script_type());
                ty.map_or(Ok(constant), |ty| build.parts.cast(ty, constant))
            }
            (None, EntityId::Variable(variable)) => build.parts.read(variable),
            (None, EntityId::Method(_)) => {
                let diagnostic =
                    Diagnostic::error(span, format!("`{}` is a method", entity.path)).label("not a value");
                return build.report(diagnostic.help("use `startM(…)`, `endM(…)` or `InM(…)`"));
            }
        };
        build.or_report_mismatch(span, result).map(Compiled::Value)
    }
}

impl NameResolver for SymbolTable<'_> {
    fn path(&mut self, build: &mut Build, path: &Path) -> Option<Compiled> {
        if let Some(number) = self.find_entity(path) {
            return self.read(build, number, path.span);
        }
        let text = path.to_string();
        if let Some(Symbol::Definition(_, named)) = self.symbols.get(&text) {
            self.used.insert(text);
            // If the definition has errors, they have been reported.
            return match (*named)? {
                Named::Event(event) => build.parts.event(event).ok().map(Compiled::Event),
                Named::Condition(condition) => build.parts.condition(condition).ok().map(Compiled::Value),
            };
        }
        let Some(value) = may_be_constant(path).then(|| (self.lookup)(&text)).flatten() else {
            return build.report(self.unknown(path));
        };
        let constant = build.parts.constant(value.value());
        if self.named_constants.insert(text.clone()) {
            self.constants.push(Constant { name: text, value, span: path.span });
        }
        Some(Compiled::Value(constant))
    }

    fn update(&mut self, build: &mut Build, path: &Path) -> Option<Compiled> {
        let Some(number) = self.find_entity(path) else { return build.report(self.unknown(path)) };
        let EntityId::Variable(variable) = self.entities[number].id else {
            let diagnostic =
                Diagnostic::error(path.span, format!("`{path}` is a method")).label("not a variable");
            return build.report(diagnostic.help("use `startM(…)` or `endM(…)`"));
        };
        let event = build.parts.update_of(variable);
        build.or_report_mismatch(path.span, event).map(Compiled::Event)
    }

    fn method(&mut self, build: &mut Build, phase: MethodPhase, path: &Path) -> Option<Compiled> {
        let Some(number) = self.find_entity(path) else { return build.report(self.unknown_method(path)) };
        let EntityId::Method(method) = self.entities[number].id else {
            let diagnostic =
                Diagnostic::error(path.span, format!("`{path}` is a variable")).label("not a method");
            return build.report(diagnostic.help("use `update(…)`"));
        };
        let result = match phase {
            MethodPhase::Start => build.parts.start_of(method).map(Compiled::Event),
            MethodPhase::End => build.parts.end_of(method).map(Compiled::Event),
            MethodPhase::Either => build.parts.boundary_of(method).map(Compiled::Event),
            MethodPhase::Inside => build.parts.inside(method).map(Compiled::Value),
        };
        build.or_report_mismatch(path.span, result)
    }
}
