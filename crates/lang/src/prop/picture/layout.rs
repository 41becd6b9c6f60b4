//! Layered layout of an automaton.
//!
//! After Sugiyama: states are placed in rows, and an edge occupies a box in every row between its states. Its label
//! has a box of its own in a row between two rows of states, so nothing can cover it. Rows are ordered to reduce
//! crossings; then boxes are moved sideways to straighten the edges.

use super::rank::rank;

/// The minimum gap between neighbours in a row.
const GAP: f64 = 22.0;

/// The minimum gap between two rows.
const ROW_GAP: f64 = 20.0;

/// The margin around the graph.
pub(super) const MARGIN: f64 = 20.0;

/// The extent of a box around its anchor point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TextBox {
    /// The extent to the left of the anchor.
    pub(super) left: f64,
    /// The extent to the right of it.
    pub(super) right: f64,
    /// The total height, half above and half below the anchor.
    pub(super) height: f64,
}

/// An edge to lay out.
#[derive(Clone, Copy, Debug)]
pub(super) struct LayoutEdge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The extent of its label, which is drawn to the right of the edge.
    pub(super) label: TextBox,
}

/// A placed state, or a point where an edge crosses a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeBox {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) extent: TextBox,
    /// The height of the row: a vertical line of this length hits nothing in it.
    pub(super) band: f64,
    row: usize,
}

/// The course of an edge, from top to bottom.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// The index of the edge.
    pub(super) edge: usize,
    /// The boxes from the upper state to the lower one.
    pub(super) boxes: Vec<usize>,
    /// The index of the box that holds the label.
    pub(super) label: usize,
    /// Whether the edge points from the lower state to the upper one.
    pub(super) upwards: bool,
}

/// A finished layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The states in order, followed by the boxes of the edges.
    pub(super) boxes: Vec<NodeBox>,
    /// The edges that are not self-loops.
    pub(super) routes: Vec<Route>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The maximum number of boxes; larger graphs are unreadable.
const MAX_BOXES: usize = 20_000;

/// Lays out states of these extents and the edges between them, starting with the states in `first`. Returns
/// `None` if the graph would be too large.
pub(super) fn lay_out(states: &[TextBox], edges: &[LayoutEdge], first: &[usize]) -> Option<Layout> {
    let ends: Vec<(usize, usize)> = edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let (rows, upwards) = rank(states.len(), &ends, first);
    let spans = ends.iter().map(|(from, to)| 2 * rows[*from].abs_diff(rows[*to]));
    if spans.fold(states.len(), usize::saturating_add) > MAX_BOXES {
        return None;
    }
    let mut layout = Layout::default();
    for (extent, row) in states.iter().zip(&rows) {
        layout.boxes.push(NodeBox { x: 0.0, y: 0.0, extent: *extent, band: 0.0, row: 2 * row });
    }
    for (at, edge) in edges.iter().enumerate().filter(|(_, edge)| edge.from != edge.to) {
        layout.add_route(at, edge, upwards[at]);
    }
    let mut grid = Grid::new(&layout);
    grid.reduce_crossings();
    grid.move_sideways(&mut layout.boxes);
    layout.set_heights(&grid.rows);
    layout.fit();
    Some(layout)
}

impl Layout {
    fn add_route(&mut self, at: usize, edge: &LayoutEdge, upwards: bool) {
        let (above, below) = if upwards { (edge.to, edge.from) } else { (edge.from, edge.to) };
        let (top, bottom) = (self.boxes[above].row, self.boxes[below].row);
        // Labels are in odd rows, between the rows of states.
        let label_row = ((top + bottom) / 2) | 1;
        let mut route = Route { edge: at, boxes: vec![above], label: above, upwards };
        for row in top + 1..bottom {
            let bare = TextBox { left: 3.0, right: 3.0, height: 0.0 };
            let extent = if row == label_row { edge.label } else { bare };
            if row == label_row {
                route.label = self.boxes.len();
            }
            route.boxes.push(self.boxes.len());
            self.boxes.push(NodeBox { x: 0.0, y: 0.0, extent, band: 0.0, row });
        }
        route.boxes.push(below);
        self.routes.push(route);
    }

    /// Sets the height of each row, with space for edges that change columns between two rows.
    fn set_heights(&mut self, rows: &[Vec<usize>]) {
        let mut swing = vec![0.0f64; rows.len()];
        for route in &self.routes {
            for pair in route.boxes.windows(2) {
                let (above, below) = (self.boxes[pair[0]], self.boxes[pair[1]]);
                swing[above.row] = swing[above.row].max((above.x - below.x).abs());
            }
        }
        let mut y = 0.0;
        for (row, members) in rows.iter().enumerate() {
            let height = members.iter().map(|at| self.boxes[*at].extent.height).fold(0.0, f64::max);
            for at in members {
                self.boxes[*at].y = y + height / 2.0;
                self.boxes[*at].band = height;
            }
            y += height + ROW_GAP + (swing[row] * 0.12).min(60.0);
        }
    }

