//! The fields and events to extract from records: lookup tables made from an [`EventCatalog`].

use crate::name_table::{LookupHint, NONE, NameTable};
use invigil_monitor::event::{ANY_EVENT, EventCatalog, EventId, EventKind, ParamType, STATE_EVENT};
use std::sync::Arc;

/// The reserved fields. Their ids in every schema are their indices here.
pub(crate) const RESERVED: [&str; 5] = ["event", "time", "kind", "thread", "program"];
pub(crate) const EVENT: u32 = 0;
pub(crate) const TIME: u32 = 1;
pub(crate) const KIND: u32 = 2;

/// The events and parameters of an [`EventCatalog`], prepared for fast lookup in records. Cheap to clone.
///
/// ```
/// use invigil_monitor::event::{EventCatalog, EventKind};
/// let mut catalog = EventCatalog::default();
/// catalog.declare("queue_push", EventKind::Before);
/// let schema = invigil_trace::Schema::new(&catalog);
/// ```
#[derive(Clone, Debug)]
pub struct Schema {
    tables: Arc<SchemaTable>,
}

#[derive(Debug)]
struct SchemaTable {
    fields: NameTable,
    names: NameTable,
    rows: Vec<Row>,
    kinds: NameTable,
    symbols: Vec<Box<[ParamLookup]>>,
    positions: Vec<(u32, u32)>,
    /// The event of records without an event name, if a property reads such records.
    state: Option<EventId>,
    /// The event of all records with an event name, if a property reads all.
    any: Option<EventId>,
}

/// The event ids of one event name, by kind.
#[derive(Debug)]
struct Row {
    implied: EventKind,
    by_kind: [u32; EventKind::WORDS.len()],
    /// The second event of records of that kind, if any.
    also: [u32; EventKind::WORDS.len()],
}

/// The kinds that are also an access: reads and writes.
const EITHER: [(EventKind, EventKind); 4] = [
    (EventKind::Read, EventKind::Access),
    (EventKind::Write, EventKind::Access),
    (EventKind::BeforeRead, EventKind::BeforeAccess),
    (EventKind::BeforeWrite, EventKind::BeforeAccess),
];

impl Row {
    fn new(name: &str) -> Row {
        let none = [NONE; EventKind::WORDS.len()];
        Row { implied: EventKind::implied_by(name), by_kind: none, also: none }
    }

    /// Makes reads and writes also accesses.
    fn add_accesses(&mut self) {
        for (kind, either) in EITHER {
            let access = self.by_kind[either as usize];
            let exact = &mut self.by_kind[kind as usize];
            if *exact == NONE {
                *exact = access;
            } else {
                self.also[kind as usize] = access;
            }
        }
    }
}

/// Lookup of one parameter in a record.
#[derive(Debug)]
pub(crate) struct ParamLookup {
    /// The preferred field.
    pub(crate) field: u32,
    /// Alternative fields, in order of preference.
    pub(crate) others: Box<[u32]>,
    pub(crate) ty: Option<ParamType>,
}

impl Schema {
    /// Creates the schema for the events of a catalog.
    pub fn new(catalog: &EventCatalog) -> Schema {
        let (mut fields, mut names, mut kinds) = (NameTable::new(), NameTable::new(), NameTable::new());
        for name in RESERVED {
            fields.add(name);
        }
        for (_, word) in EventKind::WORDS {
            kinds.add(word);
        }
        let mut rows: Vec<Row> = Vec::new();
        let mut symbols = Vec::new();
        for (id, symbol) in catalog.iter() {
            let row = names.add(&symbol.name) as usize;
            if row == rows.len() {
                rows.push(Row::new(&symbol.name));
            }
            rows[row].by_kind[symbol.kind as usize] = id.0;
            let wanted = symbol.params.iter().map(|param| {
                let mut found: Vec<u32> = Vec::new();
                for name in param.fields() {
                    found.push(fields.add(&name));
                    if let Some(spelling) = without_space(&name) {
                        found.push(fields.add(&spelling));
                    }
                }
                let others = found.split_off(1).into_boxed_slice();
                ParamLookup { field: found[0], others, ty: param.ty }
            });
            symbols.push(wanted.collect());
        }
        rows.iter_mut().for_each(Row::add_accesses);
        let positions = (0..fields.len() as u32)
            .filter_map(|id| Some((fields.name(id).strip_prefix("arg ")?.parse().ok()?, id)))
            .collect();
        let (state, any) =
            (catalog.find(STATE_EVENT, EventKind::Before), catalog.find(ANY_EVENT, EventKind::Before));
        Schema {
            tables: Arc::new(SchemaTable { fields, names, rows, kinds, symbols, positions, state, any }),
        }
    }

