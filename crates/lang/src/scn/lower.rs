//! Compiles the syntax tree of a scenario.

use super::ast::{self, Name, StateSelector, Trigger};
use super::functions::{HOST_FUNCTIONS, IMPLICIT_VARIABLES};
use crate::prop::ast::Block;
use invigil_expr::compile::{self, BlockRole, Compiler, Snippet};
use invigil_expr::diag::{Diagnostic, SourceId, Span, nearest};
use invigil_expr::program::{CodeId, Program};
use invigil_monitor::automaton::{Automaton, StateId};
use invigil_monitor::verdict::Verdict;

/// A compiled scenario. Its mutable state is its environment: one value per variable of `env`.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The scenario's name.
    pub name: String,
    /// Its variables.
    pub env: Vec<String>,
    /// The code that runs before the first event.
    pub initialization: Option<CodeId>,
    /// The reactions, in source order.
    pub reactions: Vec<Reaction>,
    /// The code of all blocks.
    pub program: Program,
}

/// A compiled reaction.
#[derive(Clone, Debug)]
pub struct Reaction {
    /// Whether entering or leaving a state triggers it.
    pub trigger: Trigger,
    /// The states that it applies to, per property.
    pub states: Vec<StateSet>,
    /// The code that it runs.
    pub code: CodeId,
    /// Its position.
    pub span: Span,
}

/// A set of states of one property.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateSet(Vec<bool>);

impl StateSet {
    /// Whether a state is in the set.
    pub fn contains(&self, state: StateId) -> bool {
        self.0.get(usize::from(state)).copied().unwrap_or(false)
    }
}

/// Compiles a scenario for the monitored properties, given in session order. Returns a scenario if there is no error
/// among the diagnostics.
///
/// ```
/// use invigil_expr::diag::SourceId;
/// use invigil_lang::{prop, scn};
/// use invigil_monitor::event::EventCatalog;
///
/// let text = "state init accepting { transition { event f() success sink } } state sink non-accepting";
/// let (property, _) = prop::parse(SourceId(0), text);
/// let automaton = prop::lower::lower("once", &property, &[], &mut EventCatalog::default()).0.unwrap();
///
/// let (scenario, _) = scn::parse(SourceId(1), "on entering state snik { suspend_execution() }");
/// let (lowered, diagnostics) = scn::lower("mine", &scenario, &[&automaton]);
/// assert!(lowered.is_none());
/// assert_eq!(diagnostics[0].help.as_deref(), Some("did you mean `sink`?"));
/// ```
pub fn lower(
    name: &str,
    scenario: &ast::Scenario,
    properties: &[&Automaton],
) -> (Option<Scenario>, Vec<Diagnostic>) {
    let mut lowering = Lowering { properties, diagnostics: Vec::new() };
    let lowered = lowering.scenario(name, scenario);
    let usable = !lowering.diagnostics.iter().any(Diagnostic::is_error);
    (lowered.filter(|_| usable), lowering.diagnostics)
}

struct Lowering<'a> {
    properties: &'a [&'a Automaton],
    diagnostics: Vec<Diagnostic>,
}

