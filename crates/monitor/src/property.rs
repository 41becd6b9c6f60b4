//! Adapters to the semantic interface: a monitor as a property, a recorded run as a subject.
//!
//! With these, property automata take part in all compositions: the product with a model, a live program or a
//! recorded run is a subject again.

use crate::automaton::Automaton;
use crate::event::{Event, EventBatch};
use crate::observer::NoopObserver;
use crate::slices::SliceTable;
use crate::step::{Monitor, Scratch};
use alloc::string::{String, ToString};
use invigil_semantics::{Accepting, Dependent, Describe, Fields, Language, Semantics, StepRef};

/// Maps the steps of a subject to events.
pub trait StepEvents<S: Language> {
    /// Passes the events of `step` to `sink`, in order. The virtual initial step may have events too.
    fn emit(&self, subject: &S, step: StepRef<'_, S>, sink: &mut dyn FnMut(&Event<'_>));
}

/// A property automaton as a property of subjects. It takes exactly one step on each step of the subject.
///
/// ```
/// use invigil_monitor::event::{EventBatch, EventCatalog, EventKind, EventMeta};
/// use invigil_monitor::automaton::{Automaton, BranchEffect, AutomatonDef, State, Transition};
/// use invigil_monitor::property::{PropertySemantics, RecordedRun, RecordedSteps};
/// use invigil_monitor::verdict::Verdict;
/// use invigil_semantics::{Accepting, Compose, Semantics};
///
/// // "open happens at most once", built by hand; property files are the usual way.
/// let mut catalog = EventCatalog::default();
/// let open = catalog.declare("open", EventKind::Before);
/// let state = |name: &str, verdict| State {
///     name: name.into(), verdict, is_final: false, action: None, at_end: Default::default(),
///     span: Default::default(),
/// };
/// let to = |from, target| Transition {
///     from, event: open, guard: None, failure: None, reads: vec![], condition: None,
///     span: Default::default(),
///     success: Some(BranchEffect { target: Some(target), ..BranchEffect::default() }),
/// };
/// let automaton = Automaton::new(AutomatonDef {
///     states: vec![state("init", Verdict::Accepting), state("opened", Verdict::Accepting),
///                  state("twice", Verdict::NonAccepting)],
///     transitions: vec![to(0, 1), to(1, 2)],
///     ..AutomatonDef::default()
/// });
///
/// // A recorded run in which it happens twice, as a subject.
/// let mut run = EventBatch::default();
/// run.push(open, &[], EventMeta { time: 0.0, line: 0 });
/// run.push(open, &[], EventMeta { time: 1.0, line: 1 });
/// let product = RecordedRun(&run).product(PropertySemantics { automaton: &automaton, emit: RecordedSteps });
///
/// let mut at = product.initial().into_iter().next().unwrap();
/// for _ in 0..run.len() {
///     let action = product.actions(&at).into_iter().next().unwrap();
///     let next = product.execute(&at, &action).into_iter().next().unwrap();
///     at = next;
/// }
/// assert!(product.is_accepting(&at), "a violation was reached");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PropertySemantics<'a, E> {
    /// The automaton.
    pub automaton: &'a Automaton,
    /// Maps steps to events.
    pub emit: E,
}

impl<E> Language for PropertySemantics<'_, E> {
    type Config = SliceTable;
    type Action = ();
}

impl<S: Language, E: StepEvents<S>> Dependent<S> for PropertySemantics<'_, E> {
    fn initial(&self, _: &S) -> impl IntoIterator<Item = SliceTable> {
        [self.automaton.start(&mut Scratch::default(), &mut NoopObserver)]
    }

    fn actions(&self, _: &S, _: StepRef<'_, S>, _: &SliceTable) -> impl IntoIterator<Item = ()> {
        [()]
    }

    fn execute(
        &self,
        subject: &S,
        step: StepRef<'_, S>,
        at: &SliceTable,
        (): &(),
    ) -> impl IntoIterator<Item = SliceTable> {
        let mut slices = at.clone();
        let mut scratch = Scratch::default();
        self.emit.emit(subject, step, &mut |event| {
            if self.automaton.needs_event(&slices, event.id) {
                self.automaton.step(&mut slices, &mut scratch, event, &mut NoopObserver);
            }
        });
        [slices]
    }
}

/// Searches in a product look for violations: a configuration is accepting if a slice is or was in a
/// non-accepting state.
impl<E> Accepting for PropertySemantics<'_, E> {
    fn is_accepting(&self, at: &SliceTable) -> bool {
        at.is_violated()
    }
}

impl<E> Describe for PropertySemantics<'_, E> {
    fn describe_config(&self, at: &SliceTable) -> Fields {
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

/// A recorded run as a subject with one execution; its configuration is the number of executed events.
#[derive(Clone, Copy, Debug)]
pub struct RecordedRun<'a>(pub &'a EventBatch);

impl Language for RecordedRun<'_> {
    type Config = usize;
    type Action = usize;
}

impl Semantics for RecordedRun<'_> {
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

/// Maps each step of a recorded run to its event.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordedSteps;

impl StepEvents<RecordedRun<'_>> for RecordedSteps {
    fn emit(
        &self,
        subject: &RecordedRun<'_>,
        step: StepRef<'_, RecordedRun<'_>>,
        sink: &mut dyn FnMut(&Event<'_>),
    ) {
        if let Some(event) = step.action {
            sink(&subject.0.event(*event));
        }
    }
}
