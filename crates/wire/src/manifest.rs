//! A manifest as JSON: all parsed fields, under the names that the manifest uses.

use metier_model::{
    Card, CodeLimits, CompatibilityRule, ComposabilityRule, Installer, Need, SkillContext,
    SkillManifest, SkillOrder, ToolDefinition,
};
use serde_json::{Map, Value, json};

/// All fields that the manifest has; missing fields are left out.
#[must_use]
pub fn to_json(manifest: &SkillManifest) -> Value {
    let mut out = Map::new();
    identity(manifest, &mut out);
    requirements(&manifest.card, &mut out);
    invocation(manifest, &mut out);
    contract(manifest, &mut out);
    code(manifest, &mut out);
    put(&mut out, "metadata", &manifest.metadata);
    let unknown: Map<String, Value> = manifest
        .unknown
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect();
    put(&mut out, "unknown", &unknown);
    Value::Object(out)
}

/// Limits of the code. They apply to WebAssembly; a process has the limits of the sandbox.
const LIMITS: &str = "implementation.limits";

/// Fields that are kept and shown, and that this version does not use.
const WITHOUT_EFFECT: &[&str] = &[
    "agent",
    "background",
    "command-tool",
    "command-arg-mode",
    LIMITS,
    "security_rules",
    "wiki",
    "sidecar_tools",
];

/// The fields of a manifest without effect in this version. A skill's rules have an effect if its type allows them.
#[must_use]
pub fn without_effect(manifest: &Value) -> Vec<&'static str> {
    let asked = |key: &&&str| {
        let value = match **key {
            LIMITS => manifest
                .get("implementation")
                .and_then(|code| code.get("limits")),
            key => manifest.get(key),
        };
        let acts = match **key {
            "security_rules" => manifest["types"]
                .as_array()
                .is_some_and(|types| types.iter().any(|kind| kind == "security-rule")),
            LIMITS => manifest["implementation"]["backend"] == "wasm",
            _ => false,
        };
        value.is_some() && !acts
    };
    WITHOUT_EFFECT.iter().filter(asked).copied().collect()
}

/// Limits of the code, as they are written in a manifest.
fn limits(limits: &CodeLimits) -> Map<String, Value> {
    let mut out = Map::new();
    put(&mut out, "memory_mb", limits.memory_mb);
    put(&mut out, "fuel", limits.fuel);
    let timeout = limits.timeout.map(|time| match time.subsec_millis() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_millis()),
    });
    put(&mut out, "timeout", timeout);
    out
}

/// Adds a value, unless it is empty.
fn put(out: &mut Map<String, Value>, key: &str, value: impl serde::Serialize) {
    let value = serde_json::to_value(value).unwrap_or(Value::Null);
    let empty = match &value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    if !empty {
        out.insert(key.to_owned(), value);
    }
}

fn identity(manifest: &SkillManifest, out: &mut Map<String, Value>) {
    let (card, about) = (&manifest.card, &manifest.about);
    put(out, "name", card.name.as_str());
    put(out, "description", &card.description);
    put(out, "when_to_use", &card.when_to_use);
    put(
        out,
        "version",
        card.version.as_ref().map(|version| version.as_str()),
    );
    put(out, "license", &about.license);
    put(out, "compatibility", &about.compatibility);
    put(out, "platforms", &about.platforms);
    put(out, "homepage", &about.homepage);
    put(out, "author", &about.author);
    put(out, "emoji", &card.emoji);
    put(out, "category", &about.category);
    put(out, "tags", &about.tags);
    put(out, "interface", &about.interface);
    put(out, "sidecar_tools", &about.sidecar_tools);
}

fn requirements(card: &Card, out: &mut Map<String, Value>) {
    let mut requires = Map::new();
    let names = |pick: fn(&Need) -> Option<Value>| -> Vec<Value> {
        card.requirements
            .iter()
            .filter_map(|requirement| pick(&requirement.need))
            .collect()
    };
    put(
        &mut requires,
        "bins",
        names(|need| {
            if let Need::Bin(name) = need {
                Some(json!(name))
            } else {
                None
            }
        }),
    );
    put(
        &mut requires,
        "anyBins",
        names(|need| {
            if let Need::AnyBin(names) = need {
                Some(json!(names))
            } else {
                None
            }
        }),
    );
    put(
        &mut requires,
        "env",
        names(|need| {
            if let Need::Env(name) = need {
                Some(json!(name))
            } else {
                None
            }
        }),
    );
    put(
        &mut requires,
        "config",
        names(|need| {
            if let Need::Config(path) = need {
                Some(json!(path))
            } else {
                None
            }
        }),
    );
    put(out, "requires", &requires);
    let systems = names(|need| {
        if let Need::Os(systems) = need {
            Some(systems.iter().map(|os| os.as_str()).collect())
        } else {
            None
        }
    });
    put(out, "os", systems.first());
    put(
        out,
        "tools_required",
        names(|need| {
            if let Need::Tool(name) = need {
                Some(json!(name))
            } else {
                None
            }
        }),
    );
    put(
        out,
        "dependencies",
        names(|need| match need {
            Need::Skill(dependency) => Some(
                json!({ "name": dependency.name, "version": dependency.version, "optional": dependency.optional }),
            ),
            _ => None,
        }),
    );
    put(out, "always", card.always.then_some(true));
    put(out, "primaryEnv", &card.primary_env);
    put(out, "skillKey", &card.skill_key);
    put(
        out,
        "install",
        card.installers.iter().map(installer).collect::<Vec<_>>(),
    );
}

