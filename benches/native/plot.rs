//! Plots of the slowdown by the gap between events, as text and as SVG, with logarithmic axes.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Description of a plot.
pub(crate) struct Drawing<'a> {
    /// Name of the file in the build directory.
    pub(crate) file: &'a str,
    pub(crate) title: &'a str,
    /// The labelled gaps in ascending order.
    pub(crate) gaps: &'a [(f64, &'a str)],
}

/// A named curve: gaps between events, and slowdowns of the program.
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

const COLORS: [&str; 6] = ["#1b6ca8", "#c0392b", "#2e8b57", "#d35400", "#6c3483", "#7f8c8d"];
/// Width of the longest bar.
const BAR: f64 = 40.0;

/// Prints each curve as a bar chart.
pub(crate) fn print(title: &str, curves: &[Curve]) {
    println!("\n  {title}, both logarithmic");
    let most = curves.iter().flat_map(|curve| &curve.points).map(|(_, y)| *y).fold(2.0, f64::max);
    for curve in curves {
        println!("  {}", curve.name);
        for (gap, slower) in &curve.points {
            let length = (BAR * slower.max(1.0).ln() / most.ln()).round() as usize;
            println!("    {:>6} us |{:<40} {slower:.2}x", gap, "#".repeat(length));
        }
    }
}

/// Writes the SVG plot to the build directory and returns its path.
pub(crate) fn write(drawing: &Drawing<'_>, curves: &[Curve]) -> std::io::Result<PathBuf> {
    // The benchmark runs from `release/deps` of that directory.
    let program = std::env::current_exe()?;
    let folder = program.ancestors().nth(3).unwrap_or(Path::new("."));
    let path = folder.join(drawing.file);
    std::fs::write(&path, svg(drawing, curves))?;
    Ok(path)
}

/// The SVG plot, scaled to its highest point.
pub(crate) fn svg(drawing: &Drawing<'_>, curves: &[Curve]) -> String {
    let (left, top, width, height) = (60.0, 40.0, 500.0, 320.0);
    let most = curves.iter().flat_map(|curve| &curve.points).map(|(_, y)| *y).fold(2.0, f64::max);
    let decades = most.log10().ceil();
    let decade = |gap: Option<&(f64, &str)>| gap.map_or(1.0, |(gap, _)| gap.log10());
    let (least, largest) = (decade(drawing.gaps.first()), decade(drawing.gaps.last()));
    let x = |gap: f64| left + width * (gap.log10() - least) / (largest - least);
    let y = |slower: f64| top + height * (1.0 - slower.max(1.0).log10() / decades);
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 420\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"800\" height=\"420\" fill=\"white\"/>\n",
    );
    // Writing to a string does not fail.
    let _ = writeln!(out, "<text x=\"{left}\" y=\"24\">{}</text>", drawing.title);
    for (gap, label) in drawing.gaps {
        let at = x(*gap);
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} {top}V{:.1}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{label}</text>",
            top + height,
            top + height + 18.0
        );
    }
    for decade in 0..=decades as i32 {
        let slower = 10f64.powi(decade);
        let at = y(slower);
        let _ = writeln!(
            out,
            "<path d=\"M{left} {at:.1}H{:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{slower}x</text>",
            left + width,
            left - 6.0,
            at + 4.0
        );
    }
    for (number, curve) in curves.iter().enumerate() {
        let color = COLORS[number % COLORS.len()];
        // When all colours are used, they are repeated with dashes.
        let dashes = match number / COLORS.len() {
            0 => String::new(),
            round => format!(" stroke-dasharray=\"{0} {0}\"", 8 / round.min(4)),
        };
        let line: Vec<String> =
            curve.points.iter().map(|(gap, slower)| format!("{:.1},{:.1}", x(*gap), y(*slower))).collect();
        let at = top + 20.0 * number as f64;
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"{dashes}/>\
             <path d=\"M575 {:.1}h24\" stroke=\"{color}\" stroke-width=\"2\"{dashes}/>\
             <text x=\"605\" y=\"{:.1}\" fill=\"{color}\">{}</text>",
            line.join(" "),
            at + 8.0,
            at + 12.0,
            curve.name
        );
    }
    out.push_str("</svg>\n");
    out
}
