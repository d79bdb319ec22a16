//! CSV or Parquet files, read through a mapping file, which names the columns with the time, the component, and the
//! metrics or counters.
//!
//! In: a [`Mapping`], a file's path and its content. Out: rows of the tables in the mapping. Always: the mapping is
//! checked before any file is opened; a line that does not match is counted and skipped.
//!
//! A mapping file:
//!
//! ```toml
//! [time]
//! column = "ts"
//! unit = "s"                    # s, ms, us or ns since 1970, or iso8601
//! every = "15s"                 # the recording interval, if known
//!
//! [path]                        # variables in the end of a file's path
//! pattern = "{cluster}/{host}/{day}.csv"
//!
//! [component]                   # names, from variables of the path and from columns
//! host = "{cluster}/{host}"     # default: the name of the file
//! device = "{disk_id}"          # for metrics of disks; or interface = ..., remote = ... (TCP peers)
//!
//! [metrics]                     # metric = column, or with a factor for the metric's unit
//! throughput = "throughput"
//! await = { column = "latency", scale = 0.001 }
//!
//! [counters.disk]               # cumulative counters of a table, instead of metrics
//! reads = "rd_ios"
//!
//! [options]                     # of CSV; these are the defaults
//! delimiter = ","
//! decimal = "."
//! missing = ["", "NA", "NaN", "nan", "null"]
//! # comment = "#"               # lines to skip
//! # columns = ["ts", "disk_id"] # for files without a heading
//! ```

mod binding;
pub mod csv;
mod mapping;
pub mod parquet;
mod template;

pub use mapping::{Mapping, MappingError};

#[cfg(test)]
mod tests;
