//! From a script as it is written to what a recogniser runs.

use super::ast::{Definition, Literal, Monitored, Options, Path, Script, Sort};
use super::entity::{Entity, Id};
use crate::mac::ast::{Kind, Moment};
use crate::mac::lower::{Build, Made, Maker, Names};
use crate::mac::order;
use crate::reading::cursor::suggest;
use invigil_expr::diag::{Diagnostic, Span};
use invigil_monitor::mac::{ConditionId, EventId, Parts, Type};
use std::collections::{HashMap, HashSet};

/// A script whose names are looked up and whose types are checked.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The title, if there is one.
    pub title: Option<String>,
    /// What a recogniser is made of.
    pub parts: Parts,
    /// What is watched in the program, in the order written.
    pub entities: Vec<Entity>,
    /// The constants of the program that definitions read.
    pub constants: Vec<Constant>,
    /// What is exported, in the order written.
    pub exports: Vec<Exported>,
    /// How snapshots are taken and sent.
    pub options: Options,
}

/// A constant of the program, and where it is named first.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Its name in the program.
    pub name: String,
    /// What the program says it is.
    pub value: Literal,
    /// Where it is named.
    pub span: Span,
}

/// Something that a script exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// What it is.
    pub sort: Sort,
    /// Its name.
    pub name: String,
    /// The types of the values that an event carries, where an object, which is not watched, has none. Nothing if that
    /// is not known, because its definition has mistakes.
    pub values: Option<Vec<Option<Type>>>,
    /// Where it is exported.
    pub span: Span,
}

/// The names in a script that are neither declared nor defined: they may be constants of the program. Each comes once,
/// with where it stands first.
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
        Kind::Path(path) if may_be_constant(path) => Some(path),
        _ => None,
    });
    paths.filter(|path| known.insert(path.to_string())).map(|path| (path.to_string(), path.span)).collect()
}

/// What a script exports, as far as it can be known of one that has mistakes.
pub(crate) fn exports(script: &Script) -> Vec<Exported> {
    let export = |export: &super::ast::Export| Exported {
        sort: export.sort,
        name: export.name.text.clone(),
        values: None,
        span: export.name.span,
    };
    script.exports.iter().map(export).collect()
}

/// Methods have no constants in them.
fn may_be_constant(path: &Path) -> bool {
    path.segments.iter().all(|segment| segment.parameters.is_none())
}

/// Looks up the names of a script, checks its types and gives what a recogniser is made of.
///
/// `constants` tells what a name of the program that never changes is, such as `Control.GATE_DOWN`; nothing if there is
/// no such constant. It is asked for names that are not declared, and for variables that are: a `static final` field is
/// never assigned, so nobody would ever hear of its value.
///
/// There is a result if no error is among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::pedl::{self, ast::Literal};
///
/// let text = "MonScr Gate  export condition Down;  monobj int Control.gatePos;
///             condition Down = Control.gatePos == Control.DOWN;  End";
/// let (script, _) = pedl::parse(SourceId(0), text);
/// let (lowered, problems) = pedl::lower(&script, &|name| (name == "Control.DOWN").then_some(Literal::Int(1)));
/// assert!(problems.is_empty());
/// assert_eq!(lowered.unwrap().parts.exports().conditions, ["Down"]);
///
/// let (lowered, problems) = pedl::lower(&script, &|_| None);
/// assert!(lowered.is_none());
/// assert_eq!(problems[0].message, "`Control.DOWN` is neither watched nor a constant of the program");
/// ```
pub fn lower(
    script: &Script,
    constants: &dyn Fn(&str) -> Option<Literal>,
) -> (Option<Lowered>, Vec<Diagnostic>) {
    let mut build = Build::default();
    let mut names = Program::declared(script, constants, &mut build);
    names.define(script, &mut build);
    let exports = names.export(script, &mut build);
    if build.has_errors() {
        return (None, build.finish().1);
    }
    names.unused(script, &mut build.problems);
    let (parts, problems) = build.finish();
    let lowered = Lowered {
        title: script.title.as_ref().map(|title| title.text.clone()),
        parts,
        entities: names.entities,
        constants: names.constants,
        exports,
        options: script.options.clone(),
    };
    (Some(lowered), problems)
}

