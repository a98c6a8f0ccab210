// This file is what decides whether a text that is written repeats others, and keeps what
// later texts are compared with.

package verb

import (
	"context"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// Knowledge is what stamps depend on besides the change.
type Knowledge struct {
	Memory   *oxbow.Memory                                          // of the store; nil where none is open
	Exposure func(context.Context, session.Caller) session.Exposure // nil where there are no sessions
	Caller   session.Caller                                         // of a call whose context carries none

	Prints     *fingerprint.File // of what the sessions of the home have read; nil for none
	AtTerminal bool              // a person of the command line types at a terminal

	// Reopen opens the memory once more, to be read. A store that has met damage accepts no
	// change, so that the comparison with its entries needs another one. If it is nil or
	// fails, the store itself is read.
	Reopen func() (*oxbow.Memory, error)
}

// reader returns the store from which entries are read for a comparison, and what closes it.
func (k *Knowledge) reader(store oxbow.Store) (_ oxbow.Store, closeFn func()) {
	if k.Reopen != nil {
		if m, err := k.Reopen(); err == nil {
			return m.Store(), func() { _ = m.Close() } // nothing was written
		}
	}
	return store, func() {}
}

// vouches reports whether the source is a person who is there: at a page or a terminal. A
// command whose input is no terminal may be an agent's that hides the variables by which
// it is known.
func (k *Knowledge) vouches(src oxbow.Source) bool {
	return src.Actor == oxbow.Person && (src.Door != "cli" || k.AtTerminal)
}

// keepPrints keeps fingerprints of changes that repeat others or were written by nobody who
// is known, so that what repeats these is found, too. Errors are ignored: such changes are
// also compared with the entries themselves.
func keepPrints(ops []oxbow.Op, k Knowledge) {
	if k.Prints == nil {
		return
	}
	for _, op := range ops {
		if e := afterOp(op, oxbow.Entry{}); e.Content != "" {
			keepPrintsOf(*k.Prints, &e)
		}
	}
}

// keepPrintsOf keeps fingerprints of an entry if nobody vouches for it.
func keepPrintsOf(p fingerprint.File, e *oxbow.Entry) {
	if taints := e.Values(oxbow.LabelTaint); len(taints) > 0 {
		_, _ = p.Add(fingerprint.Foreign, writtenText(e), taints...)
	} else if unvouched := e.Values(oxbow.LabelUnvouched); len(unvouched) > 0 {
		_, _ = p.Add(fingerprint.Unvouched, writtenText(e), unvouched...)
	}
}

// writtenText returns the text of an entry that may repeat others.
func writtenText(e *oxbow.Entry) string {
	return strings.Join(append([]string{e.Content, e.Name}, e.Aliases...), "\n")
}

type printsKey struct{}

// withPrints returns a context in which fingerprints are kept of entries that are shown and
// that nobody vouches for, so that what repeats them is found.
func withPrints(ctx context.Context, k Knowledge) context.Context {
	if k.Prints == nil {
		return ctx
	}
	return context.WithValue(ctx, printsKey{}, *k.Prints)
}
