//! Any CSV or Parquet file, read as a mapping file says: which column holds the time, which ones name the
//! component, and which ones are metrics or counters.
//!
//! In: a [`Mapping`], a file's path and its content. Out: rows of whatever tables the mapping names. Always:
//! the mapping was checked before any file is opened, and a line that does not fit is counted, not guessed at.
//!
//! A mapping file:
//!
//! ```toml
//! [time]
//! column = "ts"
//! unit = "s"                    # s, ms, us or ns since 1970, or iso8601
//! every = "15s"                 # how often it was recorded, if known
//!
//! [path]                        # what the end of a file's path tells, by name
//! pattern = "{cluster}/{host}/{day}.csv"
//!
//! [component]                   # names, from the path and from columns; the path comes first
//! host = "{cluster}/{host}"     # default: the name of the file
//! device = "{disk_id}"          # for metrics of disks; or interface = ..., remote = ... (TCP peers)
//!
//! [metrics]                     # metric = column, or with a factor to get to the metric's unit
//! throughput = "throughput"
//! await = { column = "latency", scale = 0.001 }
//!
//! [counters.disk]               # counters of a table that only grow, instead of metrics
//! reads = "rd_ios"
//!
//! [options]                     # of CSV; these are the defaults
//! delimiter = ","
//! decimal = "."
//! missing = ["", "NA", "NaN", "nan", "null"]
//! # comment = "#"               # lines to pass over
//! # columns = ["ts", "disk_id"] # for files that do not begin with the names of their columns
//! ```

mod binding;
pub mod csv;
mod mapping;
pub mod parquet;
mod template;

pub use mapping::{Mapping, MappingError};

#[cfg(test)]
mod tests;
