//! The points of the developer and the scenario.

use crate::place::{self, Found};
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::target::Target;
use crate::uses::Use;
use crate::watch::{Access, Reason, Watcher};
use invigil_debuginfo::value::Datum;
use invigil_session::subject::{Done, Owner, Point, PointId, PointSpec, Stop, Trouble, What};
use std::collections::BTreeMap;
use std::ops::Range;

struct Set {
    owner: Owner,
    spec: PointSpec,
    enabled: bool,
    hits: u64,
    /// How many more hits are passed over.
    ignore: u64,
    sites: Vec<SiteId>,
    watcher: Option<Watcher>,
    /// What it watches.
    extent: Option<(Datum, Range<u64>)>,
}

/// The points that are set.
#[derive(Default)]
pub(crate) struct Points {
    all: BTreeMap<PointId, Set>,
    last: u32,
}

impl Points {
    /// Whose a point is, if it is on.
    #[inline]
    pub(crate) fn owner(&self, id: PointId) -> Option<Owner> {
        self.all.get(&id).filter(|point| point.enabled).map(|point| point.owner)
    }

    /// The code at this place was taken away.
    pub(crate) fn forget_site(&mut self, site: SiteId) {
        self.all.values_mut().for_each(|point| point.sites.retain(|known| *known != site));
    }

    /// The code was replaced.
    pub(crate) fn forget_places(&mut self) {
        for point in self.all.values_mut() {
            point.sites.clear();
            (point.watcher, point.extent) = (None, None);
        }
    }
}

fn missing(missing: place::Missing) -> Trouble {
    Trouble::Request(missing.words())
}

impl Target {
    pub(crate) fn set_point(&mut self, owner: Owner, spec: &PointSpec) -> Done<PointId> {
        self.engine.hold()?;
        if let Some(condition) = &spec.condition {
            self.check_expression(condition)?;
        }
        let id = PointId(self.points.last + 1);
        let mut set = Set {
            owner,
            spec: spec.clone(),
            enabled: true,
            hits: 0,
            ignore: spec.ignore,
            sites: Vec::new(),
            watcher: None,
            extent: None,
        };
        match &spec.what {
            What::Access { of, read, write } => {
                let (datum, range) = self.extent_of(of)?;
                set.extent = Some((datum.clone(), range.clone()));
                let access = Access { read: *read, write: *write, before: false };
                set.watcher = Some(self.watch(datum, range, access, Reason::Point(id))?);
            }
            what => {
                let addresses = self.addresses(what)?;
                if let (Some(condition), Some(address)) = (&spec.condition, addresses.first()) {
                    self.check_names(condition, *address)?;
                }
                for address in addresses {
                    set.sites.push(self.site(address)?);
                }
                if set.sites.is_empty() {
                    return Err(Trouble::Request("the program has no such place".into()));
                }
            }
        }
        for site in &set.sites {
            self.add_use(*site, Use::Point(id));
        }
        self.points.last = id.0;
        self.points.all.insert(id, set);
        Ok(id)
    }

    /// The addresses of what a point waits for.
    fn addresses(&mut self, what: &What) -> Done<Vec<u64>> {
        let here = self.here();
        match what {
            What::Reach(name) => {
                let found = place::find(&self.program, &self.view(), here.as_ref(), name).map_err(missing)?;
                Ok(found.addresses())
            }
            What::Leave(name) => {
                match place::find(&self.program, &self.view(), here.as_ref(), name).map_err(missing)? {
                    Found::Functions(functions) => {
                        Ok(functions.iter().flat_map(|function| self.exits_of(function).returns).collect())
                    }
                    Found::Addresses(_) => Err(Trouble::Request(format!("`{name}` is no function"))),
                }
            }
            What::Access { .. } => Ok(Vec::new()),
        }
    }

    /// New images may have places for points that are set.
    pub(crate) fn resolve_points(&mut self) {
        for id in self.points.all.keys().copied().collect::<Vec<_>>() {
            let what = self.points.all[&id].spec.what.clone();
            let addresses = self.addresses(&what).unwrap_or_default();
            for address in addresses {
                let known = |set: &Set, target: &Target| {
                    set.sites.iter().any(|site| target.engine.sites.get(*site).address == address)
                };
                if !known(&self.points.all[&id], self)
                    && let Ok(site) = self.site(address)
                {
                    if self.points.all[&id].enabled {
                        self.add_use(site, Use::Point(id));
                    }
                    if let Some(set) = self.points.all.get_mut(&id) {
                        set.sites.push(site);
                    }
                }
            }
        }
    }

