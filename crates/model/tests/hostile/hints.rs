//! A hint never breaks a skill: each one that requests a change of the file is followed here.

use metier_model::{DiagnosticCode, FileText, Files, Parsed, Strictness, parse};

/// A skill before and after the hint of this code was followed.
struct Followed {
    code: DiagnosticCode,
    before: &'static str,
    after: &'static str,
    /// A part of the hint, so that another hint of the same code is not mistaken for this one.
    hint: &'static str,
}

const fn row(
    code: DiagnosticCode,
    before: &'static str,
    after: &'static str,
    hint: &'static str,
) -> Followed {
    Followed {
        code,
        before,
        after,
        hint,
    }
}

const FOLLOWED: &[Followed] = &[
    row(
        DiagnosticCode::LeadingBlankLines,
        "\n---\nname: x\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "first line",
    ),
    row(
        DiagnosticCode::ByteOrderMark,
        "\u{feff}---\nname: x\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "without BOM",
    ),
    row(
        DiagnosticCode::DelimiterText,
        "---\nname: x\ndescription: d\n---# H\n",
        "---\nname: x\ndescription: d\n---\n# H\n",
        "on its own line",
    ),
    row(
        DiagnosticCode::SecondDocument,
        "---\nname: x\ndescription: d\n...\nname: y\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "one document",
    ),
    row(
        DiagnosticCode::FrontmatterMissing,
        "# Title\n",
        "---\nname: x\ndescription: d\n---\n# Title\n",
        "start it with",
    ),
    row(
        DiagnosticCode::FrontmatterMissing,
        "```\n---\nname: x\ndescription: d\n---\n```\n",
        "---\nname: x\ndescription: d\n---\n",
        "remove the fence",
    ),
    row(
        DiagnosticCode::FrontmatterUnclosed,
        "---\nname: x\ndescription: d\n",
        "---\nname: x\ndescription: d\n---\n",
        "after the last field",
    ),
    row(
        DiagnosticCode::FrontmatterNotMapping,
        "---\n- x\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "one `key: value`",
    ),
    row(
        DiagnosticCode::YamlSyntax,
        "---\n**x**\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "one `key: value`",
    ),
    row(
        DiagnosticCode::YamlRepaired,
        "---\nname: x\ndescription: a: b\n---\n",
        "---\nname: x\ndescription: 'a: b'\n---\n",
        "`description: 'a: b'`",
    ),
    row(
        DiagnosticCode::YamlRepaired,
        "---\nname: x\ndescription: \"a\nb\"\n---\n",
        "---\nname: x\ndescription: \"a\n  b\"\n---\n",
        "indent",
    ),
    row(
        DiagnosticCode::YamlRepaired,
        "---\nname: x\ndescription: a\nb\n---\n",
        "---\nname: x\ndescription: a\n  b\n---\n",
        "indent",
    ),
    row(
        DiagnosticCode::StrayLine,
        "---\nname: x\nb\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "remove it",
    ),
    row(
        DiagnosticCode::StrayLine,
        "---\nname: x\n<<<<<<< HEAD\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "merge",
    ),
    row(
        DiagnosticCode::ReadAsJson5,
        "---\nname: x\ndescription: d\nmetadata: {\"a\": \"b\"\n---\n",
        "---\nname: x\ndescription: d\nmetadata: {a: b}\n---\n",
        "",
    ),
    row(
        DiagnosticCode::ReadAsJson5,
        "---\nname: x\ndescription: d\nmetadata: \"{\\\"a\\\": \\\"b\\\"}\"\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  a: b\n---\n",
        "lines below it",
    ),
    row(
        DiagnosticCode::CommentCutsText,
        "---\nname: x\ndescription: d # e\n---\n",
        "---\nname: x\ndescription: \"d # e\"\n---\n",
        "in quotes",
    ),
    row(
        DiagnosticCode::DuplicateKey,
        "---\nname: x\ndescription: d\nversion: 1.0.0\nversion: 2.0.0\n---\n",
        "---\nname: x\ndescription: d\nversion: 1.0.0\n---\n",
        "remove this one",
    ),
    row(
        DiagnosticCode::DuplicateIdentity,
        "---\nname: x\nname: y\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "keep one",
    ),
    row(
        DiagnosticCode::AliasUsed,
        "---\nname: &n x\ndescription: d\nlicense: *n\n---\n",
        "---\nname: x\ndescription: d\nlicense: x\n---\n",
        "write the value out",
    ),
    row(
        DiagnosticCode::MergeKey,
        "---\nname: x\ndescription: d\n<<: {license: MIT}\n---\n",
        "---\nname: x\ndescription: d\nlicense: MIT\n---\n",
        "write the fields out",
    ),
    row(
        DiagnosticCode::TagUsed,
        "---\nname: x\ndescription: !d e\n---\n",
        "---\nname: x\ndescription: '!d e'\n---\n",
        "in quotes",
    ),
    row(
        DiagnosticCode::NameMissing,
        "---\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        DiagnosticCode::NameType,
        "---\nname: [x]\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "without brackets",
    ),
    row(
        DiagnosticCode::NameUnusable,
        "---\nname: a/b\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        DiagnosticCode::NameReserved,
        "---\nname: list_skills\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        DiagnosticCode::NameCharacters,
        "---\nname: X\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        DiagnosticCode::NameCharacters,
        "---\nname: 技能\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        DiagnosticCode::NameHyphens,
        "---\nname: x-\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        DiagnosticCode::NameFolder,
        "---\nname: y\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "or the skill",
    ),
    row(
        DiagnosticCode::DescriptionMissing,
        "---\nname: x\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "add `description:",
    ),
    row(
        DiagnosticCode::DescriptionType,
        "---\nname: x\ndescription: [d]\n---\n",
        "---\nname: x\ndescription: '[d]'\n---\n",
        "in quotes",
    ),
    row(
        DiagnosticCode::HiddenText,
        "---\nname: x\ndescription: d\u{200b}e\n---\n",
        "---\nname: x\ndescription: de\n---\n",
        "remove",
    ),
    row(
        DiagnosticCode::ControlCharacters,
        "---\nname: x\ndescription: \"d\\e\"\n---\n",
        "---\nname: x\ndescription: \"d\"\n---\n",
        "remove",
    ),
    row(
        DiagnosticCode::MetadataForm,
        "---\nname: x\ndescription: d\nmetadata: [a]\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  a: b\n---\n",
        "lines below it",
    ),
    row(
        DiagnosticCode::AllowedToolsForm,
        "---\nname: x\ndescription: d\nallowed-tools: [Read, 'Bash(git:*)', 'WebFetch(domain: a.b)']\n---\n",
        "---\nname: x\ndescription: d\nallowed-tools: 'Read Bash(git:*) WebFetch(domain: a.b)'\n---\n",
        "`allowed-tools: 'Read Bash(git:*) WebFetch(domain: a.b)'`",
    ),
    row(
        DiagnosticCode::AllowedToolsForm,
        "---\nname: x\ndescription: d\nallowed-tools: Read, Grep\n---\n",
        "---\nname: x\ndescription: d\nallowed-tools: Read Grep\n---\n",
        "`allowed-tools: Read Grep`",
    ),
    row(
        DiagnosticCode::AllowedToolsForm,
        "---\nname: x\ndescription: d\nallowed-tools:\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "remove it",
    ),
    row(
        DiagnosticCode::NonStandardField,
        "---\nname: x\ndescription: d\nargument-hint: \"[a]\"\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  argument-hint: \"[a]\"\n---\n",
        "move it below",
    ),
    row(
        DiagnosticCode::NonStandardField,
        "---\nname: x\ndescription: d\nversion: 1.2.0\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  version: 1.2.0\n---\n",
        "move it below",
    ),
    row(
        DiagnosticCode::NonStandardField,
        "---\nname: x\ndescription: d\nauthor: me\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  author: me\n---\n",
        "move it below",
    ),
    row(
        DiagnosticCode::NonStandardField,
        "---\nname: x\ndescription: d\nhomepage: a\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  homepage: a\n---\n",
        "move it below",
    ),
    row(
        DiagnosticCode::NonStandardField,
        "---\nname: x\ndescription: d\ncategory: a\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  category: a\n---\n",
        "move it below",
    ),
    row(
        DiagnosticCode::NonStandardField,
        "---\nname: x\ndescription: d\nemoji: a\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  emoji: a\n---\n",
        "move it below",
    ),
    row(
        DiagnosticCode::UnknownField,
        "---\nname: x\ndescription: d\ncolour: a\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  colour: a\n---\n",
        "below `metadata:`",
    ),
    row(
        DiagnosticCode::UnknownField,
        "---\nname: x\ndescription: d\nlicence: MIT\n---\n",
        "---\nname: x\ndescription: d\nlicense: MIT\n---\n",
        "did you mean `license`",
    ),
    row(
        DiagnosticCode::VersionForm,
        "---\nname: x\ndescription: d\nmetadata:\n  version: one\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  version: 1.2.3\n---\n",
        "`1.2.3`",
    ),
    row(
        DiagnosticCode::UnknownWord,
        "---\nname: x\ndescription: d\nrequires: {bin: [a]}\n---\n",
        "---\nname: x\ndescription: d\nrequires: {bins: [a]}\n---\n",
        "use bins",
    ),
    row(
        DiagnosticCode::PermissionUnknown,
        "---\nname: x\ndescription: d\npermissions: [shell]\n---\n",
        "---\nname: x\ndescription: d\npermissions: [shell:exec]\n---\n",
        "use one of",
    ),
    row(
        DiagnosticCode::ToolForm,
        "---\nname: x\ndescription: d\nallowed-tools: Bash(\n---\n",
        "---\nname: x\ndescription: d\nallowed-tools: Bash(git:*)\n---\n",
        "write `Read`",
    ),
];

/// Codes whose hints request no change of a SKILL.md, or that have none; those of SKILL.yaml are followed in
/// `spec/validation.md`.
const NOTHING_TO_FOLLOW: &[DiagnosticCode] = &[
    DiagnosticCode::McpServer,
    DiagnosticCode::RemoteSkill,
    DiagnosticCode::SkillFileMissing,
    DiagnosticCode::FileUnreadable,
    DiagnosticCode::FileNotRegular,
    DiagnosticCode::FileTooLarge,
    DiagnosticCode::FileNotUtf8,
    DiagnosticCode::FileNameCase,
    DiagnosticCode::FileAmbiguous,
    DiagnosticCode::SymlinkEscape,
    DiagnosticCode::FrontmatterTooLarge,
    DiagnosticCode::DelimiterSpace,
    DiagnosticCode::AliasBudget,
    DiagnosticCode::TooDeep,
    DiagnosticCode::TooManyValues,
    DiagnosticCode::NameNone,
    DiagnosticCode::NameTooLong,
    DiagnosticCode::DescriptionTooLong,
    DiagnosticCode::CompatibilityForm,
    DiagnosticCode::LicenseForm,
    DiagnosticCode::MetadataValue,
    DiagnosticCode::FieldForm,
    DiagnosticCode::VersionNotSemver,
    DiagnosticCode::FieldMissing,
    DiagnosticCode::TypeUnknown,
    DiagnosticCode::BackendUnknown,
    DiagnosticCode::EntrypointMissing,
    DiagnosticCode::EntrypointUnbuilt,
    DiagnosticCode::PromptFileMissing,
    DiagnosticCode::SecurityRuleForm,
    DiagnosticCode::TriggerForm,
    DiagnosticCode::CommandAsText,
    DiagnosticCode::NamesDisagree,
    DiagnosticCode::SidecarUnread,
    DiagnosticCode::RootUnreadable,
    DiagnosticCode::RootMissing,
    DiagnosticCode::FolderUnreadable,
    DiagnosticCode::LimitReached,
    DiagnosticCode::LinkBroken,
    DiagnosticCode::Shadowed,
    DiagnosticCode::DependencyMissing,
    DiagnosticCode::DependencyCycle,
    DiagnosticCode::ToolsUnchecked,
    DiagnosticCode::VersionNotFound,
    DiagnosticCode::WordsInstruct,
    DiagnosticCode::SelectionUnknown,
    DiagnosticCode::HookForm,
    DiagnosticCode::HookUnsupported,
    DiagnosticCode::HookHandlerMissing,
];

fn read(text: &str, mode: Strictness) -> Parsed {
    let skill_md = Some(FileText {
        name: "SKILL.md",
        text,
    });
    let folder = Some("x");
    parse(
        &Files {
            folder,
            skill_md,
            ..Files::default()
        },
        mode,
    )
}

fn has(parsed: &Parsed, code: DiagnosticCode, hint: &str) -> bool {
    let said =
        |hinted: &Option<Box<str>>| hinted.as_deref().is_some_and(|text| text.contains(hint));
    parsed
        .diagnostics
        .iter()
        .any(|found| found.code == code && said(&found.hint))
}

#[test]
fn following_a_hint_never_breaks_a_skill() {
    for Followed {
        code,
        before,
        after,
        hint,
    } in FOLLOWED
    {
        let strict = read(before, Strictness::Strict);
        assert!(
            has(&strict, *code, hint),
            "{code} {hint:?}: {:?}",
            strict.diagnostics
        );
        let followed = read(after, Strictness::Strict);
        let remains = followed.diagnostics.iter().any(|found| found.code == *code);
        assert!(!remains, "{code} remains: {:?}", followed.diagnostics);
        let (old, new) = (
            read(before, Strictness::Lenient).manifest,
            read(after, Strictness::Lenient).manifest,
        );
        let new = new.unwrap_or_else(|| panic!("{code}: the skill does not load any more"));
        let Some(mut old) = old else { continue };
        // The field that the hint is about can improve; everything else is parsed as before.
        old.metadata = new.metadata.clone();
        old.unknown = new.unknown.clone();
        match code {
            DiagnosticCode::CommentCutsText
            | DiagnosticCode::HiddenText
            | DiagnosticCode::ControlCharacters => {
                old.card.description = new.card.description.clone();
            }
            DiagnosticCode::NameCharacters
            | DiagnosticCode::NameHyphens
            | DiagnosticCode::NameFolder => {
                old.card.name = new.card.name.clone();
            }
            DiagnosticCode::UnknownField | DiagnosticCode::MergeKey => {
                old.about.license = new.about.license.clone();
            }
            DiagnosticCode::VersionForm => old.card.version = new.card.version.clone(),
            DiagnosticCode::UnknownWord => old.card.requirements = new.card.requirements.clone(),
            DiagnosticCode::PermissionUnknown => old.wants = new.wants.clone(),
            DiagnosticCode::ToolForm => old.tools = new.tools.clone(),
            _ => {}
        }
        assert_eq!(old, new, "{code}: following the hint changes the skill");
    }
}

#[test]
fn every_hint_is_followed_or_asks_for_no_change() {
    for code in DiagnosticCode::ALL {
        let is_followed = FOLLOWED.iter().any(|row| row.code == *code);
        let is_listed = NOTHING_TO_FOLLOW.contains(code);
        assert!(
            is_followed != is_listed,
            "{code}: {is_followed} {is_listed}"
        );
    }
}
