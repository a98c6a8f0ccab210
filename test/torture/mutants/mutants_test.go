// This file tests that all mutants can be applied. A mutant is a patch that inserts a fault by replacing one line of
// oxbow's code. This line must still exist in the code.

package mutants

import (
	"strings"
	"testing"
)

func TestMutantsApply(t *testing.T) {
	root, err := LibraryDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, m := range All {
		if _, err := m.WriteOverlay(root, dir); err != nil {
			t.Error(err)
		}
	}
}

func TestMutantNoLongerApplies(t *testing.T) {
	m := Mutant{Name: "none", File: "a.go", Old: "x := 1", New: "x := 2"}
	for _, text := range []string{"y := 1", "x := 1\nx := 1"} {
		if _, err := m.applyTo(text); err == nil || !strings.Contains(err.Error(), "mutant none no longer applies: ") {
			t.Errorf("patch(%q) = %v, want that it no longer applies", text, err)
		}
	}
	if got, err := m.applyTo("a\nx := 1\nb"); err != nil || got != "a\nx := 2\nb" {
		t.Errorf("patch() = %q, %v", got, err)
	}
	if _, err := m.WriteOverlay(t.TempDir(), t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "no longer applies") {
		t.Errorf("Overlay() without its file = %v", err)
	}
	if _, err := FindMutant("ghost"); err == nil {
		t.Error("Named(ghost) found a mutant")
	}
}
