//! Weaving classes as they load, and again when something new is wanted of them.

use crate::agent::{Agent, HELPER, locked};
use crate::place::Place;
use crate::protocol::Moment;
use crate::table;
use crate::vm::{Jni, Ref};
use crate::want::{Declared, Reach, Wanted};
use invigil_weave::{Class, Plan, Probe, Site, Wants, weave};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is woven into one class.
struct Weaving<'a> {
    class: &'a Class,
    wants: &'a [Arc<Wanted>],
}

impl Plan for Weaving<'_> {
    fn wants(&mut self, _: &str) -> Wants {
        let is_any = |test: fn(&Wanted) -> bool| self.wants.iter().any(|wanted| test(wanted));
        Wants {
            methods: is_any(|wanted| wanted.want.moment != Moment::Write && !wanted.is_at_calls()),
            fields: is_any(|wanted| {
                wanted.path.is_some() || wanted.want.moment == Moment::Write && !wanted.is_local()
            }),
            locals: is_any(Wanted::is_local),
            calls: is_any(|wanted| wanted.is_at_calls() || wanted.path.is_some()),
        }
    }

    fn probes(&mut self, site: &Site<'_>) -> Vec<Probe> {
        let Some(place) = Place::of(site, self.class, self.wants) else { return Vec::new() };
        let captures: Vec<_> = place.captures.iter().map(|(capture, _)| *capture).collect();
        let is_locked = place.uses.iter().any(|each| each.wanted.entity.is_locked);
        let Some(number) = table::add(place) else { return Vec::new() };
        let probe = Probe::new(number, captures);
        vec![if is_locked { probe.locked() } else { probe }]
    }
}

/// The class with probes, if something of it is wanted.
pub(crate) fn woven(agent: &Agent, name: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let wants = agent.wants();
    let concerned: Vec<Arc<Wanted>> =
        wants.iter().filter(|wanted| wanted.may_concern(name, bytes)).cloned().collect();
    if concerned.is_empty() {
        return None;
    }
    let class = match Class::read(bytes) {
        Ok(class) => class,
        Err(problem) => {
            agent.complain(format!("{}: {problem}", name.replace('/', ".")));
            return None;
        }
    };
    for wanted in concerned.iter().filter(|wanted| wanted.entity.name.means_class(&class.name)) {
        note(agent, wanted, &class);
    }
    let mut weaving = Weaving { class: &class, wants: &concerned };
    match weave(bytes, HELPER, &mut weaving) {
        Ok(Some(woven)) => {
            for left in &woven.left {
                agent.complain(format!("{}.{left}", class.name.replace('/', ".")));
            }
            agent.woven.fetch_add(1, Ordering::Relaxed);
            Some(woven.bytes)
        }
        Ok(None) => None,
        Err(problem) => {
            agent.complain(format!("{}: {problem}", class.name.replace('/', ".")));
            None
        }
    }
}

/// Notes what a class that is named says about a want.
pub(crate) fn note(agent: &Agent, wanted: &Wanted, class: &Class) {
    let problems = wanted.problems(class);
    let first = !wanted.seen.swap(true, Ordering::SeqCst);
    if wanted.want.moment != Moment::Write && wanted.is_declared(class) == Declared::Below {
        let _ = wanted.reach.set(Reach { ancestor: None, below: true });
    }
    if agent.running.load(Ordering::Relaxed) && first {
        // Nobody waits for these: it is a class that came late.
        for problem in &problems {
            agent.complain(format!("{}: {}", wanted.want.name, problem.reason));
        }
    }
    let mut wrong = locked(&wanted.wrong);
    if first {
        *wrong = problems;
    } else if problems.is_empty() {
        // One class that has it is enough.
        wrong.clear();
    }
}

/// Weaves classes that are loaded already, if one of these wants concerns them.
pub(crate) fn weave_loaded(agent: &Agent, jni: Jni, wants: &[Arc<Wanted>]) -> Result<(), String> {
    let mut classes = Vec::new();
    for class in agent.ti.loaded_classes().map_err(crate::vm::words)? {
        let signature = agent.ti.signature(class).unwrap_or_default();
        let name = signature.strip_prefix('L').and_then(|rest| rest.strip_suffix(';'));
        if name.is_some_and(|name| wants.iter().any(|wanted| concerns(agent, jni, wanted, name, class)))
            && agent.ti.is_modifiable(class)
        {
            classes.push(class);
        } else {
            jni.let_go(class);
        }
    }
    if classes.is_empty() {
        return Ok(());
    }
    let done = agent.ti.retransform(&classes);
    classes.into_iter().for_each(|class| jni.let_go(class));
    done.map_err(|error| {
        format!("classes that are loaded already cannot be woven: {}", crate::vm::words(error))
    })
}

fn concerns(agent: &Agent, jni: Jni, wanted: &Wanted, name: &str, class: Ref) -> bool {
    if let Some(path) = &wanted.path {
        return path.may_concern(name, &|_| true);
    }
    if wanted.entity.name.means_class(name) {
        return true;
    }
    if wanted.is_local() {
        return false;
    }
    if wanted.is_at_calls() {
        return wanted.may_call(name);
    }
    if wanted.want.moment == Moment::Write {
        // Anyone may write it; the platform does not write fields of others.
        return !crate::names::is_platform(&crate::names::dotted(name));
    }
    match wanted.reach.get() {
        Some(reach) if reach.ancestor.as_deref() == Some(name) => true,
        Some(reach) if reach.below => {
            crate::fire::is_instance(agent.ti, jni, class, &wanted.entity.name.class)
        }
        _ => false,
    }
}
