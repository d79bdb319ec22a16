//! The cluster file.
