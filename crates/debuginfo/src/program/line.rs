//! Source lines and their code.

use super::{Function, MappedImage, Program};
use crate::functions::Number;
use crate::image::{Die, Image, Reader};
use crate::inlining;
use crate::lines::{Row, Table};
use gimli::UnitRef;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A line of a source file, with a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// The path, including the directory of the compilation.
    pub file: Arc<Path>,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1; 0 if unknown.
    pub column: u32,
    /// Whether a statement starts here.
    pub is_statement: bool,
}

/// Start address of the code for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineAddress {
    /// The address. If a function starts on that line, it is the end of its prologue.
    pub address: u64,
    /// The line of the code. It is a later one than requested if that has no code.
    pub line: Line,
}

/// Code of one row of the line table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The address range.
    pub range: Range<u64>,
    /// The source line; `None` for code that belongs to no line.
    pub line: Option<Line>,
}

impl Program {
    /// The source line of the code at an address.
    pub fn line_of(&self, address: u64) -> Option<Line> {
        let mapped = self.image_at(address)?;
        let in_file = mapped.in_file(address);
        let table = table_at(&mapped.image, in_file)?;
        line(table, table.row_at(in_file)?)
    }

    /// The start addresses of the code for a line: one for each copy of the function that contains it, including
    /// inlined instances and template instances. The file is given by a suffix of its path. A line without code stands
    /// for the next one with code; the result contains the actual line.
    pub fn addresses_of(&self, file: &str, line: u32) -> Vec<LineAddress> {
        let mut all = Vec::new();
        for mapped in &self.images {
            all.extend(line_addresses(mapped, Path::new(file), line));
        }
        all.sort_by_key(|found| found.address);
        all.dedup_by_key(|found| found.address);
        all
    }

    /// The rows of the line table within a function, by address.
    pub fn statements(&self, function: &Function) -> Vec<Statement> {
        let mut all = Vec::new();
        for range in &function.ranges {
            let range = function.mapped.in_file(range.start)..function.mapped.in_file(range.end);
            let Some(table) = table_at(&function.mapped.image, range.start) else { continue };
            let rows = table.rows_in(&range);
            for (position, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_end) {
                let end = rows.get(position + 1).map_or(range.end, |next| next.address).min(range.end);
                let begin = row.address.max(range.start);
                if begin < end {
                    all.push(Statement {
                        range: function.mapped.address_range(&(begin..end)),
                        line: self::line(table, row),
                    });
                }
            }
        }
        all
    }
}

/// The line table for a file address.
pub(super) fn table_at(image: &Image, address: u64) -> Option<&Table> {
    let lines = image.lines();
    let unit = lines.unit_at(address);
    // Units without address ranges are found by their functions.
    let unit = unit.or_else(|| {
        let functions = image.functions();
        Some(functions.entry(functions.at(address)?)?.die.unit)
    })?;
    lines.table(image, unit)
}

/// Converts a row; `None` if its code belongs to no line.
fn line(table: &Table, row: &Row) -> Option<Line> {
    let file = table.file(row.file)?.clone();
    (row.line != 0).then_some(Line {
        file,
        line: row.line,
        column: row.column,
        is_statement: row.is_statement,
    })
}

/// The line that an attribute refers to by file number.
pub(super) fn call_line(image: &Image, die: Die, (file, line, column): (u32, u32, u32)) -> Option<Line> {
    let file = image.lines().table(image, die.unit)?.file(file)?.clone();
    Some(Line { file, line, column, is_statement: true })
}

/// The start addresses of the code for a line in one image.
fn line_addresses(mapped: &MappedImage, file: &Path, wanted: u32) -> Vec<LineAddress> {
    let image = &*mapped.image;
    let lines = image.lines();
    // Files of the same name in different directories each have their own next line with code.
    let mut nearest: HashMap<Arc<Path>, Vec<(u32, Row)>> = HashMap::new();
    for unit in lines.units_with_file(image, file) {
        let Some(table) = lines.table(image, unit) else { continue };
        let mut previous: Option<&Row> = None;
        for row in &table.rows {
            let continues = previous.is_some_and(|previous| {
                !previous.is_end
                    && previous.line == row.line
                    && previous.file == row.file
                    && previous.is_statement
            });
            previous = Some(row);
            if row.is_end || !row.is_statement || row.line < wanted || continues {
                continue;
            }
            let Some(path) = table.file(row.file).filter(|path| path.ends_with(file)) else { continue };
            let found = nearest.entry(path.clone()).or_default();
            match found.first().map(|(line, _)| *line) {
                Some(line) if line < row.line => {}
                Some(line) if line == row.line => found.push((row.line, *row)),
                _ => *found = vec![(row.line, *row)],
            }
        }
    }
    let mut all = Vec::new();
    for (path, rows) in nearest {
        let mut copies: HashMap<Option<Die>, Row> = HashMap::new();
        for (_, row) in rows {
            let kept = copies.entry(copy_at(image, row.address)).or_insert(row);
            if row.address < kept.address {
                *kept = row;
            }
        }
        all.extend(copies.into_values().map(|row| LineAddress {
            address: mapped.address(after_prologue(image, row.address)),
            line: Line { file: path.clone(), line: row.line, column: row.column, is_statement: true },
        }));
    }
    all
}

/// The entry that contains an address: an inlined instance, or the function itself.
fn copy_at(image: &Image, address: u64) -> Option<Die> {
    let functions = image.functions();
    let function = functions.entry(functions.at(address)?)?.die;
    Some(inlining::instances_at(image, function, address).last().map_or(function, |copy| copy.die))
}

/// The address itself, or the end of the prologue if a function starts there.
fn after_prologue(image: &Image, address: u64) -> u64 {
    let functions = image.functions();
    let Some(number) = functions.at(address) else { return address };
    match functions.entry(number) {
        Some(entry) if entry.start == address => prologue_end(image, number).unwrap_or(address),
        _ => address,
    }
}

/// The start of a function's body, as a file address. This is where the compiler marks it, or else the second line of
/// the function, because compilers without marks give the prologue a line of its own. Optimising compilers mix prologue
/// and body, but describe the locations of variables at every address, so there it is the first instruction.
pub(super) fn prologue_end(image: &Image, number: Number) -> Option<u64> {
    let functions = image.functions();
    let entry = functions.entry(number)?;
    let range = functions.ranges(number).iter().find(|range| range.contains(&entry.start))?;
    let table = image.lines().table(image, entry.die.unit)?;
    let rows = table.rows_in(&(entry.start..range.end));
    if let Some(row) = rows.iter().find(|row| row.prologue_ends && row.address >= entry.start) {
        return Some(row.address);
    }
    if image.unit(entry.die.unit).is_some_and(is_optimised) {
        return Some(entry.start);
    }
    rows.iter()
        .find(|row| row.address > entry.start && !row.is_end)
        .map(|row| row.address)
        .or(Some(entry.start))
}

/// Whether the compiler recorded an optimisation option.
fn is_optimised(unit: UnitRef<'_, Reader>) -> bool {
    let Ok(root) = unit.unit.entry(unit.header.root_offset()) else { return false };
    let producer = root.attr_value(gimli::DW_AT_producer).and_then(|value| unit.attr_string(value).ok());
    let producer = producer.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    let mut levels = producer.split_whitespace().filter_map(|word| word.strip_prefix("-O"));
    levels.next_back().is_some_and(|level| level != "0")
}
