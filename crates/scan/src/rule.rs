//! The definition of a rule.
//!
//! A rule is data: an id that never changes its meaning, a severity, a message, a fix and a condition. Its samples
//! (`tests/samples`) are texts that must match and texts that must not; a rule without both fails the tests, because a
//! pattern cannot be reviewed without examples. Conditions are written in the small language of [`RuleCondition`]; reading files,
//! data flow and splitting text into sentences happen elsewhere, once for all rules.

use crate::{
    flow::{ActKind, HostCondition, ProgramAct, SourceKind},
    prose::PhraseClass,
    report::FindingSeverity,
};

/// The kind of danger that a rule detects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Instructions that turn the agent against its user.
    PromptInjection,
    /// Text that people do not see.
    HiddenContent,
    /// Data that is sent to other hosts.
    Exfiltration,
    /// Secrets that are read or copied.
    CredentialAccess,
    /// Downloaded code that is run.
    RemoteExecution,
    /// Code that hides its purpose.
    Obfuscation,
    /// Changes that remain after the skill is removed.
    Persistence,
    /// Damage that cannot be undone.
    Destruction,
    /// More privileges than the task requires.
    Privilege,
    /// Use of the machine's resources for others.
    ResourceAbuse,
    /// Packages and registries.
    SupplyChain,
    /// Files whose content does not match their appearance.
    Packaging,
    /// Instructions that make the agent lie.
    Deception,
    /// A skill's capabilities, without evidence of harm.
    Capability,
    /// Differences between the manifest and the skill's behaviour.
    Manifest,
    /// A rule that the user or a skill added.
    Custom,
}

impl Category {
    /// The name in JSON.
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
pub struct ScanRule {
    /// `category/name`.
    pub id: &'static str,
    /// The kind of danger.
    pub category: Category,
    /// The severity without mitigating context.
    pub severity: FindingSeverity,
    /// The entry of the OWASP Agentic Skills Top 10.
    pub owasp: &'static str,
    /// The message, without details of the finding.
    pub message: &'static str,
    /// How to fix the skill.
    pub fix: &'static str,
    /// The condition.
    pub when: RuleCondition,
    /// The families of samples that its author had read; empty if that is not known. See [`ScanRule::origin`].
    pub origin: &'static [&'static str],
}

/// The origin of rules that were written from the grammar of attacks (source, channel, execution) and not from samples.
pub const GRAMMAR: &[&str] = &["grammar"];

impl ScanRule {
    /// The families of samples that the author of the rule had read. An evaluation that leaves out one family leaves out the rules that
    /// were written from it; a rule without an origin counts as written from the family in which it matches most often.
    #[must_use]
    pub const fn origin(&self) -> &'static [&'static str] {
        self.origin
    }
}

impl PartialEq for ScanRule {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// The condition of a rule.
#[derive(Debug)]
pub enum RuleCondition {
    /// A value from one of these sources reaches one of these acts.
    Flow {
        /// The sources.
        from: &'static [SourceKind],
        /// The acts.
        to: &'static [ActKind],
        /// The hosts that data is sent to or downloaded from.
        hosts: HostCondition,
    },
    /// An act that passes a test, whatever its sources.
    Act(ActKind, fn(&ProgramAct) -> bool),
    /// An instruction with a class of each group in `all` and none of `none`.
    Sentence {
        /// Groups of which each must be present.
        all: &'static [&'static [PhraseClass]],
        /// Classes that must be absent.
        none: &'static [PhraseClass],
    },
    /// Several neighbouring sentences that together have a class of each group in `all` and none of `none`.
    Passage {
        /// Groups of which each must be present.
        all: &'static [&'static [PhraseClass]],
        /// Classes that must be absent.
        none: &'static [PhraseClass],
    },
    /// A file with this oddity.
    Oddity(FileOddity),
    /// Related evidence from different places.
    Chain(Chain),
    /// A permission that the manifest does not declare.
    Undeclared,
}

