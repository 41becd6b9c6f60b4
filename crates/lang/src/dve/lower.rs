//! Compiles the syntax tree of a DVE file to a model.

use super::Options;
use super::ast::{File, Name, Process, Transition};
use super::variables::{Buffer, Symbol};
use crate::model::{Claim, ModelFile};
use crate::parsing::cursor::{MAX_DIAGNOSTICS, suggest};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_model::{
    Action, Binary, Expression, LValue, Location, Model, ModelParts, Predicate, Side, Statement,
};
use std::collections::HashMap;

/// The maximum number of actions of a model.
const MAX_ACTIONS: usize = 1 << 16;
/// The maximum number of expressions and statements of all actions.
const MAX_SIZE: usize = 1 << 21;

/// The symbols with the positions of their declarations.
pub(super) type Names<'a> = HashMap<&'a str, (Span, Symbol)>;

pub(super) struct Lowering<'a> {
    pub(super) file: &'a File,
    pub(super) text: &'a str,
    pub(super) options: Options,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
    /// An empty model, used to evaluate constants.
    pub(super) empty_model: Model,
    pub(super) globals: Names<'a>,
    pub(super) processes: Vec<Scope<'a>>,
    /// The buffer of each channel; `None` for a rendezvous channel.
    pub(super) buffers: Vec<Option<Buffer>>,
    /// The property process, by its index in the file.
    pub(super) property: Option<usize>,
    pub(super) parts: ModelParts,
    /// The number of variables that belong to no process.
    pub(super) shared_count: usize,
    /// The size of the variables, against the limit on a configuration.
    pub(super) bits: u64,
    /// The position of each action.
    pub(super) action_spans: Vec<Span>,
    pub(super) claims: Vec<Claim>,
    /// How often each action name has been used.
    action_name_counts: HashMap<String, u32>,
    /// The size of all actions so far, against `MAX_SIZE`.
    size: usize,
}

/// A declared process.
pub(super) struct Scope<'a> {
    pub(super) names: Names<'a>,
    pub(super) states: HashMap<&'a str, u32>,
    /// Its location variable; `None` for the property.
    pub(super) location: Option<u32>,
    /// Its index in the model.
    pub(super) id: u32,
}

/// A transition with resolved names.
pub(super) struct LoweredTransition<'a> {
    pub(super) syntax: &'a Transition,
    /// The index of its process in the file.
    pub(super) process: usize,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) guard: Expression,
    pub(super) sync: Option<LoweredSync>,
    pub(super) effects: Vec<Statement>,
    /// The number of its expressions.
    pub(super) size: usize,
}

/// One side of a lowered synchronisation.
pub(super) struct LoweredSync {
    pub(super) channel: usize,
    pub(super) is_send: bool,
    /// The values sent.
    pub(super) values: Vec<Expression>,
    /// The variables and elements that the received values are assigned to.
    pub(super) targets: Vec<LValue>,
}

