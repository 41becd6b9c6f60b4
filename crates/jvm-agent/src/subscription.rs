//! Subscriptions: which sites of a class they apply to, and which values are captured there.

mod roots;

use crate::entity::Entity;
use crate::names;
use crate::protocol::{Subscription, SubscriptionError, Trigger};
use crate::tracked_path::TrackedPath;
use crate::weaving::contains_bytes;
use invigil_expr::diag::nearest;
use invigil_weave::{CallSide, Class, Method, Site, SiteKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) const STATIC: u16 = 0x0008;
/// Methods that the compiler generated to call others: the methods that they call are reported.
const BRIDGE: u16 = 0x0040;
const ABSTRACT: u16 = 0x0400;
const NATIVE: u16 = 0x0100;

/// A subscription with its parsed name.
#[derive(Debug)]
pub(crate) struct ResolvedSubscription {
    pub(crate) subscription: Subscription,
    pub(crate) entity: Entity,
    /// The tracked path, if it is reached through other objects.
    pub(crate) path: Option<Arc<TrackedPath>>,
    /// Whether it is to be reported at present.
    pub(crate) active: AtomicBool,
    /// Whether a class was found that the name means.
    pub(crate) seen: AtomicBool,
    /// Its errors, as far as classes were found.
    pub(crate) errors: Mutex<Vec<SubscriptionError>>,
    /// For each requested value, whether it was ever an integer rather than an object's id.
    pub(crate) is_integer: Vec<AtomicBool>,
    /// Where it may apply apart from the named class.
    pub(crate) reach: OnceLock<CodeReach>,
}

/// Other classes that may contain the code of a method.
#[derive(Debug, Default)]
pub(crate) struct CodeReach {
    /// The class that the method is inherited from, as in `java/util/AbstractList`.
    pub(crate) ancestor: Option<String>,
    /// Whether subclasses or implementations of the named class have it.
    pub(crate) in_subclasses: bool,
}

/// Whether a subscription applies at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applies {
    /// It does not apply.
    Never,
    /// Only for instances of the named class.
    IfInstance,
    /// It applies to all objects.
    Always,
}

