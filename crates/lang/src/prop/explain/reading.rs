//! Reads an automaton together with the property that it was compiled from.

use super::reach::Reach;
use super::{
    EndUse, EventUse, Explanation, GuardUse, Need, ParameterUse, Shadowed, StateUse, TransitionUse, Variable,
    remark,
};
use crate::prop::ast::{self, Property};
use invigil_expr::diag::{Sources, Span};
use invigil_monitor::automaton::{self, Automaton, StateId};
use invigil_monitor::event::{Catalog, SymbolId};
use invigil_monitor::observer::Unobserved;
use invigil_monitor::verdict::Verdict;
use invigil_monitor::{Monitor, Scratch};
use std::collections::BTreeSet;

/// Everything there is to say.
pub(super) fn read(
    property: &Property,
    automaton: &Automaton,
    catalog: &Catalog,
    sources: &Sources,
) -> Explanation {
    let guard = |transition: &automaton::Transition| {
        let written = written(property, transition).and_then(|(_, written)| written.guard.as_ref());
        written.map_or_else(String::new, text_of_block)
    };
    let reach = Reach::new(automaton, guard);
    Reading { property, automaton, catalog, sources, reach }.explain()
}

/// A transition as it is written, with the state that it is written in.
fn written<'a>(
    property: &'a Property,
    transition: &automaton::Transition,
) -> Option<(&'a ast::State, &'a ast::Transition)> {
    let states = property.states.iter();
    let mut all = states.flat_map(|state| state.transitions.iter().map(move |written| (state, written)));
    all.find(|(_, written)| written.span == transition.span)
}

/// What there is to look at.
struct Reading<'a> {
    property: &'a Property,
    automaton: &'a Automaton,
    catalog: &'a Catalog,
    sources: &'a Sources,
    reach: Reach,
}

