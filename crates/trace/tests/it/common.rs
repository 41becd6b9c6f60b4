//! Shared helpers: catalogs, and reading of traces into plain data.

use invigil_expr::value::{Tag, Value};
use invigil_monitor::event::{Event, EventCatalog, EventKind, Param, ParamSource, ParamType};
use invigil_trace::{Input, ReadOptions, ReadSummary, Schema, read};
use std::io::{Cursor, Read};
use std::ops::ControlFlow;

/// A value in comparable form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlainValue {
    Unset,
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
}

pub(crate) fn plain(value: Value, event: &Event<'_>) -> PlainValue {
    match value.tag() {
        Tag::Unset => PlainValue::Unset,
        Tag::None => PlainValue::None,
        Tag::Bool => PlainValue::Bool(value.as_bool().unwrap()),
        Tag::Int => PlainValue::Int(value.as_int().unwrap()),
        Tag::Float => PlainValue::Float(value.as_float().unwrap()),
        Tag::Short => PlainValue::Str(value.as_short().unwrap().to_owned()),
        Tag::Text => {
            let (start, len) = value.as_text().unwrap();
            PlainValue::Str(event.text[start as usize..][..len as usize].to_owned())
        }
        tag => panic!("{tag:?} from a trace"),
    }
}

pub(crate) fn string(text: &str) -> PlainValue {
    PlainValue::Str(text.to_owned())
}

/// An event in comparable form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlainEvent {
    pub(crate) name: String,
    pub(crate) kind: EventKind,
    pub(crate) time: Option<f64>,
    pub(crate) input: usize,
    pub(crate) line: u64,
    pub(crate) params: Vec<PlainValue>,
}

pub(crate) fn param(source: ParamSource, ty: Option<ParamType>) -> Param {
    Param { name: source.to_string(), source, ty }
}

pub(crate) fn named(name: &str, ty: Option<ParamType>) -> Param {
    param(ParamSource::Name(name.to_owned()), ty)
}

pub(crate) fn catalog(declarations: &[(&str, EventKind, &[Param])]) -> EventCatalog {
    let mut catalog = EventCatalog::default();
    for (name, kind, params) in declarations {
        let event = catalog.declare(name, *kind);
        for param in *params {
            catalog.declare_param(event, param);
        }
    }
    catalog
}

/// `push` and `pop`, each with a `queue` of any type.
pub(crate) fn queue_catalog() -> EventCatalog {
    let queue = [named("queue", None)];
    catalog(&[("push", EventKind::Before, &queue), ("pop", EventKind::Before, &queue)])
}

/// Options with one thread and the default chunk size.
pub(crate) fn one_thread() -> ReadOptions {
    ReadOptions { threads: 1, ..ReadOptions::default() }
}

pub(crate) fn input(text: impl AsRef<[u8]>) -> Input {
    Input::reader("test", Cursor::new(text.as_ref().to_vec()))
}

pub(crate) fn read_all(
    inputs: Vec<Input>,
    catalog: &EventCatalog,
    options: &ReadOptions,
) -> (Vec<PlainEvent>, ReadSummary) {
    let mut all = Vec::new();
    let summary = read(inputs, &Schema::new(catalog), options, |block| {
        for i in 0..block.batch.len() {
            let event = block.batch.event(i);
            let declaration = catalog.get(event.id).unwrap();
            let position = block.position(i);
            let time = block.batch.meta(i).time;
            all.push(PlainEvent {
                name: declaration.name.clone(),
                kind: declaration.kind,
                time: (!time.is_nan()).then_some(time),
                input: position.input,
                line: position.line,
                params: event.params.iter().map(|value| plain(*value, &event)).collect(),
            });
        }
        ControlFlow::Continue(())
    });
    (all, summary)
}

/// The events of a text, and the summary.
pub(crate) fn events(text: impl AsRef<[u8]>, catalog: &EventCatalog) -> (Vec<PlainEvent>, ReadSummary) {
    read_all(vec![input(text)], catalog, &one_thread())
}

/// The first parameter of each event.
pub(crate) fn first_params(seen: &[PlainEvent]) -> Vec<PlainValue> {
    seen.iter().map(|event| event.params[0].clone()).collect()
}

/// Reader that yields a text in pieces of the given sizes, cyclically.
pub(crate) struct PiecewiseReader {
    pub(crate) text: Cursor<Vec<u8>>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) at: usize,
}

impl PiecewiseReader {
    pub(crate) fn new(text: impl AsRef<[u8]>, sizes: &[usize]) -> PiecewiseReader {
        PiecewiseReader { text: Cursor::new(text.as_ref().to_vec()), sizes: sizes.to_vec(), at: 0 }
    }
}

impl Read for PiecewiseReader {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let size = self.sizes[self.at % self.sizes.len()].clamp(1, into.len().max(1)).min(into.len());
        self.at += 1;
        self.text.read(&mut into[..size])
    }
}