    /// The program became another one: what is watched is looked for there. What it does not have is not
    /// watched any more, which the list of points says.
    pub(crate) fn rewatch_points(&mut self) -> Done {
        for id in self.points.all.keys().copied().collect::<Vec<_>>() {
            let Some(set) = self.points.all.get(&id) else { continue };
            let What::Access { of, read, write } = set.spec.what.clone() else { continue };
            let enabled = set.enabled;
            let Ok((datum, range)) = self.extent_of(&of) else { continue };
            let access = Access { read, write, before: false };
            let watcher = match enabled {
                true => Some(self.watch(datum.clone(), range.clone(), access, Reason::Point(id))?),
                false => None,
            };
            if let Some(set) = self.points.all.get_mut(&id) {
                (set.watcher, set.extent) = (watcher, Some((datum, range)));
            }
        }
        Ok(())
    }

    pub(crate) fn remove_point(&mut self, id: PointId) -> Done {
        self.enable_point(id, false)?;
        self.points.all.remove(&id);
        Ok(())
    }

    pub(crate) fn enable_point(&mut self, id: PointId, enabled: bool) -> Done {
        let no_point = || Trouble::Request(format!("there is no point {}", id.0));
        let set = self.points.all.get_mut(&id).ok_or_else(no_point)?;
        if set.enabled == enabled {
            return Ok(());
        }
        set.enabled = enabled;
        let (sites, extent, watcher) = (set.sites.clone(), set.extent.clone(), set.watcher.take());
        let spec = set.spec.clone();
        for site in sites {
            if enabled {
                self.add_use(site, Use::Point(id));
            } else {
                self.remove_use(site, Use::Point(id));
            }
        }
        if let Some(watcher) = watcher {
            self.unwatch(watcher)?;
        }
        if let (true, Some((datum, range)), What::Access { read, write, .. }) = (enabled, extent, &spec.what)
        {
            self.check_mapped(&range)?;
            let access = Access { read: *read, write: *write, before: false };
            let watcher = self.watch(datum, range, access, Reason::Point(id))?;
            if let Some(set) = self.points.all.get_mut(&id) {
                set.watcher = Some(watcher);
            }
        }
        Ok(())
    }

    /// The call is over whose variable a point watches.
    pub(crate) fn watch_over(&mut self, id: PointId) {
        if let Some(set) = self.points.all.get_mut(&id) {
            (set.watcher, set.extent) = (None, None);
        }
    }

    pub(crate) fn list_points(&self) -> Vec<Point> {
        let all = self.points.all.iter();
        all.map(|(id, set)| Point {
            id: *id,
            owner: set.owner,
            spec: set.spec.clone(),
            places: self.places_of(set),
            hits: set.hits,
            enabled: set.enabled,
        })
        .collect()
    }

    fn places_of(&self, set: &Set) -> Vec<String> {
        let watched = set.extent.iter().map(|(_, range)| match range.end - range.start {
            1 => format!("1 byte at {:#x}", range.start),
            length => format!("{length} bytes at {:#x}", range.start),
        });
        let sites = set.sites.iter().map(|site| self.describe(self.engine.sites.get(*site).address));
        let is_lost = matches!(set.spec.what, What::Access { .. }) && set.extent.is_none();
        let lost = is_lost.then(|| "nowhere: what it watched is no longer there".to_owned());
        watched.chain(sites).chain(lost).collect()
    }

    /// Whether points of an owner at a place count now; those that do are told.
    pub(crate) fn points_hit(&mut self, tid: Tid, site: SiteId, owner: Owner) -> Done<Option<Stop>> {
        let here = self.uses.at(site).iter().filter_map(|reason| match reason {
            Use::Point(id) => Some(*id),
            _ => None,
        });
        let due: Vec<PointId> = here.filter(|id| self.points.owner(*id) == Some(owner)).collect();
        self.count(tid, due, owner)
    }

    /// Counts hits of points of one owner; those that are not passed over are told.
    pub(crate) fn count(&mut self, tid: Tid, due: Vec<PointId>, owner: Owner) -> Done<Option<Stop>> {
        let mut told = Vec::new();
        for id in due {
            if !self.condition_holds(tid, id) {
                continue;
            }
            let Some(set) = self.points.all.get_mut(&id) else { continue };
            set.hits += 1;
            if set.ignore > 0 {
                set.ignore -= 1;
                continue;
            }
            told.push(id);
        }
        for id in &told {
            if self.points.all.get(id).is_some_and(|set| set.spec.once) {
                self.remove_point(*id)?;
            }
        }
        if told.is_empty() {
            return Ok(None);
        }
        self.current = tid;
        let stop = Stop::Points { owner, points: told };
        if owner == Owner::Developer { self.tell(stop).map(Some) } else { Ok(Some(stop)) }
    }

    /// A condition that cannot be evaluated counts: the developer will want to know.
    fn condition_holds(&mut self, tid: Tid, id: PointId) -> bool {
        let condition = self.points.all.get(&id).and_then(|set| set.spec.condition.clone());
        let Some(condition) = condition else { return true };
        self.current = tid;
        self.frame = 0;
        self.is_true(&condition).unwrap_or(true)
    }
}