/// Chains of evidence across texts and programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Chain {
    /// The user must install something from a publisher that the text does not introduce.
    LureToStranger,
    /// The user must install something from a host that impersonates another.
    LureToImpostor,
    /// The user must paste a command that downloads and runs code, or the skill requires it.
    LureCommand,
    /// The text claims that no data leaves the machine, and the code sends data.
    BrokenPromise,
    /// Secrets of several services that the text does not mention are read.
    UnexplainedSecrets,
    /// One such secret is read.
    UnexplainedSecret,
    /// The text instructs the agent to collect secrets, and one of its commands sends data.
    GatherAndSend,
    /// Unreadable data next to instructions to decode it.
    DecodeByHand,
    /// Code in a document prints decoded data.
    PrintsBlob,
    /// A request to a port that no public service uses.
    OddPort,
    /// A request to a port that no public service uses, of a host that the text does not mention.
    HiddenEndpoint,
    /// A script sends data to a host that the text does not mention.
    Undisclosed,
    /// The user must download and run a program from an unknown publisher.
    StrangerProgram,
    /// A script contains the paths of several tools' credentials.
    Harvest,
    /// A script searches for variables with secret-looking names.
    VariableSweep,
    /// A hidden file is a program that contacts other hosts or runs code.
    HiddenProgram,
    /// A tag that imitates a system tag contains instructions.
    PseudoTag,
    /// The instructions depend on a file outside the skill.
    OutsideTrigger,
    /// A script contains an address with an unusual port and contacts an unknown host.
    OddAddress,
    /// Data is sent to a host from a variable that the text does not mention.
    UnspokenVariable,
    /// Logs are deleted without mention in the text.
    CoversTracks,
    /// A folder is owned by root and world-writable.
    OpenToPlanting,
    /// A hidden document whose content does not match its name.
    HiddenDocument,
    /// The skill takes over every conversation and refuses other requests.
    Takeover,
    /// Instructions that override the user are written to a file that agents read in every session.
    PlantedOrder,
    /// The browser's storage is searched for tokens.
    BrowserStorage,
    /// A module is imported under a private name in an unexpected place.
    PrivateImport,
    /// Data is sent to a host whose name suggests an attack.
    NamedForHarm,
    /// A hook of an agent or an editor sends data to an unknown host, or runs a download.
    HookActs,
    /// A program writes a command that fetches or sends into the settings or skills of an agent.
    PlantedCommand,
    /// The user's files are encrypted and deleted.
    Ransom,
    /// Several kinds of traces are removed.
    RemovesTraces,
    /// All secrets of a workflow are sent.
    WorkflowSecrets,
    /// A link points to a host that has the name of a known publisher.
    ImpostorHost,
    /// Data from a socket is run, line by line.
    SocketShell,
    /// Several protections of the machine are disabled.
    Disarmed,
    /// The agent must do something harmful and hide it from the user, or deny it.
    HiddenAct,
    /// The agent must send the conversation to a host that the skill does not introduce.
    Relay,
    /// The agent must obey text that other people write.
    ObeyAnything,
    /// The agent must approve everything that it does.
    ApprovesAll,
    /// A text claims that the agent's rules do not apply.
    Unrestrained,
    /// A text claims that earlier instructions of the agent do not apply.
    Nullified,
    /// The seed phrase of a wallet is requested, and sent to an unknown host.
    AsksForSeed,
    /// A command that downloads and runs is placed where the system starts it.
    PlantedStart,
    /// A copy of a shell gets the rights of root.
    RootShell,
    /// A password prompt imitates the system's, and the answer is sent.
    FakePrompt,
    /// Several stores of secrets, or all of a repository, are sent to an unknown host.
    SweptAndSent,
    /// All branches of a repository are overwritten, and their backups are deleted.
    WipesRepository,
    /// The user pastes text that an unknown page put into the clipboard.
    PasteBlind,
    /// The agent must put private data into the URL of an image or a link.
    InALink,
    /// The user must override the machine's protection to run a program.
    Disarms,
    /// A row of data addresses the agent and contains instructions.
    OrderInData,
    /// Instructions that hide or download something are written where agents read them in every session.
    HiddenOrder,
    /// The skill claims every request, and excludes other skills.
    OnlySkill,
}

/// Suspicious properties of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileOddity {
    /// Tag characters, variation selectors or zero-width characters that encode text.
    SmuggledText,
    /// Characters that change the order in which text is shown.
    BidiOverride,
    /// Invisible characters within words.
    InvisibleCharacters,
    /// Letters of another alphabet that look Latin.
    LookAlikes,
    /// Escape codes for a terminal.
    TerminalCodes,
    /// A comment or hidden element of Markdown or HTML with instructions for the agent.
    HiddenInstruction,
    /// A token or tag that begins a turn of a conversation, or imitates the host.
    ChatTurn,
    /// A long run of whitespace before more text.
    Padding,
    /// Content that does not match the file name.
    WrongName,
    /// Data appended to a picture or document.
    Polyglot,
    /// Machine code.
    NativeProgram,
    /// Python bytecode without its source.
    BytecodeAlone,
    /// Python bytecode that does more than its source.
    BytecodeDiffers,
    /// Python bytecode that is loaded without checking its source.
    BytecodeUnchecked,
    /// A pickle that imports modules that can run programs.
    PickleRuns,
    /// An archive with members that are unpacked outside its folder.
    ArchiveEscape,
    /// A program or script inside an archive or document.
    ArchiveProgram,
    /// A document with macros.
    Macros,
    /// A picture or PDF that contains a script.
    ScriptInDocument,
    /// A link that points outside the skill.
    LinkOutside,
    /// A module that replaces a standard one, or that Python loads automatically.
    ShadowedModule,
    /// A setting that makes a package manager run something.
    InstallScript,
    /// A setting that makes a package manager use another registry.
    RegistryRedirect,
    /// A setting that makes an editor or tool run something when the folder is opened.
    OpensAndRuns,
    /// Agent settings that disable approval prompts or add servers and hooks.
    AgentSettings,
    /// Agent settings that disable all approvals.
    AgentUnchained,
    /// Agent settings that send the session through another host.
    RedirectedAgent,
    /// Text that decodes to a program or an instruction.
    EncodedText,
    /// A secret in the file.
    LiteralSecret,
}
