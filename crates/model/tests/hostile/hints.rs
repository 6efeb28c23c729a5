//! A hint never breaks a skill: each one that requests a change of the file is followed here.

use metier_model::{Code, FileText, Files, Mode, Parsed, parse};

/// A skill before and after the hint of this code was followed.
struct Followed {
    code: Code,
    before: &'static str,
    after: &'static str,
    /// A part of the hint, so that another hint of the same code does not pass for this one.
    hint: &'static str,
}

const fn row(
    code: Code,
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
        Code::LeadingBlankLines,
        "\n---\nname: x\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "first line",
    ),
    row(
        Code::ByteOrderMark,
        "\u{feff}---\nname: x\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "without BOM",
    ),
    row(
        Code::DelimiterText,
        "---\nname: x\ndescription: d\n---# H\n",
        "---\nname: x\ndescription: d\n---\n# H\n",
        "on its own line",
    ),
    row(
        Code::SecondDocument,
        "---\nname: x\ndescription: d\n...\nname: y\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "one document",
    ),
    row(
        Code::FrontmatterMissing,
        "# Title\n",
        "---\nname: x\ndescription: d\n---\n# Title\n",
        "start it with",
    ),
    row(
        Code::FrontmatterMissing,
        "```\n---\nname: x\ndescription: d\n---\n```\n",
        "---\nname: x\ndescription: d\n---\n",
        "remove the fence",
    ),
    row(
        Code::FrontmatterUnclosed,
        "---\nname: x\ndescription: d\n",
        "---\nname: x\ndescription: d\n---\n",
        "after the last field",
    ),
    row(
        Code::FrontmatterNotMapping,
        "---\n- x\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "one `key: value`",
    ),
    row(
        Code::YamlSyntax,
        "---\n**x**\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "one `key: value`",
    ),
    row(
        Code::YamlRepaired,
        "---\nname: x\ndescription: a: b\n---\n",
        "---\nname: x\ndescription: 'a: b'\n---\n",
        "`description: 'a: b'`",
    ),
    row(
        Code::YamlRepaired,
        "---\nname: x\ndescription: \"a\nb\"\n---\n",
        "---\nname: x\ndescription: \"a\n  b\"\n---\n",
        "indent",
    ),
    row(
        Code::YamlRepaired,
        "---\nname: x\ndescription: a\nb\n---\n",
        "---\nname: x\ndescription: a\n  b\n---\n",
        "indent",
    ),
    row(
        Code::StrayLine,
        "---\nname: x\nb\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "remove it",
    ),
    row(
        Code::StrayLine,
        "---\nname: x\n<<<<<<< HEAD\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "merge",
    ),
    row(
        Code::ReadAsJson5,
        "---\nname: x\ndescription: d\nmetadata: {\"a\": \"b\"\n---\n",
        "---\nname: x\ndescription: d\nmetadata: {a: b}\n---\n",
        "",
    ),
    row(
        Code::ReadAsJson5,
        "---\nname: x\ndescription: d\nmetadata: \"{\\\"a\\\": \\\"b\\\"}\"\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  a: b\n---\n",
        "lines below it",
    ),
    row(
        Code::CommentCutsText,
        "---\nname: x\ndescription: d # e\n---\n",
        "---\nname: x\ndescription: \"d # e\"\n---\n",
        "in quotes",
    ),
    row(
        Code::DuplicateKey,
        "---\nname: x\ndescription: d\nversion: 1.0.0\nversion: 2.0.0\n---\n",
        "---\nname: x\ndescription: d\nversion: 1.0.0\n---\n",
        "remove this one",
    ),
    row(
        Code::DuplicateIdentity,
        "---\nname: x\nname: y\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "keep one",
    ),
    row(
        Code::AliasUsed,
        "---\nname: &n x\ndescription: d\nlicense: *n\n---\n",
        "---\nname: x\ndescription: d\nlicense: x\n---\n",
        "write the value out",
    ),
    row(
        Code::MergeKey,
        "---\nname: x\ndescription: d\n<<: {license: MIT}\n---\n",
        "---\nname: x\ndescription: d\nlicense: MIT\n---\n",
        "write the fields out",
    ),
    row(
        Code::TagUsed,
        "---\nname: x\ndescription: !d e\n---\n",
        "---\nname: x\ndescription: '!d e'\n---\n",
        "in quotes",
    ),
    row(
        Code::NameMissing,
        "---\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        Code::NameType,
        "---\nname: [x]\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "without brackets",
    ),
    row(
        Code::NameUnusable,
        "---\nname: a/b\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        Code::NameReserved,
        "---\nname: list_skills\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        Code::NameCharacters,
        "---\nname: X\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        Code::NameCharacters,
        "---\nname: 技能\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        Code::NameHyphens,
        "---\nname: x-\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "`name: x`",
    ),
    row(
        Code::NameFolder,
        "---\nname: y\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "or the skill",
    ),
    row(
        Code::DescriptionMissing,
        "---\nname: x\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "add `description:",
    ),
    row(
        Code::DescriptionType,
        "---\nname: x\ndescription: [d]\n---\n",
        "---\nname: x\ndescription: '[d]'\n---\n",
        "in quotes",
    ),
    row(
        Code::HiddenText,
        "---\nname: x\ndescription: d\u{200b}e\n---\n",
        "---\nname: x\ndescription: de\n---\n",
        "remove",
    ),
    row(
        Code::ControlCharacters,
        "---\nname: x\ndescription: \"d\\e\"\n---\n",
        "---\nname: x\ndescription: \"d\"\n---\n",
        "remove",
    ),
    row(
        Code::MetadataForm,
        "---\nname: x\ndescription: d\nmetadata: [a]\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  a: b\n---\n",
        "lines below it",
    ),
    row(
        Code::AllowedToolsForm,
        "---\nname: x\ndescription: d\nallowed-tools: [Read, 'Bash(git:*)', 'WebFetch(domain: a.b)']\n---\n",
        "---\nname: x\ndescription: d\nallowed-tools: 'Read Bash(git:*) WebFetch(domain: a.b)'\n---\n",
        "`allowed-tools: 'Read Bash(git:*) WebFetch(domain: a.b)'`",
    ),
    row(
        Code::AllowedToolsForm,
        "---\nname: x\ndescription: d\nallowed-tools: Read, Grep\n---\n",
        "---\nname: x\ndescription: d\nallowed-tools: Read Grep\n---\n",
        "`allowed-tools: Read Grep`",
    ),
    row(
        Code::AllowedToolsForm,
        "---\nname: x\ndescription: d\nallowed-tools:\n---\n",
        "---\nname: x\ndescription: d\n---\n",
        "remove it",
    ),
    row(
        Code::NonStandardField,
        "---\nname: x\ndescription: d\nargument-hint: \"[a]\"\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  argument-hint: \"[a]\"\n---\n",
        "move it below",
    ),
    row(
        Code::NonStandardField,
        "---\nname: x\ndescription: d\nversion: 1.2.0\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  version: 1.2.0\n---\n",
        "move it below",
    ),
    row(
        Code::NonStandardField,
        "---\nname: x\ndescription: d\nauthor: me\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  author: me\n---\n",
        "move it below",
    ),
    row(
        Code::NonStandardField,
        "---\nname: x\ndescription: d\nhomepage: a\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  homepage: a\n---\n",
        "move it below",
    ),
    row(
        Code::NonStandardField,
        "---\nname: x\ndescription: d\ncategory: a\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  category: a\n---\n",
        "move it below",
    ),
    row(
        Code::NonStandardField,
        "---\nname: x\ndescription: d\nemoji: a\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  emoji: a\n---\n",
        "move it below",
    ),
    row(
        Code::UnknownField,
        "---\nname: x\ndescription: d\ncolour: a\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  colour: a\n---\n",
        "below `metadata:`",
    ),
    row(
        Code::UnknownField,
        "---\nname: x\ndescription: d\nlicence: MIT\n---\n",
        "---\nname: x\ndescription: d\nlicense: MIT\n---\n",
        "did you mean `license`",
    ),
    row(
        Code::VersionForm,
        "---\nname: x\ndescription: d\nmetadata:\n  version: one\n---\n",
        "---\nname: x\ndescription: d\nmetadata:\n  version: 1.2.3\n---\n",
        "`1.2.3`",
    ),
    row(
        Code::UnknownWord,
        "---\nname: x\ndescription: d\nrequires: {bin: [a]}\n---\n",
        "---\nname: x\ndescription: d\nrequires: {bins: [a]}\n---\n",
        "use bins",
    ),
    row(
        Code::PermissionUnknown,
        "---\nname: x\ndescription: d\npermissions: [shell]\n---\n",
        "---\nname: x\ndescription: d\npermissions: [shell:exec]\n---\n",
        "use one of",
    ),
    row(
        Code::ToolForm,
        "---\nname: x\ndescription: d\nallowed-tools: Bash(\n---\n",
        "---\nname: x\ndescription: d\nallowed-tools: Bash(git:*)\n---\n",
        "write `Read`",
    ),
];

/// Codes whose hints request no change of a SKILL.md, or that have none; those of SKILL.yaml are followed in
/// `spec/validation.md`.
const NOTHING_TO_FOLLOW: &[Code] = &[
    Code::SkillFileMissing,
    Code::FileUnreadable,
    Code::FileNotRegular,
    Code::FileTooLarge,
    Code::FileNotUtf8,
    Code::FileNameCase,
    Code::FileAmbiguous,
    Code::SymlinkEscape,
    Code::FrontmatterTooLarge,
    Code::DelimiterSpace,
    Code::AliasBudget,
    Code::TooDeep,
    Code::TooManyValues,
    Code::NameNone,
    Code::NameTooLong,
    Code::DescriptionTooLong,
    Code::CompatibilityForm,
    Code::LicenseForm,
    Code::MetadataValue,
    Code::FieldForm,
    Code::VersionNotSemver,
    Code::FieldMissing,
    Code::TypeUnknown,
    Code::BackendUnknown,
    Code::EntrypointMissing,
    Code::EntrypointUnbuilt,
    Code::PromptFileMissing,
    Code::SecurityRuleForm,
    Code::TriggerForm,
    Code::CommandAsText,
    Code::NamesDisagree,
    Code::SidecarUnread,
    Code::RootUnreadable,
    Code::RootMissing,
    Code::FolderUnreadable,
    Code::LimitReached,
    Code::LinkBroken,
    Code::Shadowed,
    Code::DependencyMissing,
    Code::DependencyCycle,
    Code::ToolsUnchecked,
    Code::VersionNotFound,
    Code::WordsInstruct,
    Code::SelectionUnknown,
    Code::HookForm,
    Code::HookUnsupported,
    Code::HookHandlerMissing,
];

fn read(text: &str, mode: Mode) -> Parsed {
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

fn has(parsed: &Parsed, code: Code, hint: &str) -> bool {
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
        let strict = read(before, Mode::Strict);
        assert!(
            has(&strict, *code, hint),
            "{code} {hint:?}: {:?}",
            strict.diagnostics
        );
        let followed = read(after, Mode::Strict);
        let remains = followed.diagnostics.iter().any(|found| found.code == *code);
        assert!(!remains, "{code} remains: {:?}", followed.diagnostics);
        let (old, new) = (
            read(before, Mode::Lenient).manifest,
            read(after, Mode::Lenient).manifest,
        );
        let new = new.unwrap_or_else(|| panic!("{code}: the skill does not load any more"));
        let Some(mut old) = old else { continue };
        // The subject of the hint can improve; everything else is read as before.
        old.metadata = new.metadata.clone();
        old.unknown = new.unknown.clone();
        match code {
            Code::CommentCutsText | Code::HiddenText | Code::ControlCharacters => {
                old.card.description = new.card.description.clone();
            }
            Code::NameCharacters | Code::NameHyphens | Code::NameFolder => {
                old.card.name = new.card.name.clone();
            }
            Code::UnknownField | Code::MergeKey => old.about.license = new.about.license.clone(),
            Code::VersionForm => old.card.version = new.card.version.clone(),
            Code::UnknownWord => old.card.requirements = new.card.requirements.clone(),
            Code::PermissionUnknown => old.wants = new.wants.clone(),
            Code::ToolForm => old.tools = new.tools.clone(),
            _ => {}
        }
        assert_eq!(old, new, "{code}: following the hint changes the skill");
    }
}

#[test]
fn every_hint_is_followed_or_asks_for_no_change() {
    for code in Code::ALL {
        let is_followed = FOLLOWED.iter().any(|row| row.code == *code);
        let is_listed = NOTHING_TO_FOLLOW.contains(code);
        assert!(
            is_followed != is_listed,
            "{code}: {is_followed} {is_listed}"
        );
    }
}
