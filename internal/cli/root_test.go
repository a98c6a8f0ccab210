// This file tests which commands a command line builds.

package cli

import (
	"slices"
	"testing"
)

// The table of subcommands contains the names that the built commands have.
func TestCommandTableNames(t *testing.T) {
	mem := newOpenMemory(newWorld(t).env)
	names := subcommandNames(Run)
	if len(names) == 0 {
		t.Fatal("the table is empty")
	}
	for _, name := range names {
		if got := rootCommandNames(mem.buildCommandTree(Run, name)); !slices.Equal(got, []string{name}) {
			t.Errorf("the row %q builds %q", name, got)
		}
	}
	all := rootCommandNames(mem.rootCommand(Run))
	slices.Sort(all)
	slices.Sort(names)
	if !slices.Equal(all, names) {
		t.Errorf("the whole tree has %q, the table %q", all, names)
	}
}

func TestCalledCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"recall", "list"}, "recall"},
		{[]string{"--home", "get", "--json", "log", "-n", "2"}, "log"},
		{[]string{"--home=x", "-q", "label", "list"}, "label"},
		{[]string{"--profile", "dev", "recall"}, ""}, // a flag that subcommandName does not know
		{[]string{"history"}, ""},                    // an alias
		{[]string{"nosuch"}, ""},
		{[]string{"help", "recall"}, ""},
		{[]string{"completion", "bash"}, ""},
		{[]string{"__complete", "get", ""}, ""},
		{[]string{"--home"}, ""},
		{nil, ""},
	} {
		mem := newOpenMemory(newWorld(t).env)
		if got := subcommandName(Run, c.args); got != c.want {
			t.Errorf("%q calls %q, want %q", c.args, got, c.want)
		}
		built := len(mem.buildTreeForArgs(Run, c.args).Commands())
		want := 1
		if c.want == "" {
			want = len(subcommandNames(Run))
		}
		if built != want {
			t.Errorf("%q builds %d commands, want %d", c.args, built, want)
		}
	}
}
