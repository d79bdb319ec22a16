//! All metrics as a table: a row for each metric of each layer.

use std::io::{self, Write};

use super::Report;

/// Writes the JSON form, flattened.
pub fn write(report: &Report, mut to: impl Write) -> io::Result<()> {
    writeln!(to, "layer,metric,value")?;
    for layer in &report.characteristics.layers {
        let value = serde_json::to_value(layer).map_err(io::Error::from)?;
        rows(layer.layer.name(), "", &value, &mut to)?;
    }
    for boundary in &report.characteristics.boundaries {
        let value = serde_json::to_value(boundary).map_err(io::Error::from)?;
        rows(&format!("{}-{}", boundary.upper, boundary.lower), "", &value, &mut to)?;
    }
    let quality = serde_json::to_value(&report.characteristics.quality).map_err(io::Error::from)?;
    rows("trace", "", &quality, &mut to)
}

fn rows(layer: &str, name: &str, value: &serde_json::Value, to: &mut impl Write) -> io::Result<()> {
    let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        serde_json::Value::Object(fields) => {
            fields.iter().try_for_each(|(key, value)| rows(layer, &below(key), value, to))
        }
        serde_json::Value::Array(values) => values
            .iter()
            .enumerate()
            .try_for_each(|(key, value)| rows(layer, &below(&key.to_string()), value, to)),
        serde_json::Value::Null => Ok(()),
        serde_json::Value::String(text) => writeln!(to, "{layer},{name},{}", quoted(text)),
        other => writeln!(to, "{layer},{name},{other}"),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
