//! Finding what is wanted, in classes that are loaded and in class files that are not yet.

use crate::agent::{Agent, locked};
use crate::entity::BY_PATH;
use crate::hook;
use crate::marks;
use crate::path::Path;
use crate::protocol::{Key, Moment, Problem, Want};
use crate::vm::{Jni, Primitive, Ref};
use crate::want::{Declared, Reach, Wanted};
use invigil_weave::Class;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// No class has more above it.
const ANCESTORS: usize = 64;

/// Forgets all events, and prepares these, which are told when they are activated.
pub(crate) fn prepare(agent: &Agent, jni: Jni, wants: Vec<Want>) -> Result<Vec<Problem>, String> {
    let (old, kept): (Vec<Arc<Wanted>>, Vec<_>) =
        agent.wants().iter().cloned().partition(|wanted| matches!(wanted.want.key, Key::Event { .. }));
    old.iter().for_each(|wanted| wanted.active.store(false, Ordering::SeqCst));
    crate::table::refresh();
    let mut problems = Vec::new();
    let mut new = Vec::new();
    let mut paths = HashMap::new();
    for want in wants {
        match Wanted::new(want, false) {
            Ok(wanted) => new.push(Arc::new(shared(wanted, &mut paths))),
            Err(problem) => problems.push(problem),
        }
    }
    if !paths.is_empty() {
        agent.identities.follow_paths();
    }
    if agent.running.load(Ordering::Relaxed) {
        paths.values().for_each(|path| path.begin(agent, jni));
    }
    agent.set_wants(kept.into_iter().chain(new.iter().cloned()).collect());
    let concerned: Vec<Arc<Wanted>> = old.into_iter().chain(new.iter().cloned()).collect();
    resolve(agent, jni, &new, &concerned)?;
    problems.extend(new.iter().flat_map(|wanted| judged(wanted)));
    Ok(problems)
}

/// Writes and other changes of a variable have one path.
pub(crate) fn shared(mut wanted: Wanted, paths: &mut HashMap<String, Arc<Path>>) -> Wanted {
    if let Some(path) = wanted.path.take() {
        let name = &wanted.want.name;
        let name = name.strip_suffix(BY_PATH).unwrap_or(name).to_owned();
        let path = Arc::clone(paths.entry(name).or_insert(path));
        if wanted.entity.is_by_path {
            path.tells_changes.store(true, Ordering::Relaxed);
        }
        wanted.path = Some(path);
    }
    wanted
}

/// Prepares one more, which is told from now on.
pub(crate) fn add(agent: &Agent, jni: Jni, want: Want) -> Result<Vec<Problem>, String> {
    let wanted = match Wanted::new(want, true) {
        Ok(wanted) => Arc::new(shared(wanted, &mut HashMap::new())),
        Err(problem) => return Ok(vec![problem]),
    };
    if let Some(path) = &wanted.path {
        agent.identities.follow_paths();
        path.begin(agent, jni);
    }
    let before = agent.wants();
    agent.set_wants(before.iter().cloned().chain([Arc::clone(&wanted)]).collect());
    resolve(agent, jni, std::slice::from_ref(&wanted), std::slice::from_ref(&wanted))?;
    let problems = judged(&wanted);
    if problems.iter().any(|problem| !problem.pending) {
        wanted.active.store(false, Ordering::SeqCst);
        agent.set_wants(before.to_vec());
        crate::table::refresh();
    }
    Ok(problems)
}

/// What is wrong with a want, as far as is known now.
pub(crate) fn judged(wanted: &Wanted) -> Vec<Problem> {
    if wanted.seen.load(Ordering::SeqCst) {
        return locked(&wanted.wrong).clone();
    }
    vec![Problem {
        key: wanted.want.key.clone(),
        ask: None,
        reason: format!("there is no class `{}` so far", wanted.entity.name.class),
        help: "it is watched when it is loaded".to_owned(),
        pending: true,
    }]
}