impl Lowering<'_> {
    fn scenario(&mut self, name: &str, scenario: &ast::Scenario) -> Option<Scenario> {
        let initialization = scenario.initialization.as_ref().and_then(|block| self.parse(block));
        let blocks: Vec<Option<compile::Block>> =
            scenario.reactions.iter().map(|reaction| self.parse(&reaction.block)).collect();
        let all: Vec<&compile::Block> = initialization.iter().chain(blocks.iter().flatten()).collect();
        let implicit: Vec<(String, usize)> =
            IMPLICIT_VARIABLES.iter().enumerate().map(|(at, name)| ((*name).to_owned(), at)).collect();
        let env = environment(&all);
        let mut compiler = Compiler::new(env.clone(), HOST_FUNCTIONS).initialized(0).sharing(&implicit);
        all.iter().for_each(|block| compiler.declare(block));
        all.iter().for_each(|block| compiler.functions(block));
        let initialization = initialization
            .as_ref()
            .and_then(|block| compiler.block(block, &[], BlockRole::Initialization))
            .map(|compiled| compiled.code);
        let mut reactions = Vec::new();
        for (reaction, block) in scenario.reactions.iter().zip(&blocks) {
            let states = self.states(reaction);
            let compiled =
                block.as_ref().and_then(|block| compiler.block(block, &implicit, BlockRole::Reaction));
            if let Some(compiled) = compiled {
                let (trigger, span) = (reaction.trigger, reaction.span);
                reactions.push(Reaction { trigger, states, code: compiled.code, span });
            }
        }
        let (program, diagnostics) = compiler.finish();
        self.diagnostics.extend(diagnostics);
        Some(Scenario { name: name.to_owned(), env, initialization, reactions, program })
    }

    fn parse(&mut self, block: &Block) -> Option<compile::Block> {
        let program = block.dedent();
        let locate = |at: u32| program.to_file(at);
        let snippet = Snippet { source_id: block.span.source, text: &program.text, locate: &locate };
        compile::Block::parse(snippet, &mut self.diagnostics)
    }

    /// Resolves the states that a reaction applies to, per property.
    fn states(&mut self, reaction: &ast::Reaction) -> Vec<StateSet> {
        let only = reaction.property.as_ref().and_then(|name| self.property(name));
        let is_concerned = |at: usize| reaction.property.is_none() || only == Some(at);
        if let StateSelector::State(name) = &reaction.selector
            && (reaction.property.is_none() || only.is_some())
        {
            let candidates: Vec<&Automaton> = self
                .properties
                .iter()
                .enumerate()
                .filter(|(at, _)| is_concerned(*at))
                .map(|(_, p)| *p)
                .collect();
            self.check_state(name, &candidates);
        }
        let is_selected = |property: &Automaton, at: usize| match &reaction.selector {
            StateSelector::State(name) => property.states[at].name == name.text,
            StateSelector::Accepting => property.states[at].verdict == Verdict::Accepting,
            StateSelector::NonAccepting => property.states[at].verdict == Verdict::NonAccepting,
            StateSelector::Initial => usize::from(property.initial) == at,
        };
        let of = |(number, property): (usize, &&Automaton)| match is_concerned(number) {
            true => StateSet((0..property.states.len()).map(|at| is_selected(property, at)).collect()),
            false => StateSet::default(),
        };
        self.properties.iter().enumerate().map(of).collect()
    }

    fn property(&mut self, name: &Name) -> Option<usize> {
        let found = self.properties.iter().position(|property| property.name == name.text);
        if found.is_none() {
            let known: Vec<&str> = self.properties.iter().map(|property| property.name.as_str()).collect();
            let help = match nearest(&name.text, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the properties are `{}`", known.join("`, `")),
            };
            let diagnostic = Diagnostic::error(name.span, format!("unknown property `{}`", name.text));
            self.diagnostics.push(diagnostic.help(help));
        }
        found
    }

    fn check_state(&mut self, name: &Name, candidates: &[&Automaton]) {
        if candidates.iter().any(|property| property.state_named(&name.text).is_some()) {
            return;
        }
        let states = candidates.iter().flat_map(|property| &property.states).map(|state| state.name.as_str());
        let help = match nearest(&name.text, states.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the states are `{}`", states.collect::<Vec<_>>().join("`, `")),
        };
        let diagnostic = Diagnostic::error(name.span, format!("no property has a state `{}`", name.text));
        self.diagnostics.push(diagnostic.help(help));
    }
}

/// The variables of a scenario: those that a block assigns, and those that a function declares `global`.
fn environment(blocks: &[&compile::Block]) -> Vec<String> {
    let mut env: Vec<String> = Vec::new();
    for name in blocks.iter().flat_map(|block| block.assigns.iter().chain(&block.globals)) {
        if !env.contains(name) && !IMPLICIT_VARIABLES.contains(&name.as_str()) {
            env.push(name.clone());
        }
    }
    env
}

impl Scenario {
    /// Returns the default scenario; see [`DEFAULT`](super::DEFAULT).
    pub fn default_for(properties: &[&Automaton]) -> Scenario {
        let (written, _) = super::parse(SourceId(u32::MAX), super::DEFAULT);
        let (lowered, _) = lower("default", &written, properties);
        lowered.unwrap_or_else(|| Scenario {
            name: String::new(),
            env: Vec::new(),
            initialization: None,
            reactions: Vec::new(),
            program: Program::default(),
        })
    }
}
