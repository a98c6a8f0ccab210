// This file makes the error for a call of restore that does not say which version to restore.

package verb

import (
	"fmt"

	"github.com/oxbow-memory/oxbow"
)

// entryNotForgottenError means that a call of the verb "restore" did not name a version, although the entry exists.
// Only an entry that was forgotten can be restored without naming a version.
type entryNotForgottenError struct {
	name string
	// number of the change that wrote the version before the current version (0 if such a version does not exist)
	previousVersionSeq uint64
}

func (e *entryNotForgottenError) Error() string {
	if e.previousVersionSeq == 0 {
		return fmt.Sprintf("%q was not forgotten, and the log has no earlier version of it", e.name)
	}
	return fmt.Sprintf("%q was not forgotten: say which earlier version is to come back", e.name)
}

func (*entryNotForgottenError) Is(target error) bool { return target == oxbow.ErrInvalid }

func (e *entryNotForgottenError) remedy() Note {
	if e.previousVersionSeq == 0 {
		return Notef("%s shows what was changed", VerbRef("history"))
	}
	return Notef(
		"%s; %s shows all versions",
		&CallHint{
			Verb:   "restore",
			Args:   []HintArgument{{"name", e.name}, {"seq", e.previousVersionSeq}},
			Effect: "brings back the one before",
		},
		VerbRef("history"),
	)
}
