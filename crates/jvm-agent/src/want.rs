//! What is to be told, and what that means in a class: which of its places, and which values to take there.

mod roots;

use crate::entity::Entity;
use crate::hook::has;
use crate::names;
use crate::path::Path;
use crate::protocol::{Moment, Problem, Want};
use invigil_expr::diag::nearest;
use invigil_weave::{Class, Kind, Method, Site, When};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) const STATIC: u16 = 0x0008;
/// Methods that the compiler made to call others: what they call is told.
const BRIDGE: u16 = 0x0040;
const ABSTRACT: u16 = 0x0400;
const NATIVE: u16 = 0x0100;

/// Something to be told, with its name taken apart.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) want: Want,
    pub(crate) entity: Entity,
    /// How it is reached, if other objects lie on the way.
    pub(crate) path: Option<Arc<Path>>,
    /// Whether it is to be told at present.
    pub(crate) active: AtomicBool,
    /// Whether a class was found that the name means.
    pub(crate) seen: AtomicBool,
    /// What is wrong with it, as far as classes were found.
    pub(crate) wrong: Mutex<Vec<Problem>>,
    /// For each value that is asked for, whether it was ever a number that is no object's.
    pub(crate) plain: Vec<AtomicBool>,
    /// Where else it may happen than in the class that is named.
    pub(crate) reach: OnceLock<Reach>,
}

/// The code of a method may be in another class than the one that is named.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// The class that the method is inherited from, as in `java/util/AbstractList`.
    pub(crate) ancestor: Option<String>,
    /// Whether classes that extend or implement the named one have it.
    pub(crate) below: bool,
}

/// Whether something is told at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Not at all.
    Never,
    /// For objects of the class that is named only.
    ForSome,
    /// Always.
    Always,
}

