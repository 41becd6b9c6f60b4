//! Variables that are reached through objects, as in `CHARON.simulator.agents.angle`: which object has the variable
//! now.
//!
//! Every write along the path is observed. Objects are known by their ids, so nothing is kept alive. For a path that
//! starts at a static field or a local variable, the root is held by a weak handle and the object at the end by its id.
//! For a path that starts at all instances of a class, tables record which objects refer to which.
//!
//! No lock is held while the virtual machine is called, except to make a handle from a weak one.

use crate::agent::{Agent, locked};
use crate::construction;
use crate::evaluate::{EmptyScope, Evaluator};
use crate::names::{dotted, is_platform};
use crate::on_probe::{is_instance, wire_value};
use crate::protocol::{FieldRef, Notification, PathRoot, ValueSource, VariablePath, WireValue};
use crate::vm::{Jni, Primitive, Receiver, Ref, Weak, c_string};
use invigil_weave::{CallSide, Site, SiteKind, StoreTarget};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A variable that is reached through objects.
#[derive(Debug)]
pub(crate) struct TrackedPath {
    pub(crate) variable: VariablePath,
    /// Whether changes without a write are to be reported.
    pub(crate) reports_changes: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The object in the static field or local variable.
    root: Option<Weak>,
    /// The id of the object that has the variable; 0 if there is none.
    end: i64,
    /// The last known value; `None` if the variable is undefined.
    last: Option<WireValue>,
    /// For a path from all instances of a class: the references by each field except the last.
    links: Vec<FieldLinks>,
}

/// The references by one field, as ids.
#[derive(Debug, Default)]
struct FieldLinks {
    value_of: HashMap<i64, i64>,
    owners_of: HashMap<i64, Vec<i64>>,
}

impl FieldLinks {
    /// Records that an object refers to another one, or to none (0). Returns whether that is new.
    fn put(&mut self, owner: i64, value: i64) -> bool {
        let old = match value {
            0 => self.value_of.remove(&owner).unwrap_or(0),
            value => self.value_of.insert(owner, value).unwrap_or(0),
        };
        if old == value {
            return false;
        }
        if let Some(owners) = self.owners_of.get_mut(&old) {
            owners.retain(|known| *known != owner);
            if owners.is_empty() {
                self.owners_of.remove(&old);
            }
        }
        if value != 0 {
            self.owners_of.entry(value).or_default().push(owner);
        }
        true
    }

    /// Removes a collected object.
    fn remove(&mut self, number: i64) {
        self.put(number, 0);
        for owner in self.owners_of.remove(&number).unwrap_or_default() {
            self.value_of.remove(&owner);
        }
    }
}

/// What a site means for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathRole {
    /// It writes the static field or local variable that the path starts with.
    Root,
    /// It writes a field at these positions of the path; the last one is the variable. The code may name a class that
    /// only inherits the field, or that has another field of this name.
    Field { levels: Vec<usize>, is_last: bool, is_exact: bool },
    /// It calls the constructor of an object that will be stored there.
    ConstructionBegins { level: PathLevel, class: String },
    /// That constructor has returned.
    ConstructionEnds,
    /// It is in a constructor, where `this` exists.
    InConstructor,
}

/// Where an object will be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathLevel {
    /// At the start of the path.
    Root,
    /// In one of these fields of `this`.
    In(Vec<usize>),
}

/// The values that were captured at a site.
#[derive(Clone, Copy)]
pub(crate) struct PathValues {
    pub(crate) this: Option<Ref>,
    pub(crate) owner: Option<Ref>,
    pub(crate) value: Primitive,
}

thread_local! {
    /// The value that a variable acquired without being written.
    static CHANGED: RefCell<Option<WireValue>> = const { RefCell::new(None) };
}

/// The value of the variable whose change was just observed in this thread.
pub(crate) fn changed() -> WireValue {
    CHANGED.take().unwrap_or(WireValue::Unset)
}

