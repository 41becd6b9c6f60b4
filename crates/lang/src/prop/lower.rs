//! Compiles the syntax tree of a property to an automaton.
//!
//! Names are resolved and blocks are compiled here; all errors are reported together.

use super::ast::{Acceptance, Action, Block, Branch, EventPattern, Name, Property, State, Transition};
use invigil_expr::compile::{self, BlockRole, CompiledBlock, Compiler, HostFunction, Snippet};
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};
use invigil_monitor::automaton::{
    self, Automaton, AutomatonDef, EndVerdict, Guard, MAX_SLICE_PARAMS, MAX_STATES, StateId,
};
use invigil_monitor::decision::DecisionDiagram;
use invigil_monitor::event::{EventCatalog, EventId, Param};
use invigil_monitor::observer::NoopObserver;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use std::collections::{BTreeMap, BTreeSet};

/// The host functions that blocks of a property can call.
pub const HOST_FUNCTIONS: &[HostFunction] = &[HostFunction::new("debugger", 1)];

/// Compiles a property.
///
/// `functions` are files with functions that its blocks may call. Event declarations are added to `catalog`, which
/// all properties of a session share. Returns an automaton if there is no error among the diagnostics.
pub fn lower(
    name: &str,
    property: &Property,
    functions: &[(SourceId, &str)],
    catalog: &mut EventCatalog,
) -> (Option<Automaton>, Vec<Diagnostic>) {
    let mut lowering = Lowering { property, catalog, diagnostics: Vec::new(), states: Vec::new() };
    let automaton = lowering.property(name, functions);
    let diagnostics = lowering.diagnostics;
    let usable = !diagnostics.iter().any(Diagnostic::is_error);
    (automaton.filter(|_| usable), diagnostics)
}

struct Lowering<'a> {
    property: &'a Property,
    catalog: &'a mut EventCatalog,
    diagnostics: Vec<Diagnostic>,
    /// The states, one entry per name, with the declarations that are merged into it.
    states: Vec<(String, Vec<&'a State>)>,
}

/// A transition of one state, with its blocks parsed. An imported transition is parsed once for each state that imports
/// it.
struct ParsedTransition<'a> {
    from: StateId,
    syntax: &'a Transition,
    event: EventId,
    /// Local name and position of each parameter.
    params: Vec<(String, usize)>,
    guard: Option<compile::Block>,
    success: Option<ParsedBranch<'a>>,
    failure: Option<ParsedBranch<'a>>,
}

struct ParsedBranch<'a> {
    syntax: &'a Branch,
    block: Option<compile::Block>,
    action: Option<compile::Block>,
}

impl ParsedTransition<'_> {
    fn blocks(&self) -> impl Iterator<Item = &compile::Block> {
        let branches = [&self.success, &self.failure].into_iter().flatten();
        self.guard.iter().chain(branches.flat_map(|branch| branch.block.iter().chain(&branch.action)))
    }
}

impl<'a> Lowering<'a> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn property(&mut self, name: &str, functions: &[(SourceId, &str)]) -> Option<Automaton> {
        self.collect_states();
        self.check_slice_parameters();
        let initial = self.initial_state();
        let parsed = self.parsed_transitions();
        let bindings = self.bindings(&parsed);
        let files: Vec<compile::Block> = functions
            .iter()
            .filter_map(|(source, text)| {
                compile::Block::parse(Snippet::file(*source, text), &mut self.diagnostics)
            })
            .collect();
        let initialization = self.property.initialization.as_ref().and_then(|block| self.parse_block(block));
        let actions: Vec<Option<compile::Block>> = self
            .states
            .clone()
            .iter()
            .map(|(_, declarations)| {
                let action = declarations.iter().find_map(|state| state.action.as_ref())?;
                self.parse_action(action)
            })
            .collect();

        let all_actions = actions.iter().flatten();
        let (env, initialized_count) = environment(initialization.as_ref(), &parsed, all_actions, &files);
        let mut compiler = Compiler::new(env.clone(), HOST_FUNCTIONS).initialized(initialized_count);
        files.iter().chain(&initialization).for_each(|block| compiler.declare(block));
        for file in &files {
            compiler.functions(file);
            compiler.block(file, &[], BlockRole::Functions);
        }
        if let Some(block) = &initialization {
            compiler.functions(block);
        }
        let initialization = initialization
            .as_ref()
            .and_then(|block| compiler.block(block, &[], BlockRole::Initialization))
            .map(|compiled| compiled.code);

