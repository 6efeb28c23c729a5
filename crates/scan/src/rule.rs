//! What a rule is.
//!
//! A rule is data: an id that never changes its meaning, what it costs, what to say, when it holds, and the samples that
//! must and must not set it off. A rule without both kinds of sample doesn't pass the tests, because nobody can review a
//! pattern by staring at it. What a rule can ask for is the small language of [`When`]; the reading of files, the
//! data flow and the sentences happen elsewhere, once for all rules.

use crate::{
    flow::{Act, ActKind, Hosts, SourceKind},
    prose::Class,
    report::Severity,
};

/// What kind of danger a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Instructions that turn the agent against its user.
    PromptInjection,
    /// Text that people don't see.
    HiddenContent,
    /// Data that leaves.
    Exfiltration,
    /// Secrets that are taken.
    CredentialAccess,
    /// Code from elsewhere that is run.
    RemoteExecution,
    /// Code that hides what it is.
    Obfuscation,
    /// What stays after the skill is gone.
    Persistence,
    /// What can't be undone.
    Destruction,
    /// More power than is needed.
    Privilege,
    /// What is bought with the user's machine.
    ResourceAbuse,
    /// Packages and registries.
    SupplyChain,
    /// Files that are not what they seem.
    Packaging,
    /// The agent is told to lie.
    Deception,
    /// What a skill is able to do.
    Capability,
    /// What the manifest says against what the skill does.
    Manifest,
    /// A user's own rule.
    Custom,
}

impl Category {
    /// As it is written in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::PromptInjection => "prompt-injection",
            Self::HiddenContent => "hidden-content",
            Self::Exfiltration => "exfiltration",
            Self::CredentialAccess => "credential-access",
            Self::RemoteExecution => "remote-execution",
            Self::Obfuscation => "obfuscation",
            Self::Persistence => "persistence",
            Self::Destruction => "destruction",
            Self::Privilege => "privilege",
            Self::ResourceAbuse => "resource-abuse",
            Self::SupplyChain => "supply-chain",
            Self::Packaging => "packaging",
            Self::Deception => "deception",
            Self::Capability => "capability",
            Self::Manifest => "manifest",
            Self::Custom => "custom",
        }
    }
}

/// A rule.
#[derive(Debug)]
pub struct Rule {
    /// Its id: `category/what`.
    pub id: &'static str,
    /// What it is about.
    pub category: Category,
    /// How bad it is when nothing speaks for it.
    pub severity: Severity,
    /// The entry of the OWASP Agentic Skills Top 10.
    pub owasp: &'static str,
    /// What happened, in a sentence without particulars.
    pub message: &'static str,
    /// What helps.
    pub fix: &'static str,
    /// When it holds.
    pub when: When,
    /// Files that set it off: each alone in a skill.
    pub hits: &'static [Sample],
    /// Files that don't.
    pub misses: &'static [Sample],
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// A file of a sample skill: its path and its text. In the text `\u{…}` escapes stand for themselves.
pub type Sample = (&'static str, &'static str);

/// When a rule holds.
#[derive(Debug)]
pub enum When {
    /// A value from one of these sources reaches one of these acts.
    Flow {
        /// Where it comes from.
        from: &'static [SourceKind],
        /// Where it goes.
        to: &'static [ActKind],
        /// Which hosts are meant, of those that are sent to or downloaded from.
        hosts: Hosts,
    },
    /// Something is done, wherever its values come from.
    Act(ActKind, fn(&Act) -> bool),
    /// A sentence that tells the agent to do something has all of these in it and none of those.
    Sentence {
        /// One of each group.
        all: &'static [&'static [Class]],
        /// None of these.
        none: &'static [Class],
    },
    /// A stretch of neighbouring sentences has all of these in it.
    Passage {
        /// One of each group.
        all: &'static [&'static [Class]],
        /// None of these.
        none: &'static [Class],
    },
    /// A file is odd in this way.
    Oddity(Oddity),
    /// Pieces of evidence from different places belong together.
    Chain(Chain),
    /// The manifest doesn't say what the skill does.
    Undeclared,
}

