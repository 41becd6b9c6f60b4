//! Resolves event declarations to sites in the target.

use super::params::{compile, form, is_argument, is_behind_argument, wanted};
use super::{EventPlan, EventSite, SiteRole, Trigger, system_params};
use crate::displaced_step;
use crate::linespec;
use crate::native_target::NativeTarget;
use crate::site_users::TrapReason;
use crate::watchpoints::{self, AccessKind};
use invigil_debuginfo::program::Function;
use invigil_debuginfo::value::{
    Expression, ExpressionError, Extractor, RegisterNeeds, ScalarKind, Scope, ValueRequest,
};
use invigil_monitor::event::{EventCatalog, EventKind, EventSet, ParamSource, ParamType};
use invigil_session::target::{TargetError, TargetResult, UnresolvedEvent};
use std::sync::Arc;

/// Registers in which integer arguments are passed.
const REGISTERS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];

impl NativeTarget {
    /// Creates the plans for a catalog and resolves them. Returns what could not be resolved.
    pub(crate) fn plan(&mut self, catalog: &EventCatalog) -> TargetResult<Vec<UnresolvedEvent>> {
        self.forget_plans()?;
        let mut unknown = Vec::new();
        for (event, written) in catalog.iter() {
            let trigger = self.trigger_of(&written.name, written.kind).unwrap_or_else(|error| {
                let help = String::new();
                let reason = error.to_string();
                unknown.push(UnresolvedEvent { event, param: None, reason, help, pending: false });
                Trigger::System
            });
            self.plans.all.push(EventPlan {
                event,
                name: written.name.clone(),
                params: written.params.clone(),
                trigger,
                sites: Vec::new(),
                resolved: Vec::new(),
                active: false,
                watcher: None,
            });
        }
        for index in 0..self.plans.all.len() {
            let found = self.resolve(index)?;
            unknown.extend(found);
        }
        Ok(unknown)
    }

    fn forget_plans(&mut self) -> TargetResult {
        self.instrument(&EventSet::default())?;
        for (number, plan) in (0..).zip(std::mem::take(&mut self.plans.all)) {
            for (at, event_site) in (0..).zip(plan.sites) {
                self.site_users.remove(event_site.site, TrapReason::Event { plan: number, event_site: at });
            }
        }
        Ok(())
    }

    fn trigger_of(&self, name: &str, kind: EventKind) -> TargetResult<Trigger> {
        if name.starts_with('#') {
            return Ok(Trigger::System);
        }
        if let Some(call) = name.strip_prefix("syscall:") {
            let number = call.parse::<syscalls::Sysno>().map(|number| number.id().into());
            let number =
                number.map_err(|()| TargetError::Request(format!("there is no system call `{call}`")))?;
            return Ok(Trigger::Syscall { number, after: kind == EventKind::After });
        }
        let access = |read, write, before| Trigger::Access(AccessKind { read, write, before });
        Ok(match kind {
            EventKind::After => Trigger::Exit,
            EventKind::Read => access(true, false, false),
            EventKind::Write => access(false, true, false),
            EventKind::Access => access(true, true, false),
            EventKind::BeforeRead => access(true, false, true),
            EventKind::BeforeWrite => access(false, true, true),
            EventKind::BeforeAccess => access(true, true, true),
            _ => Trigger::Location,
        })
    }

    /// Resolves events again after images were loaded.
    pub(crate) fn resolve_plans(&mut self) -> TargetResult {
        for index in 0..self.plans.all.len() {
            self.resolve(index)?;
        }
        self.rewatch_events()
    }

    /// Finds sites of an event that are not known yet.
    fn resolve(&mut self, index: usize) -> TargetResult<Vec<UnresolvedEvent>> {
        let plan = &self.plans.all[index];
        let (event, name) = (plan.event, plan.name.clone());
        let mut unknown = Vec::new();
        let not_found = |reason: String, help: String, pending| UnresolvedEvent {
            event,
            param: None,
            reason,
            help,
            pending,
        };
        match &plan.trigger {
            Trigger::Location | Trigger::Exit => {
                let is_exit = plan.trigger == Trigger::Exit;
                match linespec::resolve(&self.program, &self.clean_memory(), None, &name) {
                    Ok(linespec::ResolvedLocation::Functions(functions)) => {
                        for function in functions {
                            if is_exit {
                                self.add_exits(index, &function, &mut unknown)?;
                            } else {
                                self.add_entries(index, &function, &mut unknown)?;
                            }
                        }
                    }
                    Ok(linespec::ResolvedLocation::Addresses(addresses)) if !is_exit => {
                        for address in addresses {
                            self.add_site(index, address, None, SiteRole::Event, &mut unknown)?;
                        }
                    }
                    Ok(linespec::ResolvedLocation::Addresses(_)) => {
                        let help = "write `event` without `after`".to_owned();
                        unknown.push(not_found(
                            format!("`{name}` is not a function: it does not return"),
                            help,
                            false,
                        ));
                    }
                    Err(_) if !plan.resolved.is_empty() => {}
                    Err(missing) => {
                        let pending = self.plans.expects_libraries;
                        let help = match missing.help {
                            help if help.is_empty() && missing.may_load_later => {
                                "if a library that is loaded later defines it, use `--later`".to_owned()
                            }
                            help => help,
                        };
                        unknown.push(not_found(missing.reason, help, pending));
                    }
                }
            }
            Trigger::Access(_) => {
                if let Some(mistake) = self.check_variable(&name) {
                    let help = mistake.remedy.unwrap_or_default();
                    unknown.push(not_found(mistake.message, help, self.plans.expects_libraries));
                }
            }
            Trigger::Syscall { .. } | Trigger::System => unknown.extend(system_params::unresolved(plan)),
        }
        Ok(unknown)
    }