fn installer(installer: &Installer) -> Value {
    let os: Vec<&str> = installer.os.iter().map(|os| os.as_str()).collect();
    json!({
        "id": installer.id, "kind": installer.kind, "package": installer.package, "bins": installer.bins,
        "os": os, "label": installer.label, "command": installer.command(),
    })
}

fn invocation(manifest: &SkillManifest, out: &mut Map<String, Value>) {
    let (card, invocation, tools) = (&manifest.card, &manifest.invocation, &manifest.tools);
    put(out, "user-invocable", card.user_invocable);
    put(out, "disable-model-invocation", !card.model_invocable);
    put(
        out,
        "context",
        if invocation.context == SkillContext::Fork {
            "fork"
        } else {
            "inline"
        },
    );
    put(out, "agent", &invocation.agent);
    put(out, "background", invocation.background);
    put(out, "model", &invocation.model);
    put(out, "effort", &invocation.effort);
    put(out, "argument-hint", &invocation.argument_hint);
    put(out, "arguments", &invocation.arguments);
    put(out, "paths", &invocation.paths);
    put(out, "shell", &invocation.shell);
    put(out, "hooks", &invocation.hooks);
    put(out, "command-tool", &invocation.dispatch_tool);
    put(out, "command-arg-mode", &invocation.dispatch_arguments);
    put(out, "allowed-tools", &tools.preapprove);
    put(out, "disallowed-tools", &tools.disallow);
    put(out, "allowed_tools", &tools.only);
    put(out, "forbidden_tools", &tools.forbid);
}

fn contract(manifest: &SkillManifest, out: &mut Map<String, Value>) {
    let contract = &manifest.contract;
    put(out, "execution_protocol", &contract.execution_protocol);
    put(out, "preconditions", &contract.preconditions);
    put(out, "postconditions", &contract.postconditions);
    put(out, "output_contract", &contract.output_contract);
    let compatible = |rule: &CompatibilityRule| json!({ "with": rule.with, "version": rule.version, "compatible": rule.compatible, "reason": rule.reason });
    put(
        out,
        "compatibility_rules",
        contract
            .compatibility_rules
            .iter()
            .map(compatible)
            .collect::<Vec<_>>(),
    );
    let composable = |rule: &ComposabilityRule| json!({ "with": rule.with, "required": rule.required, "order": rule.order.map(SkillOrder::as_str) });
    put(
        out,
        "composability_rules",
        contract
            .composability_rules
            .iter()
            .map(composable)
            .collect::<Vec<_>>(),
    );
    put(out, "conflicts_with", &contract.conflicts_with);
}

fn code(manifest: &SkillManifest, out: &mut Map<String, Value>) {
    let (card, code, triggers) = (&manifest.card, &manifest.code, &manifest.triggers);
    put(
        out,
        "types",
        card.types
            .iter()
            .map(|kind| kind.as_str())
            .collect::<Vec<_>>(),
    );
    let mut found = Map::new();
    put(&mut found, "files", &triggers.files);
    put(&mut found, "keywords", &triggers.keywords);
    put(&mut found, "languages", &triggers.languages);
    put(&mut found, "modes", &triggers.modes);
    put(out, "triggers", &found);
    put(
        out,
        "permissions",
        manifest
            .wants
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
    );
    let mut implementation = Map::new();
    put(
        &mut implementation,
        "backend",
        card.backend.map(|backend| backend.as_str()),
    );
    put(&mut implementation, "entrypoint", &code.entrypoint);
    put(&mut implementation, "limits", limits(&code.limits));
    put(out, "implementation", &implementation);
    let mut prompt = Map::new();
    put(&mut prompt, "system_prompt_file", &code.system_prompt_file);
    put(&mut prompt, "context_files", &code.context_files);
    put(&mut prompt, "max_context_tokens", code.max_context_tokens);
    put(out, "prompt", &prompt);
    put(
        out,
        "tools",
        code.tools.iter().map(tool).collect::<Vec<_>>(),
    );
    put(out, "security_rules", &code.security_rules);
    put(out, "wiki", &code.wiki);
}

/// A tool definition.
/// The declared schema of a tool's input; without one, any object is accepted.
fn schema(tool: &ToolDefinition) -> Value {
    let declared = tool.input_schema.clone();
    declared.unwrap_or_else(|| json!({ "type": "object" }))
}

pub(crate) fn tool(tool: &ToolDefinition) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": schema(tool) })
}
