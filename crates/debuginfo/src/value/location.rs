//! Evaluation of DWARF location expressions at the address where a frame is stopped.

use crate::image::Reader;
use crate::value::info::{DieRef, Entry};
use crate::value::scope::Scope;
use crate::value::typed_value::{Location, Piece, Unavailable};
use gimli::{
    AttributeValue, DwAt, EvaluationResult, Expression, Location as DwarfLocation, Operation, Register,
    Value, ValueType,
};

/// Maximum number of locations that refer to each other.
const MAX_CHAIN_LEN: u8 = 8;
/// Maximum number of operations in one evaluation.
const MAX_STEPS: u32 = 100_000;

type LocationResult<T> = Result<T, Unavailable>;

/// What an attribute specifies for an address.
pub(crate) enum Rule {
    /// One expression for all addresses.
    Everywhere(Expression<Reader>),
    /// An expression from a location list, valid for this address.
    Here(Expression<Reader>),
    /// A location list without an entry for this address.
    Nowhere,
}

impl Scope<'_> {
    /// The rule of an attribute at the address of the frame.
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

    /// The location that a rule computes; `near` is an entry in the same unit.
    pub(crate) fn evaluate_rule(
        &self,
        near: DieRef,
        rule: Expression<Reader>,
        start: Option<u64>,
    ) -> Location {
        self.evaluate_rule_within(near, rule, start, MAX_CHAIN_LEN).unwrap_or_else(Location::Unavailable)
    }

    fn evaluate_rule_within(
        &self,
        near: DieRef,
        rule: Expression<Reader>,
        start: Option<u64>,
        remaining_depth: u8,
    ) -> LocationResult<Location> {
        let pieces = self.run(near, rule, start, remaining_depth)?;
        match pieces.as_slice() {
            [] => Err(Unavailable::OptimizedOut),
            [whole] if whole.size_in_bits.is_none() => self.converted_location(&whole.location),
            _ => {
                let mut all = Vec::with_capacity(pieces.len());
                for piece in &pieces {
                    let bits = piece.size_in_bits.unwrap_or(0);
                    let first = piece.bit_offset.unwrap_or(0);
                    if bits % 8 != 0 || first % 8 != 0 {
                        return Err(Unavailable::NotUnderstood);
                    }
                    let location =
                        self.converted_location(&piece.location).unwrap_or_else(Location::Unavailable);
                    all.push(Piece { location: location.at(first / 8, None), size: bits / 8 });
                }
                Ok(Location::Pieces(all.into()))
            }
        }
    }

    fn converted_location(&self, location: &DwarfLocation<Reader>) -> LocationResult<Location> {
        Ok(match location {
            DwarfLocation::Empty => return Err(Unavailable::OptimizedOut),
            DwarfLocation::Register { register } => {
                Location::Register { number: *register, offset: 0, frame: self.level }
            }
            DwarfLocation::Address { address } => Location::Memory(*address),
            DwarfLocation::Value { value } => Location::Bytes(bytes_of(*value).as_slice().into()),
            DwarfLocation::Bytes { value } => Location::Bytes(value.slice().into()),
            DwarfLocation::ImplicitPointer { .. } => return Err(Unavailable::ImplicitPointer),
        })
    }

    fn run(
        &self,
        near: DieRef,
        rule: Expression<Reader>,
        start: Option<u64>,
        remaining_depth: u8,
    ) -> LocationResult<Vec<gimli::Piece<Reader>>> {
        let remaining_depth = remaining_depth.checked_sub(1).ok_or(Unavailable::NotUnderstood)?;
        let not_understood = |_| Unavailable::NotUnderstood;
        let encoding = self.info.encoding(near).ok_or(Unavailable::NotUnderstood)?;
        let mut evaluation = rule.evaluation(encoding);
        evaluation.set_max_iterations(MAX_STEPS);
        if let Some(start) = start {
            evaluation.set_initial_value(start);
            evaluation.set_object_address(start);
        }
        let mut step = evaluation.evaluate().map_err(not_understood)?;
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
                    evaluation.resume_with_frame_base(self.frame_base(remaining_depth)?)
                }
                EvaluationResult::RequiresTls(offset) => {
                    evaluation.resume_with_tls(self.thread_local(near.image, offset)?)
                }
                EvaluationResult::RequiresCallFrameCfa => evaluation.resume_with_call_frame_cfa(self.cfa()?),
                EvaluationResult::RequiresAtLocation(reference) => {
                    let bytes = self.called_rule(near, reference).ok_or(Unavailable::NotUnderstood)?;
                    evaluation.resume_with_at_location(bytes)
                }
                EvaluationResult::RequiresEntryValue(rule) => evaluation.resume_with_entry_value(
                    Value::Generic(self.entry_value(&rule, encoding, remaining_depth)?),
                ),
                EvaluationResult::RequiresParameterRef(parameter) => {
                    let die = crate::image::Die { unit: near.die.unit, offset: parameter };
                    let value = self.call_site_value(remaining_depth, |scope, entry| {
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
                    let address = unit.address(index).map_err(not_understood)?;
                    let bias = if relocate { self.info.bias(near.image) } else { 0 };
                    evaluation.resume_with_indexed_address(address.wrapping_add(bias))
                }
                EvaluationResult::RequiresBaseType(offset) => {
                    let ty = self.value_type(near, offset).ok_or(Unavailable::NotUnderstood)?;
                    evaluation.resume_with_base_type(ty)
                }
                _ => return Err(Unavailable::NotUnderstood),
            };
            step = next.map_err(not_understood)?;
        }
    }

    fn value_type(&self, near: DieRef, offset: gimli::UnitOffset) -> Option<ValueType> {
        if offset.0 == 0 {
            return Some(ValueType::Generic);
        }
        ValueType::from_entry(&self.info.unit(near)?.unit.entry(offset).ok()?).ok()?
    }

    fn typed(&self, near: DieRef, base: gimli::UnitOffset, bits: u64) -> LocationResult<Value> {
        match self.value_type(near, base).ok_or(Unavailable::NotUnderstood)? {
            ValueType::F32 => Ok(Value::F32(f32::from_bits(bits as u32))),
            ValueType::F64 => Ok(Value::F64(f64::from_bits(bits))),
            other => Value::from_u64(other, bits).map_err(|_| Unavailable::NotUnderstood),
        }
    }

    /// The frame base of the function, to which its variables are relative.
    fn frame_base(&self, remaining_depth: u8) -> LocationResult<u64> {
        let function = self.function().ok_or(Unavailable::NotUnderstood)?;
        let entry = self.info.entry(function).ok_or(Unavailable::NotUnderstood)?;
        let rule = match self.rule(&entry, gimli::DW_AT_frame_base) {
            Some(Rule::Everywhere(rule) | Rule::Here(rule)) => rule,
            Some(Rule::Nowhere) => return Err(Unavailable::NotYet),
            None => return Err(Unavailable::NotUnderstood),
        };
        match self.evaluate_rule_within(function, rule, None, remaining_depth)? {
            Location::Memory(address) => Ok(address),
            Location::Register { number, .. } => Ok(self.register(number, self.level)? as u64),
            Location::Bytes(bytes) => {
                bytes.first_chunk().map(|b| u64::from_le_bytes(*b)).ok_or(Unavailable::NotUnderstood)
            }
            _ => Err(Unavailable::NotUnderstood),
        }
    }

    /// The rule of another entry that this one calls.
    fn called_rule(&self, near: DieRef, reference: gimli::DieReference) -> Option<Reader> {
        let value = match reference {
            gimli::DieReference::UnitRef(offset) => AttributeValue::UnitRef(offset),
            gimli::DieReference::DebugInfoRef(offset) => AttributeValue::DebugInfoRef(offset),
        };
        let die = self.info.image(near.image)?.resolve(near.die.unit, value)?;
        let entry = self.info.entry(DieRef { image: near.image, die })?;
        match self.rule(&entry, gimli::DW_AT_location)? {
            Rule::Everywhere(rule) | Rule::Here(rule) => Some(rule.0),
            Rule::Nowhere => None,
        }
    }

    /// The value of a register at function entry, computed from the call site in the caller.
    fn entry_value(
        &self,
        rule: &Expression<Reader>,
        encoding: gimli::Encoding,
        remaining_depth: u8,
    ) -> LocationResult<u64> {
        let wanted = only_register(rule, encoding).ok_or(Unavailable::OptimizedOut)?;
        self.call_site_value(remaining_depth, |scope, entry| {
            let Some(AttributeValue::Exprloc(location)) = entry.attribute(gimli::DW_AT_location) else {
                return false;
            };
            let encoding = scope.info.encoding(entry.at).unwrap_or(encoding);
            only_register(&location, encoding) == Some(wanted)
        })
    }

    /// The value that the caller passed in a parameter of the current call.
    fn call_site_value(
        &self,
        remaining_depth: u8,
        is_wanted: impl Fn(&Scope<'_>, &Entry) -> bool,
    ) -> LocationResult<u64> {
        let remaining_depth = remaining_depth.checked_sub(1).ok_or(Unavailable::OptimizedOut)?;
        let caller = self.real_caller().ok_or(Unavailable::NoCaller)?;
        let site = caller.call_site().ok_or(Unavailable::OptimizedOut)?;
        for parameter in self.info.children(site.at) {
            if !matches!(
                parameter.tag(),
                gimli::DW_TAG_call_site_parameter | gimli::DW_TAG_GNU_call_site_parameter
            ) || !is_wanted(&caller, &parameter)
            {
                continue;
            }
            let value = parameter
                .attribute(gimli::DW_AT_call_value)
                .or_else(|| parameter.attribute(gimli::DW_AT_GNU_call_site_value));
            let Some(AttributeValue::Exprloc(rule)) = value else { continue };
            let pieces = caller.run(parameter.at, rule, None, remaining_depth)?;
            return match pieces.first().map(|piece| piece.location) {
                Some(DwarfLocation::Address { address }) => Ok(address),
                Some(DwarfLocation::Value { value }) => {
                    Ok(bytes_of(value).first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)))
                }
                Some(DwarfLocation::Register { register }) => {
                    Ok(caller.register(register, caller.level)? as u64)
                }
                _ => Err(Unavailable::OptimizedOut),
            };
        }
        Err(Unavailable::OptimizedOut)
    }

    /// The DWARF entry of the call that the frame is making.
    fn call_site(&self) -> Option<Entry> {
        let function = self.function()?;
        let return_address = self.pc().wrapping_sub(self.info.bias(function.image));
        let unit = self.info.unit(function)?;
        let mut cursor = unit.unit.entries_at_offset(function.die.offset).ok()?;
        let mut first = true;
        while let Ok(Some(raw)) = cursor.next_dfs() {
            // Children of the function have a greater depth.
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
                && unit.attr_address(value).ok().flatten() == Some(return_address)
            {
                let die = crate::image::Die { unit: function.die.unit, offset: raw.offset() };
                return Some(Entry { at: DieRef { image: function.image, die }, raw: raw.clone() });
            }
        }
        None
    }
}

/// The register, if the rule consists of a register only.
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
        // Narrow values are extended, so that reading a wider type gives the same number.
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
