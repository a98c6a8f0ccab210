// This file holds "oxbow check".

package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
)

// checkOut is what a check found, as JSON.
type checkOut struct {
	OK       bool         `json:"ok"`
	Store    string       `json:"store"`
	Records  int          `json:"records"`
	Entries  int          `json:"entries"`
	Bytes    int64        `json:"bytes"`
	First    uint64       `json:"first_change"`
	Last     uint64       `json:"last_change"`
	Head     string       `json:"head,omitempty"`
	Problems []problemOut `json:"problems"`
	SetAside []asideOut   `json:"set_aside,omitempty"`

	Annotations *annotationsOut `json:"annotations,omitempty"` // of the working tree, where there are any

	had  uint64 // last change that was once durable, as far as known
	lost uint64 // highest change that is known to be damaged
}

// asideOut is the tail of an interrupted write that was kept when it was cut
// off.
type asideOut struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

type problemOut struct {
	Offset int64  `json:"offset"` // -1 when it is not about one byte
	What   string `json:"what"`
	Mend   string `json:"mend,omitempty"`
}

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Examine the memory, byte by byte",
		Long: `Check reads the whole memory, compares checksums and the chain of changes, and
compares what the file says with what the memory answers. It changes nothing.
The exit status is 1 when there is a problem: oxbow recover then saves what can
still be read. The head it prints is a hash over all changes: note it elsewhere
to prove later that nothing before was edited. The annotations of the code in
the working directory, if there are any, are read line by line, too.`,
		Example: `  oxbow check
  oxbow check --json --home ~/brain`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.check(cmd.Context()) },
	}
}

func (a *app) check(ctx context.Context) error {
	out, err := a.examine(ctx)
	if err != nil {
		return err
	}
	if out.Annotations, err = a.checkAnnotations(ctx); err != nil {
		return err
	}
	notes := out.Annotations
	if !a.json {
		a.showCheck(out)
		if notes != nil {
			a.showCheckedAnnotations(notes)
		}
	}
	out.OK = out.OK && (notes == nil || len(notes.Problems) == 0)
	if a.json {
		if err := a.printJSON(out); err != nil {
			return err
		}
	}
	if !out.OK {
		return errTold
	}
	return nil
}

// examine checks the store. A damaged one is no error.
func (a *app) examine(ctx context.Context) (checkOut, error) {
	path, own, err := a.storePlace()
	if err != nil {
		return checkOut{}, err
	}
	out := checkOut{Store: path, Problems: []problemOut{}}
	err = a.with(ctx, look, func(ctx context.Context, m *oxbow.Memory) (err error) {
		if _, serr := os.Stat(path); own && serr == nil {
			// Before the last change is known, which others may move on.
			if out.had, err = durableOf(path, path); err != nil {
				return err
			}
		}
		r, err := m.Check(ctx)
		if err != nil {
			return fmt.Errorf("checking: %w", err)
		}
		out.Records, out.Entries, out.Bytes, out.First, out.Last, out.Head = r.Records, r.Entries, r.Bytes, r.First, r.Last, r.Head
		for _, p := range r.Problems {
			out.Problems = append(out.Problems, problemOut{p.Offset, p.What, p.Mend})
		}
		if out.had > out.Last {
			out.Problems = append(out.Problems, problemOut{-1,
				fmt.Sprintf("it went back to an earlier state: it ends at change %d, and change %d had been written", out.Last, out.had),
				hint(oxbow.ErrRolledBack)})
		}
		return nil
	})
	// A file too damaged to open is the very thing a check is for.
	var bad *oxbow.CorruptError
	if errors.As(err, &bad) {
		for _, seq := range bad.Lost {
			out.lost = max(out.lost, seq)
		}
		out.Problems = append(out.Problems, problemOut{bad.Offset, damageText(bad),
			"nothing was changed; oxbow recover saves what can be read into a new file, or put a backup in the place of this one"})
		if fi, serr := os.Stat(path); serr == nil {
			out.Bytes = fi.Size()
		}
		err = nil
	}
	if err != nil {
		return out, err
	}
	out.OK = len(out.Problems) == 0
	if !own {
		return out, nil
	}
	left, err := leftovers(path)
	if err != nil {
		return out, err
	}
	for _, l := range left {
		if l.kind == leftTorn {
			out.SetAside = append(out.SetAside, asideOut{l.path, l.size})
		}
	}
	return out, nil
}

// damageText says what is damaged, without the path.
func damageText(c *oxbow.CorruptError) string {
	switch n := len(c.Lost); {
	case n == 1:
		return fmt.Sprintf("%s (change %d)", c.Reason, c.Lost[0])
	case n > 1:
		return fmt.Sprintf("%s (changes %d to %d)", c.Reason, c.Lost[0], c.Lost[n-1])
	}
	return c.Reason
}

func (a *app) showCheck(out checkOut) {
	switch {
	case !out.OK:
		a.printf("%s has %s:\n", out.Store, count(len(out.Problems), "problem", "problems"))
		a.showProblems(out.Problems)
	case !a.quiet:
		a.printf("%s is sound: %s, %s, %s\n", out.Store,
			count(out.Entries, "entry", "entries"), count(out.Records, "record", "records"), bytesText(out.Bytes))
		if out.Head != "" {
			a.printf("changes %d to %d, head %s\n", out.First, out.Last, out.Head)
		}
	}
	if n := len(out.SetAside); n > 0 {
		a.note("%s in %s: what interrupted writes left, kept when it was cut off; nothing acknowledged is in it, and nothing needs it",
			count(n, "torn tail is", "torn tails are"), filepath.Dir(out.SetAside[0].File))
	}
}

func (a *app) showProblems(problems []problemOut) {
	for _, p := range problems {
		at := ""
		if p.Offset >= 0 {
			at = fmt.Sprintf("byte %d: ", p.Offset)
		}
		a.printf("  %s%s\n", at, clean(p.What))
		if p.Mend != "" {
			for _, line := range wrap("mend: "+clean(p.Mend), a.width()-4) {
				a.printf("    %s\n", line)
			}
		}
	}
}
