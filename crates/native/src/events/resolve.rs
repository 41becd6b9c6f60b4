//! Resolves event declarations to sites in the target.

use super::params::{compile, is_argument, is_pointee_of_argument, scalar_kind, value_request};
use super::{EventPlan, EventSite, SiteRole, Trigger, predefined_params};
use crate::displaced_step;
use crate::linespec;
use crate::native_target::NativeTarget;
use crate::trap_reasons::TrapReason;
use crate::watchpoints::{self, AccessKind};
use invigil_debuginfo::program::Function;
use invigil_debuginfo::value::{
    Expression, ExpressionError, Extractor, RegisterNeeds, ScalarKind, Scope, ValueRequest,
};
use invigil_monitor::event::{EventCatalog, EventKind, EventSet, ParamSource, ParamType};
use invigil_monitor::predefined_event::PredefinedEvent;
use invigil_target::{TargetError, TargetResult, UnresolvedEvent};
use std::sync::Arc;

/// Names of the registers in which integer arguments are passed.
const ARGUMENT_REGISTERS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];

impl NativeTarget {
    /// Creates the plans for a catalog and resolves them. Returns what could not be resolved.
    pub(crate) fn plan_events(&mut self, catalog: &EventCatalog) -> TargetResult<Vec<UnresolvedEvent>> {
        self.forget_plans()?;
        let mut unresolved = Vec::new();
        for (event, decl) in catalog.iter() {
            let trigger = self.trigger_of(&decl.name, decl.kind).unwrap_or_else(|error| {
                let help = String::new();
                let reason = error.to_string();
                unresolved.push(UnresolvedEvent { event, param: None, reason, help, pending: false });
                Trigger::WithoutSite
            });
            self.plans.all.push(EventPlan {
                event,
                name: decl.name.clone(),
                params: decl.params.clone(),
                trigger,
                sites: Vec::new(),
                resolved: Vec::new(),
                active: false,
                watchpoint: None,
            });
        }
        for index in 0..self.plans.all.len() {
            unresolved.extend(self.resolve(index)?);
        }
        Ok(unresolved)
    }

    /// Removes all plans and their traps.
    fn forget_plans(&mut self) -> TargetResult {
        self.instrument(&EventSet::default())?;
        for (number, plan) in (0..).zip(std::mem::take(&mut self.plans.all)) {
            for (index, event_site) in (0..).zip(plan.sites) {
                self.trap_reasons
                    .remove(event_site.site, TrapReason::Event { plan_index: number, site_index: index });
            }
        }
        Ok(())
    }

