//! A specification that was read, and where its parts stand.

use invigil_decent::network::Network;
use invigil_decent::spec::{Problem, Specification};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_ltl::Budget;

/// A specification that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The specification.
    pub specification: Specification,
    /// Where its monitors stand, in their order.
    pub(crate) places: Vec<Place>,
    /// What is about no monitor is told here.
    pub(crate) whole: Span,
}

/// Where a monitor stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its name.
    pub(crate) name: Span,
    /// The names in it.
    pub(crate) names: Vec<(String, Span)>,
}

impl Loaded {
    /// The monitors as automata on components: see [`Specification::network`].
    ///
    /// # Errors
    /// All that is wrong, with the places in the file.
    pub fn network(&self, budget: Budget) -> Result<Network, Vec<Diagnostic>> {
        self.specification.network(budget).map_err(|problems| self.told(problems))
    }

    /// Problems with their places.
    pub(crate) fn told(&self, problems: Vec<Problem>) -> Vec<Diagnostic> {
        problems.into_iter().map(|problem| self.tell(problem)).collect()
    }

    /// A problem with its place.
    pub fn tell(&self, problem: Problem) -> Diagnostic {
        let place = problem.monitor.and_then(|id| self.places.get(id.index()));
        let named = |place: &Place| {
            let wanted = problem.name.as_ref()?;
            place.names.iter().find(|(name, _)| name == wanted).map(|(_, span)| *span)
        };
        let span = place.map_or(self.whole, |place| named(place).unwrap_or(place.name));
        let told = Diagnostic::error(span, problem.message);
        match problem.help {
            Some(help) => told.help(help),
            None => told,
        }
    }
}
