//! Cluster files from what file systems say about themselves.
//! In: the output of a file system's own tool. Out: [`ClusterFile`](laggard_core::model::cluster::ClusterFile).
//! Always: only what the tool said; whatever it did not say is left to the defaults.

pub mod gluster;
