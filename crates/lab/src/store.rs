//! Store of measurements: an SQLite table `bench` with one row per run and one column per measure.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use std::fmt;
use std::io::Write;
use std::path::Path;

/// Measurements of one run, with their names.
pub type Row = Vec<(String, Measurement)>;

/// Value of a measure.
#[derive(Clone, Debug, PartialEq)]
pub enum Measurement {
    /// Integer.
    Count(i64),
    /// Floating-point number.
    Number(f64),
    /// Name.
    Text(String),
}

impl From<&Measurement> for Value {
    fn from(measured: &Measurement) -> Value {
        match measured {
            Measurement::Count(count) => Value::Integer(*count),
            Measurement::Number(number) => Value::Real(*number),
            Measurement::Text(word) => Value::Text(word.clone()),
        }
    }
}

/// Error of storing or querying measurements.
#[derive(Debug)]
pub struct StoreError(String);

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError(format!("cannot access measurements: {error}"))
    }
}

impl From<csv::Error> for StoreError {
    fn from(error: csv::Error) -> StoreError {
        StoreError(format!("cannot write measurements: {error}"))
    }
}

/// Database of measurements.
///
/// ```
/// use invigil_lab::store::{Measurement, Store};
///
/// let mut store = Store::in_memory()?;
/// let row = |algorithm: &str, delay| {
///     vec![("alg".into(), Measurement::Text(algorithm.into())), ("delay".into(), Measurement::Number(delay))]
/// };
/// store.add(&[row("orchestration", 0.5), row("migration", 1.0)])?;
/// // A new measure adds a column.
/// store.add(&[vec![("alg".into(), Measurement::Text("migration".into())), ("messages".into(), Measurement::Count(3))]])?;
/// let table = store.query("SELECT alg, avg(delay), sum(messages) FROM bench GROUP BY alg ORDER BY alg")?;
/// assert_eq!(table.rows, [["migration", "1", "3"], ["orchestration", "0.5", ""]]);
/// # Ok::<(), invigil_lab::store::StoreError>(())
/// ```
pub struct Store {
    connection: Connection,
    columns: Vec<String>,
}

/// Result of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Names of the columns.
    pub names: Vec<String>,
    /// Rows; NULL is an empty cell.
    pub rows: Vec<Vec<String>>,
}

impl Store {
    /// Opens a database; creates it if needed.
    ///
    /// # Errors
    /// Fails if the file cannot be opened or is not a database.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let named = |error| StoreError(format!("{}: {error}", path.display()));
        Store::new(Connection::open(path).map_err(named)?)
            .map_err(|error| StoreError(format!("{}: {error}", path.display())))
    }

    /// Creates a database in memory.
    ///
    /// # Errors
    /// Fails if there is not enough memory.
    pub fn in_memory() -> Result<Store, StoreError> {
        Store::new(Connection::open_in_memory()?)
    }

    fn new(connection: Connection) -> Result<Store, StoreError> {
        // Losing the last rows in a crash of the machine costs less than syncing after every run.
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.execute("CREATE TABLE IF NOT EXISTS bench (run INTEGER PRIMARY KEY)", ())?;
        let columns = {
            let mut statement = connection.prepare("SELECT name FROM pragma_table_info('bench')")?;
            statement.query_map((), |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        Ok(Store { connection, columns })
    }

    /// Adds the rows of some runs, all or none.
    ///
    /// # Errors
    /// Fails if they cannot be written.
    pub fn add(&mut self, rows: &[Row]) -> Result<(), StoreError> {
        let transaction = self.connection.transaction()?;
        for row in rows {
            for (name, _) in row {
                if !self.columns.contains(name) {
                    transaction.execute(&format!("ALTER TABLE bench ADD COLUMN {}", quoted(name)), ())?;
                    self.columns.push(name.clone());
                }
            }
            let names: Vec<String> = row.iter().map(|(name, _)| quoted(name)).collect();
            let places = vec!["?"; names.len()];
            let insert = format!("INSERT INTO bench ({}) VALUES ({})", names.join(", "), places.join(", "));
            let values = row.iter().map(|(_, measured)| Value::from(measured));
            transaction.prepare_cached(&insert)?.execute(params_from_iter(values))?;
        }
        Ok(transaction.commit()?)
    }

    /// Returns whether there is a column with this name.
    pub fn has_column(&self, column: &str) -> bool {
        self.columns.iter().any(|known| known == column)
    }

    /// Removes the runs that have all of the given tags.
    ///
    /// # Errors
    /// Fails if a tag does not exist or the database cannot be written.
    pub fn remove(&mut self, tags: &[(&str, &str)]) -> Result<(), StoreError> {
        let conditions: Vec<String> =
            tags.iter().map(|(name, _)| format!("CAST({} AS TEXT) = ?", quoted(name))).collect();
        let sql = format!("DELETE FROM bench WHERE {}", conditions.join(" AND "));
        self.connection.execute(&sql, params_from_iter(tags.iter().map(|(_, value)| value)))?;
        Ok(())
    }

    /// Runs an SQL query.
    ///
    /// # Errors
    /// Fails if the query is invalid.
    pub fn query(&self, sql: &str) -> Result<Table, StoreError> {
        let mut statement = self.connection.prepare(sql)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = statement.query_map((), |row| {
            (0..names.len()).map(|at| Ok(cell_text(row.get_ref(at)?))).collect::<Result<Vec<_>, _>>()
        })?;
        let rows = rows.collect::<Result<_, _>>()?;
        Ok(Table { names, rows })
    }

    /// Writes the result of a query as CSV.
    ///
    /// # Errors
    /// Fails if the query is invalid or its result cannot be written.
    pub fn write_csv(&self, sql: &str, to: impl Write) -> Result<(), StoreError> {
        let table = self.query(sql)?;
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record(&table.names)?;
        for row in &table.rows {
            writer.write_record(row)?;
        }
        writer.flush().map_err(|error| csv::Error::from(error).into())
    }
}

/// Quotes an SQL identifier.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Quotes an SQL string.
pub(crate) fn sql_text(words: &str) -> String {
    format!("'{}'", words.replace('\'', "''"))
}

fn cell_text(value: ValueRef<'_>) -> String {
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
    fn reopened_store_keeps_measurements_and_columns() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("measures.db");
        let row = |name: &str, count| vec![(name.to_owned(), Measurement::Count(count))];
        Store::open(&file).unwrap().add(&[row("a", 1), row("strange \"name", 2)]).unwrap();
        let mut again = Store::open(&file).unwrap();
        again.add(&[row("a", 3)]).unwrap();
        let table = again.query("SELECT sum(a), count(*) FROM bench").unwrap();
        assert_eq!(table.rows, [["4", "3"]]);
        let mut sql_text = Vec::new();
        again
            .write_csv("SELECT a, \"strange \"\"name\" AS b FROM bench ORDER BY run", &mut sql_text)
            .unwrap();
        assert_eq!(String::from_utf8(sql_text).unwrap(), "a,b\n1,\n,2\n3,\n");
        assert!(again.query("SELECT nothing FROM bench").is_err());
        std::fs::write(&file, "this is not a database but a text that is long enough to be taken for one")
            .unwrap();
        assert!(Store::open(&file).is_err_and(|error| error.to_string().contains("measures.db")));
    }
}
