//! The breakpoints of the user and the scenarios.

use crate::target::JavaTarget;
use invigil_jvm_agent::protocol::{
    Answer, CodeLocation, Request, SubscriptionId, Trigger, ValueRequest, ValueSource, ValueType, WireValue,
};
use invigil_target::{
    Breakpoint, BreakpointId, BreakpointKind, BreakpointSpec, Owner, StopReason, TargetError, TargetResult,
};
use std::collections::BTreeMap;

/// The number of the breakpoint that `until` sets.
pub(crate) const UNTIL: u32 = u32::MAX;

/// A breakpoint with its settings and hits.
struct BreakpointEntry {
    owner: Owner,
    spec: BreakpointSpec,
    enabled: bool,
    hits: u64,
    /// Number of further hits that are ignored.
    ignore: u64,
    /// The location as sent to the agent: a qualified method or a line.
    qualified_name: String,
    /// Its locations as text; empty until a class that has it is loaded.
    locations: Vec<String>,
}

/// The breakpoints by id.
#[derive(Default)]
pub(crate) struct BreakpointTable {
    all: BTreeMap<BreakpointId, BreakpointEntry>,
    last: u32,
    /// Whether `until` has set its breakpoint.
    has_until: bool,
}

impl BreakpointTable {
    /// The owner of a breakpoint, if it is enabled.
    pub(crate) fn owner(&self, id: BreakpointId) -> Option<Owner> {
        self.all.get(&id).filter(|entry| entry.enabled).map(|entry| entry.owner)
    }
}

/// Whether a name is a line: `Queue.java:12`.
fn is_line(name: &str) -> bool {
    name.rsplit_once(':').is_some_and(|(file, line)| file.ends_with(".java") && line.parse::<u32>().is_ok())
}

/// A location as text.
pub(crate) fn location_text(location: &CodeLocation) -> String {
    match location.line {
        0 => format!("{}.{}", location.class, location.method),
        line => format!("{}.{} ({}:{line})", location.class, location.method, location.file),
    }
}

impl JavaTarget {
    pub(crate) fn add_breakpoint(
        &mut self,
        owner: Owner,
        spec: &BreakpointSpec,
    ) -> TargetResult<BreakpointId> {
        let id = BreakpointId(self.breakpoints.last + 1);
        let (name, locations) = self.set_in_agent(
            SubscriptionId::Breakpoint { number: id.0 },
            &spec.kind,
            spec.condition.as_deref(),
        )?;
        let spec = spec.clone();
        let entry = BreakpointEntry {
            owner,
            enabled: true,
            hits: 0,
            ignore: spec.ignore,
            spec,
            qualified_name: name,
            locations,
        };
        self.breakpoints.last = id.0;
        self.breakpoints.all.insert(id, entry);
        Ok(id)
    }

    /// Sets a breakpoint in the agent. Returns its qualified name, and its locations as text.
    fn set_in_agent(
        &mut self,
        id: SubscriptionId,
        kind: &BreakpointKind,
        condition: Option<&str>,
    ) -> TargetResult<(String, Vec<String>)> {
        let (trigger, name) = match kind {
            BreakpointKind::Location(name) if name.trim().starts_with('*') => {
                return Err(TargetError::Request(
                    "Java programs have no addresses: name a method or a line".to_owned(),
                ));
            }
            BreakpointKind::Location(name) => match name.trim().parse::<u32>() {
                Ok(line) => (Trigger::Line, format!("{}:{line}", self.current_file()?)),
                // Class files have the names of their source files, but not their directories.
                Err(_) if is_line(name) => {
                    (Trigger::Line, name.rsplit('/').next().unwrap_or_default().to_owned())
                }
                Err(_) => (Trigger::Enter, self.qualified_name(name)),
            },
            BreakpointKind::Return(name) => (Trigger::Return, self.qualified_name(name)),
            BreakpointKind::Watch { expression, read: false, write: true } => {
                let field = expression.strip_prefix("this.").unwrap_or(expression);
                (Trigger::Write, self.qualified_name(field))
            }
            BreakpointKind::Watch { expression, .. } => {
                return Err(TargetError::Request(format!(
                    "reads of `{expression}` cannot be watched in a Java program; `watch {expression}` stops at writes"
                )));
            }
        };
        let condition = condition.map(|text| ValueRequest {
            source: ValueSource::Expression { text: text.to_owned() },
            ty: Some(ValueType::Bool),
        });
        let subscription = self.subscription(id, trigger, &name, condition.into_iter().collect());
        let locations = match self.request(&Request::SetBreakpoint { subscription })? {
            Answer::Locations { locations } => locations.iter().map(location_text).collect(),
            Answer::Errors { errors } => {
                if let Some(error) = errors.iter().find(|error| !error.pending) {
                    let help =
                        if error.help.is_empty() { String::new() } else { format!("; {}", error.help) };
                    return Err(TargetError::Request(format!("{}{help}", error.reason)));
                }
                self.locations_of(&name)
            }
            _ => Vec::new(),
        };
        Ok((name, locations))
    }

