// This file adds the entries in team files to the memory that a command uses.

package cli

import (
	"context"
	"errors"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/overlay"
	"github.com/oxbow-memory/oxbow/internal/share/team"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// teamSearchInterval is the minimum time between two searches for team files, if the first search found no files. A
// server searches again after this time, because team files may be added or trusted later.
const teamSearchInterval = time.Second

// trustedTeamTree returns the team files of the working directory if the user trusts them, and otherwise nil. Once
// trusted team files were found, they are used for the rest of the run. Otherwise trustedTeamTree searches again, but
// only if the last search was at least teamSearchInterval ago.
func (mem *lazyMemory) trustedTeamTree() *team.Tree {
	t := &mem.teamFiles
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.trustedTree != nil {
		return t.trustedTree
	}
	isFirst, now := t.lastSearchTime.IsZero(), mem.env.Now()
	since := now.Sub(t.lastSearchTime)
	isRecent := 0 <= since && since < teamSearchInterval
	if !isFirst && isRecent {
		return nil
	}
	t.lastSearchTime = now
	wd, err := mem.env.absolutePath(".")
	if err != nil {
		return nil
	}
	found, err := team.FindTree(wd)
	switch {
	case err != nil && isFirst:
		mem.env.printWarning("team files are not read: %v", err)
	case err != nil || found == nil:
	case found.IsTrusted(mem.finder.host().TrustList):
		t.trustedTree = found
	case isFirst:
		mem.env.printNote(
			"there are team files in %s, which are not recalled until you trust them: oxbow team trust",
			replaceHarmfulChars(found.Path()),
		)
	}
	return t.trustedTree
}

// withTeamEntries returns a read-only memory with the entries of m and the trusted team files. It returns m itself if
// team files are missing or cannot be read. Closing the returned memory does not close m.
func (mem *lazyMemory) withTeamEntries(ctx context.Context, m *oxbow.Memory) *oxbow.Memory {
	t := mem.trustedTeamTree()
	if t == nil {
		return m
	}
	files, err := t.Open(ctx, mdtree.Options{Clock: mem.env.Now, Warn: func(said string) {
		mem.env.printWarning("team files: %s", replaceHarmfulChars(said))
	}})
	if err == nil {
		shown := team.NewTeamStore(files, mem.finder.host().TrustList.WrittenTeamFiles)
		var over *oxbow.Memory
		over, err = overlay.New(ctx, m, shown, verb.TeamEntryNameSuffix)
		if err == nil {
			return over
		}
		err = errors.Join(err, shown.Close())
	}
	mem.env.printWarning("team files are not read: %v", err)
	return m
}
