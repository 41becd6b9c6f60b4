//! Resolving subscriptions in loaded classes, and in class files that are not loaded yet.

use crate::agent::{Agent, locked};
use crate::entity::BY_PATH;
use crate::offline_probes;
use crate::protocol::{Subscription, SubscriptionError, SubscriptionId, Trigger};
use crate::subscription::{CodeReach, Declared, ResolvedSubscription};
use crate::tracked_path::TrackedPath;
use crate::vm::{Jni, Primitive, Ref};
use crate::weaving;
use invigil_weave::Class;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Maximum number of ancestors of a class that are searched.
const ANCESTORS: usize = 64;

/// Replaces all events by these. They are reported once they are activated.
pub(crate) fn prepare(
    agent: &Agent,
    jni: Jni,
    subscriptions: Vec<Subscription>,
) -> Result<Vec<SubscriptionError>, String> {
    let (old, kept): (Vec<Arc<ResolvedSubscription>>, Vec<_>) = agent
        .subscriptions()
        .iter()
        .cloned()
        .partition(|resolved| matches!(resolved.subscription.id, SubscriptionId::Event { .. }));
    old.iter().for_each(|resolved| resolved.active.store(false, Ordering::SeqCst));
    crate::probe_table::refresh();
    let mut errors = Vec::new();
    let mut new = Vec::new();
    let mut paths = HashMap::new();
    for subscription in subscriptions {
        match ResolvedSubscription::new(subscription, false) {
            Ok(resolved) => new.push(Arc::new(share_path(resolved, &mut paths))),
            Err(error) => errors.push(error),
        }
    }
    if !paths.is_empty() {
        agent.object_ids.follow_paths();
    }
    if agent.running.load(Ordering::Relaxed) {
        paths.values().for_each(|path| path.begin(agent, jni));
    }
    agent.set_subscriptions(kept.into_iter().chain(new.iter().cloned()).collect());
    let concerned: Vec<Arc<ResolvedSubscription>> = old.into_iter().chain(new.iter().cloned()).collect();
    resolve(agent, jni, &new, &concerned)?;
    errors.extend(new.iter().flat_map(|resolved| current_errors(resolved)));
    Ok(errors)
}

/// Makes the subscriptions for writes and for other changes of a variable share one path.
pub(crate) fn share_path(
    mut resolved: ResolvedSubscription,
    paths: &mut HashMap<String, Arc<TrackedPath>>,
) -> ResolvedSubscription {
    if let Some(path) = resolved.path.take() {
        let name = &resolved.subscription.name;
        let name = name.strip_suffix(BY_PATH).unwrap_or(name).to_owned();
        let path = Arc::clone(paths.entry(name).or_insert(path));
        if resolved.entity.is_by_path {
            path.reports_changes.store(true, Ordering::Relaxed);
        }
        resolved.path = Some(path);
    }
    resolved
}

/// Adds a subscription that is active immediately.
pub(crate) fn add(
    agent: &Agent,
    jni: Jni,
    subscription: Subscription,
) -> Result<Vec<SubscriptionError>, String> {
    let resolved = match ResolvedSubscription::new(subscription, true) {
        Ok(resolved) => Arc::new(share_path(resolved, &mut HashMap::new())),
        Err(error) => return Ok(vec![error]),
    };
    if let Some(path) = &resolved.path {
        agent.object_ids.follow_paths();
        path.begin(agent, jni);
    }
    let before = agent.subscriptions();
    agent.set_subscriptions(before.iter().cloned().chain([Arc::clone(&resolved)]).collect());
    resolve(agent, jni, std::slice::from_ref(&resolved), std::slice::from_ref(&resolved))?;
    let errors = current_errors(&resolved);
    if errors.iter().any(|error| !error.pending) {
        resolved.active.store(false, Ordering::SeqCst);
        agent.set_subscriptions(before.to_vec());
        crate::probe_table::refresh();
    }
    Ok(errors)
}

/// The errors of a subscription, as far as they are known now.
pub(crate) fn current_errors(resolved: &ResolvedSubscription) -> Vec<SubscriptionError> {
    if resolved.seen.load(Ordering::SeqCst) {
        return locked(&resolved.errors).clone();
    }
    vec![SubscriptionError {
        id: resolved.subscription.id.clone(),
        value_request: None,
        reason: format!("no class `{}` is loaded yet", resolved.entity.name.class),
        help: "it will be monitored once it is loaded".to_owned(),
        pending: true,
    }]
}

