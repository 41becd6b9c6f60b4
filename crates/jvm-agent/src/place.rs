//! Places at which something is told, and how its values are got there.

use crate::expression::Expression;
use crate::names;
use crate::path::{Level, Path, Role, Seen};
use crate::protocol::{Ask, Source, Type};
use crate::vm::Primitive;
use crate::want::{STATIC, Told, Wanted};
use invigil_weave::{Capture, Class, Kind, Method, Site};
use std::sync::Arc;

/// How a value is got where something is told.
#[derive(Debug)]
pub(crate) enum Reader {
    /// It is one of those that were taken.
    Taken(usize),
    /// It is computed: the values that were taken by name, and which of them is `this`.
    Computed { expression: Expression, names: Vec<(String, usize)> },
    /// The agent knows it.
    Known(Source),
    /// It is the value that a variable has without having been written.
    Changed,
    /// It is not to be had here.
    Nothing,
}

/// Something that is told at a place.
#[derive(Debug)]
pub(crate) struct Use {
    pub(crate) wanted: Arc<Wanted>,
    /// Whether only objects of the class that is named count.
    pub(crate) for_some: bool,
    pub(crate) readers: Vec<(Reader, Option<Type>)>,
    /// What happens here on the way to the variable, if it is reached over objects.
    pub(crate) step: Option<Step>,
}

/// What happens on the way to a variable, and which of the captures it needs.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) path: Arc<Path>,
    pub(crate) role: Role,
    this: Option<usize>,
    owner: Option<usize>,
    value: Option<usize>,
}

impl Step {
    /// What the path sees of what was taken.
    pub(crate) fn seen(&self, values: &[Primitive]) -> Seen {
        let value = |at: Option<usize>| at.and_then(|at| values.get(at)).copied();
        let object = |at| match value(at) {
            Some(Primitive::Object(object)) => object,
            _ => None,
        };
        let written = value(self.value).unwrap_or(Primitive::Object(None));
        Seen { this: object(self.this), owner: object(self.owner), value: written }
    }
}

/// A place at which something may be told.
#[derive(Debug)]
pub(crate) struct Place {
    /// What is taken there, each with its type.
    pub(crate) captures: Vec<(Capture, String)>,
    pub(crate) uses: Vec<Use>,
    /// Which of the captures is the object that names without one mean.
    pub(crate) this: Option<usize>,
}

impl Place {
    /// The place for a site, if something is told there.
    pub(crate) fn of(site: &Site<'_>, class: &Class, wants: &[Arc<Wanted>]) -> Option<Place> {
        Place::with(site, class, wants, Vec::new())
    }

    /// The same, where these are taken in any case.
    pub(crate) fn with(
        site: &Site<'_>,
        class: &Class,
        wants: &[Arc<Wanted>],
        captures: Vec<(Capture, String)>,
    ) -> Option<Place> {
        let around = class
            .methods
            .iter()
            .find(|method| method.name == site.method && method.descriptor == site.descriptor)?;
        let called = called(site);
        let method = called.as_ref().unwrap_or(around);
        let mut place = Place { captures, uses: Vec::new(), this: None };
        for wanted in wants {
            if let Some(path) = &wanted.path {
                place.step(wanted, path, site, class, method);
                continue;
            }
            let told = wanted.is_at(site, around);
            if told == Told::Never {
                continue;
            }
            if told == Told::ForSome {
                place.take(object_of(site), site);
            }
            let asks = wanted.want.asks.iter();
            let readers =
                asks.map(|ask| (place.reader(wanted, ask, site, class, method), ask.ty.clone())).collect();
            place.uses.push(Use {
                wanted: Arc::clone(wanted),
                for_some: told == Told::ForSome,
                readers,
                step: None,
            });
        }
        if place.uses.is_empty() {
            return None;
        }
        let object = object_of(site);
        place.this = place.captures.iter().position(|(capture, _)| *capture == object);
        Some(place)
    }

    /// Adds what happens at a site on the way to a variable.
    fn step(
        &mut self,
        wanted: &Arc<Wanted>,
        path: &Arc<Path>,
        site: &Site<'_>,
        class: &Class,
        method: &Method,
    ) {
        let Some(role) = path.role(site) else { return };
        let entity = &wanted.entity;
        let (mut this, mut owner, mut value) = (None, None, None);
        match &role {
            Role::Root => value = Some(self.take(Capture::Value, site)),
            Role::Field { levels, is_last, .. } => {
                let is_told =
                    *is_last && !entity.is_by_path && entity.admits(site.class, site.method, site.descriptor);
                if levels.is_empty() && !is_told {
                    return;
                }
                owner = Some(self.take(Capture::Owner, site));
                value = Some(self.take(Capture::Value, site));
            }
            Role::Begins { level: Level::Root, .. } | Role::Ends => {}
            Role::Begins { .. } | Role::Built => this = Some(self.take(Capture::This, site)),
        }
        let is_told = matches!(role, Role::Root | Role::Field { .. });
        let asks = wanted.want.asks.iter().filter(|_| is_told);
        let readers = asks.map(|ask| {
            let reader = match (&ask.source, entity.is_by_path) {
                (Source::Result, true) => Reader::Changed,
                (Source::Thread | Source::Process | Source::Time, true) => Reader::Known(ask.source.clone()),
                (_, true) => Reader::Nothing,
                (_, false) => self.reader(wanted, ask, site, class, method),
            };
            (reader, ask.ty.clone())
        });
        let readers = readers.collect();
        let step = Some(Step { path: Arc::clone(path), role, this, owner, value });
        self.uses.push(Use { wanted: Arc::clone(wanted), for_some: false, readers, step });
    }

