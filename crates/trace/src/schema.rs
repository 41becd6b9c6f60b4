//! What to look for in a record: a [`Catalog`] turned into tables.

use crate::words::{Hint, NONE, Words};
use invigil_monitor::event::{ANY, Catalog, Kind, STATE, SymbolId, Type};
use std::sync::Arc;

/// The reserved fields: their numbers in every schema are their positions here.
pub(crate) const RESERVED: [&str; 5] = ["event", "time", "kind", "thread", "program"];
pub(crate) const EVENT: u32 = 0;
pub(crate) const TIME: u32 = 1;
pub(crate) const KIND: u32 = 2;

/// What to extract from the records of a trace: the events and parameters of a [`Catalog`], ready for fast
/// lookup. Cheap to clone.
///
/// ```
/// use invigil_monitor::event::{Catalog, Kind};
/// let mut catalog = Catalog::default();
/// catalog.symbol("queue_push", Kind::Before);
/// let schema = invigil_trace::Schema::new(&catalog);
/// ```
#[derive(Clone, Debug)]
pub struct Schema {
    plan: Arc<Plan>,
}

#[derive(Debug)]
struct Plan {
    fields: Words,
    names: Words,
    rows: Vec<Row>,
    kinds: Words,
    symbols: Vec<Box<[Wanted]>>,
    positions: Vec<(u32, u32)>,
    /// What a record is that names no event, if a property wants such.
    state: Option<SymbolId>,
    /// What every record is that names one, if a property wants all.
    any: Option<SymbolId>,
}

/// The symbols of one event name.
#[derive(Debug)]
struct Row {
    implied: Kind,
    by_kind: [u32; Kind::WORDS.len()],
    /// The second symbol for records of that kind, if there is one.
    also: [u32; Kind::WORDS.len()],
}

/// The kinds that are one of two, with the one for either.
const EITHER: [(Kind, Kind); 4] = [
    (Kind::Read, Kind::Access),
    (Kind::Write, Kind::Access),
    (Kind::BeforeRead, Kind::BeforeAccess),
    (Kind::BeforeWrite, Kind::BeforeAccess),
];

impl Row {
    fn new(name: &str) -> Row {
        let none = [NONE; Kind::WORDS.len()];
        Row { implied: Kind::implied_by(name), by_kind: none, also: none }
    }

    /// Lets a read or a write also be the access that it is.
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

/// A parameter, as it is looked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The first field to look into.
    pub(crate) field: u32,
    /// Those after it.
    pub(crate) others: Box<[u32]>,
    pub(crate) ty: Option<Type>,
}

