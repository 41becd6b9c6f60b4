//! Variables that are reached over objects, as in `CHARON.simulator.agents.angle`: which object is there now.
//!
//! Every write on the way is watched. An object is known by its number, so nothing is kept alive: where the way begins at a
//! static field or a local variable, what is there is known by a weak handle, and the end of the way by its number. Where
//! it begins at all objects of a class, tables say which objects hold which.
//!
//! No lock is held while the machine is called, but for making a handle of a weak one.

use crate::agent::{Agent, locked};
use crate::building;
use crate::evaluate::{Evaluator, Nowhere};
use crate::fire::{datum, is_instance};
use crate::names::{dotted, is_platform};
use crate::protocol::{Datum, Hit, Link, Root, Route, Source};
use crate::vm::{FieldKind, Jni, Primitive, Ref, Weak, c_string};
use invigil_weave::{Kind, Site, Stored, When};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A variable that is reached over objects.
#[derive(Debug)]
pub(crate) struct Path {
    pub(crate) route: Route,
    /// Whether somebody wants to be told of changes that are no writes.
    pub(crate) tells_changes: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What is in the static field or local variable.
    root: Option<Weak>,
    /// The number of the object that has the variable; 0 if there is none.
    end: i64,
    /// What was told last; nothing if the variable is undefined.
    last: Option<Datum>,
    /// For a way from all objects of a class: who holds whom, by each field but the last.
    holds: Vec<Holds>,
}

/// Who holds whom by a field, by numbers.
#[derive(Debug, Default)]
struct Holds {
    held: HashMap<i64, i64>,
    by: HashMap<i64, Vec<i64>>,
}

impl Holds {
    /// An object holds another from now on, or none (0). Says whether that is new.
    fn put(&mut self, owner: i64, value: i64) -> bool {
        let old = match value {
            0 => self.held.remove(&owner).unwrap_or(0),
            value => self.held.insert(owner, value).unwrap_or(0),
        };
        if old == value {
            return false;
        }
        if let Some(owners) = self.by.get_mut(&old) {
            owners.retain(|known| *known != owner);
            if owners.is_empty() {
                self.by.remove(&old);
            }
        }
        if value != 0 {
            self.by.entry(value).or_default().push(owner);
        }
        true
    }

    /// An object is no more.
    fn drop(&mut self, number: i64) {
        self.put(number, 0);
        for owner in self.by.remove(&number).unwrap_or_default() {
            self.held.remove(&owner);
        }
    }
}

/// What happens at a place, as far as a path is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The static field or local variable is written that the way begins with.
    Root,
    /// A field is written that is at these places of the way; the last one is the variable. The code may name a class that
    /// only inherits the field, or has another one of that name.
    Field { levels: Vec<usize>, is_last: bool, is_exact: bool },
    /// The constructor of an object is called that will be put there: 0 is where the way begins.
    Begins { level: Level, class: String },
    /// That constructor has returned.
    Ends,
    /// In a constructor: there is a `this`.
    Built,
}

/// Where an object will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// At the begin of the way.
    Root,
    /// In one of these fields of `this`.
    In(Vec<usize>),
}

/// What was taken at a place.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) this: Option<Ref>,
    pub(crate) owner: Option<Ref>,
    pub(crate) value: Primitive,
}

thread_local! {
    /// The value that a variable has without having been written.
    static CHANGED: RefCell<Option<Datum>> = const { RefCell::new(None) };
}

/// The value of the variable whose change was just seen in this thread.
pub(crate) fn changed() -> Datum {
    CHANGED.take().unwrap_or(Datum::Unset)
}

impl Path {
    pub(crate) fn new(route: Route) -> Path {
        let holds = (1..route.links.len()).map(|_| Holds::default()).collect();
        let state = Mutex::new(State { holds, ..State::default() });
        Path { route, tells_changes: AtomicBool::new(false), state }
    }

