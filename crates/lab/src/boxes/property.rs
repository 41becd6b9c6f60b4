//! Properties and formulae as black boxes.

use super::{BlackBox, Observed, value};
use crate::periphery::{Observation, Trouble};
use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_expr::diag::{Diagnostic, Sources, Span};
use invigil_expr::value::Value;
use invigil_ltl::moore::Truth;
use invigil_monitor::automaton::{AtEnd, Automaton, State};
use invigil_monitor::event::{Catalog, Event, Kind, STATE, Source, Symbol, SymbolId, Type};
use invigil_monitor::verdict::Verdict;
use invigil_monitor::watch::Watch;
use std::sync::Arc;

/// Property automata that share a catalog; together they hold if all do.
///
/// A property is told an event for each proposition that is true in a round, in the order in which the component declares them,
/// and `#tick` at the end of the round. A formula is told a state, of which the propositions are the fields. Either way the values
/// of all propositions are there as parameters, and the number of the round as `#time`.
pub struct Property {
    automata: Vec<Arc<Automaton>>,
    watches: Vec<Watch>,
    told: Vec<Told>,
    sources: Sources,
    name: String,
}

/// An event that a property is told.
#[derive(Clone, Debug)]
struct Told {
    symbol: SymbolId,
    /// Only if this is true.
    when: Option<PropositionId>,
    params: Vec<Given>,
}

/// Where the value of a parameter comes from.
#[derive(Clone, Copy, Debug)]
enum Given {
    Proposition(PropositionId),
    Round,
}

impl Property {
    /// Properties for a component. `name` is that of the file, for messages.
    ///
    /// # Errors
    /// All that they ask for and the component does not observe.
    pub fn new(
        automata: Vec<Automaton>,
        catalog: &Catalog,
        (system, component): (&System, ComponentId),
        sources: Sources,
        name: &str,
    ) -> Result<Property, Vec<Diagnostic>> {
        let observed = Observed { system, component, also: ", and `#tick` at the end of each round" };
        let mut problems = Vec::new();
        let mut told = Vec::new();
        // Formulae name events as well, but in a table of states nothing but states happens.
        let has_states = catalog.find(STATE, Kind::Before).is_some();
        for (id, symbol) in catalog.iter().filter(|(_, symbol)| !has_states || symbol.name == STATE) {
            let span = place(&automata, id);
            let when = match (symbol.kind, symbol.name.as_str()) {
                (Kind::Tick, _) | (Kind::Before, STATE) => None,
                (Kind::Before, name) => match observed.find(name) {
                    Some(proposition) => Some(proposition),
                    None => {
                        problems.push(observed.unknown(name, span));
                        continue;
                    }
                },
                _ => {
                    let words = format!("a black box is not told of `{symbol}`");
                    let help = "it is told of propositions that are true, by their names, and of `#tick`";
                    problems.push(Diagnostic::error(span, words).help(help));
                    continue;
                }
            };
            let params = params(symbol, span, &observed, &mut problems);
            told.push(Told { symbol: id, when, params });
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        // Propositions in the order in which they are declared, then what is told in any case.
        told.sort_by_key(|told| told.when.map_or(usize::MAX, PropositionId::index));
        let automata: Vec<Arc<Automaton>> = automata.into_iter().map(Arc::new).collect();
        let watches = automata.iter().map(|automaton| Watch::new(Arc::clone(automaton))).collect();
        Ok(Property { automata, watches, told, sources, name: name.to_owned() })
    }

    fn failed(&self, at: u32) -> Result<(), Trouble> {
        let Some(failure) = self.watches.iter().find_map(Watch::failure) else { return Ok(()) };
        let place = failure.span.map_or_else(|| self.name.clone(), |span| self.sources.describe(span));
        let words = format!("{} in round {at}: the black box says nothing from here on", failure.message);
        Err(Trouble::new(place, words))
    }
}

impl BlackBox for Property {
    fn restart(&mut self) {
        self.watches = self.automata.iter().map(|automaton| Watch::new(Arc::clone(automaton))).collect();
    }

    fn round(&mut self, at: u32, seen: &[Observation]) -> Result<Truth, Trouble> {
        let mut is_violated = false;
        let mut params = Vec::new();
        for told in &self.told {
            if told.when.is_some_and(|proposition| value(seen, proposition).as_bool() != Some(true)) {
                continue;
            }
            params.clear();
            params.extend(told.params.iter().map(|param| match param {
                Given::Proposition(proposition) => value(seen, *proposition),
                Given::Round => Value::int(i64::from(at)),
            }));
            let event = Event { symbol: told.symbol, params: &params, text: "" };
            for watch in &mut self.watches {
                is_violated |= watch.apply(&event).verdict == Some(Verdict::NonAccepting);
            }
        }
        self.failed(at)?;
        if is_violated {
            return Ok(Truth::False);
        }
        let all = self.watches.iter().map(holds);
        Ok(all.fold(Truth::True, |one, other| match (one, other) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::Unknown, _) | (_, Truth::Unknown) => Truth::Unknown,
            _ => Truth::True,
        }))
    }
}

/// Where a property first asks for an event.
fn place(automata: &[Automaton], symbol: SymbolId) -> Span {
    let mut asking = automata.iter().flat_map(|automaton| &automaton.transitions);
    asking
        .find(|transition| transition.symbol == symbol)
        .map(|transition| transition.span)
        .unwrap_or_default()
}

fn params(
    symbol: &Symbol,
    span: Span,
    observed: &Observed<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Vec<Given> {
    let mut params = Vec::new();
    for param in &symbol.params {
        if param.source == Source::Time {
            params.push(Given::Round);
            continue;
        }
        let found = param.fields().iter().find_map(|name| observed.find(name));
        match (found, param.ty) {
            (Some(found), None | Some(Type::Bool)) => params.push(Given::Proposition(found)),
            (Some(_), Some(ty)) => {
                let words = format!("`{}` is true or false, and not of type `{}`", param.name, ty.word());
                problems.push(Diagnostic::error(span, words).help("leave the type out"));
            }
            (None, _) => problems.push(observed.unknown(&param.source.to_string(), span)),
        }
    }
    params
}

/// Whether a property holds of the run so far.
fn holds(watch: &Watch) -> Truth {
    let (automaton, slices) = (watch.automaton(), watch.slices());
    // Of a sliced property the root is none of the objects that it is about.
    let root = slices.root().filter(|_| !automaton.slice_on.is_empty()).map(|root| slices.state(root));
    let mut all = Truth::True;
    for (at, state) in (0..).zip(&automaton.states) {
        let count = slices.count(at) - u32::from(root == Some(at));
        match said(state) {
            _ if count == 0 => {}
            Truth::False => return Truth::False,
            Truth::Unknown => all = Truth::Unknown,
            Truth::True => {}
        }
    }
    all
}

/// What a state says of the run that led to it.
fn said(state: &State) -> Truth {
    match (state.verdict, state.at_end) {
        (Verdict::Accepting, _) => Truth::True,
        (Verdict::NonAccepting | Verdict::Error, _) => Truth::False,
        (Verdict::Undecided, AtEnd::Presumably(holds) | AtEnd::Decided(holds)) => {
            if holds {
                Truth::True
            } else {
                Truth::False
            }
        }
        (Verdict::Undecided, AtEnd::Nothing) => Truth::Unknown,
    }
}