impl Schema {
    /// The schema for the events of a catalog.
    pub fn new(catalog: &Catalog) -> Schema {
        let (mut fields, mut names, mut kinds) = (Words::new(), Words::new(), Words::new());
        for name in RESERVED {
            fields.add(name);
        }
        for (_, word) in Kind::WORDS {
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
                Wanted { field: found[0], others, ty: param.ty }
            });
            symbols.push(wanted.collect());
        }
        rows.iter_mut().for_each(Row::add_accesses);
        let positions = (0..fields.len() as u32)
            .filter_map(|id| Some((fields.name(id).strip_prefix("arg ")?.parse().ok()?, id)))
            .collect();
        let (state, any) = (catalog.find(STATE, Kind::Before), catalog.find(ANY, Kind::Before));
        Schema { plan: Arc::new(Plan { fields, names, rows, kinds, symbols, positions, state, any }) }
    }

    /// The number of the field whose name is at `start..end` of `text`, or [`NONE`] if nobody wants it.
    #[inline(always)]
    pub(crate) fn field(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.plan.fields.find(text, start, end)
    }

    /// The same, for a field that is probably the one that the hint was left at.
    #[inline(always)]
    pub(crate) fn field_again(&self, hint: &mut Hint, text: &[u8], start: usize, end: usize) -> u32 {
        self.plan.fields.find_again(hint, text, start, end)
    }

    /// The number of the field for the argument at a position, counted from one.
    #[inline]
    pub(crate) fn position(&self, at: u32) -> u32 {
        self.plan.positions.iter().find(|(position, _)| *position == at).map_or(NONE, |(_, id)| *id)
    }

    /// The name of a field.
    pub(crate) fn field_name(&self, field: u32) -> &str {
        self.plan.fields.name(field)
    }

    /// How many fields there are.
    pub(crate) fn fields(&self) -> usize {
        self.plan.fields.len()
    }

    /// The symbol of the event whose name is at `start..end` of `text`, of the kind that its name implies if
    /// the record gives none. A read or a write is also an access: that is the second symbol, if some property
    /// asks for either and some for the one.
    #[inline(always)]
    pub(crate) fn symbol(
        &self,
        text: &[u8],
        (start, end): (usize, usize),
        kind: Option<Kind>,
    ) -> Option<(SymbolId, &[Wanted], Option<SymbolId>)> {
        let row = self.plan.rows.get(self.plan.names.find(text, start, end) as usize)?;
        let kind = kind.unwrap_or(row.implied) as usize;
        let (id, also) = (row.by_kind[kind], row.also[kind]);
        Some((SymbolId(id), self.plan.symbols.get(id as usize)?, (also != NONE).then_some(SymbolId(also))))
    }

    /// The symbol of records that name no event, if some property is about those.
    #[inline(always)]
    pub(crate) fn state(&self) -> Option<SymbolId> {
        self.plan.state
    }

    /// The symbol of all records that name an event, if some property is about all.
    #[inline(always)]
    pub(crate) fn any(&self) -> Option<SymbolId> {
        self.plan.any
    }

    /// Whether a property looks for this field in records that name no event.
    pub(crate) fn tells_state(&self, field: u32) -> bool {
        let wanted = self.plan.state.map_or(&[][..], |state| self.wanted(state));
        wanted.iter().any(|wanted| wanted.field == field || wanted.others.contains(&field))
    }

    /// The parameters of a symbol.
    pub(crate) fn wanted(&self, symbol: SymbolId) -> &[Wanted] {
        self.plan.symbols.get(symbol.0 as usize).map_or(&[], |wanted| wanted)
    }

    /// The kind whose word is at `start..end` of `text`.
    #[inline]
    pub(crate) fn kind(&self, text: &[u8], start: usize, end: usize) -> Option<Kind> {
        let id = self.plan.kinds.find(text, start, end);
        Kind::WORDS.get(id as usize).map(|(kind, _)| *kind)
    }
}

/// `arg1` for `arg 1`, also within `*arg 1`: both spellings are common.
fn without_space(name: &str) -> Option<String> {
    let (before, number) = name.split_once("arg ")?;
    let plain = before.chars().all(|c| "*&^".contains(c)) && number.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| format!("{before}arg{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use invigil_monitor::event::{Param, Source};

    #[test]
    fn names_kinds_and_fields_are_found() {
        let mut catalog = Catalog::default();
        let before = catalog.symbol("f", Kind::Before);
        let after = catalog.symbol("f", Kind::After);
        let join = catalog.symbol("#join", Kind::Join);
        let arg = Param { source: Source::Arg(2), name: "q".into(), ty: Some(Type::Int) };
        catalog.param(before, &arg);
        let schema = Schema::new(&catalog);

        let symbol = |name: &str, kind| schema.symbol(name.as_bytes(), (0, name.len()), kind).map(|s| s.0);
        assert_eq!(symbol("f", None), Some(before));
        assert_eq!(symbol("f", Some(Kind::After)), Some(after));
        assert_eq!(symbol("f", Some(Kind::Tick)), None);
        assert_eq!(symbol("#join", None), Some(join));
        assert_eq!(symbol("g", None), None);

        let fields = ["arg 2", "arg2", "q"].map(|name| schema.field(name.as_bytes(), 0, name.len()));
        assert_eq!(fields, [5, 6, 7]);
        assert_eq!(schema.position(2), 5);
        assert_eq!(schema.position(1), NONE);
        assert_eq!(schema.kind(b"before-read", 0, 11), Some(Kind::BeforeRead));
    }
}
