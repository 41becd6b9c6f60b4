//! Abridged orchestration: one monitor runs the whole automaton, and the others send it only what can matter.
//!
//! An observation matters only as far as the automaton distinguishes it. For `G (a0 & a1 -> X b0)` the component of
//! `a0` and `a1` need not send both values: one bit, whether `a0 & a1` holds, is enough. The letters that a component
//! can observe are therefore divided into *classes*: two letters are in one class if no state of the automaton has
//! different successors for them, whatever the other components observe. A component sends the number of the class, and
//! the main monitor runs the automaton over classes.
//!
//! A component also tracks the states in which the automaton can be, given its own observations. If none of these
//! states depends on the component, it sends nothing: for `a0 & X b0` the component of `a0` sends one message, and that
//! of `b0` one message a round later.
//!
//! The main monitor is placed where most messages would come from.
//!
//! # Soundness and costs
//!
//! Letters of one class lead from every state to the same state, so the automaton over classes is equivalent to the one
//! over letters. Omitted messages make no difference in any possible state. So a state becomes known exactly when
//! orchestration knows it: after the latency. Nothing is inferred from silence, so messages may be late, lost,
//! duplicated and reordered.
//!
//! Choreography waits where a part of the formula stays undecided (134 and 117 instants for two of the six properties
//! of Chiron in [EH18 §8.2.4]), because a part can only report true or false. Here no temporal operator is split off: a
//! component decides only what it can decide in one instant. So the delay is that of orchestration, with at most one
//! message per relevant component and round, each of the same size: an instant, and usually one byte for component and
//! class.

mod classes;
mod filter;
mod placement;

use self::classes::{Cofactors, ObservationClasses};
use self::filter::ObservationFilter;
use super::core::MonitorCore;
use super::{Monitor, NameLengths, Outbox, Placed, Round, SetupError, setup};
use crate::automaton::{Automaton, Machine};
use crate::encoding::Encoding;
use crate::memory::Atom;
use crate::system::{ComponentId, Instant, MonitorId, PropositionId, System};
use invigil_ltl::Logic;
use invigil_ltl::formula::{Formula, Proposition};
use invigil_ltl::label::Variable;
use invigil_ltl::moore::{Moore, Truth};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Monitor of an abridged orchestration.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct AbridgedMonitor<E>(Role<E>);

#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
enum Role<E> {
    Main {
        core: Box<MonitorCore<E>>,
        senders: Arc<[SenderClasses]>,
    },
    Sender {
        filter: Arc<ObservationFilter>,
        /// State set that the component's own observations lead to.
        state_set: u32,
    },
}

/// Classes of a sender, for the main monitor: number of the first class, count, and the propositions that stand for the
/// bits of a class.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SenderClasses {
    first: u32,
    count: u32,
    bits: Vec<Atom>,
}

/// Class of a component's observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassMessage {
    /// The instant.
    pub at: Instant,
    /// Component and class, encoded in one number.
    pub number: u32,
}

/// Creates the main monitor and one on each other component whose observations matter.
///
/// ```
/// use invigil_decent::algorithm::{Algorithm, MonitorSet};
/// use invigil_decent::encoding::States;
/// use invigil_decent::simulate::{Conditions, Trace};
/// use invigil_decent::system::System;
/// use invigil_ltl::moore::Truth;
/// use invigil_ltl::{Budget, Logic};
///
/// let mut system = System::default();
/// for (component, names) in [("a", ["a0", "a1"]), ("b", ["b0", "b1"]), ("c", ["c0", "c1"])] {
///     let component = system.component(component)?;
///     for name in names {
///         system.proposition(component, name)?;
///     }
/// }
/// let mut logic = Logic::new(Budget::default());
/// let formula = logic.parse("G (a0 & a1 -> X b0)").unwrap();
/// let prepared = MonitorSet::<States>::new(Algorithm::Abridged, &mut logic, formula, &system)?;
/// let trace = Trace::from_fn(&system, 60, |_, _| true);
/// prepared.run(&system, Conditions::default(), [&trace], |outcome, figures| {
///     assert_eq!(outcome.verdict, Truth::Unknown);
///     // The first round does not depend on `b0`.
///     assert_eq!((figures.messages, figures.data), (59.0, 295.0));
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails if the formula contains a proposition that no component observes, or is too large.
pub fn setup<E: Encoding>(
    logic: &mut Logic,
    formula: Formula,
    system: &System,
) -> Result<Vec<Placed<AbridgedMonitor<E>>>, SetupError> {
    let moore = logic.monitor(formula)?;
    let assignment = ClassAssignment::new(logic, &moore, system)?;
    let machine = assignment.compile(logic, system)?;
    let senders: Arc<[SenderClasses]> =
        assignment.senders.iter().map(|(_, sender, _)| sender.clone()).collect();
    let bytes = senders.last().map_or(1, |last| last.bytes());
    let main = Role::Main { core: Box::new(MonitorCore::new(machine)), senders };
    let mut placed = vec![Placed { at: assignment.main, monitor: AbridgedMonitor(main) }];
    for (at, sender, (classes, cofactors)) in assignment.senders {
        let filter = Arc::new(ObservationFilter::new(&moore, classes, &cofactors, sender.first, bytes));
        placed.push(Placed { at, monitor: AbridgedMonitor(Role::Sender { filter, state_set: 0 }) });
    }
    Ok(placed)
}

