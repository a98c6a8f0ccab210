// This file holds "oxbow recover": saving what can be read of a damaged store.

package command

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// recoverOut is what was saved and what was lost, as JSON.
type recoverOut struct {
	Store    string      `json:"store"`
	Sound    bool        `json:"sound,omitempty"` // there was nothing to recover
	Out      string      `json:"out,omitempty"`   // the file that holds what was saved
	Entries  int         `json:"entries"`
	Changes  int         `json:"changes"` // read
	First    uint64      `json:"first_change"`
	Last     uint64      `json:"last_change"` // read
	Lost     [][2]uint64 `json:"lost"`        // numbers of changes, first and last of each stretch
	BadBytes int64       `json:"bad_bytes"`
	Header   bool        `json:"header_damaged"`
	Base     bool        `json:"base_damaged"`      // entries kept by a compaction are missing
	Damaged  string      `json:"damaged,omitempty"` // where the damaged file is, once replaced

	had uint64 // last change that was once durable, as far as known
}

func (a *app) recoverCommand() *cobra.Command {
	var out string
	var replace, accept bool
	c := &cobra.Command{
		Use:   "recover",
		Short: "Save what can be read of a damaged memory",
		Long: `Recover reads what can be read of a damaged memory, however damaged, into a new
file, and says what was lost. It does not change the damaged one. With
--replace it then puts the new file in the place of the damaged one, which is
kept under another name.

With --accept it does something else: it goes on from a memory that went back
to an earlier state, as when you put a backup in its place on purpose.`,
		Example: `  oxbow recover
  oxbow --home .oxbow/memory.oxbow.recovered list      look at what was saved
  oxbow recover --replace
  oxbow recover --accept`,
		Args: args(0, 0, "no arguments; say --out FILE for another place"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case accept && (replace || out != ""):
				return misusef("recover first, then look whether there is something to accept", "--accept stands alone")
			case replace && out != "":
				return misusef("--replace puts the new file in the place of the damaged one", "give --out or --replace, not both")
			case accept:
				return a.accept(cmd.Context())
			}
			return a.recover(cmd.Context(), out, replace)
		},
	}
	c.Flags().StringVar(&out, "out", "", "write what is saved to this `FILE` (default HOME/memory.oxbow.recovered)")
	c.Flags().BoolVar(&replace, "replace", false, "put the new file in the place of the damaged one")
	c.Flags().BoolVar(&accept, "accept", false, "go on from a memory that went back to an earlier state")
	return c
}

func (a *app) recover(ctx context.Context, out string, replace bool) (err error) {
	if err := a.ownOnly("recover"); err != nil {
		return err
	}
	store, err := a.storePath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(store); errors.Is(err, fs.ErrNotExist) {
		return missing(filepath.Dir(store))
	}
	found, err := a.examine(ctx)
	if err != nil {
		return err
	}
	switch {
	case found.had > found.Last && len(found.Problems) == 1: // that alone
		return fmt.Errorf("%w: %s ends at change %d, and change %d had been written; nothing in it is damaged",
			oxbow.ErrRolledBack, store, found.Last, found.had)
	case found.OK:
		if a.json {
			return a.printJSON(recoverOut{Store: store, Sound: true, Entries: found.Entries, First: found.First, Last: found.Last, Lost: [][2]uint64{}})
		}
		a.printf("%s is sound: there is nothing to recover\n", store)
		a.note("oxbow backup FILE makes a copy")
		return nil
	}
	var rep recoverOut
	if replace {
		rep, err = a.recoverInPlace(ctx, store)
	} else {
		rep, err = a.salvage(ctx, store, out)
	}
	if err != nil {
		return err
	}
	// Behind the last change that could be read, only numbers say what there
	// was: those in what is left of the file, and the one noted in the lock.
	if had := max(found.had, found.lost, rep.had); had > rep.Last {
		rep.Lost = append(rep.Lost, [2]uint64{rep.Last + 1, had})
	}
	if a.json {
		return a.printJSON(rep)
	}
	a.showRecovered(rep)
	return nil
}