    /// Checks the name of a variable, which may be global or belong to a function that some event is about.
    fn check_variable(&self, text: &str) -> Option<ExpressionError> {
        let parsed = match Expression::parse(text) {
            Ok(parsed) => parsed,
            Err(mistake) => return Some(mistake),
        };
        let view = self.clean_memory();
        let scope = Scope::new(&self.program, &self.types, &view, &[], 0);
        let mistake = match scope.evaluate(&parsed) {
            Ok(datum) => {
                let (start, length) = scope.extent(&datum)?;
                let message = watchpoints::watchable_range(start, length).err()?.to_string();
                return Some(ExpressionError { at: 0, message, remedy: None });
            }
            Err(mistake) => mistake,
        };
        let form = ValueRequest::Expression(parsed);
        let functions = self.plans.all.iter().flat_map(|plan| self.program.functions(&plan.name));
        let known = functions.into_iter().any(|function| {
            let at = function.prologue_end.or(function.entry).unwrap_or(0);
            compile(&self.program, &self.types, Some(&function), at, &form, ScalarKind::Any).is_ok()
        });
        (!known).then_some(mistake)
    }

    fn add_entries(
        &mut self,
        index: usize,
        function: &Function,
        unknown: &mut Vec<UnresolvedEvent>,
    ) -> TargetResult {
        let entries = function.entry.into_iter().chain(function.inlined.iter().map(|copy| copy.entry));
        for address in entries.collect::<Vec<_>>() {
            self.add_site(index, address, Some(function), SiteRole::Event, unknown)?;
        }
        Ok(())
    }

    /// Adds the exits of a function: each `ret`, and each tail call, which ends at the return site of the other
    /// function.
    fn add_exits(
        &mut self,
        index: usize,
        function: &Function,
        unknown: &mut Vec<UnresolvedEvent>,
    ) -> TargetResult {
        let Some(entry) = function.entry else {
            let (event, name) = (self.plans.all[index].event, &function.name);
            let reason = format!("`{name}` is always inlined: it has no return instruction");
            let help = "compile it with `__attribute__((noinline))`, or use its entry event".to_owned();
            unknown.push(UnresolvedEvent { event, param: None, reason, help, pending: false });
            return Ok(());
        };
        if self.plans.all[index].resolved.contains(&entry) {
            return Ok(());
        }
        let function = &self.with_cold_part(function);
        let exits = self.exits_of(function);
        let mut missing = Vec::new();
        for address in &exits.returns {
            self.add_site(index, *address, Some(function), SiteRole::Event, &mut missing)?;
        }
        for address in &exits.tail_calls {
            self.add_site(index, *address, Some(function), SiteRole::TailCall, &mut missing)?;
        }
        let plan = &mut self.plans.all[index];
        plan.resolved.push(entry);
        // Values that cannot be read at the exit, or only if a caller still has them, are noted at the entry.
        let unread = plan.sites.iter().any(|event_site| {
            let reads = event_site.reads.iter().zip(&plan.params);
            let mut reads = reads.filter(|(_, param)| param.source != ParamSource::Ret);
            reads.any(|(read, param)| match read {
                // What an argument points to at the exit cannot be read at a tail call.
                _ if event_site.role == SiteRole::TailCall && is_behind_argument(&param.source) => true,
                Some(read) => !read.is_available() || !read.is_fast(),
                None => is_argument(&param.source),
            })
        });
        if unread || !missing.is_empty() {
            let before = unknown.len();
            self.add_site(index, entry, Some(function), SiteRole::Entry, unknown)?;
            // A name that is unknown at both sites is reported once.
            if unknown.len() > before {
                unknown.truncate(before);
                unknown.extend(missing);
            }
        }
        unknown.dedup();
        Ok(())
    }

    /// Adds a function's cold part. Debug information names it; without that, the symbol's name tells.
    fn with_cold_part(&self, function: &Function) -> Function {
        let mut whole = function.clone();
        let name = function.linkage_name.as_ref().unwrap_or(&function.name);
        if !function.has_debug
            && let Some(cold) = self.program.symbol(&format!("{name}.cold"))
            && Arc::ptr_eq(&cold.image, &function.mapped.image)
        {
            whole.ranges.push(cold.address..cold.address + cold.size);
        }
        whole
    }

