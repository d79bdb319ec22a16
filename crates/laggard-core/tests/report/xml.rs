//! Pages and pictures taken apart: is every element closed, and what is where?

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Elements of a page that are never closed.
const VOID: [&str; 2] = ["meta", "br"];

/// An element: its name and attributes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
}

impl Element {
    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// All elements, if the text is well-formed; fails the test otherwise.
pub(crate) fn elements(text: &str) -> Vec<Element> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let (mut open, mut found) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) => {
                let element = element(&start);
                if !VOID.contains(&element.name.as_str()) {
                    open.push(element.name.clone());
                }
                found.push(element);
            }
            Event::End(end) => {
                assert_eq!(open.pop(), Some(end.name().as_ref().to_owned()));
            }
            Event::Empty(empty) => found.push(element(&empty)),
            Event::Eof => break,
            _ => (),
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    found
}

fn element(start: &BytesStart) -> Element {
    let name = start.name().as_ref().to_owned();
    let attribute = |attribute: quick_xml::events::attributes::Attribute| {
        let key = attribute.key.as_ref().to_owned();
        (key, quick_xml::escape::unescape(&attribute.value).unwrap().into_owned())
    };
    let attributes = start.attributes().map(|found| attribute(found.unwrap())).collect();
    Element { name, attributes }
}