    /// Moves the graph to the origin and computes its size.
    fn fit(&mut self) {
        let least = |side: fn(&NodeBox) -> f64| self.boxes.iter().map(side).fold(f64::INFINITY, f64::min);
        let (left, top) = (least(|p| p.x - p.extent.left), least(|p| p.y - p.extent.height / 2.0));
        if self.boxes.is_empty() {
            return;
        }
        for place in &mut self.boxes {
            place.x += MARGIN - left;
            place.y += MARGIN - top;
            self.width = self.width.max(place.x + place.extent.right + MARGIN);
            self.height = self.height.max(place.y + place.extent.height / 2.0 + MARGIN);
        }
    }
}

/// The rows, and the neighbours of each box in the adjacent rows.
struct Grid {
    /// The members of each row, from left to right.
    rows: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// Per box, whether it is a state.
    is_state: Vec<bool>,
}

impl Grid {
    fn new(layout: &Layout) -> Grid {
        let count = layout.boxes.len();
        let last = layout.boxes.iter().map(|place| place.row).max();
        let mut grid = Grid {
            rows: vec![Vec::new(); last.map_or(0, |row| row + 1)],
            above: vec![Vec::new(); count],
            below: vec![Vec::new(); count],
            is_state: vec![true; count],
        };
        for (at, place) in layout.boxes.iter().enumerate() {
            grid.rows[place.row].push(at);
        }
        for route in &layout.routes {
            for pair in route.boxes.windows(2) {
                grid.below[pair[0]].push(pair[1]);
                grid.above[pair[1]].push(pair[0]);
            }
            for passed in &route.boxes[1..route.boxes.len() - 1] {
                grid.is_state[*passed] = false;
            }
        }
        grid
    }

