//! Sensor folders: `sensors.csv` lists the sensors.

use super::sensor::{Millis, read_changes};
use super::{ObservationError, SensorReading};
use std::fs;
use std::path::{Path, PathBuf};

/// Sensor of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedSensor {
    /// Its proposition.
    pub name: String,
    /// File with its changes.
    pub file: PathBuf,
    /// How values become true or false.
    pub reading: SensorReading,
}

impl ListedSensor {
    /// Reads its changes.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn changes(&self) -> Result<Vec<(Millis, bool)>, ObservationError> {
        read_changes(&self.file, self.reading)
    }
}

/// Reads the sensors of a folder. Its `sensors.csv` has one line per sensor: proposition, file, and reading, which is
/// `switch`, `above 40` or `below 3`. The first line is the header.
///
/// # Errors
/// Fails if the list is missing or malformed.
pub fn read_sensor_list(folder: &Path) -> Result<Vec<ListedSensor>, ObservationError> {
    let path = folder.join("sensors.csv");
    let text = fs::read_to_string(&path).map_err(|error| {
        let message = format_args!(
            "{error}: a sensor folder needs a list with one line per sensor, such as `door,314.csv,switch` or `oven,36.csv,above 20`"
        );
        ObservationError::new(path.display(), message)
    })?;
    read(&text, folder)
        .map_err(|(line, message)| ObservationError::new(format_args!("{}:{line}", path.display()), message))
}

fn read(text: &str, folder: &Path) -> Result<Vec<ListedSensor>, (usize, String)> {
    let mut sensors: Vec<ListedSensor> = Vec::new();
    for (at, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        let error = |message: String| (at + 1, message);
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let &[name, file, how] = &cells[..] else {
            return Err(error(format!("expected a sensor, its file and its reading, found `{line}`")));
        };
        let reading = reading(how).ok_or_else(|| {
            error(format!("unknown reading `{how}`: write switch, above NUMBER or below NUMBER"))
        })?;
        if sensors.iter().any(|known| known.name == name) {
            return Err(error(format!("two sensors `{name}`: a proposition has one sensor")));
        }
        sensors.push(ListedSensor { name: name.to_owned(), file: folder.join(file), reading });
    }
    Ok(sensors)
}

fn reading(text: &str) -> Option<SensorReading> {
    if text == "switch" {
        return Some(SensorReading::Switch);
    }
    let (word, number) = text.split_once(' ')?;
    let threshold = number.trim().parse().ok().filter(|number: &f64| !number.is_nan())?;
    match word {
        "above" => Some(SensorReading::Above(threshold)),
        "below" => Some(SensorReading::Below(threshold)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensor_list_contains_files_and_readings() {
        let text =
            "sensor,file,reading\ndoor,314.csv,switch\noven,36.csv,above 20\n\ncold,7.csv, below -3.5\n";
        let read = super::read(text, Path::new("day")).unwrap();
        let readings: Vec<SensorReading> = read.iter().map(|sensor| sensor.reading).collect();
        assert_eq!(readings, [SensorReading::Switch, SensorReading::Above(20.0), SensorReading::Below(-3.5)]);
        assert_eq!((read[0].name.as_str(), read[1].file.as_path()), ("door", Path::new("day/36.csv")));
    }

    #[test]
    fn malformed_sensor_list_is_reported_with_line() {
        for (text, line, message) in [
            ("head\ndoor,314.csv", 2, "expected a sensor, its file"),
            ("head\ndoor,314.csv,open", 2, "unknown reading `open`"),
            ("head\ndoor,314.csv,above warm", 2, "above NUMBER"),
            ("head\ndoor,314.csv,above NaN", 2, "above NUMBER"),
            ("head\na,1.csv,switch\na,2.csv,switch", 3, "two sensors `a`"),
        ] {
            let (at, reported) = read(text, Path::new("day")).unwrap_err();
            assert!(at == line && reported.contains(message), "{at}: {reported}");
        }
        assert!(
            read_sensor_list(Path::new("nowhere")).unwrap_err().to_string().contains("nowhere/sensors.csv")
        );
    }
}
