//! Cluster files from the configuration of file systems.
//! In: the output of a file system's own tool. Out: [`ClusterFile`](laggard_core::model::cluster::ClusterFile).
//! Always: contains only what the tool printed; everything else keeps its default.

pub mod gluster;
