// This file tests which command objects the program creates for its arguments. It creates only the called subcommand if
// the arguments name one, and otherwise all subcommands.

package cli

import (
	"slices"
	"testing"
)

// TestCommandTableNames tests that the names in the table of subcommands are those of the built commands.
func TestCommandTableNames(t *testing.T) {
	mem := newLazyMemory(newWorld(t).env)
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
		{[]string{"--profile", "dev", "recall"}, ""}, // subcommandName does not know this flag.
		{[]string{"history"}, ""},                    // The word is an alias of a command.
		{[]string{"nosuch"}, ""},
		{[]string{"help", "recall"}, ""},
		{[]string{"completion", "bash"}, ""},
		{[]string{"__complete", "get", ""}, ""},
		{[]string{"--home"}, ""},
		{nil, ""},
	} {
		mem := newLazyMemory(newWorld(t).env)
		if got := subcommandName(Run, c.args); got != c.want {
			t.Errorf("%q calls %q, want %q", c.args, got, c.want)
		}
		built := len(mem.buildCommandTreeForArgs(Run, c.args).Commands())
		want := 1
		if c.want == "" {
			want = len(subcommandNames(Run))
		}
		if built != want {
			t.Errorf("%q builds %d commands, want %d", c.args, built, want)
		}
	}
}