impl TrackedPath {
    pub(crate) fn new(variable: VariablePath) -> TrackedPath {
        let links = (1..variable.fields.len()).map(|_| FieldLinks::default()).collect();
        let state = Mutex::new(State { links, ..State::default() });
        TrackedPath { variable, reports_changes: AtomicBool::new(false), state }
    }

    /// What a site means for the path.
    pub(crate) fn role(&self, site: &Site<'_>) -> Option<PathRole> {
        let (last, before) = self.split_last()?;
        match site.kind {
            SiteKind::Field { owner, name, descriptor, is_static: true } => {
                let is_root = matches!(&self.variable.root, PathRoot::Static { field } if is_link(field, owner, name, descriptor));
                is_root.then_some(PathRole::Root)
            }
            SiteKind::Field { owner, name, descriptor, is_static: false } => {
                let may_be = |link: &&FieldRef| link.field == name && link.descriptor == descriptor;
                let levels: Vec<usize> =
                    before.iter().enumerate().filter(|(_, link)| may_be(link)).map(|(at, _)| at).collect();
                let is_last = may_be(&last);
                let mut links = self.variable.fields.iter().filter(may_be).peekable();
                links.peek()?;
                let is_exact = links.all(|link| link.class == owner);
                (is_exact || !is_platform(&dotted(owner))).then_some(PathRole::Field {
                    levels,
                    is_last,
                    is_exact,
                })
            }
            SiteKind::Local { name, .. } => self.is_root_local(site, name).then_some(PathRole::Root),
            SiteKind::Call { owner, name: "<init>", when, stored, .. } => {
                let level = match stored {
                    Some(StoreTarget::Local { name, .. }) if self.is_root_local(site, name) => {
                        Some(PathLevel::Root)
                    }
                    Some(StoreTarget::Field { owner, name, descriptor, is_static: true, .. }) => {
                        let is_root = matches!(&self.variable.root, PathRoot::Static { field } if is_link(field, owner, name, descriptor));
                        is_root.then_some(PathLevel::Root)
                    }
                    Some(StoreTarget::Field { owner, name, descriptor, of_this: true, .. }) => {
                        let links = before.iter().enumerate();
                        let levels: Vec<usize> = links
                            .filter(|(_, link)| is_link(link, owner, name, descriptor))
                            .map(|(at, _)| at)
                            .collect();
                        (!levels.is_empty()).then_some(PathLevel::In(levels))
                    }
                    _ => None,
                };
                match (level, when) {
                    (Some(level), CallSide::Before) => {
                        Some(PathRole::ConstructionBegins { level, class: owner.to_owned() })
                    }
                    (Some(_), CallSide::After) => Some(PathRole::ConstructionEnds),
                    (None, CallSide::After) if site.method == "<init>" => {
                        self.has_class(site.class).then_some(PathRole::InConstructor)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn is_root_local(&self, site: &Site<'_>, local: &str) -> bool {
        matches!(&self.variable.root, PathRoot::Local { class, method, descriptor, name }
            if class == site.class && method == site.method && descriptor == site.descriptor && name == local)
    }

    /// Whether instances of a class, or of one that extends it, are on the path.
    fn has_class(&self, class: &str) -> bool {
        self.variable.fields.iter().any(|link| link.class == class)
    }

    /// Whether a class may have sites for the path: a quick check with false positives.
    pub(crate) fn may_concern(&self, class: &str, contains: &dyn Fn(&str) -> bool) -> bool {
        let (is_root, first) = match &self.variable.root {
            PathRoot::Local { class: known, .. } => (known == class, None),
            PathRoot::Static { field } => (field.class == class, Some(field)),
            PathRoot::Instances => (false, None),
        };
        is_root
            || self.has_class(class)
            || !is_platform(&dotted(class))
                && self.variable.fields.iter().chain(first).any(|link| contains(&link.field))
    }

    /// The field that is the variable, and those before it.
    fn split_last(&self) -> Option<(&FieldRef, &[FieldRef])> {
        self.variable.fields.split_last()
    }

    /// Updates the path. Returns whether the subscription reports it: if `is_by_path`, that the variable changed
    /// without being written; otherwise that it was written.
    pub(crate) fn observe(
        &self,
        agent: &Agent,
        jni: Jni,
        role: &PathRole,
        values: PathValues,
        is_by_path: bool,
    ) -> bool {
        if agent.channel.is_closed() {
            return false;
        }
        // Each change is examined once: for the subscription to changes, if there is one.
        let is_examined = is_by_path || !self.reports_changes.load(Ordering::Relaxed);
        match role {
            PathRole::Root => {
                let object = object(values.value);
                if is_examined {
                    self.set_root(jni, object);
                    return self.set_end(agent, jni, self.walk(jni, object, 0)) && is_by_path;
                }
                false
            }
            PathRole::Field { levels, is_last, is_exact } => {
                let Some(owner) = values.owner else { return false };
                if !is_exact && !self.has_field(agent, jni, levels, *is_last, owner) {
                    return false;
                }
                if *is_last && !is_by_path {
                    return self.is_written(agent, jni, owner, values.value);
                }
                is_examined
                    && !levels.is_empty()
                    && self.update_link(agent, jni, levels, owner, object(values.value))
                    && is_by_path
            }
            _ if is_by_path => false,
            PathRole::ConstructionBegins { level, class } => {
                if let Some(level) = self.construction_level(agent, jni, level, values.this) {
                    construction::begin(agent, jni, self.identity(), level, class);
                }
                false
            }
            PathRole::ConstructionEnds => {
                construction::end(agent, jni, self.identity());
                false
            }
            PathRole::InConstructor => {
                if let Some(this) = values.this {
                    construction::bind(agent, jni, self.identity(), this);
                }
                false
            }
        }
    }

    /// Whether an object is of a class that has one of these fields.
    fn has_field(&self, agent: &Agent, jni: Jni, levels: &[usize], is_last: bool, owner: Ref) -> bool {
        let last = self.variable.fields.len() - 1;
        let mut links =
            levels.iter().chain(is_last.then_some(&last)).filter_map(|at| self.variable.fields.get(*at));
        let class = jni.class_of(owner);
        links.any(|link| is_instance(agent.ti, jni, class, &dotted(&link.class)))
    }

    fn identity(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// The position on the path of an object whose constructor is called, if it will be on the path.
    fn construction_level(
        &self,
        agent: &Agent,
        jni: Jni,
        level: &PathLevel,
        this: Option<Ref>,
    ) -> Option<usize> {
        let fields = match level {
            PathLevel::Root => return Some(0),
            PathLevel::In(fields) => fields,
        };
        let this = this?;
        let number = agent.object_ids.number(agent.ti, this);
        let builds =
            |level: usize| construction::is_at(agent, jni, self.identity(), level, Some(this), number);
        let is_there = |level: usize| match self.variable.root {
            PathRoot::Instances => self.is_held(level, number),
            _ => self.object_at(jni, level).is_some_and(|object| jni.is_same(object, this)),
        };
        fields.iter().find(|level| builds(**level) || is_there(**level)).map(|level| level + 1)
    }

    /// The object after this many fields.
    fn object_at(&self, jni: Jni, level: usize) -> Option<Ref> {
        let mut at = self.root(jni)?;
        for link in self.variable.fields.get(..level)? {
            at = object(read(jni, at, link)?)?;
        }
        Some(at)
    }

    fn root(&self, jni: Jni) -> Option<Ref> {
        // A weak handle is deleted only after it was taken out under this lock.
        let state = locked(&self.state);
        state.root.as_ref().and_then(|weak| jni.strong(weak))
    }

    fn set_root(&self, jni: Jni, object: Option<Ref>) {
        let new = object.and_then(|object| jni.weak(object));
        let old = std::mem::replace(&mut locked(&self.state).root, new);
        if let Some(old) = old {
            jni.delete_weak(old);
        }
    }

    /// The object that has the variable, from an object that is reached by the first fields.
    fn walk(&self, jni: Jni, from: Option<Ref>, after: usize) -> Option<Ref> {
        let (_, before) = self.split_last()?;
        let mut at = from?;
        for link in before.get(after..)? {
            at = object(read(jni, at, link)?)?;
        }
        Some(at)
    }

    /// Sets the object at the end of the path. Returns whether the variable has another value now.
    fn set_end(&self, agent: &Agent, jni: Jni, end: Option<Ref>) -> bool {
        let number = end.map_or(0, |end| agent.object_ids.number(agent.ti, end));
        let value = end.zip(self.split_last()).and_then(|(end, (last, _))| read(jni, end, last));
        let value = value.map(|value| wire_value(agent, jni, value, None));
        let mut state = locked(&self.state);
        // Two consecutive objects may have equal values; the same object cannot have changed here.
        if state.end == number && self.variable.root != PathRoot::Instances {
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

    /// Whether a write to the field is a write to the variable.
    fn is_written(&self, agent: &Agent, jni: Jni, owner: Ref, value: Primitive) -> bool {
        let number = agent.ti.tag(owner).unwrap_or(0);
        let level = self.variable.fields.len() - 1;
        let is_there = match self.variable.root {
            PathRoot::Instances => self.is_held(level, number),
            _ => number != 0 && locked(&self.state).end == number,
        };
        if !is_there && !construction::is_at(agent, jni, self.identity(), level, None, number) {
            return false;
        }
        let value = wire_value(agent, jni, value, None);
        let mut state = locked(&self.state);
        state.last = Some(value);
        if self.variable.root == PathRoot::Instances {
            state.end = number;
        }
        true
    }

    /// Whether an object is reached after this many fields from some instance of the root class.
    fn is_held(&self, level: usize, number: i64) -> bool {
        let state = locked(&self.state);
        let mut numbers = vec![number];
        for links in state.links.iter().take(level).rev() {
            numbers =
                numbers.iter().filter_map(|number| links.owners_of.get(number)).flatten().copied().collect();
            numbers.sort_unstable();
            numbers.dedup();
        }
        !numbers.is_empty()
    }

    /// Records a write to a field along the path. Returns whether the variable has another value now.
    fn update_link(&self, agent: &Agent, jni: Jni, levels: &[usize], owner: Ref, value: Option<Ref>) -> bool {
        if self.variable.root != PathRoot::Instances {
            return self.set_end(agent, jni, self.walk(jni, self.root(jni), 0));
        }
        let number = |object: Ref| agent.object_ids.number(agent.ti, object);
        let (owner, held) = (number(owner), value.map_or(0, number));
        let mut changed = false;
        for level in levels {
            let is_new = {
                let mut state = locked(&self.state);
                state.links.get_mut(*level).is_some_and(|links| links.put(owner, held))
            };
            if is_new && self.is_held(*level, owner) {
                changed |= self.set_end(agent, jni, self.walk(jni, value, level + 1));
            }
        }
        changed
    }

    /// Starts tracking in a running program: the static field may have been written before.
    pub(crate) fn begin(&self, agent: &Agent, jni: Jni) {
        let PathRoot::Static { field } = &self.variable.root else { return };
        let signature = format!("L{};", field.class);
        let mut loaded = agent.ti.loaded_classes().unwrap_or_default().into_iter();
        let class = loaded.find(|class| agent.ti.signature(*class).is_ok_and(|known| known == signature));
        let evaluator = Evaluator { ti: agent.ti, jni, scope: &EmptyScope };
        let found = class.and_then(|class| object(evaluator.field(None, class, &field.field)?.value));
        self.set_root(jni, found);
        let end = self.walk(jni, found, 0);
        locked(&self.state).end = end.map_or(0, |end| agent.object_ids.number(agent.ti, end));
    }

    /// Removes collected objects. Returns whether the variable is undefined because of that.
    fn remove_dead(&self, dead_ids: &[i64]) -> bool {
        let mut state = locked(&self.state);
        for number in dead_ids {
            state.links.iter_mut().for_each(|links| links.remove(*number));
        }
        let is_lost = state.end != 0 && dead_ids.contains(&state.end);
        if is_lost {
            state.end = 0;
        }
        is_lost && state.last.take().is_some()
    }
}

/// The notifications that follow from collected objects: their variables are undefined.
pub(crate) fn undefined_variables(agent: &Agent, dead_ids: &[i64], time: f64) -> Vec<Notification> {
    if dead_ids.is_empty() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for resolved in agent.subscriptions().iter() {
        let Some(path) = &resolved.path else { continue };
        let is_examined = resolved.entity.is_by_path || !path.reports_changes.load(Ordering::Relaxed);
        if is_examined && path.remove_dead(dead_ids) && resolved.entity.is_by_path && resolved.is_active() {
            let value = |source: &ValueSource| match source {
                ValueSource::Time => WireValue::Float { value: time },
                _ => WireValue::Unset,
            };
            let values =
                resolved.subscription.value_requests.iter().map(|request| value(&request.source)).collect();
            hits.push(Notification { id: resolved.subscription.id.clone(), values });
        }
    }
    hits
}

fn is_link(link: &FieldRef, owner: &str, name: &str, descriptor: &str) -> bool {
    link.class == owner && link.field == name && link.descriptor == descriptor
}

fn object(value: Primitive) -> Option<Ref> {
    match value {
        Primitive::Object(object) => object,
        _ => None,
    }
}

/// A field of an object.
fn read(jni: Jni, of: Ref, link: &FieldRef) -> Option<Primitive> {
    let field = jni.field(jni.class_of(of), &c_string(&link.field), &c_string(&link.descriptor))?;
    Some(jni.get(Receiver::Of(of), field, &link.descriptor))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(fields: usize) -> TrackedPath {
        let link = || FieldRef { class: "A".into(), field: "b".into(), descriptor: "LA;".into() };
        TrackedPath::new(VariablePath {
            root: PathRoot::Instances,
            fields: (0..fields).map(|_| link()).collect(),
        })
    }

    #[test]
    fn references_determine_reachability() {
        // `A.b.b.x`: 1 holds 2, which holds 3; 4 holds 3, too.
        let path = path(3);
        let put = |level: usize, owner, value| locked(&path.state).links[level].put(owner, value);
        assert!(put(0, 1, 2) && put(1, 2, 3) && !put(1, 2, 3));
        assert!(path.is_held(2, 3) && path.is_held(1, 2) && !path.is_held(2, 2));
        // Nothing refers to 4.
        assert!(put(1, 4, 3) && put(1, 2, 0));
        assert!(!path.is_held(2, 3));
        assert!(put(0, 5, 4) && path.is_held(2, 3));
        assert!(!path.remove_dead(&[5]) && !path.is_held(2, 3));
        assert!(locked(&path.state).links[0].owners_of.contains_key(&2));
        path.remove_dead(&[1, 2, 3, 4]);
        assert!(
            locked(&path.state)
                .links
                .iter()
                .all(|links| links.value_of.is_empty() && links.owners_of.is_empty())
        );
    }

    #[test]
    fn collected_end_object_makes_variable_undefined() {
        let path = path(2);
        locked(&path.state).end = 7;
        locked(&path.state).last = Some(WireValue::Int { value: 1 });
        assert!(!path.remove_dead(&[6]));
        assert!(path.remove_dead(&[6, 7]));
        assert!(!path.remove_dead(&[7]));
    }
}