/// The names in a path, without the types of parameters.
fn names_of(path: &Path) -> impl Iterator<Item = &str> {
    path.segments.iter().map(|segment| segment.name.as_str())
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Symbol {
    /// Something that is watched.
    Entity(usize),
    /// A definition, and what it has become; nothing if there is a mistake in it.
    Definition(usize, Option<Named>),
}

#[derive(Clone, Copy)]
enum Named {
    Event(EventId),
    Condition(ConditionId),
}

/// The names of a script.
struct Program<'a> {
    lookup: &'a dyn Fn(&str) -> Option<Literal>,
    symbols: HashMap<String, Symbol>,
    /// Where each name is declared.
    declared: HashMap<String, Span>,
    entities: Vec<Entity>,
    /// The values of entities that never change.
    fixed: HashMap<usize, Literal>,
    constants: Vec<Constant>,
    named_constants: HashSet<String>,
    used: HashSet<String>,
}

impl<'a> Program<'a> {
    fn declared(
        script: &Script,
        lookup: &'a dyn Fn(&str) -> Option<Literal>,
        build: &mut Build,
    ) -> Program<'a> {
        let mut names = Program {
            lookup,
            symbols: HashMap::new(),
            declared: HashMap::new(),
            entities: Vec::new(),
            fixed: HashMap::new(),
            constants: Vec::new(),
            named_constants: HashSet::new(),
            used: HashSet::new(),
        };
        for written in &script.monitored {
            names.entity(written, build);
        }
        for (at, definition) in script.definitions.iter().enumerate() {
            let name = &definition.name;
            names.add(&name.text, name.span, Symbol::Definition(at, None), build);
        }
        names
    }

    fn entity(&mut self, written: &Monitored, build: &mut Build) {
        let number = self.entities.len();
        let path = written.path.to_string();
        let id = match written.is_method {
            true => {
                let last = written.path.segments.last().and_then(|last| last.parameters.as_deref());
                let parameters: Vec<Option<Type>> =
                    last.unwrap_or_default().iter().map(|ty| ty.known()).collect();
                let result = written.ty.as_ref().and_then(|ty| ty.known());
                Id::Method(build.parts.method(&path, &parameters, result))
            }
            false => {
                // The parser has complained about types that cannot be watched.
                let ty = written.ty.as_ref().and_then(|ty| ty.known()).unwrap_or(Type::Int);
                if may_be_constant(&written.path)
                    && let Some(value) = (self.lookup)(&path)
                    && let Some(is) = value.value().ty()
                {
                    if is == ty || is.is_number() && ty.is_number() {
                        self.fixed.insert(number, value);
                    } else {
                        let message =
                            format!("`{path}` is declared as `{ty}`, and it is a constant of type `{is}`");
                        let problem = Diagnostic::error(written.path.span, message).label("of another type");
                        build.problems.push(problem.help(format!("write `monobj {is} {path};`")));
                    }
                }
                Id::Variable(build.parts.variable(&path, ty))
            }
        };
        self.entities.push(Entity::new(id, written, self.fixed.contains_key(&number)));
        let symbol = Symbol::Entity(number);
        self.add(&path, written.path.span, symbol, build);
        if let Some(alias) = written.alias.as_ref().filter(|alias| alias.text != path) {
            self.add(&alias.text, alias.span, symbol, build);
        }
    }

    fn add(&mut self, name: &str, span: Span, symbol: Symbol, build: &mut Build) {
        if let Some(first) = self.declared.get(name) {
            let problem = Diagnostic::error(span, format!("`{name}` is declared twice")).label("again");
            build
                .problems
                .push(problem.related(*first, "first here").help("keep one, or give one another name"));
            return;
        }
        self.declared.insert(name.to_owned(), span);
        self.symbols.insert(name.to_owned(), symbol);
    }

    fn define(&mut self, script: &Script, build: &mut Build) {
        let definitions = &script.definitions;
        let numbers: HashMap<&str, usize> =
            definitions.iter().enumerate().map(|(at, one)| (one.name.text.as_str(), at)).collect();
        let needs: order::Needs =
            definitions.iter().map(|one| order::named(&one.expr, &numbers).collect()).collect();
        match order::order(&needs) {
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
            Err(circle) => {
                let circle: Vec<_> = circle.into_iter().map(|at| definitions[at].name.clone()).collect();
                build.problems.push(order::circular(&circle));
            }
        }
    }

    fn definition(&mut self, definition: &Definition, build: &mut Build) -> Option<Named> {
        let name = &definition.name.text;
        let mut maker = Maker { build, names: self };
        match definition.sort {
            Sort::Event => {
                let event = maker.event(&definition.expr)?;
                build.parts.define_event(name, event).ok().map(Named::Event)
            }
            Sort::Condition => {
                let condition = maker.condition(&definition.expr, &format!("`{name}`"))?;
                build.parts.define_condition(name, condition).ok().map(Named::Condition)
            }
        }
    }

    fn export(&mut self, script: &Script, build: &mut Build) -> Vec<Exported> {
        let mut exports: Vec<Exported> = Vec::new();
        let mut spans: HashMap<&str, Span> = HashMap::new();
        let defined: HashSet<&str> = script.definitions.iter().map(|one| one.name.text.as_str()).collect();
        for export in &script.exports {
            if build.is_full() {
                break;
            }
            let Build { parts, problems, .. } = build;
            let (name, span, sort) = (&export.name.text, export.name.span, export.sort);
            if let Some(first) = spans.insert(name, span) {
                let problem = Diagnostic::warning(span, format!("`{name}` is exported twice")).label("again");
                problems.push(problem.related(first, "first here"));
                continue;
            }
            let Some(Symbol::Definition(at, named)) = self.symbols.get(name).copied() else {
                // A definition whose name was taken has been complained about.
                if !defined.contains(name.as_str()) {
                    problems.push(self.undefined(script, name, span, sort));
                }
                continue;
            };
            self.used.insert(name.clone());
            let definition = &script.definitions[at];
            if definition.sort != sort {
                let is = definition.sort.word();
                let problem = Diagnostic::error(span, format!("`{name}` is defined as `{is}`"))
                    .label("not of this sort");
                let problem = problem.related(definition.name.span, "defined here");
                problems.push(problem.help(format!("write `export {is} {name};`")));
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
            exports.push(Exported { sort, name: name.clone(), values, span });
        }
        exports
    }

    fn undefined(&self, script: &Script, name: &str, span: Span, sort: Sort) -> Diagnostic {
        let problem =
            Diagnostic::error(span, format!("`{name}` is exported, and not defined")).label("not defined");
        let of_sort = script.definitions.iter().filter(|one| one.sort == sort);
        let help = suggest(name, of_sort.map(|one| one.name.text.as_str()))
            .unwrap_or_else(|| format!("define it: `{} {name} = …;`", sort.word()));
        problem.help(help)
    }

    /// Tells of what nothing uses: it costs time at best.
    fn unused(&self, script: &Script, problems: &mut Vec<Diagnostic>) {
        for (written, entity) in script.monitored.iter().zip(&self.entities) {
            let path = written.path.to_string();
            if !self.used.contains(&path) {
                let problem = Diagnostic::warning(entity.span, format!("nothing uses `{path}`"))
                    .label("watched in vain");
                problems.push(problem.help("define an event or a condition with it, or remove it"));
            }
        }
        for definition in &script.definitions {
            let name = &definition.name.text;
            if !self.used.contains(name) {
                let problem = Diagnostic::warning(definition.name.span, format!("nothing uses `{name}`"));
                let help = format!("export it: `export {} {name};`", definition.sort.word());
                problems.push(problem.label("neither exported nor named elsewhere").help(help));
            }
        }
    }

    /// Finds an entity, and notes that it is used.
    fn watched(&mut self, path: &Path) -> Option<usize> {
        let Symbol::Entity(number) = *self.symbols.get(&path.to_string())? else { return None };
        self.used.insert(self.entities[number].path.to_string());
        Some(number)
    }

    /// The name that was most likely meant.
    fn meant(&self, text: &str) -> Option<String> {
        let mut known: Vec<&str> = self.symbols.keys().map(String::as_str).collect();
        known.sort_unstable();
        suggest(text, known)
    }

    /// Complains about a name that is not known as a variable.
    fn unknown(&self, path: &Path) -> Diagnostic {
        let text = path.to_string();
        let message = match path.as_name() {
            Some(name) => format!("there is no `{name}`"),
            None if may_be_constant(path) => {
                format!("`{text}` is neither watched nor a constant of the program")
            }
            None => format!("`{text}` is not watched"),
        };
        let remedy = match path.is_method() {
            true => "a method is no value: use `startM(…)`, `endM(…)` or `InM(…)` of it".to_owned(),
            false if may_be_constant(path) => {
                format!("declare it (`monobj int {text};`), or write its value if it never changes")
            }
            false => format!("declare it: `monobj int {text};`"),
        };
        Diagnostic::error(path.span, message).label("not declared").help(self.meant(&text).unwrap_or(remedy))
    }

    /// Complains about a name that is not known as a method.
    fn unknown_method(&self, path: &Path) -> Diagnostic {
        let text = path.to_string();
        let problem = Diagnostic::error(path.span, format!("`{text}` is not watched")).label("not declared");
        let is_same = |entity: &&Entity| {
            matches!(entity.id, Id::Method(_)) && names_of(&entity.path).eq(names_of(path))
        };
        problem.help(match self.entities.iter().find(is_same) {
            Some(entity) => format!("did you mean `{}`?", entity.path),
            None => self.meant(&text).unwrap_or_else(|| match path.is_method() {
                true => format!("declare it: `monmeth void {text};`"),
                false => format!("declare it: `monmeth void {text}();`"),
            }),
        })
    }

    /// What a variable is read as: a value that never changes, or the one that was reported last.
    fn read(&self, build: &mut Build, number: usize, span: Span) -> Option<Made> {
        let entity = &self.entities[number];
        let made = match (self.fixed.get(&number), entity.id) {
            (Some(value), _) => {
                let constant = build.parts.constant(value.value());
                let ty = entity.ty.as_ref().and_then(|ty| ty.known());
                ty.map_or(Ok(constant), |ty| build.parts.cast(ty, constant))
            }
            (None, Id::Variable(variable)) => build.parts.read(variable),
            (None, Id::Method(_)) => {
                let problem =
                    Diagnostic::error(span, format!("`{}` is a method", entity.path)).label("not a value");
                return build.problem(problem.help("use `startM(…)`, `endM(…)` or `InM(…)` of it"));
            }
        };
        build.fits(span, made).map(Made::Value)
    }
}