    /// What a site is to the path.
    pub(crate) fn role(&self, site: &Site<'_>) -> Option<Role> {
        let (last, before) = self.fields()?;
        match site.kind {
            Kind::Field { owner, name, descriptor, is_static: true } => {
                let is_root = matches!(&self.route.root, Root::Static { field } if is_link(field, owner, name, descriptor));
                is_root.then_some(Role::Root)
            }
            Kind::Field { owner, name, descriptor, is_static: false } => {
                let may_be = |link: &&Link| link.field == name && link.descriptor == descriptor;
                let levels: Vec<usize> =
                    before.iter().enumerate().filter(|(_, link)| may_be(link)).map(|(at, _)| at).collect();
                let is_last = may_be(&last);
                let mut links = self.route.links.iter().filter(may_be).peekable();
                links.peek()?;
                let is_exact = links.all(|link| link.class == owner);
                (is_exact || !is_platform(&dotted(owner))).then_some(Role::Field {
                    levels,
                    is_last,
                    is_exact,
                })
            }
            Kind::Local { name, .. } => self.is_root_local(site, name).then_some(Role::Root),
            Kind::Call { owner, name: "<init>", when, stored, .. } => {
                let level = match stored {
                    Some(Stored::Local { name, .. }) if self.is_root_local(site, name) => Some(Level::Root),
                    Some(Stored::Field { owner, name, descriptor, is_static: true, .. }) => {
                        let is_root = matches!(&self.route.root, Root::Static { field } if is_link(field, owner, name, descriptor));
                        is_root.then_some(Level::Root)
                    }
                    Some(Stored::Field { owner, name, descriptor, of_this: true, .. }) => {
                        let links = before.iter().enumerate();
                        let levels: Vec<usize> = links
                            .filter(|(_, link)| is_link(link, owner, name, descriptor))
                            .map(|(at, _)| at)
                            .collect();
                        (!levels.is_empty()).then_some(Level::In(levels))
                    }
                    _ => None,
                };
                match (level, when) {
                    (Some(level), When::Before) => Some(Role::Begins { level, class: owner.to_owned() }),
                    (Some(_), When::After) => Some(Role::Ends),
                    (None, When::After) if site.method == "<init>" => {
                        self.has(site.class).then_some(Role::Built)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn is_root_local(&self, site: &Site<'_>, local: &str) -> bool {
        matches!(&self.route.root, Root::Local { class, method, descriptor, name }
            if class == site.class && method == site.method && descriptor == site.descriptor && name == local)
    }

    /// Whether objects of a class, or of one that extends it, lie on the way.
    fn has(&self, class: &str) -> bool {
        self.route.links.iter().any(|link| link.class == class)
    }

    /// Whether there may be something about the path in a class: it may be yes too often.
    pub(crate) fn may_concern(&self, class: &str, has: &dyn Fn(&str) -> bool) -> bool {
        let (is_root, first) = match &self.route.root {
            Root::Local { class: known, .. } => (known == class, None),
            Root::Static { field } => (field.class == class, Some(field)),
            Root::Instances => (false, None),
        };
        is_root
            || self.has(class)
            || !is_platform(&dotted(class))
                && self.route.links.iter().chain(first).any(|link| has(&link.field))
    }

    /// The field that is the variable, and those before it.
    fn fields(&self) -> Option<(&Link, &[Link])> {
        self.route.links.split_last()
    }

    /// Something happens that concerns the path. Says whether it is to be told: for `changes`, that the variable has
    /// another value without having been written; else, that it was written.
    pub(crate) fn sees(&self, agent: &Agent, jni: Jni, role: &Role, seen: Seen, changes: bool) -> bool {
        if agent.line.is_lost() {
            return false;
        }
        // Changes are looked at once: for those who are told of them, if there are any.
        let is_looked_at = changes || !self.tells_changes.load(Ordering::Relaxed);
        match role {
            Role::Root => {
                let object = object(seen.value);
                if is_looked_at {
                    self.set_root(jni, object);
                    return self.ends_at(agent, jni, self.walk(jni, object, 0)) && changes;
                }
                false
            }
            Role::Field { levels, is_last, is_exact } => {
                let Some(owner) = seen.owner else { return false };
                if !is_exact && !self.has_field(agent, jni, levels, *is_last, owner) {
                    return false;
                }
                if *is_last && !changes {
                    return self.is_written(agent, jni, owner, seen.value);
                }
                is_looked_at
                    && !levels.is_empty()
                    && self.relinks(agent, jni, levels, owner, object(seen.value))
                    && changes
            }
            _ if changes => false,
            Role::Begins { level, class } => {
                if let Some(level) = self.is_begun(agent, jni, level, seen.this) {
                    building::begin(agent, jni, self.identity(), level, class);
                }
                false
            }
            Role::Ends => {
                building::end(agent, jni, self.identity());
                false
            }
            Role::Built => {
                if let Some(this) = seen.this {
                    building::bind(agent, jni, self.identity(), this);
                }
                false
            }
        }
    }

    /// Whether an object is of a class that has one of these fields.
    fn has_field(&self, agent: &Agent, jni: Jni, levels: &[usize], is_last: bool, owner: Ref) -> bool {
        let last = self.route.links.len() - 1;
        let mut links =
            levels.iter().chain(is_last.then_some(&last)).filter_map(|at| self.route.links.get(*at));
        let class = jni.class_of(owner);
        links.any(|link| is_instance(agent.ti, jni, class, &dotted(&link.class)))
    }

    fn identity(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Where on the way an object will be whose constructor is called, if it will be there.
    fn is_begun(&self, agent: &Agent, jni: Jni, level: &Level, this: Option<Ref>) -> Option<usize> {
        let fields = match level {
            Level::Root => return Some(0),
            Level::In(fields) => fields,
        };
        let this = this?;
        let number = agent.identities.number(agent.ti, this);
        let builds = |level: usize| building::is_at(agent, jni, self.identity(), level, Some(this), number);
        let is_there = |level: usize| match self.route.root {
            Root::Instances => self.is_held(level, number),
            _ => self.at(jni, level).is_some_and(|object| jni.is_same(object, this)),
        };
        fields.iter().find(|level| builds(**level) || is_there(**level)).map(|level| level + 1)
    }

    /// The object after so many fields.
    fn at(&self, jni: Jni, level: usize) -> Option<Ref> {
        let mut at = self.root(jni)?;
        for link in self.route.links.get(..level)? {
            at = object(read(jni, at, link)?)?;
        }
        Some(at)
    }

    fn root(&self, jni: Jni) -> Option<Ref> {
        // Who gives the weak handle back takes it out under this lock first.
        let state = locked(&self.state);
        state.root.as_ref().and_then(|weak| jni.strong(weak))
    }

    fn set_root(&self, jni: Jni, object: Option<Ref>) {
        let new = object.and_then(|object| jni.weak(object));
        let old = std::mem::replace(&mut locked(&self.state).root, new);
        if let Some(old) = old {
            jni.forget_weak(old);
        }
    }

    /// The object that has the variable, from one that is reached by the first fields.
    fn walk(&self, jni: Jni, from: Option<Ref>, after: usize) -> Option<Ref> {
        let (_, before) = self.fields()?;
        let mut at = from?;
        for link in before.get(after..)? {
            at = object(read(jni, at, link)?)?;
        }
        Some(at)
    }

    /// The way ends at this object now. Says whether the variable has another value by that.
    fn ends_at(&self, agent: &Agent, jni: Jni, end: Option<Ref>) -> bool {
        let number = end.map_or(0, |end| agent.identities.number(agent.ti, end));
        let value = end.zip(self.fields()).and_then(|(end, (last, _))| read(jni, end, last));
        let value = value.map(|value| datum(agent, jni, value, None));
        let mut state = locked(&self.state);
        // Two objects that come after each other may have one value, and one object is not another.
        if state.end == number && self.route.root != Root::Instances {
            return false;
        }
        state.end = number;
        if state.last == value {
            return false;
        }
        state.last.clone_from(&value);
        CHANGED.set(value);
        true
    }

    /// Whether a write to the field is one to the variable.
    fn is_written(&self, agent: &Agent, jni: Jni, owner: Ref, value: Primitive) -> bool {
        let number = agent.ti.tag(owner).unwrap_or(0);
        let level = self.route.links.len() - 1;
        let is_there = match self.route.root {
            Root::Instances => self.is_held(level, number),
            _ => number != 0 && locked(&self.state).end == number,
        };
        if !is_there && !building::is_at(agent, jni, self.identity(), level, None, number) {
            return false;
        }
        let value = datum(agent, jni, value, None);
        let mut state = locked(&self.state);
        state.last = Some(value);
        if self.route.root == Root::Instances {
            state.end = number;
        }
        true
    }

    /// Whether an object is reached after so many fields, from some object of the class.
    fn is_held(&self, level: usize, number: i64) -> bool {
        let state = locked(&self.state);
        let mut numbers = vec![number];
        for holds in state.holds.iter().take(level).rev() {
            numbers = numbers.iter().filter_map(|number| holds.by.get(number)).flatten().copied().collect();
            numbers.sort_unstable();
            numbers.dedup();
        }
        !numbers.is_empty()
    }

    /// A field on the way is written. Says whether the variable has another value by that.
    fn relinks(&self, agent: &Agent, jni: Jni, levels: &[usize], owner: Ref, value: Option<Ref>) -> bool {
        if self.route.root != Root::Instances {
            return self.ends_at(agent, jni, self.walk(jni, self.root(jni), 0));
        }
        let number = |object: Ref| agent.identities.number(agent.ti, object);
        let (owner, held) = (number(owner), value.map_or(0, number));
        let mut told = false;
        for level in levels {
            let is_new = {
                let mut state = locked(&self.state);
                state.holds.get_mut(*level).is_some_and(|holds| holds.put(owner, held))
            };
            if is_new && self.is_held(*level, owner) {
                told |= self.ends_at(agent, jni, self.walk(jni, value, level + 1));
            }
        }
        told
    }

    /// Begins in a program that runs: what is in the static field is what was put there before.
    pub(crate) fn begin(&self, agent: &Agent, jni: Jni) {
        let Root::Static { field } = &self.route.root else { return };
        let wanted = format!("L{};", field.class);
        let mut loaded = agent.ti.loaded_classes().unwrap_or_default().into_iter();
        let class = loaded.find(|class| agent.ti.signature(*class).is_ok_and(|known| known == wanted));
        let evaluator = Evaluator { ti: agent.ti, jni, scope: &Nowhere };
        let found = class.and_then(|class| object(evaluator.field(None, class, &field.field)?.value));
        self.set_root(jni, found);
        let end = self.walk(jni, found, 0);
        locked(&self.state).end = end.map_or(0, |end| agent.identities.number(agent.ti, end));
    }

    /// Objects are no more. Says whether the variable is undefined by that.
    fn loses(&self, gone: &[i64]) -> bool {
        let mut state = locked(&self.state);
        for number in gone {
            state.holds.iter_mut().for_each(|holds| holds.drop(*number));
        }
        let is_lost = state.end != 0 && gone.contains(&state.end);
        if is_lost {
            state.end = 0;
        }
        is_lost && state.last.take().is_some()
    }
}

/// What is to be told of objects that are no more: their variables are undefined.
pub(crate) fn gone(agent: &Agent, gone: &[i64], time: f64) -> Vec<Hit> {
    if gone.is_empty() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for wanted in agent.wants().iter() {
        let Some(path) = &wanted.path else { continue };
        let is_told = wanted.entity.is_by_path || !path.tells_changes.load(Ordering::Relaxed);
        if is_told && path.loses(gone) && wanted.entity.is_by_path && wanted.is_active() {
            let value = |source: &Source| match source {
                Source::Time => Datum::Float { value: time },
                _ => Datum::Unset,
            };
            let values = wanted.want.asks.iter().map(|ask| value(&ask.source)).collect();
            hits.push(Hit { key: wanted.want.key.clone(), values });
        }
    }
    hits
}

fn is_link(link: &Link, owner: &str, name: &str, descriptor: &str) -> bool {
    link.class == owner && link.field == name && link.descriptor == descriptor
}

fn object(value: Primitive) -> Option<Ref> {
    match value {
        Primitive::Object(object) => object,
        _ => None,
    }
}

/// A field of an object.
fn read(jni: Jni, of: Ref, link: &Link) -> Option<Primitive> {
    let field = jni.field(jni.class_of(of), &c_string(&link.field), &c_string(&link.descriptor))?;
    Some(jni.get(FieldKind::Of(of), field, &link.descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(fields: usize) -> Path {
        let link = || Link { class: "A".into(), field: "b".into(), descriptor: "LA;".into() };
        Path::new(Route { root: Root::Instances, links: (0..fields).map(|_| link()).collect() })
    }

    #[test]
    fn who_holds_whom() {
        // `A.b.b.x`: 1 holds 2, which holds 3; 4 holds 3, too.
        let path = path(3);
        let put = |level: usize, owner, value| locked(&path.state).holds[level].put(owner, value);
        assert!(put(0, 1, 2) && put(1, 2, 3) && !put(1, 2, 3));
        assert!(path.is_held(2, 3) && path.is_held(1, 2) && !path.is_held(2, 2));
        // 4 is held by nobody.
        assert!(put(1, 4, 3) && put(1, 2, 0));
        assert!(!path.is_held(2, 3));
        assert!(put(0, 5, 4) && path.is_held(2, 3));
        assert!(!path.loses(&[5]) && !path.is_held(2, 3));
        assert!(locked(&path.state).holds[0].by.contains_key(&2));
        path.loses(&[1, 2, 3, 4]);
        assert!(locked(&path.state).holds.iter().all(|holds| holds.held.is_empty() && holds.by.is_empty()));
    }

    #[test]
    fn an_object_that_dies_takes_its_value_along() {
        let path = path(2);
        locked(&path.state).end = 7;
        locked(&path.state).last = Some(Datum::Int { value: 1 });
        assert!(!path.loses(&[6]));
        assert!(path.loses(&[6, 7]));
        assert!(!path.loses(&[7]));
    }
}
