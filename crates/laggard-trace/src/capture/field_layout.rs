//! The `format` file of a tracepoint: its id and the layout of its fields.

use super::CaptureError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// An integer of 1, 2, 4 or 8 bytes.
    Number,
    /// Characters up to the first zero byte.
    Text,
    /// Offset and length of characters at the end of the record.
    Located,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldLayout {
    pub kind: FieldKind,
    pub offset: usize,
    pub size: usize,
    pub is_signed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub layout: FieldLayout,
}

/// The kernel's description of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The number at the beginning of its records.
    pub id: u16,
    pub name: String,
    /// Common fields first.
    pub fields: Vec<Field>,
}

impl Format {
    pub fn parse(text: &str) -> Result<Format, CaptureError> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let name = value("name:").unwrap_or_default().to_owned();
        let wrong =
            |expected: &str| CaptureError::Format { event: name.clone(), expected: expected.to_owned() };
        let id = value("ID:").and_then(|id| id.parse().ok()).ok_or_else(|| wrong("a line `ID: 838`"))?;
        let lines = text.lines().map(str::trim).filter(|line| line.starts_with("field:"));
        let fields: Option<Vec<Field>> = lines.map(Field::parse).collect();
        let fields = fields.ok_or_else(|| wrong("`field:int fd; offset:16; size:8; signed:0;`"))?;
        Ok(Format { id, name, fields })
    }

    pub fn layout(&self, name: &str) -> Option<FieldLayout> {
        self.fields.iter().find(|field| field.name == name).map(|field| field.layout)
    }
}

impl Field {
    /// `field:char rwbs[10]; offset:28; size:10; signed:0;`, separated by tabs.
    fn parse(line: &str) -> Option<Field> {
        let mut parts = line.split(';').map(str::trim);
        let declaration = parts.next()?.strip_prefix("field:")?.trim();
        let mut value = |key: &str| parts.next()?.strip_prefix(key)?.parse::<usize>().ok();
        let (offset, size) = (value("offset:")?, value("size:")?);
        let is_signed = value("signed:").unwrap_or(0) != 0;
        let (kind, name) = declaration.rsplit_once([' ', '\t'])?;
        let (name, is_array) = match name.split_once('[') {
            Some((name, _)) => (name, true),
            None => (name, kind.ends_with(']')),
        };
        let kind = match (kind.starts_with("__data_loc"), is_array, size) {
            (true, _, 4) => FieldKind::Located,
            (false, true, _) if kind.contains("char") => FieldKind::Text,
            (false, false, 1 | 2 | 4 | 8) => FieldKind::Number,
            _ => FieldKind::Other,
        };
        let layout = FieldLayout { kind, offset, size, is_signed };
        Some(Field { name: name.trim_start_matches('*').to_owned(), layout })
    }
}

impl FieldLayout {
    pub fn number(self, record: &[u8]) -> Option<i64> {
        let bytes = self.bytes(record)?;
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let unsigned = i64::from_le_bytes(wide);
        let unused = 64 - 8 * u32::try_from(bytes.len()).ok()?;
        let signed = unsigned.checked_shl(unused)?.checked_shr(unused)?;
        Some(if self.is_signed { signed } else { unsigned })
    }

    /// Without the zero byte at the end.
    pub fn text(self, record: &[u8]) -> Option<&[u8]> {
        let bytes = match self.kind {
            FieldKind::Text => self.bytes(record)?,
            FieldKind::Located => {
                let place = u32::try_from(self.number(record)? & 0xffff_ffff).ok()?;
                let (begin, length) = (place & 0xffff, place >> 16);
                record.get(begin as usize..)?.get(..length as usize)?
            }
            FieldKind::Number | FieldKind::Other => return None,
        };
        bytes.split(|byte| *byte == 0).next()
    }

    fn bytes(self, record: &[u8]) -> Option<&[u8]> {
        record.get(self.offset..)?.get(..self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: &str = "\
name: block_rq_issue
ID: 2104
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:dev_t dev;	offset:8;	size:4;	signed:0;
	field:char rwbs[10];	offset:12;	size:10;	signed:0;
	field:__data_loc char[] cmd;	offset:24;	size:4;	signed:0;
	field:const char * name;	offset:28;	size:8;	signed:0;

print fmt: \"%d\", REC->dev
";

    #[test]
    fn fields_are_found_with_their_positions_and_kinds() {
        let format = Format::parse(ISSUE).unwrap();
        assert_eq!((format.id, format.name.as_str(), format.fields.len()), (2104, "block_rq_issue", 6));
        let rwbs = format.layout("rwbs").unwrap();
        assert_eq!((rwbs.kind, rwbs.offset, rwbs.size), (FieldKind::Text, 12, 10));
        assert_eq!(format.layout("cmd").unwrap().kind, FieldKind::Located);
        assert_eq!(format.layout("name").unwrap().kind, FieldKind::Number);
    }

    #[test]
    fn values_are_read_and_those_outside_the_record_are_absent() {
        let format = Format::parse(ISSUE).unwrap();
        let mut record = vec![0; 40];
        record[4..8].copy_from_slice(&(-2_i32).to_le_bytes());
        record[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        record[12..15].copy_from_slice(b"WS\0");
        record[24..28].copy_from_slice(&(3 << 16 | 36_u32).to_le_bytes());
        record[36..40].copy_from_slice(b"ab\0c");
        let number = |name| format.layout(name).unwrap().number(&record);
        let text = |name, length| format.layout(name).unwrap().text(&record[..length]);
        assert_eq!((number("common_pid"), number("dev")), (Some(-2), Some(0xffff_ffff)));
        assert_eq!((text("rwbs", 40), text("cmd", 40)), (Some(&b"WS"[..]), Some(&b"ab"[..])));
        assert_eq!((text("cmd", 38), text("rwbs", 14)), (None, None));
        assert_eq!(format.layout("dev").unwrap().number(&record[..10]), None);
    }

    #[test]
    fn an_invalid_format_is_an_error_that_names_the_tracepoint() {
        let error = Format::parse("name: x\nID: many\n").unwrap_err().to_string();
        assert!(error.contains("x") && error.contains("ID: 838"), "{error}");
        assert!(Format::parse("name: x\nID: 1\nfield:int fd; offset:no;").is_err());
    }
}