    /// Adds a site, with the values to read there.
    fn add_site(
        &mut self,
        index: usize,
        address: u64,
        function: Option<&Function>,
        role: SiteRole,
        unknown: &mut Vec<UnresolvedEvent>,
    ) -> TargetResult {
        let plan = &self.plans.all[index];
        let event = plan.event;
        let is_known = plan.sites.iter().any(|event_site| {
            event_site.role == role && self.tracer.sites.get(event_site.site).address == address
        });
        if is_known {
            return Ok(());
        }
        let mut reads = Vec::new();
        let mut needs = if role == SiteRole::Event { RegisterNeeds::Nothing } else { RegisterNeeds::General };
        let is_end = plan.trigger == Trigger::Exit && role != SiteRole::Entry;
        let by_convention = is_end && function.is_some_and(|function| !function.has_debug);
        for (position, param) in plan.params.iter().enumerate() {
            let read = match form(&param.source) {
                None => None,
                // The return value is not known at the entry.
                Some(Ok(ValueRequest::Returned)) if role == SiteRole::Entry => None,
                // Without debug information, arguments are where they were passed, and only at the entry.
                Some(Ok(_)) if by_convention && is_argument(&param.source) => None,
                Some(form) => match self.extractor(function, address, (&param.source, form), param.ty) {
                    // An argument by number is the passed value; at the exit, only callers may still have it.
                    Ok(extractor) if is_end && is_argument(&param.source) && !extractor.is_fast() => None,
                    Ok(extractor) => Some(extractor),
                    Err(mistake) => {
                        let reason = format!("the parameter `{}`: {}", param.source, mistake.message);
                        let help = match function {
                            Some(function) if !function.has_debug => format!(
                                "`{}` has no debug information: compile it with `-g`, or write `arg 1`",
                                function.name
                            ),
                            _ => mistake.remedy.unwrap_or_default(),
                        };
                        let (event, param) = (plan.event, Some(position));
                        let problem = UnresolvedEvent { event, param, reason, help, pending: false };
                        if !unknown.contains(&problem) {
                            unknown.push(problem);
                        }
                        None
                    }
                },
            };
            if let Some(read) = &read {
                needs = needs.max(read.needs());
            }
            reads.push(read);
        }
        // The noted entry is found by the stack pointer.
        if plan.trigger == Trigger::Exit {
            needs = needs.max(RegisterNeeds::General);
        }
        let jump = (role == SiteRole::TailCall).then(|| {
            let mut code = [0; 15];
            let read = self.tracer.memory.read_some(address, &mut code);
            self.tracer.sites.mask_traps(address, &mut code[..read]);
            let ranges = function.map(|function| function.ranges.clone()).unwrap_or_default();
            (displaced_step::decode(&code[..read], address), ranges)
        });
        let site = match self.site_at(address) {
            Ok(site) => site,
            // A site that cannot carry a trap does not affect the others.
            Err(TargetError::Request(reason)) => {
                let (event, help) = (event, String::new());
                unknown.push(UnresolvedEvent { event, param: None, reason, help, pending: false });
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let plan = &mut self.plans.all[index];
        let event_site = plan.sites.len() as u32;
        plan.sites.push(EventSite { site, role, reads, needs, jump });
        if role == SiteRole::Event && plan.trigger == Trigger::Location {
            plan.resolved.push(address);
        }
        let active = plan.active;
        self.site_users.add(site, TrapReason::Event { plan: index as u32, event_site });
        if active {
            self.tracer.sites.add_trap_ref(&self.tracer.memory, site);
        }
        Ok(())
    }

    fn extractor(
        &self,
        function: Option<&Function>,
        address: u64,
        (source, form): (&ParamSource, Result<ValueRequest, ExpressionError>),
        ty: Option<ParamType>,
    ) -> Result<Extractor, ExpressionError> {
        // Without debug information, only the user's declaration says what an argument is.
        let by_convention = match (source, ty) {
            _ if function.is_none_or(|function| function.has_debug) => None,
            (ParamSource::Arg(i), Some(ParamType::Str)) => Some((*i, "(char *) $")),
            (ParamSource::Deref(of), ty) => match (&**of, ty) {
                (ParamSource::Arg(i), Some(ParamType::Str)) => Some((*i, "*(char **) $")),
                (ParamSource::Arg(i), _) => Some((*i, "*(long *) $")),
                _ => None,
            },
            _ => None,
        };
        let register = |i: u32| REGISTERS.get((i as usize).wrapping_sub(1));
        let form = match by_convention.and_then(|(i, before)| Some((before, register(i)?))) {
            Some((before, register)) => {
                ValueRequest::Expression(Expression::parse(&format!("{before}{register}"))?)
            }
            None => form?,
        };
        compile(&self.program, &self.types, function, address, &form, wanted(ty))
    }
}
