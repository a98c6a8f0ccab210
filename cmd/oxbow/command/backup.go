// This file holds "oxbow backup": a copy of the store while others write.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/wal"
)

// backupOut describes a copy, as JSON.
type backupOut struct {
	File     string       `json:"file"`
	Entries  int          `json:"entries"`
	Last     uint64       `json:"last_change"`
	Bytes    int64        `json:"bytes"`
	Head     string       `json:"head"`
	Problems []problemOut `json:"problems,omitempty"`
}

func (a *app) backupCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the memory to a file, while others use it",
		Long: `Backup copies the memory as it is at one moment to a new file, with all its
history, makes the copy durable, and reads it again to check it. Others may go
on writing. To look into a copy, give it as the home. To go back to it, end
the programs that have the memory open, copy it over memory.oxbow, and run
oxbow recover --accept.`,
		Example: `  oxbow backup ~/backups/memory-20260418.oxbow
  oxbow backup /mnt/stick/memory.oxbow --force      replaces the copy there
  oxbow --home ~/backups/memory-20260418.oxbow list`,
		Args: args(1, 1, "the name of the new file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.backup(cmd.Context(), args[0], force) },
	}
	c.Flags().BoolVar(&force, "force", false, "replace a file of that name")
	return c
}

func (a *app) backup(ctx context.Context, file string, force bool) error {
	if err := a.ownOnly("backup"); err != nil {
		return err
	}
	store, err := a.storePath()
	if err != nil {
		return err
	}
	if file, err = a.abs(file); err != nil {
		return err
	}
	src, err := os.Stat(store)
	if errors.Is(err, fs.ErrNotExist) {
		return missing(filepath.Dir(store))
	}
	if err != nil {
		return fmt.Errorf("backing up: %w", err)
	}
	if err := a.mayReplace(file, src, force); err != nil {
		return err
	}
	out := backupOut{File: file}
	err = a.with(ctx, look, func(ctx context.Context, m *oxbow.Memory) error {
		_, err := m.Backup(ctx, file, force)
		if errors.Is(err, fs.ErrExist) { // made since we looked
			return existing(file)
		}
		return wrapped("backing up", err)
	})
	if err != nil {
		return err
	}
	rep, err := a.checkFile(ctx, file)
	if err != nil {
		return fmt.Errorf("reading the copy again: %w", err)
	}
	out.Entries, out.Last, out.Bytes, out.Head = rep.Entries, rep.Last, rep.Bytes, rep.Head
	for _, p := range rep.Problems {
		out.Problems = append(out.Problems, problemOut{p.Offset, p.What, p.Mend})
	}
	if a.json {
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else {
		a.printf("copied %s to %s: %s, change %d, %s\n", store, file, count(out.Entries, "entry", "entries"), out.Last, bytesText(out.Bytes))
		a.printf("head %s\n", out.Head)
		a.note("to look into it: oxbow --home %s list", quote(file))
		if len(out.Problems) > 0 {
			a.printf("the copy has %s:\n", count(len(out.Problems), "problem", "problems"))
			a.showProblems(out.Problems)
		}
	}
	if len(out.Problems) > 0 {
		return errTold
	}
	return nil
}

// mayReplace refuses a place for a copy that holds something else than an
// earlier copy.
func (a *app) mayReplace(file string, store fs.FileInfo, force bool) error {
	fi, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("backing up: %w", err)
	case os.SameFile(fi, store):
		return misusef("name another file", "%s is the memory itself", file)
	case fi.IsDir():
		name := filepath.Join(file, "memory-"+a.env.Now().Format("20060102")+".oxbow")
		return misusef("name a file in it: oxbow backup "+quote(name), "%s is a directory", file)
	case !fi.Mode().IsRegular():
		return misusef("name another file", "%s is not a regular file", file)
	case !force:
		return existing(file)
	}
	// Others may be writing to a memory, and would go on in a file without a
	// name.
	if _, err := os.Stat(wal.LockName(file)); err == nil {
		return &hinted{fmt.Errorf("backing up: %s is a memory in use, not a copy of one", file),
			"name another file; " + quote(wal.LockName(file)) + " is what shows that it is in use"}
	}
	return nil
}

func existing(file string) error {
	return &hinted{fmt.Errorf("backing up: %w: %s", fs.ErrExist, file), "name another file, or replace it with --force"}
}

// checkFile examines the store in a file, without changing anything.
func (a *app) checkFile(ctx context.Context, file string) (rep oxbow.CheckReport, err error) {
	m, err := oxbow.Open(file, &oxbow.Options{Clock: a.env.Now, Rand: a.env.Rand, ReadOnly: true})
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	return m.Check(ctx)
}

// wrapped says what was being done when err came up; nil stays nil.
func wrapped(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
