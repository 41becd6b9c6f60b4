//! Results as plots.

use super::means::{MEASURES, MeasuredMeans};
use super::thesis::SYNTHETIC;
use crate::plot::{Axis, Plot, Series};

/// Creates one plot per measure over the number of components: file name and SVG. Figures of EH18 are dashed.
pub fn plots(measured: &[MeasuredMeans], encoding: &str) -> Vec<(String, String)> {
    let mut names: Vec<&str> = Vec::new();
    for found in measured {
        if !names.contains(&found.algorithm.as_str()) {
            names.push(&found.algorithm);
        }
    }
    let picture = |(place, (measure, _)): (usize, &(&str, &str))| {
        let mut series = Vec::new();
        for (colour, name) in names.iter().enumerate() {
            let measured_means =
                measured.iter().filter(|found| found.algorithm == *name && found.encoding == encoding);
            let points =
                measured_means.map(|found| (found.components as f64, found.means[place].0)).collect();
            series.push(Series { name: (*name).to_owned(), points, colour, is_dashed: false });
            let thesis = SYNTHETIC.iter().filter(|row| row.algorithm == *name);
            let points: Vec<_> = thesis.map(|row| (row.components as f64, row.cells[place].0)).collect();
            if !points.is_empty() {
                series.push(Series { name: format!("{name}, thesis"), points, colour, is_dashed: true });
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
