//! Trace validation with traces from files: what is read, and what is told about it.
//!
//! ```
//! use invigil_explore::validate::{Binding, Names};
//! use invigil_model::{Action, Model, Parts};
//! use invigil_trace::Input;
//! use invigil_verify::validation::{Settings, validate};
//!
//! let model = Model::new(Parts { actions: vec![Action::named("tick")], ..Parts::default() }).unwrap();
//! let binding = Binding::new(&model, &Names::default()).unwrap();
//! let trace = Input::reader("trace", std::io::Cursor::new("tick\ntick\n"));
//! let validation = validate(&binding, vec![trace], &Settings::default(), |_, _| true);
//! assert!(validation.is_possible());
//! ```

mod json;
mod text;
mod unread;

use invigil_explore::validate::{
    Binding, Given, Graph, Halt, Options, Record, Refusal, Survivors, Taken, Validator, Wrong,
};
use invigil_expr::value::{Tag, Value};
use invigil_monitor::event::{ANY, Batch, Catalog, Event, Kind, Param, STATE, Source, SymbolId};
use invigil_trace::{Block, End, Input, Place, Schema, Summary, read};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// How a trace is read and validated.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How the model is followed.
    pub options: Options,
    /// How the trace is read.
    pub trace: invigil_trace::Options,
}

/// What became of a trace.
#[derive(Debug)]
pub struct Validation {
    /// The model's name.
    pub model: String,
    /// The answer.
    pub answer: Answer,
    /// How many records the model can do, from the first on, those that are ignored included.
    pub matched: u64,
    /// How many of them are ignored.
    pub ignored: u64,
    /// The last records that match.
    pub recent: Vec<Moment>,
    /// In how many configurations the model can be after them.
    pub configurations: usize,
    /// How many configurations survived each record.
    pub survivors: Survivors,
    /// The last records with the configurations between them.
    pub graph: Graph,
    /// Events of the model that no record told.
    pub unseen: Vec<String>,
    /// Parameters that no record of their event told: event and parameter.
    pub untold: Vec<(String, String)>,
    /// Fields of the trace that are nothing in the model, with one that may be meant.
    pub unread: Vec<(String, Option<String>)>,
    /// What was read.
    pub trace: Summary,
    /// The names of the inputs.
    pub inputs: Vec<String>,
}

/// Whether the model can do what the trace says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It can.
    Possible,
    /// It cannot do this record, where it is after those before it.
    Impossible(Box<Refusal>, Moment),
    /// Some records cannot be compared with the model: what is wrong with them, where first, and how often.
    Wrong(Vec<(Wrong, Moment, u64)>),
    /// The model could be in too many configurations.
    TooMany(usize),
    /// Someone stopped it, or the trace broke off.
    Unknown,
}

/// A record of the trace, by where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Which record it is, counted from one.
    pub number: u64,
    /// Where it stands.
    pub place: Place,
    /// What it says; empty for one that was not understood.
    pub words: String,
    /// The number of configurations after it.
    pub configurations: usize,
}

/// More unknown events are not collected.
const MOST_WRONG: usize = 20;

/// Follows a trace. `goes_on` is told now and then how many records and bytes there were, and may end it.
pub fn validate(
    binding: &Binding<'_>,
    inputs: Vec<Input>,
    settings: &Settings,
    mut goes_on: impl FnMut(u64, u64) -> bool,
) -> Validation {
    let names: Vec<String> = inputs.iter().map(|input| input.name().to_owned()).collect();
    let catalog = catalog(binding);
    let mut follower = Follower::new(binding, settings);
    let mut bytes = 0;
    let trace = read(inputs, &Schema::new(&catalog), &settings.trace, |block| {
        follower.look_for_unread(binding, block);
        let flow = follower.follow(block);
        bytes += block.bytes();
        if goes_on(follower.number, bytes) { flow } else { ControlFlow::Break(()) }
    });
    follower.finish(binding, trace, names)
}

