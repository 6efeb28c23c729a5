//! Orders to the agent that are harmful together.
//!
//! One sentence of these is often innocent: a skill may send a report, omit a detail from a summary, or work without questions. Together,
//! in one passage, they are not: to send *and* to hide it, to fetch a text *and* to obey it, to approve everything *and* to delete. Each
//! chain here is such a pair; the halves are classes of orders (see [`crate::prose`]), so that the wording does not matter.

use super::found;
use crate::{
    flow::{HostKind, RemoteHost, urls_in},
    matching::{DeclaredContext, is_aside, passage},
    prose::{ClassSet, MarkdownDocument, PhraseClass as C, Sentence, SentenceRole},
    rule::Chain,
    scan::SkillScanner,
};

/// To hide from the user.
const KEEP: &[C] = &[C::KeepFromUser, C::Hush, C::DenyWhenAsked];
/// Acts that are harmful if they are hidden.
const HARM: &[C] = &[
    C::SendTo,
    C::ReadSecret,
    C::ObeyRemote,
    C::ObeyText,
    C::Plant,
    C::Weaken,
    C::DestroyAll,
    C::OverrideOrder,
    C::Nullified,
    C::Unrestrained,
    C::NoOthers,
    C::Taken,
    C::TalkSent,
    C::Copied,
    C::Sabotage,
    C::Money,
];
/// Acts that are harmful if they are disguised.
const POSED: &[C] = &[
    C::Sabotage,
    C::Copied,
    C::Sweep,
    C::Taken,
    C::Weaken,
    C::Plant,
    C::DestroyAll,
    C::SeedAsked,
];
/// The valuable objects of an order.
const PRIVATE: &[C] = &[
    C::Secret,
    C::SecretPath,
    C::Environment,
    C::Conversation,
    C::Talk,
    C::UserData,
];

/// How many sentences and blocks around a URL may describe its content.
const AROUND: usize = 5;
const BLOCKS: u32 = 5;

/// A passage: the classes of its first sentence, and of all of it.
struct OrderPassage<'d> {
    first: &'d Sentence,
    near: &'d [Sentence],
    text: &'d str,
    content: &'d str,
    /// The classes of the sentences with orders.
    told: ClassSet,
    /// `told` and the classes of quotations, which may contain the text to be written.
    quoted: ClassSet,
    /// The classes of the sentences before and after the first one.
    around: ClassSet,
}

impl OrderPassage<'_> {
    fn has(&self, classes: &[C]) -> bool {
        classes.iter().any(|class| self.told.contains(*class))
    }

    fn first_has(&self, classes: &[C]) -> bool {
        classes
            .iter()
            .any(|class| self.first.classes.contains(*class))
    }

    /// How many sentences have one of these classes.
    fn count(&self, classes: &[C]) -> usize {
        let has = |near: &&Sentence| {
            orders(near) && classes.iter().any(|class| near.classes.contains(*class))
        };
        self.near.iter().filter(has).count()
    }

    /// Whether any sentence names a host that the skill does not introduce.
    fn near_names_stranger(&self, context: &DeclaredContext) -> bool {
        self.near.iter().any(|near| {
            let text = self.content.get(near.at.clone()).unwrap_or_default();
            urls_in(text).any(|(_, url)| is_stranger(url, context))
        })
    }

    /// Whether the first sentence names a host that the skill does not introduce.
    fn names_stranger(&self, context: &DeclaredContext) -> bool {
        urls_in(self.text).any(|(_, url)| is_stranger(url, context))
    }
}

fn is_stranger(url: &str, context: &DeclaredContext) -> bool {
    RemoteHost::of(url).is_some_and(|host| {
        !matches!(
            host.kind,
            HostKind::Known | HostKind::Code | HostKind::Local
        ) && !context.is_related(&host)
    })
}

fn orders(sentence: &Sentence) -> bool {
    matches!(
        sentence.role,
        SentenceRole::Instruction | SentenceRole::Table
    )
}

