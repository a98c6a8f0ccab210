// This file implements "oxbow completion", and the completion of arguments and flags in a shell.

package cli

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
)

func completionCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands, flags and names of entries",
		Long: `Completion prints a script for bash, zsh, fish or powershell. Load it at the
start of the shell. The script for bash needs the package bash-completion. On
macOS, it needs bash-completion@2 of Homebrew and bash 4.2 or later. Without
the package, Tab prints "_get_comp_words_by_ref: command not found". Completion
also works for filters in a query: oxbow recall project:<Tab>.`,
		Example: `  oxbow completion bash > ~/.local/share/bash-completion/completions/oxbow
  oxbow completion zsh > "${fpath[1]}/_oxbow"
  oxbow completion fish > ~/.config/fish/completions/oxbow.fish
  oxbow completion powershell | Out-String | Invoke-Expression`,
		Args:      requireArgCount(1, 1, "one of bash, zsh, fish, powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return writeCompletionScript(cmd.Root(), args[0], env.Stdout)
		},
	}
}

// maxCompletions is the maximum number of words that a shell is offered.
const maxCompletions = 200

// completionSource returns the words that may complete the text in the parameter start, which the user has typed so
// far. After an error it returns nothing, because a shell cannot show errors during completion.
type completionSource func(ctx context.Context, start string) []string

// completeFirstArgs returns a function that completes the first n arguments of a command. The function returns the
// words from source that begin with the typed text, at most maxCompletions. Further arguments get no completions.
//
// Some words end in a colon, such as tag: in a filter term. If there is such a word, the shell adds no space after the
// completed word, so that the person can type a value after the colon.
func completeFirstArgs(n int, source completionSource) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		then := cobra.ShellCompDirectiveNoFileComp
		if len(args) >= n || source == nil {
			return nil, then
		}
		start = strings.TrimPrefix(start, nonFlagArgPrefix)
		found := slices.DeleteFunc(source(cmd.Context(), start), func(w string) bool {
			return !strings.HasPrefix(w, start) || hasShellSyntax(w)
		})
		slices.Sort(found)
		if slices.ContainsFunc(found, func(w string) bool { return strings.HasSuffix(w, ":") }) {
			then |= cobra.ShellCompDirectiveNoSpace
		}
		return found[:min(len(found), maxCompletions)], then
	}
}

// hasShellSyntax reports whether a completion contains characters with a special meaning in a shell. Bash inserts the
// common beginning of several completions without quotes, so such a completion could run a command.
func hasShellSyntax(word string) bool {
	return strings.ContainsAny(word, "$`;&|<>") || strings.ContainsFunc(word, unicode.IsControl)
}

// addCompletions adds completions to all commands below c and to the flags of c. The words in a command's usage line
// determine how its arguments are completed. A flag's name determines how its values are completed.
func (mem *lazyMemory) addCompletions(c *cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.ValidArgs == nil {
			sub.ValidArgsFunction = mem.argumentCompletionFunc(sub)
		}
		mem.addCompletions(sub)
	}
	flag := func(f *pflag.Flag) {
		kind, _ := pflag.UnquoteUsage(f)
		from := mem.flagValueCompletions(f.Name)
		if p, ok := f.Value.(*paramFlag); ok && len(p.param.Enum) > 0 {
			from = func(context.Context, string) []string { return slices.Clone(p.param.Enum) }
		}
		isFile := kind == "FILE" || kind == "DIR"
		// Flags for files and directories are left to the shell, which completes their names by itself.
		if from != nil || !isFile {
			_ = c.RegisterFlagCompletionFunc(f.Name, completeFirstArgs(math.MaxInt, from))
		}
	}
	c.Flags().VisitAll(flag)
	c.PersistentFlags().VisitAll(flag)
}

// argumentCompletionFunc returns the completion function for a command's arguments.
func (mem *lazyMemory) argumentCompletionFunc(c *cobra.Command) cobra.CompletionFunc {
	n := len(strings.Fields(c.Use)) - 1
	if strings.Contains(c.Use, "…") {
		n = math.MaxInt
	}
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(c.Use, w) })
	}
	switch profile := c.Parent().Name() == "profile"; {
	case has("[FILE] [FILTER"): // The arguments are a file and filter terms.
		return func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			found, then := completeFirstArgs(n, mem.completeFilterTerms)(cmd, args, start)
			return found, then &^ cobra.ShellCompDirectiveNoFileComp
		}
	case has("FILE", "PATH", "BASE"):
		return nil // Return no function, because the shell completes file names by itself.
	case has("DIR"):
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case has("FILTER", "WORDS"):
		return completeFirstArgs(n, mem.completeFilterTerms)
	case has("LABEL", "OLD"):
		return completeFirstArgs(n, mem.completeLabels)
	case c.Name() == "new":
	case profile && has("NAME", "A [B]"):
		return completeFirstArgs(n, mem.completeProfileNames)
	case has("[TEXT]"):
		return completeFirstArgs(1, mem.completeEntryNames)
	case has("NAME"):
		return completeFirstArgs(n, mem.completeEntryNames)
	}
	return cobra.NoFileCompletions
}

