//! Seeded models of striped storage systems: recordings with ground truth.
//! In: a scenario's name, settings and a seed. Out: the tables of every host as a recorder would have written them,
//! labels, and a cluster file. Always: the same seed gives the same counters, whatever
//! the number of threads and the platform.
//!
//! ```
//! use laggard_eval::simulate::{Scenario, run, settings::pair};
//! let settings = [pair("fault=disk-busy")?, pair("seconds=20")?];
//! let scenario = Scenario::parse("testbench", &settings, 7)?;
//! let mut rows = 0;
//! run(&scenario, &mut |_host, table| rows += table.len());
//! assert!(rows > 1000);
//! assert_eq!(scenario.labels()[0].cause.as_str(), "disk-busy");
//! # Ok::<(), laggard_eval::simulate::settings::SettingError>(())
//! ```

pub mod settings;

mod nuisance;

pub mod fleet;
pub mod intrepid;
pub mod scale;
pub mod testbench;

mod scenario;

pub use scenario::{Day, Scenario, run};
