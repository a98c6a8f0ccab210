// This file adds advice to the error for an unknown name.

package verb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// AdviseUnknownName adds advice to an error that matches [oxbow.ErrNotFound] because no entry has the given name. It
// returns other errors unchanged. It also returns err unchanged if w.omitsNameSuggestions is set.
//
// The advice depends on the cause:
//   - If several entries have the name as an alias, the advice is to use the name of one such entry.
//   - If only the team's files contain the entry, the advice says so.
//   - In other cases, the advice contains up to 5 similar names. If the entry was removed, it also contains the number
//     of the change that removed the entry.
//
// If searching for similar names fails, AdviseUnknownName returns this error instead.
func (w *Workspace) AdviseUnknownName(ctx context.Context, m *oxbow.Memory, name string, err error) error {
	if !errors.Is(err, oxbow.ErrNotFound) || w.omitsNameSuggestions {
		return err
	}
	var several *oxbow.AliasError
	if errors.As(err, &several) {
		return Advise(
			err,
			"give the name of one of them; to take the alias from the other, remember that with the aliases it keeps",
		)
	}
	if all, oerr := w.Open(ctx, Read); oerr == nil && all != m {
		e, gerr := all.Get(ctx, name)
		isStored := gerr == nil && e.ID != 0
		if isStored && e.MayShow(oxbow.BySearch) {
			err = fmt.Errorf("%w in your home, because your team has it as a file", err)
			return Advise(err, teamFileAdvice(ctx, m, e.Name))
		}
	}
	lost := &unknownNameError{err: err, name: name}
	for v, verr := range m.Versions(ctx, name) {
		if verr != nil {
			break // The history does not contain an entry with this name, or the store has no history.
		}
		if v.Verb == oxbow.VerbRemove {
			lost.removalChangeNumber, lost.lastVersionNumber = v.Seq, v.Prev
		}
		break
	}
	near, nerr := similarNames(ctx, m, name, 5)
	if nerr != nil {
		return nerr
	}
	lost.similarNames = near
	return lost
}

// TeamEntryNameSuffix is appended to the name of an entry in team files if the home contains an entry with the same
// name.
const TeamEntryNameSuffix = " (team)"

// teamFileAdvice returns advice on how to change the entry with the given name, which is stored in team files. If the
// name ends in TeamEntryNameSuffix, because the home has an entry of its own with the same name, the advice also says
// to forget the home's entry first.
func teamFileAdvice(ctx context.Context, m *oxbow.Memory, name string) string {
	const edit = "edit this file, which oxbow team status names; or "
	plain, isTwin := strings.CutSuffix(name, TeamEntryNameSuffix)
	if _, err := m.Get(ctx, plain); isTwin && err == nil {
		return edit + "forget your own " + strconv.Quote(plain) + ", then take it back into your home: oxbow team " +
			"unshare " + text.QuoteShellOperand(plain)
	}
	return edit + "take it back into your home: oxbow team unshare " + text.QuoteShellOperand(name)
}

// addVersionAdvice returns the error err with a list of versions that exist. err is the error for an unknown
// version of an entry, such as NAME@SEQ.
func (w *Workspace) addVersionAdvice(
	ctx context.Context,
	m *oxbow.Memory,
	name string,
	seq uint64,
	err error,
) error {
	var lost *unknownNameError
	err = w.AdviseUnknownName(ctx, m, name, err)
	if !errors.As(err, &lost) {
		return err
	}
	for v, verr := range m.Versions(ctx, name) {
		if verr != nil || len(lost.versionNames) == maxWordsInNote {
			break
		}
		if v.Verb != oxbow.VerbRemove && !v.Erased {
			lost.versionNames = append(lost.versionNames, name+"@"+strconv.FormatUint(v.Seq, 10))
		}
	}
	lost.versionNames = slices.Compact(lost.versionNames)
	if len(lost.versionNames) > 0 {
		lost.err = fmt.Errorf("%q has no version %d: %w", name, seq, lost.err)
	}
	return lost
}
