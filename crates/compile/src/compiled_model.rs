//! A compiled model as a state space.

use crate::codegen_module::CodegenModule;
use crate::codegen_plan::CodegenPlan;
use crate::compiled_labels::CompiledLabels;
use crate::function_emitter::FunctionEmitter;
use crate::native_code::NativeSuccessors;
use crate::predicates;
use crate::ranges::ModelRanges;
use crate::successors::{DUPLICATES, NEEDS_INTERPRETER, SuccessorEmitter, UNKNOWN};
use crate::{UnsupportedModel, dedup};
use cranelift_codegen::ir::{InstBuilder, Value};
use invigil_explore::interpreted_model::InterpretedModel;
use invigil_explore::{BAD, FAULT, StateSpace, Successors, TransitionInfo};
use invigil_model::{Expression, Model, OmegaAutomaton, Step};
use std::sync::Arc;

/// A model whose successor function is native code. It can be used by several threads at the same time.
///
/// It gives exactly the results of [`InterpretedModel`], in the same order.
///
/// ```
/// use invigil_compile::CompiledModel;
/// use invigil_explore::{StateSpace, Successors};
/// use invigil_model::{Action, Binary, Expression, Domain, Model, ModelParts, Statement, Variable};
///
/// let x = || Expression::read(0);
/// let more = Expression::binary(Binary::Add, x(), Expression::Constant(1));
/// let up = Action { effect: vec![Statement::assign(0, more)], ..Action::named("up") };
/// let n = Variable::scalar("n", Domain::Integer { low: 0, high: 3 }, 0);
/// let model = Model::new(ModelParts { variables: vec![n], actions: vec![up], ..ModelParts::default() }).unwrap();
///
/// let compiled = CompiledModel::new(&model, &[]).unwrap();
/// let mut out = Successors::default();
/// compiled.successors(&[2], &mut out);
/// assert_eq!(out.words, [3]);
/// ```
pub struct CompiledModel {
    model: Arc<Model>,
    bad: Vec<Expression>,
    /// The predicates of `bad` that are interpreted.
    interpreted: Vec<Expression>,
    native: NativeSuccessors,
}

/// Maximum size in bytes of the successors of one configuration.
const MAX_SUCCESSOR_BYTES: u64 = 1 << 28;

impl CompiledModel {
    /// Compiles a model. `bad` holds predicates over configurations or steps that describe errors: no reachable step may
    /// satisfy one. They must [fit](Model::fits) the model.
    pub fn new(model: &Model, bad: &[Expression]) -> Result<CompiledModel, UnsupportedModel> {
        for predicate in bad {
            model.fits(predicate).map_err(|mistake| UnsupportedModel(mistake.to_string()))?;
        }
        let (plan, model_ranges) = (CodegenPlan::new(model), ModelRanges::new(model));
        let width = model.layout().words;
        let bytes = plan.most.saturating_mul(width as u64 + 1).saturating_mul(8);
        if bytes > MAX_SUCCESSOR_BYTES {
            return Err(UnsupportedModel(format!(
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
            return Err(UnsupportedModel(format!(
                "two processes store their location in the same variable, `{name}`"
            )));
        }

        let mut module = CodegenModule::new()?;
        let parts: Vec<_> = plan.committed.iter().chain(&plan.calm).flatten().collect();
        let mut calls = Vec::new();
        if parts.len() > plan.committed.len() + plan.calm.len() {
            for part in parts {
                let function = module.declare(4)?;
                module.define(function, 4, &model_ranges, &[], |emit, parameters, _| {
                    let Some(mut finder) = finder(emit, parameters) else { return };
                    finder.part(part);
                    let end = finder.taken;
                    emit.to.ins().return_(&[end]);
                })?;
                calls.push(function);
            }
        }
        let find = module.declare(4)?;
        module.define(find, 4, &model_ranges, &calls, |emit, parameters, calls| {
            if let Some(mut finder) = finder(emit, parameters) {
                finder.all(&plan, &mut calls.iter().copied());
            }
        })?;
        let compiled_predicates: Vec<&Expression> =
            bad.iter().filter(|bad| predicates::is_compiled(model, bad)).collect();
        let mut bad_state_check = None;
        if !compiled_predicates.is_empty() {
            let function = module.declare(4)?;
            module.define(function, 4, &model_ranges, &[], |emit, parameters, _| {
                predicates::judge(emit, parameters, &compiled_predicates);
            })?;
            bad_state_check = Some(function);
        }
        let native =
            NativeSuccessors::new(module.finish()?, find, bad_state_check, width, plan.most as usize)
                .ok_or_else(|| UnsupportedModel("cannot allocate memory for code".to_owned()))?;
        let interpreted = bad.iter().filter(|bad| !predicates::is_compiled(model, bad)).cloned().collect();
        Ok(CompiledModel { model: Arc::new(model.clone()), bad: bad.to_vec(), interpreted, native })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Compiles the labels of an automaton over the executions of the model.
    pub fn labels(&self, omega: &OmegaAutomaton) -> Result<CompiledLabels, UnsupportedModel> {
        CompiledLabels::shared(Arc::clone(&self.model), omega)
    }

    /// Completes what the native code has left to the interpreter.
    #[cold]
    fn resolve_deferred(&self, state: &[u64], out: &mut Successors, start: usize, notes: i64) {
        let width = self.native.width();
        if notes & DUPLICATES != 0 {
            dedup::remove_duplicates(out, start, width);
        }
        if notes & NEEDS_INTERPRETER == 0 {
            return;
        }
        let (taken, words) = (out.transitions.split_off(start), out.words.split_off(start * width));
        for (taken, target) in taken.into_iter().zip(words.chunks_exact(width)) {
            if taken.flags & UNKNOWN == 0 {
                out.push(target, taken);
                continue;
            }
            for outcome in self.model.outcomes(state, taken.action) {
                let flags = if outcome.fault.is_some() { FAULT } else { 0 };
                out.push(&outcome.words, TransitionInfo { flags, ..taken });
            }
        }
    }

    /// Evaluates the predicates that are not compiled.
    fn interpret(&self, state: &[u64], out: &mut Successors, start: usize) {
        let Successors { words, transitions: taken, .. } = out;
        let targets = words[start * self.native.width()..].chunks_exact(self.native.width());
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

fn finder<'e, 'a, 'f>(
    emit: &'e mut FunctionEmitter<'a, 'f>,
    parameters: &[Value],
) -> Option<SuccessorEmitter<'e, 'a, 'f>> {
    let &[source, words, taken, notes] = parameters else { return None };
    Some(SuccessorEmitter { emit, source, words, taken, notes })
}

impl StateSpace for CompiledModel {
    fn width(&self) -> usize {
        self.native.width()
    }

    fn initial(&self, out: &mut Successors) {
        InterpretedModel::new(&self.model, self.bad.clone()).initial(out);
    }

    fn successors(&self, state: &[u64], out: &mut Successors) {
        let start = out.transitions.len();
        let notes = self.native.find(state, out);
        if notes & (NEEDS_INTERPRETER | DUPLICATES) != 0 {
            self.resolve_deferred(state, out, start, notes);
        }
        self.native.judge(state, out, start);
        if !self.interpreted.is_empty() {
            self.interpret(state, out, start);
        }
    }
}
