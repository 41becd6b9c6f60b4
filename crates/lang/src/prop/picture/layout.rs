//! Where everything in a picture stands.
//!
//! A layered layout after Sugiyama: states stand in rows, an edge passes through every row between its ends,
//! and its label takes a place of its own in a row between two rows of states, so that nothing can cover it.
//! Rows are ordered for few crossings, then everything moves sideways to make edges straight.

use super::rank::rank;

/// The room between two neighbours in a row.
const GAP: f64 = 22.0;

/// The least room between two rows.
const ROW_GAP: f64 = 20.0;

/// The room around the whole picture.
pub(super) const MARGIN: f64 = 20.0;

/// The room that something takes, around the point at which it is placed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    /// To the left of the point.
    pub(super) left: f64,
    /// To the right of it.
    pub(super) right: f64,
    /// Half above it, half below.
    pub(super) height: f64,
}

/// An edge to lay out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The room of its label, which stands to the right of the edge.
    pub(super) label: Room,
}

/// A state, or a place that an edge passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) room: Room,
    /// The height of the whole row: an edge that runs straight for so long meets nothing in it.
    pub(super) band: f64,
    row: usize,
}

/// The way of an edge from top to bottom.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// The edge, by its position.
    pub(super) way: usize,
    /// The places from the upper state to the lower one.
    pub(super) places: Vec<usize>,
    /// Which of the places holds the label.
    pub(super) label: usize,
    /// Whether the edge leads from the lower state to the upper one.
    pub(super) upwards: bool,
}

/// A finished layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The states first, in order; then what the edges pass.
    pub(super) places: Vec<Place>,
    /// The edges that are not loops.
    pub(super) routes: Vec<Route>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// How many places a picture may have; with more nobody could read it.
const MAX_PLACES: usize = 20_000;

/// Lays out states with these rooms and the edges between them, beginning with the states `first`. Gives
/// nothing if the picture would be too large.
pub(super) fn lay_out(states: &[Room], ways: &[Way], first: &[usize]) -> Option<Layout> {
    let ends: Vec<(usize, usize)> = ways.iter().map(|way| (way.from, way.to)).collect();
    let (rows, upwards) = rank(states.len(), &ends, first);
    let spans = ends.iter().map(|(from, to)| 2 * rows[*from].abs_diff(rows[*to]));
    if spans.fold(states.len(), usize::saturating_add) > MAX_PLACES {
        return None;
    }
    let mut layout = Layout::default();
    for (room, row) in states.iter().zip(&rows) {
        layout.places.push(Place { x: 0.0, y: 0.0, room: *room, band: 0.0, row: 2 * row });
    }
    for (at, way) in ways.iter().enumerate().filter(|(_, way)| way.from != way.to) {
        layout.add_route(at, way, upwards[at]);
    }
    let mut grid = Grid::new(&layout);
    grid.reduce_crossings();
    grid.move_sideways(&mut layout.places);
    layout.set_heights(&grid.rows);
    layout.fit();
    Some(layout)
}

impl Layout {
    fn add_route(&mut self, at: usize, way: &Way, upwards: bool) {
        let (above, below) = if upwards { (way.to, way.from) } else { (way.from, way.to) };
        let (top, bottom) = (self.places[above].row, self.places[below].row);
        // Labels stand in odd rows, between the rows of states.
        let label_row = ((top + bottom) / 2) | 1;
        let mut route = Route { way: at, places: vec![above], label: above, upwards };
        for row in top + 1..bottom {
            let bare = Room { left: 3.0, right: 3.0, height: 0.0 };
            let room = if row == label_row { way.label } else { bare };
            if row == label_row {
                route.label = self.places.len();
            }
            route.places.push(self.places.len());
            self.places.push(Place { x: 0.0, y: 0.0, room, band: 0.0, row });
        }
        route.places.push(below);
        self.routes.push(route);
    }

    /// Gives each row its height, and room for the edges between two rows to swing.
    fn set_heights(&mut self, rows: &[Vec<usize>]) {
        let mut swing = vec![0.0f64; rows.len()];
        for route in &self.routes {
            for pair in route.places.windows(2) {
                let (above, below) = (self.places[pair[0]], self.places[pair[1]]);
                swing[above.row] = swing[above.row].max((above.x - below.x).abs());
            }
        }
        let mut y = 0.0;
        for (row, members) in rows.iter().enumerate() {
            let height = members.iter().map(|at| self.places[*at].room.height).fold(0.0, f64::max);
            for at in members {
                self.places[*at].y = y + height / 2.0;
                self.places[*at].band = height;
            }
            y += height + ROW_GAP + (swing[row] * 0.12).min(60.0);
        }
    }

    /// Moves the whole picture to the corner, and measures it.
    fn fit(&mut self) {
        let least = |side: fn(&Place) -> f64| self.places.iter().map(side).fold(f64::INFINITY, f64::min);
        let (left, top) = (least(|p| p.x - p.room.left), least(|p| p.y - p.room.height / 2.0));
        if self.places.is_empty() {
            return;
        }
        for place in &mut self.places {
            place.x += MARGIN - left;
            place.y += MARGIN - top;
            self.width = self.width.max(place.x + place.room.right + MARGIN);
            self.height = self.height.max(place.y + place.room.height / 2.0 + MARGIN);
        }
    }
}

/// The rows, and who is connected with whom in the next one.
struct Grid {
    /// The members of each row, from left to right.
    rows: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// Which of the places are states.
    is_state: Vec<bool>,
}

