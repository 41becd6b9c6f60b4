//! A compiled model as a state space.

use crate::codegen_module::CodegenModule;
use crate::codegen_plan::CodegenPlan;
use crate::compiled_labels::CompiledLabels;
use crate::function_emitter::FunctionEmitter;
use crate::native_code::NativeSuccessors;
use crate::predicates;
use crate::ranges::ModelRanges;
use crate::successors::{DUPLICATES, NEEDS_INTERPRETER, PLACEHOLDER, SuccessorEmitter};
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
    /// Compiles a model. `bad` are predicates over configurations or steps that describe errors: no reachable step may
    /// satisfy one. They must pass [`Model::check_predicate`].
    pub fn new(model: &Model, bad: &[Expression]) -> Result<CompiledModel, UnsupportedModel> {
        for predicate in bad {
            model.check_predicate(predicate).map_err(|error| UnsupportedModel(error.to_string()))?;
        }
        let (plan, model_ranges) = (CodegenPlan::new(model), ModelRanges::new(model));
        let width = model.layout().words;
        let bytes = plan.max_successors.saturating_mul(width as u64 + 1).saturating_mul(8);
        if bytes > MAX_SUCCESSOR_BYTES {
            return Err(UnsupportedModel(format!(
                "one configuration may have up to {} successors: give the choices of actions smaller ranges, \
                 or let the model be interpreted",
                plan.max_successors
            )));
        }
        let mut locations: Vec<u32> =
            model.parts().processes.iter().map(|process| process.location).collect();
        locations.sort_unstable();
        if let Some(shared) = locations.windows(2).find(|pair| pair[0] == pair[1]) {
            let name = &model.variable(shared[0]).name;
            return Err(UnsupportedModel(format!(
                "two processes store their location in the same variable, `{name}`"
            )));
        }

        let mut module = CodegenModule::new()?;
        let parts: Vec<_> = plan.committed.iter().chain(&plan.uncommitted).flatten().collect();
        let mut calls = Vec::new();
        if parts.len() > plan.committed.len() + plan.uncommitted.len() {
            for part in parts {
                let function = module.declare(4)?;
                module.define(function, 4, &model_ranges, &[], |emit, parameters, _| {
                    let Some(mut successors) = successor_emitter(emit, parameters) else { return };
                    successors.emit_part(part);
                    let end = successors.transition;
                    emit.builder.ins().return_(&[end]);
                })?;
                calls.push(function);
            }
        }
        let successor_function = module.declare(4)?;
        module.define(successor_function, 4, &model_ranges, &calls, |emit, parameters, calls| {
            if let Some(mut successors) = successor_emitter(emit, parameters) {
                successors.emit_all(&plan, &mut calls.iter().copied());
            }
        })?;
        let compiled_predicates: Vec<&Expression> =
            bad.iter().filter(|bad| predicates::is_compiled(model, bad)).collect();
        let mut bad_marker = None;
        if !compiled_predicates.is_empty() {
            let function = module.declare(4)?;
            module.define(function, 4, &model_ranges, &[], |emit, parameters, _| {
                predicates::emit_bad_marker(emit, parameters, &compiled_predicates);
            })?;
            bad_marker = Some(function);
        }
        let native = NativeSuccessors::new(
            module.finish()?,
            successor_function,
            bad_marker,
            width,
            plan.max_successors as usize,
        )
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
        CompiledLabels::for_shared_model(Arc::clone(&self.model), omega)
    }

    /// Does the rest of the work that the native code leaves to the interpreter.
    #[cold]
    fn resolve_deferred(&self, state: &[u64], out: &mut Successors, start: usize, notes: i64) {
        let width = self.native.width();
        if notes & DUPLICATES != 0 {
            dedup::remove_duplicates(out, start, width);
        }
        if notes & NEEDS_INTERPRETER == 0 {
            return;
        }
        let (transitions, words) = (out.transitions.split_off(start), out.words.split_off(start * width));
        for (transition, target) in transitions.into_iter().zip(words.chunks_exact(width)) {
            if transition.flags & PLACEHOLDER == 0 {
                out.push(target, transition);
                continue;
            }
            for outcome in self.model.outcomes(state, transition.action) {
                let flags = if outcome.fault.is_some() { FAULT } else { 0 };
                out.push(&outcome.words, TransitionInfo { flags, ..transition });
            }
        }
    }

    /// Evaluates the predicates that are not compiled.
    fn interpret_predicates(&self, state: &[u64], out: &mut Successors, start: usize) {
        let Successors { words, transitions, .. } = out;
        let targets = words[start * self.native.width()..].chunks_exact(self.native.width());
        for (target, transition) in targets.zip(&mut transitions[start..]) {
            let step = Step { source: Some(state), action: Some(transition.action), target };
            if transition.flags == 0
                && self.interpreted.iter().any(|bad| self.model.holds(bad, step).unwrap_or(true))
            {
                transition.flags = BAD;
            }
        }
    }
}

fn successor_emitter<'e, 'a, 'f>(
    emit: &'e mut FunctionEmitter<'a, 'f>,
    parameters: &[Value],
) -> Option<SuccessorEmitter<'e, 'a, 'f>> {
    let &[source, words, transition, notes] = parameters else { return None };
    Some(SuccessorEmitter { emit, source, words, transition, notes })
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
        let notes = self.native.append_successors(state, out);
        if notes & (NEEDS_INTERPRETER | DUPLICATES) != 0 {
            self.resolve_deferred(state, out, start, notes);
        }
        self.native.mark_bad(state, out, start);
        if !self.interpreted.is_empty() {
            self.interpret_predicates(state, out, start);
        }
    }
}
