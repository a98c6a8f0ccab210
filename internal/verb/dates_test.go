// This file tests that a date has the same meaning in a filter, in a query and in a parameter.

package verb

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func TestDatesMeanTheSame(t *testing.T) {
	b := newBench(t) // the clock of the verbs shows noon on 20 April
	for _, day := range []string{"11", "12", "13", "14", "20"} {
		at, err := time.Parse(time.RFC3339, "2026-04-"+day+"T15:00:00Z")
		if err != nil {
			t.Fatal(err)
		}
		err = b.m.Apply(t.Context(), oxbow.Add{Name: "d" + day, Content: "harbor", Created: at})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		key, date string
		want      string
		also      []string // other names under which the parameter is accepted
	}{
		{"after", "2026-04-13", "d13 d14 d20", []string{"since", "from"}},
		{"after", "7d", "d13 d14 d20", []string{"since", "from"}},
		{"before", "2026-04-13", "d11 d12", nil},
		{"before", "7d", "d11 d12", nil},
		{"until", "2026-04-13", "d11 d12 d13", []string{"to"}},
		{"until", "7d", "d11 d12 d13", []string{"to"}},
	} {
		calls := map[string]string{
			`list {"filter":"` + c.key + ":" + c.date + `"}`:         "list",
			`recall {"query":"harbor ` + c.key + ":" + c.date + `"}`: "recall",
		}
		for _, name := range append(c.also, c.key) {
			calls[`list {"`+name+`":"`+c.date+`"}`] = "list"
			calls[`recall {"query":"harbor","`+name+`":"`+c.date+`"}`] = "recall"
		}
		for call, verb := range calls {
			a, err := b.try(verb, strings.TrimPrefix(call, verb+" "))
			if err != nil {
				t.Errorf("%s: %v", call, err)
				continue
			}
			var names []string
			switch a := a.Result.(type) {
			case ListOut:
				for _, e := range a.Entries {
					names = append(names, e.Name)
				}
			case RecallOut:
				for _, h := range a.Hits {
					names = append(names, h.Name)
				}
			}
			slices.Sort(names)
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("%s finds %q, want %q", call, got, c.want)
			}
		}
	}
}
