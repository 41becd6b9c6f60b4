//! Processes, process arrays, and instances of templates.

use super::ast::{self, IndexRange};
use super::check::Type;
use super::declare::Declarations;
use super::scope::{ModelScope, Resolved};
use super::symbols::{Decl, Instance, Mailbox, NameKind};
use super::syntax::{Expr, ExprKind, Name};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{Domain, Location, Process, Side, Variable};
use std::collections::HashMap;
use std::rc::Rc;

impl Declarations<'_> {
    /// Declares a process, an array of processes, or a template.
    pub(super) fn declare_process(&mut self, process: &Rc<ast::Process>) {
        let declared = Rc::clone(process);
        if process.parameters.is_some() {
            self.declare_name(&process.name, NameKind::Template);
            self.templates.insert(process.name.text.clone(), (declared, false));
            return;
        }
        let decl = self.declare_members(&process.name, process.array.as_ref(), process.side, &declared, &[]);
        self.declare_name(&process.name, decl.map_or(NameKind::Broken, NameKind::Decl));
    }

    pub(super) fn declare_instance(
        &mut self,
        name: &Name,
        array: Option<&IndexRange>,
        template: &Name,
        arguments: &[Expr],
        side: Side,
    ) {
        let decl = self.instantiate(name, array, template, arguments, side);
        self.declare_name(name, decl.map_or(NameKind::Broken, NameKind::Decl));
    }

    fn instantiate(
        &mut self,
        name: &Name,
        array: Option<&IndexRange>,
        template: &Name,
        arguments: &[Expr],
        side: Side,
    ) -> Option<Decl> {
        let Some((declared, is_used)) = self.templates.get_mut(&template.text) else {
            let message = format!("unknown process template `{}`", template.text);
            let mut diagnostic = Diagnostic::error(template.span, message).label("unknown");
            let known = self.templates.keys().map(String::as_str);
            if let Some(near) = invigil_expr::diag::nearest(&template.text, known) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            } else {
                diagnostic = diagnostic.help("declare it with `process P(x, y) { … }` before its instances");
            }
            return self.checker.report(diagnostic);
        };
        *is_used = true;
        let declared = Rc::clone(declared);
        let expected = declared.parameters.as_ref().map_or(0, Vec::len);
        if expected != arguments.len() {
            let message = format!(
                "`{}` has {expected} parameters, but got {} arguments",
                template.text,
                arguments.len()
            );
            return self
                .checker
                .report(Diagnostic::error(name.span.to(template.span), message).label("here"));
        }
        let side = if side == Side::Environment { side } else { declared.side };
        self.declare_members(name, array, side, &declared, arguments)
    }

    fn declare_members(
        &mut self,
        name: &Name,
        array: Option<&IndexRange>,
        side: Side,
        declared: &Rc<ast::Process>,
        arguments: &[Expr],
    ) -> Option<Decl> {
        let Some(array) = array else {
            let (of, full) = (declared, name.text.clone());
            return self.declare_member(name.span, full, side, of, arguments, None).map(Decl::Process);
        };
        let (low, high) = self.index_bounds(array)?;
        let guard = self.add_index_guard(name.span, &name.text, (high - low) as usize + 1)?;
        let mut items = Vec::new();
        for index in low..=high {
            let full = format!("{}[{index}]", name.text);
            let index = Some((array.index.text.as_str(), index));
            items
                .push(Decl::Process(self.declare_member(name.span, full, side, declared, arguments, index)?));
        }
        Some(Decl::Array { guard, low, items: Rc::new(items) })
    }

    /// Declares a single process.
    fn declare_member(
        &mut self,
        span: Span,
        name: String,
        side: Side,
        declared: &Rc<ast::Process>,
        arguments: &[Expr],
        index: Option<(&str, i64)>,
    ) -> Option<usize> {
        let mut names = HashMap::new();
        let index = index.map(|(name, value)| (name.to_owned(), value));
        if let Some(local) = &index {
            self.checker.locals.push(local.clone());
        }
        let parameters = declared.parameters.iter().flatten();
        for (parameter, argument) in parameters.zip(arguments) {
            let meaning = self.template_argument(argument).unwrap_or(NameKind::Broken);
            names.insert(parameter.text.clone(), meaning);
        }
        if let Some((name, value)) = index {
            self.checker.locals.pop();
            // The index name of an array of instances is visible in the arguments only.
            if declared.parameters.is_none() {
                names.insert(name, NameKind::Constant(value, Type::Integer));
            }
        }
        let states = self.locations(declared)?;
        let initial = declared.states.iter().position(|state| state.is_initial).unwrap_or(0);
        let list: Vec<String> = states.iter().map(|state| state.name.clone()).collect();
        let variable = Variable::scalar(name.clone(), Domain::Names(list.clone()), initial as i64);
        let location = self.add_variable(span, variable)?;
        self.parts.processes.push(Process { name: name.clone(), locations: states, location, side });
        self.symbols.instances.push(Instance {
            name: name.clone(),
            declared: Rc::clone(declared),
            names: names.clone(),
            location,
            states: Rc::new(list),
            mailbox: None,
            side,
            priority: 0,
        });
        let id = self.symbols.instances.len() - 1;
        self.declare_variables(Some(id), &format!("{name}."), &declared.variables, &mut names);
        self.symbols.instances[id].names = names;
        if let Some(mailbox) = &declared.mailbox {
            self.symbols.instances[id].mailbox = self.declare_mailbox(id, &name, mailbox);
        }
        if let Some(priority) = &declared.priority {
            let scope = ModelScope { instance: Some(id), ..ModelScope::top_level(&self.symbols) };
            self.symbols.instances[id].priority = super::actions::priority(self.checker, &scope, priority)?;
        }
        Some(id)
    }

    /// Evaluates an argument: a constant, or a shared variable or channel.
    fn template_argument(&mut self, argument: &Expr) -> Option<NameKind> {
        let scope = ModelScope::top_level(&self.symbols);
        if let ExprKind::Path(path) = &argument.kind {
            let is_local =
                path.bare().is_some_and(|name| self.checker.locals.iter().any(|(of, _)| of == name));
            if !is_local && let Resolved::Decl(decl) = scope.resolve(self.checker, path, None)? {
                return Some(NameKind::Decl(decl));
            }
        }
        let found = self.checker.check(&scope, argument, None)?;
        match found.constant() {
            Some(value) => Some(NameKind::Constant(value, found.kind)),
            None => {
                let diagnostic =
                    Diagnostic::error(argument.span, "expected a constant, a variable or a channel");
                self.checker.report(diagnostic.label("not known at compile time"))
            }
        }
    }

    fn locations(&mut self, declared: &ast::Process) -> Option<Vec<Location>> {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for state in &declared.states {
            if let Some(first) = seen.insert(&state.name.text, state.name.span) {
                let message = format!("the state `{}` is declared twice", state.name.text);
                let diagnostic = Diagnostic::error(state.name.span, message).label("second declaration");
                return self.checker.report(diagnostic.related(first, "first declaration"));
            }
        }
        let mut initials = declared.states.iter().filter(|state| state.is_initial);
        if let (Some(first), Some(second)) = (initials.next(), initials.next()) {
            let diagnostic = Diagnostic::error(second.name.span, "a process can have only one initial state");
            let diagnostic =
                diagnostic.label("second declaration").related(first.name.span, "first declaration");
            return self.checker.report(diagnostic);
        }
        if declared.states.is_empty() {
            let message = format!("`{}` has no states", declared.name.text);
            let diagnostic = Diagnostic::error(declared.name.span, message).label("no states");
            return self.checker.report(diagnostic.help("write `state idle { … }`"));
        }
        let location =
            |state: &ast::State| Location { name: state.name.text.clone(), is_committed: state.is_committed };
        Some(declared.states.iter().map(location).collect())
    }

    fn declare_mailbox(&mut self, id: usize, name: &str, syntax: &ast::Mailbox) -> Option<Mailbox> {
        let events = match self.symbols.names.get(&syntax.events.text) {
            Some(NameKind::Enum(events)) => Rc::clone(events),
            Some(NameKind::Broken) => return None,
            _ => {
                let message = format!("unknown enum `{}`", syntax.events.text);
                let diagnostic = Diagnostic::error(syntax.events.span, message).label("unknown");
                let known = self.symbols.enums.iter().map(|of| of.name.as_str());
                return self.checker.report(match invigil_expr::diag::nearest(&syntax.events.text, known) {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic.help("declare events with `enum Signal { open, close }`"),
                });
            }
        };
        let capacity = self.capacity(Some(id), &syntax.capacity)?;
        let mut cells = vec![format!("{name}.mailbox")];
        let mut kinds = vec![Domain::Names(core::iter::once("-".to_owned()).chain(events.names()).collect())];
        let slots = events.variants.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        for slot in 0..slots {
            let of_slot = events.variants.iter().filter_map(|(_, values)| values.get(slot));
            kinds.extend(of_slot.cloned().reduce(|a, b| union(&a, &b)));
            cells.push(format!("{name}.mailbox.{slot}"));
        }
        let arrays = cells.into_iter().zip(kinds).collect();
        let queue = self.add_queue(syntax.span, &format!("{name}.mailbox"), capacity, arrays)?;
        self.parts.variables[queue.length as usize].is_hidden = true;
        let (is_deferred, overflow) = (syntax.is_deferred, syntax.overflow);
        Some(Mailbox { is_deferred, overflow, events, queue })
    }
}

/// The smallest domain that holds all values of both.
fn union(a: &Domain, b: &Domain) -> Domain {
    if a == b {
        return a.clone();
    }
    let ((low, high), (other_low, other_high)) = (a.range(), b.range());
    Domain::Integer { low: low.min(other_low), high: high.max(other_high) }
}