// recoverInPlace saves what can be read and puts it in the place of the store.
func (a *app) recoverInPlace(ctx context.Context, store string) (rep recoverOut, err error) {
	if err := a.mayWrite(store); err != nil {
		return recoverOut{}, err
	}
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return recoverOut{}, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	// Under the lock: a program that had the store open before it was damaged
	// could still write to it.
	release, err := a.hold(ctx, dir, store)
	if err != nil {
		return recoverOut{}, err
	}
	rep, err = a.salvage(ctx, store, "")
	if err == nil {
		rep.Damaged, err = a.replace(dir, store, rep.Out)
		rep.Out = store
	}
	if err := errors.Join(err, release()); err != nil {
		return recoverOut{}, err
	}
	// Changes lost at the end were durable once. They are given up on purpose,
	// and the store that lacks them is not to be taken for an older copy.
	return rep, a.with(ctx, change, func(ctx context.Context, m *oxbow.Memory) error {
		return wrapped("accepting what was recovered", m.Accept(ctx))
	})
}

// lastNamed returns the highest number of a change that a record in the store
// of that path names: its own, or of what was durable when it was written.
func lastNamed(store string) (seq uint64, err error) {
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	_, err = wal.Salvage(dir, filepath.Base(store), wal.Options{ReadOnly: true}, func(r *wal.Record) error {
		seq = max(seq, r.Seq, r.Durable)
		return nil
	})
	return seq, wrapped("reading "+store+" for numbers", err)
}

// durableOf returns the number of the last change that was known to be durable
// in the store of that path, 0 when nothing is noted. What is noted of another
// store than that in the file same does not count.
func durableOf(store, same string) (had uint64, err error) {
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	n, ok := wal.ReadNoted(dir, filepath.Base(store))
	if !ok || n.Durable == 0 {
		return 0, nil
	}
	h, err := headerOf(same)
	if err != nil || n.ID != hex.EncodeToString(h.ID[:]) {
		return 0, err
	}
	return n.Durable, nil
}

// hold takes the write lock of a store that need not open.
func (a *app) hold(ctx context.Context, dir vfs.FS, store string) (release func() error, err error) {
	release, err = wal.Hold(ctx, dir, filepath.Base(store), wal.Options{Clock: a.env.Now, LockWait: oxbow.DefaultLockWait})
	var busy *wal.BusyError
	switch {
	case errors.As(err, &busy):
		h := busy.Holder
		return nil, &oxbow.BusyError{Path: store, Waited: busy.Waited, PID: h.PID, Program: h.Program, Since: h.Since, Stopped: h.Stopped}
	case errors.Is(err, wal.ErrReadOnly):
		return nil, fmt.Errorf("%w: %s: %w", oxbow.ErrReadOnly, store, err)
	case err != nil:
		return nil, fmt.Errorf("locking %s: %w", store, err)
	}
	return release, nil
}

// salvage saves what can be read of the store in a new file, and checks that.
func (a *app) salvage(ctx context.Context, store, out string) (recoverOut, error) {
	var err error
	if out == "" {
		out, err = freePath(store + recoveredEnd)
	} else {
		out, err = a.abs(out)
	}
	if err != nil {
		return recoverOut{}, err
	}
	src, err := a.source()
	if err != nil {
		return recoverOut{}, err
	}
	r, err := oxbow.Recover(oxbow.WithSource(ctx, src), store, out, &oxbow.Options{Clock: a.env.Now, Rand: a.env.Rand, Source: src})
	switch {
	case errors.Is(err, fs.ErrExist):
		return recoverOut{}, &hinted{fmt.Errorf("recovering: %w: %s", fs.ErrExist, out), "name another file with --out"}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, oxbow.ErrFull):
		return recoverOut{}, &hinted{fmt.Errorf("recovering: %w", err), "name a place for the new file: oxbow recover --out FILE"}
	case err != nil:
		return recoverOut{}, fmt.Errorf("recovering: %w", err)
	}
	rep, err := a.checkFile(ctx, out)
	if err == nil && len(rep.Problems) > 0 {
		err = errors.New(rep.Problems[0].What)
	}
	if err != nil {
		return recoverOut{}, fmt.Errorf("reading what was saved again, in %s: %w", out, err)
	}
	o := recoverOut{Store: store, Out: out, Entries: r.Entries, Changes: r.Changes, First: r.First, Last: r.Last,
		Lost: r.Lost, BadBytes: r.BadBytes, Header: r.Header, Base: r.Base}
	if o.Lost == nil {
		o.Lost = [][2]uint64{}
	}
	// The file that was saved has the identity of the damaged one, whose own
	// header may not be readable.
	noted, err := durableOf(store, out)
	if err != nil {
		return recoverOut{}, err
	}
	named, err := lastNamed(store)
	o.had = max(noted, named)
	return o, err
}

