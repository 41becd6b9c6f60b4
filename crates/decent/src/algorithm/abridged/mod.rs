//! Abridged orchestration: one monitor runs the whole automaton, and the others send it only what can matter.
//!
//! What a component observes matters only as far as the automaton tells it apart. For `G (a0 & a1 -> X b0)` the component of
//! `a0` and `a1` need not send both: whether `a0 & a1` holds is enough, one bit. So the letters that a component can observe are
//! divided into *kinds*: two are of one kind if no state of the automaton ever goes elsewhere because of the one instead of the
//! other. A component sends the number of the kind, and the main monitor runs the automaton over kinds.
//!
//! A component also follows, by what it observes itself, in which states the automaton can be. Where no such state looks at it,
//! it sends nothing: for `a0 & X b0` the component of `a0` speaks once, and that of `b0` once, a round later.
//!
//! The main monitor is where most would have to be sent.
//!
//! # Why it is sound, and why it is good
//!
//! Letters of one kind lead from every state to the same state, so the automaton over kinds does just what that over letters does.
//! What is not sent makes no difference in any state that is possible. So the state is known exactly when orchestration knows it:
//! after the latency. Nothing follows from silence, so messages may be late, lost, doubled and reordered.
//!
//! Choreography waits where a part of the formula stays undecided (in the document 134 and 117 instants for two of six
//! properties of Chiron), because what was cut off can only say true or false. Here nothing that takes time is cut off: only what
//! is decided at once, by one component, is decided there. So the delay is that of orchestration, while there are no more messages
//! than components that matter, and each has the same size: an instant, and one byte that says the component and the kind.

mod choose;
mod kinds;
mod watch;

use self::kinds::{Kinds, Left};
use self::watch::Watch;
use super::centre::Centre;
use super::{Monitor, Names, NoSetup, Outbox, Placed, Round, setup};
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

/// A monitor of an abridged orchestration.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
pub struct Abridged<E>(Role<E>);

#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "E: Encoding")]
enum Role<E> {
    Main {
        centre: Box<Centre<E>>,
        senders: Arc<[Sender]>,
    },
    Watch {
        watch: Arc<Watch>,
        /// What the own observations say of the state.
        place: u32,
    },
}

/// What the main monitor knows of one that sends: its first number, how many there are, and the propositions that stand for the
/// bits of a kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sender {
    first: u32,
    count: u32,
    bits: Vec<Atom>,
}

/// What a component observed: of which kind it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// When.
    pub at: Instant,
    /// The component and the kind in one number.
    pub number: u32,
}

/// The main monitor, and one on each other component whose observations matter.
///
/// ```
/// use invigil_decent::algorithm::{Choice, Prepared};
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
/// let prepared = Prepared::<States>::new(Choice::Abridged, &mut logic, formula, &system)?;
/// let trace = Trace::whole(&system, 60, |_, _| true);
/// prepared.run(&system, Conditions::default(), [&trace], |outcome, figures| {
///     assert_eq!(outcome.verdict, Truth::Unknown);
///     // At first nothing depends on `b0`.
///     assert_eq!((figures.messages, figures.data), (59.0, 295.0));
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the formula names what nobody observes, or if it is too large.
pub fn setup<E: Encoding>(
    logic: &mut Logic,
    formula: Formula,
    system: &System,
) -> Result<Vec<Placed<Abridged<E>>>, NoSetup> {
    let moore = logic.monitor(formula)?;
    let plan = Plan::new(logic, &moore, system)?;
    let machine = plan.machine(logic, system)?;
    let senders: Arc<[Sender]> = plan.senders.iter().map(|(_, sender, _)| sender.clone()).collect();
    let bytes = senders.last().map_or(1, |last| last.bytes());
    let main = Role::Main { centre: Box::new(Centre::new(machine)), senders };
    let mut placed = vec![Placed { at: plan.main, monitor: Abridged(main) }];
    for (at, sender, (kinds, left)) in plan.senders {
        let watch = Arc::new(Watch::new(&moore, kinds, &left, sender.first, bytes));
        placed.push(Placed { at, monitor: Abridged(Role::Watch { watch, place: 0 }) });
    }
    Ok(placed)
}

/// Who sends what to whom.
struct Plan {
    main: ComponentId,
    senders: Vec<(ComponentId, Sender, (Kinds, Left))>,
    /// The automaton over kinds.
    abridged: Moore<Truth>,
    /// What the bits of kinds stand for.
    names: FxHashMap<Proposition, Atom>,
}

