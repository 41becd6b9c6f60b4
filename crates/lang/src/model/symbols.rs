//! Symbol table of a model.

use super::ast;
use super::check::{Type, Typed};
use invigil_expr::diag::Span;
use invigil_model::{Domain, Side, VariableId};
use std::collections::HashMap;
use std::rc::Rc;

/// What a name in a model refers to.
#[derive(Clone, Debug)]
pub(super) enum NameKind {
    Constant(i64, Type),
    Enum(Rc<Enum>),
    /// A record, or an alias of a type.
    Layout(Rc<Layout>),
    Decl(Decl),
    /// A predicate over states.
    Predicate(Typed),
    /// A predicate over steps, which guards cannot use.
    StepPredicate,
    /// A process template.
    Template,
    /// A declaration with errors, which have been reported.
    Broken,
}

/// An enum.
#[derive(Clone, Debug)]
pub(super) struct Enum {
    pub(super) name: String,
    /// Its values, with the types of the data that they carry in mailboxes.
    pub(super) variants: Vec<(String, Vec<Domain>)>,
}

impl Enum {
    pub(super) fn names(&self) -> Vec<String> {
        self.variants.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// A type, as far as it determines the layout of variables.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    Scalar(Domain),
    Array(u32, Rc<Layout>),
    Record(Rc<Record>),
}

/// A record.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) name: String,
    pub(super) fields: Vec<Field>,
    /// The number of scalars in it.
    pub(super) count: u64,
}

/// A field of a record.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) layout: Rc<Layout>,
    pub(super) initial: Option<ast::Initial>,
}

/// A step from a composite value to one of its scalars.
#[derive(Clone, Debug)]
pub(super) enum Selector {
    Field(String),
    Element(i64),
}

impl Layout {
    /// Returns the number of scalars.
    pub(super) fn count(&self) -> u64 {
        match self {
            Layout::Scalar(_) => 1,
            Layout::Array(length, of) => u64::from(*length).saturating_mul(of.count()),
            Layout::Record(record) => record.count,
        }
    }

    /// Returns the nesting depth, which the declarations bound.
    pub(super) fn depth(&self) -> u32 {
        match self {
            Layout::Scalar(_) => 0,
            Layout::Array(_, of) => 1 + of.depth(),
            Layout::Record(record) => {
                1 + record.fields.iter().map(|field| field.layout.depth()).max().unwrap_or(0)
            }
        }
    }

    /// Returns all scalars in it, with their paths.
    pub(super) fn leaves(&self) -> Vec<(Vec<Selector>, Domain)> {
        match self {
            Layout::Scalar(kind) => vec![(Vec::new(), kind.clone())],
            Layout::Array(length, of) => {
                let inside = of.leaves();
                let one = |index| {
                    let index = Selector::Element(i64::from(index));
                    inside
                        .iter()
                        .map(move |(selectors, kind)| (prepend(index.clone(), selectors), kind.clone()))
                };
                (0..*length).flat_map(one).collect()
            }
            Layout::Record(record) => {
                let one = |field: &Field| -> Vec<(Vec<Selector>, Domain)> {
                    let name = Selector::Field(field.name.clone());
                    let inside = field.layout.leaves().into_iter();
                    inside.map(|(selectors, kind)| (prepend(name.clone(), &selectors), kind)).collect()
                };
                record.fields.iter().flat_map(one).collect()
            }
        }
    }
}

fn prepend(first: Selector, rest: &[Selector]) -> Vec<Selector> {
    core::iter::once(first).chain(rest.iter().cloned()).collect()
}

/// A declared object.
#[derive(Clone, Debug)]
pub(super) enum Decl {
    /// A scalar variable.
    Scalar(VariableId, Domain),
    /// An array of scalars.
    ScalarArray(VariableId, Domain, u32),
    /// An array of other objects, from index `low`. The hidden array `guard` has exactly the same indices, from 0:
    /// reading it raises a fault for an invalid index.
    Array {
        guard: VariableId,
        low: i64,
        items: Rc<Vec<Decl>>,
    },
    Record(Rc<Record>, Rc<Vec<Decl>>),
    Process(usize),
    Channel(usize),
}

/// A channel.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) name: String,
    /// The types of its values.
    pub(super) values: Vec<Rc<Layout>>,
    /// The buffer; `None` for a rendezvous channel.
    pub(super) queue: Option<Queue>,
}

impl Channel {
    /// Returns the domains of all scalars of a message.
    pub(super) fn domains(&self) -> Vec<Domain> {
        self.values.iter().flat_map(|of| of.leaves()).map(|(_, kind)| kind).collect()
    }
}

/// The storage of waiting values: the oldest first, unused cells at their lowest value.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    pub(super) capacity: u32,
    /// One array per scalar.
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
    /// The first array holds the events, numbered from 1; 0 means no event.
    pub(super) queue: Queue,
}

/// A process of the model.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) name: String,
    pub(super) declared: Rc<ast::Process>,
    pub(super) names: HashMap<String, NameKind>,
    pub(super) location: VariableId,
    pub(super) states: Rc<Vec<String>>,
    pub(super) mailbox: Option<Mailbox>,
    pub(super) side: Side,
    pub(super) priority: i32,
}

/// All declarations of a model.
#[derive(Debug, Default)]
pub(super) struct SymbolTable {
    pub(super) names: HashMap<String, NameKind>,
    /// The position of each declaration.
    pub(super) declaration_spans: HashMap<String, Span>,
    pub(super) enums: Vec<Rc<Enum>>,
    pub(super) channels: Vec<Channel>,
    pub(super) instances: Vec<Instance>,
}
