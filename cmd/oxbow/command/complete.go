// What the shell is offered for names, labels and profiles.

package command

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
)

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

// completeProfiles offers the names of profiles for the first n arguments, or
// for the value of a flag when n is below 0.
func (a *app) completeProfiles(n int) completer {
	return func(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if n >= 0 && len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		if set, err := a.profiles(); err == nil {
			all, _ := set.Names() // a shell has no place for errors
			if bound, err := a.boundName(); err != nil || bound != "" {
				all = slices.DeleteFunc(all, func(n string) bool { return n != bound })
			}
			for _, name := range all {
				if strings.HasPrefix(name, start) && len(names) < maxCompletions {
					names = append(names, name)
				}
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
