// This file holds "oxbow completion", and what the shell offers for names and
// labels.

package command

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
)

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands, flags and names of entries",
		Long: `Completion prints a script for bash, zsh, fish or powershell. Load it at the
start of the shell.`,
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

type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// maxCompletions is the most names that a shell is offered.
const maxCompletions = 200

// completeName offers names of entries for the first n arguments. A memory
// that cannot be read offers nothing: a shell has no place for errors.
func (a *app) completeName(n int) completer {
	return func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := map[string]bool{}
		_ = a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
			for e, err := range m.Entries(ctx, oxbow.Filter{}) {
				if err != nil {
					return err
				}
				if strings.HasPrefix(e.Name, start) && len(names) < maxCompletions {
					names[e.Name] = true
				}
			}
			return nil
		})
		return sortedKeys(names), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeLabels offers the projects and tags there are for the flags of those
// names.
func (a *app) completeLabels(c *cobra.Command) {
	for _, key := range []string{oxbow.LabelProject, oxbow.LabelTag} {
		_ = c.RegisterFlagCompletionFunc(key, func(cmd *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
			values := map[string]bool{}
			_ = a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
				for e, err := range m.Entries(ctx, oxbow.Filter{}) {
					if err != nil {
						return err
					}
					for _, v := range e.Values(key) {
						if strings.HasPrefix(v, start) {
							values[v] = true
						}
					}
				}
				return nil
			})
			return sortedKeys(values), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
