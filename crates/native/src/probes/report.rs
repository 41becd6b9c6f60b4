//! Reports how events are observed.

use super::ProbeMode;
use crate::events::{EventPlan, SiteRole, Trigger};
use crate::native_target::NativeTarget;
use invigil_target::ProbeInfo;

impl NativeTarget {
    /// Reports how the events of the properties are observed, site by site.
    pub(crate) fn list_probes(&mut self) -> Vec<ProbeInfo> {
        let mut all = Vec::new();
        let why_not = self.why_no_probes();
        for plan in self.plans.iter().filter(|plan| !self.probes.host.is_derived(plan.event)) {
            let event = plan.name.clone();
            match &plan.trigger {
                Trigger::Location | Trigger::Exit => all.extend(self.probes_of(plan, why_not.as_deref())),
                Trigger::Access(_) => {
                    all.push(ProbeInfo { event, location: String::new(), mechanism: "watched memory".into() })
                }
                Trigger::Syscall { .. } => {
                    all.push(ProbeInfo { event, location: String::new(), mechanism: "system calls".into() })
                }
                Trigger::Predefined(_) | Trigger::WithoutSite => all.push(ProbeInfo {
                    event,
                    location: String::new(),
                    mechanism: "no site: a notification of the kernel or the debugger".into(),
                }),
            }
        }
        all
    }

    /// Why there are no probes at all, if there are none.
    fn why_no_probes(&self) -> Option<String> {
        match (&self.probes.error, self.probes.mode) {
            (_, ProbeMode::Trap) => Some("as requested".to_owned()),
            (Some(error), _) => Some(error.clone()),
            _ if !self.plans.all_triggers(Trigger::is_embeddable) => Some(
                "the properties also need memory accesses or system calls, which only the debugger observes"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// Describes a probe, and why it is slower than it could be.
    fn probe_description(&self) -> String {
        match self.tracer.agent.as_ref().and_then(|agent| agent.slow_path_only.as_ref()) {
            Some(why) => format!("probe (slow path only: in the probe library, {why})"),
            None => "probe".to_owned(),
        }
    }

    /// Describes the return sites of tail calls. Which call returns where is known only in the target.
    fn return_sites_description(&self) -> String {
        let sites = self.return_sites_with_probe();
        let traps = sites.iter().filter(|has_probe| !**has_probe).count();
        match (sites.len(), traps) {
            (0, _) => self.probe_description(),
            (count, 0) => format!("probe, and {count} at return sites of tail calls"),
            (count, traps) => {
                format!("probe, and {count} at return sites of tail calls, {traps} with a trap")
            }
        }
    }

    fn probes_of(&self, plan: &EventPlan, why_not: Option<&str>) -> Vec<ProbeInfo> {
        let sites = plan
            .sites
            .iter()
            .filter(|event_site| matches!(event_site.role, SiteRole::Event | SiteRole::TailCall));
        let all = sites.map(|event_site| {
            let site = self.tracer.sites.get(event_site.site);
            let mechanism = match (why_not, self.probes.not_patchable.get(&event_site.site.0)) {
                (None, None) if site.jump.is_some() && event_site.role == SiteRole::TailCall => {
                    self.return_sites_description()
                }
                (None, None) if site.jump.is_some() => self.probe_description(),
                (None, None) if self.can_embed() && self.probes.trap_count_at_placement == 0 => {
                    "not placed yet: decided when the program continues".to_owned()
                }
                (None, None) => "trap".to_owned(),
                (None, Some(not_patchable)) => format!("trap: {not_patchable}"),
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
            ProbeInfo { event: plan.name.clone(), location: self.with_line(name, site.address), mechanism }
        });
        all.collect()
    }
}