pub(super) fn lower(
    file: &File,
    text: &str,
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ModelFile> {
    let mut lowering = Lowering {
        file,
        text,
        options: *options,
        diagnostics,
        empty_model: Model::new(ModelParts::default()).ok()?,
        globals: Names::new(),
        processes: Vec::new(),
        buffers: Vec::new(),
        property: None,
        parts: ModelParts::default(),
        shared_count: 0,
        bits: 0,
        action_spans: Vec::new(),
        claims: Vec::new(),
        action_name_counts: HashMap::new(),
        size: 0,
    };
    lowering.lower_file();
    let Lowering { parts, action_spans, claims, diagnostics, .. } = lowering;
    if diagnostics.iter().any(Diagnostic::is_error) {
        return None;
    }
    let model = match Model::new(parts) {
        Ok(model) => model,
        Err(error) => {
            let span = file.system.as_ref().map_or(file.end, |system| system.span);
            diagnostics.push(Diagnostic::error(span, error.to_string()).label("the whole model"));
            return None;
        }
    };
    Some(ModelFile { model, action_spans, claims, has_mailboxes: false })
}

impl<'a> Lowering<'a> {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports an unknown name.
    pub(super) fn report_unknown<'n>(
        &mut self,
        what: &str,
        name: &str,
        span: Span,
        others: impl IntoIterator<Item = &'n str>,
    ) {
        let diagnostic = Diagnostic::error(span, format!("unknown {what} `{name}`")).label("not declared");
        let help = suggest(name, others).unwrap_or_else(|| "declare it first".to_owned());
        self.report(diagnostic.help(help));
    }

    fn lower_file(&mut self) {
        let file = self.file;
        self.declare_globals();
        let Some(system) = &file.system else {
            let diagnostic = Diagnostic::error(file.end, "the model has no `system` declaration")
                .label("expected `system async;`")
                .help("end the file with `system async;` or `system sync;`");
            return self.report(diagnostic);
        };
        if let Some(name) = &system.property {
            self.property = self.process_called(name);
        }
        for at in 0..file.processes.len() {
            self.declare_process(at);
        }
        let lowered: Vec<Vec<LoweredTransition<'a>>> =
            (0..file.processes.len()).map(|at| self.transitions(at)).collect();
        self.add_assertions();
        if let Some(property) = self.property {
            self.add_property_automaton(property, &lowered[property]);
        }
        // After errors, the remaining passes are skipped.
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return;
        }
        let is_of_model = |(at, _): &(usize, &Vec<LoweredTransition<'a>>)| Some(*at) != self.property;
        let transitions_by_process: Vec<&Vec<LoweredTransition<'a>>> =
            lowered.iter().enumerate().filter(is_of_model).map(|(_, all)| all).collect();
        match system.is_sync {
            true => self.sync_composition(&transitions_by_process),
            false => self.add_async_actions(&transitions_by_process),
        }
    }

    /// Finds a process by name; returns its index in the file.
    pub(super) fn process_called(&mut self, name: &Name) -> Option<usize> {
        if let Some((_, Symbol::Process(at))) = self.globals.get(name.text.as_str()) {
            return Some(*at);
        }
        let file = self.file;
        let others = file.processes.iter().filter_map(|process| Some(process.name.as_ref()?.text.as_str()));
        self.report_unknown("process", &name.text, name.span, others);
        None
    }

    /// Finds a state of a process by name; returns its index in the process.
    pub(super) fn state_called(&mut self, process: usize, name: &Name) -> Option<u32> {
        if let Some(at) = self.processes.get(process).and_then(|scope| scope.states.get(name.text.as_str())) {
            return Some(*at);
        }
        let file = self.file;
        let owner = self.name_of(process);
        let others = file.processes[process].states.iter().map(|state| state.text.as_str());
        let help =
            suggest(&name.text, others).unwrap_or_else(|| format!("add it to the states of `{owner}`"));
        let diagnostic =
            Diagnostic::error(name.span, format!("process `{owner}` has no state `{}`", name.text));
        self.report(diagnostic.label("not declared").help(help));
        None
    }

    pub(super) fn name_of(&self, process: usize) -> &'a str {
        self.file.processes[process].name.as_ref().map_or("", |name| name.text.as_str())
    }

    /// Declares the states and variables of a process.
    fn declare_process(&mut self, at: usize) {
        let process = &self.file.processes[at];
        let name = self.name_of(at);
        let mut scope = Scope {
            names: Names::new(),
            states: HashMap::new(),
            location: None,
            id: self.parts.processes.len() as u32,
        };
        let mut first: HashMap<&str, Span> = HashMap::new();
        for (number, state) in (0..).zip(&process.states) {
            if let Some(earlier) = first.insert(&state.text, state.span) {
                self.report_duplicate(state, earlier);
            }
            scope.states.entry(&state.text).or_insert(number);
        }
        let is_property = self.property == Some(at);
        if !is_property {
            scope.location = Some(self.parts.variables.len() as u32);
        }
        self.processes.push(scope);
        let initial = self.initial_state(at, process);
        if is_property {
            for variable in &process.variables {
                let diagnostic = Diagnostic::error(variable.name.span, "a property process has no variables")
                    .label("not supported")
                    .help("encode it in the states of the property, or use a process of the model");
                self.report(diagnostic);
            }
            return;
        }
        let mut committed = vec![false; process.states.len()];
        for state in &process.committed {
            if let Some(number) = self.state_called(at, state) {
                committed[number as usize] = true;
            }
        }
        let names: Vec<String> = process.states.iter().map(|state| state.text.clone()).collect();
        let location = self.add_location(name, names.clone(), initial);
        let locations = names
            .into_iter()
            .zip(committed)
            .map(|(name, is_committed)| Location { name, is_committed })
            .collect();
        let model_process =
            invigil_model::Process { name: name.to_owned(), location, locations, side: Side::System };
        self.parts.processes.push(model_process);
        self.declare_locals(at);
        for (number, state) in (0..).zip(&process.states) {
            if !self.processes[at].names.contains_key(state.text.as_str()) {
                let name = format!("{name}.{}", state.text);
                self.parts.predicates.push(Predicate { name, expression: is_at(location, number) });
            }
        }
    }

    /// Returns the initial state of a process; reports an error if there is none.
    fn initial_state(&mut self, at: usize, process: &'a Process) -> i64 {
        let name = self.name_of(at);
        let span = process.name.as_ref().map_or(self.file.end, |name| name.span);
        if process.states.is_empty() {
            let diagnostic = Diagnostic::error(span, format!("process `{name}` has no states"));
            self.report(diagnostic.label("no `state` in it").help("write `state NAME, NAME; init NAME;`"));
            return 0;
        }
        let Some(initial) = &process.initial else {
            let diagnostic = Diagnostic::error(span, format!("process `{name}` has no initial state"));
            let help = format!("write `init {};` or another state", process.states[0].text);
            self.report(diagnostic.label("no `init` in it").help(help));
            return 0;
        };
        self.state_called(at, initial).map_or(0, i64::from)
    }

    pub(super) fn report_duplicate(&mut self, name: &Name, earlier: Span) {
        let diagnostic = Diagnostic::error(name.span, format!("`{}` is declared twice", name.text))
            .label("second declaration")
            .related(earlier, "first declaration")
            .help("rename one of them");
        self.report(diagnostic);
    }

    /// Resolves the names in the transitions of a process.
    fn transitions(&mut self, process: usize) -> Vec<LoweredTransition<'a>> {
        let file = self.file;
        file.processes[process]
            .transitions
            .iter()
            .filter_map(|syntax| self.transition(process, syntax))
            .collect()
    }

    fn transition(&mut self, process: usize, syntax: &'a Transition) -> Option<LoweredTransition<'a>> {
        let from = self.state_called(process, &syntax.from);
        let to = self.state_called(process, &syntax.to);
        let guard = match &syntax.guard {
            Some(guard) => self.expression(guard, process),
            None => Some(Expression::Constant(1)),
        };
        let sync = match &syntax.sync {
            Some(sync) => self.sync(sync, process).map(Some),
            None => Some(None),
        };
        let mut effects = Vec::new();
        for (place, value) in &syntax.effects {
            let place = self.assignment_target(place, process);
            let value = self.expression(value, process);
            if let (Some(place), Some(value)) = (place, value) {
                effects.push(self.assign(place, value));
            }
        }
        let (guard, sync) = (guard?, sync?);
        let size = size(&guard, sync.as_ref(), &effects);
        Some(LoweredTransition { syntax, process, from: from?, to: to?, guard, sync, effects, size })
    }

    /// Assigns a value, wrapping it if the options say so.
    pub(super) fn assign(&self, place: LValue, value: Expression) -> Statement {
        Statement::Assign { place, value, wraps: self.options.wraps }
    }

    /// Counts the size of an action. Reports an error and returns false if the total is too large.
    pub(super) fn spend(&mut self, size: usize, span: Span) -> bool {
        self.size += size;
        if self.size <= MAX_SIZE && self.parts.actions.len() < MAX_ACTIONS {
            return true;
        }
        let diagnostic = Diagnostic::error(span, "the model has too many actions")
            .label(format!("more than {MAX_ACTIONS} actions, or actions too large"))
            .help(
                "each pair of transitions that can synchronise, or combine in a step of `system sync`, is an action",
            );
        self.report(diagnostic);
        false
    }

    /// Adds an action. Reports an error and returns false if there are too many.
    pub(super) fn add(&mut self, mut action: Action, span: Span) -> bool {
        if !self.spend(1 + action.effect.len(), span) {
            return false;
        }
        let count = self.action_name_counts.entry(action.name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            action.name = format!("{} #{count}", action.name);
        }
        self.parts.actions.push(action);
        self.action_spans.push(span);
        true
    }
}

/// The condition that a process is in a state.
pub(super) fn is_at(location: u32, state: u32) -> Expression {
    Expression::binary(Binary::Equal, Expression::read(location), Expression::Constant(i64::from(state)))
}

/// The number of expressions of a transition.
fn size(guard: &Expression, sync: Option<&LoweredSync>, effects: &[Statement]) -> usize {
    let mut size = 1;
    let mut count = |expression: &Expression| expression.visit(&mut |_| size += 1);
    count(guard);
    if let Some(sync) = sync {
        sync.values.iter().for_each(&mut count);
        sync.targets.iter().filter_map(|place| place.index.as_deref()).for_each(&mut count);
    }
    for effect in effects {
        if let Statement::Assign { place, value, .. } = effect {
            count(value);
            place.index.as_deref().into_iter().for_each(&mut count);
        }
    }
    size
}
