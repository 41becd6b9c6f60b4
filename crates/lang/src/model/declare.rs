//! Lowers declarations to variables, processes and symbols.

use super::ast::{self, Family, Initial, Item, TypeExpr};
use super::check::Checker;
use super::predicate::type_of;
use super::scope::ScopeCursor;
use super::symbols::{Channel, Decl, Enum, Field, Layout, NameKind, Queue, Record, SymbolTable};
use super::syntax::{Expr, Name};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{Domain, Expression, LValue, ModelParts, Statement, Variable, VariableId};
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of scalar elements of a variable.
const MAX_ELEMENTS: u64 = 1 << 16;
/// The maximum number of elements of all variables: a configuration has no more bits.
const MAX_IN_ALL: u64 = 1 << 18;
/// The maximum capacity of a queue.
const MAX_CAPACITY: i64 = 255;
/// The maximum nesting of arrays and records.
const MAX_DEPTH: u32 = 16;
/// The maximum number of variables of a model, including those of processes and channels.
const MAX_VARIABLES: usize = 1 << 14;
/// The maximum length of an array of processes or channels.
const MAX_FAMILY: i64 = 1 << 10;

/// Collects declarations.
pub(super) struct Declarations<'a> {
    pub(super) symbols: SymbolTable,
    pub(super) parts: ModelParts,
    pub(super) checker: &'a mut Checker,
    pub(super) templates: HashMap<String, (Rc<ast::Process>, bool)>,
    /// The number of elements of all variables so far.
    elements: u64,
}