impl Reading<'_> {
    fn explain(&self) -> Explanation {
        let automaton = self.automaton;
        let states: Vec<StateUse> = (0..automaton.states.len()).map(|at| self.state(at)).collect();
        let mut explanation = Explanation {
            name: automaton.name.clone(),
            slice_on: automaton.slice_on.clone(),
            events: automaton.symbols().map(|symbol| self.event(symbol)).collect(),
            variables: self.variables(),
            shadowed: self.shadowed(),
            can_be_violated: states.iter().any(|s| s.is_reachable && s.verdict == Verdict::NonAccepting),
            is_monitorable: self.reach.is_monitorable,
            states,
            remarks: Vec::new(),
        };
        explanation.remarks = remark::remarks(&explanation);
        explanation
    }

    fn place(&self, span: Span) -> String {
        match (self.sources.get(span.source), self.sources.place(span)) {
            (Some(source), Some(place)) => format!("{}:{}", source.name, place.line),
            _ => self.sources.describe(span),
        }
    }

    fn variables(&self) -> Vec<Variable> {
        let slices = self.automaton.start(&mut Scratch::default(), &mut Unobserved);
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

    /// The positions of an event's parameters that give slice parameters a value.
    fn keys(&self, symbol: SymbolId) -> impl Iterator<Item = usize> {
        self.automaton.binding(symbol).map(|(_, at)| at)
    }

    fn need(&self, symbol: SymbolId, parameters: &BTreeSet<usize>) -> Need {
        let known = self.catalog.get(symbol);
        let name = |at: &usize| known?.params.get(*at).map(|param| param.name.clone());
        Need {
            event: known.map_or_else(String::new, ToString::to_string),
            parameters: parameters.iter().filter_map(name).collect(),
        }
    }

    fn event(&self, symbol: SymbolId) -> EventUse {
        let automaton = self.automaton;
        let read: BTreeSet<usize> = automaton
            .transitions
            .iter()
            .filter(|transition| transition.symbol == symbol)
            .flat_map(|transition| transition.reads.iter().copied())
            .collect();
        let needed: BTreeSet<usize> = self.keys(symbol).chain(read.iter().copied()).collect();
        let known = self.catalog.get(symbol);
        let parameters = needed.iter().filter_map(|at| {
            let param = known?.params.get(*at)?;
            let bound = automaton.binding(symbol).find(|(_, key)| key == at);
            Some(ParameterUse {
                name: param.name.clone(),
                source: param.source.to_string(),
                ty: param.ty.map(|ty| ty.word()),
                binds: bound.map(|(slot, _)| automaton.slice_on[slot].clone()),
                is_read: read.contains(at),
            })
        });
        EventUse {
            event: known.map_or_else(String::new, ToString::to_string),
            parameters: parameters.collect(),
        }
    }

    // ---- states --------------------------------------------------------------------------------------

    fn state(&self, at: usize) -> StateUse {
        let automaton = self.automaton;
        let state = &automaton.states[at];
        let own: Vec<(usize, &automaton::Transition)> =
            automaton.transitions.iter().enumerate().filter(|(_, t)| usize::from(t.from) == at).collect();
        let mut needs: Vec<(SymbolId, BTreeSet<usize>)> = Vec::new();
        for (_, transition) in &own {
            let symbol = transition.symbol;
            let reads = transition.reads.iter().copied();
            match needs.iter_mut().find(|(known, _)| *known == symbol) {
                Some((_, parameters)) => parameters.extend(reads),
                None => needs.push((symbol, self.keys(symbol).chain(reads).collect())),
            }
        }
        let written = self.property.states.iter().filter(|written| written.name.text == state.name);
        StateUse {
            name: state.name.clone(),
            verdict: state.verdict,
            is_initial: at == usize::from(automaton.initial),
            is_final: state.is_final,
            action: written.filter_map(|written| written.action.as_ref()).map(text_of_action).next(),
            is_reachable: self.reach.is_reachable(at),
            is_settled: self.reach.is_settled(at),
            needs: needs.iter().map(|(symbol, parameters)| self.need(*symbol, parameters)).collect(),
            transitions: own
                .iter()
                .map(|(number, transition)| self.transition(&state.name, *number, transition))
                .collect(),
            place: self.place(state.span),
        }
    }

    fn transition(&self, state: &str, number: usize, transition: &automaton::Transition) -> TransitionUse {
        let (home, written) = written(self.property, transition).unzip();
        let home = home.map(|state| &state.name.text).filter(|name| *name != state);
        let parameters =
            self.keys(transition.symbol).chain(transition.reads.iter().copied()).collect::<BTreeSet<_>>();
        TransitionUse {
            event: self.need(transition.symbol, &parameters),
            guard: transition.guard.map(|guard| GuardUse {
                text: written.and_then(|t| t.guard.as_ref()).map_or_else(String::new, text_of_block),
                is_update: guard.is_update,
            }),
            success: self.end(&transition.success, written.and_then(|t| t.success.as_ref())),
            failure: self.end(&transition.failure, written.and_then(|t| t.failure.as_ref())),
            taken_from: home.cloned(),
            is_live: self.reach.is_live(number),
            place: self.place(transition.span),
        }
    }

    fn end(&self, end: &Option<automaton::End>, written: Option<&ast::End>) -> Option<EndUse> {
        let end = end.as_ref()?;
        let name = |state: &StateId| self.automaton.state_name(*state).to_owned();
        Some(EndUse {
            block: written.and_then(|end| end.block.as_ref()).map(text_of_block),
            action: written.and_then(|end| end.action.as_ref()).map(text_of_action),
            target: end.target.as_ref().map(name),
            returns: end.returns.iter().map(name).collect(),
        })
    }

    fn shadowed(&self) -> Vec<Shadowed> {
        let automaton = self.automaton;
        let shadowed = self.reach.shadowed().map(|(late, shadow)| {
            let (late, early) = (&automaton.transitions[late], &automaton.transitions[shadow.by]);
            Shadowed {
                state: automaton.state_name(late.from).to_owned(),
                event: self.catalog.get(late.symbol).map_or_else(String::new, ToString::to_string),
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
