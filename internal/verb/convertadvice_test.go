// This file tests that an error advises to use another layout only if that would help.

package verb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
)

// TestConvertIsAdvisedWhereItHelps tests the remedies of errors that match ErrUnsupported, for cases in which a
// conversion of the home to another layout would not help. Each remedy must advise something, but not a conversion.
func TestConvertIsAdvisedWhereItHelps(t *testing.T) {
	w := new(verb.Workspace)
	_, _, noTree := annotations.OpenStore(t.Context(), w)
	_, _, noSessions := w.OpenArchive(t.Context())
	_, noProfiles := verb.LoadProfile(t.Context(), w, verb.LoadMemoryProfileIn{})
	_, noAgents := profiles.SpawnSubAgent(t.Context(), w, nil, profiles.SpawnSubAgentIn{})
	for _, err := range []error{noTree, noSessions, noProfiles, noAgents,
		errors.Join(oxbow.ErrUnsupported, git.ErrNoRepository)} {
		if h := verb.ErrorRemedy(err).String(); !errors.Is(err, oxbow.ErrUnsupported) || h == "" ||
			strings.Contains(h, "convert") {
			t.Errorf("Remedy(%v) = %q, want another way out", err, h)
		}
	}
}
