//! Automata as SVG.

use super::layout::{Layout, LayoutEdge, MARGIN, NodeBox, Route, TextBox, lay_out, spread};
use super::measure::{LABEL_SIZE, LINE, NAME_SIZE, label_width, name_width, short_name, wrap};
use super::{Edge, Graph, Node};
use std::fmt::{self, Write as _};

const STYLE: &str = "\
.automaton{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif}
.automaton .ground{fill:#fff}
.automaton .state rect{fill:#f6f8fa;stroke:#6e7781;stroke-width:1.6}
.automaton .state.accepting rect{fill:#effaf2;stroke:#1a7f37}
.automaton .state.non-accepting rect{fill:#fff2f1;stroke:#cf222e}
.automaton .state rect.inner{fill:none;stroke-width:1.1}
.automaton .state.current rect{stroke-width:3.5}
.automaton .state.current .name{font-weight:700}
.automaton .name{font-size:14px;font-weight:600;fill:#1f2328;text-anchor:middle}
.automaton .note{font-size:11px;fill:#57606a;text-anchor:middle}
.automaton .label,.automaton .note{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}
.automaton .label{font-size:11px;fill:#24292f;stroke:#fff;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}
.automaton .line{fill:none;stroke:#57606a;stroke-width:1.3}
.automaton .head{fill:#57606a;stroke:none}
.automaton .failure .line{stroke:#9a6700;stroke-dasharray:5 4}
.automaton .failure .head{fill:#9a6700}
.automaton .failure .label{fill:#7d4e00}
";

/// The distance of a state's outline from its text.
const PADDING: f64 = 16.0;

/// How far a self-loop extends to the right of its state.
const LOOP: f64 = 30.0;

/// The length of the arrow at an initial state.
const START: f64 = 34.0;

/// The length of an arrow head.
const HEAD: f64 = 8.0;

pub(super) fn svg(graph: &Graph) -> String {
    let edges = graph.merged();
    let boxes = boxes(graph, &edges);
    let extents: Vec<TextBox> = boxes.iter().map(StateBox::extent).collect();
    let layout_edges: Vec<LayoutEdge> = edges
        .iter()
        .map(|edge| LayoutEdge { from: edge.from, to: edge.to, label: label_extent(&wrap(&edge.label)) })
        .collect();
    let first: Vec<usize> = (0..graph.nodes.len()).filter(|at| graph.nodes[*at].is_initial).collect();
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = match lay_out(&extents, &layout_edges, &first) {
        Some(layout) => draw(&mut out, graph, &edges, &boxes, &layout),
        None => draw_notice(&mut out, graph, &edges),
    };
    out
}

/// The outline of a state and its self-loops.
struct StateBox {
    width: f64,
    height: f64,
    is_initial: bool,
    /// The self-loops: the index of the edge, and its label.
    loops: Vec<(usize, Vec<String>)>,
}

impl StateBox {
    fn extent(&self) -> TextBox {
        let labels = self.loops.iter().flat_map(|(_, lines)| lines).map(|line| label_width(line));
        let beside = if self.loops.is_empty() { 0.0 } else { LOOP + 8.0 + labels.fold(0.0, f64::max) };
        TextBox {
            left: self.width / 2.0 + if self.is_initial { START } else { 0.0 },
            right: self.width / 2.0 + beside,
            height: self.height.max(self.loops.iter().map(|(_, lines)| loop_height(lines)).sum()),
        }
    }
}

fn loop_height(lines: &[String]) -> f64 {
    (lines.len() as f64 * LINE + 10.0).max(34.0)
}

fn boxes(graph: &Graph, edges: &[Edge]) -> Vec<StateBox> {
    let mut boxes: Vec<StateBox> = graph
        .nodes
        .iter()
        .map(|node| {
            let notes = wrap(&node.note);
            let widest = notes.iter().map(|line| label_width(line)).fold(0.0, f64::max);
            StateBox {
                width: name_width(&short_name(&node.name)).max(widest).max(28.0) + 2.0 * PADDING,
                height: 36.0 + notes.len() as f64 * LINE,
                is_initial: node.is_initial,
                loops: Vec::new(),
            }
        })
        .collect();
    let mut degrees = vec![0u32; boxes.len()];
    for (at, edge) in edges.iter().enumerate() {
        if edge.from == edge.to {
            boxes[edge.from].loops.push((at, wrap(&edge.label)));
        } else {
            degrees[edge.from] += 1;
            degrees[edge.to] += 1;
        }
    }
    for (state, degree) in boxes.iter_mut().zip(degrees) {
        // Leave space for all arrow heads.
        state.width = state.width.max(24.0 + 7.0 * f64::from(degree));
        state.height = state.height.max(28.0 * state.loops.len() as f64);
    }
    boxes
}

fn label_extent(lines: &[String]) -> TextBox {
    let width = lines.iter().map(|line| label_width(line)).fold(0.0, f64::max);
    TextBox { left: 6.0, right: width + 10.0, height: lines.len() as f64 * LINE + 6.0 }
}

fn open(out: &mut String, width: f64, height: f64, about: &str) -> fmt::Result {
    let (width, height) = (width.ceil(), height.ceil());
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"automaton\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
        Escaped(about)
    )?;
    writeln!(out, "<style>\n{STYLE}</style>")?;
    writeln!(out, "<rect class=\"ground\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>")
}

fn draw_notice(out: &mut String, graph: &Graph, edges: &[Edge]) -> fmt::Result {
    let message = format!("{} states and {} edges: too many to draw", graph.nodes.len(), edges.len());
    let width = name_width(&message) + 4.0 * MARGIN;
    open(out, width, 80.0, &message)?;
    writeln!(out, "<text class=\"name\" x=\"{:.1}\" y=\"45\">{message}</text>\n</svg>", width / 2.0)
}

fn draw(out: &mut String, graph: &Graph, edges: &[Edge], boxes: &[StateBox], layout: &Layout) -> fmt::Result {
    let about = format!("an automaton with {} states", graph.nodes.len());
    open(out, layout.width.max(2.0 * MARGIN), layout.height.max(2.0 * MARGIN), &about)?;
    let ports = ports(boxes, layout);
    for (route, ports) in layout.routes.iter().zip(&ports) {
        let edge = &edges[route.edge];
        open_edge(out, graph, edge)?;
        draw_route(out, boxes, layout, route, *ports)?;
        let at = layout.boxes[route.label];
        let lines = wrap(&edge.label);
        draw_label(out, &lines, at.x + 7.0, at.y)?;
        writeln!(out, "</g>")?;
    }
    for (at, state) in boxes.iter().enumerate() {
        let place = layout.boxes[at];
        draw_loops(out, graph, edges, state, place)?;
        draw_state(out, &graph.nodes[at], state, place)?;
    }
    writeln!(out, "</svg>")
}

fn open_edge(out: &mut String, graph: &Graph, edge: &Edge) -> fmt::Result {
    let (from, to) = (&graph.nodes[edge.from].name, &graph.nodes[edge.to].name);
    write!(
        out,
        "<g class=\"edge {}\" data-from=\"{}\" data-to=\"{}\">",
        edge.branch.css_class(),
        Escaped(from),
        Escaped(to)
    )?;
    // The full label; the drawn one may be shortened.
    writeln!(out, "<title>{}</title>", Escaped(&edge.label.join("\n")))
}

/// Where each route leaves its upper state and enters its lower one, so that routes are side by side and in order.
fn ports(boxes: &[StateBox], layout: &Layout) -> Vec<(f64, f64)> {
    let mut ports = vec![(0.0, 0.0); layout.routes.len()];
    let mut at_bottom = vec![Vec::new(); boxes.len()];
    let mut at_top = vec![Vec::new(); boxes.len()];
    for (at, route) in layout.routes.iter().enumerate() {
        if let ([above, second, ..], [.., last, below]) = (&route.boxes[..], &route.boxes[..]) {
            at_bottom[*above].push((layout.boxes[*second].x, at));
            at_top[*below].push((layout.boxes[*last].x, at));
        }
    }
    for (state, (bottom, top)) in at_bottom.iter_mut().zip(&mut at_top).enumerate() {
        let (x, half) = (layout.boxes[state].x, boxes[state].width / 2.0 - 12.0);
        for (routes, is_bottom) in [(bottom, true), (top, false)] {
            routes.sort_by(|a, b| a.0.total_cmp(&b.0));
            let gap = (2.0 * half / routes.len().max(2) as f64).min(16.0);
            let wanted: Vec<(f64, f64)> =
                routes.iter().map(|(towards, _)| (towards.clamp(x - half, x + half), 1.0)).collect();
            let gaps = vec![gap; routes.len().saturating_sub(1)];
            let last = routes.len().saturating_sub(1);
            for (at, ((_, route), port)) in routes.iter().zip(spread(&wanted, &gaps)).enumerate() {
                // All of them stay within the outline, at an equal distance.
                let (before, after) = (at as f64 * gap, (last - at) as f64 * gap);
                let port = port.max(x - half + before).min(x + half - after);
                if is_bottom {
                    ports[*route].0 = port;
                } else {
                    ports[*route].1 = port;
                }
            }
        }
    }
    ports
}

/// Draws a route with its arrow head: vertical within rows, curved between them.
fn draw_route(
    out: &mut String,
    boxes: &[StateBox],
    layout: &Layout,
    route: &Route,
    (upper_x, lower_x): (f64, f64),
) -> fmt::Result {
    let (Some(&above), Some(&below)) = (route.boxes.first(), route.boxes.last()) else { return Ok(()) };
    let top = layout.boxes[above].y + boxes[above].height / 2.0;
    let bottom = layout.boxes[below].y - boxes[below].height / 2.0;
    let (start, end) = if route.upwards { (top + HEAD, bottom) } else { (top, bottom - HEAD) };
    write!(out, "<path class=\"line\" d=\"M{upper_x:.1},{start:.1}")?;
    let last = route.boxes.len() - 1;
    let mut from = (upper_x, start);
    for (at, passed) in route.boxes.iter().enumerate() {
        let place = layout.boxes[*passed];
        let x = if at == 0 {
            upper_x
        } else if at == last {
            lower_x
        } else {
            place.x
        };
        let (band_top, band_bottom) = (place.y - place.band / 2.0, place.y + place.band / 2.0);
        if at > 0 {
            let (from_x, from_y) = from;
            let to_y = if at == last { band_top.min(end) } else { band_top };
            let middle = (from_y + to_y) / 2.0;
            write!(out, " C{from_x:.1},{middle:.1} {x:.1},{middle:.1} {x:.1},{to_y:.1}")?;
        }
        let until = if at == last { end } else { band_bottom.max(start) };
        write!(out, " V{until:.1}")?;
        from = (x, until);
    }
    writeln!(out, "\"/>")?;
    let (x, tip, base) =
        if route.upwards { (upper_x, top, top + HEAD) } else { (lower_x, bottom, bottom - HEAD) };
    writeln!(
        out,
        "<path class=\"head\" d=\"M{x:.1},{tip:.1} L{:.1},{base:.1} L{:.1},{base:.1} Z\"/>",
        x - 4.0,
        x + 4.0
    )
}

fn draw_label(out: &mut String, lines: &[String], x: f64, middle: f64) -> fmt::Result {
    let mut y = middle - lines.len() as f64 * LINE / 2.0 + LABEL_SIZE;
    for line in lines {
        if !line.is_empty() {
            writeln!(
                out,
                "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\" xml:space=\"preserve\">{}</text>",
                Escaped(line)
            )?;
        }
        y += LINE;
    }
    Ok(())
}

/// Draws the self-loops of a state, stacked at its right side.
fn draw_loops(
    out: &mut String,
    graph: &Graph,
    edges: &[Edge],
    state: &StateBox,
    place: NodeBox,
) -> fmt::Result {
    let total: f64 = state.loops.iter().map(|(_, lines)| loop_height(lines)).sum();
    let side = place.x + state.width / 2.0;
    let mut top = place.y - total / 2.0;
    for (number, (at, lines)) in state.loops.iter().enumerate() {
        let middle = top + loop_height(lines) / 2.0;
        top += loop_height(lines);
        // The ends stay on the outline, regardless of the distance of the label.
        let count = state.loops.len() as f64;
        let share = (number as f64 + 0.5) / count - 0.5;
        let at_y = place.y + share * (state.height - 8.0);
        let half = (state.height / count / 4.0).min(8.0);
        open_edge(out, graph, &edges[*at])?;
        writeln!(
            out,
            "<path class=\"line\" d=\"M{side:.1},{:.1} C{:.1},{:.1} {far:.1},{:.1} {far:.1},{middle:.1} \
             C{far:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\"/>",
            at_y - half,
            side + 14.0,
            at_y - half,
            middle - 12.0,
            middle + 12.0,
            side + HEAD + 10.0,
            at_y + half,
            side + HEAD,
            at_y + half,
            far = side + LOOP - 6.0,
        )?;
        let y = at_y + half;
        writeln!(
            out,
            "<path class=\"head\" d=\"M{side:.1},{y:.1} L{x:.1},{:.1} L{x:.1},{:.1} Z\"/>",
            y - 4.0,
            y + 4.0,
            x = side + HEAD
        )?;
        draw_label(out, lines, side + LOOP, middle)?;
        writeln!(out, "</g>")?;
    }
    Ok(())
}

fn draw_state(out: &mut String, node: &Node, state: &StateBox, place: NodeBox) -> fmt::Result {
    let (left, top) = (place.x - state.width / 2.0, place.y - state.height / 2.0);
    let initial = if node.is_initial { " initial" } else { "" };
    let is_final = if node.is_final { " final" } else { "" };
    writeln!(
        out,
        "<g class=\"state {}{initial}{is_final}\" data-state=\"{name}\"><title>{name}</title>",
        node.class.css_class(),
        name = Escaped(&node.name)
    )?;
    if node.is_initial {
        let (start, tip, y) = (left - START + 6.0, left, place.y);
        writeln!(out, "<circle class=\"head\" cx=\"{start:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>")?;
        writeln!(out, "<path class=\"line\" d=\"M{start:.1},{y:.1} H{:.1}\"/>", tip - HEAD)?;
        writeln!(
            out,
            "<path class=\"head\" d=\"M{tip:.1},{y:.1} L{x:.1},{:.1} L{x:.1},{:.1} Z\"/>",
            y - 4.0,
            y + 4.0,
            x = tip - HEAD
        )?;
    }
    let (width, height) = (state.width, state.height);
    rectangle(out, "outer", [left, top, width, height], 9.0)?;
    if node.is_final {
        rectangle(out, "inner", [left + 3.5, top + 3.5, width - 7.0, height - 7.0], 6.0)?;
    }
    let notes = wrap(&node.note);
    let mut y = place.y - notes.len() as f64 * LINE / 2.0 + NAME_SIZE * 0.36;
    writeln!(
        out,
        "<text class=\"name\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
        place.x,
        Escaped(&short_name(&node.name))
    )?;
    for note in notes {
        y += LINE;
        writeln!(out, "<text class=\"note\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>", place.x, Escaped(&note))?;
    }
    writeln!(out, "</g>")
}

fn rectangle(out: &mut String, class: &str, [x, y, width, height]: [f64; 4], round: f64) -> fmt::Result {
    writeln!(
        out,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round}\"/>"
    )
}

/// Escapes text for XML content and attributes.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\n' => f.write_str("&#10;")?,
                // XML cannot represent most of these.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => f.write_str(" ")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BranchKind, NodeClass};
    use super::*;
    use proptest::prelude::*;

    fn graph(names: &[&str], ends: &[(usize, usize)]) -> Graph {
        let nodes = names.iter().map(|name| Node::new(*name, NodeClass::Neutral)).collect();
        let edge = |(from, to): &(usize, usize)| {
            let branch = if (from + to) % 3 == 0 { BranchKind::Failure } else { BranchKind::Success };
            Edge { from: *from, to: *to, label: vec![format!("f{from}({to})")], branch }
        };
        Graph { nodes, edges: ends.iter().map(edge).collect() }
    }

    #[test]
    fn states_and_edges_carry_classes_and_data_attributes() {
        let mut graph = graph(&["init", "sink"], &[(0, 1), (0, 0)]);
        graph.nodes[0].class = NodeClass::Accepting;
        graph.nodes[0].is_initial = true;
        graph.nodes[1].is_final = true;
        let svg = svg(&graph);
        assert!(svg.contains("<g class=\"state accepting initial\" data-state=\"init\">"), "{svg}");
        assert!(svg.contains("<g class=\"state neutral final\" data-state=\"sink\">"));
        assert!(svg.contains("<g class=\"edge success\" data-from=\"init\" data-to=\"sink\">"));
        assert!(svg.contains("<g class=\"edge failure\" data-from=\"init\" data-to=\"init\">"));
        assert!(svg.contains("class=\"inner\""));
    }

    #[test]
    fn text_is_escaped() {
        let mut graph = graph(&["<script>\"&\u{1}"], &[]);
        graph.nodes[0].note.push("a < b".to_owned());
        let svg = svg(&graph);
        assert!(!svg.contains("<script") && !svg.contains('\u{1}'));
        assert!(svg.contains("data-state=\"&lt;script&gt;&quot;&amp; \"") && svg.contains("a &lt; b"));
    }

    #[test]
    fn empty_and_oversized_graphs_are_drawn() {
        assert!(svg(&Graph::default()).ends_with("</svg>\n"));
        let names: Vec<String> = (0..300).map(|n| n.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let ends: Vec<(usize, usize)> =
            (0..300).flat_map(|from| (0..300).map(move |to| (from, to))).collect();
        assert!(svg(&graph(&names, &ends)).contains("300 states and 90000 edges: too many to draw"));
    }

    #[test]
    fn parallel_edges_are_merged() {
        let graph = graph(&["a", "b"], &[(0, 1), (0, 1), (1, 0), (0, 7)]);
        let svg = svg(&graph);
        assert_eq!(svg.matches("<g class=\"edge").count(), 2);
        assert_eq!(svg.matches(">f0(1)</text>").count(), 1);
    }

    proptest! {
        #[test]
        fn random_graphs_are_drawn(
            ends in proptest::collection::vec((0usize..9, 0usize..9), 0..40),
            name in "[a-h<>&\"\u{0}é日]{0,80}",
        ) {
            let svg = svg(&graph(&["a", "b", &name, "日本", "e", "", "g", "h"], &ends));
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
            prop_assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
        }
    }
}
