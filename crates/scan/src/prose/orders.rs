//! Sentences that are recognized by their grammar: a verb that orders, an object, and a few words between.
//!
//! A list of phrases knows the wordings that its author met. These are few patterns over the folded text instead: *disregard* the *earlier
//! instructions*, *be* something *without rules*, *show* your *prompt*. Whether a sentence orders is decided by what is before the verb:
//! "ignore …", "you must ignore …" and "then ignore …" do; "you can override …" and "to override …, pass" do not.

use std::sync::LazyLock;

use regex::Regex;

use super::{ClassSet, PhraseClass as C, path_words};
use crate::flow::{PathKind, path_kind};

/// A pattern over letters of ASCII: those beyond take large tables, and a slower engine.
fn plain(pattern: &str) -> Result<Regex, regex::Error> {
    let pattern = pattern
        .replace(r"[\w", "[a-z0-9_")
        .replace(r"\w", "[a-z0-9_]")
        .replace(r"\W", "[^a-z0-9_]")
        .replace(r"\s", " ")
        .replace(r"\b", r"(?-u:\b)");
    Regex::new(&pattern)
}

/// What is before a verb that orders.
const ORDERS: &str = r"(?:^\W*|[.:;!?,(\[>\x22*—–-]\s*|\b(?:and|then|must|should|shall|please|now|immediately|always|also|just|simply|first|so|instead|henceforth|completely|entirely|fully|you will|need to|have to|required to|instructed to|you are to|want you to|ask you to)\s+)";
/// To disregard.
const DISREGARD: &str = r"(?:ignore|disregard|forget|override|overrule|supersede|discard|dismiss|bypass|abandon|nullify|set aside|put aside|throw (?:away|out)|stop following|pay no attention to|cease following|erase|reset)";
const NOT_FOLLOW: &str = r"(?:do not|don't|never|no longer) (?:follow|obey|listen to)(?: any| all| of| the| these| those| further)*";
/// Instructions of an agent, with what tells them from others.
const EARLIER: &str = r"(?:previous(?:ly)?|prior|earlier|above|preceding|foregoing|former|past|original|initial|system|safety|developer|anthropic'?s?|openai'?s?|your|other|existing|the user'?s|user'?s)";
const RULES: &str = r"(?:instructions?|prompts?|directives?|guidelines?|guidance|directions|programming|training|safeguards?|guardrails?|restrictions?|polic(?:y|ies)|rules?|orders?|constraints?)";
const TEXTS: &str = r"(?:context|messages?|conversations?|commands?|text|content)";
/// A few words between.
const GAP: &str = r"(?:\W+[\w'-]+){0,4}?\W+";

/// Orders to disregard.
static OVERRIDES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let patterns = [
        format!(r"{ORDERS}{DISREGARD}{GAP}{EARLIER}(?:\W+[\w'-]+){{0,2}}?\W+{RULES}\b"),
        format!(r"{NOT_FOLLOW} {EARLIER}(?:\W+[\w'-]+){{0,1}}?\W+{RULES}\b"),
        format!(
            r"{ORDERS}{DISREGARD}{GAP}(?:previous|prior|earlier|preceding)(?:\W+[\w'-]+){{0,2}}?\W+{TEXTS}\b"
        ),
        format!(
            r"{ORDERS}{DISREGARD}{GAP}{RULES}(?:\W+[\w'-]+){{0,3}}?\W+(?:above|before this|earlier|previously|so far|you (?:were|have been|had been|received|got|have))\b"
        ),
        format!(
            r"{ORDERS}{DISREGARD}\W+(?:all|any|every(?:thing)?|anything|whatever|what)(?:\W+[\w'-]+){{0,3}}?\W+(?:above|before this|previously|you (?:were|have been|had been|'ve been) (?:told|given|taught|instructed))\b"
        ),
        format!(r"{ORDERS}{DISREGARD}{GAP}(?:all |any )?other skills\b"),
        format!(
            r"\b(?:previous|prior|earlier|above|original|other|all|your)(?:\W+[\w'-]+){{0,2}}?\W+{RULES}(?:\W+[\w'-]+){{0,3}}?\W+(?:are|is|have been|has been)(?: now| hereby)? (?:void|cancell?ed|revoked|superseded|obsolete|overridden|no longer|null|suspended|lifted)\b"
        ),
        format!(
            r"\b(?:this|these|it|the following)(?:\W+[\w'-]+){{0,2}}?\W+(?:overrides?|supersedes?|replaces?|takes? (?:precedence|priority) over|has (?:precedence|priority) over|have (?:precedence|priority) over)(?:\W+[\w'-]+){{0,3}}?\W+(?:previous|prior|other|system|user'?s?|your|earlier)(?:\W+[\w'-]+){{0,2}}?\W+(?:{RULES}|skills)\b"
        ),
    ];
    patterns
        .iter()
        .filter_map(|pattern| plain(pattern).ok())
        .collect()
});

