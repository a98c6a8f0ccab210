// This file holds "oxbow profile new", which writes a profile's file, and how
// the cost of one is shown.

package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/prompt"
)

// draft is a profile as it is written for the first time.
type draft struct {
	name, description        string
	extends                  []string
	projects, tags           []string
	withoutProjects, without []string
	always                   []string
	maxTokens                int
}

func (a *app) profileNewCommand() *cobra.Command {
	var d draft
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a profile into the home",
		Long: `New writes HOME/profiles/NAME.yaml, which is yours to edit. It never replaces a
file. An entry belongs to the profile when it has one of the projects and one of
the tags.`,
		Example: `  oxbow profile new vtt --project homebrew-vtt
  oxbow profile new lore --extends vtt --tag lore --description "The world"`,
		Args: args(1, 1, "the name of the profile"),
		RunE: func(_ *cobra.Command, args []string) error {
			d.name = args[0]
			return a.newProfile(d)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	fs := c.Flags()
	fs.StringVar(&d.description, "description", "", "one `SENTENCE` that says who the agent is with it")
	fs.StringArrayVar(&d.extends, "extends", nil, "a `PROFILE` whose choice is taken over")
	fs.StringArrayVar(&d.projects, "project", nil, "a `PROJECT` that is included")
	fs.StringArrayVar(&d.tags, "tag", nil, "a `TAG` that is included")
	fs.StringArrayVar(&d.withoutProjects, "without-project", nil, "a `PROJECT` that is left out")
	fs.StringArrayVar(&d.without, "without-tag", nil, "a `TAG` that is left out")
	fs.StringArrayVar(&d.always, "always", nil, "a `FILE` of the home that is always included (default SOUL.md, MEMORY.md)")
	fs.IntVar(&d.maxTokens, "max-tokens", profile.DefaultMaxTokens, "the budget of `N` tokens")
	_ = c.RegisterFlagCompletionFunc("extends", a.completeProfiles(-1))
	a.completeLabels(c)
	return c
}

// yaml writes the draft. All values are quoted, so that none is taken for a
// number, a date or a sign of YAML.
func (d *draft) yaml() string {
	var b strings.Builder
	list := func(indent, key string, values []string) {
		if len(values) == 0 {
			return
		}
		qs := make([]string, len(values))
		for i, v := range values {
			qs[i] = strconv.Quote(v)
		}
		fmt.Fprintf(&b, "%s%s: [%s]\n", indent, key, strings.Join(qs, ", "))
	}
	fmt.Fprintf(&b, "name: %s\n", strconv.Quote(d.name))
	if d.description != "" {
		fmt.Fprintf(&b, "description: %s\n", strconv.Quote(d.description))
	}
	list("", "extends", d.extends)
	for _, c := range []struct {
		key            string
		projects, tags []string
	}{{"include", d.projects, d.tags}, {"exclude", d.withoutProjects, d.without}} {
		if len(c.projects)+len(c.tags) > 0 {
			b.WriteString(c.key + ":\n")
			list("  ", "projects", c.projects)
			list("  ", "tags", c.tags)
		}
	}
	list("", "always_include", d.always)
	fmt.Fprintf(&b, "max_tokens: %d\n", d.maxTokens)
	return b.String()
}

func (a *app) newProfile(d draft) error {
	if err := profile.CheckName(d.name); err != nil {
		return badArgument(err)
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	dir := filepath.Join(home, profile.HomeDirs[0])
	file := filepath.Join(dir, d.name+".yaml")
	body := d.yaml()
	if _, err := profile.Parse(file, []byte(body), a.env.Now().Location()); err != nil {
		return badArgument(err)
	}
	set, err := a.profiles()
	if err != nil {
		return err
	}
	if old, err := set.Read(d.name); err == nil && !old.Project {
		return &hinted{fmt.Errorf("making profile %q: there is one in %s", d.name, old.File), "edit that file, or take another name"}
	}
	for _, up := range d.extends {
		if up == d.name {
			return misusef("", "profile %q cannot extend itself", d.name)
		}
		if _, err := a.resolve(up); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of profiles: %w", err)
	}
	if err := writeNew(file, body); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return &hinted{fmt.Errorf("making profile %q: there is %s already", d.name, file), "edit that file, or take another name"}
		}
		return fmt.Errorf("making profile %q: %w", d.name, err)
	}
	if a.json {
		return a.printJSON(struct {
			Name string `json:"name"`
			File string `json:"file"`
		}{d.name, file})
	}
	a.printf("Wrote %s\n", clean(file))
	a.note("oxbow profile lint %s looks it over; oxbow profile select %s shows what it selects", d.name, d.name)
	return nil
}

// writeNew writes a file that is not there yet. It takes its name when it is
// whole.
func writeNew(file, body string) error {
	if _, err := os.Lstat(file); err == nil {
		return fs.ErrExist
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(body)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(f.Name(), file) // no hard links here
	}
	return err
}

func (a *app) showBudget(b profile.Budget) error {
	room := prompt.Room(b.MaxTokens)
	if a.json {
		return a.printJSON(struct {
			profile.Budget
			Room int `json:"room"`
		}{b, room})
	}
	line := func(n int, what string) { a.printf("%8d  %s\n", n, clean(what)) }
	for _, d := range b.Documents {
		what := "document " + d.Path
		if d.Wrong != "" {
			what += ": " + d.Wrong
		}
		line(d.Tokens, what)
	}
	line(b.Fixed, "always there: the documents and the head")
	line(b.Tokens, "all of "+count(b.Entries, "entry", "entries")+" that it includes")
	line(room, fmt.Sprintf("room, by the same estimate, that max_tokens %d surely leaves", b.MaxTokens))
	if b.Fixed+b.Tokens > room {
		a.note("not all of it fits; oxbow profile select NAME --manifest shows what is cut")
	}
	return nil
}
