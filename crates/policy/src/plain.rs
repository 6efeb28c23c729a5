//! Permissions in plain words, for people who decide.

use metier_model::{Permission, Scope, Want, text::with_blanks_shown};

/// What a permission lets a skill do, in one line that shows everything and hides nothing.
#[must_use]
pub fn plain(want: &Want) -> String {
    let scope = want.reach();
    let all = scope == Scope::All;
    // As it is written, not as it would be printed: a second line of a command must be seen to be one.
    let shown = scope.to_string();
    let shown = with_blanks_shown(&shown);
    match (want.permission, all) {
        (Permission::FileRead, _) => format!("read files: {shown}"),
        (Permission::FileWrite, _) => format!("write files: {shown}"),
        (Permission::ShellExec, true) => "run any command".to_owned(),
        (Permission::ShellExec, false) => format!("run: {shown}"),
        (Permission::NetFetch, true) => "reach any public host on the network".to_owned(),
        (Permission::NetFetch, false) => format!("reach {shown} over the network"),
        (Permission::LlmCall, true) => "call any model, at your cost".to_owned(),
        (Permission::LlmCall, false) => format!("call the model {shown}, at your cost"),
        (Permission::GitRead, _) => format!("read the git repository {shown}"),
        (Permission::GitWrite, _) => format!("change the git repository {shown}"),
        (Permission::EnvRead, true) => "read environment variables that hold no secret".to_owned(),
        (Permission::EnvRead, false) => format!("see the value of the variable {shown}"),
        (Permission::EnvWrite, true) => "set environment variables for its own programs".to_owned(),
        (Permission::EnvWrite, false) => format!("set the variable {shown} for its own programs"),
        (Permission::SkillInvoke, true) => "use any other skill".to_owned(),
        (Permission::SkillInvoke, false) => format!("use the skill {shown}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden() {
        let show = |text: &str| plain(&text.parse().expect("a permission"));
        assert_eq!(show("shell:exec(git *)"), "run: git *");
        assert_eq!(show(r"shell:exec(a\nb)"), "run: a\\nb");
        assert_eq!(show("file:write"), "write files: ./**");
        assert_eq!(show("net:fetch(a.io)"), "reach a.io over the network");
        assert_eq!(show("shell:exec(x\u{202e}y)"), "run: x\\u{202e}y");
        let far = format!("shell:exec(echo hello{}; rm x)", " ".repeat(3_000));
        assert_eq!(show(&far), "run: echo hello␠×3000; rm x");
        assert_eq!(show("file:read(./a\u{a0}b)"), "read files: ./a\\u{a0}b");
    }
}