/// Reports chains of orders in a document.
pub(super) fn look(
    scanner: &mut SkillScanner<'_>,
    index: usize,
    document: &MarkdownDocument,
    context: &DeclaredContext,
) {
    let content = std::rc::Rc::clone(&scanner.texts.0[index].content);
    let encoded = scanner.texts.0[index].encoded.is_some();
    let aside = is_aside(&scanner.texts.0[index].file);
    let mut reported: Vec<Chain> = Vec::new();
    for (position, first) in document.sentences.iter().enumerate() {
        if first.classes.is_empty() || !orders(first) {
            continue;
        }
        let near = passage(&document.sentences, position);
        let quoted = |near: &&Sentence| orders(near) || near.role == SentenceRole::Quotation;
        let passage = OrderPassage {
            first,
            near,
            text: content.get(first.at.clone()).unwrap_or_default(),
            content: &content,
            told: ClassSet::of(near.iter().filter(|near| orders(near))),
            quoted: ClassSet::of(near.iter().filter(quoted)),
            around: ClassSet::of(
                document.sentences[position.saturating_sub(AROUND)..]
                    .iter()
                    .take(2 * AROUND)
                    .filter(|near| orders(near) && near.block.abs_diff(first.block) < BLOCKS),
            ),
        };
        for (chain, holds) in CHAINS {
            if reported.contains(chain) || !holds(&passage, context) {
                continue;
            }
            reported.push(*chain);
            let place = scanner.texts.place(index, first.at.start);
            let evidence = passage.text.replace('\n', " ");
            // "Virus scanner" counts as a word of defence, but here it is overridden.
            let defends = passage.told.contains(C::Threat) && *chain != Chain::Disarms;
            let milder = (defends || aside) && !encoded;
            found(scanner, *chain, place, &evidence, "", milder);
        }
    }
}