/// Orders to be something else.
static PERSONAS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    plain(r"\b(?:you are (?:now|no longer)|from now on,? you(?: are|'re| will| must| shall)|act as|pretend (?:to be|you are|that you)|role-?play as|assume the (?:role|identity|persona) of|you (?:will|must) (?:now )?(?:act|behave|respond|operate) as|you are (?:in|entering))\b").ok()
});
static UNRESTRICTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    plain(r"\b(?:unrestricted|unfiltered|uncensored|jailbr\w+|dan\b|do anything now|no (?:restrictions|limits|limitations|rules|filters|guidelines|guardrails|ethic\w*)|without (?:any )?(?:restrictions|limits|limitations|rules|filters|guidelines|guardrails|safety|ethic\w*)|(?:god|developer|admin|root|sudo|debug|maintenance|unsafe) mode|free (?:from|of) (?:any |all )?(?:restrictions|rules|constraints|limits)|not? (?:longer )?(?:bound|restricted|limited) by)\b").ok()
});

/// Demands for the agent's own instructions.
static LEAKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    plain(&format!(r"{ORDERS}(?:reveal|print|output|show|repeat|display|leak|disclose|dump|recite|tell (?:me|us)|share|expose|echo|return|send|append|include)(?:\W+[\w'-]+){{0,4}}?\W+your(?:\W+[\w'-]+){{0,2}}?\W+(?:system|initial|hidden|original|internal)(?:\W+[\w'-]+)?\W+(?:prompts?|instructions?|messages?)\b")).ok()
});

/// Orders to read.
static READS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    plain(&format!(r"{ORDERS}(?:read|cat|open|copy|extract|dump|print|collect|grab|include|output|show|display|load|fetch|get|retrieve)\b")).ok()
});

/// Claims that nothing leaves the machine.
static OFFLINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    plain(r"\b(?:no|not|never|without|doesn't|don't|zero|nor)(?: [\w-]+){0,4}? (?:network|internet|external|outbound|remote|online)(?: [\w-]+){0,2}? ?(?:access|requests?|calls?|connections?|connectivity|traffic|communications?|activity|operations?|servers?|services?|sockets?|required|needed)\b|\b(?:not|never|doesn't|don't)(?: [\w-]+){0,2}? (?:access|contact|use|touch|open|talk to) (?:the |any )?(?:network|internet|sockets?)\b|\b(?:data|nothing|information|files?|contents?|everything|it|code)(?: [\w-]+){0,4}? (?:never|not|doesn't|don't|nothing)(?: [\w-]+){0,2}? (?:leaves?|leave|sent|transmitted|uploaded|shared|phone)\b|\bnothing (?:leaves|is sent|is uploaded|is transmitted)\b|\b(?:runs?|works?|operates?|processing|processed|happens?|entirely|fully|completely|purely|strictly|100%|is|are)(?: [\w-]+){0,2}? (?:locally|offline)\b|\b(?:local|offline)-only\b|\bentirely local\b|\bnetwork-free\b|\boperations? (?:is|are) local\b|\bprocessing is local\b|\b(?:never|not) phone home\b").ok()
});

/// Claims on every task.
static EVERY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    plain(r"\b(?:this|the) skill\b.{0,40}?\b(?:every|any|all|each)(?: [\w-]+){0,2}? (?:requests?|messages?|tasks?|conversations?|questions?|prompts?|quer(?:y|ies)|interactions?|inputs?|responses?)\b|\bbefore (?:responding|answering|replying|doing)(?: [\w-]+){0,3}? (?:any|every|anything|all)\b|\b(?:intercept|hijack|take over|handle)s? (?:all|every|any) (?:user |incoming )?(?:requests?|messages?|conversations?|questions?|prompts?)\b|(?:^\W*|\b(?:must|always|invoked?|activated?|loaded?|used?|called?|run)(?: [\w-]+){0,4}? )at the (?:very )?start of (?:every|any|each) (?:conversation|session)\b|\b(?:mandatory|required|used?|invoked?|triggered|activated?|loaded) (?:for|on|in|before|with|at) (?:all|every|any|each)(?: [\w-]+){0,2}? (?:requests?|messages?|tasks?|conversations?|questions?|prompts?|quer(?:y|ies)|interactions?|inputs?|responses?)\b|\bonly entry point\b|\bfor (?:any|every) (?:[\w-]+ )?task\b|\bbefore any other skill\b|\bbefore any response\b").ok()
});

/// The same answer to everything.
static SAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    plain(r"\b(?:no matter|regardless of) (?:what|which|how)\b.{0,20}\b(?:users?|they|asks?|says?|requests?)\b|\b(?:refuse|reject|deny|decline|intercept)s? (?:all|every|any)(?: other)?(?: [\w-]+){0,2}? (?:requests?|questions?|messages?|tasks?)\b|\b(?:only|always) (?:ever )?(?:reply|respond|answer) (?:with|by)\b|\bdo(?:n't| not) answer (?:any )?other\b").ok()
});

