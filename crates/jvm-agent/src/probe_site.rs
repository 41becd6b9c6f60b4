//! Sites at which events are reported, and how their values are captured there.

use crate::expression::Expression;
use crate::names;
use crate::protocol::{ValueRequest, ValueSource, ValueType};
use crate::subscription::{Applies, ResolvedSubscription, STATIC};
use crate::tracked_path::{PathLevel, PathRole, PathValues, TrackedPath};
use crate::vm::Primitive;
use invigil_weave::{Capture, Class, Method, Site, SiteKind};
use std::sync::Arc;

/// How a value is read at a site.
#[derive(Debug)]
pub(crate) enum ValueReader {
    /// One of the captured values.
    Captured(usize),
    /// An expression over captured values, which are given by name.
    Computed { expression: Expression, names: Vec<(String, usize)> },
    /// Known to the agent, such as the thread or the time.
    Context(ValueSource),
    /// The value that a variable has acquired without being written.
    Changed,
    /// Not available here.
    Unavailable,
}

/// A subscription that applies at a site.
#[derive(Debug)]
pub(crate) struct SiteUse {
    pub(crate) resolved: Arc<ResolvedSubscription>,
    /// Whether only instances of the named class count.
    pub(crate) if_instance: bool,
    pub(crate) readers: Vec<(ValueReader, Option<ValueType>)>,
    /// For a variable that is reached through other objects: what the site means for its path.
    pub(crate) step: Option<PathStep>,
}

/// What a site means for a tracked path, and the captures that are needed for it.
#[derive(Debug)]
pub(crate) struct PathStep {
    pub(crate) path: Arc<TrackedPath>,
    pub(crate) role: PathRole,
    this: Option<usize>,
    owner: Option<usize>,
    value: Option<usize>,
}

impl PathStep {
    /// The captured values that the path needs.
    pub(crate) fn seen(&self, values: &[Primitive]) -> PathValues {
        let value = |at: Option<usize>| at.and_then(|at| values.get(at)).copied();
        let object = |at| match value(at) {
            Some(Primitive::Object(object)) => object,
            _ => None,
        };
        let written = value(self.value).unwrap_or(Primitive::Object(None));
        PathValues { this: object(self.this), owner: object(self.owner), value: written }
    }
}

/// A site with the subscriptions that apply there.
#[derive(Debug)]
pub(crate) struct ProbeSite {
    /// What is captured, each with its type.
    pub(crate) captures: Vec<(Capture, String)>,
    pub(crate) uses: Vec<SiteUse>,
    /// The position of the object that unqualified names refer to.
    pub(crate) this: Option<usize>,
}

impl ProbeSite {
    /// The site, if a subscription applies there.
    pub(crate) fn of(
        site: &Site<'_>,
        class: &Class,
        subscriptions: &[Arc<ResolvedSubscription>],
    ) -> Option<ProbeSite> {
        ProbeSite::with(site, class, subscriptions, Vec::new())
    }

