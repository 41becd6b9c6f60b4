//! Monitoring and requirement scripts (PEDL, MEDL) as black boxes.

use super::{BlackBox, ComponentNames, value};
use crate::inputs::{Observation, ObservationError};
use invigil_decent::system::{ComponentId, PropositionId, System};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_expr::value::Value;
use invigil_ltl::moore::Truth;
use invigil_monitor::event::{Event, EventBatch, EventCatalog, EventId, EventMeta};
use invigil_monitor::mac::{EventDeriver, ScriptOutputs, ScriptPlan, SnapshotInput, Type};

/// Pair of scripts.
///
/// In each round the variables named like propositions are assigned, in the order of the monitoring script; then the
/// methods named like propositions that are true are called; then the time advances, which counts rounds. The verdict
/// is true if all properties are true and no alarm was raised in the round, false if a property is false or an alarm
/// was raised, and unknown otherwise.
pub struct ScriptBox {
    fresh: EventDeriver,
    deriver: EventDeriver,
    snapshots: Vec<ProxySnapshot>,
    outputs: ScriptOutputs,
    /// Last known value of each property.
    truths: Vec<Truth>,
}

/// Snapshot that stands for an observation.
#[derive(Clone, Copy, Debug)]
struct ProxySnapshot {
    event: EventId,
    kind: SnapshotKind,
    /// Number of parameters of the event.
    params: usize,
}

#[derive(Clone, Copy, Debug)]
enum SnapshotKind {
    /// A variable is assigned a proposition's value; index of the parameter.
    Assign(PropositionId, usize),
    /// A method is called.
    Call(PropositionId),
    Tick,
}

impl ScriptBox {
    /// Creates a box for a component. `places` lists where the monitoring script names the entity of each event.
    ///
    /// # Errors
    /// Returns a diagnostic for each name that the component does not observe, or why the scripts cannot run.
    pub fn new(
        plan: &ScriptPlan,
        catalog: &EventCatalog,
        places: &[(EventId, Span)],
        (system, component): (&System, ComponentId),
    ) -> Result<ScriptBox, Vec<Diagnostic>> {
        let observed = ComponentNames { system, component, other_inputs: "" };
        let mut diagnostics = Vec::new();
        let mut snapshots = Vec::new();
        for (event, input) in &plan.inputs {
            let span = places.iter().find(|(known, _)| known == event).map_or(Span::default(), |(_, at)| *at);
            let (name, params) =
                catalog.get(*event).map_or(("", 0), |decl| (decl.name.as_str(), decl.params.len()));
            let Some(proposition) = observed.find(name) else {
                diagnostics.push(observed.unknown(name, span));
                continue;
            };
            let kind = match input {
                SnapshotInput::Update { variable, value } | SnapshotInput::Changed { variable, value } => {
                    let declared = plan.recogniser.variables().get(variable.0 as usize);
                    if declared.is_some_and(|declared| declared.ty != Type::Boolean) {
                        let message = format!("`{name}` is Boolean");
                        let help = format!("write: monobj boolean {name};");
                        diagnostics.push(Diagnostic::error(span, message).help(help));
                        continue;
                    }
                    SnapshotKind::Assign(proposition, *value)
                }
                SnapshotInput::Start { .. } | SnapshotInput::End { .. } => SnapshotKind::Call(proposition),
                SnapshotInput::Tick => SnapshotKind::Tick,
            };
            snapshots.push(ProxySnapshot { event: *event, kind, params });
        }
        // Assignments come before calls, so that calls see the values of the round.
        snapshots.sort_by_key(|snapshot| matches!(snapshot.kind, SnapshotKind::Call(_)));
        snapshots.extend(plan.tick.map(|(event, _)| ProxySnapshot {
            event,
            kind: SnapshotKind::Tick,
            params: 0,
        }));
        let fresh = match EventDeriver::new(plan) {
            Ok(fresh) if diagnostics.is_empty() => fresh,
            Ok(_) => return Err(diagnostics),
            Err(message) => return Err(vec![Diagnostic::error(Span::default(), message)]),
        };
        let outputs = plan.outputs.clone();
        let truths = vec![Truth::Unknown; outputs.properties.len()];
        Ok(ScriptBox { deriver: fresh.clone(), fresh, snapshots, outputs, truths })
    }
}

impl BlackBox for ScriptBox {
    fn restart(&mut self) {
        self.deriver = self.fresh.clone();
        self.truths.fill(Truth::Unknown);
    }

    fn round(&mut self, at: u32, seen: &[Observation]) -> Result<Truth, ObservationError> {
        self.deriver.advance_clock(i64::from(at));
        // The time was set above, exactly.
        let stamp = EventMeta { time: f64::NAN, line: 0 };
        let mut derived = EventBatch::default();
        for snapshot in &self.snapshots {
            let mut params = vec![Value::UNSET; snapshot.params];
            match snapshot.kind {
                SnapshotKind::Assign(proposition, place) => {
                    let value = value(seen, proposition);
                    if value.is_unset() {
                        continue;
                    }
                    params[place] = value;
                }
                SnapshotKind::Call(proposition) if value(seen, proposition).as_bool() != Some(true) => {
                    continue;
                }
                SnapshotKind::Call(_) | SnapshotKind::Tick => {}
            }
            let event = Event { id: snapshot.event, params: &params, text: "" };
            self.deriver.derive(&event, stamp, &mut derived);
        }
        let mut is_raised = false;
        for event in (0..derived.len()).map(|at| derived.event(at).id) {
            for (truth, [undefined, fails, holds]) in self.truths.iter_mut().zip(&self.outputs.properties) {
                *truth = match event {
                    _ if event == *undefined => Truth::Unknown,
                    _ if event == *fails => Truth::False,
                    _ if event == *holds => Truth::True,
                    _ => *truth,
                };
            }
            is_raised |= self.outputs.alarms.iter().any(|[raised, _]| *raised == event);
        }
        Ok(match &self.truths {
            truths if is_raised || truths.contains(&Truth::False) => Truth::False,
            truths if truths.contains(&Truth::Unknown) => Truth::Unknown,
            _ => Truth::True,
        })
    }
}
