//! Weaving of classes on disk, for programs that are run with the agent later.

use crate::offline_probes::{OfflineProbe, OfflineProbes};
use crate::prepare;
use crate::protocol::{Subscription, SubscriptionError};
use crate::subscription::ResolvedSubscription;
use crate::weaving::{self, ClassWeaver};
use invigil_weave::{Class, Woven};
use std::collections::HashMap;
use std::sync::Arc;

/// Weaves classes for subscriptions. The woven classes call a helper class that only the agent provides.
pub struct Instrumentor {
    subscriptions: Vec<Arc<ResolvedSubscription>>,
    classes: Vec<(String, Vec<OfflineProbe>)>,
    next: u32,
}

impl Instrumentor {
    /// Creates an instrumentor. `read` returns the class of a name such as `app/Queue`. The returned errors are those
    /// that class files reveal.
    pub fn new(
        subscriptions: Vec<Subscription>,
        read: &dyn Fn(&str) -> Option<Class>,
    ) -> (Instrumentor, Vec<SubscriptionError>) {
        let (mut all, mut errors, mut paths) = (Vec::new(), Vec::new(), HashMap::new());
        for subscription in subscriptions {
            match ResolvedSubscription::new(subscription, false) {
                Ok(resolved) => all.push(Arc::new(prepare::share_path(resolved, &mut paths))),
                Err(error) => errors.push(error),
            }
        }
        for resolved in &all {
            prepare::look_up(read, resolved, &|resolved, class| {
                weaving::record_class(resolved, class);
            });
            errors.extend(prepare::current_errors(resolved));
        }
        (Instrumentor { subscriptions: all, classes: Vec::new(), next: 0 }, errors)
    }

    /// The class with probes, or `None` if no subscription applies to it.
    ///
    /// # Errors
    /// If it is not a valid class file, or cannot be woven.
    pub fn weave(&mut self, bytes: &[u8]) -> Result<Option<Woven>, invigil_weave::ClassFileError> {
        let class = Class::read(bytes)?;
        let subscriptions: Vec<Arc<ResolvedSubscription>> = self
            .subscriptions
            .iter()
            .filter(|resolved| resolved.may_concern(&class.name, bytes))
            .cloned()
            .collect();
        if subscriptions.is_empty() {
            return Ok(None);
        }
        let (mut probes, mut next) = (Vec::new(), self.next);
        let mut add = |site: &invigil_weave::Site<'_>, place: crate::probe_site::ProbeSite| {
            let number = next;
            next = next.checked_add(1)?;
            probes.push(OfflineProbe::new(number, site, &place));
            Some(number)
        };
        let woven = invigil_weave::weave(
            bytes,
            crate::agent::HELPER,
            &mut ClassWeaver { class: &class, subscriptions: &subscriptions, add: &mut add },
        )?;
        if woven.is_some() {
            self.next = next;
            self.classes.push((class.name, probes));
        }
        Ok(woven)
    }

    /// The content of the file that must be stored beside the classes: see [`crate::offline_probes::FILE`].
    pub fn offline_probes(self) -> OfflineProbes {
        OfflineProbes::new(self.classes)
    }
}
