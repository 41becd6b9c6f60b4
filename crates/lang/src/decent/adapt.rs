//! Other formulae for the monitors of a specification that was read.

use super::loaded::Place;
use super::lower::names;
use super::{Loaded, MAX_BYTES, Text, nearest_help, wrong};
use invigil_decent::spec::Body;
use invigil_decent::system::MonitorId;
use invigil_expr::diag::{Diagnostic, SourceId, Span};
use invigil_ltl::syntax::Tree;

impl Loaded {
    /// Reads `NAME = FORMULA`, and puts the formula in the place of what the monitor of this name was. All that refer to it
    /// stay as they are.
    ///
    /// ```
    /// use invigil_decent::spec::Body;
    /// use invigil_expr::diag::SourceId;
    /// use invigil_lang::decent;
    /// use invigil_ltl::syntax::Tree;
    ///
    /// let text = "component bed: weight\nnapping @ bed = G<=25 weight\nroot @ bed = !@napping\n";
    /// let mut loaded = decent::load(SourceId(0), text).0.unwrap();
    /// let napping = loaded.instead(SourceId(1), "napping = F<=3 weight").unwrap();
    /// assert!(matches!(&loaded.specification.monitor(napping).body, Body::Formula(_)));
    /// let wrong = loaded.instead(SourceId(2), "nap = weight").unwrap_err();
    /// assert_eq!(wrong[0].message, "there is no monitor `nap`");
    /// ```
    ///
    /// # Errors
    /// If there is no such monitor, or if the formula speaks of what its component does not observe.
    pub fn instead(&mut self, source: SourceId, text: &str) -> Result<MonitorId, Vec<Diagnostic>> {
        let Adapted { monitor, body, place, .. } = self.adapted(source, text)?;
        self.specification.replace(monitor, body);
        self.places[monitor.index()] = place;
        self.checked(monitor)
    }

    /// Reads `NAME = FORMULA`, and adds a monitor with this formula beside the one of this name, on the same component. It is
    /// called as it is written. Gives the one that was there, and the new one.
    ///
    /// # Errors
    /// As for [`instead`](Loaded::instead), or if it is there already.
    pub fn variant(
        &mut self,
        source: SourceId,
        text: &str,
    ) -> Result<(MonitorId, MonitorId), Vec<Diagnostic>> {
        let Adapted { monitor, body, place, whole } = self.adapted(source, text)?;
        let at = self.specification.constraints()[monitor.index()];
        let added = self.specification.add(text.trim(), body, at);
        let added = added.map_err(|problem| vec![Diagnostic::error(whole, problem.message)])?;
        self.places.push(place);
        self.checked(added).map(|added| (monitor, added))
    }

    fn adapted(&self, source: SourceId, text: &str) -> Result<Adapted, Vec<Diagnostic>> {
        let whole = Span::new(source, 0, text.len().min(MAX_BYTES) as u32);
        let told = |problem: Diagnostic| vec![problem];
        let Some((name, formula)) = text.split_once('=').filter(|_| text.len() <= MAX_BYTES) else {
            return Err(told(
                Diagnostic::error(whole, "expected a monitor and its formula").help("write: NAME = FORMULA"),
            ));
        };
        let specification = &self.specification;
        let (start, after) = (name.len() - name.trim_start().len(), name.len() + 1);
        let name = name.trim();
        let named = Span::new(source, start as u32, (start + name.len()) as u32);
        let Some(monitor) = specification.find(name) else {
            let known = specification.monitors().map(|id| specification.name(id));
            let problem = Diagnostic::error(named, format!("there is no monitor `{name}`"));
            return Err(told(nearest_help(problem, name, known)));
        };
        let mut copied = Text::new(source);
        copied.copy(formula, after);
        let tree = Tree::parse(formula).map_err(|mistake| told(wrong(&copied, &mistake)))?;
        let place = Place { name: named, names: names(&tree, &copied) };
        Ok(Adapted { monitor, body: Body::Formula(tree), place, whole })
    }

    /// The same monitor, if nothing is wrong now.
    fn checked(&self, monitor: MonitorId) -> Result<MonitorId, Vec<Diagnostic>> {
        let problems = self.specification.check();
        if problems.is_empty() { Ok(monitor) } else { Err(self.told(problems)) }
    }
}

/// A formula for a monitor.
struct Adapted {
    monitor: MonitorId,
    body: Body,
    place: Place,
    whole: Span,
}
