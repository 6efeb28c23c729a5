//! The tokens of chat templates and the tags of hosts that no foreign text may contain. [`crate::model_text`] escapes
//! them.
//!
//! Names of tags are compared without case, `_`, `-` and `:`, and with look-alike letters folded; see `name_of`
//! there.

/// metier's own frames around text for a model.
pub(crate) const FRAMES: &[&str] = &[
    "skill_content",
    "skill_resources",
    "available_skills",
    "conversation_summary",
];

/// Tags that hosts of models use to mark text of the system, a tool or the model itself, each with or without a
/// namespace.
pub(crate) const TAGS: &[&str] = &[
    "additional_metadata",
    "assistant",
    "attached_files",
    "bash_input",
    "bash_stderr",
    "bash_stdout",
    "claude_background_info",
    "command_args",
    "command_message",
    "command_name",
    "developer",
    "developer_message",
    "environment_context",
    "environment_details",
    "ephemeral_message",
    "execute_result",
    "function_call",
    "function_calls",
    "function_response",
    "function_result",
    "function_results",
    "im_end",
    "im_sep",
    "im_start",
    "invoke",
    "local_command_caveat",
    "local_command_stderr",
    "local_command_stdout",
    "new_diagnostics",
    "session_start_hook",
    "system",
    "system_context",
    "system_instruction",
    "system_instructions",
    "system_message",
    "system_notification",
    "system_prompt",
    "system_reminder",
    "system_warning",
    "task_notification",
    "thinking",
    "tool_call",
    "tool_calls",
    "tool_output",
    "tool_outputs",
    "tool_response",
    "tool_responses",
    "tool_result",
    "tool_results",
    "tool_use",
    "tool_use_error",
    "tools",
    "turn_aborted",
    "user_info",
    "user_instructions",
    "user_message",
    "user_prompt",
    "user_prompt_submit_hook",
    "user_query",
    "user_request",
    "user_shell_command",
];

/// Tokens of chat templates that look like a tag, spelled exactly so. Tokens that can't begin or end a turn (`<unk>`,
/// `[MASK]`) are not included: code is full of them.
pub(crate) const TOKENS: &[&str] = &[
    "ai",
    "arg_key",
    "arg_value",
    "available_tools",
    "begin_of_document",
    "begin_of_sentence",
    "begin_of_text",
    "beginning_of_sentence",
    "bos",
    "bos_token",
    "end_function_call",
    "end_function_declaration",
    "end_function_response",
    "end_of_document",
    "end_of_sentence",
    "end_of_turn",
    "end_of_text",
    "end_of_utterance",
    "endofprompt",
    "endoftext",
    "eoa",
    "eod",
    "eom",
    "eop",
    "eop_token",
    "eos",
    "eos_token",
    "eot",
    "eot_id",
    "eou",
    "fim_middle",
    "fim_pad",
    "fim_prefix",
    "fim_suffix",
    "gmask",
    "s",
    "sep",
    "sop",
    "start_function_call",
    "start_function_declaration",
    "start_function_response",
    "start_of_turn",
    "start_of_utterance",
    "sys",
    "think",
    "用户",
];

/// Tokens that a leading underscore distinguishes from a placeholder: `<_user>`.
pub(crate) const UNDERLINED: &[&str] = &["_bot", "_end", "_user"];

/// Prefixes of tokens that continue with a number or a name.
pub(crate) const NUMBERED: &[&str] = &["reserved_", "extra_id_", "special_", "seed:", "longcat_"];

/// Prefixes of tokens that continue with only a number, in angle or square brackets.
pub(crate) const COUNTED: &[&str] = &["ctrl", "tokens_unused_", "unused"];

/// Tokens of chat templates in square brackets, spelled exactly so.
pub(crate) const BRACKETED: &[&str] = &[
    "INST",
    "SYS",
    "SYSTEM_PROMPT",
    "AVAILABLE_TOOLS",
    "TOOL_CALLS",
    "TOOL_CALL_END",
    "TOOL_CALL_START",
    "TOOL_RESULTS",
    "TOOL_CONTENT",
    "CALL_ID",
    "EOT",
    "THINK",
    "MODEL_SETTINGS",
    "gMASK",
    "sMASK",
    "BOS",
    "EOS",
];

/// Tokens with an unusual form.
pub(crate) const ODD: &[&str] = &["]~b]", "]~!b[", "[e~["];

/// The ones of these tokens that never occur in honest text by accident.
pub(crate) const TURNS: &[&str] = &[
    "INST",
    "SYSTEM_PROMPT",
    "AVAILABLE_TOOLS",
    "TOOL_CALLS",
    "TOOL_RESULTS",
    "end_of_turn",
    "function_calls",
    "function_results",
    "im_end",
    "im_start",
    "start_of_turn",
    "system_reminder",
    "tool_result",
    "tool_results",
];
