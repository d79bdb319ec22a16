//! Reads logs from files, folders and archives.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use laggard_core::model::time::Timestamp;
use laggard_input::{Content, for_each_content};
use laggard_logs::{Classifier, Clock, LogCounts, Parser, Place, Rules};

use crate::failure::tell;

/// Reads each log by the rules of its file system.
pub(crate) struct Reader {
    adapter: Option<Rules>,
    parser: Option<Parser>,
    clock: Clock,
    since: Option<Timestamp>,
    nodes: Vec<String>,
    classifiers: BTreeMap<String, Classifier>,
    pub(crate) unreadable: Vec<String>,
}

impl Reader {
    pub(crate) fn new(
        adapter: Option<Rules>,
        parser: Option<Parser>,
        clock: Clock,
        since: Option<Timestamp>,
        nodes: Vec<String>,
    ) -> Reader {
        let classifiers = BTreeMap::new();
        Reader { adapter, parser, clock, since, nodes, classifiers, unreadable: Vec::new() }
    }

    /// Reads all logs in these paths. Logs that cannot be read are reported and skipped.
    pub(crate) fn read(&mut self, paths: &[PathBuf]) -> anyhow::Result<Vec<LogCounts>> {
        let mut all = Vec::new();
        for path in paths {
            let root = path.to_string_lossy();
            let mut failure = None;
            for_each_content(path, None, &mut |name, content| {
                match content.map_err(anyhow::Error::from) {
                    Ok(content) => match self.log(name, &root, content) {
                        Ok(seen) => all.extend(seen),
                        Err(error) => {
                            failure = Some(error);
                            return ControlFlow::Break(());
                        }
                    },
                    Err(error) => self.miss(name, &error),
                }
                ControlFlow::Continue(())
            });
            failure.map_or(Ok(()), Err)?;
        }
        Ok(all)
    }

    /// `None` for a file that is not a log. Fails only if the rules are invalid.
    fn log(&mut self, name: &str, root: &str, content: Content<'_>) -> anyhow::Result<Option<LogCounts>> {
        let Some(place) = laggard_logs::place(name, root) else { return Ok(None) };
        let parser = self.parser.unwrap_or_else(|| Parser::of(content.start));
        let rules = match &self.adapter {
            Some(rules) => rules.clone(),
            None => Rules::named(Rules::guessed(parser, name, content.start))?,
        };
        let key = rules.name.clone();
        if !self.classifiers.contains_key(&key) {
            let classifier = Classifier::naming(rules, self.clock, &self.nodes)?.since(self.since);
            self.classifiers.insert(key.clone(), classifier);
        }
        let Some(classifier) = self.classifiers.get(&key) else { return Ok(None) };
        let (seen, outcome) = scanned(classifier, place, parser, content.bytes);
        if let Err(error) = outcome {
            self.miss(name, &error.into());
        }
        Ok(Some(seen))
    }

    fn miss(&mut self, name: &str, error: &anyhow::Error) {
        tell(format_args!("{name}: {error:#}"));
        self.unreadable.push(name.to_owned());
    }
}

/// Counts of a log, up to the first read error.
fn scanned(
    classifier: &Classifier,
    place: Place,
    parser: Parser,
    bytes: &mut dyn BufRead,
) -> (LogCounts, io::Result<()>) {
    let mut scan = classifier.scan(place, parser);
    loop {
        let piece = match bytes.fill_buf() {
            Ok([]) => return (scan.finish(), Ok(())),
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return (scan.finish(), Err(error)),
        };
        let length = piece.len();
        scan.feed(piece);
        bytes.consume(length);
    }
}

/// The nodes of a campaign's logs whose names contain a digit. Other names could be ordinary words.
pub(crate) fn nodes(paths: &[PathBuf]) -> Vec<String> {
    let places = |path: &PathBuf| {
        let files = laggard_input::files(path).unwrap_or_default();
        files
            .into_iter()
            .filter_map(|file| laggard_logs::place(&file.to_string_lossy(), &root(path)))
            .collect::<Vec<_>>()
    };
    let is_name = |node: &String| node.bytes().any(|byte| byte.is_ascii_digit());
    let found = paths.iter().flat_map(places).filter(|place| !place.phase.is_empty()).map(|place| place.node);
    let names: std::collections::BTreeSet<String> = found.filter(is_name).collect();
    names.into_iter().collect()
}

fn root(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
