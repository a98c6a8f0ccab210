// Tests of calls that make no sense: they are refused, and the memory goes on.

package oxbow_test

import (
	"errors"
	"math"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/overlay"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Pages that cannot be are refused, and one after the last entry is empty, whatever the
// store.
func TestPagesThatCannotBe(t *testing.T) {
	own, under := newMemory(t, vfs.NewMem()), newMemory(t, vfs.NewMem())
	remember(t, own, "a", "one")
	both, err := overlay.New(t.Context(), own, under.Store(), " (team)")
	if err != nil {
		t.Fatal(err)
	}
	plain := struct{ oxbow.Store }{own.Store()} // has no pages of its own
	for name, m := range map[string]*oxbow.Memory{"log": own, "overlay": both, "plain": oxbow.New(plain, nil)} {
		for _, p := range [][2]int{{-1, 5}, {0, -5}, {-1, -1}} {
			if _, _, err := m.Newest(t.Context(), oxbow.Filter{}, p[0], p[1]); !errors.Is(err, oxbow.ErrInvalid) {
				t.Errorf("%s: Newest(%d, %d) = %v, want ErrInvalid", name, p[0], p[1], err)
			}
		}
		for _, p := range [][2]int{{1, math.MaxInt}, {math.MaxInt, math.MaxInt}} {
			if page, total, err := m.Newest(t.Context(), oxbow.Filter{}, p[0], p[1]); err != nil || len(page) > 0 || total != 1 {
				t.Errorf("%s: Newest(%d, %d) = %d of %d entries, %v", name, p[0], p[1], len(page), total, err)
			}
		}
		if page, _, err := m.Newest(t.Context(), oxbow.Filter{}, 0, math.MaxInt); err != nil || len(page) != 1 {
			t.Errorf("%s: Newest() of all = %+v, %v", name, page, err)
		}
	}
	remember(t, own, "b", "two") // no lock is held
	checked(t, own)
}