    fn reader(
        &mut self,
        wanted: &Wanted,
        ask: &Ask,
        site: &Site<'_>,
        class: &Class,
        method: &Method,
    ) -> Reader {
        let roots = match wanted.roots(ask, class, method) {
            Ok(roots) => roots,
            Err(_) => return Reader::Nothing,
        };
        match &ask.source {
            Source::Thread | Source::Process | Source::Time => Reader::Known(ask.source.clone()),
            Source::Argument { .. } | Source::Result => {
                roots.first().map_or(Reader::Nothing, |(_, capture)| Reader::Taken(self.take(*capture, site)))
            }
            Source::Expression { text } => match Expression::parse(text) {
                Ok(Expression::Name(name))
                    if roots
                        .first()
                        .is_some_and(|(root, capture)| *root == name && is_whole(&name, *capture)) =>
                {
                    Reader::Taken(self.take(roots[0].1, site))
                }
                Ok(expression) => {
                    let names = roots
                        .into_iter()
                        .map(|(name, capture)| (name, capture, self.take(capture, site)))
                        .filter(|(name, capture, _)| is_whole(name, *capture))
                        .map(|(name, _, at)| (name, at))
                        .collect();
                    Reader::Computed { expression, names }
                }
                Err(_) => Reader::Nothing,
            },
        }
    }

    /// The position of a capture, added if it is new.
    fn take(&mut self, capture: Capture, site: &Site<'_>) -> usize {
        if let Some(at) = self.captures.iter().position(|(known, _)| *known == capture) {
            return at;
        }
        let written = match site.kind {
            Kind::Field { descriptor, .. } | Kind::Local { descriptor, .. } => descriptor,
            _ => "",
        };
        let method = match site.kind {
            Kind::Call { descriptor, .. } => descriptor,
            _ => site.descriptor,
        };
        let ty = match capture {
            Capture::Argument(at) => {
                names::parameters(method).get(usize::from(at)).map_or("", |ty| *ty).to_owned()
            }
            Capture::Result => names::returns(method).to_owned(),
            Capture::Value => written.to_owned(),
            Capture::This | Capture::Owner | Capture::Thrown => "Ljava/lang/Object;".to_owned(),
        };
        self.captures.push((capture, ty));
        self.captures.len() - 1
    }
}

/// The method that is called at a site, as far as the call tells.
fn called(site: &Site<'_>) -> Option<Method> {
    let Kind::Call { name, descriptor, is_static, .. } = site.kind else { return None };
    Some(Method {
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        access: if is_static { STATIC } else { 0 },
        has_code: true,
        parameters: Vec::new(),
        locals: Vec::new(),
        lines: Vec::new(),
    })
}

/// The object that something is told of: the one whose field is written or whose method is called, or `this`.
fn object_of(site: &Site<'_>) -> Capture {
    match site.kind {
        Kind::Field { .. } | Kind::Call { .. } => Capture::Owner,
        _ => Capture::This,
    }
}

/// Whether a capture is what the name stands for, and not the object that has it as a field.
fn is_whole(name: &str, capture: Capture) -> bool {
    !matches!(capture, Capture::This | Capture::Owner) || matches!(name, "this")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Moment;
    use crate::want::tests::{class, text, wanted};

    #[test]
    fn a_place_takes_each_value_once() {
        let class = class(true);
        let sources = [text("item"), text("this.size > item"), text("size"), Source::Argument { number: 1 }];
        let wants = [Arc::new(wanted(Moment::Enter, "Queue.push", &sources))];
        let site = Site {
            class: "app/Queue",
            method: "push",
            descriptor: "(IJ)V",
            is_static: false,
            line: None,
            kind: Kind::Enter,
        };
        let place = Place::of(&site, &class, &wants).unwrap();
        let captures: Vec<Capture> = place.captures.iter().map(|(capture, _)| *capture).collect();
        assert_eq!(captures, [Capture::Argument(0), Capture::This]);
        assert_eq!(place.this, Some(1));
        assert!(Place::of(&Site { method: "pop", descriptor: "()I", ..site }, &class, &wants).is_none());
    }
}
