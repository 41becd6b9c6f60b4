//! What the tests share: a catalog, and a way to read everything into plain data.

#![allow(dead_code, unreachable_pub)]

use invigil_expr::value::{Tag, Value};
use invigil_monitor::event::{Catalog, Event, Kind, Param, Source, Type};
use invigil_trace::{Input, Options, Schema, Summary, read};
use std::io::{Cursor, Read};
use std::ops::ControlFlow;

/// A value as the tests compare it.
#[derive(Clone, Debug, PartialEq)]
pub enum Plain {
    Unset,
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
}

pub fn plain(value: Value, event: &Event<'_>) -> Plain {
    match value.tag() {
        Tag::Unset => Plain::Unset,
        Tag::None => Plain::None,
        Tag::Bool => Plain::Bool(value.as_bool().unwrap()),
        Tag::Int => Plain::Int(value.as_int().unwrap()),
        Tag::Float => Plain::Float(value.as_float().unwrap()),
        Tag::Short => Plain::Str(value.as_short().unwrap().to_owned()),
        Tag::Text => {
            let (start, len) = value.as_text().unwrap();
            Plain::Str(event.text[start as usize..][..len as usize].to_owned())
        }
        tag => panic!("{tag:?} from a trace"),
    }
}

pub fn string(text: &str) -> Plain {
    Plain::Str(text.to_owned())
}

/// An event as the tests compare it.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub name: String,
    pub kind: Kind,
    pub time: Option<f64>,
    pub input: usize,
    pub line: u64,
    pub params: Vec<Plain>,
}

pub fn param(source: Source, ty: Option<Type>) -> Param {
    Param { name: source.to_string(), source, ty }
}

pub fn named(name: &str, ty: Option<Type>) -> Param {
    param(Source::Name(name.to_owned()), ty)
}

pub fn catalog(symbols: &[(&str, Kind, &[Param])]) -> Catalog {
    let mut catalog = Catalog::default();
    for (name, kind, params) in symbols {
        let symbol = catalog.symbol(name, *kind);
        for param in *params {
            catalog.param(symbol, param);
        }
    }
    catalog
}

/// `push` and `pop`, each with a `queue` of any type.
pub fn queues() -> Catalog {
    let queue = [named("queue", None)];
    catalog(&[("push", Kind::Before, &queue), ("pop", Kind::Before, &queue)])
}

/// One thread, blocks of the usual size.
pub fn simple() -> Options {
    Options { threads: 1, ..Options::default() }
}

pub fn input(text: impl AsRef<[u8]>) -> Input {
    Input::reader("test", Cursor::new(text.as_ref().to_vec()))
}

pub fn read_all(inputs: Vec<Input>, catalog: &Catalog, options: &Options) -> (Vec<Seen>, Summary) {
    let mut all = Vec::new();
    let summary = read(inputs, &Schema::new(catalog), options, |block| {
        for i in 0..block.batch.len() {
            let event = block.batch.event(i);
            let symbol = catalog.get(event.symbol).unwrap();
            let place = block.place(i);
            let time = block.batch.stamp(i).time;
            all.push(Seen {
                name: symbol.name.clone(),
                kind: symbol.kind,
                time: (!time.is_nan()).then_some(time),
                input: place.input,
                line: place.line,
                params: event.params.iter().map(|value| plain(*value, &event)).collect(),
            });
        }
        ControlFlow::Continue(())
    });
    (all, summary)
}

/// The events of a text, and what else there was.
pub fn events(text: impl AsRef<[u8]>, catalog: &Catalog) -> (Vec<Seen>, Summary) {
    read_all(vec![input(text)], catalog, &simple())
}

/// The first parameter of each event.
pub fn firsts(seen: &[Seen]) -> Vec<Plain> {
    seen.iter().map(|event| event.params[0].clone()).collect()
}

/// Hands out a text in pieces of these sizes, over and over.
pub struct Pieces {
    pub text: Cursor<Vec<u8>>,
    pub sizes: Vec<usize>,
    pub at: usize,
}

impl Pieces {
    pub fn new(text: impl AsRef<[u8]>, sizes: &[usize]) -> Pieces {
        Pieces { text: Cursor::new(text.as_ref().to_vec()), sizes: sizes.to_vec(), at: 0 }
    }
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let size = self.sizes[self.at % self.sizes.len()].clamp(1, into.len().max(1)).min(into.len());
        self.at += 1;
        self.text.read(&mut into[..size])
    }
}