fn resolve(agent: &Agent, jni: Jni, new: &[Arc<Wanted>], concerned: &[Arc<Wanted>]) -> Result<(), String> {
    // Class files first: they tell where else to look. Once the program runs, its loaders are its own: to ask them
    // would run its code, and might wait for a thread that is held.
    if !agent.running.load(Ordering::Relaxed)
        && let Some(files) = Files::new(jni)
    {
        if let Some(bytes) = files.bytes(marks::FILE) {
            marks::found(agent, &bytes);
        }
        let note = |wanted: &Wanted, class: &Class| hook::note(agent, wanted, class);
        for wanted in new {
            jni.framed(|| look_up(&|name| files.read(name), wanted, &note));
        }
    }
    hook::weave_loaded(agent, jni, concerned)?;
    // A loaded class may have shown that others have the code.
    let below: Vec<Arc<Wanted>> =
        new.iter().filter(|wanted| wanted.reach.get().is_some_and(|reach| reach.below)).cloned().collect();
    if below.is_empty() { Ok(()) } else { hook::weave_loaded(agent, jni, &below) }
}

/// Looks a want up in the class files that it may mean.
pub(crate) fn look_up(read: &dyn Fn(&str) -> Option<Class>, wanted: &Wanted, note: &dyn Fn(&Wanted, &Class)) {
    let guesses = guesses(&wanted.entity.name.class);
    for name in wanted.want.candidates.iter().chain(&guesses) {
        let Some(class) = read(name) else { continue };
        if !wanted.entity.name.means_class(&class.name) {
            continue;
        }
        note(wanted, &class);
        match wanted.is_declared(&class) {
            Declared::Here | Declared::Below => {}
            Declared::Above if wanted.want.moment == Moment::Write => {}
            Declared::Above => inherit(wanted, read, &class),
        }
    }
}

/// The names of class files that a name with dots may mean: `a.B.C` may be `a/B/C` or `a/B$C`.
fn guesses(name: &str) -> Vec<String> {
    let words: Vec<&str> = name.split('.').collect();
    let nested = |inner: usize| {
        let (outer, inner) = words.split_at(words.len() - inner);
        let outer = outer.join("/");
        if inner.is_empty() { outer } else { format!("{outer}${}", inner.join("$")) }
    };
    (0..words.len().min(4)).map(nested).collect()
}

/// Finds the class that a method is inherited from.
fn inherit(wanted: &Wanted, read: &dyn Fn(&str) -> Option<Class>, class: &Class) {
    let mut left: Vec<String> = class.parent.iter().chain(&class.interfaces).cloned().collect();
    for _ in 0..ANCESTORS {
        let Some(name) = left.pop() else { break };
        let Some(above) = read(&name) else { continue };
        match wanted.is_declared(&above) {
            Declared::Here => {
                let _ = wanted.reach.set(Reach { ancestor: Some(above.name), below: true });
                return;
            }
            Declared::Below => {
                let _ = wanted.reach.set(Reach { ancestor: None, below: true });
                return;
            }
            Declared::Above => left.extend(above.parent.into_iter().chain(above.interfaces)),
        }
    }
    let mut wrong = locked(&wanted.wrong);
    if !wrong.is_empty() {
        return;
    }
    let (shown, member) = (crate::names::dotted(&class.name), &wanted.entity.name.member);
    let known = class.methods.iter().map(|method| method.name.as_str());
    let near = invigil_expr::diag::nearest(member, known.filter(|name| !name.starts_with('<')));
    *wrong = vec![Problem {
        key: wanted.want.key.clone(),
        ask: None,
        reason: format!("neither the class `{shown}` nor one that it extends has a method `{member}`"),
        help: near.map_or(String::new(), |near| format!("did you mean `{near}`?")),
        pending: false,
    }];
}

/// Class files, as the machine finds them: in folders, archives and modules.
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

    /// A file that lies beside the classes.
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
    fn a_name_may_be_of_a_nested_class() {
        assert_eq!(guesses("Queue"), ["Queue"]);
        assert_eq!(guesses("a.B.C"), ["a/B/C", "a/B$C", "a$B$C"]);
    }
}
