//! Reasons why an overlay cannot be made.

use std::path::PathBuf;

use laggard_core::recording::ReadError;
use laggard_core::tables::recorded_times::NoSamples;
use laggard_store::StoreError;
use laggard_store::dataset_recording::OpenError;

use crate::simulate::settings::SettingError;

#[derive(Debug, thiserror::Error)]
pub enum OverlayError {
    #[error(transparent)]
    Setting(#[from] SettingError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    NoSamples(#[from] NoSamples),
    #[error("{0}")]
    Read(ReadError),
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("no disk of a peer group has requests in a tenth of the time: name one with --set component=")]
    NoActiveDisk,
    #[error("{0}: has no samples in a table of disks: name a disk with --set component=")]
    NotADisk(String),
    #[error("an overlay needs a dataset in a folder")]
    NotAFolder,
}