        let names: Vec<String> = self.states.iter().map(|(name, _)| name.clone()).collect();
        let mut states = Vec::new();
        for ((name, declarations), action) in self.states.iter().zip(&actions) {
            let acceptance = declarations.iter().find_map(|state| state.acceptance);
            states.push(automaton::State {
                name: name.clone(),
                verdict: match acceptance {
                    Some((Acceptance::Accepting, _)) => Verdict::Accepting,
                    Some((Acceptance::NonAccepting, _)) => Verdict::NonAccepting,
                    None => Verdict::Undecided,
                },
                is_final: declarations.iter().any(|state| state.final_span.is_some()),
                action: action
                    .as_ref()
                    .and_then(|block| compiler.block(block, &[], BlockRole::Update { states: &[] }))
                    .map(|compiled| compiled.code),
                at_end: EndVerdict::Nothing,
                span: declarations[0].name.span,
            });
        }
        let mut transitions = Vec::new();
        for transition in &parsed {
            transitions.push(self.transition(transition, &names, &mut compiler));
        }
        let (program, mut diagnostics) = compiler.finish();
        // Imported transitions are compiled once per state: report their errors once.
        diagnostics.retain(|diagnostic| !self.diagnostics.contains(diagnostic));
        for diagnostic in diagnostics {
            if !self.diagnostics.contains(&diagnostic) {
                self.report(diagnostic);
            }
        }
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return None;
        }
        let automaton = Automaton::new(AutomatonDef {
            name: name.into(),
            formula: None,
            slice_on: self.property.slice_on.iter().map(|param| param.text.clone()).collect(),
            bindings,
            env,
            initialization,
            states,
            initial: initial?,
            transitions,
            decisions: DecisionDiagram::default(),
            program,
        });
        self.check_initialization(&automaton, initialized_count);
        Some(automaton)
    }

    // ---- states --------------------------------------------------------------------------------------

    fn collect_states(&mut self) {
        for state in &self.property.states {
            match self.states.iter_mut().find(|(name, _)| *name == state.name.text) {
                Some((_, declarations)) => {
                    let first = declarations[0];
                    declarations.push(state);
                    let contradictory = match (first.acceptance, state.acceptance) {
                        (Some((one, _)), Some((other, _))) => one != other,
                        _ => false,
                    };
                    let name = &state.name.text;
                    self.diagnostics.push(
                        match contradictory {
                            true => Diagnostic::error(
                                state.name.span,
                                format!("state `{name}` is declared twice, with conflicting modifiers"),
                            ),
                            false => Diagnostic::warning(
                                state.name.span,
                                format!("state `{name}` is declared twice: the transitions are merged"),
                            ),
                        }
                        .related(first.name.span, "first declared here"),
                    );
                }
                None => self.states.push((state.name.text.clone(), vec![state])),
            }
        }
        if self.states.len() > MAX_STATES {
            let span = self.property.states[MAX_STATES].name.span;
            self.report(Diagnostic::error(span, format!("more than {MAX_STATES} states are not supported")));
            self.states.truncate(MAX_STATES);
        }
    }

    fn state_named(&mut self, name: &Name) -> Option<StateId> {
        let found = self.states.iter().position(|(known, _)| *known == name.text);
        if found.is_none() {
            let mut diagnostic = Diagnostic::error(name.span, format!("unknown state `{}`", name.text));
            if let Some(near) = nearest(&name.text, self.states.iter().map(|(known, _)| known.as_str())) {
                diagnostic = diagnostic.help(format!("did you mean `{near}`?"));
            }
            if !self.diagnostics.contains(&diagnostic) {
                self.report(diagnostic);
            }
        }
        found.map(|at| at as StateId)
    }

    fn initial_state(&mut self) -> Option<StateId> {
        let found = self.states.iter().position(|(name, _)| name == "init");
        if found.is_none() {
            let span = self.property.states.first().map_or(Span::default(), |state| state.name.span);
            self.report(
                Diagnostic::error(span, "the initial state `init` is missing")
                    .label("a property starts in its state `init`")
                    .help("rename the first state to `init`"),
            );
        }
        found.map(|at| at as StateId)
    }

    /// Collects the transitions of a state. Within each declaration, imported transitions come first: its own are tried
    /// only if none of those applies.
    fn transitions_of(
        &mut self,
        declarations: &[&'a State],
        path: &mut Vec<String>,
        imported_already: &mut Vec<String>,
        out: &mut Vec<&'a Transition>,
    ) {
        for state in declarations {
            for import in &state.imports {
                let Some(from) = self.state_named(import) else { continue };
                let (name, imported) = self.states[usize::from(from)].clone();
                if path.contains(&name) {
                    let diagnostic =
                        Diagnostic::error(import.span, format!("`{name}` imports its own transitions"))
                            .help("remove one of the imports in the cycle");
                    if !self.diagnostics.contains(&diagnostic) {
                        self.report(diagnostic);
                    }
                    continue;
                }
                // A second import would only try the same transitions again.
                if imported_already.contains(&name) {
                    continue;
                }
                imported_already.push(name.clone());
                path.push(name);
                self.transitions_of(&imported, path, imported_already, out);
                path.pop();
            }
            out.extend(&state.transitions);
        }
    }

    // ---- transitions ---------------------------------------------------------------------------------

    fn parsed_transitions(&mut self) -> Vec<ParsedTransition<'a>> {
        let mut parsed = Vec::new();
        for (from, (name, declarations)) in self.states.clone().into_iter().enumerate() {
            let mut transitions = Vec::new();
            self.transitions_of(&declarations, &mut vec![name], &mut Vec::new(), &mut transitions);
            for syntax in transitions {
                let (event, params) = self.event(&syntax.event);
                let guard = syntax.guard.as_ref().and_then(|block| self.parse_block(block));
                let success = syntax.success.as_ref().map(|branch| self.parse_branch(branch));
                let failure = syntax.failure.as_ref().map(|branch| self.parse_branch(branch));
                parsed.push(ParsedTransition {
                    from: from as StateId,
                    syntax,
                    event,
                    params,
                    guard,
                    success,
                    failure,
                });
            }
        }
        parsed
    }

    fn event(&mut self, event: &EventPattern) -> (EventId, Vec<(String, usize)>) {
        let id = self.catalog.declare(&event.name.text, event.kind);
        let mut params: Vec<(String, usize)> = Vec::new();
        for param in &event.params {
            let name = &param.name.text;
            if params.iter().any(|(known, _)| known == name) {
                let diagnostic =
                    Diagnostic::error(param.name.span, format!("this event has two parameters `{name}`"))
                        .help("rename one of them with `as`");
                if !self.diagnostics.contains(&diagnostic) {
                    self.report(diagnostic);
                }
                continue;
            }
            let wanted =
                Param { source: param.source.clone(), name: name.clone(), ty: param.ty.map(|(ty, _)| ty) };
            params.push((name.clone(), self.catalog.declare_param(id, &wanted)));
        }
        (id, params)
    }

    fn parse_block(&mut self, block: &Block) -> Option<compile::Block> {
        let program = block.dedent();
        let locate = |at: u32| program.to_file(at);
        let snippet = Snippet { source_id: block.span.source, text: &program.text, locate: &locate };
        self.parse_snippet(snippet)
    }

    fn parse_action(&mut self, action: &Action) -> Option<compile::Block> {
        let locate = |at: u32| action.span.start + at;
        self.parse_snippet(Snippet { source_id: action.span.source, text: &action.text, locate: &locate })
    }

    /// Parses a block. Errors in blocks that several states share are reported once.
    fn parse_snippet(&mut self, snippet: Snippet<'_>) -> Option<compile::Block> {
        let mut diagnostics = Vec::new();
        let block = compile::Block::parse(snippet, &mut diagnostics);
        for diagnostic in diagnostics {
            if !self.diagnostics.contains(&diagnostic) {
                self.report(diagnostic);
            }
        }
        block
    }

    fn parse_branch(&mut self, branch: &'a Branch) -> ParsedBranch<'a> {
        ParsedBranch {
            syntax: branch,
            block: branch.block.as_ref().and_then(|block| self.parse_block(block)),
            action: branch.action.as_ref().and_then(|action| self.parse_action(action)),
        }
    }

    fn transition(
        &mut self,
        parsed: &ParsedTransition<'_>,
        states: &[String],
        compiler: &mut Compiler,
    ) -> automaton::Transition {
        let syntax = parsed.syntax;
        let mut reads = BTreeSet::new();
        let mut guard = None;
        if let Some(block) = &parsed.guard
            && let Some(compiled) = compiler.block(block, &parsed.params, BlockRole::Guard)
        {
            reads.extend(compiled.params);
            guard = Some(Guard { code: compiled.code, is_update: !block.has_return });
        }
        if let Some(failure) = &syntax.failure
            && parsed.guard.as_ref().is_none_or(|block| !block.has_return)
        {
            self.warn_once(
                Diagnostic::warning(failure.span, "this branch is never taken")
                    .label("no guard that can be false")
                    .help("write a guard after the event: a block that returns True or False"),
            );
        }
        let mut success = self.branch(&parsed.success, &parsed.params, states, compiler, &mut reads);
        let failure = self.branch(&parsed.failure, &parsed.params, states, compiler, &mut reads);
        if success.is_none() && guard.is_none_or(|guard| guard.is_update) {
            // The guard is missing or only updates, so the result is success; without a `success` branch the state stays
            // the same.
            success = Some(automaton::BranchEffect::default());
        }
        automaton::Transition {
            from: parsed.from,
            event: parsed.event,
            guard,
            success,
            failure,
            reads: reads.into_iter().collect(),
            condition: None,
            span: syntax.span,
        }
    }

    fn warn_once(&mut self, diagnostic: Diagnostic) {
        if !self.diagnostics.contains(&diagnostic) {
            self.report(diagnostic);
        }
    }

    fn branch(
        &mut self,
        branch: &Option<ParsedBranch<'_>>,
        params: &[(String, usize)],
        states: &[String],
        compiler: &mut Compiler,
        reads: &mut BTreeSet<usize>,
    ) -> Option<automaton::BranchEffect> {
        let branch = branch.as_ref()?;
        let mut compile_block = |block: &Option<compile::Block>, role| -> Option<CompiledBlock> {
            let compiled = compiler.block(block.as_ref()?, params, role)?;
            reads.extend(&compiled.params);
            Some(compiled)
        };
        let block = compile_block(&branch.block, BlockRole::Update { states });
        let action = compile_block(&branch.action, BlockRole::Update { states: &[] });
        Some(automaton::BranchEffect {
            returned_states: block
                .iter()
                .flat_map(|block| &block.states)
                .map(|state| *state as StateId)
                .collect(),
            block: block.map(|compiled| compiled.code),
            action: action.map(|compiled| compiled.code),
            target: branch.syntax.target.as_ref().and_then(|name| self.state_named(name)),
        })
    }

    // ---- slices --------------------------------------------------------------------------------------

    fn check_slice_parameters(&mut self) {
        let params = &self.property.slice_on;
        for (at, param) in params.iter().enumerate() {
            if let Some(first) = params[..at].iter().find(|first| first.text == param.text) {
                self.diagnostics.push(
                    Diagnostic::error(param.span, format!("`{}` is listed twice in `slice on`", param.text))
                        .related(first.span, "first declared here"),
                );
            }
        }
        if let Some(extra) = params.get(MAX_SLICE_PARAMS) {
            self.diagnostics.push(Diagnostic::error(
                extra.span,
                format!("at most {MAX_SLICE_PARAMS} slice parameters are supported"),
            ));
        }
    }

    /// Determines, for each event, which of its parameters binds each slice parameter.
    fn bindings(&mut self, parsed: &[ParsedTransition<'_>]) -> Vec<(EventId, Vec<Option<usize>>)> {
        let params = &self.property.slice_on;
        let mut bindings: BTreeMap<EventId, Vec<Option<usize>>> = BTreeMap::new();
        for transition in parsed {
            let binding = bindings.entry(transition.event).or_insert_with(|| vec![None; params.len()]);
            for (slot, param) in binding.iter_mut().zip(params) {
                let Some((_, at)) = transition.params.iter().find(|(name, _)| *name == param.text) else {
                    continue;
                };
                let Some(declaration) = self.catalog.get(transition.event) else { continue };
                match slot {
                    // The same source with and without a type: use the typed one.
                    Some(known) if declaration.params[*known].source == declaration.params[*at].source => {
                        if declaration.params[*known].ty.is_none() {
                            *known = *at;
                        }
                    }
                    Some(known) => {
                        let diagnostic = Diagnostic::error(
                            transition.syntax.event.span,
                            format!(
                                "`{}` is `{}` here and `{}` in another transition on `{declaration}`",
                                param.text, declaration.params[*at].source, declaration.params[*known].source
                            ),
                        )
                        .help(
                            "an event belongs to one slice: bind the parameter to the same value everywhere",
                        );
                        if !self.diagnostics.contains(&diagnostic) {
                            self.diagnostics.push(diagnostic);
                        }
                    }
                    None => *slot = Some(*at),
                }
            }
        }
        for (at, param) in params.iter().enumerate() {
            if !bindings.values().any(|binding| binding[at].is_some()) {
                self.diagnostics.push(
                    Diagnostic::error(param.span, format!("no event has a parameter `{}`", param.text))
                        .label("slice parameter that is never bound")
                        .help("add it to the parameters of an event, with `as` if necessary"),
                );
            }
        }
        bindings.into_iter().collect()
    }

    // ---- the environment -----------------------------------------------------------------------------

    /// Runs the initialization, which has no inputs, to check that it succeeds and sets all its variables.
    fn check_initialization(&mut self, automaton: &Automaton, initialized_count: usize) {
        let slices = automaton.start(&mut Scratch::default(), &mut NoopObserver);
        let block = self.property.initialization.as_ref().map_or(Span::default(), |block| block.span);
        if let Some(fault) = slices.fault() {
            let span = fault.span.unwrap_or(block);
            self.report(Diagnostic::error(span, format!("the initialization fails: {}", fault.message)));
            return;
        }
        let Some(root) = slices.root() else { return };
        let unset: Vec<&str> = automaton.env[..initialized_count]
            .iter()
            .zip(slices.env(root))
            .filter(|(_, value)| value.is_unset())
            .map(|(name, _)| name.as_str())
            .collect();
        if !unset.is_empty() {
            self.report(Diagnostic::error(
                block,
                format!("`initialization` does not set `{}` on every path", unset.join("`, `")),
            ));
        }
    }
}

/// Returns the shared variables, and how many of them `initialization` assigns. Those come first; then come the
/// variables that some block may read before assigning and some block of a transition (possibly the same one) assigns.
fn environment<'b>(
    initialization: Option<&compile::Block>,
    parsed: &'b [ParsedTransition<'_>],
    actions: impl Iterator<Item = &'b compile::Block>,
    files: &[compile::Block],
) -> (Vec<String>, usize) {
    let mut env: Vec<String> = initialization.map_or(Vec::new(), |block| block.assigns.clone());
    let initialized_count = env.len();
    let functions: BTreeSet<&str> = files
        .iter()
        .chain(initialization)
        .flat_map(|block| block.functions().map(|(name, _)| name))
        .collect();
    let assigned: BTreeSet<&str> = parsed
        .iter()
        .flat_map(|transition| transition.blocks().flat_map(|block| block.assigns.iter().map(String::as_str)))
        .collect();
    let in_transitions = parsed.iter().flat_map(|transition| {
        let own = |name: &&String| !transition.params.iter().any(|(param, _)| param == *name);
        transition.blocks().flat_map(move |block| block.reads.keys().filter(own))
    });
    let in_actions = actions.flat_map(|block| block.reads.keys());
    let shared: BTreeSet<&str> = in_transitions
        .chain(in_actions)
        .map(String::as_str)
        .filter(|name| assigned.contains(name) && !functions.contains(name))
        .collect();
    for name in shared {
        if !env.iter().any(|known| known == name) {
            env.push(name.into());
        }
    }
    (env, initialized_count)
}
