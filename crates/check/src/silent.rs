//! What a property asks of events, and no event ever told: it counts as false, which the user should know.

use invigil_expr::value::Value;
use invigil_monitor::automaton::Automaton;
use invigil_monitor::decision::{Next, Test};
use invigil_monitor::event::{ANY, Batch, Catalog, STATE, SymbolId};
use std::collections::BTreeSet;

/// A parameter that no event had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silent {
    /// The event.
    pub event: String,
    /// The parameter, as the property calls it.
    pub param: String,
    /// Whether it should have been true or false.
    pub is_truth: bool,
}

/// A parameter that no event had so far.
struct Wanted {
    property: usize,
    symbol: SymbolId,
    param: usize,
    is_truth: bool,
    /// Whether there was such an event.
    came: bool,
}

/// Listens for what properties ask.
pub(crate) struct Silence {
    wanted: Vec<Wanted>,
    /// The events that formulae name, with the formula's number, which did not come so far.
    absent: Vec<(usize, SymbolId)>,
    /// Which events came, by their numbers.
    came: Vec<bool>,
    /// Whether an event came that formulae name.
    any_came: bool,
}

impl Silence {
    pub(crate) fn new(automata: &[Automaton], catalog: &Catalog) -> Silence {
        let mut wanted = Vec::new();
        for (property, automaton) in automata.iter().enumerate() {
            for (symbol, param, is_truth) in asked(automaton) {
                wanted.push(Wanted { property, symbol, param, is_truth, came: false });
            }
        }
        let mut absent = Vec::new();
        for (property, automaton) in automata.iter().enumerate().filter(|(_, of)| of.formula.is_some()) {
            let named = |symbol: &SymbolId| {
                catalog.get(*symbol).is_some_and(|symbol| ![ANY, STATE].contains(&symbol.name.as_str()))
            };
            absent.extend(automaton.symbols().filter(named).map(|symbol| (property, symbol)));
        }
        Silence { wanted, absent, came: vec![false; catalog.len()], any_came: false }
    }

    /// Strikes out what these events tell. Usually that is all at the first event, so this costs nothing.
    pub(crate) fn listen(&mut self, batch: &Batch) {
        if !self.absent.is_empty() {
            (0..batch.len()).for_each(|at| self.came[batch.event(at).symbol.0 as usize] = true);
            let count = self.absent.len();
            self.absent.retain(|(_, symbol)| !self.came[symbol.0 as usize]);
            self.any_came |= self.absent.len() < count;
        }
        self.wanted.retain_mut(|wanted| {
            for event in (0..batch.len()).map(|at| batch.event(at)).filter(|e| e.symbol == wanted.symbol) {
                wanted.came = true;
                let value = event.params.get(wanted.param).copied().unwrap_or(Value::UNSET);
                let tells = match wanted.is_truth {
                    true => value.as_bool().is_some() || matches!(value.as_int(), Some(0 | 1)),
                    false => !value.is_unset(),
                };
                if tells {
                    return false;
                }
            }
            true
        });
    }

    /// The events that never came though others did, with the formula that names them.
    pub(crate) fn absent(&self, catalog: &Catalog) -> impl Iterator<Item = (usize, String)> {
        let absent = self.absent.iter().filter(|_| self.any_came);
        absent.filter_map(|(property, symbol)| Some((*property, catalog.get(*symbol)?.to_string())))
    }

    /// What was never told, with the property that asked.
    pub(crate) fn finish(&self, catalog: &Catalog) -> impl Iterator<Item = (usize, Silent)> {
        self.wanted.iter().filter(|wanted| wanted.came).filter_map(|wanted| {
            let symbol = catalog.get(wanted.symbol)?;
            let param = symbol.params.get(wanted.param)?.name.clone();
            Some((wanted.property, Silent { event: symbol.to_string(), param, is_truth: wanted.is_truth }))
        })
    }
}

/// What the decisions of a property ask of each event: the parameter, and whether as a truth value.
fn asked(automaton: &Automaton) -> BTreeSet<(SymbolId, usize, bool)> {
    let decisions = &automaton.decisions;
    let mut asked = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for ((_, symbol), first) in &decisions.firsts {
        let mut open = vec![*first];
        while let Some(next) = open.pop() {
            let Next::Ask(number) = next else { continue };
            if !seen.insert((*symbol, number)) {
                continue;
            }
            let fork = decisions.forks[number as usize];
            open.extend([fork.yes, fork.no]);
            match &decisions.tests[fork.test as usize] {
                Test::Parameter(at) => drop(asked.insert((*symbol, *at, true))),
                Test::Block { reads, .. } => asked.extend(reads.iter().map(|at| (*symbol, *at, false))),
            }
        }
    }
    asked
}
