//! Where the debug information says a value is, at the place where a frame has stopped.

use crate::image::Reader;
use crate::value::datum::{Piece, Place, Unavailable};
use crate::value::info::{At, Entry};
use crate::value::scope::Scope;
use gimli::{
    AttributeValue, DwAt, EvaluationResult, Expression, Location, Operation, Register, Value, ValueType,
};

/// How often one location may lead to another.
const LONGEST_CHAIN: u8 = 8;
/// How many steps a location may need.
const MOST_STEPS: u32 = 100_000;

type Found<T> = Result<T, Unavailable>;

/// What an attribute says about a location at an address.
pub(crate) enum Rule {
    /// It is the same everywhere.
    Everywhere(Expression<Reader>),
    /// It holds around this address.
    Here(Expression<Reader>),
    /// It is nowhere around this address.
    Nowhere,
}

impl Scope<'_> {
    /// The rule of an attribute for the place where the frame is.
    pub(crate) fn rule(&self, entry: &Entry, name: DwAt) -> Option<Rule> {
        let value = entry.attribute(name)?;
        if let AttributeValue::Exprloc(rule) = value {
            return Some(Rule::Everywhere(rule));
        }
        let unit = self.info.unit(entry.at)?;
        let pc = self.lookup_pc().wrapping_sub(self.info.bias(entry.at.image));
        let mut all = unit.attr_locations(value).ok()??;
        while let Ok(Some(range)) = all.next() {
            if (range.range.begin..range.range.end).contains(&pc) {
                return Some(if range.data.0.is_empty() { Rule::Nowhere } else { Rule::Here(range.data) });
            }
        }
        Some(Rule::Nowhere)
    }

    /// The place that a rule in the unit of an entry leads to.
    pub(crate) fn follow(&self, near: At, rule: Expression<Reader>, start: Option<u64>) -> Place {
        self.follow_within(near, rule, start, LONGEST_CHAIN).unwrap_or_else(Place::Unavailable)
    }

    fn follow_within(
        &self,
        near: At,
        rule: Expression<Reader>,
        start: Option<u64>,
        left: u8,
    ) -> Found<Place> {
        let pieces = self.run(near, rule, start, left)?;
        match pieces.as_slice() {
            [] => Err(Unavailable::OptimizedOut),
            [whole] if whole.size_in_bits.is_none() => self.place(&whole.location),
            _ => {
                let mut all = Vec::with_capacity(pieces.len());
                for piece in &pieces {
                    let bits = piece.size_in_bits.unwrap_or(0);
                    let first = piece.bit_offset.unwrap_or(0);
                    if bits % 8 != 0 || first % 8 != 0 {
                        return Err(Unavailable::NotUnderstood);
                    }
                    let place = self.place(&piece.location).unwrap_or_else(Place::Unavailable);
                    all.push(Piece { place: place.at(first / 8, None), size: bits / 8 });
                }
                Ok(Place::Pieces(all.into()))
            }
        }
    }

    fn place(&self, location: &Location<Reader>) -> Found<Place> {
        Ok(match location {
            Location::Empty => return Err(Unavailable::OptimizedOut),
            Location::Register { register } => {
                Place::Register { number: *register, offset: 0, frame: self.level }
            }
            Location::Address { address } => Place::Memory(*address),
            Location::Value { value } => Place::Bytes(bytes_of(*value).as_slice().into()),
            Location::Bytes { value } => Place::Bytes(value.slice().into()),
            Location::ImplicitPointer { .. } => return Err(Unavailable::ImplicitPointer),
        })
    }

    fn run(
        &self,
        near: At,
        rule: Expression<Reader>,
        start: Option<u64>,
        left: u8,
    ) -> Found<Vec<gimli::Piece<Reader>>> {
        let left = left.checked_sub(1).ok_or(Unavailable::NotUnderstood)?;
        let strange = |_| Unavailable::NotUnderstood;
        let encoding = self.info.encoding(near).ok_or(Unavailable::NotUnderstood)?;
        let mut evaluation = rule.evaluation(encoding);
        evaluation.set_max_iterations(MOST_STEPS);
        if let Some(start) = start {
            evaluation.set_initial_value(start);
            evaluation.set_object_address(start);
        }
        let mut step = evaluation.evaluate().map_err(strange)?;
        loop {
            let next = match step {
                EvaluationResult::Complete => return Ok(evaluation.result()),
                EvaluationResult::RequiresMemory { address, size, base_type, .. } => {
                    let mut bytes = [0; 8];
                    let wanted = bytes.get_mut(..usize::from(size)).ok_or(Unavailable::NotUnderstood)?;
                    self.memory.read(address, wanted).map_err(|e| Unavailable::Unreadable(e.0))?;
                    let value = self.typed(near, base_type, u64::from_le_bytes(bytes))?;
                    evaluation.resume_with_memory(value)
                }
                EvaluationResult::RequiresRegister { register, base_type } => {
                    let value = self.typed(near, base_type, self.register(register, self.level)? as u64)?;
                    evaluation.resume_with_register(value)
                }
                EvaluationResult::RequiresFrameBase => {
                    evaluation.resume_with_frame_base(self.frame_base(left)?)
                }
                EvaluationResult::RequiresTls(offset) => {
                    evaluation.resume_with_tls(self.thread_local(near.image, offset)?)
                }
                EvaluationResult::RequiresCallFrameCfa => evaluation.resume_with_call_frame_cfa(self.cfa()?),
                EvaluationResult::RequiresAtLocation(reference) => {
                    let bytes = self.called(near, reference).ok_or(Unavailable::NotUnderstood)?;
                    evaluation.resume_with_at_location(bytes)
                }
                EvaluationResult::RequiresEntryValue(rule) => evaluation
                    .resume_with_entry_value(Value::Generic(self.entry_value(&rule, encoding, left)?)),
                EvaluationResult::RequiresParameterRef(parameter) => {
                    let die = crate::image::Die { unit: near.die.unit, offset: parameter };
                    let value = self.passed(left, |scope, entry| {
                        let names = [gimli::DW_AT_abstract_origin, gimli::DW_AT_call_parameter];
                        names.iter().any(|n| scope.info.reference(entry, *n).is_some_and(|at| at.die == die))
                    })?;
                    evaluation.resume_with_parameter_ref(value)
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address.wrapping_add(self.info.bias(near.image)))
                }
                EvaluationResult::RequiresIndexedAddress { index, relocate } => {
                    let unit = self.info.unit(near).ok_or(Unavailable::NotUnderstood)?;
                    let address = unit.address(index).map_err(strange)?;
                    let bias = if relocate { self.info.bias(near.image) } else { 0 };
                    evaluation.resume_with_indexed_address(address.wrapping_add(bias))
                }
                EvaluationResult::RequiresBaseType(offset) => {
                    let ty = self.value_type(near, offset).ok_or(Unavailable::NotUnderstood)?;
                    evaluation.resume_with_base_type(ty)
                }
                _ => return Err(Unavailable::NotUnderstood),
            };
            step = next.map_err(strange)?;
        }
    }

    fn value_type(&self, near: At, offset: gimli::UnitOffset) -> Option<ValueType> {
        if offset.0 == 0 {
            return Some(ValueType::Generic);
        }
        ValueType::from_entry(&self.info.unit(near)?.unit.entry(offset).ok()?).ok()?
    }

    fn typed(&self, near: At, base: gimli::UnitOffset, bits: u64) -> Found<Value> {
        match self.value_type(near, base).ok_or(Unavailable::NotUnderstood)? {
            ValueType::F32 => Ok(Value::F32(f32::from_bits(bits as u32))),
            ValueType::F64 => Ok(Value::F64(f64::from_bits(bits))),
            other => Value::from_u64(other, bits).map_err(|_| Unavailable::NotUnderstood),
        }
    }

    /// The address from which the function counts its variables.
    fn frame_base(&self, left: u8) -> Found<u64> {
        let function = self.function().ok_or(Unavailable::NotUnderstood)?;
        let entry = self.info.entry(function).ok_or(Unavailable::NotUnderstood)?;
        let rule = match self.rule(&entry, gimli::DW_AT_frame_base) {
            Some(Rule::Everywhere(rule) | Rule::Here(rule)) => rule,
            Some(Rule::Nowhere) => return Err(Unavailable::NotYet),
            None => return Err(Unavailable::NotUnderstood),
        };
        match self.follow_within(function, rule, None, left)? {
            Place::Memory(address) => Ok(address),
            Place::Register { number, .. } => Ok(self.register(number, self.level)? as u64),
            Place::Bytes(bytes) => {
                bytes.first_chunk().map(|b| u64::from_le_bytes(*b)).ok_or(Unavailable::NotUnderstood)
            }
            _ => Err(Unavailable::NotUnderstood),
        }
    }

    /// The rule of another entry, on which this one is built.
    fn called(&self, near: At, reference: gimli::DieReference) -> Option<Reader> {
        let value = match reference {
            gimli::DieReference::UnitRef(offset) => AttributeValue::UnitRef(offset),
            gimli::DieReference::DebugInfoRef(offset) => AttributeValue::DebugInfoRef(offset),
        };
        let die = self.info.image(near.image)?.resolve(near.die.unit, value)?;
        let entry = self.info.entry(At { image: near.image, die })?;
        match self.rule(&entry, gimli::DW_AT_location)? {
            Rule::Everywhere(rule) | Rule::Here(rule) => Some(rule.0),
            Rule::Nowhere => None,
        }
    }

    /// What a register held when the function was entered: the caller notes how to compute it.
    fn entry_value(&self, rule: &Expression<Reader>, encoding: gimli::Encoding, left: u8) -> Found<u64> {
        let wanted = only_register(rule, encoding).ok_or(Unavailable::OptimizedOut)?;
        self.passed(left, |scope, entry| {
            let Some(AttributeValue::Exprloc(place)) = entry.attribute(gimli::DW_AT_location) else {
                return false;
            };
            let encoding = scope.info.encoding(entry.at).unwrap_or(encoding);
            only_register(&place, encoding) == Some(wanted)
        })
    }

    /// The value that the caller passed in a parameter of the call that is under way.
    fn passed(&self, left: u8, is_it: impl Fn(&Scope<'_>, &Entry) -> bool) -> Found<u64> {
        let left = left.checked_sub(1).ok_or(Unavailable::OptimizedOut)?;
        let caller = self.real_caller().ok_or(Unavailable::NoCaller)?;
        let site = caller.call_site().ok_or(Unavailable::OptimizedOut)?;
        for parameter in self.info.children(site.at) {
            if !matches!(
                parameter.tag(),
                gimli::DW_TAG_call_site_parameter | gimli::DW_TAG_GNU_call_site_parameter
            ) || !is_it(&caller, &parameter)
            {
                continue;
            }
            let value = parameter
                .attribute(gimli::DW_AT_call_value)
                .or_else(|| parameter.attribute(gimli::DW_AT_GNU_call_site_value));
            let Some(AttributeValue::Exprloc(rule)) = value else { continue };
            let pieces = caller.run(parameter.at, rule, None, left)?;
            return match pieces.first().map(|piece| piece.location) {
                Some(Location::Address { address }) => Ok(address),
                Some(Location::Value { value }) => {
                    Ok(bytes_of(value).first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
                }
                Some(Location::Register { register }) => Ok(caller.register(register, caller.level)? as u64),
                _ => Err(Unavailable::OptimizedOut),
            };
        }
        Err(Unavailable::OptimizedOut)
    }

    /// The call that the frame is making, as an entry of its function.
    fn call_site(&self) -> Option<Entry> {
        let function = self.function()?;
        let back = self.pc().wrapping_sub(self.info.bias(function.image));
        let unit = self.info.unit(function)?;
        let mut cursor = unit.unit.entries_at_offset(function.die.offset).ok()?;
        let mut first = true;
        while let Ok(Some(raw)) = cursor.next_dfs() {
            // Entries below the function are deeper than it.
            if !first && raw.depth() <= 0 {
                break;
            }
            first = false;
            let address = match raw.tag() {
                gimli::DW_TAG_call_site => raw.attr_value(gimli::DW_AT_call_return_pc),
                gimli::DW_TAG_GNU_call_site => raw.attr_value(gimli::DW_AT_low_pc),
                _ => None,
            };
            if let Some(value) = address
                && unit.attr_address(value).ok().flatten() == Some(back)
            {
                let die = crate::image::Die { unit: function.die.unit, offset: raw.offset() };
                return Some(Entry { at: At { image: function.image, die }, raw: raw.clone() });
            }
        }
        None
    }
}

/// The register, if the rule is nothing but a register.
fn only_register(rule: &Expression<Reader>, encoding: gimli::Encoding) -> Option<Register> {
    let mut operations = rule.operations(encoding);
    match (operations.next(), operations.next()) {
        (Ok(Some(Operation::Register { register })), Ok(None)) => Some(register),
        _ => None,
    }
}

fn bytes_of(value: Value) -> Vec<u8> {
    match value {
        Value::Generic(value) | Value::U64(value) => value.to_le_bytes().to_vec(),
        // Narrow values are extended, so that a wider type reads what was meant.
        Value::I8(value) => i64::from(value).to_le_bytes().to_vec(),
        Value::U8(value) => u64::from(value).to_le_bytes().to_vec(),
        Value::I16(value) => i64::from(value).to_le_bytes().to_vec(),
        Value::U16(value) => u64::from(value).to_le_bytes().to_vec(),
        Value::I32(value) => i64::from(value).to_le_bytes().to_vec(),
        Value::U32(value) => u64::from(value).to_le_bytes().to_vec(),
        Value::I64(value) => value.to_le_bytes().to_vec(),
        Value::F32(value) => value.to_le_bytes().to_vec(),
        Value::F64(value) => value.to_le_bytes().to_vec(),
    }
}
