//! A monitor as a property of the semantic interface, and a recorded run as a subject of it.
//!
//! With these two a property automaton takes part in every composition: its product with a model, a live
//! program or a recorded run is a subject again.

use crate::automaton::Automaton;
use crate::event::{Batch, Event};
use crate::observer::Unobserved;
use crate::slices::Slices;
use crate::step::{Monitor, Scratch};
use alloc::string::{String, ToString};
use invigil_semantics::{Accepting, Dependent, Describe, Fields, Language, Semantics, StepRef};

/// The events that a subject's step stands for.
pub trait Emit<S: Language> {
    /// Hands the events of `step`, in order, to `sink`. The virtual initial step may stand for some too.
    fn emit(&self, subject: &S, step: StepRef<'_, S>, sink: &mut dyn FnMut(&Event<'_>));
}

/// A property automaton that watches the steps of a subject. It moves exactly once on every step.
///
/// ```
/// use invigil_monitor::event::{Batch, Catalog, Kind, Stamp};
/// use invigil_monitor::automaton::{Automaton, End, Parts, State, Transition};
/// use invigil_monitor::property::{Property, Recorded, Steps};
/// use invigil_monitor::verdict::Verdict;
/// use invigil_semantics::{Accepting, Compose, Semantics};
///
/// // "open happens at most once", built by hand; property files are the usual way.
/// let mut catalog = Catalog::default();
/// let open = catalog.symbol("open", Kind::Before);
/// let state = |name: &str, verdict| State {
///     name: name.into(), verdict, is_final: false, action: None, at_end: Default::default(),
///     span: Default::default(),
/// };
/// let to = |from, target| Transition {
///     from, symbol: open, guard: None, failure: None, reads: vec![], condition: None,
///     span: Default::default(),
///     success: Some(End { target: Some(target), ..End::default() }),
/// };
/// let automaton = Automaton::new(Parts {
///     states: vec![state("init", Verdict::Accepting), state("opened", Verdict::Accepting),
///                  state("twice", Verdict::NonAccepting)],
///     transitions: vec![to(0, 1), to(1, 2)],
///     ..Parts::default()
/// });
///
/// // A recorded run in which it happens twice, as a subject.
/// let mut run = Batch::default();
/// run.push(open, &[], Stamp { time: 0.0, line: 0 });
/// run.push(open, &[], Stamp { time: 1.0, line: 1 });
/// let watched = Recorded(&run).product(Property { automaton: &automaton, emit: Steps });
///
/// let mut at = watched.initial().into_iter().next().unwrap();
/// for _ in 0..run.len() {
///     let action = watched.actions(&at).into_iter().next().unwrap();
///     let next = watched.execute(&at, &action).into_iter().next().unwrap();
///     at = next;
/// }
/// assert!(watched.is_accepting(&at), "a violation was reached");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Property<'a, E> {
    /// The automaton.
    pub automaton: &'a Automaton,
    /// From steps to events.
    pub emit: E,
}

impl<E> Language for Property<'_, E> {
    type Config = Slices;
    type Action = ();
}

impl<S: Language, E: Emit<S>> Dependent<S> for Property<'_, E> {
    fn initial(&self, _: &S) -> impl IntoIterator<Item = Slices> {
        [self.automaton.start(&mut Scratch::default(), &mut Unobserved)]
    }

    fn actions(&self, _: &S, _: StepRef<'_, S>, _: &Slices) -> impl IntoIterator<Item = ()> {
        [()]
    }

    fn execute(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: &Slices,
        (): &(),
    ) -> impl IntoIterator<Item = Slices> {
        let mut slices = at.clone();
        let mut scratch = Scratch::default();
        self.emit.emit(subject, step, &mut |event| {
            if self.automaton.wants(&slices, event.symbol) {
                self.automaton.step(&mut slices, &mut scratch, event, &mut Unobserved);
            }
        });
        [slices]
    }
}

/// What a search looks for in a product with this property is a violation, so the configurations it accepts
/// are those in which some slice is or was in a non-accepting state.
impl<E> Accepting for Property<'_, E> {
    fn is_accepting(&self, at: &Slices) -> bool {
        at.is_violated()
    }
}

impl<E> Describe for Property<'_, E> {
    fn describe_config(&self, at: &Slices) -> Fields {
        let mut fields = Fields::new();
        for slice in at.iter() {
            let binding: alloc::vec::Vec<String> =
                at.binding(slice).iter().map(|value| at.show(*value)).collect();
            let group = if binding.is_empty() { String::from("state") } else { binding.join(",") };
            let env = self.automaton.env.iter().zip(at.env(slice));
            fields = fields.with(group.clone(), self.automaton.state_name(at.state(slice)));
            fields = env.fold(fields, |fields, (name, value)| {
                fields.with(alloc::format!("{group}.{name}"), at.show(*value))
            });
        }
        fields
    }

    fn describe_action(&self, (): &()) -> String {
        "observe".to_string()
    }
}

/// A recorded run as a subject: it has one execution, and its configuration is how far it has come.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a>(pub &'a Batch);

impl Language for Recorded<'_> {
    type Config = usize;
    type Action = usize;
}

impl Semantics for Recorded<'_> {
    fn initial(&self) -> impl IntoIterator<Item = usize> {
        [0]
    }

    fn actions(&self, at: &usize) -> impl IntoIterator<Item = usize> {
        (*at < self.0.len()).then_some(*at)
    }

    fn execute(&self, _: &usize, event: &usize) -> impl IntoIterator<Item = usize> {
        [event + 1]
    }
}

/// Each step of a recorded run stands for the event it is the record of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps;

impl Emit<Recorded<'_>> for Steps {
    fn emit(
        &self,
        subject: &Recorded<'_>,
        step: StepRef<'_, Recorded<'_>>,
        sink: &mut dyn FnMut(&Event<'_>),
    ) {
        if let Some(event) = step.action {
            sink(&subject.0.event(*event));
        }
    }
}
