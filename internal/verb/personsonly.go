// This file holds what only a person may do: decide about what waits for a person, and erase a
// text of a person for good.

package verb

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow"
)

// isPerson reports whether a person makes the call: in a terminal of their own, or in a browser
// that oxbow ui signed in. Tokens and clients of agents are not persons.
func isPerson(ctx context.Context) bool {
	src, _ := oxbow.SourceFrom(ctx)
	return src.Actor == oxbow.Person
}

// PersonOnly returns an error matching [oxbow.ErrInvalid] unless a person makes the call. The
// sentence "only a person" goes on with act; command is what the person types instead.
func PersonOnly(ctx context.Context, act, command string) error {
	if isPerson(ctx) {
		return nil
	}
	return Advise(Invalidf("only a person %s", act), "a person runs "+command+
		" in a terminal of their own, not in one of the client's")
}

// MayErase decides whether the caller may erase versions for good. A person may. Another caller
// may not erase a version that a person wrote: the error then matches [oxbow.ErrInvalid]. An
// error of the versions is returned as it is. Every verb that erases calls MayErase before it
// changes anything; verb is its name.
func MayErase(ctx context.Context, verb string, versions iter.Seq2[oxbow.Entry, error]) error {
	if isPerson(ctx) {
		return nil
	}
	for e, err := range versions {
		if err != nil {
			return err
		}
		if e.Source.Actor == oxbow.Person {
			return Advise(
				Invalidf(
					"a person wrote a version of %q, which %s would erase for good; nothing was erased",
					e.Name,
					verb,
				),
				"only a person erases it: oxbow "+verb+", in a terminal of their own",
			)
		}
	}
	return nil
}
