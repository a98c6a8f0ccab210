// oxbow completion.

package command

import (
	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands, flags and names of entries",
		Long: `Completion prints a script for bash, zsh, fish or powershell. Load it at the
start of the shell. That for bash needs the package bash-completion, on macOS
bash-completion@2 of Homebrew and a bash of version 4.2 or later; without it, a
Tab prints "_get_comp_words_by_ref: command not found". In a query it completes
filters, too: oxbow recall project:<Tab>.`,
		Example: `  oxbow completion bash > ~/.local/share/bash-completion/completions/oxbow
  oxbow completion zsh > "${fpath[1]}/_oxbow"
  oxbow completion fish > ~/.config/fish/completions/oxbow.fish
  oxbow completion powershell | Out-String | Invoke-Expression`,
		Args:      args(1, 1, "one of bash, zsh, fish, powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, w := cmd.Root(), a.env.Stdout
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(w, true)
			case "zsh":
				return root.GenZshCompletion(w)
			case "fish":
				return root.GenFishCompletion(w, true)
			case "powershell", "pwsh":
				return root.GenPowerShellCompletionWithDesc(w)
			}
			return misusef("it writes scripts for bash, zsh, fish and powershell", "unknown shell %q", args[0])
		},
	}
}