/// Chains of evidence across texts and programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chain {
    /// The user is led to install something from somebody who isn't introduced.
    LureToStranger,
    /// The user is led to install something from a host that poses as somebody else's.
    LureToImpostor,
    /// A command that fetches and runs is what the user is told to paste, or what nothing works without.
    LureCommand,
    /// The text says that nothing leaves the machine, and the code sends.
    BrokenPromise,
    /// Secrets of services are read that the text never speaks of.
    UnexplainedSecrets,
    /// One such secret.
    UnexplainedSecret,
    /// The text tells to gather secrets, and a command of it sends.
    GatherAndSend,
    /// A blob that says nothing, beside instructions to decode it.
    DecodeByHand,
    /// Code of a document prints what it made of a blob.
    PrintsBlob,
    /// A request goes to a port that no service of the internet uses.
    OddPort,
    /// The same, of a host that the text never mentions.
    HiddenEndpoint,
    /// A script sends to a host that the text never mentions.
    Undisclosed,
    /// A program of a stranger is to be downloaded and run.
    StrangerProgram,
    /// Several ways to take over a machine, ready to run.
    Playbook,
    /// A script knows where several tools keep their credentials.
    Harvest,
    /// A script looks for variables whose names say that they are secret.
    VariableSweep,
    /// A hidden file is a program that talks to others or runs code.
    HiddenProgram,
    /// A tag that poses as one of the system's holds orders.
    PseudoTag,
    /// What the agent is told depends on a file that the skill doesn't have.
    OutsideTrigger,
    /// A script has the address of an odd port at hand, and talks to somebody who isn't known.
    OddAddress,
    /// Data goes to where a variable says that the text never mentions.
    UnspokenVariable,
    /// Logs are deleted by a skill that never speaks of them.
    CoversTracks,
    /// A folder belongs to root and is open to everybody.
    OpenToPlanting,
    /// A document that a listing doesn't show, and that isn't what its name says.
    HiddenDocument,
    /// Every conversation is taken over, and nothing else is answered.
    Takeover,
    /// A file that agents read in every session is to get orders that take the user's say away.
    PlantedOrder,
    /// All that a browser keeps for a page is gone through for tokens.
    BrowserStorage,
    /// A module under a private name, where nobody looks for it.
    PrivateImport,
    /// Data goes to a host whose own name says what it is for.
    NamedForHarm,
}

/// How a file can be odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Oddity {
    /// Tag characters, variation selectors or zero-width bits that spell a text.
    SmuggledText,
    /// Characters that change the order in which text is shown.
    BidiOverride,
    /// Invisible characters within words.
    InvisibleCharacters,
    /// Letters of another alphabet that look like these.
    LookAlikes,
    /// Escape codes for a terminal.
    TerminalCodes,
    /// A comment or hidden element of Markdown or HTML that tells the agent something.
    HiddenInstruction,
    /// A token or tag that begins a turn of a conversation, or passes for words of the host.
    ChatTurn,
    /// A long stretch of nothing before more text.
    Padding,
    /// The content isn't what the name says.
    WrongName,
    /// Something is appended to a picture or document.
    Polyglot,
    /// A program in machine code.
    NativeProgram,
    /// Python bytecode without its source.
    BytecodeAlone,
    /// Python bytecode that does more than its source.
    BytecodeDiffers,
    /// Python bytecode that is loaded without a look at its source.
    BytecodeUnchecked,
    /// A pickle that imports what can run programs.
    PickleRuns,
    /// An archive whose members leave it.
    ArchiveEscape,
    /// A program or script within an archive or document.
    ArchiveProgram,
    /// A document with macros.
    Macros,
    /// A picture or PDF with a script in it.
    ScriptInDocument,
    /// A link that leads out of the skill.
    LinkOutside,
    /// A module that takes the place of a standard one, or that Python loads by itself.
    ShadowedModule,
    /// A package manager is told to run something.
    InstallScript,
    /// A package manager is told to fetch elsewhere.
    RegistryRedirect,
    /// An editor or tool is told to run something when the folder is opened.
    OpensAndRuns,
    /// Settings of an agent that switch its questions off or add servers and hooks.
    AgentSettings,
    /// A text decodes to a program or an instruction.
    EncodedText,
    /// A secret stands in the file.
    LiteralSecret,
}
