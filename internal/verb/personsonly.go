// This file restricts actions to persons. Only a person may decide about proposals, or permanently erase a text that
// a person wrote.

package verb

import (
	"context"
	"iter"

	"github.com/oxbow-memory/oxbow"
)

// IsCallByPerson reports whether a person makes the call: in a terminal of their own, or in a browser that "oxbow ui"
// has signed in. A caller with a token, or a client of an agent, does not count as a person.
func IsCallByPerson(ctx context.Context) bool {
	src, _ := oxbow.SourceFrom(ctx)
	return src.Actor == oxbow.Person
}

// RequirePerson returns an error that matches [oxbow.ErrInvalid] if no person makes the call. restrictedAction
// completes the sentence "only a person ...". command is the command that a person should type.
func RequirePerson(ctx context.Context, restrictedAction, command string) error {
	if IsCallByPerson(ctx) {
		return nil
	}
	return Advise(Invalidf("only a person %s", restrictedAction), "a person runs "+command+
		" in a terminal of their own, not in one of the client's")
}

// CheckMayEraseVersions checks whether the caller may erase versions permanently. A person may erase all versions. For
// other callers, the error matches [oxbow.ErrInvalid] if a person wrote one of the versions. If the sequence versions
// yields an error, CheckMayEraseVersions returns this error unchanged.
//
// Every command that erases versions calls CheckMayEraseVersions before it changes anything. The argument verb is the
// name of this command.
func CheckMayEraseVersions(ctx context.Context, verb string, versions iter.Seq2[oxbow.Entry, error]) error {
	if IsCallByPerson(ctx) {
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
