//! A loaded specification, with the positions of its parts.

use invigil_decent::network::Network;
use invigil_decent::spec::{SpecDiagnostic, Specification};
use invigil_expr::diag::{Diagnostic, Span};
use invigil_ltl::Budget;

/// A loaded specification.
#[derive(Clone, Debug)]
pub struct LoadedSpecification {
    /// The specification.
    pub specification: Specification,
    /// The positions of its monitors, in order.
    pub(crate) monitor_spans: Vec<MonitorSpans>,
    /// The position for diagnostics that concern no monitor.
    pub(crate) whole: Span,
}

/// The positions in a monitor.
#[derive(Clone, Debug)]
pub(crate) struct MonitorSpans {
    /// The position of its name.
    pub(crate) name: Span,
    /// The positions of the names in its body.
    pub(crate) names: Vec<(String, Span)>,
}

impl LoadedSpecification {
    /// Returns the monitors as automata on components; see [`Specification::network`].
    ///
    /// # Errors
    /// All errors, with their positions in the file.
    pub fn network(&self, budget: Budget) -> Result<Network, Vec<Diagnostic>> {
        self.specification.network(budget).map_err(|diagnostics| self.diagnostics(diagnostics))
    }

    /// Converts errors to diagnostics.
    pub(crate) fn diagnostics(&self, diagnostics: Vec<SpecDiagnostic>) -> Vec<Diagnostic> {
        diagnostics.into_iter().map(|diagnostic| self.diagnostic(diagnostic)).collect()
    }

    /// Converts an error to a diagnostic.
    pub fn diagnostic(&self, diagnostic: SpecDiagnostic) -> Diagnostic {
        let place = diagnostic.monitor.and_then(|id| self.monitor_spans.get(id.index()));
        let named = |place: &MonitorSpans| {
            let wanted = diagnostic.name.as_ref()?;
            place.names.iter().find(|(name, _)| name == wanted).map(|(_, span)| *span)
        };
        let span = place.map_or(self.whole, |place| named(place).unwrap_or(place.name));
        let reported = Diagnostic::error(span, diagnostic.message);
        match diagnostic.help {
            Some(help) => reported.help(help),
            None => reported,
        }
    }
}