    /// Sorts each row by the mean position of its neighbours, alternating down and up, and keeps the best order.
    fn reduce_crossings(&mut self) {
        let mut best = (self.crossings(), self.rows.clone());
        for turn in 0..24 {
            let mut position = vec![0.0; self.is_state.len()];
            let downwards = turn % 2 == 0;
            let mut order: Vec<usize> = (0..self.rows.len()).collect();
            if !downwards {
                order.reverse();
            }
            for row in order {
                let neighbours = if downwards { &self.above } else { &self.below };
                let mut keyed: Vec<(f64, usize)> = Vec::with_capacity(self.rows[row].len());
                for (column, at) in self.rows[row].iter().enumerate() {
                    let sum: f64 = neighbours[*at].iter().map(|n| position[*n]).sum();
                    let number = neighbours[*at].len();
                    // Without neighbours, keep the relative position.
                    let share = (column as f64 + 0.5) / self.rows[row].len() as f64;
                    keyed.push((if number == 0 { share } else { sum / number as f64 }, *at));
                }
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                let count = keyed.len() as f64;
                for (column, (_, at)) in keyed.iter().enumerate() {
                    position[*at] = (column as f64 + 0.5) / count;
                }
                self.rows[row] = keyed.into_iter().map(|(_, at)| at).collect();
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    /// Counts the edge crossings.
    fn crossings(&self) -> usize {
        let mut position = vec![0; self.is_state.len()];
        for row in &self.rows {
            for (column, at) in row.iter().enumerate() {
                position[*at] = column;
            }
        }
        let between = |row: &Vec<usize>| {
            let mut ends = Vec::new();
            for at in row {
                let start = ends.len();
                ends.extend(self.below[*at].iter().map(|n| position[*n]));
                ends[start..].sort_unstable();
            }
            inversions(&ends)
        };
        self.rows.iter().map(between).sum()
    }

    /// Moves boxes sideways, within the order of their rows, towards their neighbours.
    fn move_sideways(&self, boxes: &mut [NodeBox]) {
        for row in &self.rows {
            let mut x = 0.0;
            for at in row {
                x += boxes[*at].extent.left;
                boxes[*at].x = x;
                x += boxes[*at].extent.right + GAP;
            }
            let middle = (x - GAP) / 2.0;
            for at in row {
                boxes[*at].x -= middle;
            }
        }
        for turn in 0..60 {
            let mut order: Vec<&Vec<usize>> = self.rows.iter().collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            for row in order {
                let wanted: Vec<(f64, f64)> =
                    row.iter().map(|at| self.desired_position(*at, boxes)).collect();
                let gaps: Vec<f64> = row
                    .windows(2)
                    .map(|pair| boxes[pair[0]].extent.right + GAP + boxes[pair[1]].extent.left)
                    .collect();
                for (at, x) in row.iter().zip(spread(&wanted, &gaps)) {
                    boxes[*at].x = x;
                }
            }
        }
    }

    /// The desired position of a box, with its weight.
    fn desired_position(&self, at: usize, boxes: &[NodeBox]) -> (f64, f64) {
        let (mut sum, mut total) = (0.0, 0.0);
        for other in self.above[at].iter().chain(&self.below[at]) {
            // Straighten long edges first.
            let weight = if self.is_state[at] || self.is_state[*other] { 1.0 } else { 6.0 };
            sum += weight * boxes[*other].x;
            total += weight;
        }
        if total > 0.0 { (sum / total, total) } else { (boxes[at].x, 0.01) }
    }
}

/// Returns the positions closest to the weighted `wanted` ones that keep a distance of at least `gaps[i]` between
/// the positions `i` and `i + 1`.
pub(super) fn spread(wanted: &[(f64, f64)], gaps: &[f64]) -> Vec<f64> {
    // After the gaps are subtracted, the positions only have to be in order: neighbours that are out of order are
    // merged into a pool at their mean (the pool-adjacent-violators algorithm).
    struct Pool {
        mean: f64,
        weight: f64,
        size: usize,
    }
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(wanted.len());
    let mut pools: Vec<Pool> = Vec::new();
    for (at, (x, weight)) in wanted.iter().enumerate() {
        offset += if at == 0 { 0.0 } else { gaps.get(at - 1).copied().unwrap_or(0.0) };
        offsets.push(offset);
        let mut pool = Pool { mean: x - offset, weight: *weight, size: 1 };
        while let Some(last) = pools.pop_if(|last| last.mean > pool.mean) {
            let weight = last.weight + pool.weight;
            pool = Pool {
                mean: (last.mean * last.weight + pool.mean * pool.weight) / weight,
                weight,
                size: last.size + pool.size,
            };
        }
        pools.push(pool);
    }
    let means = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.mean, pool.size));
    means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
}

/// Counts the pairs that are out of order.
fn inversions(values: &[usize]) -> usize {
    let size = values.iter().max().map_or(0, |most| most + 1);
    // A Fenwick tree of how often each value has occurred.
    let mut tree = vec![0usize; size + 1];
    let mut count = 0;
    for (seen, value) in values.iter().enumerate() {
        let (mut at, mut not_above) = (value + 1, 0);
        while at > 0 {
            not_above += tree[at];
            at &= at - 1;
        }
        count += seen - not_above;
        at = value + 1;
        while at <= size {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn inversions_are_counted() {
        assert_eq!(inversions(&[3, 1, 2, 1]), 4);
        assert_eq!(inversions(&[]), 0);
    }

    #[test]
    fn spread_keeps_minimum_gaps() {
        assert_eq!(spread(&[(0.0, 1.0), (0.0, 1.0)], &[10.0]), [-5.0, 5.0]);
        assert_eq!(spread(&[(0.0, 1.0), (50.0, 1.0)], &[10.0]), [0.0, 50.0]);
    }

    proptest! {
        #[test]
        fn boxes_never_overlap(
            ends in proptest::collection::vec((0usize..7, 0usize..7), 0..25),
            wide in 10.0f64..200.0,
        ) {
            let extent = TextBox { left: wide, right: wide, height: 30.0 };
            let label = TextBox { left: 6.0, right: 80.0, height: 28.0 };
            let edges: Vec<LayoutEdge> = ends.iter().map(|(from, to)| LayoutEdge { from: *from, to: *to, label }).collect();
            let layout = lay_out(&[extent; 7], &edges, &[0]).expect("small enough");
            for (i, a) in layout.boxes.iter().enumerate() {
                prop_assert!(a.x.is_finite() && a.y.is_finite());
                prop_assert!(a.x - a.extent.left > 0.0 && a.x + a.extent.right < layout.width);
                prop_assert!(a.y - a.extent.height / 2.0 > 0.0 && a.y + a.extent.height / 2.0 < layout.height);
                for b in &layout.boxes[i + 1..] {
                    let beside = a.x + a.extent.right < b.x - b.extent.left + 0.01
                        || b.x + b.extent.right < a.x - a.extent.left + 0.01;
                    let under = (a.y - b.y).abs() + 0.01 > (a.extent.height + b.extent.height) / 2.0;
                    prop_assert!(beside || under);
                }
            }
        }
    }
}
