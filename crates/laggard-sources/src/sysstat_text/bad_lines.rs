//! Counts lines that could not be read.

use laggard_input::{Line, Place, ReadError, quote};

use crate::row_buffer::RowBuffer;

/// The number of unreadable lines, and the first of them.
#[derive(Default)]
pub(crate) struct BadLines {
    count: u64,
    first: Option<(u64, String)>,
}

impl BadLines {
    pub(crate) fn add(&mut self, number: u64, text: impl AsRef<[u8]>) {
        self.count += 1;
        self.first.get_or_insert_with(|| (number, quote(text)));
    }

    pub(crate) fn add_line(&mut self, line: &Line<'_>) {
        self.add(line.number, line.bytes);
    }

    /// Adds a note about them. It is an error if no row could be read at all.
    pub(crate) fn settle(self, row_buffer: &mut RowBuffer<'_>, expected: &str) -> Result<(), ReadError> {
        if row_buffer.rows() == 0 {
            let (place, found) = match self.first {
                Some((number, text)) => (Place::Line(number), text),
                None => (Place::Whole, "none".to_owned()),
            };
            return Err(ReadError::content(place, expected, found));
        }
        if let Some((number, text)) = self.first {
            let count = self.count;
            row_buffer
                .note(None, format!("unreadable lines skipped: {count}, the first is line {number}: {text}"));
        }
        Ok(())
    }
}
