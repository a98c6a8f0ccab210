// This file holds "oxbow context": what stands before a model at the beginning
// of a conversation.

package command

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/agent/handoff"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/prompt"
	"github.com/oxbow-memory/oxbow/tool"
)

// selecting are the flags of the commands that make a selection.
type selecting struct {
	message, asOf string
	budget        int
	manifest      bool
}

func (s *selecting) addTo(c *cobra.Command, message string) {
	c.Flags().StringVar(&s.message, message, "", "the `TEXT` that it is for: what fits it ranks higher")
	c.Flags().IntVar(&s.budget, "budget", 0, "at most `N` tokens, instead of the profile's own max_tokens")
	c.Flags().StringVar(&s.asOf, "as-of", "", "the memory as it stood at this `DATE`, or after this change")
	c.Flags().BoolVar(&s.manifest, "manifest", false, "print what got in, what was cut and why, instead of the text")
}

func (a *app) contextCommand() *cobra.Command {
	var s selecting
	var take bool
	var project string
	c := &cobra.Command{
		Use:   "context",
		Short: "Print what a model should know before it begins",
		Long: `Context prints the documents that are always included, SOUL.md and MEMORY.md of
the home unless the profile says otherwise, and the entries that the profile
includes, as many as the budget holds; without a profile, of all the memory. The
same memory gives the same bytes. The budget is never exceeded: what it counts
is an estimate, and a margin for its error is left free. In a home of another
layout, it prints what the system of that layout would put before the model, in
its order and with its headers; a profile stands in the place of that.

With --handoff it takes the newest open handoff, if one waits, and opens with
it: then the handoff's profile selects, and its skills stand there too.`,
		Example: `  oxbow context
  oxbow context --profile vtt-developer --budget 8000
  oxbow context --message "fix the fog of war" --manifest
  oxbow context --profile author --as-of 2026-04-18
  oxbow context --handoff --project auto`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := a.bound()
			if err != nil {
				return err
			}
			switch {
			case take && s.manifest:
				return misusef("leave --handoff out: it would take the handoff and not show it", "--handoff and --manifest are given")
			case take:
				return a.contextFromHandoff(cmd.Context(), r, s, project)
			case project != "":
				return misusef("add --handoff", "--project says whose handoff is taken, and none is")
			}
			if r == nil {
				d, other, err := a.layout()
				if err != nil {
					return err
				}
				if other {
					return a.contextOf(cmd.Context(), d, s)
				}
				all := profile.Everything()
				r = &all
			}
			return a.selection(cmd.Context(), r, s)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	s.addTo(c, "message")
	c.Flags().BoolVar(&take, "handoff", false, "take the newest open handoff, if there is one, and open with it")
	c.Flags().StringVar(&project, "project", "", "with --handoff, only one of this `PROJECT`; auto is that of the working directory")
	return c
}

// contextFromHandoff prints the context of a session that goes on with what
// another left; the usual one when nothing waits.
func (a *app) contextFromHandoff(ctx context.Context, r *profile.Resolved, s selecting, project string) error {
	if err := s.check(); err != nil {
		return err
	}
	if r == nil {
		if d, other, err := a.layout(); err != nil {
			return err
		} else if other {
			return misusef("oxbow handoff take shows one", "--handoff means something in oxbow's own layout, or with a profile; this home is laid out as %s", d.Name)
		}
		all := profile.Everything()
		r = &all
	}
	l, err := a.loader()
	if err != nil {
		return err
	}
	l.Default = r
	if project, err = a.projectNamed(project); err != nil {
		return err
	}
	return a.with(ctx, change, func(ctx context.Context, m *oxbow.Memory) error {
		req, err := a.request(ctx, m, s)
		if err != nil {
			return err
		}
		h, err := handoff.Take(ctx, m, "", project)
		if errors.Is(err, handoff.ErrNone) {
			got, err := l.Profiles.Select(ctx, m, r, req)
			if err != nil {
				return badArgument(err)
			}
			return a.showSelection(&got, false)
		}
		if err != nil {
			return badArgument(err)
		}
		o := l.Load(ctx, m, h, a.handoffFiles(h), req)
		out := struct {
			Handoff handoffOut `json:"handoff"`
			Text    string     `json:"text"`
		}{openingOf(&o), o.Text()}
		return a.showContext(out, out.Text, "", false)
	})
}

// contextOf prints what the system of another layout would put before the
// model.
func (a *app) contextOf(ctx context.Context, d dialect.Dialect, s selecting) error {
	if s.budget < 0 {
		return misusef("leave it out for no bound", "--budget %d is less than 1 token", s.budget)
	}
	if err := s.check(); err != nil {
		return err
	}
	if s.asOf != "" {
		return misusef("leave it out, or choose a profile with --profile", "--as-of means nothing to the context of %s, which knows only now", d.Name)
	}
	h, err := a.openHome(d, look)
	if err != nil {
		return err
	}
	got, err := h.Context(ctx, dialect.Request{Message: s.message, Budget: s.budget})
	if err != nil {
		return badArgument(err)
	}
	out := struct {
		Dialect string         `json:"dialect"`
		Context prompt.Context `json:"context"`
		Text    string         `json:"text"`
	}{d.Name, got, got.Text()}
	if err := a.showContext(out, out.Text, got.Manifest(), s.manifest); err != nil {
		return err
	}
	switch {
	case len(got.Parts) == 0 && len(got.Cut) > 0:
		a.note("nothing fits the budget; --manifest says what was cut")
	case len(got.Parts) == 0:
		a.note("%s would put nothing before the model yet", d.Name)
	}
	return nil
}

// selection prints what the profile selects.
func (a *app) selection(ctx context.Context, r *profile.Resolved, s selecting) error {
	set, err := a.profiles()
	if err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	return a.with(ctx, look, func(ctx context.Context, m *oxbow.Memory) error {
		req, err := a.request(ctx, m, s)
		if err != nil {
			return err
		}
		got, err := set.Select(ctx, m, r, req)
		if err != nil {
			return badArgument(err)
		}
		return a.showSelection(&got, s.manifest)
	})
}

// request returns what the flags ask of a selection.
func (a *app) request(ctx context.Context, m *oxbow.Memory, s selecting) (profile.Request, error) {
	req := profile.Request{Query: s.message, Budget: s.budget}
	if s.asOf == "" {
		return req, nil
	}
	seq, err := tool.AsOf(ctx, m, s.asOf, a.env.Now())
	if err != nil {
		return req, badArgument(err)
	}
	if seq == 0 {
		return req, misusef("oxbow log shows when it began", "the memory held nothing yet at %s", s.asOf)
	}
	req.AsOf = seq
	return req, nil
}

func (s *selecting) check() error {
	if s.budget < 0 {
		return misusef("leave it out for the profile's own", "--budget %d is less than 1 token", s.budget)
	}
	if err := tool.CheckText("the text", s.message); err != nil {
		return badArgument(err)
	}
	return nil
}

func (a *app) showSelection(got *profile.Selection, manifest bool) error {
	out := struct {
		*profile.Selection
		Text string `json:"text"`
	}{got, got.Text()}
	if err := a.showContext(out, out.Text, got.Manifest(), manifest); err != nil || manifest {
		return err
	}
	for _, n := range got.Notes {
		a.note("%s", n)
	}
	if got.Inside == 0 {
		a.note("the selection holds no entries; --manifest says what it is made of")
	}
	return nil
}

// showContext prints a context: its text or, when that is wanted, the manifest of
// what it is made of; or all of it as one JSON object.
func (a *app) showContext(whole any, text, manifest string, wanted bool) error {
	switch {
	case a.json:
		return a.printJSON(whole)
	case wanted:
		for line := range strings.Lines(manifest) {
			a.printf("%s\n", clean(strings.TrimRight(line, "\n")))
		}
	case a.env.StdoutTerm:
		a.printf("%s\n", strings.TrimRight(clean(text), "\n"))
	default:
		_, _ = io.WriteString(a.env.Stdout, text)
	}
	return nil
}