impl<'a> Declarations<'a> {
    pub(super) fn new(checker: &'a mut Checker) -> Declarations<'a> {
        let (symbols, parts, templates) = (SymbolTable::default(), ModelParts::default(), HashMap::new());
        Declarations { symbols, parts, checker, templates, elements: 0 }
    }

    /// Lowers all declarations; processes come last since they may use later declarations.
    pub(super) fn all(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
        for item in items {
            match item {
                Item::Process(process) => self.process(process),
                Item::Instance { name, array, template, arguments, unit } => {
                    self.instance(name, array.as_ref(), template, arguments, *unit);
                }
                _ => {}
            }
        }
        let unused: Vec<Span> =
            self.templates.values().filter(|(_, used)| !used).map(|(of, _)| of.name.span).collect();
        for span in unused {
            let problem = Diagnostic::warning(span, "this process template has no instances");
            let help = "write `instance A = …(…)`, or remove the parentheses";
            self.checker.report::<()>(problem.label("never instantiated").help(help));
        }
    }

    fn item(&mut self, item: &Item) {
        let (name, meaning) = match item {
            Item::Constant { name, value } => (name, self.constant(value)),
            Item::Enum { name, variants } => (name, self.names(name, variants)),
            Item::Record { name, fields } => (name, self.record(name, fields)),
            Item::Alias { name, of } => (name, self.layout(None, of).map(NameKind::Shape)),
            Item::Variable(declared) => {
                let mut names = HashMap::new();
                self.variables(None, "", core::slice::from_ref(declared), &mut names);
                for name in &declared.names {
                    let meaning = names.remove(&name.text).unwrap_or(NameKind::Broken);
                    self.name(name, meaning);
                }
                return;
            }
            Item::Channel { name, array, capacity, values } => {
                (name, self.channel(name, array.as_ref(), capacity.as_ref(), values).map(NameKind::Decl))
            }
            _ => return,
        };
        self.name(name, meaning.unwrap_or(NameKind::Broken));
    }

    /// Declares a name; reports duplicates.
    pub(super) fn name(&mut self, name: &Name, meaning: NameKind) {
        match self.symbols.places.get(&name.text) {
            Some(first) => {
                let problem = Diagnostic::error(name.span, format!("`{}` is declared twice", name.text));
                let problem = problem.label("second declaration").related(*first, "first declaration");
                self.checker.report::<()>(problem);
            }
            None => {
                self.symbols.places.insert(name.text.clone(), name.span);
                self.symbols.names.insert(name.text.clone(), meaning);
            }
        }
    }

    fn constant(&mut self, value: &Expr) -> Option<NameKind> {
        let here = ScopeCursor::outside(&self.symbols);
        let found = self.checker.check(&here, value, None)?;
        match found.constant() {
            Some(value) => Some(NameKind::Constant(value, found.kind)),
            None => {
                let problem = Diagnostic::error(value.span, "this must be a constant");
                self.checker.report(problem.label("changes while the model runs"))
            }
        }
    }

    fn names(&mut self, name: &Name, variants: &[ast::Variant]) -> Option<NameKind> {
        let mut found: Vec<(String, Vec<Domain>)> = Vec::new();
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for variant in variants {
            if let Some(first) = seen.insert(&variant.name.text, variant.name.span) {
                let message = format!("duplicate `{}`", variant.name.text);
                let problem = Diagnostic::error(variant.name.span, message).label("second declaration");
                self.checker.report::<()>(problem.related(first, "first declaration"));
                continue;
            }
            let mut kinds = Vec::new();
            for value in &variant.values {
                match &*self.layout(None, value)? {
                    Layout::Scalar(kind) => kinds.push(kind.clone()),
                    _ => {
                        let problem =
                            Diagnostic::error(variant.name.span, "events can only carry scalar values");
                        return self.checker.report(problem.label("array or record"));
                    }
                }
            }
            found.push((variant.name.text.clone(), kinds));
        }
        if found.is_empty() {
            let problem = Diagnostic::error(name.span, "this enum has no values").label("empty");
            return self.checker.report(problem);
        }
        let found = Rc::new(Enum { name: name.text.clone(), variants: found });
        self.symbols.enums.push(Rc::clone(&found));
        Some(NameKind::Enum(found))
    }

    fn record(&mut self, name: &Name, fields: &[ast::VariableDecl]) -> Option<NameKind> {
        let mut found: Vec<Field> = Vec::new();
        for declared in fields {
            let layout = self.layout(None, &declared.of)?;
            for field in &declared.names {
                if found.iter().any(|other| other.name == field.text) {
                    let message = format!("the field `{}` is declared twice", field.text);
                    let problem = Diagnostic::error(field.span, message).label("second declaration");
                    self.checker.report::<()>(problem);
                    continue;
                }
                let (layout, initial) = (Rc::clone(&layout), declared.initial.clone());
                found.push(Field { name: field.text.clone(), layout, initial });
            }
        }
        let count = found.iter().fold(0_u64, |sum, field| sum.saturating_add(field.layout.count()));
        if count == 0 || count > MAX_ELEMENTS {
            let problem = Diagnostic::error(name.span, "invalid number of fields in a record");
            return self.checker.report(problem.label(if count == 0 { "none" } else { "too many" }));
        }
        if found.iter().any(|field| field.layout.depth() >= MAX_DEPTH) {
            let problem = Diagnostic::error(name.span, "these records are nested too deeply");
            return self.checker.report(problem.label("too deep"));
        }
        let record = Record { name: name.text.clone(), fields: found, count };
        Some(NameKind::Shape(Rc::new(Layout::Record(Rc::new(record)))))
    }

    /// Resolves a type.
    fn layout(&mut self, instance: Option<usize>, written: &TypeExpr) -> Option<Rc<Layout>> {
        let here = ScopeCursor { instance, ..ScopeCursor::outside(&self.symbols) };
        match written {
            TypeExpr::Boolean => Some(Rc::new(Layout::Scalar(Domain::Boolean))),
            TypeExpr::Range(range) => {
                let (low, high) = self.checker.bounds(&here, range)?;
                Some(Rc::new(Layout::Scalar(Domain::Integer { low, high })))
            }
            TypeExpr::Named(name) => match self.symbols.names.get(&name.text) {
                Some(NameKind::Shape(layout)) => Some(Rc::clone(layout)),
                Some(NameKind::Enum(of)) if of.variants.iter().all(|(_, values)| values.is_empty()) => {
                    Some(Rc::new(Layout::Scalar(Domain::Names(of.names()))))
                }
                Some(NameKind::Enum(_)) => {
                    let message = format!("the values of `{}` carry data", name.text);
                    let problem = Diagnostic::error(name.span, message).label("only allowed in mailboxes");
                    self.checker.report(problem)
                }
                Some(NameKind::Broken) => None,
                other => {
                    let is_known = other.is_some();
                    let message = match is_known {
                        true => format!("`{}` is not a type", name.text),
                        false => format!("unknown type `{}`", name.text),
                    };
                    let types = self.symbols.names.iter().filter_map(|(name, meaning)| match meaning {
                        NameKind::Enum(_) | NameKind::Shape(_) => Some(name.as_str()),
                        _ => None,
                    });
                    let near = invigil_expr::diag::nearest(&name.text, types.chain(["bool"]));
                    let problem = Diagnostic::error(name.span, message).label("not a type");
                    let problem = match near {
                        Some(near) => problem.help(format!("did you mean `{near}`?")),
                        None => problem.help("declare types before they are used"),
                    };
                    self.checker.report(problem)
                }
            },
            TypeExpr::Array(both) => {
                let length = self.checker.constant(&here, &both.0)?;
                let of = self.layout(instance, &both.1)?;
                let count = u64::try_from(length).unwrap_or(0).saturating_mul(of.count());
                if of.depth() >= MAX_DEPTH {
                    let problem = Diagnostic::error(both.0.span, "these arrays are nested too deeply");
                    return self.checker.report(problem.label("too deep"));
                }
                if length < 1 || count > MAX_ELEMENTS {
                    let message = format!("an array must have 1 to {MAX_ELEMENTS} elements in total");
                    let problem = Diagnostic::error(both.0.span, message);
                    return self.checker.report(problem.label(format!("{length} elements here")));
                }
                Some(Rc::new(Layout::Array(length as u32, of)))
            }
        }
    }

    /// Adds a variable; reports an error if there are too many.
    pub(super) fn variable(&mut self, span: Span, variable: Variable) -> Option<VariableId> {
        if self.parts.variables.len() >= MAX_VARIABLES {
            let message = format!("a model has at most {MAX_VARIABLES} variables");
            return self.checker.report(Diagnostic::error(span, message).label("limit reached here"));
        }
        self.elements += u64::from(variable.elements());
        if self.elements > MAX_IN_ALL {
            let message = format!("all variables together have more than {MAX_IN_ALL} elements");
            return self.checker.report(Diagnostic::error(span, message).label("limit reached here"));
        }
        self.parts.variables.push(variable);
        Some(self.parts.variables.len() as VariableId - 1)
    }

    /// Adds a hidden array that only serves to check indices; it takes no space in configurations.
    pub(super) fn guard(&mut self, span: Span, name: &str, length: usize) -> Option<VariableId> {
        let nothing = Domain::Integer { low: 0, high: 0 };
        let guard = Variable { is_hidden: true, ..Variable::array(name, nothing, vec![0; length]) };
        self.variable(span, guard)
    }

    /// Declares the variables of a process, or the shared ones.
    pub(super) fn variables(
        &mut self,
        instance: Option<usize>,
        prefix: &str,
        declared: &[ast::VariableDecl],
        names: &mut HashMap<String, NameKind>,
    ) {
        for declared in declared {
            let layout = self.layout(instance, &declared.of);
            for name in &declared.names {
                let full = format!("{prefix}{}", name.text);
                let thing = layout.as_ref().and_then(|layout| {
                    self.thing(instance, name.span, full, layout, declared.initial.as_ref())
                });
                let meaning = thing.map_or(NameKind::Broken, NameKind::Decl);
                if names.insert(name.text.clone(), meaning).is_some() {
                    let problem = Diagnostic::error(name.span, format!("`{}` is declared twice", name.text));
                    self.checker.report::<()>(problem.label("second declaration"));
                }
            }
        }
    }

    /// Allocates variables for a value of the given type.
    fn thing(
        &mut self,
        instance: Option<usize>,
        span: Span,
        name: String,
        layout: &Layout,
        initial: Option<&Initial>,
    ) -> Option<Decl> {
        match layout {
            Layout::Scalar(kind) => {
                let first = self.first(instance, kind, initial)?;
                let id = self.variable(span, Variable::scalar(name, kind.clone(), first))?;
                if let Some(Initial::Any(range, span)) = initial {
                    let (low, high) = self.choice(instance, kind, range.as_ref(), *span)?;
                    let place = LValue::scalar(id);
                    self.parts.start.push(Statement::Choose { place, low, high });
                }
                Some(Decl::Cell(id, kind.clone()))
            }
            Layout::Array(length, of) => {
                if let Some(Initial::List(values, span)) = initial
                    && values.len() != *length as usize
                {
                    let message = format!("got {} values for {length} elements", values.len());
                    return self
                        .checker
                        .report(Diagnostic::error(*span, message).label("write one value per element"));
                }
                let of_index = |index: usize| match initial {
                    Some(Initial::List(values, _)) => values.get(index),
                    other => other,
                };
                if let Layout::Scalar(kind) = &**of {
                    let mut firsts = Vec::new();
                    for index in 0..*length as usize {
                        firsts.push(self.first(instance, kind, of_index(index))?);
                    }
                    let id = self.variable(span, Variable::array(name, kind.clone(), firsts))?;
                    for index in 0..*length as usize {
                        if let Some(Initial::Any(range, span)) = of_index(index) {
                            let (low, high) = self.choice(instance, kind, range.as_ref(), *span)?;
                            let index = Some(Box::new(Expression::Constant(index as i64)));
                            let place = LValue { variable: id, index };
                            self.parts.start.push(Statement::Choose { place, low, high });
                        }
                    }
                    return Some(Decl::Row(id, kind.clone(), *length));
                }
                let guard = self.guard(span, &name, *length as usize)?;
                let mut items = Vec::new();
                for index in 0..*length as usize {
                    let full = format!("{name}[{index}]");
                    items.push(self.thing(instance, span, full, of, of_index(index))?);
                }
                Some(Decl::Many { guard, low: 0, items: Rc::new(items) })
            }
            Layout::Record(record) => {
                let values = match initial {
                    None => None,
                    Some(Initial::List(values, _)) if values.len() == record.fields.len() => Some(values),
                    Some(Initial::List(_, at) | Initial::Any(_, at)) => {
                        let message = format!("`{}` has {} fields", record.name, record.fields.len());
                        let problem =
                            Diagnostic::error(*at, message).label("expected a list with one value per field");
                        return self
                            .checker
                            .report(problem.help("write `[1, 2]`, in the order of the fields"));
                    }
                    Some(Initial::Value(value)) => {
                        let message = format!("`{}` has {} fields", record.name, record.fields.len());
                        let problem = Diagnostic::error(value.span, message)
                            .label("expected a list with one value per field");
                        return self
                            .checker
                            .report(problem.help("write `[1, 2]`, in the order of the fields"));
                    }
                };
                let mut things = Vec::new();
                for (at, field) in record.fields.iter().enumerate() {
                    let initial = values.map_or(field.initial.as_ref(), |values| values.get(at));
                    let full = format!("{name}.{}", field.name);
                    things.push(self.thing(instance, span, full, &field.layout, initial)?);
                }
                Some(Decl::Record(Rc::clone(record), Rc::new(things)))
            }
        }
    }

    /// Returns the initial value of a variable: the declared one, or 0, or its lowest value.
    fn first(&mut self, instance: Option<usize>, kind: &Domain, initial: Option<&Initial>) -> Option<i64> {
        let default = if kind.holds(0) { 0 } else { kind.range().0 };
        match initial {
            None | Some(Initial::Any(..)) => Some(default),
            Some(Initial::List(_, span)) => {
                let problem = Diagnostic::error(*span, "expected a single value, found a list");
                self.checker.report(problem.label("list"))
            }
            Some(Initial::Value(value)) => {
                let here = ScopeCursor { instance, ..ScopeCursor::outside(&self.symbols) };
                let found = self.checker.expect(&here, value, &type_of(kind))?;
                let Some(known) = found.constant() else {
                    let problem = Diagnostic::error(value.span, "an initial value must be a constant");
                    return self.checker.report(problem.label("changes while the model runs"));
                };
                if !kind.holds(known) {
                    let (low, high) = kind.range();
                    let problem = Diagnostic::error(value.span, format!("{known} is outside {low}..{high}"));
                    return self.checker.report(problem.label("does not fit"));
                }
                Some(known)
            }
        }
    }

    /// Returns the possible values of `any(…)` for a variable.
    fn choice(
        &mut self,
        instance: Option<usize>,
        kind: &Domain,
        range: Option<&super::syntax::Range>,
        span: Span,
    ) -> Option<(i64, i64)> {
        let here = ScopeCursor { instance, ..ScopeCursor::outside(&self.symbols) };
        choice(self.checker, &here, kind, range, span)
    }

    pub(super) fn family(&mut self, family: &Family) -> Option<(i64, i64)> {
        let here = ScopeCursor::outside(&self.symbols);
        let (low, high) = self.checker.bounds(&here, &family.range)?;
        if high - low >= MAX_FAMILY {
            let span = family.range.low.span.to(family.range.high.span);
            let message = format!("at most {MAX_FAMILY} members are supported, found {}", high - low + 1);
            return self.checker.report(Diagnostic::error(span, message).label("too many"));
        }
        Some((low, high))
    }

    fn channel(
        &mut self,
        name: &Name,
        array: Option<&Family>,
        capacity: Option<&Expr>,
        values: &[TypeExpr],
    ) -> Option<Decl> {
        let mut layouts = Vec::new();
        for value in values {
            layouts.push(self.layout(None, value)?);
        }
        let capacity = match capacity {
            None => 0,
            Some(written) => self.capacity(None, written)?,
        };
        let Some(array) = array else {
            return self.one_channel(name.span, name.text.clone(), capacity, &layouts);
        };
        let (low, high) = self.family(array)?;
        let guard = self.guard(name.span, &name.text, (high - low) as usize + 1)?;
        let mut items = Vec::new();
        for index in low..=high {
            items.push(self.one_channel(name.span, format!("{}[{index}]", name.text), capacity, &layouts)?);
        }
        Some(Decl::Many { guard, low, items: Rc::new(items) })
    }

    pub(super) fn capacity(&mut self, instance: Option<usize>, written: &Expr) -> Option<u32> {
        let here = ScopeCursor { instance, ..ScopeCursor::outside(&self.symbols) };
        let capacity = self.checker.constant(&here, written)?;
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            let message = format!("the capacity must be 1 to {MAX_CAPACITY}, not {capacity}");
            let problem = Diagnostic::error(written.span, message).label("out of range");
            let help = "without `[…]`, a channel is a rendezvous channel";
            return self.checker.report(problem.help(help));
        }
        Some(capacity as u32)
    }

