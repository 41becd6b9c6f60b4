//! Breakpoints and watchpoints of the user and of scenarios.

use crate::linespec::{self, ResolvedLocation};
use crate::native_target::NativeTarget;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::trap_reasons::TrapReason;
use crate::watchpoints::{AccessKind, WatchReason, WatchpointId};
use invigil_debuginfo::value::TypedValue;
use invigil_target::{
    Breakpoint, BreakpointId, BreakpointKind, BreakpointSpec, Owner, StopReason, TargetError, TargetResult,
};
use std::collections::BTreeMap;
use std::ops::Range;

struct UserBreakpoint {
    owner: Owner,
    spec: BreakpointSpec,
    enabled: bool,
    hits: u64,
    /// Number of further hits to ignore.
    ignore: u64,
    sites: Vec<SiteId>,
    watchpoint: Option<WatchpointId>,
    /// The object that it watches, with its address range.
    extent: Option<(TypedValue, Range<u64>)>,
}

/// All breakpoints and watchpoints.
#[derive(Default)]
pub(crate) struct BreakpointTable {
    all: BTreeMap<BreakpointId, UserBreakpoint>,
    last: u32,
}

impl BreakpointTable {
    /// Owner of a breakpoint, if it is enabled.
    #[inline]
    pub(crate) fn owner(&self, id: BreakpointId) -> Option<Owner> {
        self.all.get(&id).filter(|point| point.enabled).map(|point| point.owner)
    }

    /// Removes a site whose code was unmapped.
    pub(crate) fn forget_site(&mut self, site: SiteId) {
        self.all.values_mut().for_each(|point| point.sites.retain(|known| *known != site));
    }

    /// Removes all sites: the target executed another program.
    pub(crate) fn forget_sites(&mut self) {
        for point in self.all.values_mut() {
            point.sites.clear();
            (point.watchpoint, point.extent) = (None, None);
        }
    }
}

fn location_error(missing: linespec::UnknownLocation) -> TargetError {
    TargetError::Request(missing.message())
}

impl NativeTarget {
    pub(crate) fn set_breakpoint(
        &mut self,
        owner: Owner,
        spec: &BreakpointSpec,
    ) -> TargetResult<BreakpointId> {
        self.tracer.stop_all()?;
        if let Some(condition) = &spec.condition {
            self.check_expression(condition)?;
        }
        let id = BreakpointId(self.breakpoints.last + 1);
        let mut breakpoint = UserBreakpoint {
            owner,
            spec: spec.clone(),
            enabled: true,
            hits: 0,
            ignore: spec.ignore,
            sites: Vec::new(),
            watchpoint: None,
            extent: None,
        };
        match &spec.kind {
            BreakpointKind::Watch { expression: of, read, write } => {
                let (typed_value, range) = self.extent_of(of)?;
                breakpoint.extent = Some((typed_value.clone(), range.clone()));
                let access = AccessKind { read: *read, write: *write, before: false };
                breakpoint.watchpoint =
                    Some(self.watch(typed_value, range, access, WatchReason::Breakpoint(id))?);
            }
            kind => {
                let addresses = self.addresses(kind)?;
                if let (Some(condition), Some(address)) = (&spec.condition, addresses.first()) {
                    self.check_names(condition, *address)?;
                }
                for address in addresses {
                    breakpoint.sites.push(self.site_at(address)?);
                }
                if breakpoint.sites.is_empty() {
                    return Err(TargetError::Request("the program has no such location".into()));
                }
            }
        }
        for site in &breakpoint.sites {
            self.add_trap_reason(*site, TrapReason::Breakpoint(id));
        }
        self.breakpoints.last = id.0;
        self.breakpoints.all.insert(id, breakpoint);
        Ok(id)
    }