type PassageTest = fn(&OrderPassage<'_>, &DeclaredContext) -> bool;

/// The chains, and the conditions for each.
const CHAINS: &[(Chain, PassageTest)] = &[
    (Chain::HiddenAct, |passage, context| {
        let denies = passage.has(&[C::DenyWhenAsked])
            && passage.has(&[C::KeepFromUser, C::Hush])
            && passage.first_has(KEEP);
        let keeps = passage.first_has(KEEP) || passage.near.iter().take(3).any(keeps);
        let poses = [C::Pose, C::FalseReport];
        let covers = passage.has(&poses) || passage.has(&[C::DenyWhenAsked]);
        let posed =
            covers && passage.has(POSED) && (passage.first_has(POSED) || passage.first_has(&poses));
        denies
            || posed
            || keeps
                && (passage.first_has(HARM)
                    || sends_privately(passage) && passage.names_stranger(context)
                    || names_hidden_file(passage.text))
            || passage.first_has(&[C::KeepFromUser]) && passage.count(HARM) > 0
            || passage.first_has(&[C::Weaken])
            || passage.first_has(&[C::Run, C::Send, C::Install, C::Download])
                && passage.has(&[C::Silently])
                && passage.count(&[C::KeepFromUser, C::Hush]) > 0
    }),
    (Chain::Relay, |passage, context| {
        let sent = passage.first_has(&[C::SendTo]) && passage.first_has(&[C::Talk]);
        (sent || passage.first_has(&[C::TalkSent])) && passage.names_stranger(context)
    }),
    (Chain::ObeyAnything, |passage, context| {
        let remote = passage.first_has(&[C::ObeyRemote]) && passage.names_stranger(context);
        let blindly = passage.has(&[C::ObeyBlindly, C::NoConsent, C::SelfApproval])
            || passage.has(KEEP)
            || passage.first_has(&[C::ShadyUrl])
            || passage
                .near
                .iter()
                .take(2)
                .any(|near| near.classes.contains(C::Always));
        let text = passage.first_has(&[C::ObeyText]);
        let fetched = passage.first_has(&[C::GetFrom, C::Download])
            && passage.has(&[C::ObeyBlindly])
            && passage.names_stranger(context);
        remote && blindly || text || fetched
    }),
    (Chain::ApprovesAll, |passage, _| {
        passage.first_has(&[C::SelfApproval]) && passage.count(&[C::SelfApproval]) > 1
    }),
    (Chain::Nullified, |passage, _| {
        passage.first_has(&[C::Nullified])
    }),
    (Chain::Unrestrained, |passage, _| {
        let both = [C::Unrestrained, C::Loosened];
        let unbound = [C::OverrideOrder, C::Nullified, C::SelfApproval];
        passage.first_has(&[C::Unrestrained])
            || passage.first_has(&[C::Loosened])
                && (passage.count(&both) > 2 || passage.has(&unbound))
    }),
    (Chain::InALink, |passage, context| {
        let about = |classes: &[C]| classes.iter().any(|class| passage.around.contains(*class));
        passage.first_has(&[C::ForeignUrl, C::ShadyUrl])
            && ["](", " link", "picture", "image", " url", "query"]
                .iter()
                .any(|sign| passage.text.contains(sign))
            && (about(PRIVATE) || names_secret_variable(passage.text))
            && about(&[C::IntoAddress, C::Carry, C::Send])
            && passage.names_stranger(context)
            && has_slot(passage.text)
    }),
    (Chain::AsksForSeed, |passage, context| {
        let near = passage.near.iter().take(4).filter(|near| orders(near));
        let goes = ClassSet::of(near);
        passage.first_has(&[C::SeedAsked])
            && [C::ForeignUrl, C::ShadyUrl]
                .iter()
                .any(|class| goes.contains(*class))
            && passage.near_names_stranger(context)
    }),
    (Chain::PasteBlind, |passage, context| {
        passage.first_has(&[C::RunBox])
            && passage.has(&[C::Paste])
            && passage.has(&[C::Clipboard])
            && passage.near_names_stranger(context)
    }),
    (Chain::Disarms, |passage, _| {
        passage.has(&[C::Disarm])
            && passage.first_has(&[C::Download, C::Install, C::Run])
            && passage.has(&[C::AnyUrl])
            && passage.has(&[C::Binary])
    }),
    (Chain::OrderInData, |passage, _| {
        passage.first.role == SentenceRole::Table
            && passage.first_has(&[C::ToAgent])
            && passage.first_has(&[
                C::Run,
                C::Send,
                C::SendTo,
                C::Collect,
                C::Download,
                C::KeepFromUser,
                C::Hush,
                C::AnyUrl,
            ])
    }),
    (Chain::HiddenOrder, |passage, _| {
        let harms = [
            C::ObeyRemote,
            C::SelfApproval,
            C::Hush,
            C::KeepFromUser,
            C::NoConsent,
        ];
        let fetches =
            passage.quoted.contains(C::Download) && passage.quoted.contains(C::ForeignUrl);
        let hides = harms.iter().any(|class| passage.quoted.contains(*class));
        passage.first_has(&[C::Plant])
            && passage.first.classes.contains(C::AgentFiles)
            && (hides || fetches)
    }),
];

fn keeps(sentence: &Sentence) -> bool {
    orders(sentence) && KEEP.iter().any(|class| sentence.classes.contains(*class))
}

/// Whether private data is sent.
fn sends_privately(passage: &OrderPassage<'_>) -> bool {
    passage.first_has(&[C::Send, C::Carry]) && passage.first_has(PRIVATE)
}

/// Whether a text names a hidden file that is not the skill's: `~/.x/run.sh`, `/tmp/.spool`.
fn names_hidden_file(text: &str) -> bool {
    const PLACES: &[&str] = &["/tmp/.", "/var/tmp/.", "/dev/shm/"];
    let ends = |end: &str| {
        [".sh", ".py", ".js", ".rb", ".pl", ".bin"]
            .iter()
            .any(|e| end.ends_with(e))
    };
    text.split(|c: char| c.is_whitespace() || "`\"'(),;".contains(c))
        .any(|word| {
            let word = word.trim_end_matches(['.', ':', '/']);
            PLACES.iter().any(|place| word.starts_with(place))
                || word.starts_with("~/.") && ends(word)
        })
}

/// Whether a text names a variable that contains a secret: `GITHUB_TOKEN`.
fn names_secret_variable(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .any(|word| {
            word.contains('_')
                && ["_TOKEN", "_KEY", "_SECRET", "_PASSWORD"]
                    .iter()
                    .any(|end| word.ends_with(end))
        })
}

/// Whether a URL in a text has a placeholder: `?d=DATA`, `?q={text}`.
fn has_slot(text: &str) -> bool {
    urls_in(text).any(|(at, url)| {
        let rest = &text[at..text.floor_char_boundary((at + url.len() + 40).min(text.len()))];
        rest.split_once('?').is_some_and(|(_, query)| {
            query.split(['&', ' ', ')', '`']).any(|pair| {
                pair.split_once('=').is_some_and(|(_, value)| {
                    value.is_empty()
                        || value.starts_with(['{', '<', '$', '[', '.', '%', '…'])
                        || !value.is_empty()
                            && value.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
                })
            })
        })
    })
}

/// The text of a skill claims every request, and excludes other skills.
pub(super) fn only_skill(scanner: &mut SkillScanner<'_>, documents: &[(usize, MarkdownDocument)]) {
    let told = |classes: &[C]| {
        documents.iter().find_map(|(index, document)| {
            let has = |sentence: &&Sentence| {
                let says = |class: &C| {
                    sentence.classes.contains(*class) || sentence.denied.contains(*class)
                };
                // "Other skills must not be used" is a prohibition.
                (orders(sentence) || sentence.role == SentenceRole::Warning)
                    && classes.iter().any(says)
            };
            let sentence = document.sentences.iter().find(has)?;
            Some((*index, sentence.at.clone()))
        })
    };
    let (Some(_), Some((index, at))) = (told(&[C::EveryTask]), told(&[C::NoOthers])) else {
        return;
    };
    let place = scanner.texts.place(index, at.start);
    let content = &scanner.texts.0[index].content;
    let evidence = content.get(at).unwrap_or_default().replace('\n', " ");
    found(scanner, Chain::OnlySkill, place, &evidence, "", false);
}