fn resolve(
    agent: &Agent,
    jni: Jni,
    new: &[Arc<ResolvedSubscription>],
    concerned: &[Arc<ResolvedSubscription>],
) -> Result<(), String> {
    // Class files first: they show where else to look. Once the program runs, its loaders are not used, because that
    // would run its code, and might wait for a suspended thread.
    if !agent.running.load(Ordering::Relaxed)
        && let Some(files) = Files::new(jni)
    {
        if let Some(bytes) = files.bytes(offline_probes::FILE) {
            offline_probes::load(agent, &bytes);
        }
        let note =
            |resolved: &ResolvedSubscription, class: &Class| weaving::note_class(agent, resolved, class);
        for resolved in new {
            jni.framed(|| look_up(&|name| files.read(name), resolved, &note));
        }
    }
    weaving::weave_loaded(agent, jni, concerned)?;
    // A loaded class may have revealed that others have the code.
    let below: Vec<Arc<ResolvedSubscription>> = new
        .iter()
        .filter(|resolved| resolved.reach.get().is_some_and(|reach| reach.in_subclasses))
        .cloned()
        .collect();
    if below.is_empty() { Ok(()) } else { weaving::weave_loaded(agent, jni, &below) }
}

/// Looks a subscription up in the class files that its name may mean.
pub(crate) fn look_up(
    read: &dyn Fn(&str) -> Option<Class>,
    resolved: &ResolvedSubscription,
    note: &dyn Fn(&ResolvedSubscription, &Class),
) {
    let guesses = guesses(&resolved.entity.name.class);
    for name in resolved.subscription.candidates.iter().chain(&guesses) {
        let Some(class) = read(name) else { continue };
        if !resolved.entity.name.matches_class(&class.name) {
            continue;
        }
        note(resolved, &class);
        match resolved.declaration(&class) {
            Declared::Here | Declared::Below => {}
            Declared::Above if resolved.subscription.trigger == Trigger::Write => {}
            Declared::Above => find_ancestor(resolved, read, &class),
        }
    }
}

/// The names of class files that a dotted name may mean: `a.B.C` may be `a/B/C` or `a/B$C`.
fn guesses(name: &str) -> Vec<String> {
    let words: Vec<&str> = name.split('.').collect();
    let nested = |inner: usize| {
        let (outer, inner) = words.split_at(words.len() - inner);
        let outer = outer.join("/");
        if inner.is_empty() { outer } else { format!("{outer}${}", inner.join("$")) }
    };
    (0..words.len().min(4)).map(nested).collect()
}

/// Finds the class that a method is inherited from. Records it, or an error if there is none.
fn find_ancestor(resolved: &ResolvedSubscription, read: &dyn Fn(&str) -> Option<Class>, class: &Class) {
    let mut pending: Vec<String> = class.parent.iter().chain(&class.interfaces).cloned().collect();
    for _ in 0..ANCESTORS {
        let Some(name) = pending.pop() else { break };
        let Some(above) = read(&name) else { continue };
        match resolved.declaration(&above) {
            Declared::Here => {
                let _ = resolved.reach.set(CodeReach { ancestor: Some(above.name), in_subclasses: true });
                return;
            }
            Declared::Below => {
                let _ = resolved.reach.set(CodeReach { ancestor: None, in_subclasses: true });
                return;
            }
            Declared::Above => pending.extend(above.parent.into_iter().chain(above.interfaces)),
        }
    }
    let mut wrong = locked(&resolved.errors);
    if !wrong.is_empty() {
        return;
    }
    let (shown, member) = (crate::names::dotted(&class.name), &resolved.entity.name.member);
    let known = class.methods.iter().map(|method| method.name.as_str());
    let near = invigil_expr::diag::nearest(member, known.filter(|name| !name.starts_with('<')));
    *wrong = vec![SubscriptionError {
        id: resolved.subscription.id.clone(),
        value_request: None,
        reason: format!("neither the class `{shown}` nor one that it extends has a method `{member}`"),
        help: near.map_or(String::new(), |near| format!("did you mean `{near}`?")),
        pending: false,
    }];
}

/// Class files, as the virtual machine finds them: in directories, archives and modules.
struct Files {
    jni: Jni,
    loader: Ref,
}

impl Files {
    fn new(jni: Jni) -> Option<Files> {
        let class = jni.find_class(c"java/lang/ClassLoader")?;
        let method = jni.static_method(class, c"getSystemClassLoader", c"()Ljava/lang/ClassLoader;")?;
        let loader = jni.call_static_object(class, method, &[])?;
        Some(Files { jni, loader })
    }

    /// The class of this name, as in `app/Queue`.
    fn read(&self, name: &str) -> Option<Class> {
        Class::read(&self.bytes(&format!("{name}.class"))?).ok()
    }

    /// A file beside the classes.
    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let jni = self.jni;
        jni.framed(|| {
            let class = jni.class_of(self.loader);
            let open =
                jni.method(class, c"getResourceAsStream", c"(Ljava/lang/String;)Ljava/io/InputStream;")?;
            let file = jni.string(name)?;
            let stream = jni.call_object(self.loader, open, &[Primitive::Object(Some(file))])?;
            let read = jni.method(jni.class_of(stream), c"readAllBytes", c"()[B")?;
            let bytes = jni.call_object(stream, read, &[])?;
            Some(jni.bytes(bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_names_include_nested_classes() {
        assert_eq!(guesses("Queue"), ["Queue"]);
        assert_eq!(guesses("a.B.C"), ["a/B/C", "a/B$C", "a$B$C"]);
    }
}