impl Wanted {
    pub(crate) fn new(want: Want, active: bool) -> Result<Wanted, Problem> {
        match Entity::parse(&want.name) {
            Ok(entity) => Ok(Wanted {
                active: AtomicBool::new(active),
                // A way is known from class files only.
                seen: AtomicBool::new(want.route.is_some()),
                path: want
                    .route
                    .clone()
                    .filter(|route| !route.links.is_empty())
                    .map(|route| Arc::new(Path::new(route))),
                plain: want.asks.iter().map(|_| AtomicBool::new(false)).collect(),
                want,
                entity,
                wrong: Mutex::default(),
                reach: OnceLock::new(),
            }),
            Err(reason) => {
                Err(Problem { key: want.key, ask: None, reason, help: String::new(), pending: false })
            }
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.active.load(Ordering::SeqCst)
    }

    /// Notes that a value that was asked for may be a number that is no object's.
    pub(crate) fn is_plain(&self, ask: usize) {
        if let Some(plain) = self.plain.get(ask)
            && !plain.load(Ordering::Relaxed)
        {
            plain.store(true, Ordering::Relaxed);
        }
    }

    fn problem(&self, ask: Option<usize>, reason: String, help: String) -> Problem {
        Problem { key: self.want.key.clone(), ask: ask.map(|ask| ask as u32), reason, help, pending: false }
    }

    /// What cannot be told, seen from a class that its name means. Nothing if this class alone does not decide it.
    pub(crate) fn problems(&self, class: &Class) -> Vec<Problem> {
        if self.path.is_some() {
            return Vec::new();
        }
        let written = &self.want.name;
        let shown = names::dotted(&class.name);
        let member = &self.entity.name.member;
        if self.want.moment == Moment::Write && !self.is_local() {
            let Some(field) = class.fields.iter().find(|field| field.name == *member) else {
                if is_plain(class) {
                    let near = nearest(member, class.fields.iter().map(|field| field.name.as_str()));
                    let reason = format!("the class `{shown}` has no field `{member}`");
                    return vec![self.problem(None, reason, meant(near))];
                }
                return Vec::new();
            };
            if field.constant.is_some() {
                let reason = format!("`{written}` is a constant: nobody ever writes it");
                return vec![self.problem(None, reason, String::new())];
            }
            return Vec::new();
        }
        let named: Vec<&Method> = class
            .methods
            .iter()
            .filter(|method| self.entity.name.means_method(&class.name, &method.name))
            .collect();
        if named.is_empty() {
            if !is_plain(class) {
                return Vec::new();
            }
            let known = class.methods.iter().map(|method| method.name.as_str());
            let near = nearest(member, known.filter(|name| !name.starts_with('<')));
            let reason = format!("the class `{shown}` has no method `{member}`");
            return vec![self.problem(None, reason, meant(near))];
        }
        let chosen: Vec<&Method> =
            named.iter().copied().filter(|method| self.entity.name.means_types(&method.descriptor)).collect();
        if chosen.is_empty() {
            let all: Vec<String> = named.iter().map(|method| format!("`{}`", signature(method))).collect();
            let reason = format!("no method `{member}` of `{shown}` has these parameters");
            return vec![self.problem(None, reason, format!("there is {}", all.join(", ")))];
        }
        if let Some(local) = &self.entity.local {
            let lacking = self.no_local(local, &chosen).or_else(|| {
                let reason = format!("what hangs on the local variable `{local}` is not known");
                let help = "the class must be on the class path".to_owned();
                (!self.entity.members.is_empty()).then(|| self.problem(None, reason, help))
            });
            return lacking.into_iter().collect();
        }
        let in_calls = self.is_at_calls();
        if let Some(native) = chosen.iter().find(|method| method.access & NATIVE != 0 && !in_calls) {
            let reason = format!("`{written}` is native: no probe can be put into `{}`", signature(native));
            return vec![self.problem(None, reason, "name a method that calls it".to_owned())];
        }
        let with_code =
            chosen.into_iter().filter(|method| in_calls || method.has_code && method.access & BRIDGE == 0);
        let mut problems = Vec::new();
        for method in with_code {
            for (at, ask) in self.want.asks.iter().enumerate() {
                if let Err((reason, help)) = self.roots(ask, class, method)
                    && !problems.iter().any(|known: &Problem| known.ask == Some(at as u32))
                {
                    problems.push(self.problem(Some(at), reason, help));
                }
            }
        }
        problems
    }

    /// What is wrong with a local variable, of methods that have the right name and parameters.
    fn no_local(&self, local: &str, methods: &[&Method]) -> Option<Problem> {
        let known = || methods.iter().flat_map(|method| &method.locals).map(|local| local.name.as_str());
        if known().any(|name| name == local) {
            return None;
        }
        let shown = methods.first().map(|method| signature(method)).unwrap_or_default();
        let reason = format!("the method `{shown}` has no local variable `{local}`");
        if known().all(|name| name == "this") && methods.iter().any(|method| method.has_code) {
            let help = "the class file does not have the names of local variables: compile with `javac -g`";
            return Some(self.problem(None, reason, help.to_owned()));
        }
        Some(self.problem(None, reason, meant(nearest(local, known().filter(|name| *name != "this")))))
    }

    /// Whether it is about a local variable.
    pub(crate) fn is_local(&self) -> bool {
        self.entity.local.is_some()
    }

    /// Whether it is told where a method is called, and not where it is.
    pub(crate) fn is_at_calls(&self) -> bool {
        matches!(self.want.moment, Moment::Enter | Moment::Leave) && self.entity.scope.is_some()
    }

    /// Whether a class that is named declares what it is about, so that no other has to be looked at.
    pub(crate) fn is_declared(&self, class: &Class) -> Declared {
        if self.is_at_calls() || self.is_local() {
            return Declared::Here;
        }
        if self.want.moment == Moment::Write {
            let declares = class.fields.iter().any(|field| field.name == self.entity.name.member);
            return if declares { Declared::Here } else { Declared::Above };
        }
        let methods = class.methods.iter().filter(|method| self.is_method(&class.name, method));
        let abstracts: Vec<bool> = methods.map(|method| method.access & ABSTRACT != 0).collect();
        match abstracts.as_slice() {
            [] => Declared::Above,
            all if all.iter().all(|is_abstract| *is_abstract) => Declared::Below,
            _ => Declared::Here,
        }
    }

    fn is_method(&self, class: &str, method: &Method) -> bool {
        self.entity.name.means_method(class, &method.name)
            && self.entity.name.means_types(&method.descriptor)
            && method.access & BRIDGE == 0
    }

    /// Whether a class may have places for it: a quick look, which may say yes too often.
    pub(crate) fn may_concern(&self, class: &str, bytes: &[u8]) -> bool {
        let in_reach = |reach: &Reach| reach.below || reach.ancestor.as_deref() == Some(class);
        let in_named = self.entity.name.means_class(class);
        if let Some(path) = &self.path {
            return path.may_concern(class, &|name| has(bytes, name.as_bytes()));
        }
        match self.want.moment {
            _ if self.is_local() => in_named,
            _ if self.is_at_calls() => {
                in_named || self.may_call(class) && has(bytes, self.entity.name.member.as_bytes())
            }
            // Of the class that is named it is to be learnt whether there is such a field.
            Moment::Write if !self.entity.may_admit(class) => in_named,
            Moment::Write => has(bytes, self.entity.name.member.as_bytes()),
            _ => {
                in_named
                    || self.reach.get().is_some_and(in_reach)
                        && has(bytes, self.entity.name.member.as_bytes())
            }
        }
    }

    /// Whether calls in a class may be told.
    pub(crate) fn may_call(&self, class: &str) -> bool {
        let Some(scope) = &self.entity.scope else { return false };
        // The platform calls methods of programs by its own names for them, unless it is asked for.
        self.entity.may_admit(class) && (!scope.is_negated || !names::is_platform(&names::dotted(class)))
    }

    /// Whether a call is one of the method.
    fn is_call(&self, owner: &str, name: &str, descriptor: &str, is_static: bool) -> Told {
        let wanted = &self.entity.name;
        if !wanted.means_method(owner, name) || !wanted.means_types(descriptor) {
            return Told::Never;
        }
        match wanted.means_class(owner) {
            true => Told::Always,
            // The code may name a class that it extends, or one that extends it.
            false if !is_static && name != "<init>" => Told::ForSome,
            false => Told::Never,
        }
    }

    /// Whether it is told where this site is, in the method of the class.
    pub(crate) fn is_at(&self, site: &Site<'_>, method: &Method) -> Told {
        if !self.entity.admits(site.class, site.method, site.descriptor) {
            return Told::Never;
        }
        match (&self.want.moment, site.kind) {
            (Moment::Enter, Kind::Call { owner, name, descriptor, is_static, when: When::Before, .. })
            | (Moment::Leave, Kind::Call { owner, name, descriptor, is_static, when: When::After, .. })
                if self.is_at_calls() && self.may_call(site.class) =>
            {
                self.is_call(owner, name, descriptor, is_static)
            }
            (Moment::Enter | Moment::Leave, _) if self.is_at_calls() => Told::Never,
            (Moment::Write, Kind::Local { name, .. })
                if self.entity.local.as_deref() == Some(name)
                    && self.entity.name.means_class(site.class)
                    && self.is_method(site.class, method) =>
            {
                Told::Always
            }
            (Moment::Write, _) if self.is_local() => Told::Never,
            (Moment::Enter, Kind::Enter) | (Moment::Leave, Kind::Return) => {
                if !self.is_method(site.class, method) {
                    return Told::Never;
                }
                let reach = self.reach.get();
                let inherits = reach.is_some_and(|reach| reach.ancestor.as_deref() == Some(site.class));
                let overrides = reach.is_some_and(|reach| reach.below) && method.name != "<init>";
                match (self.entity.name.means_class(site.class), site.is_static) {
                    (true, _) => Told::Always,
                    (false, true) if inherits => Told::Always,
                    (false, false) if inherits || overrides => Told::ForSome,
                    _ => Told::Never,
                }
            }
            (Moment::Write, Kind::Field { owner, name, is_static, .. })
                if name == self.entity.name.member =>
            {
                match (self.entity.name.means_class(owner), is_static) {
                    (true, _) => Told::Always,
                    // The code may name a class that inherits the field.
                    (false, false) if !names::is_platform(&names::dotted(owner)) => Told::ForSome,
                    _ => Told::Never,
                }
            }
            _ => Told::Never,
        }
    }
}

pub(crate) type Mistake = (String, String);

/// Where something is declared, seen from the class that is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    /// In that class.
    Here,
    /// In one that it extends, or nowhere.
    Above,
    /// Its code is in classes that extend or implement that one.
    Below,
}

