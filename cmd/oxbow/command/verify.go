// This file holds "oxbow log --verify": the proof that history was not edited.

package command

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// verifyOut is what was proved, as JSON.
type verifyOut struct {
	checkOut
	Noted *notedOut `json:"noted,omitempty"`
}

// notedOut says which change has the hash that was noted earlier.
type notedOut struct {
	Head  string `json:"head"`
	Found bool   `json:"found"`
	Seq   uint64 `json:"seq"`            // the change; that before the first one where the log itself begins with the hash
	Time  string `json:"time,omitempty"` // of the change, RFC 3339
}

func (a *app) verify(cmd *cobra.Command, head string, args []string) error {
	if len(args) > 0 {
		return misusef("oxbow log --verify reads all changes", "--verify takes no NAME: the proof is over the whole log")
	}
	if cmd.Flags().Changed("limit") {
		return misusef("", "--limit means nothing with --verify")
	}
	if _, err := hex.DecodeString(head); head != "" && (err != nil || len(head) != 64) {
		return misusef("oxbow check and oxbow log --verify print it", "--head %q is not a hash of 64 hexadecimal digits", head)
	}
	ctx := cmd.Context()
	out := verifyOut{}
	var err error
	if out.checkOut, err = a.examine(ctx); err != nil {
		return err
	}
	if head != "" && out.OK {
		if out.Noted, err = a.findHead(ctx, out.Store, head); err != nil {
			return err
		}
	}
	fine := out.OK && (out.Noted == nil || out.Noted.Found)
	if a.json {
		err = a.printJSON(out)
	} else {
		a.showVerified(out)
	}
	if err == nil && !fine {
		err = errTold
	}
	return err
}

// findHead looks for the change with that hash.
func (a *app) findHead(ctx context.Context, store, head string) (*notedOut, error) {
	out := &notedOut{Head: head}
	err := a.with(ctx, look, func(ctx context.Context, m *oxbow.Memory) error {
		for c, err := range m.Log(ctx) {
			if err != nil {
				return fmt.Errorf("reading the log: %w", err)
			}
			if c.Hash == head {
				out.Found, out.Seq, out.Time = true, c.Seq, c.Time.UTC().Format(time.RFC3339)
				return nil
			}
		}
		return nil
	})
	if err != nil || out.Found {
		return out, err
	}
	// The hash may be that of the change before the first one, with which the
	// chain begins.
	h, err := headerOf(store)
	if err == nil && hex.EncodeToString(h.Chain[:]) == head {
		out.Found, out.Seq = true, h.Base
	}
	return out, err
}

// headerOf reads the header of a store. A missing one has the zero header.
func headerOf(store string) (h wal.Header, err error) {
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	log, err := wal.Open(dir, filepath.Base(store), wal.Options{ReadOnly: true})
	if err != nil {
		return h, fmt.Errorf("reading the header of %s: %w", store, err)
	}
	return log.Header(), log.Close()
}

func (a *app) showVerified(out verifyOut) {
	if !out.OK {
		a.showCheck(out.checkOut)
		return
	}
	if out.Last == 0 {
		a.printf("sound: no change was made yet\n")
	} else {
		a.printf("sound: changes %d to %d, head %s\n", out.First, out.Last, out.Head)
	}
	n := out.Noted
	switch {
	case n == nil:
		if out.Last > 0 {
			a.note("note the head elsewhere; oxbow log --verify --head HASH then proves that nothing up to here was edited")
		}
	case !n.Found:
		why := "what was noted is not the history of this memory: it was edited, or another memory or an older copy is here"
		if out.First > 1 {
			why += fmt.Sprintf(", or the change was dropped by a compaction (the log begins at change %d)", out.First)
		}
		a.printf("no change has the hash %s\n", n.Head)
		for _, line := range wrap(why, a.width()-2) {
			a.printf("  %s\n", line)
		}
	case n.Time == "":
		a.printf("the hash noted is that of the state before change %d: nothing up to there was edited\n", n.Seq+1)
	default:
		at, err := time.Parse(time.RFC3339, n.Time)
		when := n.Time
		if err == nil {
			when = a.date(at)
		}
		a.printf("the hash noted is that of change %d, %s: nothing up to there was edited\n", n.Seq, when)
	}
}
