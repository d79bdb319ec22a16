//! Text with variables, `{cluster}/{host}`: filled in to make names, or matched against a path to find values.

use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template(pub(super) Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Literal(String),
    Variable(String),
}

impl Template {
    pub(super) fn read(text: &str) -> Result<Template, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            let (variable, after) =
                after.split_once('}').ok_or_else(|| format!("{text:?} lacks a closing }}"))?;
            if variable.is_empty() {
                return Err(format!("{text:?} has braces without a name"));
            }
            push_literal(&mut parts, literal);
            parts.push(Part::Variable(variable.into()));
            rest = after;
        }
        push_literal(&mut parts, rest);
        Ok(Template(parts))
    }

    /// The shortest values with which the template equals this text.
    pub(super) fn captures(&self, text: &str) -> Option<Vec<(String, String)>> {
        let mut found = Vec::new();
        let mut rest = text;
        for (index, part) in self.0.iter().enumerate() {
            match part {
                Part::Literal(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Part::Variable(name) => {
                    let (value, after) = rest.split_at(length(rest, &self.0[index + 1..])?);
                    found.push((name.clone(), value.to_owned()));
                    rest = after;
                }
            }
        }
        let is_whole = rest.is_empty() && found.iter().all(|(_, value)| !value.is_empty());
        is_whole.then_some(found)
    }

    /// True if two variables are adjacent, so that the end of the first is unknown.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.0.windows(2).any(|two| matches!(two, [Part::Variable(_), Part::Variable(_)]))
    }
}

/// The length of a variable's value, determined by the text that follows it.
fn length(text: &str, following: &[Part]) -> Option<usize> {
    match following {
        [Part::Literal(last)] => text.strip_suffix(last.as_str()).map(str::len),
        [Part::Literal(next), ..] => text.find(next.as_str()),
        _ => Some(text.len()),
    }
}

fn push_literal(parts: &mut Vec<Part>, literal: &str) {
    if !literal.is_empty() {
        parts.push(Part::Literal(literal.into()));
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Literal(text) => f.write_str(text),
            Part::Variable(name) => write!(f, "{{{name}}}"),
        })
    }
}

/// The end of a path, component by component: `{cluster}/{host}/{day}.csv`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PathPattern(Vec<Template>);

impl PathPattern {
    pub(super) fn read(text: &str) -> Result<PathPattern, String> {
        let segments: Vec<Template> = text.split('/').map(Template::read).collect::<Result<_, _>>()?;
        match segments.iter().find(|segment| segment.is_ambiguous()) {
            Some(segment) => {
                Err(format!("two variables are adjacent in {:?}: put text between them", segment.to_string()))
            }
            None => Ok(PathPattern(segments)),
        }
    }

    /// The values of the variables in a path. Suffixes of compressed files are ignored.
    pub(super) fn captures(&self, path: &str) -> Option<Vec<(String, String)>> {
        let path = [".gz", ".xz", ".zst"]
            .iter()
            .fold(path, |path, ending| path.strip_suffix(ending).unwrap_or(path));
        let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
        let mut found = Vec::new();
        for pattern in self.0.iter().rev() {
            found.extend(pattern.captures(segments.next()?)?);
        }
        Some(found)
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let segments: Vec<String> = self.0.iter().map(Template::to_string).collect();
        f.write_str(&segments.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(pattern: &str, path: &str) -> Option<String> {
        let mut found = PathPattern::read(pattern).unwrap().captures(path)?;
        found.sort();
        Some(found.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn a_path_is_matched_from_its_end() {
        let found = captured("{cluster}/{host}/{day}.csv", "a.tar.zst/cluster_A/host_1/2022-07-18.csv");
        assert_eq!(found.unwrap(), "cluster=cluster_A day=2022-07-18 host=host_1");
        assert_eq!(captured("{host}/{day}.csv", "/data/oss1/today.csv.gz").unwrap(), "day=today host=oss1");
    }

    #[test]
    fn a_path_that_does_not_fit_gives_nothing() {
        assert_eq!(captured("{host}/{day}.csv", "today.csv"), None);
        assert_eq!(captured("{host}/{day}.csv", "oss1/today.txt"), None);
        assert_eq!(captured("{host}.csv", ".csv"), None);
    }

    #[test]
    fn the_last_literal_is_the_end_and_others_come_as_early_as_they_can() {
        assert_eq!(captured("{a}-{b}.csv", "x-y-z.csv.csv").unwrap(), "a=x b=y-z.csv");
    }

    #[test]
    fn broken_patterns_are_refused() {
        for text in ["{host", "{}", "{a}{b}.csv"] {
            assert!(PathPattern::read(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_reads_back_or_is_refused(text in "[{}a-c/.]{0,20}") {
            if let Ok(pattern) = PathPattern::read(&text) {
                proptest::prop_assert_eq!(pattern.to_string(), text.clone());
                let _ = pattern.captures(&text);
            }
        }
    }
}
