//! Finding the places of events in the program.

use super::params::{compile, form, is_argument, is_behind_argument, wanted};
use super::{Place, Plan, Role, What, facts};
use crate::displace;
use crate::place;
use crate::target::Target;
use crate::uses::Use;
use crate::watch::{self, Access};
use invigil_debuginfo::program::Function;
use invigil_debuginfo::value::{Expression, Extractor, Form, Mistake, Needs, Scope, Wanted};
use invigil_monitor::event::{Catalog, EventSet, Kind, Source, Type};
use invigil_session::subject::{Done, Trouble, Unknown};
use std::sync::Arc;

/// Where whole arguments are passed.
const REGISTERS: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];

impl Target {
    /// Finds what the catalog's events are in this program.
    pub(crate) fn plan(&mut self, catalog: &Catalog) -> Done<Vec<Unknown>> {
        self.forget_plans()?;
        let mut unknown = Vec::new();
        for (symbol, written) in catalog.iter() {
            let what = self.what(&written.name, written.kind).unwrap_or_else(|words| {
                let help = String::new();
                let reason = words.to_string();
                unknown.push(Unknown { symbol, param: None, reason, help, pending: false });
                What::System
            });
            self.plans.all.push(Plan {
                symbol,
                name: written.name.clone(),
                params: written.params.clone(),
                what,
                places: Vec::new(),
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

    fn forget_plans(&mut self) -> Done {
        self.instrument(&EventSet::default())?;
        for (number, plan) in (0..).zip(std::mem::take(&mut self.plans.all)) {
            for (at, place) in (0..).zip(plan.places) {
                self.uses.remove(place.site, Use::Event { plan: number, place: at });
            }
        }
        Ok(())
    }

    fn what(&self, name: &str, kind: Kind) -> Done<What> {
        if name.starts_with('#') {
            return Ok(What::System);
        }
        if let Some(call) = name.strip_prefix("syscall:") {
            let number = call.parse::<syscalls::Sysno>().map(|number| number.id().into());
            let number =
                number.map_err(|()| Trouble::Request(format!("there is no system call `{call}`")))?;
            return Ok(What::Syscall { number, after: kind == Kind::After });
        }
        let access = |read, write, before| What::Access(Access { read, write, before });
        Ok(match kind {
            Kind::After => What::Exit,
            Kind::Read => access(true, false, false),
            Kind::Write => access(false, true, false),
            Kind::Access => access(true, true, false),
            Kind::BeforeRead => access(true, false, true),
            Kind::BeforeWrite => access(false, true, true),
            Kind::BeforeAccess => access(true, true, true),
            _ => What::Code,
        })
    }

    /// New images may have what was not found before.
    pub(crate) fn resolve_plans(&mut self) -> Done {
        for index in 0..self.plans.all.len() {
            self.resolve(index)?;
        }
        self.rearm_plans()
    }

    /// Finds the places of an event that are not known yet.
    fn resolve(&mut self, index: usize) -> Done<Vec<Unknown>> {
        let plan = &self.plans.all[index];
        let (symbol, name) = (plan.symbol, plan.name.clone());
        let mut unknown = Vec::new();
        let not_found =
            |reason: String, help: String, pending| Unknown { symbol, param: None, reason, help, pending };
        match &plan.what {
            What::Code | What::Exit => {
                let is_exit = plan.what == What::Exit;
                match place::find(&self.program, &self.view(), None, &name) {
                    Ok(place::Found::Functions(functions)) => {
                        for function in functions {
                            if is_exit {
                                self.add_exits(index, &function, &mut unknown)?;
                            } else {
                                self.add_entries(index, &function, &mut unknown)?;
                            }
                        }
                    }
                    Ok(place::Found::Addresses(addresses)) if !is_exit => {
                        for address in addresses {
                            self.add_place(index, address, None, Role::Fire, &mut unknown)?;
                        }
                    }
                    Ok(place::Found::Addresses(_)) => {
                        let help = "write `event` without `after`".to_owned();
                        unknown.push(not_found(
                            format!("`{name}` is no function to return from"),
                            help,
                            false,
                        ));
                    }
                    Err(_) if !plan.resolved.is_empty() => {}
                    Err(missing) => {
                        let pending = self.plans.expects_libraries;
                        let help = match missing.help {
                            help if help.is_empty() && missing.may_come => {
                                "if a library brings it later, say `--later`".to_owned()
                            }
                            help => help,
                        };
                        unknown.push(not_found(missing.reason, help, pending));
                    }
                }
            }
            What::Access(_) => {
                if let Some(mistake) = self.check_variable(&name) {
                    let help = mistake.remedy.unwrap_or_default();
                    unknown.push(not_found(mistake.message, help, self.plans.expects_libraries));
                }
            }
            What::Syscall { .. } | What::System => unknown.extend(facts::unknown(plan)),
        }
        Ok(unknown)
    }

    /// What is wrong with the name of a variable, if it is neither a global one nor one of a function that some
    /// event is about.
    fn check_variable(&self, text: &str) -> Option<Mistake> {
        let parsed = match Expression::parse(text) {
            Ok(parsed) => parsed,
            Err(mistake) => return Some(mistake),
        };
        let view = self.view();
        let scope = Scope::new(&self.program, &self.types, &view, &[], 0);
        let mistake = match scope.evaluate(&parsed) {
            Ok(datum) => {
                let (start, length) = scope.extent(&datum)?;
                let message = watch::stretch(start, length).err()?.to_string();
                return Some(Mistake { at: 0, message, remedy: None });
            }
            Err(mistake) => mistake,
        };
        let form = Form::Expression(parsed);
        let functions = self.plans.all.iter().flat_map(|plan| self.program.functions(&plan.name));
        let known = functions.into_iter().any(|function| {
            let at = function.prologue_end.or(function.entry).unwrap_or(0);
            compile(&self.program, &self.types, Some(&function), at, &form, Wanted::Any).is_ok()
        });
        (!known).then_some(mistake)
    }

    fn add_entries(&mut self, index: usize, function: &Function, unknown: &mut Vec<Unknown>) -> Done {
        let entries = function.entry.into_iter().chain(function.inlined.iter().map(|copy| copy.entry));
        for address in entries.collect::<Vec<_>>() {
            self.add_place(index, address, Some(function), Role::Fire, unknown)?;
        }
        Ok(())
    }

    /// Follows a function to its end: at each `ret`, and, where it jumps into another function that returns
    /// for it, at the place that that one returns to.
    fn add_exits(&mut self, index: usize, function: &Function, unknown: &mut Vec<Unknown>) -> Done {
        let Some(entry) = function.entry else {
            let (symbol, name) = (self.plans.all[index].symbol, &function.name);
            let reason = format!("`{name}` is only inlined: there is no place where it returns");
            let help =
                "compile it with `__attribute__((noinline))`, or use the event of its begin".to_owned();
            unknown.push(Unknown { symbol, param: None, reason, help, pending: false });
            return Ok(());
        };
        if self.plans.all[index].resolved.contains(&entry) {
            return Ok(());
        }
        let function = &self.with_cold_part(function);
        let exits = self.exits_of(function);
        let mut missing = Vec::new();
        for address in &exits.returns {
            self.add_place(index, *address, Some(function), Role::Fire, &mut missing)?;
        }
        for address in &exits.tail_calls {
            self.add_place(index, *address, Some(function), Role::Tail, &mut missing)?;
        }
        let plan = &mut self.plans.all[index];
        plan.resolved.push(entry);
        // What cannot be read at the end, or only with what a caller may still know, is noted at the begin.
        let unread = plan.places.iter().any(|place| {
            let reads = place.reads.iter().zip(&plan.params);
            let mut reads = reads.filter(|(_, param)| param.source != Source::Ret);
            reads.any(|(read, param)| match read {
                // What it points to when the call ends cannot be read where that is left to another function.
                _ if place.role == Role::Tail && is_behind_argument(&param.source) => true,
                Some(read) => !read.is_available() || !read.is_fast(),
                None => is_argument(&param.source),
            })
        });
        if unread || !missing.is_empty() {
            let before = unknown.len();
            self.add_place(index, entry, Some(function), Role::Begin, unknown)?;
            // A name that is known in neither place is reported once.
            if unknown.len() > before {
                unknown.truncate(before);
                unknown.extend(missing);
            }
        }
        unknown.dedup();
        Ok(())
    }

    /// Debug information knows of the part of a function that the compiler took away as seldom used; without
    /// it, the name of a symbol tells.
    fn with_cold_part(&self, function: &Function) -> Function {
        let mut whole = function.clone();
        let name = function.linkage_name.as_ref().unwrap_or(&function.name);
        if !function.has_debug
            && let Some(cold) = self.program.symbol(&format!("{name}.cold"))
            && Arc::ptr_eq(&cold.image, &function.loaded.image)
        {
            whole.ranges.push(cold.address..cold.address + cold.size);
        }
        whole
    }

    /// Adds a place, with what to read there.
    fn add_place(
        &mut self,
        index: usize,
        address: u64,
        function: Option<&Function>,
        role: Role,
        unknown: &mut Vec<Unknown>,
    ) -> Done {
        let plan = &self.plans.all[index];
        let plan_symbol = plan.symbol;
        let is_known = plan
            .places
            .iter()
            .any(|place| place.role == role && self.engine.sites.get(place.site).address == address);
        if is_known {
            return Ok(());
        }
        let mut reads = Vec::new();
        let mut needs = if role == Role::Fire { Needs::Nothing } else { Needs::General };
        let is_end = plan.what == What::Exit && role != Role::Begin;
        let by_convention = is_end && function.is_some_and(|function| !function.has_debug);
        for (position, param) in plan.params.iter().enumerate() {
            let read = match form(&param.source) {
                None => None,
                // What a function returns is not known before it does.
                Some(Ok(Form::Returned)) if role == Role::Begin => None,
                // Without debug information arguments are where they are passed, and only at the begin.
                Some(Ok(_)) if by_convention && is_argument(&param.source) => None,
                Some(form) => match self.extractor(function, address, (&param.source, form), param.ty) {
                    // An argument by its number is what was passed; at the end, only callers may still know.
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
                        let (symbol, param) = (plan.symbol, Some(position));
                        let problem = Unknown { symbol, param, reason, help, pending: false };
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
        // At the end of a function its begin may have been noted: for that, the stack pointer is needed.
        if plan.what == What::Exit {
            needs = needs.max(Needs::General);
        }
        let jump = (role == Role::Tail).then(|| {
            let mut code = [0; 15];
            let read = self.engine.memory.read_some(address, &mut code);
            self.engine.sites.clean(address, &mut code[..read]);
            let ranges = function.map(|function| function.ranges.clone()).unwrap_or_default();
            (displace::decode(&code[..read], address), ranges)
        });
        let site = match self.site(address) {
            Ok(site) => site,
            // One place that can carry no point does not spoil the others.
            Err(Trouble::Request(reason)) => {
                let (symbol, help) = (plan_symbol, String::new());
                unknown.push(Unknown { symbol, param: None, reason, help, pending: false });
                return Ok(());
            }
            Err(trouble) => return Err(trouble),
        };
        let plan = &mut self.plans.all[index];
        let place = plan.places.len() as u32;
        plan.places.push(Place { site, role, reads, needs, jump });
        if role == Role::Fire && plan.what == What::Code {
            plan.resolved.push(address);
        }
        let active = plan.active;
        self.uses.add(site, Use::Event { plan: index as u32, place });
        if active {
            self.engine.sites.want(&self.engine.memory, site);
        }
        Ok(())
    }

    fn extractor(
        &self,
        function: Option<&Function>,
        address: u64,
        (source, form): (&Source, Result<Form, Mistake>),
        ty: Option<Type>,
    ) -> Result<Extractor, Mistake> {
        // Of a function without debug information nothing says what an argument is, but the user.
        let by_convention = match (source, ty) {
            _ if function.is_none_or(|function| function.has_debug) => None,
            (Source::Arg(i), Some(Type::Str)) => Some((*i, "(char *) $")),
            (Source::Deref(of), ty) => match (&**of, ty) {
                (Source::Arg(i), Some(Type::Str)) => Some((*i, "*(char **) $")),
                (Source::Arg(i), _) => Some((*i, "*(long *) $")),
                _ => None,
            },
            _ => None,
        };
        let register = |i: u32| REGISTERS.get((i as usize).wrapping_sub(1));
        let form = match by_convention.and_then(|(i, before)| Some((before, register(i)?))) {
            Some((before, register)) => Form::Expression(Expression::parse(&format!("{before}{register}"))?),
            None => form?,
        };
        compile(&self.program, &self.types, function, address, &form, wanted(ty))
    }
}