// replace puts the recovered file in the place of the store, which it keeps
// under the name that it returns. The lock of the store is held.
//
// Where the file system has hard links, the store's name leads to one or the
// other at every moment, a crash included. Elsewhere there is a moment without
// a store, which doctor knows.
func (a *app) replace(dir vfs.FS, store, recovered string) (damaged string, err error) {
	damaged, err = freePath(store + damagedEnd + a.env.Now().Format("20060102-150405"))
	if err != nil {
		return "", fmt.Errorf("replacing the store: %w", err)
	}
	name, new, kept := filepath.Base(store), filepath.Base(recovered), filepath.Base(damaged)
	linked := os.Link(store, damaged) == nil
	if !linked {
		if err := dir.Rename(name, kept); err != nil {
			return "", fmt.Errorf("replacing the store: %w", err)
		}
	}
	if err := dir.Rename(new, name); err != nil {
		if linked {
			err = errors.Join(err, dir.Remove(kept))
		} else {
			err = errors.Join(err, dir.Rename(kept, name))
		}
		return "", fmt.Errorf("replacing the store: %w", err)
	}
	if err := dir.SyncDir("."); err != nil {
		return "", fmt.Errorf("making the new file durable under its name: %w", err)
	}
	return damaged, nil
}

// lostShown is how many stretches of lost changes are listed.
const lostShown = 20

func (a *app) showRecovered(r recoverOut) {
	a.printf("saved %s, from %s, in %s\n", count(r.Entries, "entry", "entries"), count(r.Changes, "change", "changes"), r.Out)
	switch {
	case len(r.Lost) > 0 || r.Base:
		a.printf("lost:\n")
	case r.BadBytes > 0:
		a.printf("no change is known to be lost\n")
	default:
		a.printf("no change was lost\n")
	}
	for i, l := range r.Lost {
		switch {
		case i == lostShown:
			a.printf("  and %d stretches more: --json lists them\n", len(r.Lost)-i)
		case i > lostShown:
		case l[0] == l[1]:
			a.printf("  change %d\n", l[0])
		default:
			a.printf("  changes %d to %d\n", l[0], l[1])
		}
	}
	if r.Base {
		a.printf("  entries that a compaction had kept, as they were before change %d\n", r.First)
	}
	if r.BadBytes > 0 {
		a.printf("%s of the file could not be read\n", bytesText(r.BadBytes))
	}
	if r.Header {
		a.printf("the header was damaged; it was worked out from the rest\n")
	}
	if r.Damaged == "" {
		a.note("%s was not changed", r.Store)
		a.note("to look at what was saved: oxbow --home %s list", quote(r.Out))
		a.note("to go on with it: oxbow recover --replace")
		return
	}
	a.printf("the damaged file is kept as %s\n", r.Damaged)
	a.note("to undo this, before anything new is remembered: mv %s %s", quote(r.Damaged), quote(r.Store))
	a.note("restart the programs that had the memory open")
}

// accept goes on from a store that went back to an earlier state.
func (a *app) accept(ctx context.Context) error {
	if err := a.ownOnly("recover"); err != nil {
		return err
	}
	store, err := a.storePath()
	if err != nil {
		return err
	}
	if _, err := os.Stat(store); errors.Is(err, fs.ErrNotExist) {
		return missing(filepath.Dir(store))
	}
	var last, had uint64
	err = a.with(ctx, change, func(ctx context.Context, m *oxbow.Memory) (err error) {
		// What was noted first: what is written meanwhile is then not missed.
		if had, err = durableOf(store, store); err != nil {
			return err
		}
		s, err := statsOf(ctx, m)
		if last = s.Last; err != nil || had <= last {
			return err
		}
		return wrapped("accepting", m.Accept(ctx))
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"store": store, "accepted": had > last, "last_change": last, "given_up": max(had, last) - last})
	}
	if had <= last {
		a.printf("%s did not go back: there is nothing to accept\n", store)
		return nil
	}
	a.printf("%s goes on from change %d\n", store, last)
	lost := fmt.Sprintf("changes %d to %d are given up, and their numbers are", last+1, had)
	if had == last+1 {
		lost = fmt.Sprintf("change %d is given up, and its number is", had)
	}
	a.note("%s used again; restart the programs that had the memory open", lost)
	return nil
}

// statsOf returns the numbers of the store.
func statsOf(ctx context.Context, m *oxbow.Memory) (oxbow.Stats, error) {
	c, ok := m.Store().(oxbow.Counter)
	if !ok {
		return oxbow.Stats{}, fmt.Errorf("counting: %w", oxbow.ErrUnsupported)
	}
	s, err := c.Stats(ctx)
	return s, wrapped("counting", err)
}
