//! Inlined instances of functions, and which of them contain an address.

use crate::functions::Number;
use crate::image::{Die, Image, Reader};
use gimli::{AttributeValue, DebuggingInformationEntry, UnitRef};
use std::ops::Range;

/// One inlined instance of a function. Addresses are those of the file.
#[derive(Clone, Debug)]
pub(crate) struct InlinedInstance {
    /// The DWARF entry of the instance.
    pub(crate) die: Die,
    /// The inlined function.
    pub(crate) of: Option<Number>,
    pub(crate) ranges: Vec<Range<u64>>,
    pub(crate) entry: u64,
    /// File (its number in the line table), line and column of the call.
    pub(crate) call: Option<(u32, u32, u32)>,
}

/// The inlined instances in a function that contain an address, outermost first.
pub(crate) fn instances_at(image: &Image, function: Die, address: u64) -> Vec<InlinedInstance> {
    let mut found = Vec::new();
    // Entries read before a malformed one are kept.
    let _ = walk(image, function, address, &mut found);
    found
}

fn walk(image: &Image, function: Die, address: u64, found: &mut Vec<InlinedInstance>) -> gimli::Result<()> {
    let Some(unit) = image.unit(function.unit) else { return Ok(()) };
    let mut entries = unit.unit.entries_raw(Some(function.offset))?;
    let mut entry = DebuggingInformationEntry::null();
    if !entries.read_entry(&mut entry)? || !entry.has_children() {
        return Ok(());
    }
    // Only entries below one that contains the address are relevant.
    let mut depth = entries.next_depth();
    while !entries.is_empty() {
        let at = entries.next_depth();
        if at < depth {
            break;
        }
        let offset = entries.next_offset();
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        let is_instance = abbreviation.tag() == gimli::DW_TAG_inlined_subroutine;
        let is_scope = is_instance
            || matches!(
                abbreviation.tag(),
                gimli::DW_TAG_lexical_block | gimli::DW_TAG_try_block | gimli::DW_TAG_catch_block
            );
        entries.skip_attributes(abbreviation.attributes())?;
        if at != depth || !is_scope {
            continue;
        }
        let die = Die { unit: function.unit, offset };
        let candidate = unit.unit.entry(offset)?;
        let ranges = ranges_of(unit, &candidate);
        if !ranges.iter().any(|range| range.contains(&address)) {
            continue;
        }
        if is_instance {
            found.push(read(image, unit, die, &candidate, ranges));
        }
        if !abbreviation.has_children() {
            break;
        }
        depth = at + 1;
    }
    Ok(())
}

/// Reads one inlined instance.
pub(crate) fn instance(image: &Image, die: Die) -> Option<InlinedInstance> {
    let unit = image.unit(die.unit)?;
    let entry = unit.unit.entry(die.offset).ok()?;
    let ranges = ranges_of(unit, &entry);
    Some(read(image, unit, die, &entry, ranges))
}

fn read(
    image: &Image,
    unit: UnitRef<'_, Reader>,
    die: Die,
    entry: &DebuggingInformationEntry<Reader>,
    ranges: Vec<Range<u64>>,
) -> InlinedInstance {
    let number = |name| {
        let value = match entry.attr_value(name)? {
            AttributeValue::FileIndex(file) => Some(file),
            other => other.udata_value(),
        };
        u32::try_from(value?).ok()
    };
    let of = entry
        .attr_value(gimli::DW_AT_abstract_origin)
        .and_then(|origin| image.resolve(die.unit, origin))
        .and_then(|origin| image.functions().number(origin));
    let lowest = ranges.first().map_or(0, |range| range.start);
    let address = |name| entry.attr_value(name).and_then(|value| unit.attr_address(value).ok().flatten());
    let start = match entry.attr_value(gimli::DW_AT_entry_pc) {
        Some(AttributeValue::Udata(offset)) => {
            address(gimli::DW_AT_low_pc).unwrap_or(lowest).checked_add(offset)
        }
        Some(_) => address(gimli::DW_AT_entry_pc),
        None => address(gimli::DW_AT_low_pc),
    };
    // An entry address outside of the ranges was moved away with other code. Without ranges, all instructions of
    // the instance were merged with others, and the entry address is all that is known.
    let is_fitting = |start: &u64| ranges.is_empty() || ranges.iter().any(|range| range.contains(start));
    let start = start.filter(is_fitting);
    let call = number(gimli::DW_AT_call_line).map(|line| {
        (number(gimli::DW_AT_call_file).unwrap_or(0), line, number(gimli::DW_AT_call_column).unwrap_or(0))
    });
    InlinedInstance { die, of, entry: start.unwrap_or(lowest), ranges, call }
}

fn ranges_of(unit: UnitRef<'_, Reader>, entry: &DebuggingInformationEntry<Reader>) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    if let Ok(mut all) = unit.die_ranges(entry) {
        while let Ok(Some(range)) = all.next() {
            if range.begin < range.end {
                ranges.push(range.begin..range.end);
            }
        }
    }
    ranges
}
