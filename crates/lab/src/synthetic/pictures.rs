//! The results as pictures.

use super::document::SYNTHETIC;
use super::measured::{MEASURES, Measured};
use crate::plot::{Axis, Plot, Series};

/// One picture for each measure, against the number of components: a file name, and the SVG. Figures of the document are
/// dashed.
pub fn pictures(measured: &[Measured], encoding: &str) -> Vec<(String, String)> {
    let mut names: Vec<&str> = Vec::new();
    for found in measured {
        if !names.contains(&found.algorithm.as_str()) {
            names.push(&found.algorithm);
        }
    }
    let picture = |(place, (measure, _)): (usize, &(&str, &str))| {
        let mut series = Vec::new();
        for (colour, name) in names.iter().enumerate() {
            let ours = measured.iter().filter(|found| found.algorithm == *name && found.encoding == encoding);
            let points = ours.map(|found| (found.components as f64, found.means[place].0)).collect();
            series.push(Series { name: (*name).to_owned(), points, colour, is_dashed: false });
            let document = SYNTHETIC.iter().filter(|row| row.algorithm == *name);
            let points: Vec<_> = document.map(|row| (row.components as f64, row.cells[place].0)).collect();
            if !points.is_empty() {
                series.push(Series { name: format!("{name}, document"), points, colour, is_dashed: true });
            }
        }
        let plot = Plot {
            title: format!("{measure}, on average ({encoding})"),
            x: Axis { name: "components".into(), is_logarithmic: false },
            y: Axis { name: (*measure).to_owned(), is_logarithmic: false },
            series,
        };
        (format!("{}-{encoding}.svg", measure.replace(' ', "-")), plot.svg())
    };
    MEASURES.iter().enumerate().map(picture).collect()
}
