// This file tests the verb that returns names for completion in a shell.

package verb

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

func TestNames(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"boat", "boom", "crew", "bow"} {
		if err := b.m.Apply(t.Context(), oxbow.Add{Name: name, Content: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		in   NamesIn
		want string
	}{
		{NamesIn{Limit: 2}, "bow crew"},
		{NamesIn{Prefix: "bo", Limit: 9}, "boat boom bow"},
		{NamesIn{Prefix: "bo", Limit: 2}, "boat boom"},
		{NamesIn{Prefix: "z", Limit: 2}, ""},
	} {
		out, err := EntryNames(t.Context(), b.Workspace, tt.in)
		if got := strings.Join(out.Names, " "); err != nil || got != tt.want {
			t.Errorf("Names(%+v) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}
