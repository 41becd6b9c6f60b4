//! Decentralized monitors on a real network.
//!
//! The monitors of [`invigil_decent::algorithm`] run here unchanged. A *node* is a process that hosts components, with what they
//! observe and the monitors that are placed on them. Rounds need no clock: a node goes on to the next [round](rounds) when it has
//! what the monitors of every other node sent in the last one. So each monitor is given exactly what the simulator gives it when
//! messages take one round, in the same order, and the verdict is the simulator's, whatever the network does. Only the time that
//! it takes depends on the network.
//!
//! | module | is for |
//! | --- | --- |
//! | [`rounds`] | when a node may go on, what it has to ask for again; no clock, no network, no files |
//! | [`wire`] | what nodes say to each other and to clients, with a version and limits |
//! | [`host`] | the monitors of a node, of whichever algorithm |
//! | [`deployment`] | what a node is given to do: from a specification to its part for each node |
//! | [`run`] | a run on one node: all of the above together, and what must be written down |
//! | [`link`], [`serve`], [`client`] | the network (feature `network`) |

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
