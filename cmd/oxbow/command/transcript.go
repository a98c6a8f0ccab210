// This file holds "oxbow annotate --from-transcript": annotations of the edits
// in the transcripts of agents.

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/annotate/transcript"
	"github.com/oxbow-memory/oxbow/tool"
)

// capture is what --from-transcript was asked for.
type capture struct {
	from   []string // files and directories
	was    string   // where the tree was when they were written; "" for where it is
	dryRun bool
}

// captureOut is what came of it, as JSON.
type captureOut struct {
	DryRun      bool            `json:"dry_run,omitempty"`
	Transcripts int             `json:"transcripts"`
	Added       int             `json:"added"` // or would be
	Known       int             `json:"known"` // were there already
	Annotations []captured      `json:"annotations"`
	Skipped     captureSkipped  `json:"skipped"`
	Outside     []string        `json:"outside,omitempty"` // files outside of the tree, at most 20
	seen        map[string]bool // of these
}

// captured is one annotation that is new.
type captured struct {
	ID        string `json:"id"`
	File      string `json:"file"`
	StartLine int    `json:"start_line,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
	Why       string `json:"why"`
	Agent     string `json:"agent"`
	Model     string `json:"model,omitempty"`
	Session   string `json:"session,omitempty"`
	Ref       string `json:"ref"`
}

// captureSkipped counts what no annotation came of.
type captureSkipped struct {
	Failed    int `json:"failed"`    // edits that were refused
	Pending   int `json:"pending"`   // edits without a result yet
	Outside   int `json:"outside"`   // edits of files outside of the tree
	Removed   int `json:"removed"`   // files that were deleted
	Unlocated int `json:"unlocated"` // edits whose lines are shown nowhere
	BadLines  int `json:"bad_lines"` // lines of transcripts that cannot be read
	Others    int `json:"others"`    // files of a directory that are no transcripts
}

// capture makes annotations of what transcripts tell.
func (a *app) capture(ctx context.Context, b *annotate.Store, c capture) error {
	out := &captureOut{DryRun: c.dryRun, Annotations: []captured{}, seen: map[string]bool{}}
	if c.was != "" {
		if err := tool.CheckText("--moved-from", c.was); err != nil {
			return badArgument(err)
		}
		if !strings.HasPrefix(c.was, "/") && !filepath.IsAbs(c.was) {
			return misusef("give the whole path", "--moved-from %q is not absolute", c.was)
		}
	}
	for _, name := range c.from {
		if err := tool.CheckText("--from-transcript", name); err != nil {
			return badArgument(err)
		}
		names, dir, err := a.transcripts(name)
		if err != nil {
			return err
		}
		for _, n := range names {
			err := a.captureFile(ctx, b, n, &c, out)
			switch {
			case errors.Is(err, transcript.ErrUnknown) && dir:
				out.Skipped.Others++
			case err != nil:
				return fmt.Errorf("%s: %w", n, err)
			}
		}
	}
	if a.json {
		return a.printJSON(out)
	}
	a.showCapture(out)
	return nil
}

// transcripts returns the files that a name stands for, and whether it is a
// directory: then they are its files *.jsonl, at any depth.
func (a *app) transcripts(name string) ([]string, bool, error) {
	if name == "-" {
		return []string{name}, false, nil
	}
	full, err := a.abs(name)
	if err != nil {
		return nil, false, err
	}
	fi, err := os.Stat(full)
	if err != nil {
		return nil, false, fmt.Errorf("reading a transcript: %w", err)
	}
	if !fi.IsDir() {
		return []string{full}, false, nil
	}
	var names []string
	err = filepath.WalkDir(full, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(p, ".jsonl") {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		return nil, true, fmt.Errorf("looking for transcripts: %w", err)
	}
	if len(names) == 0 {
		return nil, true, misusef("transcripts are files that end in .jsonl", "there is no transcript in %s", full)
	}
	return names, true, nil
}

func (a *app) captureFile(ctx context.Context, b *annotate.Store, name string, c *capture, out *captureOut) error {
	var r io.Reader = a.env.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r = f
	}
	t, err := transcript.Read(r)
	if err != nil {
		return err
	}
	j, err := transcript.Join(b, t, &transcript.Options{From: c.was})
	if err != nil {
		return err
	}
	has, err := b.Has(ctx, j.Records)
	if err != nil {
		return err
	}
	var fresh []annotate.Record
	for i, r := range j.Records {
		if !has[i] {
			fresh = append(fresh, r)
		}
	}
	if !c.dryRun {
		if _, err := b.Add(ctx, fresh...); err != nil {
			return err
		}
	}
	out.Transcripts++
	out.Added += len(fresh)
	out.Known += len(j.Records) - len(fresh)
	for _, r := range fresh {
		out.Annotations = append(out.Annotations, captured{ID: r.ID, File: r.File, StartLine: r.Span.First, EndLine: r.Span.Last,
			Why: r.Why, Agent: r.Agent, Model: r.Model, Session: r.Session, Ref: r.Ref})
	}
	s := &out.Skipped
	s.Failed += t.Failed
	s.Pending += t.Pending
	s.Outside += j.OutsideN
	s.Removed += t.Removed
	s.Unlocated += t.Unread + j.Unlocated
	s.BadLines += t.Bad
	for _, o := range j.Outside {
		if !out.seen[o] && len(out.Outside) < 20 {
			out.seen[o] = true
			out.Outside = append(out.Outside, o)
		}
	}
	return nil
}

func (a *app) showCapture(out *captureOut) {
	verb := "added"
	if out.DryRun {
		verb = "would add"
		for _, r := range out.Annotations {
			at := oneLine(r.File)
			if r.StartLine > 0 {
				at += ":" + annotate.Span{First: r.StartLine, Last: r.EndLine}.String()
			}
			why, _, _ := strings.Cut(strings.TrimSpace(r.Why), "\n")
			a.printf("%s  %s\n", a.bold(at), oneLine(why))
		}
	}
	if !a.quiet {
		a.printf("%s %s of %s; %d were there already\n", verb, count(out.Added, "annotation", "annotations"), count(out.Transcripts, "transcript", "transcripts"), out.Known)
	}
	s := out.Skipped
	for _, n := range []struct {
		n               int
		one, many, what string
	}{
		{s.Failed, "edit", "edits", "failed or refused"},
		{s.Pending, "edit", "edits", "without a result yet"},
		{s.Outside, "edit", "edits", "of files outside of this tree"},
		{s.Removed, "file", "files", "deleted: no line is left"},
		{s.Unlocated, "edit", "edits", "whose lines are not shown"},
		{s.BadLines, "line", "lines", "that cannot be read"},
		{s.Others, "file", "files", "without a transcript in it"},
	} {
		if n.n > 0 {
			a.note("left out %s %s", count(n.n, n.one, n.many), n.what)
		}
	}
	if len(out.Outside) > 0 && out.Added+out.Known == 0 {
		a.note("such as %s; was the tree elsewhere? then say where with --moved-from DIR", oneLine(out.Outside[0]))
	}
}
