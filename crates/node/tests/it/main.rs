//! Decentralized monitors on a network.

// The example `nodes`: its commands print the quoted output.
#[cfg(feature = "network")]
mod example;
// Stalled clients, occupied folders, full disks.
#[cfg(feature = "network")]
mod failures;
// Nodes as processes that are killed, stopped or cut off.
#[cfg(feature = "network")]
mod local_nodes;
// Rounds over a simulated network that loses, duplicates and reorders.
mod lossy_network;
// Five hosts as network namespaces with failing links.
#[cfg(feature = "network")]
mod network_namespaces;
// Helpers: random cases, clusters of node processes.
mod support;
// TLS and access control; run by `scripts/tls`.
#[cfg(feature = "tls")]
mod tls;
