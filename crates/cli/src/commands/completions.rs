//! `metier completions`

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{
    cli::Cli,
    failure::{Exit, Failure},
    output::Output,
};

/// Print completions for a shell
///
/// For bash: `metier completions bash > ~/.local/share/bash-completion/completions/metier`.
/// For zsh: `metier completions zsh > ~/.zfunc/_metier`, with that folder in `fpath`.
/// For fish: `metier completions fish > ~/.config/fish/completions/metier.fish`.
/// In these three shells the Tab key also completes names of skills, and keys and values of the configuration.
#[derive(clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

const BASH: &str = r#"_metier() {
    local IFS=$'\n' line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <(metier __complete "$COMP_CWORD" "${COMP_WORDS[@]}" 2>/dev/null)
    if [[ ${COMPREPLY[0]} == __files ]]; then
        compopt -o default -o filenames
        COMPREPLY=()
    fi
}
complete -F _metier metier
"#;

const ZSH: &str = r#"#compdef metier
_metier() {
    local -a lines candidates
    local line
    lines=("${(@f)$(metier __complete $((CURRENT - 1)) "${words[@]}" 2>/dev/null)}")
    if [[ ${lines[1]} == __files ]]; then
        _files
        return
    fi
    for line in "${lines[@]}"; do
        [[ -n $line ]] && candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    _describe metier candidates
}
if [[ ${funcstack[1]} == _metier ]]; then
    _metier "$@"
else
    compdef _metier metier
fi
"#;

const FISH: &str = r#"function __metier_complete
    set -l before (commandline --tokenize --cut-at-cursor --current-process)
    set -l lines (metier __complete (count $before) $before (commandline --current-token) 2>/dev/null)
    if test "$lines[1]" = __files
        __fish_complete_path (commandline --current-token)
    else
        printf '%s\n' $lines
    end
end
complete --command metier --no-files --arguments '(__metier_complete)'
"#;

pub(crate) fn run(args: &CompletionsArgs, output: &Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    match args.shell {
        Shell::Bash => script.extend(BASH.bytes()),
        Shell::Zsh => script.extend(ZSH.bytes()),
        Shell::Fish => script.extend(FISH.bytes()),
        shell => clap_complete::generate(shell, &mut Cli::command(), "metier", &mut script),
    }
    output.page("script", &script)?;
    Ok(Exit::Ok)
}
