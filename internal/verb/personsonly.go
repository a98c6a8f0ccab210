// This file restricts actions to persons. Only a person may decide about proposals, or permanently erase a text that
// a person wrote.

package verb

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow"
)

// IsPerson reports whether a person makes the call: in a terminal of their own, or in a browser
// that oxbow ui signed in. Tokens and clients of agents do not count as persons.
func IsPerson(ctx context.Context) bool {
	src, _ := oxbow.SourceFrom(ctx)
	return src.Actor == oxbow.Person
}

// RequirePerson returns an error matching [oxbow.ErrInvalid] unless a person makes the call. The
// argument act completes the sentence "only a person ...". command is the command that the person should
// type.
func RequirePerson(ctx context.Context, act, command string) error {
	if IsPerson(ctx) {
		return nil
	}
	return Advise(Invalidf("only a person %s", act), "a person runs "+command+
		" in a terminal of their own, not in one of the client's")
}

// CheckErase returns an error if the caller may not permanently erase the versions. A person may
// erase all versions. Another caller may not erase a version that a person wrote, and the error
// then matches [oxbow.ErrInvalid]. If versions yields an error, CheckErase returns that error
// unchanged. Every verb that erases calls CheckErase before it changes anything, and passes its own
// name as verb.
func CheckErase(ctx context.Context, verb string, versions iter.Seq2[oxbow.Entry, error]) error {
	if IsPerson(ctx) {
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
