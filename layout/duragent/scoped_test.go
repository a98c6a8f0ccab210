// This file tests two features of the backend oxbow that other stores need not have. The backend imports the entries of
// existing files into its store. Its history shows each agent only that agent's part.

package duragent

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestAdopt tests a home whose backend is changed from files to an oxbow store. The first open for writing must copy
// all entries of the files into the store. Later opens must not copy them again.
func TestAdopt(t *testing.T) {
	fsys := vfs.NewMem()
	agents(t, fsys, backendFiles, "bob", "rei")
	for _, agent := range []string{"bob", "rei"} {
		h := openHome(t, options(fsys, agent))
		for tool, args := range map[string]m{"remember": {"content": agent + " learned"}, "reflect": {"content": agent +
			" likes tea"}, "update_world": {"topic": agent, "content": "an agent"}} {
			if _, err := call(t, h, tool, args); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := map[string]string{}
	for _, agent := range []string{"bob", "rei"} {
		before[agent] = names(t, openHome(t, options(fsys, agent)).Memory())
	}
	agents(t, fsys, backendOxbow, "bob", "rei")

	// A reader cannot copy the entries into the store, and therefore sees the entries of the files.
	look := options(fsys, "rei")
	look.Memory.ReadOnly = true
	files := fsys.Names()
	if got := names(t, openHome(t, look).Memory()); got != before["rei"] {
		t.Errorf("before anything is taken over: %s, want %s", got, before["rei"])
	}
	if got := fsys.Names(); !slices.Equal(got, files) {
		t.Errorf("looking left %q", got)
	}

	var warned []string
	o := options(fsys, "rei")
	o.Warn = func(s string) { warned = append(warned, s) }
	h := openHome(t, o)
	if got := names(t, h.Memory()); got != before["rei"] {
		t.Errorf("rei has %s, want %s", got, before["rei"])
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "6 entries") {
		t.Errorf("warned %q", warned)
	}
	if err := h.Memory().Forget(t.Context(), "bob"); err != nil {
		t.Fatal(err)
	}
	again := openHome(t, options(fsys, "bob"))
	if got, want := names(t, again.Memory()), strings.Replace(before["bob"], "bob/world, ", "", 1); got != want {
		t.Errorf("bob has %s, want %s", got, want)
	}
	if got := names(t, openHome(t, look).Memory()); strings.Contains(got, "bob") {
		t.Errorf("a reader still sees the files: %s", got)
	}
	// Going back to the files warns of what they do not show.
	agents(t, fsys, backendFiles, "bob", "rei")
	warned = nil
	if got := names(t, openHome(t, o).Memory()); got != before["rei"] {
		t.Errorf("back in the files: %s, want %s", got, before["rei"])
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "memory.oxbow is not read") {
		t.Errorf("warned %q", warned)
	}
}

func TestHistory(t *testing.T) {
	fsys := vfs.NewMem()
	agents(t, fsys, backendOxbow, "bob", "rei")
	rei, bob := openHome(t, options(fsys, "rei")).Memory(), openHome(t, options(fsys, "bob")).Memory()
	add(t, rei, oxbow.Add{Name: curatedNoteName, Content: "one"})
	add(t, bob, oxbow.Add{Name: curatedNoteName, Content: "bob's"})
	add(t, bob, oxbow.Add{Name: "people", Content: "Alice"})
	add(t, rei, oxbow.Update{Name: curatedNoteName, Content: "two"})
	log := func(m *oxbow.Memory) string {
		var all []string
		for c, err := range m.Log(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range c.Versions {
				all = append(all, v.Entry.Name+"="+v.Entry.Content)
			}
		}
		slices.Sort(all)
		return strings.Join(all, ", ")
	}
	if got, want := log(rei), "MEMORY=one, MEMORY=two, people=Alice"; got != want {
		t.Errorf("rei's log is %s, want %s", got, want)
	}
	if got, want := log(bob), "MEMORY=bob's, people=Alice"; got != want {
		t.Errorf("bob's log is %s, want %s", got, want)
	}
	c := oxbow.CapabilitiesOf(bob.Store()).Counter
	if c == nil {
		t.Fatal("the store does not count")
	}
	if st, err := c.Stats(t.Context()); err != nil || st.Entries != 2 || st.Bytes == 0 || st.Last != 4 {
		t.Errorf("Stats = %+v, %v, want bob's 2 entries and the file's 4 changes", st, err)
	}
	n := 0
	for v, err := range rei.Versions(t.Context(), curatedNoteName) {
		if err != nil || v.Entry.Name != curatedNoteName {
			t.Errorf("Versions = %+v, %v", v, err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("%d versions, want 2", n)
	}
	if _, _, err := rei.Undo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if e, err := rei.Get(t.Context(), curatedNoteName); err != nil || e.Content != "one" {
		t.Errorf("after undo: %q, %v", e.Content, err)
	}
	if _, err := rei.Revert(t.Context(), 2); !errors.Is(err, oxbow.ErrInvalid) {
		t.Errorf("undoing bob's change = %v, want %v", err, oxbow.ErrInvalid)
	}
	then, err := rei.AsOf(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer then.Close()
	if got := names(t, then); got != "MEMORY/note" {
		t.Errorf("as of change 2, rei has %s", got)
	}
	for _, name := range []string{"agents/bob/MEMORY", "agents/rei/MEMORY"} {
		if e, err := rei.Get(t.Context(), name); !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("Get(%s) = %+v, %v", name, e, err)
		}
		for v, err := range rei.Versions(t.Context(), name) {
			if !errors.Is(err, oxbow.ErrNotFound) {
				t.Errorf("Versions(%s) = %+v, %v", name, v, err)
			}
		}
		if _, err := rei.Restore(t.Context(), name, 1); !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("Restore(%s) = %v", name, err)
		}
	}
}
