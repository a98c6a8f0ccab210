// This file tests which entries FindEditedNames returns after persons and agents made changes.

package agentedit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

var sources = map[string]oxbow.Source{
	"person": {Door: "cli", Actor: oxbow.Person},
	"agent":  {Door: "mcp", Actor: oxbow.Agent},
	"import": {Door: "cli", Actor: oxbow.Imported, Ref: "notes.md"},
	"bulk": {
		Door:    "cli",
		Actor:   oxbow.Imported,
		Ref:     "session:claude/s1 notes.md",
		Claimed: oxbow.Claim{Agent: "claude"},
	},
	"program": {Door: "cli", Actor: oxbow.Program},
}

// openMemory opens a memory in fsys. The memory is checked at the end of the test.
func openMemory(t *testing.T, fsys vfs.FS) *oxbow.Memory {
	t.Helper()
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if rep, err := m.Check(context.Background()); err != nil || len(rep.Problems) > 0 {
			t.Errorf("Check = %+v, %v", rep.Problems, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// act performs the action in line. The line consists of an author, a verb, the name of an entry, and a text. For
// example, if line is "agent write x one", an agent writes the text "one" to the entry x. The test fails if the action
// fails.
func act(t *testing.T, m *oxbow.Memory, line string) {
	t.Helper()
	words := append(strings.SplitN(line, " ", 4), "", "")
	by := words[0]
	verb := words[1]
	name := words[2]
	text := words[3]
	src, ok := sources[by]
	if !ok {
		t.Fatalf("%q: nobody is called %s", line, by)
	}
	ctx := oxbow.WithSource(t.Context(), src)
	var err error
	switch verb {
	case "write":
		if e, gerr := m.Get(ctx, name); gerr == nil {
			err = m.Apply(ctx, oxbow.Update{Name: name, Content: text, Labels: e.Labels, Aliases: e.Aliases})
		} else {
			err = m.Apply(ctx, oxbow.Add{Name: name, Content: text, Aliases: []string{"alias of " + name}})
		}
	case "forget":
		err = m.Apply(ctx, oxbow.Remove{Name: name})
	case "label":
		key, value, _ := strings.Cut(text, ":")
		err = m.Apply(ctx, oxbow.Relabel{Name: name, Labels: []oxbow.Label{{Key: key, Value: value}}})
	case "alias":
		err = m.Apply(ctx, oxbow.Alias{Name: name})
	case "rename":
		var e oxbow.Entry
		e, err = m.Get(ctx, name)
		if err == nil {
			err = m.Apply(ctx, oxbow.Remove{Name: name}, oxbow.Add{Name: text, Content: e.Content})
		}
	case "undo":
		_, _, err = m.Undo(ctx, 1)
	case "redo":
		var last oxbow.Change
		for last, err = range m.Log(ctx) {
			break
		}
		_, err = m.Revert(ctx, last.Seq)
	case "restore":
		var seq uint64
		_, err = fmt.Sscan(text, &seq)
		if err == nil {
			_, err = m.Restore(ctx, name, seq)
		}
	default:
		t.Fatalf("%q: there is no verb %s", line, verb)
	}
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"an agent's change", "person write a one; agent write a two", "a"},
		{"an agent's own text", "agent write a one; agent write a two", ""},
		{"a person's change of an agent's text", "agent write a one; person write a two", ""},
		{"an agent forgets", "person write a one; agent forget a", "a"},
		{"an agent forgets and adds another", "person write a one; agent forget a; agent write a two", "a"},
		{"a person forgets and an agent adds", "person write a one; person forget a; agent write a two", ""},
		{"an agent renames", "person write a one; agent rename a b", "a"},
		{"an agent pins", "person write a one; agent label a pinned:true", "a"},
		{"an agent tags", "person write a one; agent label a tag:x", ""},
		{"an agent takes the pin off", "person write a one; person label a pinned:true; agent label a tag:x", "a"},
		{"an agent takes an alias off", "person write a one; agent alias a", "a"},
		{"an agent changes it and back", "person write a one; agent write a two; agent write a one", ""},
		{"a person tags it after the agent", "person write a one; agent write a two; person label a tag:x", "a"},
		{"a person writes it after the agent", "person write a one; agent write a two; person write a three", ""},
		{"a person writes the same text", "person write a one; agent write a two; person write a two", ""},
		{"a person undoes it", "person write a one; agent write a two; person undo", ""},
		{"a person undoes the undo", "person write a one; agent write a two; person undo; person redo", "a"},
		{
			"a person undoes the writing",
			"person write a one; agent write a two; person write a three; person undo",
			"a",
		},
		{"an agent undoes a person's change", "person write a one; person write a two; agent undo", "a"},
		{"an agent undoes its own", "person write a one; agent write a two; agent undo", ""},
		{
			"a person restores the agent's text",
			"person write a one; agent write a two; person write a three; person restore a 2",
			"",
		},
		{"a person's import", "person write a one; import write a two", ""},
		{"an agent's import", "person write a one; bulk write a two", "a"},
		{"a program's change", "person write a one; program write a two", ""},
		{"a program's change after an agent's", "person write a one; agent write a two; program write a three", "a"},
		{
			"an agent again after the person",
			"person write a one; agent write a two; person write a two; agent write a three",
			"a",
		},
		{"two", "person write a one; person write b two; agent write b three; agent write a four", "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := vfs.NewMem()
			whole, steps := openMemory(t, fsys), openMemory(t, vfs.NewMem())
			for _, line := range strings.Split(c.lines, "; ") {
				act(t, whole, line)
				act(t, steps, line)
				if _, err := FindEditedNames(t.Context(), steps); err != nil { // This call saves its result.
					t.Fatal(err)
				}
			}
			for how, m := range map[string]*oxbow.Memory{"at once": whole, "step by step": steps} {
				found, err := FindEditedNames(t.Context(), m)
				if got := strings.Join(found, " "); err != nil || got != c.want {
					t.Errorf("%s: Find = %q, %v, want %q", how, got, err, c.want)
				}
				for _, name := range found {
					e, isOpen, err := DescribeEdit(t.Context(), m, name)
					if err != nil || !isOpen || e.PersonVersion.Seq == 0 || e.LastAgentVersion.Seq == 0 ||
						e.FirstAgentVersion.Seq == 0 ||
						e.RestoreSeq == 0 ||
						e.RestoreSeq >= e.FirstAgentVersion.Seq {
						t.Errorf("%s: DescribeEdit(%q) = %+v, %v, %v", how, name, e, isOpen, err)
					}
				}
			}
		})
	}
}

