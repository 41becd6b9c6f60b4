//! Lowers declarations to variables, processes and symbols.

use super::ast::{self, IndexRange, Initial, Item, TypeExpr};
use super::check::Checker;
use super::predicate::type_of;
use super::scope::ModelScope;
use super::symbols::{Channel, Decl, Enum, Field, Layout, NameKind, Queue, Record, SymbolTable};
use super::syntax::{Expr, Name};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{Domain, Expression, LValue, ModelParts, Statement, Variable, VariableId};
use std::collections::HashMap;
use std::rc::Rc;

/// The maximum number of scalar elements of a variable.
const MAX_ELEMENTS: u64 = 1 << 16;
/// The maximum number of elements of all variables: a configuration has no more bits.
const MAX_TOTAL_ELEMENTS: u64 = 1 << 18;
/// The maximum capacity of a queue.
const MAX_CAPACITY: i64 = 255;
/// The maximum nesting of arrays and records.
const MAX_DEPTH: u32 = 16;
/// The maximum number of variables of a model, including those of processes and channels.
const MAX_VARIABLES: usize = 1 << 14;
/// The maximum length of an array of processes or channels.
const MAX_ARRAY_LENGTH: i64 = 1 << 10;

/// Collects declarations.
pub(super) struct Declarations<'a> {
    pub(super) symbols: SymbolTable,
    pub(super) parts: ModelParts,
    pub(super) checker: &'a mut Checker,
    /// The process templates, each with whether it has an instance.
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
    pub(super) fn declare_all(&mut self, items: &[Item]) {
        for item in items {
            self.declare_item(item);
        }
        for item in items {
            match item {
                Item::Process(process) => self.declare_process(process),
                Item::Instance { name, array, template, arguments, side } => {
                    self.declare_instance(name, array.as_ref(), template, arguments, *side);
                }
                _ => {}
            }
        }
        let unused: Vec<Span> =
            self.templates.values().filter(|(_, used)| !used).map(|(of, _)| of.name.span).collect();
        for span in unused {
            let diagnostic = Diagnostic::warning(span, "this process template has no instances");
            let help = "write `instance A = …(…)`, or remove the parentheses";
            self.checker.report::<()>(diagnostic.label("never instantiated").help(help));
        }
    }

    fn declare_item(&mut self, item: &Item) {
        let (name, meaning) = match item {
            Item::Constant { name, value } => (name, self.constant(value)),
            Item::Enum { name, variants } => (name, self.enum_type(name, variants)),
            Item::Record { name, fields } => (name, self.record_type(name, fields)),
            Item::Alias { name, ty } => (name, self.layout(None, ty).map(NameKind::Layout)),
            Item::Variable(declared) => {
                let mut names = HashMap::new();
                self.declare_variables(None, "", core::slice::from_ref(declared), &mut names);
                for name in &declared.names {
                    let meaning = names.remove(&name.text).unwrap_or(NameKind::Broken);
                    self.declare_name(name, meaning);
                }
                return;
            }
            Item::Channel { name, array, capacity, values } => (
                name,
                self.declare_channels(name, array.as_ref(), capacity.as_ref(), values).map(NameKind::Decl),
            ),
            _ => return,
        };
        self.declare_name(name, meaning.unwrap_or(NameKind::Broken));
    }

    /// Declares a name; reports duplicates.
    pub(super) fn declare_name(&mut self, name: &Name, meaning: NameKind) {
        match self.symbols.declaration_spans.get(&name.text) {
            Some(first) => {
                let diagnostic = Diagnostic::error(name.span, format!("`{}` is declared twice", name.text));
                let diagnostic = diagnostic.label("second declaration").related(*first, "first declaration");
                self.checker.report::<()>(diagnostic);
            }
            None => {
                self.symbols.declaration_spans.insert(name.text.clone(), name.span);
                self.symbols.names.insert(name.text.clone(), meaning);
            }
        }
    }

    fn constant(&mut self, value: &Expr) -> Option<NameKind> {
        let scope = ModelScope::top_level(&self.symbols);
        let found = self.checker.check(&scope, value, None)?;
        match found.constant() {
            Some(value) => Some(NameKind::Constant(value, found.kind)),
            None => {
                let diagnostic = Diagnostic::error(value.span, "this must be a constant");
                self.checker.report(diagnostic.label("changes while the model runs"))
            }
        }
    }

    fn enum_type(&mut self, name: &Name, variants: &[ast::Variant]) -> Option<NameKind> {
        let mut found: Vec<(String, Vec<Domain>)> = Vec::new();
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for variant in variants {
            if let Some(first) = seen.insert(&variant.name.text, variant.name.span) {
                let message = format!("duplicate `{}`", variant.name.text);
                let diagnostic = Diagnostic::error(variant.name.span, message).label("second declaration");
                self.checker.report::<()>(diagnostic.related(first, "first declaration"));
                continue;
            }
            let mut kinds = Vec::new();
            for value in &variant.values {
                match &*self.layout(None, value)? {
                    Layout::Scalar(kind) => kinds.push(kind.clone()),
                    _ => {
                        let diagnostic =
                            Diagnostic::error(variant.name.span, "events can only carry scalar values");
                        return self.checker.report(diagnostic.label("array or record"));
                    }
                }
            }
            found.push((variant.name.text.clone(), kinds));
        }
        if found.is_empty() {
            let diagnostic = Diagnostic::error(name.span, "this enum has no values").label("empty");
            return self.checker.report(diagnostic);
        }
        let found = Rc::new(Enum { name: name.text.clone(), variants: found });
        self.symbols.enums.push(Rc::clone(&found));
        Some(NameKind::Enum(found))
    }

    fn record_type(&mut self, name: &Name, fields: &[ast::VariableDecl]) -> Option<NameKind> {
        let mut found: Vec<Field> = Vec::new();
        for declared in fields {
            let layout = self.layout(None, &declared.ty)?;
            for field in &declared.names {
                if found.iter().any(|other| other.name == field.text) {
                    let message = format!("the field `{}` is declared twice", field.text);
                    let diagnostic = Diagnostic::error(field.span, message).label("second declaration");
                    self.checker.report::<()>(diagnostic);
                    continue;
                }
                let (layout, initial) = (Rc::clone(&layout), declared.initial.clone());
                found.push(Field { name: field.text.clone(), layout, initial });
            }
        }
        let count = found.iter().fold(0_u64, |sum, field| sum.saturating_add(field.layout.count()));
        if count == 0 || count > MAX_ELEMENTS {
            let diagnostic = Diagnostic::error(name.span, "invalid number of fields in a record");
            return self.checker.report(diagnostic.label(if count == 0 { "none" } else { "too many" }));
        }
        if found.iter().any(|field| field.layout.depth() >= MAX_DEPTH) {
            let diagnostic = Diagnostic::error(name.span, "these records are nested too deeply");
            return self.checker.report(diagnostic.label("too deep"));
        }
        let record = Record { name: name.text.clone(), fields: found, count };
        Some(NameKind::Layout(Rc::new(Layout::Record(Rc::new(record)))))
    }

    /// Resolves a type.
    fn layout(&mut self, instance: Option<usize>, syntax: &TypeExpr) -> Option<Rc<Layout>> {
        let scope = ModelScope { instance, ..ModelScope::top_level(&self.symbols) };
        match syntax {
            TypeExpr::Boolean => Some(Rc::new(Layout::Scalar(Domain::Boolean))),
            TypeExpr::Range(range) => {
                let (low, high) = self.checker.bounds(&scope, range)?;
                Some(Rc::new(Layout::Scalar(Domain::Integer { low, high })))
            }
            TypeExpr::Named(name) => match self.symbols.names.get(&name.text) {
                Some(NameKind::Layout(layout)) => Some(Rc::clone(layout)),
                Some(NameKind::Enum(of)) if of.variants.iter().all(|(_, values)| values.is_empty()) => {
                    Some(Rc::new(Layout::Scalar(Domain::Names(of.names()))))
                }
                Some(NameKind::Enum(_)) => {
                    let message = format!("the values of `{}` carry data", name.text);
                    let diagnostic = Diagnostic::error(name.span, message).label("only allowed in mailboxes");
                    self.checker.report(diagnostic)
                }
                Some(NameKind::Broken) => None,
                other => {
                    let is_known = other.is_some();
                    let message = match is_known {
                        true => format!("`{}` is not a type", name.text),
                        false => format!("unknown type `{}`", name.text),
                    };
                    let types = self.symbols.names.iter().filter_map(|(name, meaning)| match meaning {
                        NameKind::Enum(_) | NameKind::Layout(_) => Some(name.as_str()),
                        _ => None,
                    });
                    let near = invigil_expr::diag::nearest(&name.text, types.chain(["bool"]));
                    let diagnostic = Diagnostic::error(name.span, message).label("not a type");
                    let diagnostic = match near {
                        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                        None => diagnostic.help("declare types before they are used"),
                    };
                    self.checker.report(diagnostic)
                }
            },
            TypeExpr::Array(operands) => {
                let length = self.checker.constant(&scope, &operands.0)?;
                let of = self.layout(instance, &operands.1)?;
                let count = u64::try_from(length).unwrap_or(0).saturating_mul(of.count());
                if of.depth() >= MAX_DEPTH {
                    let diagnostic = Diagnostic::error(operands.0.span, "these arrays are nested too deeply");
                    return self.checker.report(diagnostic.label("too deep"));
                }
                if length < 1 || count > MAX_ELEMENTS {
                    let message = format!("an array must have 1 to {MAX_ELEMENTS} elements in total");
                    let diagnostic = Diagnostic::error(operands.0.span, message);
                    return self.checker.report(diagnostic.label(format!("{length} elements here")));
                }
                Some(Rc::new(Layout::Array(length as u32, of)))
            }
        }
    }

    /// Adds a variable; reports an error if there are too many.
    pub(super) fn add_variable(&mut self, span: Span, variable: Variable) -> Option<VariableId> {
        if self.parts.variables.len() >= MAX_VARIABLES {
            let message = format!("a model has at most {MAX_VARIABLES} variables");
            return self.checker.report(Diagnostic::error(span, message).label("limit reached here"));
        }
        self.elements += u64::from(variable.elements());
        if self.elements > MAX_TOTAL_ELEMENTS {
            let message = format!("all variables together have more than {MAX_TOTAL_ELEMENTS} elements");
            return self.checker.report(Diagnostic::error(span, message).label("limit reached here"));
        }
        self.parts.variables.push(variable);
        Some(self.parts.variables.len() as VariableId - 1)
    }

    /// Adds a hidden array that only serves to check indices; it takes no space in configurations.
    pub(super) fn add_index_guard(&mut self, span: Span, name: &str, length: usize) -> Option<VariableId> {
        let zero_only = Domain::Integer { low: 0, high: 0 };
        let guard = Variable { is_hidden: true, ..Variable::array(name, zero_only, vec![0; length]) };
        self.add_variable(span, guard)
    }

    /// Declares the variables of a process, or the shared ones.
    pub(super) fn declare_variables(
        &mut self,
        instance: Option<usize>,
        prefix: &str,
        declared: &[ast::VariableDecl],
        names: &mut HashMap<String, NameKind>,
    ) {
        for declared in declared {
            let layout = self.layout(instance, &declared.ty);
            for name in &declared.names {
                let full = format!("{prefix}{}", name.text);
                let decl = layout.as_ref().and_then(|layout| {
                    self.allocate(instance, name.span, full, layout, declared.initial.as_ref())
                });
                let meaning = decl.map_or(NameKind::Broken, NameKind::Decl);
                if names.insert(name.text.clone(), meaning).is_some() {
                    let diagnostic =
                        Diagnostic::error(name.span, format!("`{}` is declared twice", name.text));
                    self.checker.report::<()>(diagnostic.label("second declaration"));
                }
            }
        }
    }

    /// Allocates variables for a value of the given type.
    fn allocate(
        &mut self,
        instance: Option<usize>,
        span: Span,
        name: String,
        layout: &Layout,
        initial: Option<&Initial>,
    ) -> Option<Decl> {
        match layout {
            Layout::Scalar(kind) => {
                let first = self.initial_value(instance, kind, initial)?;
                let id = self.add_variable(span, Variable::scalar(name, kind.clone(), first))?;
                if let Some(Initial::Any(range, span)) = initial {
                    let (low, high) = self.choice_bounds(instance, kind, range.as_ref(), *span)?;
                    let place = LValue::scalar(id);
                    self.parts.start.push(Statement::Choose { place, low, high });
                }
                Some(Decl::Scalar(id, kind.clone()))
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
                    let mut initial_values = Vec::new();
                    for index in 0..*length as usize {
                        initial_values.push(self.initial_value(instance, kind, of_index(index))?);
                    }
                    let id = self.add_variable(span, Variable::array(name, kind.clone(), initial_values))?;
                    for index in 0..*length as usize {
                        if let Some(Initial::Any(range, span)) = of_index(index) {
                            let (low, high) = self.choice_bounds(instance, kind, range.as_ref(), *span)?;
                            let index = Some(Box::new(Expression::Constant(index as i64)));
                            let place = LValue { variable: id, index };
                            self.parts.start.push(Statement::Choose { place, low, high });
                        }
                    }
                    return Some(Decl::ScalarArray(id, kind.clone(), *length));
                }
                let guard = self.add_index_guard(span, &name, *length as usize)?;
                let mut items = Vec::new();
                for index in 0..*length as usize {
                    let full = format!("{name}[{index}]");
                    items.push(self.allocate(instance, span, full, of, of_index(index))?);
                }
                Some(Decl::Array { guard, low: 0, items: Rc::new(items) })
            }
            Layout::Record(record) => {
                let values = match initial {
                    None => None,
                    Some(Initial::List(values, _)) if values.len() == record.fields.len() => Some(values),
                    Some(Initial::List(_, at) | Initial::Any(_, at)) => {
                        let message = format!("`{}` has {} fields", record.name, record.fields.len());
                        let diagnostic =
                            Diagnostic::error(*at, message).label("expected a list with one value per field");
                        return self
                            .checker
                            .report(diagnostic.help("write `[1, 2]`, in the order of the fields"));
                    }
                    Some(Initial::Value(value)) => {
                        let message = format!("`{}` has {} fields", record.name, record.fields.len());
                        let diagnostic = Diagnostic::error(value.span, message)
                            .label("expected a list with one value per field");
                        return self
                            .checker
                            .report(diagnostic.help("write `[1, 2]`, in the order of the fields"));
                    }
                };
                let mut fields = Vec::new();
                for (at, field) in record.fields.iter().enumerate() {
                    let initial = values.map_or(field.initial.as_ref(), |values| values.get(at));
                    let full = format!("{name}.{}", field.name);
                    fields.push(self.allocate(instance, span, full, &field.layout, initial)?);
                }
                Some(Decl::Record(Rc::clone(record), Rc::new(fields)))
            }
        }
    }

    /// Returns the initial value of a variable: the declared one, or 0, or its lowest value.
    fn initial_value(
        &mut self,
        instance: Option<usize>,
        kind: &Domain,
        initial: Option<&Initial>,
    ) -> Option<i64> {
        let default = if kind.holds(0) { 0 } else { kind.range().0 };
        match initial {
            None | Some(Initial::Any(..)) => Some(default),
            Some(Initial::List(_, span)) => {
                let diagnostic = Diagnostic::error(*span, "expected a single value, found a list");
                self.checker.report(diagnostic.label("list"))
            }
            Some(Initial::Value(value)) => {
                let scope = ModelScope { instance, ..ModelScope::top_level(&self.symbols) };
                let found = self.checker.expect(&scope, value, &type_of(kind))?;
                let Some(known) = found.constant() else {
                    let diagnostic = Diagnostic::error(value.span, "an initial value must be a constant");
                    return self.checker.report(diagnostic.label("changes while the model runs"));
                };
                if !kind.holds(known) {
                    let (low, high) = kind.range();
                    let diagnostic =
                        Diagnostic::error(value.span, format!("{known} is outside {low}..{high}"));
                    return self.checker.report(diagnostic.label("does not fit"));
                }
                Some(known)
            }
        }
    }

    /// Returns the possible values of `any(…)` for a variable.
    fn choice_bounds(
        &mut self,
        instance: Option<usize>,
        kind: &Domain,
        range: Option<&super::syntax::Range>,
        span: Span,
    ) -> Option<(i64, i64)> {
        let scope = ModelScope { instance, ..ModelScope::top_level(&self.symbols) };
        choice_bounds(self.checker, &scope, kind, range, span)
    }

    pub(super) fn index_bounds(&mut self, index_range: &IndexRange) -> Option<(i64, i64)> {
        let scope = ModelScope::top_level(&self.symbols);
        let (low, high) = self.checker.bounds(&scope, &index_range.range)?;
        if high - low >= MAX_ARRAY_LENGTH {
            let span = index_range.range.low.span.to(index_range.range.high.span);
            let message =
                format!("at most {MAX_ARRAY_LENGTH} members are supported, found {}", high - low + 1);
            return self.checker.report(Diagnostic::error(span, message).label("too many"));
        }
        Some((low, high))
    }

    fn declare_channels(
        &mut self,
        name: &Name,
        array: Option<&IndexRange>,
        capacity: Option<&Expr>,
        values: &[TypeExpr],
    ) -> Option<Decl> {
        let mut layouts = Vec::new();
        for value in values {
            layouts.push(self.layout(None, value)?);
        }
        let capacity = match capacity {
            None => 0,
            Some(syntax) => self.capacity(None, syntax)?,
        };
        let Some(array) = array else {
            return self.add_channel(name.span, name.text.clone(), capacity, &layouts);
        };
        let (low, high) = self.index_bounds(array)?;
        let guard = self.add_index_guard(name.span, &name.text, (high - low) as usize + 1)?;
        let mut items = Vec::new();
        for index in low..=high {
            items.push(self.add_channel(name.span, format!("{}[{index}]", name.text), capacity, &layouts)?);
        }
        Some(Decl::Array { guard, low, items: Rc::new(items) })
    }

    pub(super) fn capacity(&mut self, instance: Option<usize>, syntax: &Expr) -> Option<u32> {
        let scope = ModelScope { instance, ..ModelScope::top_level(&self.symbols) };
        let capacity = self.checker.constant(&scope, syntax)?;
        if !(1..=MAX_CAPACITY).contains(&capacity) {
            let message = format!("the capacity must be 1 to {MAX_CAPACITY}, not {capacity}");
            let diagnostic = Diagnostic::error(syntax.span, message).label("out of range");
            let help = "without `[…]`, a channel is a rendezvous channel";
            return self.checker.report(diagnostic.help(help));
        }
        Some(capacity as u32)
    }

    fn add_channel(
        &mut self,
        span: Span,
        name: String,
        capacity: u32,
        values: &[Rc<Layout>],
    ) -> Option<Decl> {
        let queue = match capacity {
            0 => None,
            _ => {
                let leaves: Vec<(Vec<super::symbols::Selector>, Domain)> =
                    values.iter().flat_map(|of| of.leaves()).collect();
                let single = leaves.len() == 1;
                let named = leaves.into_iter().enumerate().map(|(at, (_, kind))| {
                    let own = if single { name.clone() } else { format!("{name}.{at}") };
                    (own, kind)
                });
                Some(self.add_queue(span, &name, capacity, named.collect())?)
            }
        };
        self.symbols.channels.push(Channel { name, values: values.to_vec(), queue });
        Some(Decl::Channel(self.symbols.channels.len() - 1))
    }

    pub(super) fn add_queue(
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
            cells.push(self.add_variable(span, Variable::array(name, kind, vec![low; capacity as usize]))?);
        }
        let domain = Domain::Integer { low: 0, high: i64::from(capacity) };
        let length = self.add_variable(span, Variable::scalar(format!("{name}.length"), domain, 0))?;
        Some(Queue { capacity, cells, lowest, length })
    }
}

/// Returns the possible values of `any(…)` for a variable of the given kind.
pub(super) fn choice_bounds(
    checker: &mut Checker,
    scope: &ModelScope<'_>,
    kind: &Domain,
    range: Option<&super::syntax::Range>,
    span: Span,
) -> Option<(i64, i64)> {
    let (low, high) = match range {
        Some(range) => {
            if *kind == Domain::Boolean || matches!(kind, Domain::Names(_)) {
                let diagnostic = Diagnostic::error(range.low.span.to(range.high.span), "expected a number");
                return checker.report(diagnostic.label("range of numbers").help("write `any`"));
            }
            checker.bounds(scope, range)?
        }
        None => kind.range(),
    };
    let span = range.map_or(span, |range| range.low.span.to(range.high.span));
    if !kind.holds(low) || !kind.holds(high) {
        let (lowest, highest) = kind.range();
        let diagnostic = Diagnostic::error(span, format!("{low}..{high} is outside {lowest}..{highest}"));
        return checker.report(diagnostic.label("does not fit"));
    }
    if high - low >= 1 << 16 {
        let diagnostic = Diagnostic::error(span, "too many values to choose from");
        return checker.report(diagnostic.label("at most 65536"));
    }
    Some((low, high))
}