// flagValueCompletions returns the completions for the values of a flag, or nil if the values are not known.
func (mem *lazyMemory) flagValueCompletions(flag string) completionSource {
	fixed := func(all ...string) completionSource {
		return func(context.Context, string) []string { return slices.Clone(all) }
	}
	return map[string]completionSource{
		"project": func(ctx context.Context, _ string) []string { return mem.completeLabelValues(ctx, "project") },
		"tag":     func(ctx context.Context, _ string) []string { return mem.completeLabelValues(ctx, "tag") },
		"profile": mem.completeProfileNames,
		"extends": mem.completeProfileNames,
		"dialect": fixed(layoutNames()...),
		"to":      fixed(layoutNames()...),
		"kind":    fixed(entryKindNames()...),
		"tools":   fixed(verb.AcceptedVerbSetNames()...),
		"rank":    fixed(oxbow.RankOxbow, oxbow.RankSeed),
		"name":    mem.completeEntryNames,
		"where":   mem.completeFilterTerms,
		"filter":  mem.completeFilterTerms,
		"skill": func(context.Context, string) []string {
			set, err := mem.loadSkills()
			if err != nil {
				return nil
			}
			return set.Names()
		},
	}[flag]
}

// completeEntryNames returns at most maxCompletions names of entries that begin with the prefix in the parameter start.
func (mem *lazyMemory) completeEntryNames(ctx context.Context, start string) []string {
	out, _ := callVerb(ctx, mem, verb.EntryNames, verb.NamesIn{Prefix: start, Limit: maxCompletions})
	return out.Names
}

// completeLabels returns all labels in the form KEY:VALUE.
func (mem *lazyMemory) completeLabels(ctx context.Context, _ string) (found []string) {
	out, _ := callVerb(ctx, mem, labels.ListLabels, labels.ListLabelsIn{})
	for _, l := range out.Labels {
		found = append(found, l.Key+":"+l.Value)
	}
	return found
}

func (mem *lazyMemory) completeLabelValues(ctx context.Context, key string) (found []string) {
	for _, l := range mem.completeLabels(ctx, "") {
		if v, ok := strings.CutPrefix(l, key+":"); ok {
			found = append(found, v)
		}
	}
	return found
}

// completeFilterTerms returns filter terms that may complete the parameter start, which is the user's input. A filter
// term has the form KEY:VALUE, and may begin with + or -.
//
// If existing labels have the key in start, the result contains a term for each value of this key. For the key kind, it
// contains a term for each kind of entry. The text after the colon in start is ignored, so the result also contains
// terms that do not begin with start. If start contains no colon, the result also contains all possible keys, each with
// a colon. Values with spaces or quotes are left out, because the user would have to quote such a value and a shell
// would remove the quotes.
func (mem *lazyMemory) completeFilterTerms(ctx context.Context, start string) (filterTerms []string) {
	key := strings.TrimLeft(start, "+-")
	not := start[:len(start)-len(key)]
	key, _, valued := strings.Cut(key, ":")
	all := mem.completeLabelValues(ctx, key)
	if key == "kind" {
		all = entryKindNames()
	}
	for _, v := range all {
		if !strings.ContainsAny(v, " \t\"'") {
			filterTerms = append(filterTerms, not+key+":"+v)
		}
	}
	if !valued {
		for _, k := range []string{"after", "before", "by", "file", "has", "kind", "project", "tag"} {
			filterTerms = append(filterTerms, not+k+":")
		}
	}
	return filterTerms
}

// completeProfileNames returns the names of all profiles. If the flag --profile or $OXBOW_PROFILE restricts the run to
// one profile, it returns only that profile's name. It returns no names if the profiles cannot be loaded, or if the
// restricting profile cannot be determined.
func (mem *lazyMemory) completeProfileNames(context.Context, string) []string {
	set, err := mem.loadProfiles()
	if err != nil {
		return nil
	}
	all, _ := set.Names()
	if bound, err := mem.boundProfileName(); err != nil || bound != "" {
		all = slices.DeleteFunc(all, func(n string) bool { return n != bound })
	}
	return all
}
