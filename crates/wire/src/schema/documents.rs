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
        "What `metier --json` prints",
        OverviewDocument<'static>
    ),
    document!("add", "What `metier add --json` prints", InstallDocument),
    document!(
        "agent",
        "What `metier agent --json` prints",
        AnswerDocument<'static>
    ),
    document!("call", "What `metier call --json` prints", CallDocument),
    document!(
        "chat",
        "What `metier chat --list --json` prints",
        ConversationsDocument
    ),
    document!(
        "check",
        "What `metier check --json` prints",
        CheckDocument<'static>
    ),
    text!(
        "completions",
        "What `metier completions --json` prints",
        "script"
    ),
    document!(
        "compose",
        "What `metier compose --json` prints",
        ComposeDocument<'static>
    ),
    document!(
        "config",
        "What `metier config --json` prints",
        ConfigDocument,
        ConfigValue,
        ConfigChangeDocument,
        ReferencePage
    ),
    document!(
        "deps",
        "What `metier deps --json` prints",
        DepsDocument<'static>,
        DepsTreeDocument
    ),
    document!(
        "disable",
        "What `metier disable --json` prints",
        SwitchDocument
    ),
    document!("doctor", "What `metier doctor --json` prints", Doctor),
    document!(
        "enable",
        "What `metier enable --json` prints",
        SwitchDocument
    ),
    document!(
        "error",
        "What every command prints with `--json` when it fails",
        ErrorDocument<'static>
    ),
    document!(
        "eval",
        "What `metier eval --json` prints",
        EvalDocument<'static>
    ),
    document!(
        "exec",
        "What `metier exec --json` prints",
        ExecDocument<'static>
    ),
    document!(
        "improve",
        "What `metier improve --json` prints",
        ImproveDocument<'static>
    ),
    document!("info", "What `metier info --json` prints", InfoShape),
    document!(
        "install",
        "What `metier install --json` prints",
        InstallDocument
    ),
    document!("keygen", "What `metier keygen --json` prints", KeyDocument),
    document!(
        "list",
        "What `metier list --json` prints",
        ListShape,
        SearchDocument<'static>
    ),
    document!("log", "What `metier log --json` prints", LogDocument),
    document!(
        "login",
        "What `metier login --json` prints",
        LoginDocument<'static>
    ),
    text!("man", "What `metier man --json` prints", "page", "path"),
    document!(
        "new",
        "What `metier new --json` prints",
        NewDocument<'static>
    ),
    document!(
        "outdated",
        "What `metier outdated --json` prints",
        OutdatedDocument
    ),
    document!("pack", "What `metier pack --json` prints", PackDocument),
    document!(
        "permissions",
        "What `metier permissions --json` prints",
        SkillPermissions<'static>,
        AnswersDocument
    ),
    document!(
        "profile",
        "What `metier profile --json` prints",
        ProfilesDocument
    ),
    document!(
        "prompt",
        "What `metier prompt --json` prints",
        PromptDocument<'static>
    ),
    document!(
        "publish",
        "What `metier publish --json` prints",
        PublishDocument<'static>
    ),
    document!(
        "read",
        "What `metier read --json` prints",
        ReadDocument<'static>
    ),
    document!(
        "remove",
        "What `metier remove --json` prints",
        RemoveDocument
    ),
    document!(
        "rollback",
        "What `metier rollback --json` prints",
        UpdateDocument
    ),
    document!(
        "run",
        "What `metier run --json` prints",
        AnswerDocument<'static>,
        CallDocument,
        ShowDocument
    ),
    document!(
        "scan",
        "What `metier scan --json` prints",
        ScanDocument,
        ScanMessage
    ),
    document!(
        "schema",
        "What `metier schema --json` prints",
        SchemasDocument
    ),
    document!(
        "search",
        "What `metier search --json` prints",
        SearchDocument<'static>
    ),
    document!(
        "select",
        "What `metier select --json` prints",
        SelectDocument<'static>
    ),
    document!("show", "What `metier show --json` prints", ShowDocument),
    document!(
        "sign",
        "What `metier sign --json` prints",
        SignatureDocument
    ),
    document!(
        "spawn",
        "What `metier spawn --json` prints",
        AnswerDocument<'static>
    ),
    document!("sync", "What `metier sync --json` prints", SyncDocument),
    document!("test", "What `metier test --json` prints", TestDocument),
    document!("tools", "What `metier tools --json` prints", ToolsDocument),
    document!("trust", "What `metier trust --json` prints", TrustDocument),
    document!("undo", "What `metier undo --json` prints", ChangesDocument),
    document!(
        "update",
        "What `metier update --json` prints",
        UpdateDocument
    ),
    document!(
        "validate",
        "What `metier validate --json` prints",
        ValidateDocument<'static>
    ),
    document!(
        "verify",
        "What `metier verify --json` prints",
        VerifyDocument
    ),
    document!(
        "verify-signature",
        "What `metier verify-signature --json` prints",
        SignatureDocument
    ),
    document!(
        "why",
        "What `metier why --json` prints",
        WhyDocument<'static>,
        CollisionsDocument<'static>
    ),
    document!(
        "yank",
        "What `metier yank --json` prints",
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
