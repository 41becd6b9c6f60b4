//! Variables in scope, and their locations.

use crate::value::abi::Arguments;
use crate::value::info::{DieRef, Entry, Language};
use crate::value::location::Rule;
use crate::value::scope::Scope;
use crate::value::typed_value::{Location, TypedValue, Unavailable};
use crate::value::types::{Shape, Type, constant};
use gimli::{AttributeValue, Operation};
use std::collections::HashSet;
use std::sync::Arc;

/// A variable in scope.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: TypedValue,
    /// Whether a variable of the same name in an inner block shadows it.
    pub is_hidden: bool,
}

impl Scope<'_> {
    /// The arguments of the frame's function, in order.
    pub fn arguments(&self) -> Vec<Variable> {
        let Some(block) = self.block() else { return Vec::new() };
        let mut all = Vec::new();
        for entry in self.info.children(block) {
            if entry.tag() == gimli::DW_TAG_formal_parameter
                && let Some(name) = self.info.name(&entry)
            {
                all.push(Variable { name, value: self.value_of_entry(&entry), is_hidden: false });
            }
        }
        all
    }

    /// The local variables at the frame's address, innermost block first, without arguments.
    pub fn locals(&self) -> Vec<Variable> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for block in self.blocks() {
            let mut names = HashSet::new();
            for entry in self.info.children(block) {
                let is_variable = matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_constant);
                // A variable that is only declared here is a global one.
                if is_variable
                    && !entry.flag(gimli::DW_AT_declaration)
                    && let Some(name) = self.info.name(&entry)
                {
                    let is_hidden = seen.contains(name);
                    names.insert(name);
                    all.push(Variable { name, value: self.value_of_entry(&entry), is_hidden });
                }
            }
            seen.extend(names);
        }
        all
    }

    /// The global variables defined in the file of the frame's function.
    pub fn globals(&self) -> Vec<(String, TypedValue)> {
        let Some(at) = self.function() else { return Vec::new() };
        let all = self.info.types.variables_of(self.info, at.image, at.die.unit);
        let entry = |at| self.info.entry(at).map(|entry| self.value_of_entry(&entry));
        all.into_iter().filter_map(|(name, at)| Some((name, entry(at)?))).collect()
    }

    /// The variable, argument or enumerator with a name in the enclosing blocks.
    pub(crate) fn in_blocks(&self, name: &str) -> Option<TypedValue> {
        self.blocks().into_iter().find_map(|block| self.in_block(block, name))
    }

    /// The entry of the variable or argument with a name in the enclosing blocks.
    pub(crate) fn entry_in_blocks(&self, name: &str) -> Option<Entry> {
        self.blocks().into_iter().find_map(|block| {
            self.info.children(block).into_iter().rev().find(|entry| {
                matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter)
                    && self.info.name(entry) == Some(name)
            })
        })
    }

    fn in_block(&self, block: DieRef, name: &str) -> Option<TypedValue> {
        let children = self.info.children(block);
        // Rust shadows names in nested blocks; within one block the last declaration counts.
        for entry in children.iter().rev() {
            match entry.tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter | gimli::DW_TAG_constant
                    if self.info.name(entry) == Some(name) =>
                {
                    return Some(self.value_of_entry(entry));
                }
                gimli::DW_TAG_enumeration_type => {
                    for child in self.info.children(entry.at) {
                        if self.info.name(&child) == Some(name) {
                            return self.enumerator_value(&child, entry.at);
                        }
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The names that can be used in the frame, for suggestions.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for block in self.blocks() {
            for entry in self.info.children(block) {
                let is_variable =
                    matches!(entry.tag(), gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter);
                if is_variable && let Some(name) = self.info.name(&entry) {
                    names.push(name);
                }
            }
        }
        let image = self.function().map_or(0, |at| at.image);
        names.extend(self.info.types.value_names(self.info, image));
        names
    }

    /// The value of an enumerator of an enumeration.
    pub(crate) fn enumerator_value(&self, entry: &Entry, enumeration: DieRef) -> Option<TypedValue> {
        let (_, value) = self.info.enumerator(entry)?;
        let ty = Type::Described(enumeration);
        let size = self.info.size(&ty).unwrap_or(4).min(16) as usize;
        Some(TypedValue::known(ty, value.to_le_bytes().get(..size)?))
    }

    /// The value of the variable that an entry describes.
    pub(crate) fn value_of_entry(&self, entry: &Entry) -> TypedValue {
        let own = Entry { at: entry.at, raw: entry.raw.clone() };
        let origins = self.info.origins(own);
        let ty = origins.iter().map(|origin| self.info.type_of(origin)).find(|ty| *ty != Type::Void);
        let ty = self.with_length(ty.unwrap_or(Type::Void));
        for origin in &origins {
            if let Some(value) = origin.attribute(gimli::DW_AT_const_value) {
                return self.constant_value(ty, value);
            }
            match self.rule(origin, gimli::DW_AT_location) {
                Some(Rule::Everywhere(rule)) => {
                    if self.is_in_prologue()
                        && self.is_frame_relative(origin.at, rule)
                        && !self.is_stored_argument(entry, origin.at, rule, &ty)
                    {
                        return self.value_in_prologue(entry, ty);
                    }
                    return TypedValue::new(ty, self.evaluate_rule(origin.at, rule, None));
                }
                Some(Rule::Here(rule)) => {
                    return TypedValue::new(ty, self.evaluate_rule(origin.at, rule, None));
                }
                // The location lists of rustc start after the function entry, although the arguments are available
                // there.
                Some(Rule::Nowhere) if self.is_rust_entry(entry) => return self.value_in_prologue(entry, ty),
                Some(Rule::Nowhere) => return TypedValue::none(ty, Unavailable::OptimizedOut),
                None => {}
            }
        }
        if origins.iter().any(|origin| origin.flag(gimli::DW_AT_declaration)) {
            return self.defined_elsewhere(&origins, ty);
        }
        TypedValue::none(ty, Unavailable::OptimizedOut)
    }

    /// Whether the entry is an argument of a Rust function that is at its first instruction.
    pub(crate) fn is_rust_entry(&self, entry: &Entry) -> bool {
        entry.tag() == gimli::DW_TAG_formal_parameter
            && self.is_at_entry()
            && self.info.language(entry.at) == Language::Rust
    }

    fn is_stored_argument(
        &self,
        entry: &Entry,
        near: DieRef,
        rule: gimli::Expression<crate::image::Reader>,
        ty: &Type,
    ) -> bool {
        entry.tag() == gimli::DW_TAG_formal_parameter
            && self.is_slot_filled(near, rule, self.info.size(ty).unwrap_or(0))
    }

    /// `extern int x;`: the definition is in another unit.
    fn defined_elsewhere(&self, origins: &[Entry], ty: Type) -> TypedValue {
        let Some(entry) = origins.first() else { return TypedValue::none(ty, Unavailable::DeclaredOnly) };
        let Some(name) = self.info.name(entry) else {
            return TypedValue::none(ty, Unavailable::DeclaredOnly);
        };
        let is_variable = |kind| kind == crate::value::type_index::DeclKind::Variable;
        if let Some((at, _)) = self.info.types.find(self.info, Some(entry.at), &[name], is_variable)
            && let Some(definition) = self.info.entry(at)
            && !definition.flag(gimli::DW_AT_declaration)
        {
            return self.value_of_entry(&definition);
        }
        match self.symbol_address(name) {
            Some(Ok(address)) => TypedValue::new(ty, Location::Memory(address)),
            Some(Err(reason)) => TypedValue::none(ty, reason),
            None => TypedValue::none(ty, Unavailable::DeclaredOnly),
        }
    }

    /// The address of data, found by its symbol.
    pub(crate) fn symbol_address(&self, name: &str) -> Option<Result<u64, Unavailable>> {
        let symbol = self.info.program.symbol(name)?;
        if symbol.kind != crate::symbols::SymbolKind::ThreadLocal {
            return Some(Ok(symbol.address));
        }
        let images = self.info.program.images();
        let image = images.iter().position(|mapped| Arc::ptr_eq(&mapped.image, &symbol.image))?;
        Some(self.thread_local(image, symbol.address))
    }

    fn constant_value(&self, ty: Type, value: AttributeValue<crate::image::Reader>) -> TypedValue {
        let bytes = match value {
            AttributeValue::Block(bytes) => bytes.slice().to_vec(),
            AttributeValue::String(text) => [text.slice(), &[0]].concat(),
            AttributeValue::DebugStrRef(_) | AttributeValue::DebugLineStrRef(_) => Vec::new(),
            other => constant(other).map(|value| value.to_le_bytes().to_vec()).unwrap_or_default(),
        };
        if bytes.is_empty() {
            return TypedValue::none(ty, Unavailable::NotUnderstood);
        }
        TypedValue::known(ty, &bytes)
    }

    /// Whether the stack slot of an argument holds only its address.
    fn has_address_in_slot(&self, entry: &Entry) -> bool {
        let Some(AttributeValue::Exprloc(rule)) = entry.attribute(gimli::DW_AT_location) else {
            return false;
        };
        let Some(encoding) = self.info.encoding(entry.at) else { return false };
        let mut operations = rule.operations(encoding);
        matches!(operations.next(), Ok(Some(Operation::FrameOffset { .. })))
            && matches!(operations.next(), Ok(Some(Operation::Deref { .. })))
    }

    /// Whether a rule is relative to the frame base, which is not set up before the end of the prologue.
    pub(crate) fn is_frame_relative(
        &self,
        near: DieRef,
        rule: gimli::Expression<crate::image::Reader>,
    ) -> bool {
        let Some(encoding) = self.info.encoding(near) else { return false };
        matches!(rule.operations(encoding).next(), Ok(Some(Operation::FrameOffset { .. })))
    }

    /// The value before the end of the prologue: arguments are still where the caller passed them, variables do not
    /// exist yet.
    fn value_in_prologue(&self, entry: &Entry, ty: Type) -> TypedValue {
        let Ok(stack) = self.cfa() else { return TypedValue::none(ty, Unavailable::NotYet) };
        match self.argument_location(entry, |_, hidden| Arguments::new(stack, hidden)) {
            None => TypedValue::none(ty, Unavailable::NotYet),
            Some((location, false)) => TypedValue::new(ty, in_frame(location, self.level)),
            Some((location, true)) => match self.word_at(&in_frame(location, self.level), 8) {
                Ok(address) => TypedValue::new(ty, Location::Memory(address as u64)),
                Err(reason) => TypedValue::none(ty, reason),
            },
        }
    }

    /// The location in which the caller passed an argument, and whether it holds only the address. `arguments` creates
    /// the allocator, given the start of the stack (0) and whether the first register is taken.
    pub(crate) fn argument_location(
        &self,
        entry: &Entry,
        arguments: impl Fn(u64, bool) -> Arguments,
    ) -> Option<(Location, bool)> {
        if entry.tag() != gimli::DW_TAG_formal_parameter {
            return None;
        }
        let function = self.function()?;
        let mut arguments = arguments(0, self.info.is_returned_in_memory(&self.result_type(function)));
        for parameter in self.info.children(function) {
            if parameter.tag() != gimli::DW_TAG_formal_parameter {
                continue;
            }
            let is_it = parameter.at == entry.at;
            let origins = self.info.origins(parameter);
            let own = origins.iter().map(|origin| self.info.type_of(origin)).find(|ty| *ty != Type::Void);
            let by_address = origins.first().is_some_and(|entry| self.has_address_in_slot(entry));
            let location = arguments.next(self.info, &own.unwrap_or(Type::Void), by_address);
            if is_it {
                return Some(location);
            }
        }
        None
    }

    /// The return type of a function.
    pub(crate) fn result_type(&self, function: DieRef) -> Type {
        let Some(entry) = self.info.entry(function) else { return Type::Void };
        let origins = self.info.origins(entry);
        origins
            .iter()
            .map(|origin| self.info.type_of(origin))
            .find(|ty| *ty != Type::Void)
            .unwrap_or(Type::Void)
    }

    /// The return value of a function, read from the registers of the innermost frame. The thread must be at its `ret`,
    /// or must have just returned.
    pub fn returned(&self, function: DieRef) -> TypedValue {
        let ty = self.result_type(function);
        if self.info.shape(&ty) == Shape::Void {
            return TypedValue::none(ty, Unavailable::NoResult);
        }
        let location = self.info.returned_in(&ty);
        if self.info.is_returned_in_memory(&ty) {
            return match self.word_at(&location, 8) {
                Ok(address) => TypedValue::new(ty, Location::Memory(address as u64)),
                Err(reason) => TypedValue::none(ty, reason),
            };
        }
        TypedValue::new(ty, location)
    }

    /// Replaces a variable-length array type by one with the length in this frame.
    fn with_length(&self, ty: Type) -> Type {
        let Type::Described(at) = &ty else { return ty };
        let Some(Some(entry)) = self.info.bare_entry(*at) else { return ty };
        if entry.tag() != gimli::DW_TAG_array_type {
            return ty;
        }
        let mut computed = false;
        let mut counts = Vec::new();
        for child in self.info.children(entry.at) {
            if child.tag() != gimli::DW_TAG_subrange_type {
                continue;
            }
            let bound = child.attribute(gimli::DW_AT_count).map(|value| (value, 0));
            let bound = bound.or_else(|| child.attribute(gimli::DW_AT_upper_bound).map(|value| (value, 1)));
            let count = match bound {
                Some((AttributeValue::Exprloc(rule), more)) => {
                    computed = true;
                    self.bound(self.evaluate_rule(child.at, rule, None)).map(|bound| bound.wrapping_add(more))
                }
                Some((AttributeValue::UnitRef(_), more)) => {
                    computed = true;
                    let variable = self
                        .info
                        .reference(&child, gimli::DW_AT_count)
                        .or_else(|| self.info.reference(&child, gimli::DW_AT_upper_bound));
                    variable
                        .and_then(|at| self.info.entry(at))
                        .map(|entry| self.value_of_entry(&entry))
                        .and_then(|typed_value| self.scalar(&typed_value).ok().flatten())
                        .map(|(bits, _)| (bits as u64).wrapping_add(more))
                }
                Some((value, more)) => value.udata_value().map(|bound| bound.wrapping_add(more)),
                None => None,
            };
            counts.push(count);
        }
        if !computed {
            return ty;
        }
        let element = self.info.type_of(&entry);
        counts.into_iter().rev().fold(element, |element, count| Type::Array(Arc::new(element), count))
    }

    /// The value of a bound that is computed by a rule; the rule yields it as an address.
    fn bound(&self, location: Location) -> Option<u64> {
        match location {
            Location::Memory(number) => Some(number),
            other => self.word_at(&other, 8).ok().map(|word| word as u64),
        }
    }
}

/// The same location, with the registers of another frame.
fn in_frame(location: Location, level: usize) -> Location {
    match location {
        Location::Register { number, offset, .. } => Location::Register { number, offset, frame: level },
        other => other,
    }
}
