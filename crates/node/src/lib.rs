//! Decentralized monitors on a real network: the monitors of [`invigil_decent::algorithm`], unchanged.
//!
//! A *node* is a process that hosts components, their observations and the monitors placed on them. Rounds need no
//! clock: a node starts the next [round](rounds) when it has received what the monitors of every other node sent in the
//! last one. So each monitor receives exactly what the simulator delivers with a latency of one round, in the same
//! order, and the verdict is the same as in the simulator, whatever the network does. Only the duration depends on the
//! network.
//!
//! A client [plans](deployment) a run, deploys it to the nodes and polls until it ends; nodes exchange one
//! [bundle](wire::RoundBundle) per round with every other node, request missing ones again, and save their state before
//! they send.
//!
//! | module | contents |
//! | --- | --- |
//! | [`rounds`] | synchronization of rounds: when a node may continue, what it requests again; no clock, network or files |
//! | [`wire`] | messages between nodes, and between nodes and clients, with version and size limits |
//! | [`host`] | the monitors of a node, for any algorithm |
//! | [`deployment`] | from a specification to the part of each node |
//! | [`run`] | a run on one node: all of the above, and the state to save |
//! | [`link`], [`serve`], [`client`], [`store`] | network, node process, client and files (feature `network`) |
//!
//! Invariants: a node never sends a bundle of a round that it has not saved; all nodes reach the same end of a run;
//! input from the network cannot crash a node.

pub mod deployment;
pub mod host;
pub mod rounds;
pub mod run;
pub mod wire;

#[cfg(feature = "network")]
pub mod client;
#[cfg(feature = "network")]
pub mod link;
#[cfg(feature = "network")]
pub mod serve;
#[cfg(feature = "network")]
pub mod store;
