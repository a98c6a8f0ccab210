// This file tests the names of the files that contain facts about the world. Such a file name is made from the name of
// an entry.

package duragent

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

func TestStem(t *testing.T) {
	for _, tt := range []struct{ name, stem string }{
		{"people", "people"}, {"Luna the dog", "Luna the dog"}, {"It works.", "It works."}, {"why?", "why%3F"},
		{"a/b", "a%2Fb"},
		{"../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd"}, {".hid", "%2Ehid"}, {"100%", "100%25"}, {"%3F", "%253F"},
		{"x.conflict-1", "x%2Econflict-1"}, {"world/MEMORY", "MEMORY"},
		{"world/2026-02-18 15:46", "2026-02-18 15%3A46"}, {"world/x", "world%2Fx"},
	} {
		if got := factFileStem(tt.name); got != tt.stem {
			t.Errorf("factStem(%q) = %q, want %q", tt.name, got, tt.stem)
		}
		if got := decodeName(tt.stem); got != tt.name {
			t.Errorf("decodeName(%q) = %q, want %q", tt.stem, got, tt.name)
		}
	}
	// Files that people named are taken as they are.
	for _, stem := range []string{"why?", "100%", "%zz", "%2f", "%41", "a%", "%80", "%+1"} {
		if got := decodeName(stem); got != stem {
			t.Errorf("decodeName(%q) = %q", stem, got)
		}
	}
}

// FuzzStem tests that factFileStem converts each valid entry name to the name of an ordinary file, and that decodeName
// converts the file name back to the same entry name. Therefore two entries never have the same file.
func FuzzStem(f *testing.F) {
	for _, s := range []string{"people", "why?", "../x", ".conflict-1", "%2E", "world/MEMORY", "MEMORY",
		"2026-02-18 15:46"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if oxbow.CheckName(name) != nil || isAgentsOwnEntry(name) {
			return
		}
		stem := factFileStem(name)
		file := stem + ".md"
		if got := decodeName(stem); got != name {
			t.Errorf("%q is in %q, which is read as %q", name, file, got)
		}
		if !fs.ValidPath(file) || strings.ContainsAny(stem, strings.TrimSuffix(reservedChars, "%")) ||
			strings.HasPrefix(file, ".") || mdtree.IsConflictCopy(file) {
			t.Errorf("%q is in %q", name, file)
		}
	})
}
