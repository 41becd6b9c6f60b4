//! A model as a space, compiled.

use crate::emit::Emit;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::predicates;
use crate::range::Known;
use crate::reading::CompiledReading;
use crate::successors::{AGAIN, Finder, TWINS, UNKNOWN};
use crate::workshop::Workshop;
use crate::{Unsupported, twins};
use cranelift_codegen::ir::{InstBuilder, Value};
use invigil_explore::plain::Plain;
use invigil_explore::{BAD, FAULT, Space, Successors, Taken};
use invigil_model::{Expression, Model, Omega, Step};
use std::sync::Arc;

/// A model whose successor function is native code. Several threads may use it at once.
///
/// It gives exactly what [`Plain`] gives, in the same order.
///
/// ```
/// use invigil_compile::Compiled;
/// use invigil_explore::{Space, Successors};
/// use invigil_model::{Action, Binary, Expression, Kind, Model, Parts, Statement, Variable};
///
/// let x = || Expression::read(0);
/// let more = Expression::binary(Binary::Add, x(), Expression::Constant(1));
/// let up = Action { effect: vec![Statement::assign(0, more)], ..Action::named("up") };
/// let n = Variable::scalar("n", Kind::Integer { low: 0, high: 3 }, 0);
/// let model = Model::new(Parts { variables: vec![n], actions: vec![up], ..Parts::default() }).unwrap();
///
/// let compiled = Compiled::new(&model, &[]).unwrap();
/// let mut out = Successors::default();
/// compiled.successors(&[2], &mut out);
/// assert_eq!(out.words, [3]);
/// ```
pub struct Compiled {
    model: Arc<Model>,
    bad: Vec<Expression>,
    /// Those of `bad` that the interpreter looks at.
    interpreted: Vec<Expression>,
    machine: Machine,
}

/// The most bytes that the successors of one configuration may take.
const MOST_BYTES: u64 = 1 << 28;

impl Compiled {
    /// Compiles a model. `bad` says which configurations, or steps, must not be reached; the predicates must
    /// [fit](Model::fits) the model.
    pub fn new(model: &Model, bad: &[Expression]) -> Result<Compiled, Unsupported> {
        for predicate in bad {
            model.fits(predicate).map_err(|mistake| Unsupported(mistake.to_string()))?;
        }
        let (plan, known) = (Plan::new(model), Known::new(model));
        let width = model.layout().words;
        let bytes = plan.most.saturating_mul(width as u64 + 1).saturating_mul(8);
        if bytes > MOST_BYTES {
            return Err(Unsupported(format!(
                "one configuration may have up to {} successors: give the choices of actions smaller ranges, \
                 or let the model be interpreted",
                plan.most
            )));
        }
        let mut locations: Vec<u32> =
            model.parts().processes.iter().map(|process| process.location).collect();
        locations.sort_unstable();
        if let Some(same) = locations.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = &model.variable(same[0]).name;
            return Err(Unsupported(format!("two processes have their locations in one variable, `{name}`")));
        }

        let mut workshop = Workshop::new()?;
        let parts: Vec<_> = plan.committed.iter().chain(&plan.calm).flatten().collect();
        let mut calls = Vec::new();
        if parts.len() > plan.committed.len() + plan.calm.len() {
            for part in parts {
                let function = workshop.declare(4)?;
                workshop.define(function, 4, &known, &[], |emit, parameters, _| {
                    let Some(mut finder) = finder(emit, parameters) else { return };
                    finder.part(part);
                    let end = finder.taken;
                    emit.to.ins().return_(&[end]);
                })?;
                calls.push(function);
            }
        }
        let find = workshop.declare(4)?;
        workshop.define(find, 4, &known, &calls, |emit, parameters, calls| {
            if let Some(mut finder) = finder(emit, parameters) {
                finder.all(&plan, &mut calls.iter().copied());
            }
        })?;
        let judged: Vec<&Expression> = bad.iter().filter(|bad| predicates::is_compiled(model, bad)).collect();
        let mut judge = None;
        if !judged.is_empty() {
            let function = workshop.declare(4)?;
            workshop.define(function, 4, &known, &[], |emit, parameters, _| {
                predicates::judge(emit, parameters, &judged);
            })?;
            judge = Some(function);
        }
        let machine = Machine::new(workshop.finish()?, find, judge, width, plan.most as usize)
            .ok_or_else(|| Unsupported("there is no memory for code".to_owned()))?;
        let interpreted = bad.iter().filter(|bad| !predicates::is_compiled(model, bad)).cloned().collect();
        Ok(Compiled { model: Arc::new(model.clone()), bad: bad.to_vec(), interpreted, machine })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// An automaton that reads the executions of the model, with its labels compiled.
    pub fn reading(&self, omega: &Omega) -> Result<CompiledReading, Unsupported> {
        CompiledReading::shared(Arc::clone(&self.model), omega)
    }

    /// What the running code has left to do.
    #[cold]
    fn finish(&self, state: &[u64], out: &mut Successors, start: usize, notes: i64) {
        let width = self.machine.width();
        if notes & TWINS != 0 {
            twins::remove(out, start, width);
        }
        if notes & AGAIN == 0 {
            return;
        }
        let (taken, words) = (out.taken.split_off(start), out.words.split_off(start * width));
        for (taken, target) in taken.into_iter().zip(words.chunks_exact(width)) {
            if taken.flags & UNKNOWN == 0 {
                out.push(target, taken);
                continue;
            }
            for outcome in self.model.outcomes(state, taken.action) {
                let flags = if outcome.fault.is_some() { FAULT } else { 0 };
                out.push(&outcome.words, Taken { flags, ..taken });
            }
        }
    }

    /// Looks at those predicates that are not compiled.
    fn interpret(&self, state: &[u64], out: &mut Successors, start: usize) {
        let Successors { words, taken, .. } = out;
        let targets = words[start * self.machine.width()..].chunks_exact(self.machine.width());
        for (target, taken) in targets.zip(&mut taken[start..]) {
            let step = Step { source: Some(state), action: Some(taken.action), target };
            if taken.flags == 0
                && self.interpreted.iter().any(|bad| self.model.holds(bad, step).unwrap_or(true))
            {
                taken.flags = BAD;
            }
        }
    }
}

fn finder<'e, 'a, 'f>(emit: &'e mut Emit<'a, 'f>, parameters: &[Value]) -> Option<Finder<'e, 'a, 'f>> {
    let &[source, words, taken, notes] = parameters else { return None };
    Some(Finder { emit, source, words, taken, notes })
}

impl Space for Compiled {
    fn width(&self) -> usize {
        self.machine.width()
    }

    fn initial(&self, out: &mut Successors) {
        Plain::new(&self.model, self.bad.clone()).initial(out);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let start = out.taken.len();
        let notes = self.machine.find(state, out);
        if notes & (AGAIN | TWINS) != 0 {
            self.finish(state, out, start, notes);
        }
        self.machine.judge(state, out, start);
        if !self.interpreted.is_empty() {
            self.interpret(state, out, start);
        }
    }
}
