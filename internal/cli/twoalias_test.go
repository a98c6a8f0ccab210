// This file tests what is reported about a store in which two entries have the same alias.

package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// TestOneAliasOfTwoEntries checks a store that was written by a program or a version that allowed two entries to have
// the same alias. The alias must identify no entry, and check and doctor must name it.
func TestOneAliasOfTwoEntries(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "one", "ONE", "--alias", "al")
	home := filepath.Join(w.dir, homeDirName)
	m, err := oxbow.Open(filepath.Join(home, storeFileName), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = m.Apply(t.Context(), oxbow.Add{Name: "two", Content: "TWO", Aliases: []string{"al"}})
	if cerr := m.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
	if status, _, said := w.run(t, "get", "al"); status != 1 ||
		!strings.Contains(said, `"al" is an alias of "one" and of "two"`) {
		t.Errorf("get = %d, %q, want both entries", status, said)
	}
	for _, command := range []string{"check", "doctor"} {
		_, out, said := w.run(t, command)
		if !strings.Contains(out+said, `"al" is a name or alias of "one" and of "two"`) {
			t.Errorf("%s does not name the alias: %s%s", command, out, said)
		}
	}
}
