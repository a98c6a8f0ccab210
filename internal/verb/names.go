// This file lists names of entries, for completion in a shell.

package verb

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// NamesIn is the argument of EntryNames.
type NamesIn struct {
	Prefix string `json:"prefix,omitempty" usage:"Only names that begin so."`
	Limit  int    `json:"limit" usage:"Most names."`
}

// EntryNamesOut is the result of EntryNames.
type EntryNamesOut struct {
	Names []string `json:"names"`
}

// shellCompletionTimeout is the maximum time for finding names. It is short because the person waits for the shell.
const shellCompletionTimeout = 300 * time.Millisecond

// EntryNames returns the names of entries that begin with in.Prefix. If the prefix is empty, it returns the names of
// the newest entries. It returns at most in.Limit names. If the search takes longer than shellCompletionTimeout, it
// returns the names that were found by then.
func EntryNames(ctx context.Context, w *Workspace, in NamesIn) (EntryNamesOut, error) {
	out := EntryNamesOut{Names: []string{}}
	if in.Prefix == "" {
		es, err := w.NewestEntries(ctx, in.Limit)
		for _, e := range es {
			out.Names = append(out.Names, e.Name)
		}
		return out, err
	}
	ctx, m, err := w.OpenMemory(ctx, Read)
	if err != nil {
		return out, err
	}
	brief, cancel := context.WithTimeout(ctx, shellCompletionTimeout)
	defer cancel()
	err = eachEntryName(brief, m, func(e *oxbow.Entry) bool {
		if strings.HasPrefix(e.Name, in.Prefix) && !slices.Contains(out.Names, e.Name) {
			out.Names = append(out.Names, strings.Clone(e.Name))
		}
		return len(out.Names) < in.Limit
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = nil
	}
	return out, err
}
