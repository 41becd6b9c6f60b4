//! Folders of sensors: `sensors.csv` says which there are.

use super::sensor::{Millis, changes};
use super::{Reading, Trouble};
use std::fs;
use std::path::{Path, PathBuf};

/// A sensor of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The proposition that it tells.
    pub name: String,
    /// The file of its changes.
    pub file: PathBuf,
    /// How its values become true or false.
    pub reading: Reading,
}

impl Listed {
    /// When its value changed.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn changes(&self) -> Result<Vec<(Millis, bool)>, Trouble> {
        changes(&self.file, self.reading)
    }
}

/// The sensors of a folder. Its `sensors.csv` has a line for each: the proposition, the file, and how it is read, which is
/// `switch`, `above 40` or `below 3`. The first line is the head.
///
/// # Errors
/// If there is no such list, or if a line of it makes no sense.
pub fn listed(folder: &Path) -> Result<Vec<Listed>, Trouble> {
    let path = folder.join("sensors.csv");
    let text = fs::read_to_string(&path).map_err(|error| {
        let words = format_args!(
            "{error}: a folder of sensors has a list with a line for each, as `door,314.csv,switch` or `oven,36.csv,above 20`"
        );
        Trouble::new(path.display(), words)
    })?;
    read(&text, folder)
        .map_err(|(line, words)| Trouble::new(format_args!("{}:{line}", path.display()), words))
}

fn read(text: &str, folder: &Path) -> Result<Vec<Listed>, (usize, String)> {
    let mut sensors: Vec<Listed> = Vec::new();
    for (at, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |words: String| (at + 1, words);
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let &[name, file, how] = &cells[..] else {
            return Err(wrong(format!("expected a sensor, its file and how it is read, found `{line}`")));
        };
        let reading = reading(how).ok_or_else(|| {
            wrong(format!("`{how}` is no way to read a sensor: write switch, above NUMBER or below NUMBER"))
        })?;
        if sensors.iter().any(|known| known.name == name) {
            return Err(wrong(format!("there are two sensors `{name}`: a proposition is told by one")));
        }
        sensors.push(Listed { name: name.to_owned(), file: folder.join(file), reading });
    }
    Ok(sensors)
}

fn reading(text: &str) -> Option<Reading> {
    if text == "switch" {
        return Some(Reading::Switch);
    }
    let (word, number) = text.split_once(' ')?;
    let threshold = number.trim().parse().ok().filter(|number: &f64| !number.is_nan())?;
    match word {
        "above" => Some(Reading::Above(threshold)),
        "below" => Some(Reading::Below(threshold)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_files_and_how_they_are_read() {
        let text =
            "sensor,file,reading\ndoor,314.csv,switch\noven,36.csv,above 20\n\ncold,7.csv, below -3.5\n";
        let read = super::read(text, Path::new("day")).unwrap();
        let readings: Vec<Reading> = read.iter().map(|sensor| sensor.reading).collect();
        assert_eq!(readings, [Reading::Switch, Reading::Above(20.0), Reading::Below(-3.5)]);
        assert_eq!((read[0].name.as_str(), read[1].file.as_path()), ("door", Path::new("day/36.csv")));
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, line, words) in [
            ("head\ndoor,314.csv", 2, "expected a sensor, its file"),
            ("head\ndoor,314.csv,open", 2, "`open` is no way"),
            ("head\ndoor,314.csv,above warm", 2, "above NUMBER"),
            ("head\ndoor,314.csv,above NaN", 2, "above NUMBER"),
            ("head\na,1.csv,switch\na,2.csv,switch", 3, "two sensors `a`"),
        ] {
            let (at, said) = read(text, Path::new("day")).unwrap_err();
            assert!(at == line && said.contains(words), "{at}: {said}");
        }
        assert!(listed(Path::new("nowhere")).unwrap_err().to_string().contains("nowhere/sensors.csv"));
    }
}
