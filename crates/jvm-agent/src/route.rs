//! The short way from a place to an event: where nothing but one event is told, whose values are whole numbers. Objects
//! count by their numbers, and fields of objects are found once for each place.

use crate::agent::Agent;
use crate::evaluate::{Evaluator, Nowhere, Slot, whole};
use crate::expression::Expression;
use crate::fire::Raw;
use crate::inside::QUICK;
use crate::place::{Place, Reader};
use crate::protocol::{Key, Type};
use crate::vm::{Field, FieldKind, Global, Jni, Primitive, Ref};
use crate::want::Wanted;
use invigil_monitor::event::SymbolId;
use std::sync::{Arc, OnceLock};

/// See the module.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) symbol: SymbolId,
    /// How the values are got.
    ways: Vec<Way>,
    /// Whether they are the numbers that the probe passes, and nothing else is passed.
    pub(crate) is_brief: bool,
    wanted: Arc<Wanted>,
}

/// How a value is got.
#[derive(Debug)]
enum Way {
    /// It is a number that was taken.
    Number(u8),
    /// It is the number of an object that was taken.
    Object(u8),
    /// It is in a field of an object that was taken, or of one that a field of that holds.
    Path(u8, Vec<Hop>),
}

/// A field on the way.
#[derive(Debug)]
struct Hop {
    name: String,
    /// The field in the first class of which an object came by; nothing if it has none that will do.
    known: OnceLock<Option<Known>>,
}

#[derive(Debug)]
struct Known {
    class: Global,
    field: Field,
    signature: String,
}

fn is_whole(signature: &str) -> bool {
    matches!(signature, "B" | "S" | "I" | "J")
}

impl Route {
    /// The short way from a place, if there is one.
    pub(crate) fn of(place: &Place) -> Option<Route> {
        let [only] = place.uses.as_slice() else { return None };
        let Key::Event { number } = only.wanted.want.key else { return None };
        if only.for_some || only.step.is_some() || place.captures.len() > QUICK || only.readers.len() > QUICK
        {
            return None;
        }
        let ways = only.readers.iter().map(|(reader, ty)| match ty {
            None | Some(Type::Int) => way(place, reader),
            Some(_) => None,
        });
        let ways = ways.collect::<Option<Vec<Way>>>()?;
        for (ask, way) in ways.iter().enumerate() {
            if let Way::Number(_) = way {
                only.wanted.is_plain(ask);
            }
        }
        let symbol = SymbolId(number);
        let is_passed =
            |(at, way): (usize, &Way)| matches!(way, Way::Number(from) if usize::from(*from) == at);
        let is_brief = ways.len() == place.captures.len() && ways.iter().enumerate().all(is_passed);
        let wanted = Arc::clone(&only.wanted);
        Some(Route { symbol, ways, is_brief, wanted })
    }

    /// The values, into room for them. Nothing if one of them is no whole number, or is not known in this way.
    pub(crate) fn read<'a>(
        &self,
        agent: &Agent,
        jni: Jni,
        values: &[Raw],
        into: &'a mut [i64; QUICK],
    ) -> Option<&'a [i64]> {
        for (ask, (to, way)) in into.iter_mut().zip(&self.ways).enumerate() {
            *to = way.read(agent, jni, values)?;
            if let Way::Path(..) = way {
                self.wanted.is_plain(ask);
            }
        }
        into.get(..self.ways.len())
    }
}

/// How a reader's value is got in the short way.
fn way(place: &Place, reader: &Reader) -> Option<Way> {
    let position = |at: usize| u8::try_from(at).ok();
    let is_object = |at: usize| place.captures.get(at).is_some_and(|(_, ty)| ty.starts_with('L'));
    match reader {
        Reader::Taken(at) if is_whole(&place.captures.get(*at)?.1) => Some(Way::Number(position(*at)?)),
        Reader::Taken(at) if place.this == Some(*at) => Some(Way::Object(position(*at)?)),
        Reader::Computed { expression, names } => {
            let mut hops = Vec::new();
            let mut at = expression;
            let hop = |name: &String| Hop { name: name.clone(), known: OnceLock::new() };
            while let Expression::Member(of, name) = at {
                hops.push(hop(name));
                at = of;
            }
            let Expression::Name(root) = at else { return None };
            let from = match names.iter().find(|(name, _)| name == root) {
                Some((_, from)) => *from,
                None => {
                    if root != "this" {
                        hops.push(hop(root));
                    }
                    place.this?
                }
            };
            hops.reverse();
            (is_object(from) && !hops.is_empty()).then_some(Way::Path(position(from)?, hops))
        }
        _ => None,
    }
}

fn object(values: &[Raw], at: u8) -> Option<Ref> {
    match values.get(usize::from(at)) {
        Some(Raw::Object(object)) => *object,
        _ => None,
    }
}

impl Way {
    fn read(&self, agent: &Agent, jni: Jni, values: &[Raw]) -> Option<i64> {
        match self {
            Way::Number(at) => match values.get(usize::from(*at)) {
                Some(Raw::Number(value)) => Some(*value),
                _ => None,
            },
            // One that has no number yet is looked at more closely, for strings and numbers in boxes get none.
            Way::Object(at) => agent.ti.tag(object(values, *at)?).ok().filter(|number| *number != 0),
            Way::Path(from, hops) => {
                let mut value = Primitive::Object(object(values, *from));
                for hop in hops {
                    let Primitive::Object(Some(object)) = value else { return None };
                    value = hop.follow(agent, jni, object)?;
                }
                match value {
                    // A character is text.
                    Primitive::Char(_) => None,
                    value => whole(value),
                }
            }
        }
    }
}

impl Hop {
    fn follow(&self, agent: &Agent, jni: Jni, object: Ref) -> Option<Primitive> {
        let class = jni.class_of(object);
        let known = self.known.get_or_init(|| self.find(agent, jni, object, class)).as_ref()?;
        jni.is_same(class, known.class.get())
            .then(|| jni.get(FieldKind::Of(object), known.field, &known.signature))
    }

    fn find(&self, agent: &Agent, jni: Jni, object: Ref, class: Ref) -> Option<Known> {
        let evaluator = Evaluator { ti: agent.ti, jni, scope: &Nowhere };
        let found = evaluator.field(Some(object), class, &self.name)?;
        match found.slot {
            Some(Slot::Field { of: FieldKind::Of(_), field }) => {
                Some(Known { class: jni.global(class)?, field, signature: found.signature })
            }
            _ => None,
        }
    }
}
