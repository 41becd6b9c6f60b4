//! How events are noticed, in words.

use super::Probes;
use crate::events::{Plan, Role, What};
use crate::target::Target;
use invigil_session::subject::Probe;

impl Target {
    /// How the events of the properties are noticed, place by place.
    pub(crate) fn list_probes(&mut self) -> Vec<Probe> {
        let mut all = Vec::new();
        let why_not = self.why_no_probes();
        for plan in self.plans.iter().filter(|plan| !self.inline.is_made_by_scripts(plan.symbol)) {
            let event = plan.name.clone();
            match &plan.what {
                What::Code | What::Exit => all.extend(self.probes_of(plan, why_not.as_deref())),
                What::Access(_) => {
                    all.push(Probe { event, place: String::new(), how: "watched memory".into() })
                }
                What::Syscall { .. } => {
                    all.push(Probe { event, place: String::new(), how: "system calls".into() })
                }
                What::System => {
                    all.push(Probe { event, place: String::new(), how: "the system tells".into() })
                }
            }
        }
        all
    }

    /// Why there are no probes at all, if there are none.
    fn why_no_probes(&self) -> Option<String> {
        let at_code = |what: &What| matches!(what, What::Code | What::Exit | What::System);
        match (&self.inline.trouble, self.inline.probes) {
            (_, Probes::Trap) => Some("as was asked for".to_owned()),
            (Some(trouble), _) => Some(trouble.clone()),
            _ if !self.plans.all_are(at_code) => {
                Some("the property is also about memory or system calls, which the tool watches".to_owned())
            }
            _ => None,
        }
    }

    /// How the ends of calls are noticed that other functions return for. Which function returns where is known only inside.
    fn returns_in_words(&self) -> String {
        let places = self.return_places();
        let traps = places.iter().filter(|has_probe| !**has_probe).count();
        match (places.len(), traps) {
            (0, _) => "probe".to_owned(),
            (count, 0) => format!("probe, and {count} where other functions return to"),
            (count, traps) => {
                format!("probe, and {count} where other functions return to, {traps} with a trap")
            }
        }
    }

    fn probes_of(&self, plan: &Plan, why_not: Option<&str>) -> Vec<Probe> {
        let places = plan.places.iter().filter(|place| matches!(place.role, Role::Fire | Role::Tail));
        let told = places.map(|place| {
            let site = self.engine.sites.get(place.site);
            let how = match (why_not, self.inline.unfit.get(&place.site.0)) {
                (None, None) if site.jump.is_some() && place.role == Role::Tail => self.returns_in_words(),
                (None, None) if site.jump.is_some() => "probe".to_owned(),
                (None, None) => "trap".to_owned(),
                (None, Some(unfit)) => format!("trap: {unfit}"),
                (Some(why), _) => format!("trap: {why}"),
            };
            let name = self.program.symbol_at(site.address);
            let name = name.map_or_else(
                || format!("{:#x}", site.address),
                |(name, offset)| match offset {
                    0 => name,
                    offset => format!("{name}+{offset}"),
                },
            );
            Probe { event: plan.name.clone(), place: self.with_line(name, site.address), how }
        });
        told.collect()
    }
}
