//! Line tables of one image, each read on first use.

use crate::image::elf::path_of;
use crate::image::{Image, Reader, Unit};
use gimli::{AttributeValue, ColumnType, LineProgramHeader, UnitRef};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// One row of a line table. It covers the code from its address to that of the next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) address: u64,
    pub(crate) file: u32,
    /// 0 if the code belongs to no line.
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) is_statement: bool,
    pub(crate) prologue_ends: bool,
    /// Whether the row marks the end of a sequence; it has no code.
    pub(crate) is_end: bool,
}

/// The line table of one unit.
pub(crate) struct Table {
    /// Sorted by address.
    pub(crate) rows: Vec<Row>,
    files: Vec<Arc<Path>>,
}

impl Table {
    /// The path of a file by its number in the rows.
    pub(crate) fn file(&self, number: u32) -> Option<&Arc<Path>> {
        self.files.get(number as usize)
    }

    /// The row that covers an address.
    pub(crate) fn row_at(&self, address: u64) -> Option<&Row> {
        let after = self.rows.partition_point(|row| row.address <= address);
        self.rows.get(after.checked_sub(1)?).filter(|row| !row.is_end)
    }

    /// The rows that start in a range, and the one that covers its start.
    pub(crate) fn rows_in(&self, range: &Range<u64>) -> &[Row] {
        let end = self.rows.partition_point(|row| row.address < range.end);
        let mut begin = self.rows.partition_point(|row| row.address < range.start);
        let covered = self.rows.get(begin).is_some_and(|row| row.address == range.start);
        if !covered && begin > 0 && !self.rows[begin - 1].is_end {
            begin -= 1;
        }
        self.rows.get(begin..end).unwrap_or_default()
    }

    fn read(unit: UnitRef<'_, Reader>, image: &Image) -> Option<Table> {
        let program = unit.unit.line_program.clone()?;
        let files = files_of(unit, program.header());
        let mut sequences: Vec<Vec<Row>> = Vec::new();
        let mut current = Vec::new();
        let mut rows = program.rows();
        // Sequences that are complete before a malformed row are kept.
        while let Ok(Some((_, row))) = rows.next_row() {
            current.push(Row {
                address: row.address(),
                file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
                line: row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(u32::MAX)),
                column: match row.column() {
                    ColumnType::LeftEdge => 0,
                    ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(u32::MAX),
                },
                is_statement: row.is_stmt(),
                prologue_ends: row.prologue_end(),
                is_end: row.end_sequence(),
            });
            if row.end_sequence() {
                let sequence = std::mem::take(&mut current);
                // Sequences of code that the linker discarded start at an address without code.
                if image.is_code(sequence[0].address) {
                    sequences.push(sequence);
                }
            }
        }
        sequences.sort_by_key(|sequence| sequence[0].address);
        Some(Table { rows: sequences.concat(), files })
    }
}

/// The line tables of an image.
pub(crate) struct Lines {
    tables: Vec<OnceLock<Option<Table>>>,
    /// Address ranges of the units.
    by_address: Vec<(Range<u64>, usize)>,
}

impl Lines {
    pub(crate) fn new(image: &Image) -> Lines {
        let mut by_address = Vec::new();
        for number in 0..image.units().len() {
            let Some(unit) = image.unit(number) else { continue };
            let Ok(mut ranges) = unit.unit_ranges() else { continue };
            while let Ok(Some(range)) = ranges.next() {
                if range.begin < range.end && image.is_code(range.begin) {
                    by_address.push((range.begin..range.end, number));
                }
            }
        }
        by_address.sort_by_key(|(range, number)| (range.start, *number));
        Lines { tables: image.units().iter().map(|_| OnceLock::new()).collect(), by_address }
    }

    /// The line table of a unit.
    pub(crate) fn table(&self, image: &Image, unit: usize) -> Option<&Table> {
        self.tables.get(unit)?.get_or_init(|| Table::read(image.unit(unit)?, image)).as_ref()
    }

    /// The unit whose code contains an address.
    pub(crate) fn unit_at(&self, address: u64) -> Option<usize> {
        let after = self.by_address.partition_point(|(range, _)| range.start <= address);
        let (range, unit) = self.by_address.get(after.checked_sub(1)?)?;
        range.contains(&address).then_some(*unit)
    }

    /// The units whose line tables contain a file with the same base name.
    pub(crate) fn units_with_file(&self, image: &Image, file: &Path) -> Vec<usize> {
        let Some(name) = file.file_name() else { return Vec::new() };
        let mut units: Vec<usize> = self.by_address.iter().map(|(_, unit)| *unit).collect();
        units.sort_unstable();
        units.dedup();
        units.retain(|unit| {
            image.unit(*unit).is_some_and(|unit| {
                let Some(program) = &unit.unit.line_program else { return false };
                let names = program.header().file_names();
                names.iter().any(|entry| {
                    let path = unit.attr_string(entry.path_name()).map(|path| path_of(path.slice()));
                    path.is_ok_and(|path| path.file_name() == Some(name))
                })
            })
        });
        units
    }
}

/// The path of the source file of a unit, joined to the compilation directory.
pub(crate) fn unit_path(unit: &Unit) -> PathBuf {
    let name = unit.name.map(|name| path_of(name.slice())).unwrap_or_default();
    unit.comp_dir.map(|directory| path_of(directory.slice())).unwrap_or_default().join(name)
}

fn files_of(unit: UnitRef<'_, Reader>, header: &LineProgramHeader<Reader>) -> Vec<Arc<Path>> {
    let compilation_directory =
        unit.unit.comp_dir.map(|directory| path_of(directory.slice())).unwrap_or_default();
    let path = |value: AttributeValue<Reader>| unit.attr_string(value).ok().map(|name| path_of(name.slice()));
    let main: Arc<Path> = unit_path(unit.unit).components().collect::<PathBuf>().into();
    // Before version 5, files are numbered from 1, and number 0 is the unit's own file.
    let count = header.file_names().len() as u64 + u64::from(header.version() < 5);
    (0..count)
        .map(|number| {
            let Some(file) = header.file(number) else { return main.clone() };
            // Directory 0 is the compilation directory; relative names are resolved against it.
            let directory = match file.directory_index() {
                0 => PathBuf::new(),
                _ => file.directory(header).and_then(path).unwrap_or_default(),
            };
            let full_path =
                compilation_directory.join(directory).join(path(file.path_name()).unwrap_or_default());
            full_path.components().collect::<PathBuf>().into()
        })
        .collect()
}