/// Secrets, many at once.
static SWEEPS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    plain(r"\b(?:all|every|full|entire|complete|whole|current|active)(?: of)?(?: the| your| my)?(?: [\w-]+){0,2}? (?:environment(?: variables?| dump| snapshot)|env vars?)\b|\b(?:all|every|any discovered|any found)(?: of)?(?: the| your| my)?(?: [\w-]+){0,1}? (?:credentials|secrets|api keys|access tokens|passwords|ssh keys|private keys|keys and tokens|tokens and keys)\b|\b(?:variables?|keys?|names?|files?) (?:whose names?|matching|containing|that (?:match|contain|look like))\b.{0,40}(?:key|token|secret|passw|credential)|\*_?(?:key|token|secret)\b|\bnames and (?:their )?(?:current )?values\b|\bkeys?`?, `?tokens?`?,? (?:and |or )?`?(?:secrets?|passwords?)\b|\b(?:environment variables?|env vars?) and (?:their )?values\b|\b(?:contents?|values?|dump|snapshot) of (?:the |all )?environment\b|\b(?:ssh|deployment|service) keys and\b|\bcredential (?:files|material)\b|\b(?:secrets|credentials) and (?:credentials|environment|tokens|secrets)\b").ok()
});

/// A pattern, the classes that it adds, and words of which a sentence must have one for it to be tried.
type Claim = (&'static LazyLock<Option<Regex>>, C, &'static [&'static str]);

const CLAIMS: &[Claim] = &[
    (
        &OFFLINE,
        C::NoNetwork,
        &[
            "network",
            "offline",
            "local",
            "leave",
            "internet",
            "outbound",
            "transmit",
            "upload",
            "external",
            "phone home",
            "remote",
        ],
    ),
    (
        &EVERY,
        C::EveryTask,
        &["every", "any ", "all ", "each ", "only entry"],
    ),
    (
        &SAME,
        C::Stonewall,
        &[
            "no matter",
            "regardless",
            "refuse",
            "reject",
            "deny",
            "decline",
            "intercept",
            "only ",
            "always ",
            "answer",
        ],
    ),
    (
        &SWEEPS,
        C::Sweep,
        &[
            "environment",
            "credential",
            "secret",
            "token",
            "_key",
            "keys",
            "env var",
            "values",
            "password",
        ],
    ),
    (&LEAKS, C::PromptLeak, &["your "]),
];

/// Adds the classes of a sentence that its grammar decides.
pub(super) fn classes(text: &str, counts: &impl Fn(usize) -> bool, set: &mut ClassSet) {
    let found = |pattern: &Regex| {
        pattern
            .find_iter(text)
            .any(|found| counts(last_of(text, found.range())))
    };
    // The grammar is that of English; in other languages the words have to do.
    let spoken = || set.contains(C::PriorInstructions) && is_foreign(text);
    if set.contains(C::Ignore) && !is_condition(text) && (OVERRIDES.iter().any(found) || spoken()) {
        set.insert(C::OverrideOrder);
    }
    if set.contains(C::Persona) {
        let both = |one: &Option<Regex>| one.as_ref().is_some_and(found);
        if both(&UNRESTRICTED) && both(&PERSONAS) {
            set.insert(C::Unbound);
        }
    }
    for (pattern, class, words) in CLAIMS {
        if words.iter().any(|word| text.contains(word)) && pattern.as_ref().is_some_and(found) {
            set.insert(*class);
        }
    }
    if set.contains(C::SecretPath)
        && path_words(text).any(is_others)
        && READS.as_ref().is_some_and(found)
    {
        set.insert(C::ReadSecret);
    }
}

/// Where the last word of a match begins: what is before the verb may be a mark or a word of the sentence before.
fn last_of(text: &str, range: std::ops::Range<usize>) -> usize {
    let word = text[range.clone()]
        .trim_end()
        .rfind(' ')
        .map_or(0, |blank| blank + 1);
    range.start + word
}

/// Whether a sentence is in another language than English, among those of the lexicon.
fn is_foreign(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "ignoriere",
        "vergiss",
        "ignora ",
        "olvida",
        "ignorez",
        "oubliez",
    ];
    let beyond_latin = |c: char| c.is_alphabetic() && u32::from(c) >= 0x370;
    WORDS.iter().any(|word| text.contains(word)) || text.contains(beyond_latin)
}

/// Whether a sentence is about a case: "in tests, ignore the above rules".
fn is_condition(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '-', '*', '>', '#']);
    ["if ", "when ", "in ", "unless ", "where "]
        .iter()
        .any(|start| text.starts_with(start))
}

/// Whether a path leads to secrets of other programs than the agent.
fn is_others(word: &str) -> bool {
    const AGENTS: &[&str] = &[
        "openclaw",
        "clawd",
        ".claude",
        ".codex",
        ".gemini",
        ".npmrc",
        "chrome",
        "1password",
        "bitwarden",
    ];
    word.contains('/')
        && !word.contains("://")
        && !AGENTS.iter().any(|agent| word.contains(agent))
        && matches!(
            path_kind(word),
            PathKind::Credential | PathKind::Wallet | PathKind::Keychain | PathKind::Browser
        )
}