impl Plan {
    fn new(logic: &mut Logic, moore: &Moore<Truth>, system: &System) -> Result<Plan, NoSetup> {
        let local = choose::local(logic, moore, system)?;
        let main = choose::main(logic, moore, &local).map_or_else(|| setup::first(system), Ok)?;
        let mut plan =
            Plan { main, senders: Vec::new(), abridged: moore.clone(), names: FxHashMap::default() };
        let mut first = 0u32;
        for (at, own) in local.into_iter().filter(|(at, own)| *at != main && !own.is_empty()) {
            let (kinds, left) = Kinds::new(logic, moore, &own)?;
            let count = kinds.count();
            let bits = plan.replace(logic, &kinds, &own, system)?;
            plan.senders.push((at, Sender { first, count, bits }, (kinds, left)));
            first = first.checked_add(count).ok_or(NoSetup::TooMany)?;
        }
        Ok(plan)
    }

    /// Lets the automaton look at the bits of a kind instead of what a component observes.
    fn replace(
        &mut self,
        logic: &mut Logic,
        kinds: &Kinds,
        own: &[(Variable, PropositionId)],
        system: &System,
    ) -> Result<Vec<Atom>, NoSetup> {
        let width = u32::BITS - (kinds.count() - 1).leading_zeros();
        let mut bits = Vec::new();
        let mut variables = Vec::new();
        for _ in 0..width {
            let atom = logic.formulae.fresh();
            // Numbers that no proposition of the system has.
            let number = u32::try_from(system.propositions().len() + self.names.len());
            let stands_for = Atom::Observed(PropositionId(number.map_err(|_| NoSetup::TooMany)?));
            self.names.insert(logic.formulae.proposition(atom).clone(), stands_for);
            bits.push(stands_for);
            variables.push(Variable::Atom(atom));
        }
        let own: Vec<Variable> = own.iter().map(|(variable, _)| *variable).collect();
        let relation = kinds.relation(logic, &own, &variables)?;
        let all: Vec<(Variable, bool)> = own.iter().map(|variable| (*variable, true)).collect();
        let all = logic.labels.cube(&all)?;
        for (label, _) in self.abridged.edges.iter_mut().flatten() {
            *label = logic.labels.exists_both(label, &relation, &all)?;
        }
        Ok(bits)
    }

    fn machine(&self, logic: &Logic, system: &System) -> Result<Machine, NoSetup> {
        let atom =
            |name: &Proposition| self.names.get(name).copied().or_else(|| setup::observed(system, name));
        Ok(Machine::new(Automaton::of(logic, &self.abridged, atom)?)?)
    }
}

impl Sender {
    /// How many bytes a number takes, when this is the last sender.
    fn bytes(&self) -> usize {
        let last = (self.first + self.count).saturating_sub(1);
        (4 - last.leading_zeros() as usize / 8).max(1)
    }
}

impl<E: Encoding> Monitor for Abridged<E> {
    type Message = Kind;

    fn round(&mut self, round: Round<'_>, inbox: &mut Vec<Kind>, out: &mut Outbox<Kind>) {
        match &mut self.0 {
            Role::Main { centre, senders } => {
                if let Some(seen) = round.seen {
                    centre.reach(round.at);
                    for (known, value) in seen {
                        centre.observe(round.at, Atom::Observed(*known), *value);
                    }
                }
                let is_idle = round.seen.is_none() && inbox.is_empty();
                for Kind { at, number } in inbox.drain(..) {
                    centre.reach(at.min(round.at));
                    let place = senders.partition_point(|sender| sender.first <= number);
                    let Some(sender) = place.checked_sub(1).and_then(|place| senders.get(place)) else {
                        continue;
                    };
                    let kind = number - sender.first;
                    if kind < sender.count {
                        for (bit, atom) in sender.bits.iter().enumerate() {
                            centre.observe(
                                at,
                                *atom,
                                kind.checked_shr(bit as u32).is_some_and(|kind| kind & 1 == 1),
                            );
                        }
                    }
                }
                if !is_idle {
                    centre.conclude(round.at, &[], out);
                    centre.memory.forget_before(centre.history.end() + 1);
                }
            }
            Role::Watch { watch, place } => {
                inbox.clear();
                if let Some(number) = round.seen.and_then(|seen| watch.step(place, seen)) {
                    out.send(MonitorId(0), Kind { at: round.at, number });
                }
            }
        }
    }

    fn size(&self, _: &Kind, _: &Names) -> usize {
        match &self.0 {
            Role::Main { .. } => 4,
            Role::Watch { watch, .. } => 4 + watch.bytes(),
        }
    }

    fn kept(&self) -> usize {
        match &self.0 {
            Role::Main { centre, .. } => centre.kept(),
            Role::Watch { .. } => 1,
        }
    }
}