    fn one_channel(
        &mut self,
        span: Span,
        name: String,
        capacity: u32,
        values: &[Rc<Layout>],
    ) -> Option<Decl> {
        let queue = match capacity {
            0 => None,
            _ => {
                let leaves: Vec<(Vec<super::symbols::Part>, Domain)> =
                    values.iter().flat_map(|of| of.leaves()).collect();
                let single = leaves.len() == 1;
                let named = leaves.into_iter().enumerate().map(|(at, (_, kind))| {
                    let own = if single { name.clone() } else { format!("{name}.{at}") };
                    (own, kind)
                });
                Some(self.queue(span, &name, capacity, named.collect())?)
            }
        };
        self.symbols.channels.push(Channel { name, values: values.to_vec(), queue });
        Some(Decl::Channel(self.symbols.channels.len() - 1))
    }

    pub(super) fn queue(
        &mut self,
        span: Span,
        name: &str,
        capacity: u32,
        arrays: Vec<(String, Domain)>,
    ) -> Option<Queue> {
        let (mut cells, mut lowest) = (Vec::new(), Vec::new());
        for (name, kind) in arrays {
            let low = kind.range().0;
            lowest.push(low);
            cells.push(self.variable(span, Variable::array(name, kind, vec![low; capacity as usize]))?);
        }
        let room = Domain::Integer { low: 0, high: i64::from(capacity) };
        let length = self.variable(span, Variable::scalar(format!("{name}.length"), room, 0))?;
        Some(Queue { capacity, cells, lowest, length })
    }
}

/// Returns the possible values of `any(…)` for a variable of the given kind.
pub(super) fn choice(
    checker: &mut Checker,
    here: &ScopeCursor<'_>,
    kind: &Domain,
    range: Option<&super::syntax::Range>,
    span: Span,
) -> Option<(i64, i64)> {
    let (low, high) = match range {
        Some(range) => {
            if *kind == Domain::Boolean || matches!(kind, Domain::Names(_)) {
                let problem = Diagnostic::error(range.low.span.to(range.high.span), "expected a number");
                return checker.report(problem.label("range of numbers").help("write `any`"));
            }
            checker.bounds(here, range)?
        }
        None => kind.range(),
    };
    let span = range.map_or(span, |range| range.low.span.to(range.high.span));
    if !kind.holds(low) || !kind.holds(high) {
        let (lowest, highest) = kind.range();
        let problem = Diagnostic::error(span, format!("{low}..{high} is outside {lowest}..{highest}"));
        return checker.report(problem.label("does not fit"));
    }
    if high - low >= 1 << 16 {
        let problem = Diagnostic::error(span, "too many values to choose from");
        return checker.report(problem.label("at most 65536"));
    }
    Some((low, high))
}
