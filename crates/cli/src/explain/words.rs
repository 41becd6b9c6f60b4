//! What a property says, for a person to read.

use invigil_check::report::{Paint, Style};
use invigil_lang::prop::explain::{EndUse, EventUse, Explanation, StateUse, TransitionUse, Weight};
use invigil_monitor::verdict::Verdict;

/// The explanation, each line ended.
pub(super) fn words(said: &Explanation, style: &Style) -> String {
    let mut teller = Teller { style, out: String::new() };
    teller.headline(said);
    teller.events(&said.events);
    for state in &said.states {
        teller.state(state);
    }
    for (at, remark) in said.remarks.iter().enumerate() {
        if at == 0 {
            teller.line(0, "");
        }
        let colour = if remark.weight == Weight::Warning { Paint::Open } else { Paint::Title };
        let word = teller.paint(colour, &format!("{}:", remark.weight.word()));
        let place = remark.place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
        teller.line(0, &format!("{word} {}{place}", remark.text));
    }
    teller.out
}

struct Teller<'a> {
    style: &'a Style,
    out: String,
}

impl Teller<'_> {
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

    fn headline(&mut self, said: &Explanation) {
        let slices = match &said.slice_on[..] {
            [] => "one instance for the whole trace".to_owned(),
            params => format!("one instance for each {}", params.join(" and ")),
        };
        let name = self.paint(Paint::Title, &said.name);
        self.line(0, &format!("property {name}: {slices}"));
        let violation = if said.can_be_violated { "can be violated" } else { "cannot be violated" };
        let settled = match said.is_monitorable {
            true => "from everywhere, some events settle the verdict for good",
            false => "at some point no event can settle the verdict any more",
        };
        self.line(2, &format!("{violation}; {settled}"));
        if !said.variables.is_empty() {
            let variables: Vec<String> = said
                .variables
                .iter()
                .map(|variable| match &variable.value {
                    Some(value) => format!("{} = {value}", variable.name),
                    None => format!("{} (not set at first)", variable.name),
                })
                .collect();
            self.line(2, &format!("remembers {}", variables.join(", ")));
        }
    }

    fn events(&mut self, events: &[EventUse]) {
        self.line(0, "");
        self.line(0, "events");
        let shown: Vec<String> = events.iter().map(described).collect();
        let widest = shown.iter().map(|event| event.chars().count()).max().unwrap_or(0);
        for (event, shown) in events.iter().zip(shown) {
            let bound: Vec<&str> = event.parameters.iter().filter_map(|p| p.binds.as_deref()).collect();
            let slices = match bound.is_empty() {
                true => String::new(),
                false => format!("chooses the slice by {}", bound.join(", ")),
            };
            let slices = self.paint(Paint::Faint, &slices);
            self.line(2, format!("{shown:widest$}  {slices}").trim_end());
        }
    }

    fn state(&mut self, state: &StateUse) {
        self.line(0, "");
        let colour = match state.verdict {
            Verdict::Accepting => Paint::Good,
            Verdict::Undecided => Paint::Open,
            Verdict::NonAccepting | Verdict::Error => Paint::Bad,
        };
        let mut traits = vec![self.paint(colour, state.verdict.word())];
        let more = [
            (state.is_initial, "starts here"),
            (state.is_final, "final: the slice is forgotten"),
            (!state.is_reachable, "never reached"),
            (state.is_settled && !state.is_final, "the verdict stays"),
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

    fn transition(&mut self, transition: &TransitionUse) {
        let mut headline = format!("on {}", transition.event);
        if let Some(from) = &transition.taken_from {
            headline += &format!(", as in state {from}");
        }
        if !transition.is_live {
            headline += &format!(", {}", self.paint(Paint::Open, "never taken"));
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
        for (word, end) in [(success, &transition.success), (failure, &transition.failure)] {
            match end {
                Some(end) => self.end(word, end),
                None if word.is_empty() => {}
                None => self.line(4, &format!("{word:5}try the next transition")),
            }
        }
    }

    fn end(&mut self, word: &str, end: &EndUse) {
        if let Some(block) = &end.block {
            self.block(word, block);
        }
        let mut parts = Vec::new();
        parts.extend(end.action.as_ref().map(|action| format!("call {action}")));
        let target = end.target.as_ref().map_or("stay".to_owned(), |target| format!("→ {target}"));
        parts.push(match &end.returns[..] {
            [] => target,
            others => format!("→ {}, or {target}", others.join(" or ")),
        });
        let word = if end.block.is_some() { "" } else { word };
        self.line(4, &format!("{word:5}{}", parts.join(", ")));
    }

    /// A block after a word, its lines below each other.
    fn block(&mut self, word: &str, text: &str) {
        for (at, line) in text.lines().enumerate() {
            let word = if at == 0 { word } else { "" };
            self.line(4, format!("{word:5}{line}").trim_end());
        }
    }
}

/// An event with what a subject must give with it, in the words of a property.
fn described(event: &EventUse) -> String {
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

/// A guard that only returns something is known by what it returns.
fn condition(guard: &str) -> String {
    match guard.strip_prefix("return ") {
        Some(value) if !guard.contains('\n') => value.to_owned(),
        _ => guard.to_owned(),
    }
}
