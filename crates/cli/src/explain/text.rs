//! Explanations of properties as text.

use invigil_check::report::{Paint, Style};
use invigil_lang::prop::explain::{BranchInfo, EventInfo, Explanation, LintLevel, StateInfo, TransitionInfo};
use invigil_monitor::verdict::Verdict;

/// The explanation as text, with a newline after each line.
pub(super) fn text(explanation: &Explanation, style: &Style) -> String {
    let mut writer = ExplainWriter { style, out: String::new() };
    writer.headline(explanation);
    writer.events(&explanation.events);
    for state in &explanation.states {
        writer.state(state);
    }
    for (at, lint) in explanation.lints.iter().enumerate() {
        if at == 0 {
            writer.line(0, "");
        }
        let colour = if lint.level == LintLevel::Warning { Paint::Undecided } else { Paint::Title };
        let word = writer.paint(colour, &format!("{}:", lint.level.word()));
        let place = lint.place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
        writer.line(0, &format!("{word} {}{place}", lint.text));
    }
    writer.out
}

/// Text under construction.
struct ExplainWriter<'a> {
    style: &'a Style,
    out: String,
}

impl ExplainWriter<'_> {
    fn paint(&self, paint: Paint, text: &str) -> String {
        self.style.paint(paint, text)
    }

    fn line(&mut self, indent: usize, text: &str) {
        if !text.is_empty() {
            self.out.extend(std::iter::repeat_n(' ', indent));
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    fn headline(&mut self, explanation: &Explanation) {
        let slices = match &explanation.slice_on[..] {
            [] => "one instance for the whole trace".to_owned(),
            params => format!("one instance per {}", params.join(" and ")),
        };
        let name = self.paint(Paint::Title, &explanation.name);
        self.line(0, &format!("property {name}: {slices}"));
        let violation = if explanation.can_be_violated { "can be violated" } else { "cannot be violated" };
        let monitorability = match explanation.is_monitorable {
            true => "monitorable: every state can still reach a final verdict",
            false => "not monitorable: some states cannot reach a final verdict",
        };
        self.line(2, &format!("{violation}; {monitorability}"));
        if !explanation.variables.is_empty() {
            let variables: Vec<String> = explanation
                .variables
                .iter()
                .map(|variable| match &variable.value {
                    Some(value) => format!("{} = {value}", variable.name),
                    None => format!("{} (initially unset)", variable.name),
                })
                .collect();
            self.line(2, &format!("variables {}", variables.join(", ")));
        }
    }

    fn events(&mut self, events: &[EventInfo]) {
        self.line(0, "");
        self.line(0, "events");
        let shown: Vec<String> = events.iter().map(event_signature).collect();
        let widest = shown.iter().map(|event| event.chars().count()).max().unwrap_or(0);
        for (event, shown) in events.iter().zip(shown) {
            let bound: Vec<&str> = event.parameters.iter().filter_map(|p| p.binds.as_deref()).collect();
            let slices = match bound.is_empty() {
                true => String::new(),
                false => format!("slice by {}", bound.join(", ")),
            };
            let slices = self.paint(Paint::Faint, &slices);
            self.line(2, format!("{shown:widest$}  {slices}").trim_end());
        }
    }

    fn state(&mut self, state: &StateInfo) {
        self.line(0, "");
        let colour = match state.verdict {
            Verdict::Accepting => Paint::Good,
            Verdict::Undecided => Paint::Undecided,
            Verdict::NonAccepting | Verdict::Error => Paint::Bad,
        };
        let mut traits = vec![self.paint(colour, state.verdict.word())];
        let more = [
            (state.is_initial, "starts here"),
            (state.is_final, "final: the slice is removed"),
            (!state.is_reachable, "unreachable"),
            (state.is_settled && !state.is_final, "the verdict is final"),
        ];
        traits.extend(more.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word.to_owned()));
        let name = self.paint(Paint::Title, &state.name);
        let place = self.paint(Paint::Faint, &state.place);
        self.line(0, &format!("state {name}: {}  {place}", traits.join(", ")));
        if let Some(action) = &state.action {
            self.line(2, &format!("calls {action}"));
        }
        let needs: Vec<String> = state.needs.iter().map(ToString::to_string).collect();
        match needs.is_empty() {
            true => self.line(2, "needs no event"),
            false => self.line(2, &format!("needs {}", needs.join(", "))),
        }
        for transition in &state.transitions {
            self.transition(transition);
        }
    }

    fn transition(&mut self, transition: &TransitionInfo) {
        let mut headline = format!("on {}", transition.event);
        if let Some(from) = &transition.imported_from {
            headline += &format!(", as in state {from}");
        }
        if !transition.is_live {
            headline += &format!(", {}", self.paint(Paint::Undecided, "never taken"));
        }
        self.line(2, &headline);
        let (success, failure) = match &transition.guard {
            None => ("then", ""),
            Some(guard) if guard.is_update => {
                self.block("do", &guard.text);
                ("then", "")
            }
            Some(guard) => {
                self.block("if", &condition(&guard.text));
                ("then", "else")
            }
        };
        for (word, branch) in [(success, &transition.success), (failure, &transition.failure)] {
            match branch {
                Some(branch) => self.branch(word, branch),
                None if word.is_empty() => {}
                None => self.line(4, &format!("{word:5}try the next transition")),
            }
        }
    }

    fn branch(&mut self, word: &str, branch: &BranchInfo) {
        if let Some(block) = &branch.block {
            self.block(word, block);
        }
        let mut parts = Vec::new();
        parts.extend(branch.action.as_ref().map(|action| format!("call {action}")));
        let target = branch.target.as_ref().map_or("stay".to_owned(), |target| format!("→ {target}"));
        parts.push(match &branch.returns[..] {
            [] => target,
            others => format!("→ {}, or {target}", others.join(" or ")),
        });
        let word = if branch.block.is_some() { "" } else { word };
        self.line(4, &format!("{word:5}{}", parts.join(", ")));
    }

    /// A block after a keyword, with one line per line of the block.
    fn block(&mut self, word: &str, text: &str) {
        for (at, line) in text.lines().enumerate() {
            let word = if at == 0 { word } else { "" };
            self.line(4, format!("{word:5}{line}").trim_end());
        }
    }
}

/// An event with the parameters that a subject must supply, in the syntax of properties.
fn event_signature(event: &EventInfo) -> String {
    let parameters: Vec<String> = event
        .parameters
        .iter()
        .map(|param| {
            let ty = param.ty.map_or(String::new(), |ty| format!(": {ty}"));
            match param.source == param.name {
                true => format!("{}{ty}", param.name),
                false => format!("{} as {}{ty}", param.source, param.name),
            }
        })
        .collect();
    match parameters.is_empty() {
        true => event.event.clone(),
        false => format!("{}({})", event.event, parameters.join(", ")),
    }
}

/// The expression of a guard that only returns an expression, or the whole guard.
fn condition(guard: &str) -> String {
    match guard.strip_prefix("return ") {
        Some(value) if !guard.contains('\n') => value.to_owned(),
        _ => guard.to_owned(),
    }
}
