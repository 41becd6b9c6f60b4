//! The report for people.

use super::{Answer, Moment, Validation};
use crate::story::wrapped;
use invigil_check::report::{Paint, Style, count, grouped, printable, shorten};
use invigil_explore::validate::{Refusal, Wrong};
use invigil_expr::diag::nearest;
use invigil_trace::End;

/// So much of each is told; the rest is in the JSON report.
const FEW: usize = 5;
/// The records before the one that was lost that are shown.
const BEFORE: usize = 4;

impl Validation {
    /// What became of the trace, in words.
    pub fn text(&self, style: &Style) -> String {
        let model = if self.model.is_empty() { "the model" } else { &self.model };
        let trace = match &self.inputs[..] {
            [one] => printable(one),
            several => format!("the {}", count(several.len() as u64, "trace")),
        };
        let mut text = match &self.answer {
            Answer::Possible => {
                let title = style.paint(Paint::Good, &format!("{model} can do what {trace} says"));
                format!("{title}\n  {}\n", self.success())
            }
            Answer::Impossible(refusal, lost) => {
                let title = style.paint(Paint::Bad, &format!("{model} cannot do what {trace} says"));
                format!("{title}\n{}", self.failure(refusal, lost, style))
            }
            Answer::Wrong(_) | Answer::TooMany(_) | Answer::Unknown => {
                let title = style.paint(Paint::Open, "no answer");
                let matched = count(self.matched, "event");
                format!("{title}: so far, {model} can do what {trace} says ({matched})\n")
            }
        };
        let notes = self.notes();
        if !notes.is_empty() {
            text.push('\n');
        }
        for note in notes {
            text.push_str(&format!("{} {note}\n", style.paint(Paint::Open, "note:")));
        }
        text
    }

    /// What kept the trace from getting an answer; nothing if it got one.
    pub fn errors(&self) -> Vec<String> {
        let mut errors = Vec::new();
        match &self.answer {
            Answer::Wrong(wrong) => {
                for (wrong, moment, times) in wrong {
                    errors.push(format!("{}: {}", self.place(moment), remedy(wrong, *times)));
                }
            }
            Answer::TooMany(most) => errors.push(format!(
                "after {}, the model could be in more than {}; \
                 let the trace tell more, hide fewer actions, or raise `--max-configurations`",
                count(self.matched.saturating_sub(1), "event"),
                count(*most as u64, "configuration")
            )),
            _ => {}
        }
        if let End::Failed(error) = &self.trace.end {
            errors.push(error.to_string());
        }
        errors
    }

    fn success(&self) -> String {
        let mut told = count(self.matched - self.ignored, "event");
        if self.ignored > 0 {
            told += &format!(" ({} more ignored)", grouped(self.ignored));
        }
        let most = self.survivors.most;
        let now = count(self.configurations as u64, "configuration");
        match most {
            1 => format!("{told}; it is always known which configuration it is in"),
            most => {
                format!("{told}; it can be in {now} at the end, and in {} at most on the way", grouped(most))
            }
        }
    }

    fn place(&self, moment: &Moment) -> String {
        let input = self.inputs.get(moment.place.input).map_or("", String::as_str);
        format!("{}:{}", printable(input), moment.place.line)
    }

