//! Monitoring and requirement scripts (PEDL, MEDL) as black boxes.

use super::{BlackBox, Observed, value};
use crate::periphery::{Observation, Trouble};
use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_expr::value::Value;
use invigil_ltl::moore::Truth;
use invigil_monitor::event::{Batch, Catalog, Event, Stamp, SymbolId};
use invigil_monitor::mac::{Deriver, Input, Outputs, Plan, Type};

/// A pair of scripts.
///
/// In each round variables are assigned the values of the propositions of their names, one after the other in the order of the
/// monitoring script; then methods are called if the propositions of their names are true; then the time is told, which counts rounds. The box
/// says true if all properties are and no alarm was raised in the round, false if a property is false or an alarm was raised, and
/// else nothing.
pub struct Script {
    fresh: Deriver,
    deriver: Deriver,
    told: Vec<Told>,
    outputs: Outputs,
    /// For each property what was last heard of it.
    truths: Vec<Truth>,
}

/// A snapshot that the recogniser is told.
#[derive(Clone, Copy, Debug)]
struct Told {
    symbol: SymbolId,
    what: What,
    /// How many parameters the event has.
    params: usize,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// A variable has the value of a proposition; where among the parameters.
    Assign(PropositionId, usize),
    /// A method is called.
    Call(PropositionId),
    Tick,
}

impl Script {
    /// Scripts for a component. `places` says where the monitoring script names what each event is about.
    ///
    /// # Errors
    /// All that they ask for and the component does not observe; or why they cannot be run.
    pub fn new(
        plan: &Plan,
        catalog: &Catalog,
        places: &[(SymbolId, Span)],
        (system, component): (&System, ComponentId),
    ) -> Result<Script, Vec<Diagnostic>> {
        let observed = Observed { system, component, also: "" };
        let mut problems = Vec::new();
        let mut told = Vec::new();
        for (symbol, input) in &plan.inputs {
            let span =
                places.iter().find(|(known, _)| known == symbol).map_or(Span::default(), |(_, at)| *at);
            let (name, params) =
                catalog.get(*symbol).map_or(("", 0), |it| (it.name.as_str(), it.params.len()));
            let Some(proposition) = observed.find(name) else {
                problems.push(observed.unknown(name, span));
                continue;
            };
            let what = match input {
                Input::Update { variable, value } | Input::Changed { variable, value } => {
                    let declared = plan.recogniser.variables().get(variable.0 as usize);
                    if declared.is_some_and(|declared| declared.ty != Type::Boolean) {
                        let words = format!("`{name}` is true or false");
                        let help = format!("write: monobj boolean {name};");
                        problems.push(Diagnostic::error(span, words).help(help));
                        continue;
                    }
                    What::Assign(proposition, *value)
                }
                Input::Start { .. } | Input::End { .. } => What::Call(proposition),
                Input::Tick => What::Tick,
            };
            told.push(Told { symbol: *symbol, what, params });
        }
        // Values first, so that they are those of the round when something is called.
        told.sort_by_key(|told| matches!(told.what, What::Call(_)));
        told.extend(plan.tick.map(|(symbol, _)| Told { symbol, what: What::Tick, params: 0 }));
        let fresh = match Deriver::new(plan) {
            Ok(fresh) if problems.is_empty() => fresh,
            Ok(_) => return Err(problems),
            Err(words) => return Err(vec![Diagnostic::error(Span::default(), words)]),
        };
        let outputs = plan.outputs.clone();
        let truths = vec![Truth::Unknown; outputs.properties.len()];
        Ok(Script { deriver: fresh.clone(), fresh, told, outputs, truths })
    }
}

impl BlackBox for Script {
    fn restart(&mut self) {
        self.deriver = self.fresh.clone();
        self.truths.fill(Truth::Unknown);
    }

    fn round(&mut self, at: u32, seen: &[Observation]) -> Result<Truth, Trouble> {
        self.deriver.pass(i64::from(at));
        // The time was told above, exactly.
        let stamp = Stamp { time: f64::NAN, line: 0 };
        let mut found = Batch::default();
        for told in &self.told {
            let mut params = vec![Value::UNSET; told.params];
            match told.what {
                What::Assign(proposition, place) => {
                    let value = value(seen, proposition);
                    if value.is_unset() {
                        continue;
                    }
                    params[place] = value;
                }
                What::Call(proposition) if value(seen, proposition).as_bool() != Some(true) => continue,
                What::Call(_) | What::Tick => {}
            }
            let event = Event { symbol: told.symbol, params: &params, text: "" };
            self.deriver.derive(&event, stamp, &mut found);
        }
        let mut is_raised = false;
        for symbol in (0..found.len()).map(|at| found.event(at).symbol) {
            for (truth, [undefined, fails, holds]) in self.truths.iter_mut().zip(&self.outputs.properties) {
                *truth = match symbol {
                    _ if symbol == *undefined => Truth::Unknown,
                    _ if symbol == *fails => Truth::False,
                    _ if symbol == *holds => Truth::True,
                    _ => *truth,
                };
            }
            is_raised |= self.outputs.alarms.iter().any(|[raised, _]| *raised == symbol);
        }
        Ok(match &self.truths {
            truths if is_raised || truths.contains(&Truth::False) => Truth::False,
            truths if truths.contains(&Truth::Unknown) => Truth::Unknown,
            _ => Truth::True,
        })
    }
}
