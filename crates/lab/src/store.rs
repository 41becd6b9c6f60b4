//! Where measures are kept: a table of SQLite with one row for every run, and a column for every measure that ever was.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use std::fmt;
use std::io::Write;
use std::path::Path;

/// The measures of one run, each with its name.
pub type Row = Vec<(String, Measured)>;

/// A measure.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// A whole number.
    Count(i64),
    /// A number.
    Number(f64),
    /// A name.
    Word(String),
}

impl From<&Measured> for Value {
    fn from(measured: &Measured) -> Value {
        match measured {
            Measured::Count(count) => Value::Integer(*count),
            Measured::Number(number) => Value::Real(*number),
            Measured::Word(word) => Value::Text(word.clone()),
        }
    }
}

/// Measures that cannot be kept or found.
#[derive(Debug)]
pub struct Unkept(String);

impl fmt::Display for Unkept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unkept {}

impl From<rusqlite::Error> for Unkept {
    fn from(error: rusqlite::Error) -> Unkept {
        Unkept(format!("the measures cannot be kept: {error}"))
    }
}

impl From<csv::Error> for Unkept {
    fn from(error: csv::Error) -> Unkept {
        Unkept(format!("the measures cannot be written: {error}"))
    }
}

/// A file of measures.
///
/// ```
/// use invigil_lab::store::{Measured, Store};
///
/// let mut store = Store::in_memory()?;
/// let row = |algorithm: &str, delay| {
///     vec![("alg".into(), Measured::Word(algorithm.into())), ("delay".into(), Measured::Number(delay))]
/// };
/// store.add(&[row("orchestration", 0.5), row("migration", 1.0)])?;
/// // A measure that is new makes a column of its own.
/// store.add(&[vec![("alg".into(), Measured::Word("migration".into())), ("messages".into(), Measured::Count(3))]])?;
/// let table = store.query("SELECT alg, avg(delay), sum(messages) FROM bench GROUP BY alg ORDER BY alg")?;
/// assert_eq!(table.rows, [["migration", "1", "3"], ["orchestration", "0.5", ""]]);
/// # Ok::<(), invigil_lab::store::Unkept>(())
/// ```
pub struct Store {
    connection: Connection,
    columns: Vec<String>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The rows; nothing is an empty cell.
    pub rows: Vec<Vec<String>>,
}

impl Store {
    /// The measures in a file, which is made if there is none.
    ///
    /// # Errors
    /// If it cannot be opened, or is something else.
    pub fn open(path: &Path) -> Result<Store, Unkept> {
        let named = |error| Unkept(format!("{}: {error}", path.display()));
        Store::new(Connection::open(path).map_err(named)?)
            .map_err(|error| Unkept(format!("{}: {error}", path.display())))
    }

    /// Measures that are gone when this is.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn in_memory() -> Result<Store, Unkept> {
        Store::new(Connection::open_in_memory()?)
    }

    fn new(connection: Connection) -> Result<Store, Unkept> {
        // A row is written when its run is over; to lose the last ones when the machine dies is better than to wait for the disk.
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.execute("CREATE TABLE IF NOT EXISTS bench (run INTEGER PRIMARY KEY)", ())?;
        let columns = {
            let mut found = connection.prepare("SELECT name FROM pragma_table_info('bench')")?;
            found.query_map((), |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        Ok(Store { connection, columns })
    }

    /// Adds the rows of some runs, all or none.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), Unkept> {
        let change = self.connection.transaction()?;
        for row in rows {
            for (name, _) in row {
                if !self.columns.contains(name) {
                    change.execute(&format!("ALTER TABLE bench ADD COLUMN {}", quoted(name)), ())?;
                    self.columns.push(name.clone());
                }
            }
            let names: Vec<String> = row.iter().map(|(name, _)| quoted(name)).collect();
            let places = vec!["?"; names.len()];
            let insert = format!("INSERT INTO bench ({}) VALUES ({})", names.join(", "), places.join(", "));
            let values = row.iter().map(|(_, measured)| Value::from(measured));
            change.prepare_cached(&insert)?.execute(params_from_iter(values))?;
        }
        Ok(change.commit()?)
    }

    /// Whether there is a column of this name.
    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|known| known == column)
    }

    /// Removes the runs that have all these tags.
    ///
    /// # Errors
    /// If there is no such tag, or if nothing can be written.
    pub fn remove(&mut self, tags: &[(&str, &str)]) -> Result<(), Unkept> {
        let conditions: Vec<String> =
            tags.iter().map(|(name, _)| format!("CAST({} AS TEXT) = ?", quoted(name))).collect();
        let question = format!("DELETE FROM bench WHERE {}", conditions.join(" AND "));
        self.connection.execute(&question, params_from_iter(tags.iter().map(|(_, value)| value)))?;
        Ok(())
    }

    /// What a question in SQL gives.
    ///
    /// # Errors
    /// If the question makes no sense.
    pub fn query(&self, question: &str) -> Result<Table, Unkept> {
        let mut asked = self.connection.prepare(question)?;
        let names: Vec<String> = asked.column_names().map(str::to_owned).collect();
        let rows = asked.query_map((), |row| {
            (0..names.len()).map(|at| Ok(shown(row.get_ref(at)?))).collect::<Result<Vec<_>, _>>()
        })?;
        let rows = rows.collect::<Result<_, _>>()?;
        Ok(Table { names, rows })
    }

    /// Writes what a question gives as CSV.
    ///
    /// # Errors
    /// If the question makes no sense, or if nothing can be written.
    pub fn write_csv(&self, question: &str, to: impl Write) -> Result<(), Unkept> {
        let table = self.query(question)?;
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record(&table.names)?;
        for row in &table.rows {
            writer.write_record(row)?;
        }
        writer.flush().map_err(|error| csv::Error::from(error).into())
    }
}

/// A name as SQL has it, whatever is in it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text as SQL has it, whatever is in it.
pub(crate) fn text(words: &str) -> String {
    format!("'{}'", words.replace('\'', "''"))
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(count) => count.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_there_when_the_file_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("measures.db");
        let row = |name: &str, count| vec![(name.to_owned(), Measured::Count(count))];
        Store::open(&file).unwrap().add(&[row("a", 1), row("strange \"name", 2)]).unwrap();
        let mut again = Store::open(&file).unwrap();
        again.add(&[row("a", 3)]).unwrap();
        let table = again.query("SELECT sum(a), count(*) FROM bench").unwrap();
        assert_eq!(table.rows, [["4", "3"]]);
        let mut text = Vec::new();
        again.write_csv("SELECT a, \"strange \"\"name\" AS b FROM bench ORDER BY run", &mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "a,b\n1,\n,2\n3,\n");
        assert!(again.query("SELECT nothing FROM bench").is_err());
        std::fs::write(&file, "this is no database, it is a text that is long enough to be taken for one")
            .unwrap();
        assert!(Store::open(&file).is_err_and(|error| error.to_string().contains("measures.db")));
    }
}
