// Some checks of notes are slow, so a quick check is made first. If the quick check fails, the slow check is skipped.
// This file tests that each quick check accepts everything that the slow check accepts. A quick check may accept more.

package exchange

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// TestMayBeOneError tests mayDifferByOneTypingError with random changes of the known header fields. The function must
// return true if the edit distance between the two texts is 0 or 1. It may also return true for larger distances, but
// must reject many of these pairs.
func TestMayBeOneError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	counts := map[int]int{} // pairs by distance
	rejected := 0
	for range 20_000 {
		field := headerFields[r.IntN(len(headerFields))].key
		b := []byte(field)
		for range r.IntN(4) {
			switch i := r.IntN(len(b)); r.IntN(4) {
			case 0:
				b[i] = "aest_"[r.IntN(5)]
			case 1:
				b = append(b[:i], append([]byte{"aest_"[r.IntN(5)]}, b[i:]...)...)
			case 2:
				if len(b) > 1 {
					b = append(b[:i], b[i+1:]...)
				}
			case 3:
				j := (i + 1) % len(b)
				b[i], b[j] = b[j], b[i]
			}
		}
		d := text.EditDistance(b, []byte(field))
		counts[min(d, 3)]++
		mayBe := mayDifferByOneTypingError(string(b), field)
		if d <= 1 && !mayBe {
			t.Errorf("mayBeOneError rejects %q and %q, whose distance is %d", b, field, d)
		}
		if !mayBe {
			rejected++
		}
	}
	if counts[1] < 1000 || rejected < 1000 {
		t.Errorf("the test tried %v pairs by distance, and %d were rejected", counts, rejected)
	}
}

// TestMayBeConflictCopy tries the names in the comment of conflictCopyPattern, in lower case and in capital letters.
func TestMayBeConflictCopy(t *testing.T) {
	for _, name := range []string{
		"Note (Pat's conflicted copy 2026-03-01)", "Note.sync-conflict-20260301-120000-ABCDEFG",
		"Note_conflict-20260301-120000", "Note conflict 2026-03-01 12:00",
		"Note (SFConflict pat@example.org 2026-03-01-12-00-00)", "Note (conflict)", "Note [conflicted]",
		"Note_DESKTOP_Mar-01_Conflict", "Note.conflict-1", "Note (in Konflikt stehende Kopie)", "Note (Konfliktkopie)",
		"Note (copie en conflit)", "Note (copie conflictuelle)", "Note (copia en conflicto)",
		"Note (copia in conflitto)", "Note (cópia em conflito)", "Note (conflicterende kopie)",
		"Note (конфликтующая копия)", "Note (競合コピー)", "Note (冲突副本)", "Note (衝突複本)",
	} {
		for _, name := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if !conflictCopyPattern().MatchString(name) || !isConflictCopy(name+".md") {
				t.Errorf("%q is not taken for a conflict copy", name)
			}
		}
	}
	for _, name := range []string{"Note.md", "On flight.md", "onfl.md", "o", ""} {
		if mayBeConflictCopy(name) {
			t.Errorf("mayBeConflictCopy lets %q through", name)
		}
	}
}

// TestMayHavePermalink tests that isBasicMemoryNote finds the key permalink in several spellings, and no other text. It
// also tests that mayHavePermalink does not read the text below the front matter.
func TestMayHavePermalink(t *testing.T) {
	for front, want := range map[string]bool{
		"title: a\ntype: note\npermalink: b\n":       true,
		"Title: a\nTYPE: note\nPermaLink: b\n":       true,
		"title: a\ntype: note\n\"permalink\": b\n":   true,
		"title: a\ntype: note\n":                     false,
		"title: permalink\ntype: note\nlink: b\n":    false,
		"title: a\ntype: note\npermalink: [b, c]\n":  false,
		"title: a\ntype: note\nx:\n  permalink: b\n": false,
	} {
		if got := isBasicMemoryNote([]byte("---\n" + front + "---\npermalink: x\n")); got != want {
			t.Errorf("isBasicMemory of %q is %v", front, got)
		}
	}
	if mayHavePermalink([]byte("---\ntitle: a\n---\npermalink: x\n")) || mayHavePermalink([]byte("permalink: x\n")) {
		t.Error("mayHavePermalink also reads the text below the front matter")
	}
}
