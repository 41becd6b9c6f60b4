//! Builds the summary from an automaton and the property that it was compiled from.

use super::reachability::Reachability;
use super::{
    BranchInfo, EventInfo, Explanation, GuardInfo, NeededEvent, ParameterInfo, ShadowedTransition, StateInfo,
    TransitionInfo, Variable, lint,
};
use crate::prop::ast::{self, Property};
use invigil_expr::diag::{Sources, Span};
use invigil_monitor::automaton::{self, Automaton, StateId};
use invigil_monitor::event::{EventCatalog, EventId};
use invigil_monitor::observer::NoopObserver;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use std::collections::BTreeSet;

/// Builds the summary.
pub(super) fn summarize(
    property: &Property,
    automaton: &Automaton,
    catalog: &EventCatalog,
    sources: &Sources,
) -> Explanation {
    let guard = |transition: &automaton::Transition| {
        let guard = source_transition(property, transition).and_then(|(_, source)| source.guard.as_ref());
        guard.map_or_else(String::new, text_of_block)
    };
    let reach = Reachability::new(automaton, guard);
    Summarizer { property, automaton, catalog, sources, reach }.explain()
}

/// Returns the syntax tree of a transition, with the state that contains it.
fn source_transition<'a>(
    property: &'a Property,
    transition: &automaton::Transition,
) -> Option<(&'a ast::State, &'a ast::Transition)> {
    let states = property.states.iter();
    let mut all = states.flat_map(|state| state.transitions.iter().map(move |source| (state, source)));
    all.find(|(_, source)| source.span == transition.span)
}

/// The inputs of the summary.
struct Summarizer<'a> {
    property: &'a Property,
    automaton: &'a Automaton,
    catalog: &'a EventCatalog,
    sources: &'a Sources,
    reach: Reachability,
}