    /// Addresses at which a breakpoint of this kind stops.
    fn addresses(&mut self, kind: &BreakpointKind) -> TargetResult<Vec<u64>> {
        let selected_line = self.selected_line();
        match kind {
            BreakpointKind::Location(name) => {
                let found =
                    linespec::resolve(&self.program, &self.clean_memory(), selected_line.as_ref(), name)
                        .map_err(location_error)?;
                Ok(found.addresses())
            }
            BreakpointKind::Return(name) => {
                match linespec::resolve(&self.program, &self.clean_memory(), selected_line.as_ref(), name)
                    .map_err(location_error)?
                {
                    ResolvedLocation::Functions(functions) => {
                        Ok(functions.iter().flat_map(|function| self.exits_of(function).returns).collect())
                    }
                    ResolvedLocation::Addresses(_) => {
                        Err(TargetError::Request(format!("`{name}` is not a function")))
                    }
                }
            }
            BreakpointKind::Watch { .. } => Ok(Vec::new()),
        }
    }

    /// Finds locations of existing breakpoints in newly loaded images.
    pub(crate) fn resolve_breakpoints(&mut self) {
        for id in self.breakpoints.all.keys().copied().collect::<Vec<_>>() {
            let kind = self.breakpoints.all[&id].spec.kind.clone();
            let addresses = self.addresses(&kind).unwrap_or_default();
            for address in addresses {
                let has_site = |breakpoint: &UserBreakpoint, target: &NativeTarget| {
                    breakpoint.sites.iter().any(|site| target.tracer.sites.get(*site).address == address)
                };
                if !has_site(&self.breakpoints.all[&id], self)
                    && let Ok(site) = self.site_at(address)
                {
                    if self.breakpoints.all[&id].enabled {
                        self.add_trap_reason(site, TrapReason::Breakpoint(id));
                    }
                    if let Some(breakpoint) = self.breakpoints.all.get_mut(&id) {
                        breakpoint.sites.push(site);
                    }
                }
            }
        }
    }

    /// Sets watchpoints again after exec. Those whose expression the new program does not have are listed without a
    /// location.
    pub(crate) fn rewatch_breakpoints(&mut self) -> TargetResult {
        for id in self.breakpoints.all.keys().copied().collect::<Vec<_>>() {
            let Some(breakpoint) = self.breakpoints.all.get(&id) else { continue };
            let BreakpointKind::Watch { expression: of, read, write } = breakpoint.spec.kind.clone() else {
                continue;
            };
            let enabled = breakpoint.enabled;
            let Ok((typed_value, range)) = self.extent_of(&of) else { continue };
            let access = AccessKind { read, write, before: false };
            let watchpoint = match enabled {
                true => Some(self.watch(
                    typed_value.clone(),
                    range.clone(),
                    access,
                    WatchReason::Breakpoint(id),
                )?),
                false => None,
            };
            if let Some(breakpoint) = self.breakpoints.all.get_mut(&id) {
                (breakpoint.watchpoint, breakpoint.extent) = (watchpoint, Some((typed_value, range)));
            }
        }
        Ok(())
    }

    pub(crate) fn remove_breakpoint(&mut self, id: BreakpointId) -> TargetResult {
        self.set_breakpoint_enabled(id, false)?;
        self.breakpoints.all.remove(&id);
        Ok(())
    }

    pub(crate) fn set_breakpoint_enabled(&mut self, id: BreakpointId, enabled: bool) -> TargetResult {
        let no_such_breakpoint = || TargetError::Request(format!("there is no breakpoint {}", id.0));
        let breakpoint = self.breakpoints.all.get_mut(&id).ok_or_else(no_such_breakpoint)?;
        if breakpoint.enabled == enabled {
            return Ok(());
        }
        breakpoint.enabled = enabled;
        let (sites, extent, watchpoint) =
            (breakpoint.sites.clone(), breakpoint.extent.clone(), breakpoint.watchpoint.take());
        let spec = breakpoint.spec.clone();
        for site in sites {
            if enabled {
                self.add_trap_reason(site, TrapReason::Breakpoint(id));
            } else {
                self.remove_trap_reason(site, TrapReason::Breakpoint(id));
            }
        }
        if let Some(watchpoint) = watchpoint {
            self.unwatch(watchpoint)?;
        }
        if let (true, Some((typed_value, range)), BreakpointKind::Watch { read, write, .. }) =
            (enabled, extent, &spec.kind)
        {
            self.check_mapped(&range)?;
            let access = AccessKind { read: *read, write: *write, before: false };
            let watchpoint = self.watch(typed_value, range, access, WatchReason::Breakpoint(id))?;
            if let Some(breakpoint) = self.breakpoints.all.get_mut(&id) {
                breakpoint.watchpoint = Some(watchpoint);
            }
        }
        Ok(())
    }

