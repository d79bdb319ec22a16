//! Wording to avoid, and what to write instead.

use regex::Regex;

/// A pattern, what to write instead, and an example that it must find.
pub(crate) const PATTERNS: [(&str, &str, &str); 24] = [
    (r"\b(is|are|was|were|be|been|being) told\b", "is reported, is shown", "a gap is told"),
    (r"\btells? of\b", "reports", "the log tells of it"),
    (r"\bso (many|far apart)\b", "name the parameter", "so many rows"),
    (
        r"\bis no (manifest|suspect|fault|dataset|trace|file|component|disk|server|gap|part)\b",
        "is not a",
        "is no manifest",
    ),
    (r"\b(came to|became of|becomes of)\b", "result", "what became of it"),
    (r"\b(speaks?|spoke|speaking) (for|against|of)\b", "supports, contradicts", "evidence speaks for it"),
    (r"\b(hurts?|hurting|mends?|mended|mending)\b", "inject, fix", "hurts a node"),
    (r"\b(heals|healed|healing)\b", "revert or repair", "the fault is healed"),
    (r"(^|[^-])\b(in trouble|troubles?)\b", "fault or incident", "a disk in trouble"),
    (r"\bat once\b", "concurrently, immediately, in one pass", "requests at once"),
    (r"\bwent back to the queue\b", "requeued", "requests went back to the queue"),
    (r"\bwould bring\b", "estimated gain", "It would bring 2 s"),
    (r"\bplay(s|ed|ing)? (a|the|all|every|each) ", "run a case", "play a case"),
    (r"\banew\b", "again", "counted anew"),
    (r"\b(besides|likewise|beforehand)\b", "also, before", "besides"),
    (r"\b(whom|whoever|somebody|someone|nobody|no one)\b", "the component, the host", "nobody is blamed"),
    (r"\bjudg(e|es|ed|ing|ement|ements|ment)\b", "evaluate", "groups that were judged"),
    (r"\b(accus(e|es|ed|ing)|indict(s|ed)?)\b", "report as a suspect", "accuses a disk"),
    (r"\b(sureness|brief asymmetr(y|ies))\b", "confidence, observation", "its sureness"),
    (r"\bholds? (a|the|this|your) [a-z ]*system back\b", "slows down", "holds a storage system back"),
    (r"\bwho (is|are|was|has|have) (to blame|it)\b", "the suspect", "who is to blame"),
    (r"\bwhat [a-z]+s? (is|are) to be\b", "expected values", "what values are to be"),
    (r"\bmakes? of (faults|it|them)\b", "handles", "what it makes of faults"),
    (r"\bof which the truth is known\b", "labelled data", "data of which the truth is known"),
];

/// Names of types that say nothing about storage.
pub(crate) const TYPE_NAMES: [&str; 25] = [
    "Bell",
    "Rope",
    "Desk",
    "Bench",
    "Press",
    "Pen",
    "Room",
    "Deed",
    "Told",
    "Found",
    "Known",
    "Seen",
    "Covered",
    "Judged",
    "Judgement",
    "Examined",
    "Watched",
    "Crew",
    "Scribe",
    "Sieve",
    "Trouble",
    "News",
    "Word",
    "Stranger",
    "Aim",
];

pub(crate) struct Pattern {
    regex: Regex,
    pub(crate) instead: &'static str,
}

/// Words of other programs, of the published JSON form, and quotations from papers.
const QUOTATIONS: [&str; 6] = [
    "healed 12 entries",
    "launched healing blind",
    "| healing |",
    "members judged note",
    "\"judged\"",
    "a server is indicted",
];

impl Pattern {
    pub(crate) fn all() -> Vec<Pattern> {
        let pattern = |(regex, instead, _): (&str, &'static str, &str)| Pattern {
            regex: Regex::new(&format!("(?i){regex}")).unwrap(),
            instead,
        };
        PATTERNS.map(pattern).into_iter().collect()
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        let text = text.replace("here is no ", "");
        self.regex.is_match(&text) && !QUOTATIONS.iter().any(|quotation| text.contains(quotation))
    }
}

/// Whether a doc comment opens with a question word rather than with a noun or a verb.
pub(crate) fn is_poor_opening(line: &str) -> bool {
    let comment = line.trim_start().strip_prefix("/// ").or_else(|| line.strip_prefix("//! "));
    comment.is_some_and(|text| {
        ["What ", "Who ", "Whom ", "Whose ", "Whether "].iter().any(|word| text.starts_with(word))
    }) && !line.trim_end().ends_with('?')
}

/// The name of the type that a line declares.
pub(crate) fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let is_type = matches!(words.next()?, "struct" | "enum" | "trait" | "type");
    let name = words.next().filter(|_| is_type)?;
    name.split(['<', '(', ';', '{', ':', '=']).next()
}
