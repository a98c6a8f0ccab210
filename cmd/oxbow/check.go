// This file holds "oxbow check".

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

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
}

type problemOut struct {
	Offset int64  `json:"offset"` // -1 when it is not about one byte
	What   string `json:"what"`
	Mend   string `json:"mend,omitempty"`
}

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Examine the memory's file, byte by byte",
		Long: `Check reads the whole file, compares checksums and the chain of changes, and
compares what the file says with what the memory answers. It changes nothing.
The exit status is 1 when there is a problem. The head it prints is a hash over
all changes: note it elsewhere to prove later that nothing before was edited.`,
		Example: `  oxbow check
  oxbow check --json --home ~/brain`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.check(cmd.Context()) },
	}
}

func (a *app) check(ctx context.Context) error {
	path, err := a.storePath()
	if err != nil {
		return err
	}
	out := checkOut{Store: path, Problems: []problemOut{}}
	err = a.with(ctx, look, func(ctx context.Context, m *oxbow.Memory) error {
		c, ok := m.Store().(oxbow.Checker)
		if !ok {
			return fmt.Errorf("checking: %w", oxbow.ErrUnsupported)
		}
		r, err := c.Check(ctx)
		if err != nil {
			return fmt.Errorf("checking: %w", err)
		}
		out.Records, out.Entries, out.Bytes, out.First, out.Last, out.Head = r.Records, r.Entries, r.Bytes, r.First, r.Last, r.Head
		for _, p := range r.Problems {
			out.Problems = append(out.Problems, problemOut{p.Offset, p.What, p.Mend})
		}
		return nil
	})
	// A file too damaged to open is the very thing a check is for.
	var bad *oxbow.CorruptError
	if errors.As(err, &bad) {
		what := bad.Reason
		switch n := len(bad.Lost); {
		case n == 1:
			what += fmt.Sprintf(" (change %d)", bad.Lost[0])
		case n > 1:
			what += fmt.Sprintf(" (changes %d to %d)", bad.Lost[0], bad.Lost[n-1])
		}
		out.Problems = append(out.Problems, problemOut{bad.Offset, what,
			"nothing was changed; keep a copy of the file, then put a backup of it in its place, or load a dump into a new home"})
		if fi, serr := os.Stat(path); serr == nil {
			out.Bytes = fi.Size()
		}
		err = nil
	}
	if err != nil {
		return err
	}
	out.OK = len(out.Problems) == 0
	switch {
	case a.json:
		if err := a.printJSON(out); err != nil {
			return err
		}
	case out.OK && a.quiet:
	case out.OK:
		a.printf("%s is sound: %s, %s, %s\n", path,
			count(out.Entries, "entry", "entries"), count(out.Records, "record", "records"), bytesText(out.Bytes))
		if out.Last > 0 {
			a.printf("changes %d to %d, head %s\n", out.First, out.Last, out.Head)
		}
	default:
		a.printf("%s has %s:\n", path, count(len(out.Problems), "problem", "problems"))
		for _, p := range out.Problems {
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
	if !out.OK {
		return errTold
	}
	return nil
}