    /// Determines what triggers an event, by its name and kind.
    fn trigger_of(&self, name: &str, kind: EventKind) -> TargetResult<Trigger> {
        if name.starts_with('#') {
            // Other names are those of events that scripts derive.
            let Some(event) = PredefinedEvent::from_name(name) else { return Ok(Trigger::WithoutSite) };
            return Ok(match event {
                PredefinedEvent::Signal
                | PredefinedEvent::Fork
                | PredefinedEvent::Exec
                | PredefinedEvent::Exit
                | PredefinedEvent::Thread
                | PredefinedEvent::ThreadExit => Trigger::Predefined(event),
                PredefinedEvent::Join | PredefinedEvent::Leave | PredefinedEvent::Tick => {
                    Trigger::WithoutSite
                }
            });
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
            EventKind::Before => Trigger::Location,
            // These kinds are those of predefined events.
            EventKind::Join | EventKind::Leave | EventKind::Tick => Trigger::WithoutSite,
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
        let mut unresolved = Vec::new();
        let unresolved_event = |reason: String, help: String, pending| UnresolvedEvent {
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
                                self.add_exits(index, &function, &mut unresolved)?;
                            } else {
                                self.add_entries(index, &function, &mut unresolved)?;
                            }
                        }
                    }
                    Ok(linespec::ResolvedLocation::Addresses(addresses)) if !is_exit => {
                        for address in addresses {
                            self.add_site(index, address, None, SiteRole::Event, &mut unresolved)?;
                        }
                    }
                    Ok(linespec::ResolvedLocation::Addresses(_)) => {
                        let help = "write `event` without `after`".to_owned();
                        unresolved.push(unresolved_event(
                            format!("`after` needs a function, and `{name}` is a line or address"),
                            help,
                            false,
                        ));
                    }
                    Err(_) if !plan.resolved.is_empty() => {}
                    Err(unknown) => {
                        let pending = self.plans.allow_pending;
                        let help = match unknown.help {
                            help if help.is_empty() && unknown.may_become_pending => {
                                "if a library that is loaded later defines it, use `--later`".to_owned()
                            }
                            help => help,
                        };
                        unresolved.push(unresolved_event(unknown.reason, help, pending));
                    }
                }
            }
            Trigger::Access(_) => {
                if let Some(error) = self.check_variable(&name) {
                    let help = error.remedy.unwrap_or_default();
                    unresolved.push(unresolved_event(error.message, help, self.plans.allow_pending));
                }
            }
            Trigger::Syscall { .. } | Trigger::Predefined(_) | Trigger::WithoutSite => {
                unresolved.extend(predefined_params::unresolved(plan))
            }
        }
        Ok(unresolved)
    }

    /// Checks the name of a variable, which may be global or belong to a function named by an event.
    fn check_variable(&self, text: &str) -> Option<ExpressionError> {
        let parsed = match Expression::parse(text) {
            Ok(parsed) => parsed,
            Err(error) => return Some(error),
        };
        let memory = self.clean_memory();
        let scope = Scope::new(&self.program, &self.types, &memory, &[], 0);
        let error = match scope.evaluate(&parsed) {
            Ok(value) => {
                let (start, length) = scope.extent(&value)?;
                let message = watchpoints::watchable_range(start, length).err()?.to_string();
                return Some(ExpressionError { at: 0, message, remedy: None });
            }
            Err(error) => error,
        };
        let request = ValueRequest::Expression(parsed);
        let functions = self.plans.all.iter().flat_map(|plan| self.program.functions(&plan.name));
        let is_known = functions.into_iter().any(|function| {
            let address = function.prologue_end.or(function.entry).unwrap_or(0);
            compile(&self.program, &self.types, Some(&function), address, &request, ScalarKind::Any).is_ok()
        });
        (!is_known).then_some(error)
    }

    /// Adds the entries of a function, those of its inlined copies included.
    fn add_entries(
        &mut self,
        index: usize,
        function: &Function,
        unresolved: &mut Vec<UnresolvedEvent>,
    ) -> TargetResult {
        let entries = function.entry.into_iter().chain(function.inlined.iter().map(|copy| copy.entry));
        for address in entries.collect::<Vec<_>>() {
            self.add_site(index, address, Some(function), SiteRole::Event, unresolved)?;
        }
        Ok(())
    }

    /// Adds the exits of a function: each `ret`, and each tail call, whose event occurs at the return site of the
    /// function it jumps to.
    fn add_exits(
        &mut self,
        index: usize,
        function: &Function,
        unresolved: &mut Vec<UnresolvedEvent>,
    ) -> TargetResult {
        let Some(entry) = function.entry else {
            let (event, name) = (self.plans.all[index].event, &function.name);
            let reason = format!("`{name}` is always inlined: it has no return instruction");
            let help = "compile it with `__attribute__((noinline))`, or use its entry event".to_owned();
            unresolved.push(UnresolvedEvent { event, param: None, reason, help, pending: false });
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
        // Values that are unavailable at the exit, or only recoverable by unwinding to a caller, are saved at the entry.
        let needs_entry = plan.sites.iter().any(|event_site| {
            let reads = event_site.reads.iter().zip(&plan.params);
            let mut reads = reads.filter(|(_, param)| param.source != ParamSource::Ret);
            reads.any(|(read, param)| match read {
                // The target of an argument cannot be read at a tail call: the function it jumps to may still change it.
                _ if event_site.role == SiteRole::TailCall && is_pointee_of_argument(&param.source) => true,
                Some(read) => !read.is_available() || !read.needs_no_unwinding(),
                None => is_argument(&param.source),
            })
        });
        if needs_entry || !missing.is_empty() {
            let before = unresolved.len();
            self.add_site(index, entry, Some(function), SiteRole::Entry, unresolved)?;
            // A name that is unresolved at both sites is reported once.
            if unresolved.len() > before {
                unresolved.truncate(before);
                unresolved.extend(missing);
            }
        }
        unresolved.dedup();
        Ok(())
    }

    /// Adds a function's cold part. Debug information names it; otherwise it is recognised by its symbol name.
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

    /// Adds a site, with the values to read there. `function` is the one that contains the address.
    fn add_site(
        &mut self,
        index: usize,
        address: u64,
        function: Option<&Function>,
        role: SiteRole,
        unresolved: &mut Vec<UnresolvedEvent>,
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
        let is_exit = plan.trigger == Trigger::Exit && role != SiteRole::Entry;
        let arguments_are_gone = is_exit && function.is_some_and(|function| !function.has_debug);
        for (position, param) in plan.params.iter().enumerate() {
            let extractor = match value_request(&param.source) {
                None => None,
                // The return value is not known at the entry.
                Some(Ok(ValueRequest::Returned)) if role == SiteRole::Entry => None,
                // Without debug information, arguments are where they were passed, and only at the entry.
                Some(Ok(_)) if arguments_are_gone && is_argument(&param.source) => None,
                Some(request) => {
                    match self.extractor(function, address, (&param.source, request), param.ty) {
                        // An argument by number is the passed value; at the exit, only callers may still have it.
                        Ok(extractor)
                            if is_exit && is_argument(&param.source) && !extractor.needs_no_unwinding() =>
                        {
                            None
                        }
                        Ok(extractor) => Some(extractor),
                        Err(error) => {
                            let reason = format!("the parameter `{}`: {}", param.source, error.message);
                            let help = match function {
                                Some(function) if !function.has_debug => format!(
                                    "`{}` has no debug information: compile it with `-g`, or write `arg 1`",
                                    function.name
                                ),
                                _ => error.remedy.unwrap_or_default(),
                            };
                            let (event, param) = (plan.event, Some(position));
                            let unresolved_param =
                                UnresolvedEvent { event, param, reason, help, pending: false };
                            if !unresolved.contains(&unresolved_param) {
                                unresolved.push(unresolved_param);
                            }
                            None
                        }
                    }
                }
            };
            if let Some(extractor) = &extractor {
                needs = needs.max(extractor.needs());
            }
            reads.push(extractor);
        }
        // The pending call is found by the stack pointer.
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
                unresolved.push(UnresolvedEvent { event, param: None, reason, help, pending: false });
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
        self.trap_reasons.add(site, TrapReason::Event { plan_index: index as u32, site_index: event_site });
        if active {
            self.tracer.sites.add_trap_ref(&self.tracer.memory, site);
        }
        Ok(())
    }

    /// Prepares the read of a parameter at an address.
    fn extractor(
        &self,
        function: Option<&Function>,
        address: u64,
        (source, request): (&ParamSource, Result<ValueRequest, ExpressionError>),
        ty: Option<ParamType>,
    ) -> Result<Extractor, ExpressionError> {
        // Without debug information, only the user's declaration says what an argument is.
        let argument_cast = match (source, ty) {
            _ if function.is_none_or(|function| function.has_debug) => None,
            (ParamSource::Arg(i), Some(ParamType::Str)) => Some((*i, "(char *) $")),
            (ParamSource::Deref(of), ty) => match (&**of, ty) {
                (ParamSource::Arg(i), Some(ParamType::Str)) => Some((*i, "*(char **) $")),
                (ParamSource::Arg(i), _) => Some((*i, "*(long *) $")),
                _ => None,
            },
            _ => None,
        };
        let register = |i: u32| ARGUMENT_REGISTERS.get((i as usize).wrapping_sub(1));
        let request = match argument_cast.and_then(|(i, prefix)| Some((prefix, register(i)?))) {
            Some((prefix, register)) => {
                ValueRequest::Expression(Expression::parse(&format!("{prefix}{register}"))?)
            }
            None => request?,
        };
        compile(&self.program, &self.types, function, address, &request, scalar_kind(ty))
    }
}
