//! Automata that read the executions of a model, with compiled labels.

use crate::Unsupported;
use crate::machine::Labels;
use crate::predicates;
use crate::range::Known;
use crate::workshop::Workshop;
use invigil_explore::reading::{Plain, Reading};
use invigil_model::{Expression, Fault, Model, Omega, OmegaEdge, Step};
use std::sync::Arc;

/// An automaton whose labels are native code. Several threads may use it at once.
///
/// It gives exactly what [`Plain`] gives, in the same order. Labels that
/// look at enabled actions where there are priorities are interpreted.
pub struct CompiledReading {
    model: Arc<Model>,
    omega: Omega,
    /// For each state, its edges in parts.
    parts: Vec<Vec<Part>>,
    labels: Labels,
}

/// Some edges of a state, one after the other.
enum Part {
    /// With the function that knows their labels, which takes the first of them for bit 0.
    Compiled { function: usize, first: usize, end: usize },
    /// One whose label is interpreted.
    Interpreted(usize),
}

/// How many labels are compiled together.
const TOGETHER: usize = 32;

impl CompiledReading {
    /// Compiles the labels of an automaton, which must [fit](Model::fits) the model.
    pub fn new(model: &Model, omega: &Omega) -> Result<CompiledReading, Unsupported> {
        CompiledReading::shared(Arc::new(model.clone()), omega)
    }

    pub(crate) fn shared(model: Arc<Model>, omega: &Omega) -> Result<CompiledReading, Unsupported> {
        for edge in omega.edges.iter().flatten() {
            model.fits(&edge.label).map_err(|mistake| Unsupported(mistake.to_string()))?;
        }
        let mut workshop = Workshop::new()?;
        let mut functions = Vec::new();
        let mut parts = Vec::new();
        let known = Known::new(&model);
        let is_compiled = |edge: &OmegaEdge| predicates::is_compiled(&model, &edge.label);
        let both_compiled = |a: &OmegaEdge, b: &OmegaEdge| is_compiled(a) && is_compiled(b);
        for edges in &omega.edges {
            let mut of_state = Vec::new();
            let mut first = 0;
            for chunk in edges.chunk_by(both_compiled).flat_map(|run| run.chunks(TOGETHER)) {
                let end = first + chunk.len();
                if is_compiled(&chunk[0]) {
                    let labels: Vec<&Expression> = chunk.iter().map(|edge| &edge.label).collect();
                    let function = workshop.declare(3)?;
                    workshop.define(function, 3, &known, &[], |emit, parameters, _| {
                        predicates::labels(emit, parameters, &labels);
                    })?;
                    of_state.push(Part::Compiled { function: functions.len(), first, end });
                    functions.push(function);
                } else {
                    of_state.push(Part::Interpreted(first));
                }
                first = end;
            }
            parts.push(of_state);
        }
        let labels = Labels::new(workshop.finish()?, &functions, model.layout().words)
            .ok_or_else(|| Unsupported("there is no memory for code".to_owned()))?;
        Ok(CompiledReading { model: Arc::clone(&model), omega: omega.clone(), parts, labels })
    }
}

impl Reading for CompiledReading {
    fn initial(&self) -> u32 {
        self.omega.initial
    }

    fn states(&self) -> u32 {
        self.omega.edges.len() as u32
    }

    fn sets(&self) -> u32 {
        self.omega.sets
    }

    fn edges(&self, at: u32, step: Step<'_>, out: &mut Vec<(u32, u64)>) -> Result<(), Fault> {
        let start = out.len();
        let edges = &self.omega.edges[at as usize];
        let source = step.source.unwrap_or(step.target);
        // No action has this number.
        let action = step.action.map_or(u64::MAX, u64::from);
        for part in &self.parts[at as usize] {
            match *part {
                Part::Compiled { function, first, end } => {
                    let mut hold = self.labels.hold(function, source, step.target, action);
                    if hold >> 63 != 0 {
                        // The interpreter knows the words for what is wrong.
                        out.truncate(start);
                        return Plain { model: &self.model, omega: &self.omega }.edges(at, step, out);
                    }
                    while hold != 0 {
                        let edge = &edges[first..end][hold.trailing_zeros() as usize];
                        out.push((edge.target, edge.marks));
                        hold &= hold - 1;
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
