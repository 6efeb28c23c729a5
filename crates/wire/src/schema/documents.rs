//! The documents of commands.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{NamedSchema, generator, one_of};
use crate::{
    AnswerDocument, AnswersDocument, CallDocument, ChangesDocument, CheckDocument,
    CollisionsDocument, ComposeDocument, ConfigDocument, ConfigValue, ConversationsDocument,
    DepsDocument, DepsTreeDocument, Doctor, ErrorDocument, EvalDocument, ExecDocument,
    ImproveDocument, InstallDocument, KeyDocument, LogDocument, LoginDocument, OutdatedDocument,
    PackDocument, ProfilesDocument, PromptDocument, PublishDocument, ReadDocument, RemoveDocument,
    ScanDocument, SearchDocument, SelectDocument, ShowDocument, SignatureDocument,
    SkillPermissions, SwitchDocument, SyncDocument, TestDocument, ToolsDocument, TrustDocument,
    UpdateDocument, ValidateDocument, VerifyDocument, WhyDocument, YankDocument,
    documents::{ConfigChangeDocument, NewDocument, OverviewDocument, SchemasDocument},
    info::InfoShape,
    list::ListShape,
};

/// A row of the table: a command, a description of its output, and the types.
macro_rules! document {
    ($name:literal, $about:literal, $($shape:ty),+) => {
        NamedSchema {
            name: $name,
            about: $about,
            make: || {
                let mut generator = generator();
                let shapes = vec![$(generator.subschema_for::<$shape>().to_value()),+];
                one_of(generator, shapes)
            },
        }
    };
}

/// A document with one text.
macro_rules! text {
    ($name:literal, $about:literal, $($key:literal),+) => {
        NamedSchema { name: $name, about: $about, make: || json!({ "anyOf": [$(text_in($key)),+] }) }
    };
}

/// Sorted by the name of the command.
pub(super) const DOCUMENTS: &[NamedSchema] = &[
    document!(
        "overview",
        "Output of `metier --json`",
        OverviewDocument<'static>
    ),
    document!("add", "Output of `metier add --json`", InstallDocument),
    document!(
        "agent",
        "Output of `metier agent --json`",
        AnswerDocument<'static>
    ),
    document!("call", "Output of `metier call --json`", CallDocument),
    document!(
        "chat",
        "Output of `metier chat --list --json`",
        ConversationsDocument
    ),
    document!(
        "check",
        "Output of `metier check --json`",
        CheckDocument<'static>
    ),
    text!(
        "completions",
        "Output of `metier completions --json`",
        "script"
    ),
    document!(
        "compose",
        "Output of `metier compose --json`",
        ComposeDocument<'static>
    ),
    document!(
        "config",
        "Output of `metier config --json`",
        ConfigDocument,
        ConfigValue,
        ConfigChangeDocument,
        ReferencePage
    ),
    document!(
        "deps",
        "Output of `metier deps --json`",
        DepsDocument<'static>,
        DepsTreeDocument
    ),
    document!(
        "disable",
        "Output of `metier disable --json`",
        SwitchDocument
    ),
    document!("doctor", "Output of `metier doctor --json`", Doctor),
    document!("enable", "Output of `metier enable --json`", SwitchDocument),
    document!(
        "error",
        "Output of every command with `--json` when it fails",
        ErrorDocument<'static>
    ),
    document!(
        "eval",
        "Output of `metier eval --json`",
        EvalDocument<'static>
    ),
    document!(
        "exec",
        "Output of `metier exec --json`",
        ExecDocument<'static>
    ),
    document!(
        "improve",
        "Output of `metier improve --json`",
        ImproveDocument<'static>
    ),
    document!("info", "Output of `metier info --json`", InfoShape),
    document!(
        "install",
        "Output of `metier install --json`",
        InstallDocument
    ),
    document!("keygen", "Output of `metier keygen --json`", KeyDocument),
    document!(
        "list",
        "Output of `metier list --json`",
        ListShape,
        SearchDocument<'static>
    ),
    document!("log", "Output of `metier log --json`", LogDocument),
    document!(
        "login",
        "Output of `metier login --json`",
        LoginDocument<'static>
    ),
    text!("man", "Output of `metier man --json`", "page", "path"),
    document!("new", "Output of `metier new --json`", NewDocument<'static>),
    document!(
        "outdated",
        "Output of `metier outdated --json`",
        OutdatedDocument
    ),
    document!("pack", "Output of `metier pack --json`", PackDocument),
    document!(
        "permissions",
        "Output of `metier permissions --json`",
        SkillPermissions<'static>,
        AnswersDocument
    ),
    document!(
        "profile",
        "Output of `metier profile --json`",
        ProfilesDocument
    ),
    document!(
        "prompt",
        "Output of `metier prompt --json`",
        PromptDocument<'static>
    ),
    document!(
        "publish",
        "Output of `metier publish --json`",
        PublishDocument<'static>
    ),
    document!(
        "read",
        "Output of `metier read --json`",
        ReadDocument<'static>
    ),
    document!("remove", "Output of `metier remove --json`", RemoveDocument),
    document!(
        "rollback",
        "Output of `metier rollback --json`",
        UpdateDocument
    ),
    document!(
        "run",
        "Output of `metier run --json`",
        AnswerDocument<'static>,
        CallDocument,
        ShowDocument
    ),
    document!(
        "scan",
        "Output of `metier scan --json`",
        ScanDocument,
        ScanMessage
    ),
    document!(
        "schema",
        "Output of `metier schema --json`",
        SchemasDocument
    ),
    document!(
        "search",
        "Output of `metier search --json`",
        SearchDocument<'static>
    ),
    document!(
        "select",
        "Output of `metier select --json`",
        SelectDocument<'static>
    ),
    document!("show", "Output of `metier show --json`", ShowDocument),
    document!("sign", "Output of `metier sign --json`", SignatureDocument),
    document!(
        "spawn",
        "Output of `metier spawn --json`",
        AnswerDocument<'static>
    ),
    document!("sync", "Output of `metier sync --json`", SyncDocument),
    document!("test", "Output of `metier test --json`", TestDocument),
    document!("tools", "Output of `metier tools --json`", ToolsDocument),
    document!("trust", "Output of `metier trust --json`", TrustDocument),
    document!("undo", "Output of `metier undo --json`", ChangesDocument),
    document!("update", "Output of `metier update --json`", UpdateDocument),
    document!(
        "validate",
        "Output of `metier validate --json`",
        ValidateDocument<'static>
    ),
    document!("verify", "Output of `metier verify --json`", VerifyDocument),
    document!(
        "verify-signature",
        "Output of `metier verify-signature --json`",
        SignatureDocument
    ),
    document!(
        "why",
        "Output of `metier why --json`",
        WhyDocument<'static>,
        CollisionsDocument<'static>
    ),
    document!(
        "yank",
        "Output of `metier yank --json`",
        YankDocument<'static>
    ),
];

/// `config --reference --json`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what is printed without a type")]
struct ReferencePage {
    /// The page in Markdown.
    reference: String,
}

/// `scan --revoke --json`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "it describes what is printed without a type")]
struct ScanMessage {
    /// The result, for display.
    message: String,
}

fn text_in(key: &str) -> Value {
    json!({ "type": "object", "properties": { key: { "type": "string" } }, "required": [key] })
}
