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
    event_names: NameTable,
    /// The event ids, by id of the event's name.
    event_ids: Vec<EventIdsByKind>,
    kinds: NameTable,
    /// The parameters of each event, by event id.
    params: Vec<Box<[ParamLookup]>>,
    /// Positions of arguments with the ids of their fields.
    arguments: Vec<(u32, u32)>,
    /// The event of records without an event name, if a property reads such records.
    state_event: Option<EventId>,
    /// The event of all records with an event name, if a property reads all of them.
    any_event: Option<EventId>,
}

/// The event ids of one event name, by kind.
#[derive(Debug)]
struct EventIdsByKind {
    implied_kind: EventKind,
    by_kind: [u32; EventKind::WORDS.len()],
    /// The ids of the accesses, for reads and writes that are events of their own.
    access: [u32; EventKind::WORDS.len()],
}

/// Reads and writes with the kind of access that includes them.
const ACCESS_KINDS: [(EventKind, EventKind); 4] = [
    (EventKind::Read, EventKind::Access),
    (EventKind::Write, EventKind::Access),
    (EventKind::BeforeRead, EventKind::BeforeAccess),
    (EventKind::BeforeWrite, EventKind::BeforeAccess),
];

impl EventIdsByKind {
    fn new(name: &str) -> EventIdsByKind {
        let none = [NONE; EventKind::WORDS.len()];
        EventIdsByKind { implied_kind: EventKind::implied_by(name), by_kind: none, access: none }
    }

    /// Maps reads and writes to the accesses that include them.
    fn add_accesses(&mut self) {
        for (kind, access_kind) in ACCESS_KINDS {
            let access = self.by_kind[access_kind as usize];
            let exact = &mut self.by_kind[kind as usize];
            if *exact == NONE {
                *exact = access;
            } else {
                self.access[kind as usize] = access;
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
    pub(crate) alternatives: Box<[u32]>,
    /// The required type, if any.
    pub(crate) ty: Option<ParamType>,
}

impl Schema {
    /// Creates the schema for the events of a catalog.
    pub fn new(catalog: &EventCatalog) -> Schema {
        let (mut fields, mut event_names, mut kinds) = (NameTable::new(), NameTable::new(), NameTable::new());
        for name in RESERVED {
            fields.add(name);
        }
        for (_, word) in EventKind::WORDS {
            kinds.add(word);
        }
        let mut event_ids: Vec<EventIdsByKind> = Vec::new();
        let mut params = Vec::new();
        for (id, declaration) in catalog.iter() {
            let name = event_names.add(&declaration.name) as usize;
            if name == event_ids.len() {
                event_ids.push(EventIdsByKind::new(&declaration.name));
            }
            event_ids[name].by_kind[declaration.kind as usize] = id.0;
            let lookups = declaration.params.iter().map(|param| {
                let mut ids: Vec<u32> = Vec::new();
                for name in param.fields() {
                    ids.push(fields.add(&name));
                    if let Some(spelling) = without_space(&name) {
                        ids.push(fields.add(&spelling));
                    }
                }
                let alternatives = ids.split_off(1).into_boxed_slice();
                ParamLookup { field: ids[0], alternatives, ty: param.ty }
            });
            params.push(lookups.collect());
        }
        event_ids.iter_mut().for_each(EventIdsByKind::add_accesses);
        let arguments = (0..fields.len() as u32)
            .filter_map(|id| Some((fields.name(id).strip_prefix("arg ")?.parse().ok()?, id)))
            .collect();
        let (state_event, any_event) =
            (catalog.find(STATE_EVENT, EventKind::Before), catalog.find(ANY_EVENT, EventKind::Before));
        Schema {
            tables: Arc::new(SchemaTable {
                fields,
                event_names,
                event_ids,
                kinds,
                params,
                arguments,
                state_event,
                any_event,
            }),
        }
    }

    /// Id of the field whose name is at `start..end` of `text`, or [`NONE`] if no property reads it.
    #[inline(always)]
    pub(crate) fn field(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.tables.fields.find(text, start, end)
    }

    /// Like [`field`](Schema::field), but faster if the field is the one of the last lookup with this hint.
    #[inline(always)]
    pub(crate) fn field_with_hint(
        &self,
        hint: &mut LookupHint,
        text: &[u8],
        start: usize,
        end: usize,
    ) -> u32 {
        self.tables.fields.find_with_hint(hint, text, start, end)
    }

    /// Id of the field for the argument at a position, counted from 1.
    #[inline]
    pub(crate) fn argument(&self, position: u32) -> u32 {
        self.tables.arguments.iter().find(|(at, _)| *at == position).map_or(NONE, |(_, id)| *id)
    }

    /// The name of a field.
    pub(crate) fn field_name(&self, field: u32) -> &str {
        self.tables.fields.name(field)
    }

    /// Number of fields.
    pub(crate) fn field_count(&self) -> usize {
        self.tables.fields.len()
    }

    /// The event whose name is at `start..end` of `text`. The default kind is the one that the name implies. If
    /// properties also read accesses, the last component is the access event of a read or write.
    #[inline(always)]
    pub(crate) fn event(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        kind: Option<EventKind>,
    ) -> Option<(EventId, &[ParamLookup], Option<EventId>)> {
        let ids = self.tables.event_ids.get(self.tables.event_names.find(text, start, end) as usize)?;
        let kind = kind.unwrap_or(ids.implied_kind) as usize;
        let (id, access) = (ids.by_kind[kind], ids.access[kind]);
        Some((EventId(id), self.tables.params.get(id as usize)?, (access != NONE).then_some(EventId(access))))
    }

    /// Id of the event of records without an event name, if a property reads them.
    #[inline(always)]
    pub(crate) fn state_event_id(&self) -> Option<EventId> {
        self.tables.state_event
    }

    /// Id of the event of all records with an event name, if a property reads all of them.
    #[inline(always)]
    pub(crate) fn any_event_id(&self) -> Option<EventId> {
        self.tables.any_event
    }

    /// Whether a property reads this field in records without an event name.
    pub(crate) fn is_state_field(&self, field: u32) -> bool {
        let params = self.tables.state_event.map_or(&[][..], |event| self.params(event));
        params.iter().any(|param| param.field == field || param.alternatives.contains(&field))
    }

    /// The parameters of an event.
    pub(crate) fn params(&self, event: EventId) -> &[ParamLookup] {
        self.tables.params.get(event.0 as usize).map_or(&[], |params| params)
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
    let is_argument = before.chars().all(|c| "*&^".contains(c)) && number.bytes().all(|b| b.is_ascii_digit());
    is_argument.then(|| format!("{before}arg{number}"))
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

        let event =
            |name: &str, kind| schema.event(name.as_bytes(), (0, name.len()), kind).map(|found| found.0);
        assert_eq!(event("f", None), Some(before));
        assert_eq!(event("f", Some(EventKind::After)), Some(after));
        assert_eq!(event("f", Some(EventKind::Tick)), None);
        assert_eq!(event("#join", None), Some(join));
        assert_eq!(event("g", None), None);

        let fields = ["arg 2", "arg2", "q"].map(|name| schema.field(name.as_bytes(), 0, name.len()));
        assert_eq!(fields, [5, 6, 7]);
        assert_eq!(schema.argument(2), 5);
        assert_eq!(schema.argument(1), NONE);
        assert_eq!(schema.kind(b"before-read", 0, 11), Some(EventKind::BeforeRead));
    }
}