impl Summarizer<'_> {
    fn explain(&self) -> Explanation {
        let automaton = self.automaton;
        let states: Vec<StateInfo> = (0..automaton.states.len()).map(|at| self.state(at)).collect();
        let mut explanation = Explanation {
            name: automaton.name.clone(),
            slice_on: automaton.slice_on.clone(),
            events: automaton.events().map(|event_id| self.event(event_id)).collect(),
            variables: self.variables(),
            shadowed: self.shadowed(),
            can_be_violated: states.iter().any(|s| s.is_reachable && s.verdict == Verdict::NonAccepting),
            is_monitorable: self.reach.is_monitorable,
            states,
            lints: Vec::new(),
        };
        explanation.lints = lint::lints(&explanation);
        explanation
    }

    fn place(&self, span: Span) -> String {
        match (self.sources.get(span.source), self.sources.line_column(span)) {
            (Some(source), Some(place)) => format!("{}:{}", source.name, place.line),
            _ => self.sources.describe(span),
        }
    }

    fn variables(&self) -> Vec<Variable> {
        let slices = self.automaton.start(&mut Scratch::default(), &mut NoopObserver);
        let values = slices.root().map_or(&[][..], |root| slices.env(root));
        let value = |at: usize| values.get(at).filter(|value| !value.is_unset());
        let names = self.automaton.env.iter().enumerate();
        names
            .map(|(at, name)| Variable {
                name: name.clone(),
                value: value(at).map(|value| slices.show(*value)),
            })
            .collect()
    }

    // ---- events --------------------------------------------------------------------------------------

    /// The positions of the event's parameters that bind slice parameters.
    fn keys(&self, event_id: EventId) -> impl Iterator<Item = usize> {
        self.automaton.binding(event_id).map(|(_, at)| at)
    }

    fn need(&self, event_id: EventId, parameters: &BTreeSet<usize>) -> NeededEvent {
        let known = self.catalog.get(event_id);
        let name = |at: &usize| known?.params.get(*at).map(|param| param.name.clone());
        NeededEvent {
            event: known.map_or_else(String::new, ToString::to_string),
            parameters: parameters.iter().filter_map(name).collect(),
        }
    }

    fn event(&self, event_id: EventId) -> EventInfo {
        let automaton = self.automaton;
        let read: BTreeSet<usize> = automaton
            .transitions
            .iter()
            .filter(|transition| transition.event == event_id)
            .flat_map(|transition| transition.reads.iter().copied())
            .collect();
        let needed: BTreeSet<usize> = self.keys(event_id).chain(read.iter().copied()).collect();
        let known = self.catalog.get(event_id);
        let parameters = needed.iter().filter_map(|at| {
            let param = known?.params.get(*at)?;
            let bound = automaton.binding(event_id).find(|(_, key)| key == at);
            Some(ParameterInfo {
                name: param.name.clone(),
                source: param.source.to_string(),
                ty: param.ty.map(|ty| ty.word()),
                binds: bound.map(|(slot, _)| automaton.slice_on[slot].clone()),
                is_read: read.contains(at),
            })
        });
        EventInfo {
            event: known.map_or_else(String::new, ToString::to_string),
            parameters: parameters.collect(),
        }
    }

    // ---- states --------------------------------------------------------------------------------------

    fn state(&self, at: usize) -> StateInfo {
        let automaton = self.automaton;
        let state = &automaton.states[at];
        let own: Vec<(usize, &automaton::Transition)> =
            automaton.transitions.iter().enumerate().filter(|(_, t)| usize::from(t.from) == at).collect();
        let mut needs: Vec<(EventId, BTreeSet<usize>)> = Vec::new();
        for (_, transition) in &own {
            let event_id = transition.event;
            let reads = transition.reads.iter().copied();
            match needs.iter_mut().find(|(known, _)| *known == event_id) {
                Some((_, parameters)) => parameters.extend(reads),
                None => needs.push((event_id, self.keys(event_id).chain(reads).collect())),
            }
        }
        let declarations =
            self.property.states.iter().filter(|declaration| declaration.name.text == state.name);
        StateInfo {
            name: state.name.clone(),
            verdict: state.verdict,
            is_initial: at == usize::from(automaton.initial),
            is_final: state.is_final,
            action: declarations
                .filter_map(|declaration| declaration.action.as_ref())
                .map(text_of_action)
                .next(),
            is_reachable: self.reach.is_reachable(at),
            is_settled: self.reach.is_settled(at),
            needs: needs.iter().map(|(event_id, parameters)| self.need(*event_id, parameters)).collect(),
            transitions: own
                .iter()
                .map(|(number, transition)| self.transition(&state.name, *number, transition))
                .collect(),
            place: self.place(state.span),
        }
    }

    fn transition(&self, state: &str, number: usize, transition: &automaton::Transition) -> TransitionInfo {
        let (origin, source) = source_transition(self.property, transition).unzip();
        let origin = origin.map(|state| &state.name.text).filter(|name| *name != state);
        let parameters =
            self.keys(transition.event).chain(transition.reads.iter().copied()).collect::<BTreeSet<_>>();
        TransitionInfo {
            event: self.need(transition.event, &parameters),
            guard: transition.guard.map(|guard| GuardInfo {
                text: source.and_then(|t| t.guard.as_ref()).map_or_else(String::new, text_of_block),
                is_update: guard.is_update,
            }),
            success: self.branch(&transition.success, source.and_then(|t| t.success.as_ref())),
            failure: self.branch(&transition.failure, source.and_then(|t| t.failure.as_ref())),
            imported_from: origin.cloned(),
            is_live: self.reach.is_live(number),
            place: self.place(transition.span),
        }
    }

    fn branch(
        &self,
        effect: &Option<automaton::BranchEffect>,
        source: Option<&ast::Branch>,
    ) -> Option<BranchInfo> {
        let effect = effect.as_ref()?;
        let name = |state: &StateId| self.automaton.state_name(*state).to_owned();
        Some(BranchInfo {
            block: source.and_then(|branch| branch.block.as_ref()).map(text_of_block),
            action: source.and_then(|branch| branch.action.as_ref()).map(text_of_action),
            target: effect.target.as_ref().map(name),
            returns: effect.returned_states.iter().map(name).collect(),
        })
    }

    fn shadowed(&self) -> Vec<ShadowedTransition> {
        let automaton = self.automaton;
        let shadowed = self.reach.shadowed().map(|(late, shadow)| {
            let (late, early) = (&automaton.transitions[late], &automaton.transitions[shadow.by]);
            ShadowedTransition {
                state: automaton.state_name(late.from).to_owned(),
                event: self.catalog.get(late.event).map_or_else(String::new, ToString::to_string),
                place: self.place(late.span),
                by: self.place(early.span),
                same_condition: shadow.same_condition,
            }
        });
        shadowed.collect()
    }
}

fn text_of_block(block: &ast::Block) -> String {
    block.dedent().text.trim().to_owned()
}

fn text_of_action(action: &ast::Action) -> String {
    action.text.clone()
}
