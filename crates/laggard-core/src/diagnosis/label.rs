//! Labels: the truth about a recording, one faulty component and time each.

use super::causes::Cause;
use crate::model::time::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// A server, a disk, a controller or an array.
    pub component: String,
    pub begin: Timestamp,
    pub end: Timestamp,
    pub cause: Cause,
}

/// Labels as a CSV file. No name here has a comma or a quote.
pub fn csv(labels: &[Label]) -> String {
    let line = |label: &Label| {
        let Label { component, begin, end, cause } = label;
        format!("{component},{begin},{end},{cause}\n")
    };
    ["component,begin,end,cause\n".to_owned()].into_iter().chain(labels.iter().map(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_lines_of_four_fields() {
        let time = Timestamp::from_seconds;
        let label = Label { component: "oss3".into(), begin: time(0), end: time(60), cause: Cause::DiskBusy };
        let text = "component,begin,end,cause\noss3,1970-01-01T00:00:00Z,1970-01-01T00:01:00Z,disk-busy\n";
        assert_eq!(csv(&[label]), text);
    }
}
