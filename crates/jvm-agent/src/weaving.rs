//! Weaving of classes as they load, and again when there are new subscriptions.

use crate::agent::{Agent, HELPER, locked};
use crate::offline_probes;
use crate::probe_site::ProbeSite;
use crate::probe_table;
use crate::protocol::{SubscriptionError, Trigger};
use crate::subscription::{CodeReach, Declared, ResolvedSubscription};
use crate::vm::{Jni, Ref};
use invigil_weave::{Class, Probe, ProbePlan, Site, SiteKinds, weave};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Selects the probes of one class.
pub(crate) struct ClassWeaver<'a> {
    pub(crate) class: &'a Class,
    pub(crate) subscriptions: &'a [Arc<ResolvedSubscription>],
    /// Adds a site and returns its number.
    pub(crate) add: &'a mut dyn FnMut(&Site<'_>, ProbeSite) -> Option<u32>,
}

impl ProbePlan for ClassWeaver<'_> {
    fn site_kinds(&mut self, _: &str) -> SiteKinds {
        let is_any = |test: fn(&ResolvedSubscription) -> bool| {
            self.subscriptions.iter().any(|resolved| test(resolved))
        };
        SiteKinds {
            methods: is_any(|resolved| {
                resolved.subscription.trigger != Trigger::Write && !resolved.is_at_calls()
            }),
            fields: is_any(|resolved| {
                resolved.path.is_some()
                    || resolved.subscription.trigger == Trigger::Write && !resolved.is_local()
            }),
            locals: is_any(ResolvedSubscription::is_local),
            calls: is_any(|resolved| resolved.is_at_calls() || resolved.path.is_some()),
        }
    }

    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        let Some(place) = ProbeSite::of(site, self.class, self.subscriptions) else { return Vec::new() };
        let captures: Vec<_> = place.captures.iter().map(|(capture, _)| *capture).collect();
        let is_locked = place.uses.iter().any(|each| each.resolved.entity.is_locked);
        let Some(number) = (self.add)(site, place) else { return Vec::new() };
        let probe = Probe::new(number, captures);
        vec![if is_locked { probe.locked() } else { probe }]
    }
}

/// The class with probes, or `None` if no subscription applies to it.
pub(crate) fn weave_class(agent: &Agent, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let subscriptions = agent.subscriptions();
    let concerned: Vec<Arc<ResolvedSubscription>> =
        subscriptions.iter().filter(|resolved| resolved.may_concern(name, bytes)).cloned().collect();
    if concerned.is_empty() {
        return None;
    }
    let class = match Class::read(bytes) {
        Ok(class) => class,
        Err(error) => {
            agent.warn(format!("{}: {error}", name.replace('/', ".")));
            return None;
        }
    };
    for resolved in concerned.iter().filter(|resolved| resolved.entity.name.matches_class(&class.name)) {
        note_class(agent, resolved, &class);
    }
    if offline_probes::attach(agent, &class, bytes, &concerned) {
        return None;
    }
    let mut add = |_: &Site<'_>, place: ProbeSite| probe_table::add(place);
    let mut weaving = ClassWeaver { class: &class, subscriptions: &concerned, add: &mut add };
    match weave(bytes, HELPER, &mut weaving) {
        Ok(Some(woven)) => {
            for skipped in &woven.skipped {
                agent.warn(format!("{}.{skipped}", class.name.replace('/', ".")));
            }
            agent.woven.fetch_add(1, Ordering::Relaxed);
            Some(woven.bytes)
        }
        Ok(None) => None,
        Err(error) => {
            agent.warn(format!("{}: {error}", class.name.replace('/', ".")));
            None
        }
    }
}

/// Notes what a class that a subscription names reveals about it.
pub(crate) fn note_class(agent: &Agent, resolved: &ResolvedSubscription, class: &Class) {
    if let Some(errors) = record_class(resolved, class)
        && agent.running.load(Ordering::Relaxed)
    {
        // The class was loaded late: there is no request that these errors could answer.
        for error in &errors {
            agent.warn(format!("{}: {}", resolved.subscription.name, error.reason));
        }
    }
}

/// Notes what a class reveals about a subscription. Returns the errors if it is the first class that the name means.
pub(crate) fn record_class(resolved: &ResolvedSubscription, class: &Class) -> Option<Vec<SubscriptionError>> {
    let errors = resolved.errors_in(class);
    let is_first = !resolved.seen.swap(true, Ordering::SeqCst);
    if resolved.subscription.trigger != Trigger::Write && resolved.declaration(class) == Declared::Below {
        let _ = resolved.reach.set(CodeReach { ancestor: None, in_subclasses: true });
    }
    let mut wrong = locked(&resolved.errors);
    if is_first {
        wrong.clone_from(&errors);
    } else if errors.is_empty() {
        // One class that has the member is enough.
        wrong.clear();
    }
    is_first.then_some(errors)
}

/// Whether `part` occurs in `bytes`.
pub(crate) fn contains_bytes(bytes: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && bytes.windows(part.len()).any(|window| window == part)
}

/// Weaves the loaded classes to which one of these subscriptions applies.
pub(crate) fn weave_loaded(
    agent: &Agent,
    jni: Jni,
    subscriptions: &[Arc<ResolvedSubscription>],
) -> Result<(), String> {
    let mut classes = Vec::new();
    for class in agent.ti.loaded_classes().map_err(crate::vm::error_text)? {
        let signature = agent.ti.signature(class).unwrap_or_default();
        let name = signature.strip_prefix('L').and_then(|rest| rest.strip_suffix(';'));
        if name.is_some_and(|name| {
            subscriptions.iter().any(|resolved| concerns(agent, jni, resolved, name, class))
        }) && agent.ti.is_modifiable(class)
        {
            classes.push(class);
        } else {
            jni.delete_local(class);
        }
    }
    if classes.is_empty() {
        return Ok(());
    }
    let done = agent.ti.retransform(&classes);
    classes.into_iter().for_each(|class| jni.delete_local(class));
    done.map_err(|error| {
        format!("classes that are loaded already cannot be woven: {}", crate::vm::error_text(error))
    })
}

fn concerns(agent: &Agent, jni: Jni, resolved: &ResolvedSubscription, name: &str, class: Ref) -> bool {
    if let Some(path) = &resolved.path {
        return path.may_concern(name, &|_| true);
    }
    if resolved.entity.name.matches_class(name) {
        return true;
    }
    if resolved.is_local() {
        return false;
    }
    if resolved.is_at_calls() {
        return resolved.may_call(name);
    }
    if resolved.subscription.trigger == Trigger::Write {
        // Any class may write the field, except those of the platform.
        return !crate::names::is_platform(&crate::names::dotted(name));
    }
    match resolved.reach.get() {
        Some(reach) if reach.ancestor.as_deref() == Some(name) => true,
        Some(reach) if reach.in_subclasses => {
            crate::on_probe::is_instance(agent.ti, jni, class, &resolved.entity.name.class)
        }
        _ => false,
    }
}