impl ResolvedSubscription {
    pub(crate) fn new(
        subscription: Subscription,
        active: bool,
    ) -> Result<ResolvedSubscription, SubscriptionError> {
        match Entity::parse(&subscription.name) {
            Ok(entity) => Ok(ResolvedSubscription {
                active: AtomicBool::new(active),
                // A path is resolved from class files, so the class exists.
                seen: AtomicBool::new(subscription.variable_path.is_some()),
                path: subscription
                    .variable_path
                    .clone()
                    .filter(|path| !path.fields.is_empty())
                    .map(|path| Arc::new(TrackedPath::new(path))),
                is_integer: subscription.value_requests.iter().map(|_| AtomicBool::new(false)).collect(),
                subscription,
                entity,
                errors: Mutex::default(),
                reach: OnceLock::new(),
            }),
            Err(reason) => Err(SubscriptionError {
                id: subscription.id,
                value_request: None,
                reason,
                help: String::new(),
                pending: false,
            }),
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.active.load(Ordering::SeqCst)
    }

    /// Notes that a requested value may be an integer that is not an object's id.
    pub(crate) fn mark_integer(&self, request_index: usize) {
        if let Some(is_integer) = self.is_integer.get(request_index)
            && !is_integer.load(Ordering::Relaxed)
        {
            is_integer.store(true, Ordering::Relaxed);
        }
    }

    fn error(&self, request_index: Option<usize>, reason: String, help: String) -> SubscriptionError {
        SubscriptionError {
            id: self.subscription.id.clone(),
            value_request: request_index.map(|index| index as u32),
            reason,
            help,
            pending: false,
        }
    }

    /// The errors that a class reveals which the name means. Empty if this class alone does not decide.
    pub(crate) fn errors_in(&self, class: &Class) -> Vec<SubscriptionError> {
        if self.path.is_some() {
            return Vec::new();
        }
        let written = &self.subscription.name;
        let shown = names::dotted(&class.name);
        let member = &self.entity.name.member;
        if self.subscription.trigger == Trigger::Write && !self.is_local() {
            let Some(field) = class.fields.iter().find(|field| field.name == *member) else {
                if has_only_own_members(class) {
                    let near = nearest(member, class.fields.iter().map(|field| field.name.as_str()));
                    let reason = format!("the class `{shown}` has no field `{member}`");
                    return vec![self.error(None, reason, suggestion(near))];
                }
                return Vec::new();
            };
            if field.constant.is_some() {
                let reason = format!("`{written}` is a constant, which is never written");
                return vec![self.error(None, reason, String::new())];
            }
            return Vec::new();
        }
        let named: Vec<&Method> = class
            .methods
            .iter()
            .filter(|method| self.entity.name.matches_method(&class.name, &method.name))
            .collect();
        if named.is_empty() {
            if !has_only_own_members(class) {
                return Vec::new();
            }
            let known = class.methods.iter().map(|method| method.name.as_str());
            let near = nearest(member, known.filter(|name| !name.starts_with('<')));
            let reason = format!("the class `{shown}` has no method `{member}`");
            return vec![self.error(None, reason, suggestion(near))];
        }
        let chosen: Vec<&Method> = named
            .iter()
            .copied()
            .filter(|method| self.entity.name.matches_types(&method.descriptor))
            .collect();
        if chosen.is_empty() {
            let all: Vec<String> = named.iter().map(|method| format!("`{}`", signature(method))).collect();
            let reason = format!("no method `{member}` of `{shown}` has these parameters");
            return vec![self.error(None, reason, format!("there is {}", all.join(", ")))];
        }
        if let Some(local) = &self.entity.local {
            let error = self.missing_local(local, &chosen).or_else(|| {
                let reason = format!("the members of the local variable `{local}` are unknown");
                let help = "the class must be on the class path".to_owned();
                (!self.entity.members.is_empty()).then(|| self.error(None, reason, help))
            });
            return error.into_iter().collect();
        }
        let in_calls = self.is_at_calls();
        if let Some(native) = chosen.iter().find(|method| method.access & NATIVE != 0 && !in_calls) {
            let reason =
                format!("`{written}` is native: a probe cannot be placed in `{}`", signature(native));
            return vec![self.error(None, reason, "name a method that calls it".to_owned())];
        }
        let with_code =
            chosen.into_iter().filter(|method| in_calls || method.has_code && method.access & BRIDGE == 0);
        let mut errors = Vec::new();
        for method in with_code {
            for (at, request) in self.subscription.value_requests.iter().enumerate() {
                if let Err((reason, help)) = self.roots(request, class, method)
                    && !errors.iter().any(|known: &SubscriptionError| known.value_request == Some(at as u32))
                {
                    errors.push(self.error(Some(at), reason, help));
                }
            }
        }
        errors
    }

    /// The error for a local variable that methods of the right name and parameters lack.
    fn missing_local(&self, local: &str, methods: &[&Method]) -> Option<SubscriptionError> {
        let known = || methods.iter().flat_map(|method| &method.locals).map(|local| local.name.as_str());
        if known().any(|name| name == local) {
            return None;
        }
        let shown = methods.first().map(|method| signature(method)).unwrap_or_default();
        let reason = format!("the method `{shown}` has no local variable `{local}`");
        if known().all(|name| name == "this") && methods.iter().any(|method| method.has_code) {
            let help = "the class file does not have the names of local variables: compile with `javac -g`";
            return Some(self.error(None, reason, help.to_owned()));
        }
        Some(self.error(None, reason, suggestion(nearest(local, known().filter(|name| *name != "this")))))
    }

    /// Whether it is about a local variable.
    pub(crate) fn is_local(&self) -> bool {
        self.entity.local.is_some()
    }

    /// Whether it is reported where a method is called, rather than in the method.
    pub(crate) fn is_at_calls(&self) -> bool {
        matches!(self.subscription.trigger, Trigger::Enter | Trigger::Return) && self.entity.scope.is_some()
    }

    /// Where its member is declared, seen from a named class. Decides which other classes have to be examined.
    pub(crate) fn declaration(&self, class: &Class) -> Declared {
        if self.is_at_calls() || self.is_local() {
            return Declared::Here;
        }
        if self.subscription.trigger == Trigger::Write {
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
        self.entity.name.matches_method(class, &method.name)
            && self.entity.name.matches_types(&method.descriptor)
            && method.access & BRIDGE == 0
    }

    /// Whether a class may have sites for it: a quick check with false positives.
    pub(crate) fn may_concern(&self, class: &str, bytes: &[u8]) -> bool {
        let in_reach = |reach: &CodeReach| reach.in_subclasses || reach.ancestor.as_deref() == Some(class);
        let in_named = self.entity.name.matches_class(class);
        if let Some(path) = &self.path {
            return path.may_concern(class, &|name| contains_bytes(bytes, name.as_bytes()));
        }
        match self.subscription.trigger {
            _ if self.is_local() => in_named,
            _ if self.is_at_calls() => {
                in_named || self.may_call(class) && contains_bytes(bytes, self.entity.name.member.as_bytes())
            }
            // The named class has to be examined for the field.
            Trigger::Write if !self.entity.may_admit(class) => in_named,
            Trigger::Write => contains_bytes(bytes, self.entity.name.member.as_bytes()),
            _ => {
                in_named
                    || self.reach.get().is_some_and(in_reach)
                        && contains_bytes(bytes, self.entity.name.member.as_bytes())
            }
        }
    }

    /// Whether calls in a class may be reported.
    pub(crate) fn may_call(&self, class: &str) -> bool {
        let Some(scope) = &self.entity.scope else { return false };
        // The platform calls methods of programs by the names of its own interfaces, so it is skipped unless named
        // explicitly.
        self.entity.may_admit(class) && (!scope.is_negated || !names::is_platform(&names::dotted(class)))
    }

    /// Whether a call is one of the method.
    fn applies_to_call(&self, owner: &str, name: &str, descriptor: &str, is_static: bool) -> Applies {
        let named = &self.entity.name;
        if !named.matches_method(owner, name) || !named.matches_types(descriptor) {
            return Applies::Never;
        }
        match named.matches_class(owner) {
            true => Applies::Always,
            // The code may name a class that it extends, or one that extends it.
            false if !is_static && name != "<init>" => Applies::IfInstance,
            false => Applies::Never,
        }
    }

    /// Whether it applies at this site, in the method of the class.
    pub(crate) fn applies_at(&self, site: &Site<'_>, method: &Method) -> Applies {
        if !self.entity.admits(site.class, site.method, site.descriptor) {
            return Applies::Never;
        }
        match (&self.subscription.trigger, site.kind) {
            (
                Trigger::Enter,
                SiteKind::Call { owner, name, descriptor, is_static, when: CallSide::Before, .. },
            )
            | (
                Trigger::Return,
                SiteKind::Call { owner, name, descriptor, is_static, when: CallSide::After, .. },
            ) if self.is_at_calls() && self.may_call(site.class) => {
                self.applies_to_call(owner, name, descriptor, is_static)
            }
            (Trigger::Enter | Trigger::Return, _) if self.is_at_calls() => Applies::Never,
            (Trigger::Write, SiteKind::Local { name, .. })
                if self.entity.local.as_deref() == Some(name)
                    && self.entity.name.matches_class(site.class)
                    && self.is_method(site.class, method) =>
            {
                Applies::Always
            }
            (Trigger::Write, _) if self.is_local() => Applies::Never,
            (Trigger::Enter, SiteKind::Enter) | (Trigger::Return, SiteKind::Return) => {
                if !self.is_method(site.class, method) {
                    return Applies::Never;
                }
                let reach = self.reach.get();
                let inherits = reach.is_some_and(|reach| reach.ancestor.as_deref() == Some(site.class));
                let overrides = reach.is_some_and(|reach| reach.in_subclasses) && method.name != "<init>";
                match (self.entity.name.matches_class(site.class), site.is_static) {
                    (true, _) => Applies::Always,
                    (false, true) if inherits => Applies::Always,
                    (false, false) if inherits || overrides => Applies::IfInstance,
                    _ => Applies::Never,
                }
            }
            (Trigger::Write, SiteKind::Field { owner, name, is_static, .. })
                if name == self.entity.name.member =>
            {
                match (self.entity.name.matches_class(owner), is_static) {
                    (true, _) => Applies::Always,
                    // The code may name a class that inherits the field.
                    (false, false) if !names::is_platform(&names::dotted(owner)) => Applies::IfInstance,
                    _ => Applies::Never,
                }
            }
            _ => Applies::Never,
        }
    }
}

/// The reason and the help of an error in a name.
pub(crate) type NameError = (String, String);

/// Where a member is declared, seen from the named class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    /// In that class.
    Here,
    /// In a superclass or interface, or nowhere.
    Above,
    /// Its code is in subclasses or implementations.
    Below,
}

fn suggestion(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!("did you mean `{near}`?"))
}