impl Names for Program<'_> {
    fn path(&mut self, build: &mut Build, path: &Path) -> Option<Made> {
        if let Some(number) = self.watched(path) {
            return self.read(build, number, path.span);
        }
        let text = path.to_string();
        if let Some(Symbol::Definition(_, named)) = self.symbols.get(&text) {
            self.used.insert(text);
            // Nothing if it has been complained about where it is defined.
            return match (*named)? {
                Named::Event(event) => build.parts.event(event).ok().map(Made::Event),
                Named::Condition(condition) => build.parts.condition(condition).ok().map(Made::Value),
            };
        }
        let Some(value) = may_be_constant(path).then(|| (self.lookup)(&text)).flatten() else {
            return build.problem(self.unknown(path));
        };
        let constant = build.parts.constant(value.value());
        if self.named_constants.insert(text.clone()) {
            self.constants.push(Constant { name: text, value, span: path.span });
        }
        Some(Made::Value(constant))
    }

    fn update(&mut self, build: &mut Build, path: &Path) -> Option<Made> {
        let Some(number) = self.watched(path) else { return build.problem(self.unknown(path)) };
        let Id::Variable(variable) = self.entities[number].id else {
            let problem =
                Diagnostic::error(path.span, format!("`{path}` is a method")).label("not a variable");
            return build.problem(problem.help("use `startM(…)` or `endM(…)` of it"));
        };
        let event = build.parts.update_of(variable);
        build.fits(path.span, event).map(Made::Event)
    }

    fn method(&mut self, build: &mut Build, moment: Moment, path: &Path) -> Option<Made> {
        let Some(number) = self.watched(path) else { return build.problem(self.unknown_method(path)) };
        let Id::Method(method) = self.entities[number].id else {
            let problem =
                Diagnostic::error(path.span, format!("`{path}` is a variable")).label("not a method");
            return build.problem(problem.help("use `update(…)` of it"));
        };
        let made = match moment {
            Moment::Start => build.parts.start_of(method).map(Made::Event),
            Moment::End => build.parts.end_of(method).map(Made::Event),
            Moment::Either => build.parts.boundary_of(method).map(Made::Event),
            Moment::Inside => build.parts.inside(method).map(Made::Value),
        };
        build.fits(path.span, made)
    }
}
