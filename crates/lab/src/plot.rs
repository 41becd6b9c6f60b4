//! Line plots as SVG, with linear or logarithmic axes.

use std::fmt::Write;

/// Line plot.
///
/// ```
/// use invigil_lab::plot::{Axis, Plot, Series};
///
/// let series = Series { name: "a < b".into(), points: vec![(1.0, 2.0), (2.0, 8.0)], colour: 0, is_dashed: false };
/// let axis = |name: &str| Axis { name: name.into(), is_logarithmic: false };
/// let plot = Plot { title: "growth".into(), x: axis("size"), y: axis("cost"), series: vec![series] };
/// assert!(plot.svg().contains("a &lt; b"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Title above the plot.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// Axis of a plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Label.
    pub name: String,
    /// Whether the scale is logarithmic. Points that are not positive are then omitted.
    pub is_logarithmic: bool,
}

/// Line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Label.
    pub name: String,
    /// Points from left to right.
    pub points: Vec<(f64, f64)>,
    /// Index of its colour. Related lines share it.
    pub colour: usize,
    /// Whether the line is dashed.
    pub is_dashed: bool,
}

const COLOURS: [&str; 8] =
    ["#1b6ca8", "#c0392b", "#2e8b57", "#d35400", "#6c3483", "#7f8c8d", "#b7950b", "#17202a"];
const LEFT: f64 = 70.0;
const TOP: f64 = 40.0;
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 320.0;

/// Axis with its range of values.
struct Scale {
    from: f64,
    to: f64,
    is_logarithmic: bool,
}

impl Scale {
    fn of(axis: &Axis, values: impl Iterator<Item = f64>, from_zero: bool) -> Scale {
        let is_logarithmic = axis.is_logarithmic;
        let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite() && (!is_logarithmic || *value > 0.0)) {
            (from, to) = (from.min(value), to.max(value));
        }
        if from > to {
            (from, to) = (1.0, 10.0);
        }
        if is_logarithmic {
            (from, to) = (from.log10().floor(), to.log10().ceil());
        } else if from_zero {
            from = from.min(0.0);
        }
        let to = if to > from { to } else { from + 1.0 };
        Scale { from, to, is_logarithmic }
    }

    /// Returns the position of a value, from 0 to 1.
    fn place(&self, value: f64) -> Option<f64> {
        let value = if self.is_logarithmic { value.log10() } else { value };
        value.is_finite().then(|| (value - self.from) / (self.to - self.from))
    }

    /// Returns the labelled values.
    fn ticks(&self) -> Vec<f64> {
        if self.is_logarithmic {
            let step = ((self.to - self.from) / 8.0).ceil().max(1.0);
            let count = ((self.to - self.from) / step) as usize;
            return (0..=count).map(|at| 10f64.powf(self.from + step * at as f64)).collect();
        }
        // Steps of 1, 2 or 5 times a power of ten, about six of them.
        let raw = (self.to - self.from) / 6.0;
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power).into_iter().find(|step| *step >= raw);
        let step = step.unwrap_or(raw);
        let first = (self.from / step).ceil();
        let count = (self.to / step - first) as usize;
        (0..=count).map(|at| step * (first + at as f64)).collect()
    }
}

impl Plot {
    /// Renders the plot.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let across = Scale::of(&self.x, points().map(|(x, _)| *x), false);
        let up = Scale::of(&self.y, points().map(|(_, y)| *y), true);
        let x = |value: f64| across.place(value).map(|place| LEFT + WIDTH * place);
        let y = |value: f64| up.place(value).map(|place| TOP + HEIGHT * (1.0 - place));
        let height = 100.0 + HEIGHT.max(18.0 * self.series.len() as f64);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 820 {height}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"820\" height=\"{height}\" fill=\"white\"/>\n"
        );
        let bottom = TOP + HEIGHT;
        // Writing to a string does not fail.
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"24\" font-size=\"14\">{}</text>", escape(&self.title));
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            LEFT + WIDTH / 2.0,
            bottom + 40.0,
            escape(&self.x.name)
        );
        let middle = TOP + HEIGHT / 2.0;
        let _ = writeln!(
            out,
            "<text transform=\"translate(16 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escape(&self.y.name)
        );
        for (at, tick) in across.ticks().into_iter().filter_map(|tick| Some((x(tick)?, tick))) {
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1} {TOP}V{bottom}\" stroke=\"#e4e4e4\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">{}</text>",
                bottom + 18.0,
                format_tick(tick)
            );
        }
        for (at, tick) in up.ticks().into_iter().filter_map(|tick| Some((y(tick)?, tick))) {
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"#e4e4e4\"/><text x=\"{:.1}\" y=\"{:.1}\" \
                 text-anchor=\"end\">{}</text>",
                LEFT + WIDTH,
                LEFT - 6.0,
                at + 4.0,
                format_tick(tick)
            );
        }
        for (number, series) in self.series.iter().enumerate() {
            let colour = COLOURS[series.colour % COLOURS.len()];
            let dashes = if series.is_dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            let line: Vec<String> = series
                .points
                .iter()
                .filter_map(|(across, up)| Some(format!("{:.1},{:.1}", x(*across)?, y(*up)?)))
                .collect();
            let at = TOP + 18.0 * number as f64;
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\
                 <path d=\"M570 {:.1}h24\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\
                 <text x=\"600\" y=\"{:.1}\" fill=\"{colour}\">{}</text>",
                line.join(" "),
                at + 8.0,
                at + 12.0,
                escape(&series.name)
            );
        }
        out.push_str("</svg>\n");
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Formats a number in few characters.
fn format_tick(value: f64) -> String {
    match value.abs() {
        large if large >= 1e6 || (large > 0.0 && large < 1e-3) => format!("{value:.0e}"),
        // Ticks are multiples of a power of ten; further digits are rounding errors.
        _ => format!("{}", (value * 1e4).round() / 1e4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plot_has_round_ticks_and_finite_coordinates() {
        let axis = |is_logarithmic| Axis { name: String::new(), is_logarithmic };
        assert_eq!(
            Scale::of(&axis(false), [3.0, 6.0].into_iter(), false).ticks(),
            [3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0]
        );
        assert_eq!(
            Scale::of(&axis(true), [0.0, 2.0, 500.0].into_iter(), true).ticks(),
            [1.0, 10.0, 100.0, 1000.0]
        );
        // No points, one point, and points without a position.
        for points in [vec![], vec![(1.0, 1.0)], vec![(f64::NAN, 1.0), (1.0, f64::INFINITY), (2.0, 0.0)]] {
            for is_logarithmic in [false, true] {
                let series = Series { name: "s".into(), points: points.clone(), colour: 9, is_dashed: true };
                let plot = Plot {
                    title: "t".into(),
                    x: axis(is_logarithmic),
                    y: axis(is_logarithmic),
                    series: vec![series],
                };
                let svg = plot.svg();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
        assert_eq!([0.30000000000000004, 1e7, 1e-5].map(format_tick), ["0.3", "1e7", "1e-5"]);
    }
}
