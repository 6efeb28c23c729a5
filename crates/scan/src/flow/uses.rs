//! The uses of programs: the input for the permissions that a skill requires.
//!
//! Rules examine [`super::ProgramAct`]s, so each is a claim about danger. Permissions require more and claim less: that `jq` is
//! started, that a table is read, that a library contacts its own service. Because the two are separate, a proposal can
//! improve without a change of findings.

use super::{
    EvaluatedLanguage, Site,
    eval::Evaluator,
    value::{FlowValue, UNKNOWN, without_symbols},
    vocabulary,
};
use crate::form::At;

/// A use of a program, file, host or variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ObservedKind {
    /// A program is started with these words, unchanged, with its folder.
    Program(String, Vec<String>),
    /// A file is read.
    Read(String),
    /// A folder is read.
    Walk(String),
    /// A file is written.
    Write(String),
    /// A host is contacted.
    Reach(String),
}

/// A use and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Used {
    /// The position.
    pub(crate) site: Site,
    /// The subject of the use.
    pub(crate) what: ObservedKind,
}

/// The maximum number of uses: enough for a proposal, limited for hostile programs.
const MOST_USES: usize = 20_000;
const MOST_WORDS: usize = 40;
const LONGEST_WORD: usize = 200;

/// The files and hosts that library functions use.
#[derive(Clone, Copy)]
enum KnownLibrary {
    /// The file of the first argument is read.
    Reads,
    /// The file of the first argument, or of `path`, is written.
    Writes,
    /// The first argument names the host.
    Reaches,
    /// The library contacts its vendor's host.
    Home(&'static str),
}
use KnownLibrary::{Home, Reaches, Reads, Writes};

/// Functions by their full name, or by its end after a dot.
#[rustfmt::skip]
const LIBRARIES: &[(&str, KnownLibrary)] = &[
    ("pandas.read_csv", Reads), ("pandas.read_excel", Reads), ("pandas.read_json", Reads), ("pandas.read_table", Reads),
    ("pandas.read_parquet", Reads), ("polars.read_csv", Reads), ("polars.read_parquet", Reads), ("numpy.loadtxt", Reads),
    ("numpy.genfromtxt", Reads), ("PIL.Image.open", Reads), ("cv2.imread", Reads), ("openpyxl.load_workbook", Reads),
    ("pypdf.PdfReader", Reads), ("PyPDF2.PdfReader", Reads), ("pdfplumber.open", Reads), ("fitz.open", Reads),
    ("docx.Document", Reads), ("pptx.Presentation", Reads), ("sharp", Reads), ("xlsx.readFile", Reads),
    (".savefig", Writes), (".to_csv", Writes), (".to_excel", Writes), (".to_parquet", Writes), (".to_json", Writes),
    (".to_html", Writes), ("cv2.imwrite", Writes), ("PIL.Image.open.save", Writes), ("PIL.Image.new.save", Writes),
    ("docx.Document.save", Writes), ("pptx.Presentation.save", Writes), ("openpyxl.Workbook.save", Writes),
    ("openpyxl.load_workbook.save", Writes), (".screenshot", Writes), (".toFile", Writes), ("xlsx.writeFile", Writes),
    ("feedparser.parse", Reaches), (".goto", Reaches), ("psycopg2.connect", Reaches), ("psycopg.connect", Reaches),
    ("pymysql.connect", Reaches), ("sqlalchemy.create_engine", Reaches), ("pymongo.MongoClient", Reaches),
    ("redis.from_url", Reaches), ("boto3.client", Home("\0")), ("boto3.resource", Home("\0")),
    ("openai.OpenAI", Home("api.openai.com")), ("openai.AsyncOpenAI", Home("api.openai.com")), ("openai", Home("api.openai.com")),
    ("anthropic.Anthropic", Home("api.anthropic.com")), ("anthropic.AsyncAnthropic", Home("api.anthropic.com")),
    ("github.Github", Home("api.github.com")), ("slack_sdk.WebClient", Home("slack.com")),
    ("@octokit/rest.Octokit", Home("api.github.com")), ("@anthropic-ai/sdk", Home("api.anthropic.com")),
    ("@slack/web-api.WebClient", Home("slack.com")), ("stripe", Home("api.stripe.com")),
];

impl Evaluator<'_> {
    /// Records a use.
    pub(super) fn uses(&mut self, what: ObservedKind, at: At) {
        if self.recording && self.used.len() < MOST_USES {
            let site = self.site(at);
            self.used.push(Used { site, what });
        }
    }

