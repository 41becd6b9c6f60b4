//! Making events where a thread stands.

use super::What;
use super::params::{compile, fetch, form, known, value, wanted};
use crate::engine::lost;
use crate::sites::SiteId;
use crate::sys::Tid;
use crate::target::{Target, View};
use crate::uses::Use;
use invigil_debuginfo::machine::Registers;
use invigil_debuginfo::program::Program;
use invigil_debuginfo::value::{Catalog as Types, Form, Needs, Plain};
use invigil_expr::value::Value;
use invigil_monitor::event::{Source, Stamp, Type};
use invigil_session::subject::{Done, Stop};

impl Target {
    /// Makes all events of the place where a thread stands.
    pub(crate) fn fire_all(&mut self, tid: Tid, site: SiteId) -> Done<Option<Stop>> {
        self.batch.clear();
        let mut returns = false;
        for index in 0..self.uses.at(site).len() {
            match self.uses.at(site)[index] {
                Use::Event { plan, place } if self.plans.fires(plan, place) => self.fire(tid, plan, place)?,
                Use::Return => returns = true,
                _ => {}
            }
        }
        if returns {
            self.fire_returns(tid, site)?;
        }
        Ok((!self.batch.is_empty()).then_some(Stop::Events))
    }

    fn fire(&mut self, tid: Tid, plan: u32, place: u32) -> Done {
        let begun = match self.plans.get(plan).what {
            What::Exit => self.begun(tid, plan)?,
            _ => None,
        };
        let entry = &self.plans.all[plan as usize];
        let at = &entry.places[place as usize];
        let Some(task) = self.engine.tasks.get_mut(&tid) else { return Ok(()) };
        let read = match at.needs {
            Needs::Nothing => {
                task.wants_registers = false;
                Registers::default()
            }
            needs => {
                let regs = task.registers().map_err(lost)?;
                task.wants_registers = true;
                fetch(tid, &regs, needs)
            }
        };
        let view = View { memory: &self.engine.memory, sites: &self.engine.sites };
        let mut values = std::mem::take(&mut self.plans.values);
        values.clear();
        let time = self.now.duration_since(self.began).as_secs_f64();
        for (position, (param, extractor)) in entry.params.iter().zip(&at.reads).enumerate() {
            let plain =
                extractor.as_ref().map(|extractor| extractor.read(&read, &view, &self.program, &self.types));
            let value = match plain {
                None => known(&param.source, tid, self.engine.process, time),
                Some(Plain::Unavailable(_)) => Value::UNSET,
                Some(plain) => value(&plain, param.ty, &mut self.batch),
            };
            let noted = begun.as_ref().filter(|_| value.is_unset());
            let value = match noted.and_then(|call| self.noted(entry, call, position)) {
                Some(then) => self::value(&then, param.ty, &mut self.batch),
                None => value,
            };
            values.push(value);
        }
        self.batch.push(entry.symbol, &values, Stamp { time, line: 0 });
        self.plans.values = values;
        Ok(())
    }

    /// An event that is about touched memory; `old` and `new` are what was and is there.
    pub(crate) fn fire_access(&mut self, tid: Tid, plan: u32, returned: &Plain) -> Done {
        let entry = &self.plans.all[plan as usize];
        let Some(task) = self.engine.tasks.get_mut(&tid) else { return Ok(()) };
        let regs = task.registers().map_err(lost)?;
        let read = fetch(tid, &regs, Needs::Vector);
        let view = View { memory: &self.engine.memory, sites: &self.engine.sites };
        let time = self.began.elapsed().as_secs_f64();
        let mut values = Vec::new();
        for param in &entry.params {
            let value = match &param.source {
                Source::Ret => value(returned, param.ty, &mut self.batch),
                Source::Name(name) if *name == entry.name => value(returned, param.ty, &mut self.batch),
                source => match form(source) {
                    None => known(source, tid, self.engine.process, time),
                    Some(form) => read_here(&self.program, &self.types, &read, &view, form.ok(), param.ty)
                        .map_or(Value::UNSET, |plain| value(&plain, param.ty, &mut self.batch)),
                },
            };
            values.push(value);
        }
        self.batch.push(entry.symbol, &values, Stamp { time, line: 0 });
        Ok(())
    }
}

/// Reads a form where a thread stands, which is known only now.
fn read_here(
    program: &Program,
    types: &Types,
    read: &Registers,
    view: &View<'_>,
    form: Option<Form>,
    ty: Option<Type>,
) -> Option<Plain> {
    let extractor = compile(program, types, None, read.pc(), &form?, wanted(ty)).ok()?;
    Some(extractor.read(read, view, program, types))
}
