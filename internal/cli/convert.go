// This file implements the command "oxbow convert".

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

func convertCommand(mem *lazyMemory) *cobra.Command {
	var in transfer.ConvertIn
	c := &cobra.Command{
		Use:   "convert DIR",
		Short: "Copy the memory into a new home with another layout of files",
		Long: `Convert writes every entry of this memory into a new home, DIR, with the layout
that --to names. The old home stays unchanged, and its history is not copied.
If the new layout cannot store an entry, nothing is written and the entry is
named. With --adapt, convert leaves out what the layout cannot store (labels,
aliases, the kind), and lists these entries.

Convert builds the new home in DIR.unfinished and renames it at the end. If
convert is interrupted, the next run removes the unfinished directory.`,
		Example: `  oxbow convert ~/brain --home ~/.crabtalk        # from crabtalk to oxbow
  oxbow convert ./bot --to duragent --dry-run
  oxbow convert ./crab --to crabtalk --adapt`,
		Args: requireArgCount(1, 1, "the name of the new home"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Dir = args[0]
			return mem.convertHome(cmd.Context(), in)
		},
	}
	c.Flags().
		StringVar(&in.Layout, "to", ownLayoutName, "the `LAYOUT` of the new home: "+strings.Join(layoutNames(), ", "))
	c.Flags().BoolVar(&in.ShouldAdaptEntries, "adapt", false, "leave out what the new layout cannot store")
	c.Flags().BoolVar(&in.DryRun, "dry-run", false, "show what would be written, and write nothing")
	return c
}

func (mem *lazyMemory) convertHome(ctx context.Context, in transfer.ConvertIn) (err error) {
	target := layout.Dialect{Name: ownLayoutName}
	if in.Layout != ownLayoutName {
		target, err = layout.Find(nonOxbowLayouts, in.Layout)
		if err != nil {
			return usageErrorf("the layouts there are: "+
				strings.Join(layoutNames(), ", "), "--to %q is not known", in.Layout)
		}
	}
	in.Dir, err = mem.outputPath(in.Dir)
	if err != nil {
		return err
	}
	home, err := mem.finder.homePath()
	if err != nil {
		return err
	}
	in.CreateHome = func(ctx context.Context, dir string) (oxbow.Store, func() error, error) {
		return mem.createHome(ctx, target, dir)
	}
	out, err := callVerbRawError(ctx, mem, transfer.Convert, in)
	if e, ok := errors.AsType[*transfer.RefusedEntriesError](err); ok {
		// Print the refused entries here, because no report is printed after an error.
		shown := itemsToPrint(e.Refused)
		for _, r := range shown {
			mem.env.printNote("%s: %s", printableName(r.Name), replaceHarmfulChars(r.Reason))
		}
		if n := len(e.Refused) - len(shown); n > 0 {
			mem.env.printNote("and %d more", n)
		}
		if in.ShouldAdaptEntries {
			return &hintedError{err, "rename, approve or forget them first, or choose another layout"}
		}
		return &hintedError{err, transfer.AdaptedCopyCommand(in.Dir, in.Layout) + " leaves out what it cannot hold"}
	}
	if err != nil {
		return err
	}
	out.OldHomePath = home
	return printResult(mem, out, answerPrinter[transfer.ConvertOut](mem))
}

// createHome creates a new home, which is a directory with a memory, in dir. If dir is "", the home is created only in
// memory. If target.Open is nil, the home has oxbow's own layout. Otherwise target creates its own layout. createHome
// returns the new store and a function that closes the store and the home.
func (mem *lazyMemory) createHome(
	ctx context.Context,
	target layout.Dialect,
	dir string,
) (oxbow.Store, func() error, error) {
	if target.Open == nil {
		path, o := filepath.Join(dir, storeFileName), &oxbow.Options{Clock: mem.env.Now, Rand: mem.env.Rand}
		if dir == "" {
			o.FS = vfs.NewMem()
		}
		m, err := oxbow.Open(path, o)
		if err != nil {
			return nil, nil, fmt.Errorf("making the new home: %w", err)
		}
		return m, m.Close, nil
	}
	o := layout.Options{FS: vfs.NewMem(), Path: dir, Agent: mem.agentFlag, Zone: mem.env.Now().Location(),
		Memory: oxbow.Options{Clock: mem.env.Now, Rand: mem.env.Rand}}
	if dir != "" {
		var err error
		o, err = mem.layoutOptions(dir, createAccess)
		if err != nil {
			return nil, nil, err
		}
		o.Memory.ReadOnly = false
	}
	if _, err := target.Init(ctx, o); err != nil {
		return nil, nil, fmt.Errorf("laying out %s: %w", target.Name, err)
	}
	h, err := target.Open(ctx, o)
	if err != nil {
		return nil, nil, fmt.Errorf("making the new home: %w", err)
	}
	return h.Memory(), func() error {
		err := h.Memory().Close()
		if cerr := h.Close(); cerr != nil && !errors.Is(cerr, oxbow.ErrClosed) {
			err = errors.Join(err, cerr)
		}
		if c, ok := o.FS.(io.Closer); ok { // Windows cannot rename a directory that is open.
			err = errors.Join(err, c.Close())
		}
		return err
	}, nil
}
