// This file implements the command "oxbow injected", which lists what hooks put before models.

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
)

func (a *app) injectedCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "injected",
		Short: "Show what hooks put before models, and what of it was used",
		Long: `Injected lists what hooks put before models, the last first: when, in which
session, at which place (start of a session, prompt, action), how strong the
match was and the floor that it was above, and the entries with their versions.
--text shows every byte of it; so does a list of one.

An entry was used when the agent wrote at least three of its rare words that
stood in the text, later in the same turn and not before. That is a matter of
words: an agent may follow a note without one of them.`,
		Example: `  oxbow injected
  oxbow injected --place prompt --since 7d --text
  oxbow injected --entry style --json
  oxbow injected --unused`,
		Args: args(0, 0, ""),
	}, injection.Injected, func(in *injection.InjectedIn, _ *flagSet, _ []string) error {
		in.Off = a.isSilent()
		return nil
	}, a.showInjected)
}

// isSilent reports whether a person has switched off hooks or injection in the working directory.
func (l *locator) isSilent() bool {
	if l.env.Getenv("OXBOW_INJECT") == "off" || l.env.Getenv("OXBOW_HOOKS") == "off" {
		return true
	}
	home, err := l.archiveHome()
	dir, werr := l.env.Getwd()
	return err == nil && werr == nil &&
		(l.offBy(injection.InjectOff, home, dir) || l.offBy(injection.HooksOff, home, dir))
}

func (t *terminal) showInjected(out injection.InjectedOut) {
	for _, it := range out.Injections {
		t.printf("%s  %s  %s\n", t.date(it.Time), t.bold(clean(it.Client+"/"+
			text.Cut(it.Session, 13))), clean(injectionText(&it.Injection)))
		for _, s := range it.Shown {
			text := shownText(s)
			if slices.Contains(it.Used, s) {
				text += " (used)"
			}
			t.printf("   %s\n", t.dim(clean(text)))
		}
		if it.Text != "" {
			for l := range strings.Lines(it.Text) {
				t.printf("   | %s\n", clean(strings.TrimRight(l, "\n")))
			}
		}
	}
	for _, c := range out.Unused {
		t.printf("%s  %s\n", t.bold(nameText(c.Name)), t.dim("shown in "+count(c.Shown, "turn", "turns")+
			", used in none"))
	}
	if total := out.Total; total.Injections > 0 && !t.quiet {
		var places []string
		for _, p := range slices.Sorted(maps.Keys(total.Places)) {
			places = append(places, fmt.Sprintf("%s %d", p, total.Places[p]))
		}
		t.printf(
			"%s\n",
			t.dim(clean(fmt.Sprintf(
				"%s (%s), %s, %d used",
				count(total.Injections, "injection", "injections"),
				strings.Join(places, ", "),
				count(total.Tokens, "token", "tokens"),
				total.Used,
			))),
		)
	}
	if len(out.Why) > 0 {
		t.showNothing(out.Why, nil)
	}
	t.showNotes(out.Notes)
	if out.More {
		t.note("there are more; --limit shows them")
	}
}

// injectionText describes an injection: its place, its reason, and its size.
func injectionText(in *session.Injection) string {
	words := []string{in.Place}
	if in.Answer != "" {
		words = append(words, in.Answer)
	}
	words = append(words, count(in.Tokens, "token", "tokens"))
	if in.G != 0 {
		words = append(words, fmt.Sprintf("strength %.2f above %.2f", in.G, in.Floor))
	}
	return strings.Join(words, ", ")
}

// shownText returns the name and the version of an entry that was shown.
func shownText(s session.Shown) string { return fmt.Sprintf("%s@%d", s.Name, s.Version) }
