//! What users name in a Java program: methods, fields, local variables, and the part of the program in which they
//! count.

use crate::names::{Name, dotted, matches_name};

/// A parsed name such as `A.main(String[]).count not in app.Tests`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// The method or field; for a local variable, its method.
    pub name: Name,
    /// The local variable.
    pub local: Option<String>,
    /// The members of the local variable: `next` and `value` of `A.main(String[]).list.next.value`.
    pub members: Vec<String>,
    /// The part of the program in which it counts, if not all of it.
    pub scope: Option<Scope>,
    /// Whether a write and its report are to be atomic.
    pub is_locked: bool,
    /// Whether it denotes changes caused by the path reaching another object, not writes.
    pub is_by_path: bool,
}

/// The parsed `in` or `not in` of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Whether the name applies everywhere except in this part.
    pub is_negated: bool,
    /// The package, the class, or the class of the method.
    pub part: String,
    /// The method.
    pub method: Option<Name>,
}

/// Suffix of a name whose writes and reports are to be atomic.
pub const LOCKED: &str = " locked";
/// Suffix of a name of which changes without a write are requested.
pub const BY_PATH: &str = " by path";

impl Entity {
    /// Takes a name apart.
    ///
    /// ```
    /// use invigil_jvm_agent::entity::Entity;
    /// let distance = Entity::parse("app.MAV.run().distance not in app.test").unwrap();
    /// assert_eq!((distance.name.class.as_str(), distance.name.member.as_str()), ("app.MAV", "run"));
    /// assert_eq!(distance.local.as_deref(), Some("distance"));
    /// assert!(distance.admits("app/MAV", "run", "()V") && !distance.admits("app/test/Fake", "run", "()V"));
    /// ```
    ///
    /// # Errors
    /// A message, if the name is malformed.
    pub fn parse(text: &str) -> Result<Entity, String> {
        let mut rest = text.trim();
        let mut flag = |suffix| {
            let shorter = rest.strip_suffix(suffix);
            rest = shorter.unwrap_or(rest);
            shorter.is_some()
        };
        let (is_by_path, is_locked) = (flag(BY_PATH), flag(LOCKED));
        let (named, scope) = match rest.split_once(" in ") {
            Some((named, part)) => {
                let shorter = named.strip_suffix(" not");
                (shorter.unwrap_or(named), Some(Scope::parse(part.trim(), shorter.is_some())?))
            }
            None => (rest, None),
        };
        let (owner, members) = match named.split_once(").") {
            Some((method, members)) => (format!("{method})"), members.split('.').collect()),
            None => (named.to_owned(), Vec::new()),
        };
        if members.iter().any(|member| member.is_empty()) {
            return Err(format!("`{named}` lacks a name"));
        }
        let mut members = members.into_iter().map(str::to_owned);
        Ok(Entity {
            name: Name::parse(&owner)?,
            local: members.next(),
            members: members.collect(),
            scope,
            is_locked,
            is_by_path,
        })
    }

    /// Whether code in a method of a class counts.
    pub fn admits(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.scope.as_ref().is_none_or(|scope| scope.has(class, method, descriptor) != scope.is_negated)
    }

    /// Whether code in a class may count: a quick check with false positives.
    pub fn may_admit(&self, class: &str) -> bool {
        self.scope.as_ref().is_none_or(|scope| scope.is_negated || scope.touches(class))
    }
}

impl Scope {
    fn parse(text: &str, is_negated: bool) -> Result<Scope, String> {
        let method = match text.contains('(') {
            true => Some(Name::parse(text)?),
            false => None,
        };
        let part = method.as_ref().map_or_else(|| dotted(text), |name| name.class.clone());
        Ok(Scope { is_negated, part, method })
    }

    /// Whether a class is the part, is contained in it, or has the method.
    pub fn touches(&self, class: &str) -> bool {
        let mut outer = class;
        loop {
            if matches_name(&self.part, outer) {
                return true;
            }
            match outer.rsplit_once('$') {
                Some((shorter, _)) => outer = shorter,
                None => break,
            }
        }
        let inside = dotted(class);
        self.method.is_none() && inside.strip_prefix(&self.part).is_some_and(|rest| rest.starts_with('.'))
    }

    fn has(&self, class: &str, method: &str, descriptor: &str) -> bool {
        if !self.touches(class) {
            return false;
        }
        let Some(name) = &self.method else { return true };
        // The code of a lambda is a method of its own, which is named after the enclosing one.
        let is_lambda = method
            .strip_prefix("lambda$")
            .and_then(|rest| rest.rsplit_once('$'))
            .is_some_and(|(around, _)| name.matches_method(class, around));
        is_lambda || name.matches_method(class, method) && name.matches_types(descriptor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(text: &str) -> Entity {
        Entity::parse(text).unwrap()
    }

    #[test]
    fn locals_and_their_members_are_parsed() {
        let one = entity("A.main(String[]).c1.d1.x locked by path");
        assert_eq!((one.local.as_deref(), one.members), (Some("c1"), vec!["d1".to_owned(), "x".to_owned()]));
        assert!(one.is_locked && one.is_by_path);
        assert_eq!(one.name, Name::parse("A.main(String[])").unwrap());
        let method = entity("Gate.gd(int, String)");
        assert_eq!((method.local, method.scope, method.is_locked), (None, None, false));
        for wrong in ["A.main().", "x", "A.x in m(", "A.main()..x", "A.f(int in B", " locked"] {
            assert!(Entity::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn scopes_admit_nested_classes_and_lambdas() {
        let in_class = entity("Account.deposit(double) in WireTransfer");
        assert!(in_class.admits("bank/WireTransfer", "run", "()V"));
        assert!(in_class.admits("bank/WireTransfer$Job", "run", "()V"));
        assert!(!in_class.admits("bank/ATM", "run", "()V"));
        let in_method = entity("Account.balance in Account.deposit(double)");
        assert!(in_method.admits("Account", "deposit", "(D)V"));
        assert!(in_method.admits("Account", "lambda$deposit$0", "()V"));
        assert!(
            !in_method.admits("Account", "deposit", "(I)V") && !in_method.admits("Account", "take", "(D)V")
        );
        let in_package = entity("Account.balance in bank.wire");
        assert!(in_package.admits("bank/wire/Transfer", "run", "()V"));
        assert!(!in_package.admits("bank/wireless/Transfer", "run", "()V"));
        let elsewhere = entity("Account.balance not in Account.deposit(double)");
        assert!(
            elsewhere.admits("Account", "take", "(D)V") && !elsewhere.admits("Account", "deposit", "(D)V")
        );
        assert!(elsewhere.may_admit("bank/ATM") && !in_class.may_admit("bank/ATM"));
    }
}