/// Whether a class inherits nothing but the members of the most basic classes.
fn has_only_own_members(class: &Class) -> bool {
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
            let whole = names::type_name(descriptor);
            whole.rsplit('.').next().unwrap_or_default().to_owned()
        })
        .collect();
    format!("{}({})", method.name, types.join(", "))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::protocol::{SubscriptionId, ValueRequest, ValueSource};

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

    pub(crate) fn resolved(trigger: Trigger, name: &str, sources: &[ValueSource]) -> ResolvedSubscription {
        let value_requests =
            sources.iter().map(|source| ValueRequest { source: source.clone(), ty: None }).collect();
        let subscription = Subscription {
            id: SubscriptionId::Event { number: 0 },
            trigger,
            name: name.into(),
            candidates: Vec::new(),
            value_requests,
            variable_path: None,
        };
        ResolvedSubscription::new(subscription, true).unwrap()
    }

    pub(crate) fn text(text: &str) -> ValueSource {
        ValueSource::Expression { text: text.into() }
    }

    fn complaint(resolved: &ResolvedSubscription, class: &Class) -> String {
        let errors = resolved.errors_in(class);
        errors.iter().map(|error| format!("{}; {}\n", error.reason, error.help)).collect()
    }

    #[test]
    fn misspelled_members_suggest_the_nearest() {
        let class = class(true);
        let message = complaint(&resolved(Trigger::Enter, "Queue.psuh", &[]), &class);
        assert!(message.contains("no method `psuh`") && message.contains("`push`"), "{message}");
        let message = complaint(&resolved(Trigger::Write, "Queue.sise", &[]), &class);
        assert!(message.contains("no field `sise`") && message.contains("`size`"), "{message}");
        let message = complaint(&resolved(Trigger::Enter, "Queue.push", &[text("itme")]), &class);
        assert!(message.contains("no parameter `itme`") && message.contains("`item`"), "{message}");
        let message = complaint(&resolved(Trigger::Enter, "Queue.push(int)", &[]), &class);
        assert!(message.contains("push(int, long)"), "{message}");
        assert!(complaint(&resolved(Trigger::Enter, "Queue.pop", &[]), &class).contains("native"));
    }

    #[test]
    fn unavailable_values_are_explained() {
        let class = class(true);
        assert!(
            complaint(&resolved(Trigger::Enter, "Queue.push", &[ValueSource::Result]), &class)
                .contains("after event")
        );
        assert!(
            complaint(&resolved(Trigger::Return, "Queue.push", &[ValueSource::Result]), &class)
                .contains("nothing")
        );
        let third = ValueSource::Argument { number: 3 };
        assert!(
            complaint(&resolved(Trigger::Enter, "Queue.push", &[third]), &class).contains("no argument 3")
        );
        assert!(
            complaint(&resolved(Trigger::Enter, "Queue.new", &[text("this")]), &class)
                .contains("does not exist yet")
        );
        assert_eq!(
            complaint(&resolved(Trigger::Return, "Queue.new", &[text("this.size + item")]), &class),
            ""
        );
        assert_eq!(complaint(&resolved(Trigger::Enter, "Queue.push", &[text("size + all")]), &class), "");
    }

    #[test]
    fn arguments_without_names_have_positions() {
        let class = class(false);
        let message = complaint(&resolved(Trigger::Enter, "Queue.push", &[text("item")]), &class);
        assert!(message.contains("javac -g"), "{message}");
        let second = ValueSource::Argument { number: 2 };
        assert_eq!(complaint(&resolved(Trigger::Enter, "Queue.push", &[second]), &class), "");
    }
}
