//! Permissions in plain words, for the user who decides.

use metier_model::{
    Permission, Scope, Want,
    scope::CommandPattern,
    template::{self, Placeholders},
    text::with_blanks_shown,
};

/// The acts that a permission allows, in one line that hides nothing.
#[must_use]
pub fn plain(want: &Want) -> String {
    let scope = want.reach();
    let all = scope == Scope::All;
    // Escaped, not printed literally: a second line of a command must be visible as one.
    let shown = scope.to_string();
    let shown = with_blanks_shown(&shown);
    match (want.permission, all) {
        (Permission::FileRead, _) => format!("read files: {shown}"),
        (Permission::FileWrite, _) => format!("write files: {shown}"),
        (Permission::ShellExec, true) => "run any command".to_owned(),
        (Permission::ShellExec, false) => match runs_value(&scope, &[]) {
            Some(placeholder) => {
                format!("run: {shown} (the value of {placeholder} can be run as a program)")
            }
            None => format!("run: {shown}"),
        },
        (Permission::NetFetch, true) => "reach any public host on the network".to_owned(),
        (Permission::NetFetch, false) => format!("reach {shown} over the network"),
        (Permission::LlmCall, true) => "call any model, at your cost".to_owned(),
        (Permission::LlmCall, false) => format!("call the model {shown}, at your cost"),
        (Permission::GitRead, _) => format!("read the git repository {shown}"),
        (Permission::GitWrite, _) => format!("change the git repository {shown}"),
        (Permission::EnvRead, true) => "read environment variables that are not secret".to_owned(),
        (Permission::EnvRead, false) => format!("see the value of the variable {shown}"),
        (Permission::EnvWrite, true) => "set environment variables for its own programs".to_owned(),
        (Permission::EnvWrite, false) => format!("set the variable {shown} for its own programs"),
        (Permission::SkillInvoke, true) => "use any other skill".to_owned(),
        (Permission::SkillInvoke, false) => format!("use the skill {shown}"),
    }
}

/// The placeholder of a line whose value one of its programs might run.
fn runs_value(scope: &Scope, names: &[Box<str>]) -> Option<String> {
    let Scope::Command(CommandPattern::Line(line)) = scope else {
        return None;
    };
    let placeholders = Placeholders {
        names,
        declared: true,
    };
    let found = template::might_run_a_value(line, placeholders)?;
    Some(with_blanks_shown(&found.placeholder))
}

/// Whether a scope is a line that might run a value. Arguments can have any name, and their names are not known here:
/// every variable in the line counts as one. A variable in a place where no value can be inserted is a shell
/// variable; then it is not known how the others are used, so the line might run them.
pub(crate) fn might_run_a_value(scope: &Scope) -> bool {
    let Scope::Command(CommandPattern::Line(line)) = scope else {
        return false;
    };
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let names: Vec<Box<str>> = line
        .split('$')
        .skip(1)
        .map(|rest| rest.trim_start_matches('{'))
        .map(|rest| &rest[..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())])
        .filter(|name| !name.is_empty())
        .map(Box::from)
        .collect();
    let placeholders = Placeholders {
        names: &names,
        declared: true,
    };
    !template::takes_values_as_data(line, placeholders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden() {
        let show = |text: &str| plain(&text.parse().expect("a permission"));
        assert_eq!(show("shell:exec(git *)"), "run: git *");
        assert_eq!(show(r"shell:exec(a\nb)"), "run: a\\nb");
        assert_eq!(
            show("shell:exec(sqlite3 x $ARGUMENTS)"),
            "run: sqlite3 x $ARGUMENTS (the value of $ARGUMENTS can be run as a program)"
        );
        assert_eq!(show("shell:exec(ls $ARGUMENTS)"), "run: ls $ARGUMENTS");
        assert_eq!(show("file:write"), "write files: ./**");
        assert_eq!(show("net:fetch(a.io)"), "reach a.io over the network");
        assert_eq!(show("shell:exec(x\u{202e}y)"), "run: x\\u{202e}y");
        let far = format!("shell:exec(echo hello{}; rm x)", " ".repeat(3_000));
        assert_eq!(show(&far), "run: echo hello␠×3000; rm x");
        assert_eq!(show("file:read(./a\u{a0}b)"), "read files: ./a\\u{a0}b");
    }
}
