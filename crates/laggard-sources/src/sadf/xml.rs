//! `sadf -x`.

use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use laggard_input::{Place, ReadError};

use super::moment::Moment;
use super::samples::{FieldValue, Samples};
use crate::sink::Sink;

pub fn recognises(start: &[u8]) -> bool {
    start.trim_ascii_start().starts_with(b"<") && memchr::memmem::find(start, b"<sysstat").is_some()
}

pub fn read(input: &mut dyn BufRead, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut samples = Samples::new(sink);
    let read = walk(input, &mut samples);
    samples.finish_after(read)
}

fn walk(input: &mut dyn BufRead, samples: &mut Samples<'_>) -> Result<(), ReadError> {
    let mut reader = Reader::from_reader(input);
    let (mut buffer, mut depth) = (Vec::new(), 0_u64);
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer);
        let place = Place::Byte(reader.buffer_position());
        match event {
            Ok(Event::Start(start)) => {
                depth += 1;
                element(&start, samples).map_err(|error| unreadable(place, error))?;
            }
            Ok(Event::Empty(empty)) => element(&empty, samples).map_err(|error| unreadable(place, error))?,
            Ok(Event::End(end)) => {
                depth = depth.saturating_sub(1);
                if end.name().as_ref() == "timestamp" {
                    samples.row_buffer.settle()?;
                }
            }
            Ok(Event::Eof) if depth > 0 => return Err(cut(place)),
            Ok(Event::Eof) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(unreadable(place, error)),
        }
    }
}

fn cut(place: Place) -> ReadError {
    ReadError::Truncated { place, within: "the XML document".into() }
}

fn unreadable(place: Place, error: quick_xml::Error) -> ReadError {
    match error {
        // An unclosed element or comment is a truncated one.
        quick_xml::Error::Syntax(_) => cut(place),
        quick_xml::Error::Io(error) => {
            let error = std::io::Error::new(error.kind(), error.to_string());
            ReadError::Io { place, error }
        }
        error => ReadError::content(place, "the XML of sadf -x", error.to_string()),
    }
}

fn element(start: &BytesStart<'_>, samples: &mut Samples<'_>) -> Result<(), quick_xml::Error> {
    match start.name().as_ref() {
        "host" => samples.host(&attribute(start, &["nodename"])?),
        "timestamp" => samples.begin(&moment(start)?),
        "boot" | "comment" => samples.remark(&moment(start)?),
        name @ ("disk-device" | "net-dev" | "net-edev" | "net-etcp" | "psi-cpu" | "psi-io" | "psi-mem") => {
            let fields = attributes(start)?;
            let component = attribute(start, &["dev", "iface"])?;
            let printed = fields.iter().map(|(name, text)| (name.as_ref(), FieldValue::Text(text)));
            samples.row(name, &component, printed);
        }
        _ => {}
    }
    Ok(())
}

fn moment(start: &BytesStart<'_>) -> Result<Moment, quick_xml::Error> {
    let mut moment = Moment::default();
    for (name, text) in attributes(start)? {
        moment.set(&name, &text);
    }
    Ok(moment)
}

fn attributes<'a>(start: &'a BytesStart<'_>) -> Result<Vec<(String, Cow<'a, str>)>, quick_xml::Error> {
    let read = start.attributes().map(|attribute| {
        let attribute = attribute?;
        Ok((attribute.key.as_ref().to_owned(), attribute.normalized_value(XmlVersion::Implicit1_0)?))
    });
    read.collect()
}

/// The first of these attributes that exists.
fn attribute(start: &BytesStart<'_>, names: &[&str]) -> Result<String, quick_xml::Error> {
    let found = attributes(start)?.into_iter().find(|(name, _)| names.contains(&name.as_str()));
    Ok(found.map(|(_, text)| text.into_owned()).unwrap_or_default())
}