func TestDescribeRenamed(t *testing.T) {
	m := openMemory(t, vfs.NewMem())
	act(t, m, "person write a one")
	act(t, m, "agent rename a b")
	if e, isOpen, err := DescribeEdit(t.Context(), m, "a"); err != nil || !isOpen || e.CurrentEntry != nil ||
		e.NewName != "b" ||
		e.RestoreSeq != 1 {
		t.Errorf("Describe = %+v, %v, %v; want it to be renamed to b", e, isOpen, err)
	}
}

// TestState checks that a saved result is used for later searches, and that a missing, damaged or outdated file causes
// no wrong result. A redaction and a compaction must delete the file.
func TestState(t *testing.T) {
	fsys := vfs.NewMem()
	m := openMemory(t, fsys)
	act(t, m, "person write a one")
	act(t, m, "agent write a two")
	find := func(want ...string) {
		t.Helper()
		if found, err := FindEditedNames(t.Context(), m); err != nil || !slices.Equal(found, want) {
			t.Errorf("Find = %q, %v, want %q", found, err, want)
		}
	}
	find("a")
	const name = "m.oxbow.edits"
	data, err := vfs.ReadFile(fsys, name, -1)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, []byte("{"), data[:len(data)-3], append([]byte("x"), data...),
		[]byte(strings.Replace(string(data), `"a"`, `"b"`, 1))} {
		if err := vfs.WriteDerived(fsys, name, 0o600, bad); err != nil {
			t.Fatal(err)
		}
		find("a")
	}
	// A saved state from another log is ignored.
	other := editedNamesResult{LastChangeSeq: 2, LogHash: strings.Repeat("0", 64), EditedEntryNames: []string{"zebra"}}
	if err := vfs.WriteDerived(fsys, name, 0o600, other.encode()); err != nil {
		t.Fatal(err)
	}
	find("a")
	for range 2 * minNewChangesToSave {
		act(t, m, "person write b text")
	}
	act(t, m, "agent write b other")
	find("a", "b")
	if _, err := m.Store().(oxbow.Redactor).RedactVersions(t.Context(), func(e oxbow.Entry, _ bool) bool {
		return e.Name == "a"
	}, false); err != nil {
		t.Fatal(err)
	}
	if data, err := vfs.ReadFile(fsys, name, -1); err == nil {
		t.Errorf("after a redaction the file has %q", data)
	}
	find("b")
	if _, err := m.Store().(oxbow.Compactor).Compact(t.Context(), time.Now().Add(time.Hour), false); err != nil {
		t.Fatal(err)
	}
	find() // The compaction deleted the person's text.
}

// TestFindMany checks that FindEditedNames finds the names of all entries that an agent has edited, if there are more
// of them than maxSingleEntryReads. After the edits are reverted, FindEditedNames must find none.
func TestFindMany(t *testing.T) {
	m := openMemory(t, vfs.NewMem())
	var adds, labels []oxbow.Op
	for i := range 3 * maxSingleEntryReads {
		name := fmt.Sprint("n", i)
		adds = append(adds, oxbow.Add{Name: name, Content: "text"})
		labels = append(labels, oxbow.Relabel{Name: name, Labels: []oxbow.Label{{Key: "pinned", Value: "true"}}})
	}
	person, agent := oxbow.WithSource(t.Context(), sources["person"]), oxbow.WithSource(t.Context(), sources["agent"])
	if err := m.Apply(person, adds...); err != nil {
		t.Fatal(err)
	}
	if _, err := FindEditedNames(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if err := m.Apply(agent, labels...); err != nil {
		t.Fatal(err)
	}
	if found, err := FindEditedNames(t.Context(), m); err != nil || len(found) != len(adds) {
		t.Errorf("Find = %d names, %v, want %d", len(found), err, len(adds))
	}
	if _, err := m.Revert(agent, 2); err != nil {
		t.Fatal(err)
	}
	if found, err := FindEditedNames(t.Context(), m); err != nil || len(found) != 0 {
		t.Errorf("after the agent took it back, Find = %d names, %v", len(found), err)
	}
}
