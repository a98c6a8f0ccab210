// Tells days again as weeks and months, in homes of layouts that keep
// days, and takes that back.

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
)

// compressOut is what compress did, or would do, as JSON.
type compressOut struct {
	DryRun  bool             `json:"dry_run,omitempty"`
	Digests []dialect.Digest `json:"digests"`
}

// compressor opens the home as one that can compress.
func (a *app) compressor(how access) (dialect.Compressor, error) {
	d, other, err := a.layout()
	if err != nil {
		return nil, err
	}
	name, mend := ownLayout, "oxbow compact drops old history"
	if other {
		name = d.Name
		h, err := a.openHome(d, how)
		if err != nil {
			return nil, err
		}
		if c, ok := h.(dialect.Compressor); ok {
			return c, nil
		}
		if _, ok := h.(dialect.Tidier); ok {
			mend = "for example: oxbow compress --budget 2000 --dry-run"
		}
	}
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	return nil, &hinted{fmt.Errorf("compress works on layouts that keep days, and %s is laid out as %s: %w", home, name, oxbow.ErrUnsupported),
		mend}
}

func (a *app) compressSpans(ctx context.Context, r dialect.Compression, texts []string) error {
	c, err := a.compressor(change.Unless(r.Dry))
	if err != nil {
		return err
	}
	if r.Span == "" {
		r.Span = c.Spans()[0]
	}
	if len(texts) > 0 {
		if r.Texts, err = a.digestTexts(ctx, c, r, texts); err != nil {
			return badArgument(err)
		}
	}
	done, err := c.Compress(ctx, r)
	return a.showDigests("compressed", "would compress", done, r.Dry, err)
}

// digestTexts reads the texts of a digest, by group. One that names no group is
// the whole digest's, which then must have no parts.
func (a *app) digestTexts(ctx context.Context, c dialect.Compressor, r dialect.Compression, given []string) (map[string]string, error) {
	texts := map[string]string{}
	for _, t := range given {
		group, file, named := "", t, false
		if i := strings.LastIndexByte(t, '='); i >= 0 {
			group, file, named = t[:i], t[i+1:], true
		}
		if !named {
			r.Dry = true
			would, err := c.Compress(ctx, r)
			if err != nil {
				return nil, err
			}
			parts := would[0].Parts
			if len(parts) > 1 {
				groups := make([]string, len(parts))
				for i, p := range parts {
					groups[i] = quote(p.Group + "=" + file)
				}
				return nil, misusef("write one of: --text "+strings.Join(groups, ", --text "), "the digest has %d parts, and --text %s does not say which it is", len(parts), file)
			}
			group = parts[0].Group
		}
		if _, twice := texts[group]; twice {
			return nil, misusef("", "--text is given twice for %q", group)
		}
		text, err := a.readFile(file)
		if err != nil {
			return nil, err
		}
		texts[group] = text
	}
	return texts, nil
}

func (a *app) compressUndoCommand() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "undo DIGEST...",
		Short: "Take digests back: what they tell again is as it was",
		Long: `Undo puts the files that a digest covers back where they were. The digest is
kept in memory/undone, where nothing reads it.`,
		Example: `  oxbow compress undo week-2026-W16 --dry-run
  oxbow compress undo month-2026-04 week-2026-W16`,
		Args: args(1, -1, "the name of a digest, such as week-2026-W16"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.compressor(change.Unless(dry))
			if err != nil {
				return err
			}
			done, err := c.Decompress(cmd.Context(), dry, args...)
			return a.showDigests("took back", "would take back", done, dry, err)
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be taken back and change nothing")
	return c
}

// showDigests says what was done, also when it ended with an error.
func (a *app) showDigests(did, would string, done []dialect.Digest, dry bool, err error) error {
	if err != nil && len(done) == 0 {
		return badArgument(err)
	}
	if a.json {
		out := compressOut{DryRun: dry, Digests: []dialect.Digest{}}
		out.Digests = append(out.Digests, done...)
		return errors.Join(a.printJSON(out), err)
	}
	if dry {
		did = would
	}
	for _, d := range done {
		if a.quiet {
			a.printf("%s\n", clean(d.Name))
			continue
		}
		a.printf("%s %s, %s\n", did, a.bold(clean(d.Name)), a.dim(count(len(d.Covers), "file", "files")))
		for _, p := range d.Parts {
			if p.Entries == 0 { // taken back: what it covers is not read
				continue
			}
			a.printf("  %s  %s, %s to %s\n", oneLine(p.Entry), count(p.Entries, "entry", "entries"), bytesText(int64(p.Before)), bytesText(int64(p.After)))
			if !dry {
				continue
			}
			for _, l := range p.Labels {
				a.printf("    %s\n", a.dim(oneLine(l.String())))
			}
			for line := range strings.SplitSeq(strings.TrimRight(p.Text, "\n"), "\n") {
				a.printf("    | %s\n", clean(line))
			}
		}
		for _, n := range d.Notes {
			a.note("%s", clean(n))
		}
	}
	switch {
	case len(done) == 0:
		a.note("nothing is to be compressed: what is over is compressed already, or holds the newest logs")
	case !dry && did == "compressed":
		var names []string
		for _, d := range done {
			names = append(names, quote(d.Name))
		}
		a.note("to take this back: oxbow compress undo %s", strings.Join(names, " "))
	}
	return err
}