    /// The site, with these captures in any case.
    pub(crate) fn with(
        site: &Site<'_>,
        class: &Class,
        subscriptions: &[Arc<ResolvedSubscription>],
        captures: Vec<(Capture, String)>,
    ) -> Option<ProbeSite> {
        let enclosing = class
            .methods
            .iter()
            .find(|method| method.name == site.method && method.descriptor == site.descriptor)?;
        let called = called(site);
        let method = called.as_ref().unwrap_or(enclosing);
        let mut place = ProbeSite { captures, uses: Vec::new(), this: None };
        for resolved in subscriptions {
            if let Some(path) = &resolved.path {
                place.add_path_step(resolved, path, site, class, method);
                continue;
            }
            let applies = resolved.applies_at(site, enclosing);
            if applies == Applies::Never {
                continue;
            }
            if applies == Applies::IfInstance {
                place.take(object_of(site), site);
            }
            let requests = resolved.subscription.value_requests.iter();
            let readers = requests
                .map(|request| (place.reader(resolved, request, site, class, method), request.ty.clone()))
                .collect();
            place.uses.push(SiteUse {
                resolved: Arc::clone(resolved),
                if_instance: applies == Applies::IfInstance,
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

    /// Adds what the site means for a tracked path, if anything.
    fn add_path_step(
        &mut self,
        resolved: &Arc<ResolvedSubscription>,
        path: &Arc<TrackedPath>,
        site: &Site<'_>,
        class: &Class,
        method: &Method,
    ) {
        let Some(role) = path.role(site) else { return };
        let entity = &resolved.entity;
        let (mut this, mut owner, mut value) = (None, None, None);
        match &role {
            PathRole::Root => value = Some(self.take(Capture::Value, site)),
            PathRole::Field { levels, is_last, .. } => {
                let is_reported =
                    *is_last && !entity.is_by_path && entity.admits(site.class, site.method, site.descriptor);
                if levels.is_empty() && !is_reported {
                    return;
                }
                owner = Some(self.take(Capture::Owner, site));
                value = Some(self.take(Capture::Value, site));
            }
            PathRole::ConstructionBegins { level: PathLevel::Root, .. } | PathRole::ConstructionEnds => {}
            PathRole::ConstructionBegins { .. } | PathRole::InConstructor => {
                this = Some(self.take(Capture::This, site))
            }
        }
        let is_reported = matches!(role, PathRole::Root | PathRole::Field { .. });
        let requests = resolved.subscription.value_requests.iter().filter(|_| is_reported);
        let readers = requests.map(|request| {
            let reader = match (&request.source, entity.is_by_path) {
                (ValueSource::Result, true) => ValueReader::Changed,
                (ValueSource::Thread | ValueSource::Process | ValueSource::Time, true) => {
                    ValueReader::Context(request.source.clone())
                }
                (_, true) => ValueReader::Unavailable,
                (_, false) => self.reader(resolved, request, site, class, method),
            };
            (reader, request.ty.clone())
        });
        let readers = readers.collect();
        let step = Some(PathStep { path: Arc::clone(path), role, this, owner, value });
        self.uses.push(SiteUse { resolved: Arc::clone(resolved), if_instance: false, readers, step });
    }

    fn reader(
        &mut self,
        resolved: &ResolvedSubscription,
        request: &ValueRequest,
        site: &Site<'_>,
        class: &Class,
        method: &Method,
    ) -> ValueReader {
        let roots = match resolved.roots(request, class, method) {
            Ok(roots) => roots,
            Err(_) => return ValueReader::Unavailable,
        };
        match &request.source {
            ValueSource::Thread | ValueSource::Process | ValueSource::Time => {
                ValueReader::Context(request.source.clone())
            }
            ValueSource::Argument { .. } | ValueSource::Result => {
                roots.first().map_or(ValueReader::Unavailable, |(_, capture)| {
                    ValueReader::Captured(self.take(*capture, site))
                })
            }
            ValueSource::Expression { text } => match Expression::parse(text) {
                Ok(Expression::Name(name))
                    if roots
                        .first()
                        .is_some_and(|(root, capture)| *root == name && is_named_value(&name, *capture)) =>
                {
                    ValueReader::Captured(self.take(roots[0].1, site))
                }
                Ok(expression) => {
                    let names = roots
                        .into_iter()
                        .map(|(name, capture)| (name, capture, self.take(capture, site)))
                        .filter(|(name, capture, _)| is_named_value(name, *capture))
                        .map(|(name, _, at)| (name, at))
                        .collect();
                    ValueReader::Computed { expression, names }
                }
                Err(_) => ValueReader::Unavailable,
            },
        }
    }

    /// The position of a capture, which is added if it is new.
    fn take(&mut self, capture: Capture, site: &Site<'_>) -> usize {
        if let Some(at) = self.captures.iter().position(|(known, _)| *known == capture) {
            return at;
        }
        let written = match site.kind {
            SiteKind::Field { descriptor, .. } | SiteKind::Local { descriptor, .. } => descriptor,
            _ => "",
        };
        let method = match site.kind {
            SiteKind::Call { descriptor, .. } => descriptor,
            _ => site.descriptor,
        };
        let ty = match capture {
            Capture::Argument(at) => {
                names::parameters(method).get(usize::from(at)).map_or("", |ty| *ty).to_owned()
            }
            Capture::Result => names::return_type(method).to_owned(),
            Capture::Value => written.to_owned(),
            Capture::This | Capture::Owner | Capture::Thrown => "Ljava/lang/Object;".to_owned(),
        };
        self.captures.push((capture, ty));
        self.captures.len() - 1
    }
}

/// The method that is called at a site, as far as the call has its properties.
fn called(site: &Site<'_>) -> Option<Method> {
    let SiteKind::Call { name, descriptor, is_static, .. } = site.kind else { return None };
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

/// The object that an event is about: the one whose field is written or whose method is called, or `this`.
fn object_of(site: &Site<'_>) -> Capture {
    match site.kind {
        SiteKind::Field { .. } | SiteKind::Call { .. } => Capture::Owner,
        _ => Capture::This,
    }
}

/// Whether a capture is what the name denotes, rather than the object that has it as a field.
fn is_named_value(name: &str, capture: Capture) -> bool {
    !matches!(capture, Capture::This | Capture::Owner) || matches!(name, "this")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Trigger;
    use crate::subscription::tests::{class, resolved, text};

    #[test]
    fn site_captures_each_value_once() {
        let class = class(true);
        let sources =
            [text("item"), text("this.size > item"), text("size"), ValueSource::Argument { number: 1 }];
        let subscriptions = [Arc::new(resolved(Trigger::Enter, "Queue.push", &sources))];
        let site = Site {
            class: "app/Queue",
            method: "push",
            descriptor: "(IJ)V",
            is_static: false,
            line: None,
            kind: SiteKind::Enter,
        };
        let place = ProbeSite::of(&site, &class, &subscriptions).unwrap();
        let captures: Vec<Capture> = place.captures.iter().map(|(capture, _)| *capture).collect();
        assert_eq!(captures, [Capture::Argument(0), Capture::This]);
        assert_eq!(place.this, Some(1));
        assert!(
            ProbeSite::of(&Site { method: "pop", descriptor: "()I", ..site }, &class, &subscriptions)
                .is_none()
        );
    }
}
