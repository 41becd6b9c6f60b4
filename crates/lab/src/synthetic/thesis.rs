//! Published results: tables 8.2 and B.1 of EH18 (A. El-Hokayem, *Runtime Verification of Hierarchical Decentralized
//! Specifications*, Grenoble 2018). Each cell is a mean and a standard deviation. THEMIS itself is not run here.

/// Mean and standard deviation.
pub type MeanAndDeviation = (f64, f64);

/// Row of table B.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComponentsRow {
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Number of components.
    pub components: usize,
    /// Average delay, messages and data per round, maximum simplifications of a monitor in a round, critical
    /// simplifications, convergence of evaluations.
    pub cells: [MeanAndDeviation; 6],
}

/// Row of table 8.2: six components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistributionRow {
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Distribution of the values of traces.
    pub distribution: &'static str,
    /// Average delay, messages and data per round, critical simplifications, convergence of evaluations.
    pub cells: [MeanAndDeviation; 5],
}

const fn components_row(
    algorithm: &'static str,
    components: usize,
    cells: [MeanAndDeviation; 6],
) -> ComponentsRow {
    ComponentsRow { algorithm, components, cells }
}

const fn distribution_row(
    algorithm: &'static str,
    distribution: &'static str,
    cells: [MeanAndDeviation; 5],
) -> DistributionRow {
    DistributionRow { algorithm, distribution, cells }
}

const ZERO: MeanAndDeviation = (0.0, 0.0);

/// Table B.1: synthetic benchmark by algorithm and number of components.
#[rustfmt::skip]
pub const SYNTHETIC: [ComponentsRow; 16] = [
    components_row("orchestration", 3, [(0.48, 0.50), (2.44, 0.61), (31.84, 8.07), ZERO, ZERO, (0.65, 0.02)]),
    components_row("orchestration", 4, [(0.53, 0.50), (3.85, 0.94), (50.05, 12.39), ZERO, ZERO, (0.74, 0.02)]),
    components_row("orchestration", 5, [(0.64, 0.48), (5.30, 1.16), (69.20, 15.55), ZERO, ZERO, (0.79, 0.02)]),
    components_row("orchestration", 6, [(0.69, 0.46), (7.04, 1.50), (91.86, 20.02), ZERO, ZERO, (0.83, 0.02)]),
    components_row("migration", 3, [(0.58, 0.58), (0.27, 0.32), (8.46, 15.32), (4.72, 4.41), (3.08, 2.66), (0.65, 0.02)]),
    components_row("migration", 4, [(0.71, 0.67), (0.32, 0.34), (17.45, 35.87), (6.10, 6.17), (4.03, 3.75), (0.73, 0.03)]),
    components_row("migration", 5, [(0.96, 0.71), (0.43, 0.34), (30.41, 56.68), (7.41, 6.18), (4.97, 3.76), (0.79, 0.03)]),
    components_row("migration", 6, [(1.19, 0.86), (0.50, 0.34), (98.80, 244.94), (10.09, 8.32), (6.74, 4.87), (0.82, 0.04)]),
    components_row("round-robin", 3, [(0.76, 0.69), (0.78, 0.33), (14.51, 18.40), (5.62, 4.99), (3.51, 2.93), (0.65, 0.02)]),
    components_row("round-robin", 4, [(1.02, 0.90), (0.76, 0.36), (31.76, 51.55), (7.64, 7.16), (4.58, 4.04), (0.74, 0.03)]),
    components_row("round-robin", 5, [(1.39, 1.04), (0.75, 0.35), (62.83, 91.89), (9.70, 7.88), (5.70, 4.25), (0.79, 0.03)]),
    components_row("round-robin", 6, [(1.72, 1.19), (0.70, 0.37), (180.35, 360.25), (12.56, 9.76), (7.35, 5.14), (0.82, 0.03)]),
    components_row("choreography", 3, [(1.47, 1.99), (2.79, 1.10), (24.98, 9.85), (60.22, 242.88), (12.27, 6.55), (0.16, 0.12)]),
    components_row("choreography", 4, [(1.36, 1.52), (3.84, 1.23), (34.36, 10.94), (44.71, 184.05), (12.95, 5.98), (0.13, 0.12)]),
    components_row("choreography", 5, [(1.41, 1.55), (4.63, 1.37), (41.17, 12.16), (44.06, 223.15), (12.68, 6.06), (0.12, 0.11)]),
    components_row("choreography", 6, [(1.29, 1.38), (5.87, 1.66), (52.09, 14.77), (38.35, 215.27), (13.01, 6.01), (0.13, 0.12)]),
];

/// Table 8.2: six components, by algorithm and distribution.
#[rustfmt::skip]
pub const DISTRIBUTIONS: [DistributionRow; 16] = [
    distribution_row("orchestration", "normal", [(0.69, 0.46), (7.13, 1.38), (94.87, 18.46), ZERO, (0.83, 0.01)]),
    distribution_row("orchestration", "binomial", [(0.69, 0.46), (7.15, 1.39), (93.10, 18.13), ZERO, (0.83, 0.01)]),
    distribution_row("orchestration", "beta-1", [(0.70, 0.46), (6.98, 1.47), (96.11, 20.17), ZERO, (0.83, 0.02)]),
    distribution_row("orchestration", "beta-2", [(0.69, 0.46), (6.91, 1.71), (83.37, 20.66), ZERO, (0.82, 0.02)]),
    distribution_row("migration", "normal", [(1.72, 1.42), (0.50, 0.32), (110.13, 276.43), (7.01, 5.01), (0.82, 0.03)]),
    distribution_row("migration", "binomial", [(1.67, 1.40), (0.49, 0.32), (95.44, 221.65), (6.86, 4.91), (0.82, 0.04)]),
    distribution_row("migration", "beta-1", [(1.82, 1.44), (0.53, 0.32), (133.15, 313.44), (7.14, 5.16), (0.82, 0.04)]),
    distribution_row("migration", "beta-2", [(1.53, 1.36), (0.47, 0.38), (56.48, 114.54), (5.95, 4.24), (0.82, 0.03)]),
    distribution_row("round-robin", "normal", [(2.64, 1.93), (0.70, 0.35), (177.48, 358.61), (7.50, 5.18), (0.83, 0.03)]),
    distribution_row("round-robin", "binomial", [(2.59, 1.95), (0.69, 0.36), (171.64, 318.94), (7.49, 5.21), (0.83, 0.03)]),
    distribution_row("round-robin", "beta-1", [(2.82, 1.94), (0.74, 0.34), (210.02, 452.83), (7.49, 5.23), (0.82, 0.03)]),
    distribution_row("round-robin", "beta-2", [(2.55, 2.08), (0.66, 0.41), (162.28, 287.28), (6.93, 4.90), (0.82, 0.02)]),
    distribution_row("choreography", "normal", [(2.02, 1.97), (5.92, 1.60), (52.54, 14.23), (12.68, 3.63), (0.13, 0.10)]),
    distribution_row("choreography", "binomial", [(1.93, 1.86), (5.95, 1.61), (52.76, 14.33), (12.55, 3.70), (0.13, 0.10)]),
    distribution_row("choreography", "beta-1", [(2.59, 4.58), (5.80, 1.64), (51.54, 14.48), (13.29, 4.33), (0.14, 0.12)]),
    distribution_row("choreography", "beta-2", [(2.95, 7.26), (5.81, 1.79), (51.52, 15.93), (13.50, 9.91), (0.14, 0.14)]),
];