    fn failure(&self, refusal: &Refusal, lost: &Moment, style: &Style) -> String {
        let mut out = String::new();
        let mut line = |text: String| {
            out.push_str(text.trim_end());
            out.push('\n');
        };
        let width = style.width.saturating_sub(4);
        let matched = match self.matched {
            0 => "not even the first event matches".to_owned(),
            1 => "the first event matches, the next does not".to_owned(),
            matched => format!("the first {} match, the next does not", count(matched, "event")),
        };
        line(format!("  {}: {matched}", self.place(lost)));
        line(String::new());

        line(style.paint(Paint::Faint, "  event  line  configurations"));
        let shown = &self.recent[self.recent.len().saturating_sub(BEFORE)..];
        for moment in shown.iter().chain([lost]) {
            let words = shorten(&printable(&moment.words), width.saturating_sub(28).max(20));
            let row = format!(
                "  {:>5} {:>5}  {:>14}  {words}",
                moment.number, moment.place.line, moment.configurations
            );
            line(if moment == lost { style.paint(Paint::Bad, &row) } else { row });
        }
        line(String::new());

        let shown = refusal.configurations.iter().take(FEW).enumerate();
        match refusal.count {
            0 => line("The model cannot start at all.".to_owned()),
            1 => line("Before it, the model is in this configuration:".to_owned()),
            all => line(format!("Before it, the model can be in {all} configurations:")),
        }
        let first = refusal.configurations.first();
        for (at, config) in shown {
            // Of all but the first, only what is different: that is what one would look for.
            let before = first.filter(|_| at > 0);
            let differs = |name: &str, value: &str| before.is_none_or(|first| first.get(name) != Some(value));
            let fields = config.iter().filter(|field| differs(&field.name, &field.value));
            let mut words: Vec<String> =
                fields.map(|field| printable(&format!("{} = {}", field.name, field.value))).collect();
            if let (Some(_), Some(word)) = (before, words.first_mut()) {
                *word = format!("as 1, but {word}");
            }
            for (row, text) in wrapped(&words, width.saturating_sub(1)).iter().enumerate() {
                let number = if row == 0 { (at + 1).to_string() } else { " ".to_owned() };
                line(format!("  {number}  {text}"));
            }
        }
        if refusal.count > FEW {
            line(format!("  and {} more", grouped((refusal.count - FEW) as u64)));
        }
        line(String::new());

        if !refusal.misses.is_empty() {
            line("What is wrong with it there:".to_owned());
        }
        for miss in refusal.misses.iter().take(FEW) {
            let place = match (miss.count, miss.configurations.first()) {
                _ if refusal.count == 1 => String::new(),
                (count, _) if count == refusal.count => " (in all of them)".to_owned(),
                (1, Some(one)) if *one < FEW => format!(" (in {})", one + 1),
                (count, _) => format!(" (in {} of them)", grouped(count as u64)),
            };
            line(format!("  {}{place}", printable(&miss.to_string())));
        }
        if refusal.misses.len() > FEW {
            line(format!("  and {} more reasons", refusal.misses.len() - FEW));
        }
        if !refusal.able.is_empty() {
            let mut able: Vec<String> =
                refusal.able.iter().take(2 * FEW).map(|event| printable(event)).collect();
            if refusal.able.len() > able.len() {
                able.push("…".to_owned());
            }
            line(String::new());
            line(format!("What the model can do instead: {}", able.join("; ")));
        } else if refusal.count > 0 {
            line(String::new());
            line("The model can do nothing instead that a log would tell.".to_owned());
        }
        out
    }

    /// What may be the reason, or makes the answer weaker than it looks.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let list = |names: &[String]| {
            let some: Vec<String> = names.iter().take(FEW).map(|name| format!("`{name}`")).collect();
            some.join(", ") + if names.len() > FEW { ", …" } else { "" }
        };
        if let Answer::Impossible(refusal, _) = &self.answer {
            if refusal.is_state {
                notes.push(
                    "a record without an event tells of a state; if actions between such records are not logged, \
                     say so: `--hidden '*'`"
                        .to_owned(),
                );
            } else if let Some(first) = self.unseen.first() {
                notes.push(format!(
                    "no event so far is {}; what is not logged can be hidden: `--hidden '{first}'`",
                    list(&self.unseen)
                ));
            }
        }
        let skipped = self.trace.problems.skipped();
        if skipped > 0 {
            let first = self.trace.problems.first().first();
            let first =
                first.map_or(String::new(), |problem| format!("; line {}: {problem}", problem.place.line));
            notes.push(format!("{} could not be read and are left out{first}", count(skipped, "line")));
        }
        if self.matched == 0 && self.is_possible() {
            notes.push("the trace is empty".to_owned());
        }
        for (event, parameter) in self.untold.iter().take(FEW) {
            notes.push(format!("no event `{event}` tells its parameter `{parameter}`"));
        }
        let (meant, strange): (Vec<_>, Vec<_>) = self.unread.iter().partition(|(_, meant)| meant.is_some());
        for (field, meant) in meant {
            let meant = meant.as_deref().unwrap_or_default();
            notes.push(format!(
                "`{field}` in the trace is nothing in the model and is not read; \
                 if it is `{meant}`: `--map '{field}={meant}'`"
            ));
        }
        let strange: Vec<String> = strange.into_iter().map(|(field, _)| field.clone()).collect();
        if !strange.is_empty() {
            notes.push(format!("not read, because the model has nothing of the name: {}", list(&strange)));
        }
        notes
    }
}

/// What is wrong with a record, and what to do about it.
fn remedy(wrong: &Wrong, times: u64) -> String {
    let often = if times > 1 { format!(" ({} times)", grouped(times)) } else { String::new() };
    match wrong {
        Wrong::Event { event, known } => {
            let meant = nearest(event, known.iter().map(String::as_str));
            let remedy = match meant {
                Some(meant) => {
                    format!("if it is `{meant}`: `--map '{event}={meant}'`; else `--ignore '{event}'`")
                }
                None => {
                    format!("to pass over it: `--ignore '{event}'`; to bind it: `--map '{event}=ACTION'`")
                }
            };
            format!("{wrong}{often}; {remedy}")
        }
        Wrong::Nothing => format!("{wrong}{often}; name the event in a field `event`"),
        Wrong::Value { field, value, known, .. } => {
            let meant = nearest(value, known.iter().map(String::as_str));
            let remedy = match meant {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("if it is something else: `--map '{field}='` leaves it unread"),
            };
            format!("{wrong}{often}; {remedy}")
        }
    }
}
