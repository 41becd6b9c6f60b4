//! Source lines and the code for them.

use super::{Function, Loaded, Program};
use crate::functions::Number;
use crate::image::{Die, Image, Reader};
use crate::inlining;
use crate::lines::{Row, Table};
use gimli::UnitRef;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// The file, with the directory in which it was compiled.
    pub file: Arc<Path>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
    /// Whether a statement begins here.
    pub is_statement: bool,
}

/// Where the code for a line begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address, behind the prologue if a function begins on that line.
    pub address: u64,
    /// The line that has the code. It is a later one than was asked for if that has none.
    pub line: Line,
}

/// The code of one row of the line table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The addresses.
    pub range: Range<u64>,
    /// The source; `None` for code that is of no line.
    pub line: Option<Line>,
}

impl Program {
    /// The line to which the code at an address belongs.
    pub fn line_of(&self, address: u64) -> Option<Line> {
        let loaded = self.image_at(address)?;
        let in_file = loaded.in_file(address);
        let table = table_at(&loaded.image, in_file)?;
        line(table, table.row_at(in_file)?)
    }

    /// Where the code for a line begins: one place for each copy of the function around it, inlined copies and
    /// instances of templates among them. The file is named by the end of its path. If there is no code for the
    /// line, the next line that has some is taken; the result says which.
    pub fn addresses_of(&self, file: &str, line: u32) -> Vec<Place> {
        let mut all = Vec::new();
        for loaded in &self.images {
            all.extend(places(loaded, Path::new(file), line));
        }
        all.sort_by_key(|place| place.address);
        all.dedup_by_key(|place| place.address);
        all
    }

    /// The rows of the line table in a function, by address.
    pub fn statements(&self, function: &Function) -> Vec<Statement> {
        let mut all = Vec::new();
        for range in &function.ranges {
            let range = function.loaded.in_file(range.start)..function.loaded.in_file(range.end);
            let Some(table) = table_at(&function.loaded.image, range.start) else { continue };
            let rows = table.rows_in(&range);
            for (position, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_end) {
                let end = rows.get(position + 1).map_or(range.end, |next| next.address).min(range.end);
                let begin = row.address.max(range.start);
                if begin < end {
                    all.push(Statement {
                        range: function.loaded.here(&(begin..end)),
                        line: self::line(table, row),
                    });
                }
            }
        }
        all
    }
}

/// The line table that has a file address.
pub(super) fn table_at(image: &Image, address: u64) -> Option<&Table> {
    let lines = image.lines();
    let unit = lines.unit_at(address);
    // Units that do not tell their addresses are found by their functions.
    let unit = unit.or_else(|| {
        let functions = image.functions();
        Some(functions.entry(functions.at(address)?)?.die.unit)
    })?;
    lines.table(image, unit)
}

/// A row as a line; `None` if it is of no line.
fn line(table: &Table, row: &Row) -> Option<Line> {
    let file = table.file(row.file)?.clone();
    (row.line != 0).then_some(Line {
        file,
        line: row.line,
        column: row.column,
        is_statement: row.is_statement,
    })
}

/// A place that an attribute names by the number of its file.
pub(super) fn call_line(image: &Image, die: Die, (file, line, column): (u32, u32, u32)) -> Option<Line> {
    let file = image.lines().table(image, die.unit)?.file(file)?.clone();
    Some(Line { file, line, column, is_statement: true })
}

/// Where the code for a line begins in one image.
fn places(loaded: &Loaded, file: &Path, wanted: u32) -> Vec<Place> {
    let image = &*loaded.image;
    let lines = image.lines();
    // Files of one name in several directories each have their own next line with code.
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
        all.extend(copies.into_values().map(|row| Place {
            address: loaded.address(behind_prologue(image, row.address)),
            line: Line { file: path.clone(), line: row.line, column: row.column, is_statement: true },
        }));
    }
    all
}

/// The copy of a function that an address is in: an inlined one, or the function itself.
fn copy_at(image: &Image, address: u64) -> Option<Die> {
    let functions = image.functions();
    let function = functions.entry(functions.at(address)?)?.die;
    Some(inlining::copies_at(image, function, address).last().map_or(function, |copy| copy.die))
}

/// The address itself, or the end of the prologue if a function begins there.
fn behind_prologue(image: &Image, address: u64) -> u64 {
    let functions = image.functions();
    let Some(number) = functions.at(address) else { return address };
    match functions.entry(number) {
        Some(entry) if entry.start == address => prologue_end(image, number).unwrap_or(address),
        _ => address,
    }
}

/// Where the body of a function begins, as a file address: where the compiler says so; else at its second
/// line, for the compilers that do not say so make two lines of a prologue. In optimised code they mix it with
/// the body, but say for every address where the variables are: there it is the first instruction.
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

/// Whether the compiler noted that it was told to optimise.
fn is_optimised(unit: UnitRef<'_, Reader>) -> bool {
    let Ok(root) = unit.unit.entry(unit.header.root_offset()) else { return false };
    let producer = root.attr_value(gimli::DW_AT_producer).and_then(|value| unit.attr_string(value).ok());
    let producer = producer.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    let mut levels = producer.split_whitespace().filter_map(|word| word.strip_prefix("-O"));
    levels.next_back().is_some_and(|level| level != "0")
}