    /// The locations of a name in the loaded classes, as text.
    fn locations_of(&mut self, name: &str) -> Vec<String> {
        match self.request(&Request::FindLocation { name: name.to_owned() }) {
            Ok(Answer::Locations { locations }) => locations.iter().map(location_text).collect(),
            _ => Vec::new(),
        }
    }

    /// Qualifies a name without a class with the class of the selected frame's method.
    fn qualified_name(&mut self, name: &str) -> String {
        let name = name.trim();
        let path = name.split('(').next().unwrap_or_default();
        if path.contains('.') {
            return name.to_owned();
        }
        let depth = self.frame;
        match self.current_frames(depth + 1).ok().and_then(|frames| frames.into_iter().nth(depth)) {
            Some(frame) => format!("{}.{name}", frame.location.class),
            None => name.to_owned(),
        }
    }

    fn current_file(&mut self) -> TargetResult<String> {
        let depth = self.frame;
        let frame = self.current_frames(depth + 1)?.into_iter().nth(depth);
        match frame.map(|frame| frame.location.file) {
            Some(file) if !file.is_empty() => Ok(file),
            _ => Err(TargetError::Request(
                "the current file is unknown: name it as in `Queue.java:12`".to_owned(),
            )),
        }
    }

    pub(crate) fn drop_breakpoint(&mut self, id: BreakpointId) -> TargetResult {
        if self.breakpoints.all.remove(&id).is_none() {
            return Err(TargetError::Request(format!("there is no breakpoint {}", id.0)));
        }
        match self.request(&Request::RemoveBreakpoint { number: id.0 }) {
            // A program that has ended has no breakpoints.
            Ok(_) | Err(TargetError::Ended(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn set_breakpoint_enabled(&mut self, id: BreakpointId, enabled: bool) -> TargetResult {
        let Some(entry) = self.breakpoints.all.get_mut(&id) else {
            return Err(TargetError::Request(format!("there is no breakpoint {}", id.0)));
        };
        entry.enabled = enabled;
        match self.request(&Request::EnableBreakpoint { number: id.0, enabled }) {
            Ok(_) | Err(TargetError::Ended(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn list_breakpoints(&mut self) -> Vec<Breakpoint> {
        // Classes may have been loaded in the meantime.
        let unresolved: Vec<(BreakpointId, String)> = self
            .breakpoints
            .all
            .iter()
            .filter(|(_, entry)| entry.locations.is_empty())
            .map(|(id, entry)| (*id, entry.qualified_name.clone()))
            .collect();
        for (id, name) in unresolved {
            let locations = self.locations_of(&name);
            if let Some(entry) = self.breakpoints.all.get_mut(&id) {
                entry.locations = locations;
            }
        }
        let all = self.breakpoints.all.iter().map(|(id, entry)| Breakpoint {
            id: *id,
            owner: entry.owner,
            spec: entry.spec.clone(),
            locations: entry.locations.clone(),
            hits: entry.hits,
            enabled: entry.enabled,
        });
        all.collect()
    }

    /// Counts the hits of an owner's breakpoints at this stop and removes those that stop only once. Returns the stop
    /// reason, if the owner is to be notified.
    pub(crate) fn process_hits(&mut self, owner: Owner) -> TargetResult<Option<StopReason>> {
        let Some(stopped) = &self.stopped_thread else { return Ok(None) };
        let (mut hit_breakpoints, mut once, mut is_until_hit) = (Vec::new(), Vec::new(), false);
        for hit in &stopped.notifications {
            let SubscriptionId::Breakpoint { number } = hit.id else { continue };
            is_until_hit |= number == UNTIL && owner == Owner::User;
            let id = BreakpointId(number);
            let Some(entry) =
                self.breakpoints.all.get_mut(&id).filter(|entry| entry.owner == owner && entry.enabled)
            else {
                continue;
            };
            if entry.spec.condition.is_some()
                && hit.values.first() != Some(&(WireValue::Bool { value: true }))
            {
                continue;
            }
            entry.hits += 1;
            if entry.ignore > 0 {
                entry.ignore -= 1;
                continue;
            }
            if entry.spec.once {
                once.push(id);
            }
            hit_breakpoints.push(id);
        }
        for id in once {
            self.drop_breakpoint(id)?;
        }
        Ok(match (hit_breakpoints.is_empty(), is_until_hit) {
            (false, _) => Some(StopReason::Breakpoints { owner, breakpoints: hit_breakpoints }),
            (true, true) => Some(StopReason::Stepped { returned: None }),
            (true, false) => None,
        })
    }

    /// Sets the breakpoint of `until`.
    pub(crate) fn set_until(&mut self, location: &str) -> TargetResult {
        self.set_in_agent(
            SubscriptionId::Breakpoint { number: UNTIL },
            &BreakpointKind::Location(location.to_owned()),
            None,
        )?;
        self.breakpoints.has_until = true;
        Ok(())
    }

    pub(crate) fn remove_until(&mut self) -> TargetResult {
        if std::mem::take(&mut self.breakpoints.has_until) {
            self.request(&Request::RemoveBreakpoint { number: UNTIL })?;
        }
        Ok(())
    }
}