    /// Records that the call whose variable a watchpoint watches has returned.
    pub(crate) fn watch_ended(&mut self, id: BreakpointId) {
        if let Some(breakpoint) = self.breakpoints.all.get_mut(&id) {
            (breakpoint.watchpoint, breakpoint.extent) = (None, None);
        }
    }

    pub(crate) fn list_breakpoints(&self) -> Vec<Breakpoint> {
        let all = self.breakpoints.all.iter();
        all.map(|(id, breakpoint)| Breakpoint {
            id: *id,
            owner: breakpoint.owner,
            spec: breakpoint.spec.clone(),
            locations: self.locations_of(breakpoint),
            hits: breakpoint.hits,
            enabled: breakpoint.enabled,
        })
        .collect()
    }

    fn locations_of(&self, breakpoint: &UserBreakpoint) -> Vec<String> {
        let watched = breakpoint.extent.iter().map(|(_, range)| match range.end - range.start {
            1 => format!("1 byte at {:#x}", range.start),
            length => format!("{length} bytes at {:#x}", range.start),
        });
        let sites = breakpoint.sites.iter().map(|site| self.describe(self.tracer.sites.get(*site).address));
        let is_gone =
            matches!(breakpoint.spec.kind, BreakpointKind::Watch { .. }) && breakpoint.extent.is_none();
        let gone = is_gone.then(|| "none: the watched object no longer exists".to_owned());
        watched.chain(sites).chain(gone).collect()
    }

    /// Handles the breakpoints of one owner at a site.
    pub(crate) fn on_breakpoints_hit(
        &mut self,
        tid: Tid,
        site: SiteId,
        owner: Owner,
    ) -> TargetResult<Option<StopReason>> {
        let at_site = self.trap_reasons.at(site).iter().filter_map(|reason| match reason {
            TrapReason::Breakpoint(id) => Some(*id),
            _ => None,
        });
        let hit: Vec<BreakpointId> =
            at_site.filter(|id| self.breakpoints.owner(*id) == Some(owner)).collect();
        self.count_hits(tid, hit, owner)
    }

    /// Counts hits of breakpoints of one owner, and reports those that are not ignored.
    pub(crate) fn count_hits(
        &mut self,
        tid: Tid,
        hit: Vec<BreakpointId>,
        owner: Owner,
    ) -> TargetResult<Option<StopReason>> {
        let mut reported = Vec::new();
        for id in hit {
            if !self.condition_holds(tid, id) {
                continue;
            }
            let Some(breakpoint) = self.breakpoints.all.get_mut(&id) else { continue };
            breakpoint.hits += 1;
            if breakpoint.ignore > 0 {
                breakpoint.ignore -= 1;
                continue;
            }
            reported.push(id);
        }
        for id in &reported {
            if self.breakpoints.all.get(id).is_some_and(|breakpoint| breakpoint.spec.once) {
                self.remove_breakpoint(*id)?;
            }
        }
        if reported.is_empty() {
            return Ok(None);
        }
        self.current = tid;
        let stop = StopReason::Breakpoints { owner, breakpoints: reported };
        if owner == Owner::User { self.stop_for_user(stop).map(Some) } else { Ok(Some(stop)) }
    }

    /// A condition that cannot be evaluated counts as true, so the user notices.
    fn condition_holds(&mut self, tid: Tid, id: BreakpointId) -> bool {
        let condition =
            self.breakpoints.all.get(&id).and_then(|breakpoint| breakpoint.spec.condition.clone());
        let Some(condition) = condition else { return true };
        self.current = tid;
        self.frame = 0;
        self.evaluates_to_true(&condition).unwrap_or(true)
    }
}