fn meant(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!("did you mean `{near}`?"))
}

/// Whether a class has nothing but what it declares.
fn is_plain(class: &Class) -> bool {
    class
        .parent
        .as_deref()
        .is_none_or(|parent| matches!(parent, "java/lang/Object" | "java/lang/Record" | "java/lang/Enum"))
        && class.access & ABSTRACT == 0
}

/// A method as users write it: `push(int)`.
pub(crate) fn signature(method: &Method) -> String {
    let types: Vec<String> = names::parameters(&method.descriptor)
        .into_iter()
        .map(|descriptor| {
            let whole = names::type_words(descriptor);
            whole.rsplit('.').next().unwrap_or_default().to_owned()
        })
        .collect();
    format!("{}({})", method.name, types.join(", "))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::protocol::{Ask, Key, Source};

    /// `class Queue { int size; static int all; void push(int item, long when); native int pop(); }`
    pub(crate) fn class(with_names: bool) -> Class {
        let method = |name: &str, descriptor: &str, access| Method {
            name: name.into(),
            descriptor: descriptor.into(),
            access,
            has_code: access & NATIVE == 0,
            parameters: if with_names { vec!["item".into(), "when".into()] } else { Vec::new() },
            locals: Vec::new(),
            lines: Vec::new(),
        };
        let field = |name: &str, access| invigil_weave::Field {
            name: name.into(),
            descriptor: "I".into(),
            access,
            constant: None,
        };
        Class {
            major: 61,
            access: 0x20,
            name: "app/Queue".into(),
            parent: Some("java/lang/Object".into()),
            interfaces: Vec::new(),
            source: None,
            fields: vec![field("size", 0), field("all", STATIC)],
            methods: vec![
                method("push", "(IJ)V", 0),
                method("pop", "()I", NATIVE),
                method("<init>", "(IJ)V", 0),
            ],
        }
    }

    pub(crate) fn wanted(moment: Moment, name: &str, sources: &[Source]) -> Wanted {
        let asks = sources.iter().map(|source| Ask { source: source.clone(), ty: None }).collect();
        let want = Want {
            key: Key::Event { number: 0 },
            moment,
            name: name.into(),
            candidates: Vec::new(),
            asks,
            route: None,
        };
        Wanted::new(want, true).unwrap()
    }

    pub(crate) fn text(text: &str) -> Source {
        Source::Expression { text: text.into() }
    }

    fn complaint(wanted: &Wanted, class: &Class) -> String {
        let problems = wanted.problems(class);
        problems.iter().map(|problem| format!("{}; {}\n", problem.reason, problem.help)).collect()
    }

    #[test]
    fn misspelled_members_get_the_nearest() {
        let class = class(true);
        let words = complaint(&wanted(Moment::Enter, "Queue.psuh", &[]), &class);
        assert!(words.contains("no method `psuh`") && words.contains("`push`"), "{words}");
        let words = complaint(&wanted(Moment::Write, "Queue.sise", &[]), &class);
        assert!(words.contains("no field `sise`") && words.contains("`size`"), "{words}");
        let words = complaint(&wanted(Moment::Enter, "Queue.push", &[text("itme")]), &class);
        assert!(words.contains("no parameter `itme`") && words.contains("`item`"), "{words}");
        let words = complaint(&wanted(Moment::Enter, "Queue.push(int)", &[]), &class);
        assert!(words.contains("push(int, long)"), "{words}");
        assert!(complaint(&wanted(Moment::Enter, "Queue.pop", &[]), &class).contains("native"));
    }

    #[test]
    fn values_that_are_not_there() {
        let class = class(true);
        assert!(
            complaint(&wanted(Moment::Enter, "Queue.push", &[Source::Result]), &class)
                .contains("after event")
        );
        assert!(
            complaint(&wanted(Moment::Leave, "Queue.push", &[Source::Result]), &class).contains("nothing")
        );
        let third = Source::Argument { number: 3 };
        assert!(complaint(&wanted(Moment::Enter, "Queue.push", &[third]), &class).contains("no argument 3"));
        assert!(
            complaint(&wanted(Moment::Enter, "Queue.new", &[text("this")]), &class).contains("not there yet")
        );
        assert_eq!(complaint(&wanted(Moment::Leave, "Queue.new", &[text("this.size + item")]), &class), "");
        assert_eq!(complaint(&wanted(Moment::Enter, "Queue.push", &[text("size + all")]), &class), "");
    }

    #[test]
    fn without_names_there_are_positions() {
        let class = class(false);
        let words = complaint(&wanted(Moment::Enter, "Queue.push", &[text("item")]), &class);
        assert!(words.contains("javac -g"), "{words}");
        let second = Source::Argument { number: 2 };
        assert_eq!(complaint(&wanted(Moment::Enter, "Queue.push", &[second]), &class), "");
    }
}
