//! Replaces formulae of monitors in a loaded specification.

use super::loaded::MonitorSpans;
use super::lower::names;
use super::{LoadedSpecification, MAX_BYTES, Text, nearest_help, syntax_diagnostic};
use invigil_decent::spec::MonitorBody;
use invigil_decent::system::MonitorId;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::syntax::SyntaxTree;

impl LoadedSpecification {
    /// Parses `NAME = FORMULA` and replaces the body of the monitor of this name. References to the monitor are
    /// kept.
    ///
    /// ```
    /// use invigil_decent::spec::MonitorBody;
    /// use invigil_expr::diag::SourceId;
    /// use invigil_lang::decent;
    /// use invigil_ltl::syntax::SyntaxTree;
    ///
    /// let text = "component bed: weight\nnapping @ bed = G<=25 weight\nroot @ bed = !@napping\n";
    /// let mut loaded = decent::load(SourceId(0), text).0.unwrap();
    /// let napping = loaded.replace_formula(SourceId(1), "napping = F<=3 weight").unwrap();
    /// assert!(matches!(&loaded.specification.monitor(napping).body, MonitorBody::Formula(_)));
    /// let wrong = loaded.replace_formula(SourceId(2), "nap = weight").unwrap_err();
    /// assert_eq!(wrong[0].message, "unknown monitor `nap`");
    /// ```
    ///
    /// # Errors
    /// If the monitor does not exist, or if the formula uses a proposition that its component does not observe.
    pub fn replace_formula(&mut self, source: SourceId, text: &str) -> Result<MonitorId, Vec<Diagnostic>> {
        let Replacement { monitor, body, spans, .. } = self.parse_replacement(source, text)?;
        self.specification.replace(monitor, body);
        self.monitor_spans[monitor.index()] = spans;
        self.check_change(monitor)
    }

    /// Parses `NAME = FORMULA` and adds a monitor with this formula on the component of the monitor of this name. The
    /// new monitor is named after the text. Returns the existing monitor and the new one.
    ///
    /// # Errors
    /// As for [`replace_formula`](LoadedSpecification::replace_formula), or if the variant exists already.
    pub fn add_variant(
        &mut self,
        source: SourceId,
        text: &str,
    ) -> Result<(MonitorId, MonitorId), Vec<Diagnostic>> {
        let Replacement { monitor, body, spans, whole } = self.parse_replacement(source, text)?;
        let at = self.specification.constraints()[monitor.index()];
        let added = self.specification.add(text.trim(), body, at);
        let added = added.map_err(|diagnostic| vec![Diagnostic::error(whole, diagnostic.message)])?;
        self.monitor_spans.push(spans);
        self.check_change(added).map(|added| (monitor, added))
    }

    fn parse_replacement(&self, source: SourceId, text: &str) -> Result<Replacement, Vec<Diagnostic>> {
        let whole = Span::new(source, 0, text.len().min(MAX_BYTES) as u32);
        let one = |diagnostic: Diagnostic| vec![diagnostic];
        let Some((name, formula)) = text.split_once('=').filter(|_| text.len() <= MAX_BYTES) else {
            return Err(one(
                Diagnostic::error(whole, "expected a monitor and its formula").help("write: NAME = FORMULA")
            ));
        };
        let specification = &self.specification;
        let (start, after) = (name.len() - name.trim_start().len(), name.len() + 1);
        let name = name.trim();
        let name_span = Span::new(source, start as u32, (start + name.len()) as u32);
        let Some(monitor) = specification.find(name) else {
            let known = specification.monitors().map(|id| specification.name(id));
            let diagnostic = Diagnostic::error(name_span, format!("unknown monitor `{name}`"));
            return Err(one(nearest_help(diagnostic, name, known)));
        };
        let mut copied = Text::new(source);
        copied.copy(formula, after);
        let tree = SyntaxTree::parse(formula).map_err(|error| one(syntax_diagnostic(&copied, &error)))?;
        let spans = MonitorSpans { name: name_span, names: names(&tree, &copied) };
        Ok(Replacement { monitor, body: MonitorBody::Formula(tree), spans, whole })
    }

    /// Returns the monitor if the specification is valid with the change.
    fn check_change(&self, monitor: MonitorId) -> Result<MonitorId, Vec<Diagnostic>> {
        let diagnostics = self.specification.check();
        if diagnostics.is_empty() { Ok(monitor) } else { Err(self.diagnostics(diagnostics)) }
    }
}

/// A new formula for a monitor.
struct Replacement {
    monitor: MonitorId,
    body: MonitorBody,
    spans: MonitorSpans,
    whole: Span,
}