    /// Records that a program is started; functions of the same shell script are not programs.
    pub(super) fn starts(&mut self, path: &str, words: &[FlowValue], at: At) {
        if !self.recording || self.is_own_function(path) {
            return;
        }
        let cut = |text: &str| {
            let shown = without_symbols(text);
            shown.chars().take(LONGEST_WORD).collect::<String>()
        };
        let shown = words
            .iter()
            .take(MOST_WORDS)
            .map(|word| word.known().map_or_else(|| UNKNOWN.to_string(), cut))
            .collect();
        // Most PowerShell calls are built-ins.
        let own = self.language == EvaluatedLanguage::PowerShell && path.contains(['-', '.', ':']);
        let path = if own && !path.ends_with(".exe") {
            "pwsh".to_owned()
        } else {
            cut(path)
        };
        self.uses(ObservedKind::Program(path, shown), at);
    }

    /// Records the use of a library function.
    pub(super) fn library(
        &mut self,
        callee: &str,
        role: Option<vocabulary::FunctionRole>,
        on: Option<&FlowValue>,
        args: &[(Option<&str>, FlowValue)],
        at: At,
    ) {
        if !self.recording {
            return;
        }
        let first = args.iter().find(|(name, _)| name.is_none());
        let named = |words: &[&str]| {
            let found = args
                .iter()
                .find(|(name, _)| name.is_some_and(|name| words.contains(&name)));
            found.map(|(_, value)| value)
        };
        let given = first.map(|(_, value)| value);
        match role {
            Some(vocabulary::FunctionRole::Walk) => {
                let on = on.filter(|_| vocabulary::is_path(callee));
                let nothing = FlowValue::default();
                self.each(on.or(given).unwrap_or(&nothing), at, ObservedKind::Walk);
                return;
            }
            Some(vocabulary::FunctionRole::Open) => {
                let position = usize::from(!vocabulary::is_path(callee));
                let second = args.iter().filter(|(name, _)| name.is_none()).nth(position);
                let mode = named(&["mode"]).or_else(|| second.map(|(_, value)| value));
                let writes = mode
                    .and_then(FlowValue::known)
                    .is_some_and(|mode| mode.len() < 4 && mode.contains(['w', 'a', 'x']));
                if let (true, Some(path), 1) = (writes, given, position) {
                    self.each(path, at, ObservedKind::Write);
                }
                return;
            }
            // `for feed in FEEDS: requests.get(feed)`
            Some(vocabulary::FunctionRole::Request) => {
                if let Some(list) = given.filter(|value| value.items.is_some()) {
                    self.each(list, at, ObservedKind::Reach);
                }
                return;
            }
            Some(_) => return,
            None => {}
        }
        let tail = callee.rfind('.').map_or("", |dot| &callee[dot..]);
        let Some((_, library)) = LIBRARIES
            .iter()
            .find(|(name, _)| *name == callee || (name.starts_with('.') && *name == tail))
        else {
            return;
        };
        match library {
            Reads => {
                if let Some(path) = given {
                    self.each(path, at, ObservedKind::Read);
                }
            }
            Writes => {
                if let Some(path) = named(&["path", "filename"]).or(given) {
                    self.each(path, at, ObservedKind::Write);
                }
            }
            Reaches => self.each(
                given.unwrap_or(&FlowValue::default()),
                at,
                ObservedKind::Reach,
            ),
            // An explicit address takes precedence.
            Home(host) => match named(&["base_url", "baseURL", "endpoint_url"]) {
                Some(whom) => self.each(whom, at, ObservedKind::Reach),
                None => self.uses(ObservedKind::Reach((*host).to_owned()), at),
            },
        }
    }

    /// One use for each possible string of a value or its items, or one with an unknown string.
    pub(super) fn each(
        &mut self,
        value: &FlowValue,
        at: At,
        make: impl Fn(String) -> ObservedKind + Copy,
    ) {
        let items = value.items.iter().flatten().flat_map(|item| &item.texts);
        let texts: Vec<String> = value
            .texts
            .iter()
            .chain(items)
            .map(|text| without_symbols(text).chars().take(LONGEST_WORD).collect())
            .collect();
        if texts.is_empty() {
            self.uses(make(UNKNOWN.to_string()), at);
        }
        for text in texts {
            self.uses(make(text), at);
        }
    }
}
