//! What the names of a model mean, once it is declared.

use super::ast;
use super::check::{Type, Typed};
use invigil_expr::diag::Span;
use invigil_model::{Kind, Unit, VariableId};
use std::collections::HashMap;
use std::rc::Rc;

/// What a name means.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Constant(i64, Type),
    Enum(Rc<Enum>),
    /// A record, or another name for a type.
    Shape(Rc<Layout>),
    Thing(Thing),
    /// A predicate over states.
    Predicate(Typed),
    /// A predicate over steps: guards cannot look at it.
    StepPredicate,
    /// A process with parameters, by its number among the declared ones.
    Template,
    /// Something whose declaration is wrong, which was told.
    Broken,
}

/// An enum.
#[derive(Clone, Debug)]
pub(super) struct Enum {
    pub(super) name: String,
    /// Its names, with the types of the values that they carry in mailboxes.
    pub(super) variants: Vec<(String, Vec<Kind>)>,
}

impl Enum {
    pub(super) fn names(&self) -> Vec<String> {
        self.variants.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// A type, as far as it matters where values lie.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    Scalar(Kind),
    Array(u32, Rc<Layout>),
    Record(Rc<Record>),
}

/// A record.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
    /// The number of single values in it.
    pub(super) count: u64,
}

/// A field of a record.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) layout: Rc<Layout>,
    pub(super) initial: Option<ast::Initial>,
}

/// The way from a value to one of the single values in it.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Field(String),
    Element(i64),
}

impl Layout {
    /// The number of single values.
    pub(super) fn count(&self) -> u64 {
        match self {
            Layout::Scalar(_) => 1,
            Layout::Array(length, of) => u64::from(*length).saturating_mul(of.count()),
            Layout::Record(record) => record.count,
        }
    }

    /// How many types are in each other here. No type is deeper than the declarations let it be.
    pub(super) fn depth(&self) -> u32 {
        match self {
            Layout::Scalar(_) => 0,
            Layout::Array(_, of) => 1 + of.depth(),
            Layout::Record(record) => {
                1 + record.fields.iter().map(|field| field.layout.depth()).max().unwrap_or(0)
            }
        }
    }

    /// All single values in it, with the ways to them.
    pub(super) fn leaves(&self) -> Vec<(Vec<Part>, Kind)> {
        match self {
            Layout::Scalar(kind) => vec![(Vec::new(), kind.clone())],
            Layout::Array(length, of) => {
                let inside = of.leaves();
                let one = |index| {
                    let index = Part::Element(i64::from(index));
                    inside.iter().map(move |(way, kind)| (prepend(index.clone(), way), kind.clone()))
                };
                (0..*length).flat_map(one).collect()
            }
            Layout::Record(record) => {
                let one = |field: &Field| -> Vec<(Vec<Part>, Kind)> {
                    let name = Part::Field(field.name.clone());
                    let inside = field.layout.leaves().into_iter();
                    inside.map(|(way, kind)| (prepend(name.clone(), &way), kind)).collect()
                };
                record.fields.iter().flat_map(one).collect()
            }
        }
    }
}

fn prepend(first: Part, rest: &[Part]) -> Vec<Part> {
    core::iter::once(first).chain(rest.iter().cloned()).collect()
}

/// Something that lies somewhere.
#[derive(Clone, Debug)]
pub(super) enum Thing {
    /// A variable of one value.
    Cell(VariableId, Kind),
    /// An array of single values.
    Row(VariableId, Kind, u32),
    /// An array of other things, from index `low`. An element of the hidden array `guard` is there for just the
    /// same indices, from 0: looking at it goes wrong where there is none.
    Many {
        guard: VariableId,
        low: i64,
        items: Rc<Vec<Thing>>,
    },
    Record(Rc<Record>, Rc<Vec<Thing>>),
    Process(usize),
    Channel(usize),
}

/// A channel.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) name: String,
    /// What it carries.
    pub(super) values: Vec<Rc<Layout>>,
    /// None if sender and receiver meet.
    pub(super) queue: Option<Queue>,
}

impl Channel {
    /// The single values that it carries.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        self.values.iter().flat_map(|of| of.leaves()).map(|(_, kind)| kind).collect()
    }
}

/// Where waiting values lie: the oldest first, cells that are not used at their lowest value.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) capacity: u32,
    /// One array for each single value.
    pub(super) cells: Vec<VariableId>,
    /// The lowest values of the cells.
    pub(super) lowest: Vec<i64>,
    pub(super) length: VariableId,
}

/// The mailbox of a process.
#[derive(Clone, Debug)]
pub(super) struct Mailbox {
    pub(super) is_deferred: bool,
    pub(super) overflow: ast::Overflow,
    pub(super) events: Rc<Enum>,
    /// The first array holds the events, numbered from 1: 0 is no event.
    pub(super) queue: Queue,
}

/// A process of the model.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) name: String,
    pub(super) declared: Rc<ast::Process>,
    pub(super) names: HashMap<String, Meaning>,
    pub(super) location: VariableId,
    pub(super) states: Rc<Vec<String>>,
    pub(super) mailbox: Option<Mailbox>,
    pub(super) unit: Unit,
    pub(super) priority: i32,
}

/// Everything that is declared.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) names: HashMap<String, Meaning>,
    /// Where each is declared.
    pub(super) places: HashMap<String, Span>,
    pub(super) enums: Vec<Rc<Enum>>,
    pub(super) channels: Vec<Channel>,
    pub(super) instances: Vec<Instance>,
}