    /// Id of the field whose name is at `start..end` of `text`, or [`NONE`] if no property reads it.
    #[inline(always)]
    pub(crate) fn field(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.tables.fields.find(text, start, end)
    }

    /// Like [`field`](Schema::field), but faster if the field is the one of the last lookup with this hint.
    #[inline(always)]
    pub(crate) fn field_again(&self, hint: &mut LookupHint, text: &[u8], start: usize, end: usize) -> u32 {
        self.tables.fields.find_again(hint, text, start, end)
    }

    /// Id of the field for the argument at a position, counted from 1.
    #[inline]
    pub(crate) fn position(&self, at: u32) -> u32 {
        self.tables.positions.iter().find(|(position, _)| *position == at).map_or(NONE, |(_, id)| *id)
    }

    /// The name of a field.
    pub(crate) fn field_name(&self, field: u32) -> &str {
        self.tables.fields.name(field)
    }

    /// Number of fields.
    pub(crate) fn fields(&self) -> usize {
        self.tables.fields.len()
    }

    /// The event whose name is at `start..end` of `text`. The default kind is the one that the name implies. A read or
    /// a write is also an access, which is the second event if properties read both.
    #[inline(always)]
    pub(crate) fn symbol(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        kind: Option<EventKind>,
    ) -> Option<(EventId, &[ParamLookup], Option<EventId>)> {
        let row = self.tables.rows.get(self.tables.names.find(text, start, end) as usize)?;
        let kind = kind.unwrap_or(row.implied) as usize;
        let (id, also) = (row.by_kind[kind], row.also[kind]);
        Some((EventId(id), self.tables.symbols.get(id as usize)?, (also != NONE).then_some(EventId(also))))
    }

    /// The event of records without an event name, if a property reads them.
    #[inline(always)]
    pub(crate) fn state(&self) -> Option<EventId> {
        self.tables.state
    }

    /// The event of all records with an event name, if a property reads all.
    #[inline(always)]
    pub(crate) fn any(&self) -> Option<EventId> {
        self.tables.any
    }

    /// Whether a property reads this field in records without an event name.
    pub(crate) fn is_state_field(&self, field: u32) -> bool {
        let wanted = self.tables.state.map_or(&[][..], |state| self.params(state));
        wanted.iter().any(|wanted| wanted.field == field || wanted.others.contains(&field))
    }

    /// The parameters of an event.
    pub(crate) fn params(&self, symbol: EventId) -> &[ParamLookup] {
        self.tables.symbols.get(symbol.0 as usize).map_or(&[], |wanted| wanted)
    }

    /// The kind whose name is at `start..end` of `text`.
    #[inline]
    pub(crate) fn kind(&self, text: &[u8], start: usize, end: usize) -> Option<EventKind> {
        let id = self.tables.kinds.find(text, start, end);
        EventKind::WORDS.get(id as usize).map(|(kind, _)| *kind)
    }
}

/// The spelling `arg1` for `arg 1`, also within `*arg 1`: both are common.
fn without_space(name: &str) -> Option<String> {
    let (before, number) = name.split_once("arg ")?;
    let plain = before.chars().all(|c| "*&^".contains(c)) && number.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| format!("{before}arg{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use invigil_monitor::event::{Param, ParamSource};

    #[test]
    fn schema_finds_events_kinds_and_fields() {
        let mut catalog = EventCatalog::default();
        let before = catalog.declare("f", EventKind::Before);
        let after = catalog.declare("f", EventKind::After);
        let join = catalog.declare("#join", EventKind::Join);
        let arg = Param { source: ParamSource::Arg(2), name: "q".into(), ty: Some(ParamType::Int) };
        catalog.declare_param(before, &arg);
        let schema = Schema::new(&catalog);

        let symbol = |name: &str, kind| schema.symbol(name.as_bytes(), (0, name.len()), kind).map(|s| s.0);
        assert_eq!(symbol("f", None), Some(before));
        assert_eq!(symbol("f", Some(EventKind::After)), Some(after));
        assert_eq!(symbol("f", Some(EventKind::Tick)), None);
        assert_eq!(symbol("#join", None), Some(join));
        assert_eq!(symbol("g", None), None);

        let fields = ["arg 2", "arg2", "q"].map(|name| schema.field(name.as_bytes(), 0, name.len()));
        assert_eq!(fields, [5, 6, 7]);
        assert_eq!(schema.position(2), 5);
        assert_eq!(schema.position(1), NONE);
        assert_eq!(schema.kind(b"before-read", 0, 11), Some(EventKind::BeforeRead));
    }
}
