//! Automata over the executions of a model, with compiled labels.

use crate::UnsupportedModel;
use crate::codegen_module::CodegenModule;
use crate::native_code::NativeLabels;
use crate::predicates;
use crate::ranges::ModelRanges;
use invigil_explore::label_evaluator::{InterpretedLabels, LabelEvaluator};
use invigil_model::{Expression, Fault, Model, OmegaAutomaton, OmegaEdge, Step};
use std::sync::Arc;

/// An automaton whose labels are native code. It can be used by several threads at the same time.
///
/// It gives exactly the results of [`InterpretedLabels`], in the same order. Labels that test enabledness in a model
/// with priorities, or of too many actions, are interpreted.
pub struct CompiledLabels {
    model: Arc<Model>,
    omega: OmegaAutomaton,
    /// The edges of each state, in parts.
    parts: Vec<Vec<Part>>,
    labels: NativeLabels,
}

/// Consecutive edges of a state.
enum Part {
    /// Compiled edges: index of the function; bit 0 of its result is the label of the first edge.
    Compiled { function: usize, first: usize, end: usize },
    /// An edge whose label is interpreted.
    Interpreted(usize),
}

/// Maximum number of labels in one function.
const MAX_PART_LABELS: usize = 32;

impl CompiledLabels {
    /// Compiles the labels of an automaton, which must pass [`Model::check_predicate`].
    pub fn new(model: &Model, omega: &OmegaAutomaton) -> Result<CompiledLabels, UnsupportedModel> {
        CompiledLabels::for_shared_model(Arc::new(model.clone()), omega)
    }

    pub(crate) fn for_shared_model(
        model: Arc<Model>,
        omega: &OmegaAutomaton,
    ) -> Result<CompiledLabels, UnsupportedModel> {
        for edge in omega.edges.iter().flatten() {
            model.check_predicate(&edge.label).map_err(|error| UnsupportedModel(error.to_string()))?;
        }
        let mut module = CodegenModule::new()?;
        let mut functions = Vec::new();
        let mut parts = Vec::new();
        let model_ranges = ModelRanges::new(&model);
        let is_compiled = |edge: &OmegaEdge| predicates::is_compiled(&model, &edge.label);
        let both_compiled = |a: &OmegaEdge, b: &OmegaEdge| is_compiled(a) && is_compiled(b);
        for edges in &omega.edges {
            let mut state_parts = Vec::new();
            let mut first = 0;
            for chunk in edges.chunk_by(both_compiled).flat_map(|run| run.chunks(MAX_PART_LABELS)) {
                let end = first + chunk.len();
                if is_compiled(&chunk[0]) {
                    let labels: Vec<&Expression> = chunk.iter().map(|edge| &edge.label).collect();
                    let function = module.declare(3)?;
                    module.define(function, 3, &model_ranges, &[], |emit, parameters, _| {
                        predicates::emit_labels(emit, parameters, &labels);
                    })?;
                    state_parts.push(Part::Compiled { function: functions.len(), first, end });
                    functions.push(function);
                } else {
                    state_parts.push(Part::Interpreted(first));
                }
                first = end;
            }
            parts.push(state_parts);
        }
        let labels = NativeLabels::new(module.finish()?, &functions, model.layout().words)
            .ok_or_else(|| UnsupportedModel("cannot allocate memory for code".to_owned()))?;
        Ok(CompiledLabels { model: Arc::clone(&model), omega: omega.clone(), parts, labels })
    }
}

impl LabelEvaluator for CompiledLabels {
    fn initial(&self) -> u32 {
        self.omega.initial
    }

    fn states(&self) -> u32 {
        self.omega.edges.len() as u32
    }

    fn acceptance_set_count(&self) -> u32 {
        self.omega.sets
    }

    fn edges(&self, state: u32, step: Step<'_>, out: &mut Vec<(u32, u64)>) -> Result<(), Fault> {
        let start = out.len();
        let edges = &self.omega.edges[state as usize];
        let source = step.source.unwrap_or(step.target);
        // No action has this index.
        let action = step.action.map_or(u64::MAX, u64::from);
        for part in &self.parts[state as usize] {
            match *part {
                Part::Compiled { function, first, end } => {
                    let mut true_labels = self.labels.evaluate(function, source, step.target, action);
                    if true_labels >> 63 != 0 {
                        // The interpreter provides the fault.
                        out.truncate(start);
                        return InterpretedLabels { model: &self.model, omega: &self.omega }
                            .edges(state, step, out);
                    }
                    while true_labels != 0 {
                        let edge = &edges[first..end][true_labels.trailing_zeros() as usize];
                        out.push((edge.target, edge.marks));
                        true_labels &= true_labels - 1;
                    }
                }
                Part::Interpreted(edge) => {
                    let edge = &edges[edge];
                    if self.model.holds(&edge.label, step)? {
                        out.push((edge.target, edge.marks));
                    }
                }
            }
        }
        Ok(())
    }
}