impl Grid {
    fn new(layout: &Layout) -> Grid {
        let count = layout.places.len();
        let last = layout.places.iter().map(|place| place.row).max();
        let mut grid = Grid {
            rows: vec![Vec::new(); last.map_or(0, |row| row + 1)],
            above: vec![Vec::new(); count],
            below: vec![Vec::new(); count],
            is_state: vec![true; count],
        };
        for (at, place) in layout.places.iter().enumerate() {
            grid.rows[place.row].push(at);
        }
        for route in &layout.routes {
            for pair in route.places.windows(2) {
                grid.below[pair[0]].push(pair[1]);
                grid.above[pair[1]].push(pair[0]);
            }
            for passed in &route.places[1..route.places.len() - 1] {
                grid.is_state[*passed] = false;
            }
        }
        grid
    }

    /// Orders each row by the middle of its neighbours, down and up in turns, and keeps the best order found.
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
                for (here, at) in self.rows[row].iter().enumerate() {
                    let sum: f64 = neighbours[*at].iter().map(|n| position[*n]).sum();
                    let number = neighbours[*at].len();
                    // Without neighbours, stay about where you are.
                    let share = (here as f64 + 0.5) / self.rows[row].len() as f64;
                    keyed.push((if number == 0 { share } else { sum / number as f64 }, *at));
                }
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                let count = keyed.len() as f64;
                for (here, (_, at)) in keyed.iter().enumerate() {
                    position[*at] = (here as f64 + 0.5) / count;
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

    /// How often edges cross.
    fn crossings(&self) -> usize {
        let mut position = vec![0; self.is_state.len()];
        for row in &self.rows {
            for (here, at) in row.iter().enumerate() {
                position[*at] = here;
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

    /// Moves everything sideways, within the order of its row, towards what it is connected with.
    fn move_sideways(&self, places: &mut [Place]) {
        for row in &self.rows {
            let mut x = 0.0;
            for at in row {
                x += places[*at].room.left;
                places[*at].x = x;
                x += places[*at].room.right + GAP;
            }
            let middle = (x - GAP) / 2.0;
            for at in row {
                places[*at].x -= middle;
            }
        }
        for turn in 0..60 {
            let mut order: Vec<&Vec<usize>> = self.rows.iter().collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            for row in order {
                let wanted: Vec<(f64, f64)> = row.iter().map(|at| self.wanted(*at, places)).collect();
                let gaps: Vec<f64> = row
                    .windows(2)
                    .map(|pair| places[pair[0]].room.right + GAP + places[pair[1]].room.left)
                    .collect();
                for (at, x) in row.iter().zip(spread(&wanted, &gaps)) {
                    places[*at].x = x;
                }
            }
        }
    }

    /// Where a place would like to be, and how much.
    fn wanted(&self, at: usize, places: &[Place]) -> (f64, f64) {
        let (mut sum, mut total) = (0.0, 0.0);
        for other in self.above[at].iter().chain(&self.below[at]) {
            // Long edges are to be straight before short ones.
            let weight = if self.is_state[at] || self.is_state[*other] { 1.0 } else { 6.0 };
            sum += weight * places[*other].x;
            total += weight;
        }
        if total > 0.0 { (sum / total, total) } else { (places[at].x, 0.01) }
    }
}

/// The positions nearest to those wanted (each with a weight) whose neighbours keep their distance: at least
/// `gaps[i]` between the positions `i` and `i + 1`.
pub(super) fn spread(wanted: &[(f64, f64)], gaps: &[f64]) -> Vec<f64> {
    // Without the gaps, the positions only have to be in order: neighbours that are not are pooled.
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

/// How many pairs are out of order.
fn inversions(values: &[usize]) -> usize {
    let size = values.iter().max().map_or(0, |most| most + 1);
    // A Fenwick tree of how often each value came so far.
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
    fn neighbours_keep_their_distance() {
        assert_eq!(spread(&[(0.0, 1.0), (0.0, 1.0)], &[10.0]), [-5.0, 5.0]);
        assert_eq!(spread(&[(0.0, 1.0), (50.0, 1.0)], &[10.0]), [0.0, 50.0]);
    }

    proptest! {
        #[test]
        fn no_two_things_overlap(
            ends in proptest::collection::vec((0usize..7, 0usize..7), 0..25),
            wide in 10.0f64..200.0,
        ) {
            let room = Room { left: wide, right: wide, height: 30.0 };
            let label = Room { left: 6.0, right: 80.0, height: 28.0 };
            let ways: Vec<Way> = ends.iter().map(|(from, to)| Way { from: *from, to: *to, label }).collect();
            let layout = lay_out(&[room; 7], &ways, &[0]).expect("small enough");
            for (i, a) in layout.places.iter().enumerate() {
                prop_assert!(a.x.is_finite() && a.y.is_finite());
                prop_assert!(a.x - a.room.left > 0.0 && a.x + a.room.right < layout.width);
                prop_assert!(a.y - a.room.height / 2.0 > 0.0 && a.y + a.room.height / 2.0 < layout.height);
                for b in &layout.places[i + 1..] {
                    let beside = a.x + a.room.right < b.x - b.room.left + 0.01
                        || b.x + b.room.right < a.x - a.room.left + 0.01;
                    let under = (a.y - b.y).abs() + 0.01 > (a.room.height + b.room.height) / 2.0;
                    prop_assert!(beside || under);
                }
            }
        }
    }
}