/// Assignment of classes to components.
struct ClassAssignment {
    main: ComponentId,
    senders: Vec<(ComponentId, SenderClasses, (ObservationClasses, Cofactors))>,
    /// The automaton over classes.
    abridged: Moore<Truth>,
    /// Atoms that stand for the bits of classes.
    names: FxHashMap<Proposition, Atom>,
}

impl ClassAssignment {
    fn new(logic: &mut Logic, moore: &Moore<Truth>, system: &System) -> Result<ClassAssignment, SetupError> {
        let local = placement::local_propositions(logic, moore, system)?;
        let main = placement::main_component(logic, moore, &local)
            .map_or_else(|| setup::first_component(system), Ok)?;
        let mut assignment = ClassAssignment {
            main,
            senders: Vec::new(),
            abridged: moore.clone(),
            names: FxHashMap::default(),
        };
        let mut first = 0u32;
        for (at, own) in local.into_iter().filter(|(at, own)| *at != main && !own.is_empty()) {
            let (classes, cofactors) = ObservationClasses::new(logic, moore, &own)?;
            let count = classes.count();
            let bits = assignment.replace(logic, &classes, &own, system)?;
            assignment.senders.push((at, SenderClasses { first, count, bits }, (classes, cofactors)));
            first = first.checked_add(count).ok_or(SetupError::TooManyMonitors)?;
        }
        Ok(assignment)
    }

    /// Replaces the propositions of a component by the bits of its classes in all labels.
    fn replace(
        &mut self,
        logic: &mut Logic,
        classes: &ObservationClasses,
        own: &[(Variable, PropositionId)],
        system: &System,
    ) -> Result<Vec<Atom>, SetupError> {
        let width = u32::BITS - (classes.count() - 1).leading_zeros();
        let mut bits = Vec::new();
        let mut variables = Vec::new();
        for _ in 0..width {
            let atom = logic.formulae.fresh();
            // Ids beyond the propositions of the system.
            let number = u32::try_from(system.propositions().len() + self.names.len());
            let stands_for = Atom::Observed(PropositionId(number.map_err(|_| SetupError::TooManyMonitors)?));
            self.names.insert(logic.formulae.proposition(atom).clone(), stands_for);
            bits.push(stands_for);
            variables.push(Variable::Atom(atom));
        }
        let own: Vec<Variable> = own.iter().map(|(variable, _)| *variable).collect();
        let relation = classes.relation(logic, &own, &variables)?;
        let all: Vec<(Variable, bool)> = own.iter().map(|variable| (*variable, true)).collect();
        let all = logic.labels.cube(&all)?;
        for (label, _) in self.abridged.edges.iter_mut().flatten() {
            *label = logic.labels.and_exists(label, &relation, &all)?;
        }
        Ok(bits)
    }

    /// Compiles the automaton over classes.
    fn compile(&self, logic: &Logic, system: &System) -> Result<Machine, SetupError> {
        let atom =
            |name: &Proposition| self.names.get(name).copied().or_else(|| setup::observed_atom(system, name));
        Ok(Machine::new(Automaton::of(logic, &self.abridged, atom)?)?)
    }
}

impl SenderClasses {
    /// Returns the number of bytes for a class number, if this is the last sender.
    fn bytes(&self) -> usize {
        let last = (self.first + self.count).saturating_sub(1);
        (4 - last.leading_zeros() as usize / 8).max(1)
    }
}

impl<E: Encoding> Monitor for AbridgedMonitor<E> {
    type Message = ClassMessage;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<ClassMessage>, out: &mut Outbox<ClassMessage>) {
        match &mut self.0 {
            Role::Main { core, senders } => {
                if let Some(seen) = round.seen {
                    core.reach(round.at);
                    for (proposition, value) in seen {
                        core.observe(round.at, Atom::Observed(*proposition), *value);
                    }
                }
                let is_idle = round.seen.is_none() && inbox.is_empty();
                for ClassMessage { at, number } in inbox.drain(..) {
                    core.reach(at.min(round.at));
                    let after = senders.partition_point(|sender| sender.first <= number);
                    let Some(sender) = after.checked_sub(1).and_then(|index| senders.get(index)) else {
                        continue;
                    };
                    let class = number - sender.first;
                    if class < sender.count {
                        for (bit, atom) in sender.bits.iter().enumerate() {
                            core.observe(
                                at,
                                *atom,
                                class.checked_shr(bit as u32).is_some_and(|class| class & 1 == 1),
                            );
                        }
                    }
                }
                if !is_idle {
                    core.conclude(round.at, &[], out);
                    core.memory.forget_before(core.history.end() + 1);
                }
            }
            Role::Sender { filter, state_set } => {
                inbox.clear();
                if let Some(number) = round.seen.and_then(|seen| filter.step(state_set, seen)) {
                    out.send(MonitorId(0), ClassMessage { at: round.at, number });
                }
            }
        }
    }

    fn message_size(&self, _: &ClassMessage, _: &NameLengths) -> usize {
        match &self.0 {
            Role::Main { .. } => 4,
            Role::Sender { filter, .. } => 4 + filter.bytes(),
        }
    }

    fn stored_values(&self) -> usize {
        match &self.0 {
            Role::Main { core, .. } => core.stored_values(),
            Role::Sender { .. } => 1,
        }
    }
}
