//! Decentralized monitoring: the monitors of one specification run on the components of a system. Each component
//! observes only its own propositions, and the monitors together still reach one sound verdict. Concepts and algorithms
//! follow El-Hokayem's thesis EH18.
//!
//! A [`System`](system::System) lists components and the propositions that each observes. A
//! [`Specification`](spec::Specification) or a formula becomes a [`Network`](network::Network) of
//! [`Automaton`](automaton::Automaton)s whose labels refer to observations and to the verdicts of other monitors. An
//! [`algorithm`] turns it into monitors, places them on components and defines what they send. The
//! [simulator](simulate) runs them round by round; `invigil-node` runs the same monitors on a network.
//!
//! | module | contents |
//! | --- | --- |
//! | [`system`] | components, propositions, links |
//! | [`memory`] | observations by instant: what monitors receive from their components and from each other |
//! | [`automaton`] | automata of monitors as data, and compiled to bit masks |
//! | [`encoding`] | what a monitor knows about the run: possible states, or the expressions of [EH18 §5] |
//! | [`expression`] | Boolean expressions over observations |
//! | [`network`], [`spec`] | monitors that refer to each other, and decentralized specifications: placement, monitorability, comparison, synthesis |
//! | [`algorithm`] | orchestration, migration, choreography, broadcast, abridged orchestration |
//! | [`simulate`], [`metrics`] | deterministic runs under given network conditions, and their costs |
//! | [`text`] | observations as text |
//!
//! Invariants: merging what two monitors know is commutative, associative and idempotent, so messages may be late,
//! duplicated or reordered. A verdict never contradicts the verdict of a monitor that observes everything. A run
//! depends only on its inputs and its seed.

pub mod algorithm;
pub mod automaton;
mod bits;
pub mod encoding;
pub mod expression;
pub mod memory;
pub mod metrics;
pub mod network;
pub mod simulate;
pub mod spec;
pub mod system;
pub mod text;
