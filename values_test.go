// This file tests how the entries with each value of a label are counted.

package oxbow_test

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// TestValues tests Values, which counts the entries with each value of a label, and CountAny. It compares the counts
// before and after changes, by a scan of the entries and with an index.
func TestValues(t *testing.T) {
	m := newMemory(t, nil)
	big := strings.Repeat("filler ", 1<<19) // so much text that the first query scans the entries and builds no index
	for i := range 30 {
		if err := m.Apply(
			t.Context(),
			oxbow.Add{
				Name:    strconv.Itoa(i),
				Content: big[:100_000],
				Labels:  []oxbow.Label{{Key: "shown", Value: strconv.Itoa(i % 3)}, {Key: "tag", Value: "x"}},
			},
		); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want map[string]int, values ...string) {
		t.Helper()
		if got, err := m.Values(t.Context(), "shown", values...); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Values of %q = %v, %v; want %v", values, got, err, want)
		}
		total := 0
		for _, n := range want {
			total += n
		}
		all := slices.Collect(maps.Keys(want))
		got, err := m.CountAny(t.Context(), oxbow.Term{Key: "shown", Values: all})
		if err != nil || got != total {
			t.Errorf("CountAny of %q = %d, %v; want %d", all, got, err, total)
		}
	}
	check(map[string]int{"2": 10, "none": 0}, "2", "none")
	both := []oxbow.Term{{Key: "tag", Values: []string{"x"}}, {Key: "shown", Values: []string{"1", "2"}}}
	if n, err := m.CountAny(t.Context(), both...); err != nil || n != 30 {
		t.Errorf("CountAny of entries that two terms select = %d, %v; want 30", n, err)
	}
	check(map[string]int{"0": 10, "1": 10, "2": 10})
	for _, op := range []oxbow.Op{
		oxbow.Remove{Name: "2"},
		oxbow.Relabel{Name: "5"},
		oxbow.Update{Name: "8", Content: "x", Labels: []oxbow.Label{{Key: "shown", Value: "new"}}},
	} {
		if err := m.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	check(map[string]int{"0": 10, "1": 10, "2": 7, "new": 1})
	check(map[string]int{"2": 7}, "2")
	if err := m.MakeIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(map[string]int{"2": 7, "new": 1}, "2", "new")
}