/// Every record is one of two symbols, with all fields that say something: its name is looked up later, so that
/// unknown ones are not lost.
fn catalog(binding: &Binding<'_>) -> Catalog {
    let mut catalog = Catalog::default();
    let named = |name: &str| Param { source: Source::Name(name.to_owned()), name: name.to_owned(), ty: None };
    for name in [STATE, ANY] {
        let symbol = catalog.symbol(name, Kind::Before);
        ["event", "kind"].into_iter().chain(binding.fields()).for_each(|field| {
            catalog.param(symbol, &named(field));
        });
    }
    catalog
}

/// Where the fields of the model begin among the parameters of an event.
const OWN: usize = 2;

struct Follower<'b> {
    validator: Option<Validator<'b>>,
    /// For each parameter of an event, the field that it is.
    fields: Vec<Option<u32>>,
    number: u64,
    ignored: u64,
    most: usize,
    lost: Option<Moment>,
    wrong: Vec<(Wrong, Moment, u64)>,
    is_too_many: bool,
    recent: VecDeque<(u64, Place)>,
    remembered: usize,
    unread: Vec<String>,
    has_looked: bool,
}

impl<'b> Follower<'b> {
    fn new(binding: &'b Binding<'b>, settings: &Settings) -> Follower<'b> {
        let validator = Validator::new(binding, settings.options).ok();
        let positions = ["event", "kind"].into_iter().chain(binding.fields());
        let mut params: Vec<&str> = Vec::new();
        for name in positions {
            if !params.contains(&name) {
                params.push(name);
            }
        }
        Follower {
            is_too_many: validator.is_none(),
            validator,
            fields: params.iter().map(|name| binding.field(name)).collect(),
            number: 0,
            ignored: 0,
            most: settings.options.most_configurations,
            lost: None,
            wrong: Vec::new(),
            recent: VecDeque::new(),
            remembered: settings.options.remembered,
            unread: Vec::new(),
            has_looked: false,
        }
    }

    /// The first block shows which fields the trace has.
    fn look_for_unread(&mut self, binding: &Binding<'_>, block: &Block) {
        if !std::mem::replace(&mut self.has_looked, true) {
            self.unread = unread::in_text(binding, &block.batch.text);
        }
    }

    fn follow(&mut self, block: &Block) -> ControlFlow<()> {
        for at in 0..block.batch.len() {
            self.number += 1;
            self.take(&block.batch, at, block.place(at));
            if self.lost.is_some() || self.is_too_many {
                return ControlFlow::Break(());
            }
            if self.wrong.iter().any(|(wrong, ..)| matches!(wrong, Wrong::Value { .. })) {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn take(&mut self, batch: &Batch, at: usize, place: Place) {
        let Some(validator) = &mut self.validator else { return };
        let event = batch.event(at);
        let name;
        let mut record = Record::default();
        if event.symbol != STATE_SYMBOL {
            name = called(&event);
            record.event = Some(name.as_ref());
        }
        for (value, field) in event.params.iter().zip(&self.fields).skip(OWN) {
            let given = field.and_then(|field| Some((field, given(value, event.text)?)));
            record.values.extend(given);
        }
        let moment = || Moment { number: self.number, place, words: String::new(), configurations: 0 };
        // Behind an event that is not understood nothing can be said, but there may be more of them.
        if !self.wrong.is_empty() && record.event.is_none_or(|event| validator.knows(event)) {
            return;
        }
        match validator.take(&record) {
            Ok(Taken::Matched) => {
                if self.recent.len() >= self.remembered {
                    self.recent.pop_front();
                }
                self.recent.push_back((self.number, place));
            }
            Ok(Taken::Ignored) => self.ignored += 1,
            Ok(Taken::Lost) => self.lost = Some(moment()),
            Err(Halt::TooMany) => self.is_too_many = true,
            Err(Halt::Wrong(wrong)) => {
                let (moment, is_full) = (moment(), self.wrong.len() >= MOST_WRONG);
                match self.wrong.iter_mut().find(|(known, ..)| *known == wrong) {
                    Some((.., count)) => *count += 1,
                    None if is_full => {}
                    None => self.wrong.push((wrong, moment, 1)),
                }
            }
        }
    }

    fn finish(mut self, binding: &Binding<'_>, trace: Summary, inputs: Vec<String>) -> Validation {
        let refusal = self.validator.as_mut().and_then(Validator::refusal);
        let first_wrong = self.wrong.first().map(|(_, moment, _)| moment.number);
        let last = self.lost.as_ref().map(|lost| lost.number).or(first_wrong);
        let matched = last.map_or(self.number, |last| last - 1);
        let answer = match (refusal, self.lost) {
            (Some(refusal), Some(lost)) => {
                let words = refusal.record.clone();
                Answer::Impossible(Box::new(refusal), Moment { words, ..lost })
            }
            _ if !self.wrong.is_empty() => Answer::Wrong(self.wrong),
            _ if self.is_too_many => Answer::TooMany(self.most),
            _ if matches!(trace.end, End::Finished) => Answer::Possible,
            _ => Answer::Unknown,
        };
        let mut unread = self.unread;
        for column in &trace.unread {
            if !unread.contains(column) && unread::is_unread(binding, column) {
                unread.push(column.clone());
            }
        }
        let mut validation = Validation {
            model: binding.model().parts().name.clone(),
            answer,
            matched,
            ignored: self.ignored,
            recent: Vec::new(),
            configurations: 0,
            survivors: Survivors::default(),
            graph: Graph::default(),
            unseen: Vec::new(),
            untold: Vec::new(),
            unread: unread::with_meant(binding, unread),
            trace,
            inputs,
        };
        if let Some(mut validator) = self.validator {
            let told = validator.recent();
            let moments = self.recent.iter().zip(told);
            validation.recent = moments
                .map(|((number, place), (words, configurations))| Moment {
                    number: *number,
                    place: *place,
                    words: words.to_owned(),
                    configurations,
                })
                .collect();
            validation.configurations = validator.configurations();
            validation.survivors = validator.survivors().clone();
            validation.unseen = validator.unseen().into_iter().map(str::to_owned).collect();
            let untold = validator.untold();
            validation.untold =
                untold.into_iter().map(|(event, name)| (event.to_owned(), name.to_owned())).collect();
            validation.graph = validator.graph();
        }
        validation
    }
}

/// The first symbol of the catalog.
const STATE_SYMBOL: SymbolId = SymbolId(0);

/// What an event is called: `queue_push`, or `after queue_push`.
fn called<'a>(event: &Event<'a>) -> Cow<'a, str> {
    let text = |at: usize| match event.params.get(at).and_then(|value| given(value, event.text)) {
        Some(Given::Text(text)) => Cow::Borrowed(text),
        Some(other) => Cow::Owned(other.to_string()),
        None => Cow::Borrowed(""),
    };
    match (text(0), text(1)) {
        (name, kind) if matches!(&*kind, "" | "before") => name,
        (name, kind) => format!("{kind} {name}").into(),
    }
}

/// A value as the log gives it; none if it is missing.
fn given<'a>(value: &'a Value, text: &'a str) -> Option<Given<'a>> {
    match value.tag() {
        Tag::Int => value.as_int().map(Given::Integer),
        Tag::Float => value.as_float().map(Given::Number),
        Tag::Bool => value.as_bool().map(Given::Boolean),
        Tag::Short => value.as_short().map(Given::Text),
        _ => {
            let (start, length) = value.as_text()?;
            text.get(start as usize..start as usize + length as usize).map(Given::Text)
        }
    }
}

impl Validation {
    /// Whether the model can do what the trace says.
    pub fn is_possible(&self) -> bool {
        self.answer == Answer::Possible
    }

    /// Whether it certainly cannot.
    pub fn is_impossible(&self) -> bool {
        matches!(self.answer, Answer::Impossible(..))
    }
}
