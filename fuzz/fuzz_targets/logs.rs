//! Any bytes as a log, in every format and by every file system's rules: the fast search finds what reading line by
//! line finds, whole or in pieces.
#![no_main]

use std::sync::LazyLock;

use laggard_logs::{Case, Classifier, Clock, Parser, Place, Rules, Side};
use libfuzzer_sys::fuzz_target;

const CLOCK: Clock = Clock { year: 2021, booted: None };

static CLASSIFIERS: LazyLock<Vec<Classifier>> = LazyLock::new(|| {
    let names = Rules::names().expect("the rules can be read");
    let classifier = |name: &String| Classifier::new(Rules::named(name)?, CLOCK);
    names.iter().map(classifier).collect::<Result<_, _>>().expect("the rules can be compiled")
});

fuzz_target!(|bytes: &[u8]| {
    let place = Place {
        case: Case::default(),
        phase: String::new(),
        side: Side::After,
        node: String::new(),
        source: String::new(),
    };
    for name in Parser::names() {
        let Some(parser) = Parser::named(name) else { continue };
        for classifier in &*CLASSIFIERS {
            let mut slow = classifier.scan(place.clone(), parser).line_by_line();
            slow.feed(bytes);
            let mut fast = classifier.scan(place.clone(), parser);
            bytes.chunks(97).for_each(|piece| fast.feed(piece));
            let seen = fast.finish();
            assert_eq!(slow.finish(), seen, "{name}");
            laggard_logs::signs(&[seen], &[]);
        }
    }
    let _ = (Parser::of(bytes), laggard_logs::place(&String::from_utf8_lossy(bytes), ""));
});
