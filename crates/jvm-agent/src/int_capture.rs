//! Fast path from a site to an event: where only one event is reported, and all its values are integers.
//!
//! The integer of an object is its id. The fields of a path are resolved once per site.

use crate::agent::Agent;
use crate::evaluate::{EmptyScope, Evaluator, Slot, whole};
use crate::expression::Expression;
use crate::monitor_host::MAX_FAST_ARGS;
use crate::on_probe::ProbeValue;
use crate::probe_site::{ProbeSite, ValueReader};
use crate::protocol::{SubscriptionId, ValueType};
use crate::subscription::ResolvedSubscription;
use crate::vm::{Field, Global, Jni, Primitive, Receiver, Ref};
use invigil_monitor::event::EventId;
use std::sync::{Arc, OnceLock};

/// How the integers of an event are captured at a site.
#[derive(Debug)]
pub(crate) struct IntCapture {
    pub(crate) event: EventId,
    /// The source of each value.
    sources: Vec<IntSource>,
    /// Whether the values are exactly those that the probe passes.
    pub(crate) is_direct: bool,
    resolved: Arc<ResolvedSubscription>,
}

/// The source of one value.
#[derive(Debug)]
enum IntSource {
    /// An integer that was captured.
    Value(u8),
    /// The id of an object that was captured.
    ObjectId(u8),
    /// A field of an object that was captured, or of one that such a field refers to.
    FieldPath(u8, Vec<FieldStep>),
}

/// One field of a path.
#[derive(Debug)]
struct FieldStep {
    name: String,
    /// The field in the first class of which an object was seen; `None` if that class has no suitable field.
    cached: OnceLock<Option<CachedField>>,
}

#[derive(Debug)]
struct CachedField {
    class: Global,
    field: Field,
    signature: String,
}

fn is_whole(signature: &str) -> bool {
    matches!(signature, "B" | "S" | "I" | "J")
}

impl IntCapture {
    /// The capture plan of a site, if the fast path applies.
    pub(crate) fn of(place: &ProbeSite) -> Option<IntCapture> {
        let [only] = place.uses.as_slice() else { return None };
        let SubscriptionId::Event { number } = only.resolved.subscription.id else { return None };
        if only.if_instance
            || only.step.is_some()
            || place.captures.len() > MAX_FAST_ARGS
            || only.readers.len() > MAX_FAST_ARGS
        {
            return None;
        }
        let sources = only.readers.iter().map(|(reader, ty)| match ty {
            None | Some(ValueType::Int) => source_of(place, reader),
            Some(_) => None,
        });
        let sources = sources.collect::<Option<Vec<IntSource>>>()?;
        for (request_index, source) in sources.iter().enumerate() {
            if let IntSource::Value(_) = source {
                only.resolved.mark_integer(request_index);
            }
        }
        let event = EventId(number);
        let is_passed = |(at, source): (usize, &IntSource)| matches!(source, IntSource::Value(from) if usize::from(*from) == at);
        let is_direct = sources.len() == place.captures.len() && sources.iter().enumerate().all(is_passed);
        let resolved = Arc::clone(&only.resolved);
        Some(IntCapture { event, sources, is_direct, resolved })
    }

    /// Reads the values into a buffer. `None` if one of them is not an integer, or needs the slow path.
    pub(crate) fn read<'a>(
        &self,
        agent: &Agent,
        jni: Jni,
        values: &[ProbeValue],
        into: &'a mut [i64; MAX_FAST_ARGS],
    ) -> Option<&'a [i64]> {
        for (request_index, (to, source)) in into.iter_mut().zip(&self.sources).enumerate() {
            *to = source.read(agent, jni, values)?;
            if let IntSource::FieldPath(..) = source {
                self.resolved.mark_integer(request_index);
            }
        }
        into.get(..self.sources.len())
    }
}

/// The source that corresponds to a reader.
fn source_of(place: &ProbeSite, reader: &ValueReader) -> Option<IntSource> {
    let position = |at: usize| u8::try_from(at).ok();
    let is_object = |at: usize| place.captures.get(at).is_some_and(|(_, ty)| ty.starts_with('L'));
    match reader {
        ValueReader::Captured(at) if is_whole(&place.captures.get(*at)?.1) => {
            Some(IntSource::Value(position(*at)?))
        }
        ValueReader::Captured(at) if place.this == Some(*at) => Some(IntSource::ObjectId(position(*at)?)),
        ValueReader::Computed { expression, names } => {
            let mut steps = Vec::new();
            let mut at = expression;
            let step = |name: &String| FieldStep { name: name.clone(), cached: OnceLock::new() };
            while let Expression::Member(of, name) = at {
                steps.push(step(name));
                at = of;
            }
            let Expression::Name(root) = at else { return None };
            let from = match names.iter().find(|(name, _)| name == root) {
                Some((_, from)) => *from,
                None => {
                    if root != "this" {
                        steps.push(step(root));
                    }
                    place.this?
                }
            };
            steps.reverse();
            (is_object(from) && !steps.is_empty()).then_some(IntSource::FieldPath(position(from)?, steps))
        }
        _ => None,
    }
}

fn object(values: &[ProbeValue], at: u8) -> Option<Ref> {
    match values.get(usize::from(at)) {
        Some(ProbeValue::Object(object)) => *object,
        _ => None,
    }
}

impl IntSource {
    fn read(&self, agent: &Agent, jni: Jni, values: &[ProbeValue]) -> Option<i64> {
        match self {
            IntSource::Value(at) => match values.get(usize::from(*at)) {
                Some(ProbeValue::Number(value)) => Some(*value),
                _ => None,
            },
            // An object without an id takes the slow path, because strings and boxed numbers never get one.
            IntSource::ObjectId(at) => agent.ti.tag(object(values, *at)?).ok().filter(|number| *number != 0),
            IntSource::FieldPath(from, steps) => {
                let mut value = Primitive::Object(object(values, *from));
                for step in steps {
                    let Primitive::Object(Some(object)) = value else { return None };
                    value = step.follow(agent, jni, object)?;
                }
                match value {
                    // A character is text, not an integer.
                    Primitive::Char(_) => None,
                    value => whole(value),
                }
            }
        }
    }
}

impl FieldStep {
    fn follow(&self, agent: &Agent, jni: Jni, object: Ref) -> Option<Primitive> {
        let class = jni.class_of(object);
        let cached = self.cached.get_or_init(|| self.find(agent, jni, object, class)).as_ref()?;
        jni.is_same(class, cached.class.get())
            .then(|| jni.get(Receiver::Of(object), cached.field, &cached.signature))
    }

    fn find(&self, agent: &Agent, jni: Jni, object: Ref, class: Ref) -> Option<CachedField> {
        let evaluator = Evaluator { ti: agent.ti, jni, scope: &EmptyScope };
        let found = evaluator.field(Some(object), class, &self.name)?;
        match found.slot {
            Some(Slot::Field { of: Receiver::Of(_), field }) => {
                Some(CachedField { class: jni.global(class)?, field, signature: found.signature })
            }
            _ => None,
        }
    }
}
