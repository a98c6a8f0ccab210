// This file tests that a memory from which a session was reverted is equal to a memory that never contained the
// session.

package revert

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

var seeds = flag.Int("seeds", 60, "random histories of TestNeverSeen")

func open(t testing.TB) *oxbow.Memory {
	t.Helper()
	m := storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	return m
}

// in returns a context with the source of a session.
func in(session string) context.Context {
	actor := oxbow.Agent
	if session == "person" {
		actor = oxbow.Person
	}
	return oxbow.WithSource(context.Background(), oxbow.Source{Door: "mcp", Actor: actor, Session: session})
}

func ofSession(s string, derived bool) VersionSelection {
	return VersionSelection{SelectsVersion: func(c *oxbow.Change, _ *oxbow.Version) bool {
		return c.Source.Session == s
	}, IncludesCopiedVersions: derived}
}

// act is one action of a session. The verb names the action, such as "write" or "merge". The action changes the entry
// called name, and some actions also use the entry called other. The string text is the new content, tag or alias. If
// the memory lacks the entries that an action needs, method do changes nothing.
type act struct {
	session, verb, name, other, text string
}

func (a act) do(t testing.TB, m *oxbow.Memory) {
	t.Helper()
	ctx := in(a.session)
	e, err := m.Store().Get(ctx, a.name)
	there := err == nil
	o, err := m.Store().Get(ctx, a.other)
	both := there && err == nil
	switch {
	case a.verb == "write":
		_, err = m.Remember(ctx, oxbow.Entry{Name: a.name, Content: a.text})
	case a.verb == "append" && there:
		err = m.Apply(ctx, oxbow.Update{Name: a.name, Content: e.Content + "\n" +
			a.text, Aliases: e.Aliases, Labels: e.Labels})
	case a.verb == "copy" && err == nil:
		_, err = m.Remember(ctx, oxbow.Entry{Name: a.name, Content: a.text + "\n" + o.Content})
	case a.verb == "label" && there:
		err = m.Apply(
			ctx,
			oxbow.Relabel{
				Name:   a.name,
				Labels: oxbow.SortLabels(append(slices.Clone(e.Labels), oxbow.Label{Key: "tag", Value: a.text})),
			},
		)
	case a.verb == "unlabel" && there:
		ls := slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool { return l.Value == a.text })
		err = m.Apply(ctx, oxbow.Relabel{Name: a.name, Labels: ls})
	case a.verb == "alias" && there && !slices.Contains(e.Aliases, a.text):
		err = m.Apply(ctx, oxbow.Alias{Name: a.name, Aliases: append(slices.Clone(e.Aliases), a.text)})
	case a.verb == "forget" && there:
		err = m.Forget(ctx, a.name)
	case a.verb == "merge" && both:
		aliases := slices.Clone(e.Aliases)
		for _, x := range append([]string{o.Name}, o.Aliases...) {
			if x != e.Name && !slices.Contains(aliases, x) {
				aliases = append(aliases, x)
			}
		}
		err = m.Apply(ctx, oxbow.Remove{Name: o.Name}, oxbow.Update{Name: e.Name, Content: e.Content, Aliases: aliases,
			Labels: oxbow.SortLabels(slices.Concat(e.Labels, o.Labels))})
	default:
		err = nil
	}
	if err != nil {
		t.Fatalf("%+v: %v", a, err)
	}
}

// state returns the whole content of a memory as text, so that two states can be compared. It leaves out IDs, versions
// and times. It also leaves out the label that records who wrote a text, because a person who restores a text changes
// this label and not the text.
func state(t testing.TB, m *oxbow.Memory) string {
	t.Helper()
	var all []string
	for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(
			all,
			fmt.Sprintf(
				"%s (%s) %q aliases %q labels %v",
				e.Name,
				e.Kind,
				e.Content,
				slices.Sorted(slices.Values(e.Aliases)),
				oxbow.WithoutTextBy(e.Labels),
			),
		)
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// history applies random actions to m. Some are actions of the session "bad", and some are derived from what this
// session wrote. history returns all other actions. If only these are applied to an empty memory, the result must be
// what a revert of session "bad" leaves in m.
func history(t testing.TB, m *oxbow.Memory, r *rand.Rand) (rest []act) {
	// touched contains the names of entries that session "bad" changed, or that were derived from its entries. said
	// contains the names of entries whose content has words of this session.
	touched, said := map[string]bool{}, map[string]bool{}
	for i := range 10 + r.IntN(40) {
		a := act{
			session: []string{"bad", "good", "person"}[r.IntN(3)],
			name:    string(rune('a' + r.IntN(6))),
			other:   string(rune('a' + r.IntN(6))),
		}
		a.verb = []string{"write", "write", "append", "copy", "label", "unlabel", "alias", "forget", "merge"}[r.IntN(9)]
		a.text = fmt.Sprintf("w%dx%d one%d two%d three%d four%d five%d six%d", i, r.IntN(9), i, i, i, i, i, i)
		e, err := m.Store().Get(t.Context(), a.name)
		there := err == nil
		_, err = m.Store().Get(t.Context(), a.other)
		other := err == nil
		switch a.verb {
		case "append", "forget":
			if !there {
				continue
			}
		case "label", "alias":
			a.text = fmt.Sprintf("%s%d", a.session, i)
			if !there {
				continue
			}
		case "unlabel":
			if !there || len(e.Labels) == 0 {
				continue
			}
			a.text = e.Labels[r.IntN(len(e.Labels))].Value
		case "copy":
			if !other {
				continue
			}
		case "merge":
			if !there || !other || a.name == a.other {
				continue
			}
		}
		derived := (a.verb == "append" && said[a.name]) || (a.verb == "copy" && said[a.other]) ||
			(a.verb == "merge" && (touched[a.name] || touched[a.other]))
		bad := a.session == "bad" || derived
		a.do(t, m)
		if !bad {
			rest = append(rest, a)
		}
		switch a.verb {
		case "write", "copy", "append":
			said[a.name] = bad
		case "forget":
			said[a.name] = false
		case "merge":
			said[a.other] = false
		}
		switch {
		case bad:
			touched[a.name] = true
			if a.verb == "merge" {
				touched[a.other] = true
			}
		case a.verb == "forget":
			delete(touched, a.name)
		case a.verb == "merge":
			delete(touched, a.other)
		}
	}
	return rest
}

// TestNeverSeen reverts a session together with everything that was derived from the session. The memory must then be
// equal to a memory that never contained the session. A second revert must have nothing to do. An undo of the revert
// must make the memory equal to its former state.
func TestNeverSeen(t *testing.T) {
	took := 0
	for seed := range uint64(*seeds) {
		m, never := open(t), open(t)
		for _, a := range history(t, m, rand.New(rand.NewPCG(seed, 1))) {
			a.do(t, never)
		}
		before, want := state(t, m), state(t, never)
		p := do(t, m, ofSession("bad", true))
		if got := state(t, m); got != want {
			t.Fatalf("seed %d: after the revert\n%s\nwant\n%s\nit was\n%s\nplan %+v", seed, got, want, before, p)
		}
		if p.IsEmpty() {
			continue
		}
		took++
		again, err := MakePlan(t.Context(), historian(t, m), ofSession("bad", true))
		if err != nil || !again.IsEmpty() {
			t.Fatalf("seed %d: a second revert does %+v, %v; want nothing", seed, again.Steps, err)
		}
		if _, _, err := m.Undo(in("person"), 1); err != nil {
			t.Fatal(err)
		}
		if got := state(t, m); got != before {
			t.Fatalf("seed %d: after undo\n%s\nwant\n%s", seed, got, before)
		}
		do(t, m, ofSession("bad", true))
		if got := state(t, m); got != want {
			t.Fatalf("seed %d: after the revert, undo and revert\n%s\nwant\n%s", seed, got, want)
		}
	}
	if took < *seeds/2 {
		t.Errorf("%d of %d histories had something to take back", took, *seeds)
	}
}

func historian(t testing.TB, m *oxbow.Memory) oxbow.Historian {
	t.Helper()
	h, err := m.History()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func do(t testing.TB, m *oxbow.Memory, sel VersionSelection) *Plan {
	t.Helper()
	p, err := MakePlan(t.Context(), historian(t, m), sel)
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Apply(in("person"), oxbow.PartOptions{})
	seq := made.LastSeq
	if err != nil || (seq == 0) != p.IsEmpty() {
		t.Fatalf("Apply = %d, %v", seq, err)
	}
	if seq != 0 {
		for c, err := range m.Log(t.Context()) {
			if err != nil || c.Seq != seq {
				t.Fatalf("the last change is %d, %v; want %d", c.Seq, err, seq)
			}
			break
		}
	}
	return p
}

// closeCountingHistorian counts how many stores with earlier states are open.
type closeCountingHistorian struct {
	oxbow.Historian
	openCount, madeCount int
	getError             error // error of Get of each earlier state, if it is not nil
}

func (h *closeCountingHistorian) AsOf(ctx context.Context, seq uint64) (oxbow.Store, error) {
	past, err := h.Historian.AsOf(ctx, seq)
	if err == nil {
		h.openCount++
		h.madeCount++
	}
	return &closeCountingStore{past, h}, err
}

type closeCountingStore struct {
	oxbow.Store
	historian *closeCountingHistorian
}

func (s *closeCountingStore) Get(ctx context.Context, name string) (oxbow.Entry, error) {
	if s.historian.getError != nil {
		return oxbow.Entry{}, s.historian.getError
	}
	return s.Store.Get(ctx, name)
}

func (s *closeCountingStore) Close() error {
	s.historian.openCount--
	return s.Store.Close()
}

// TestPlanClosesEarlierState tests that a plan closes the earlier state that it read, because the state may keep files
// open. It must also close the state if reading the state fails.
func TestPlanClosesEarlierState(t *testing.T) {
	m := open(t)
	for _, session := range []string{"a", "b", "a"} {
		if _, err := m.Remember(in(session), oxbow.Entry{Name: "style", Content: "of " + session}); err != nil {
			t.Fatal(err)
		}
	}
	history, err := m.History()
	if err != nil {
		t.Fatal(err)
	}
	for _, getError := range []error{nil, errors.New("the entry cannot be read")} {
		h := &closeCountingHistorian{Historian: history, getError: getError}
		if _, err := MakePlan(t.Context(), h, ofSession("a", true)); !errors.Is(err, getError) {
			t.Errorf("MakePlan = %v, want %v", err, getError)
		}
		if h.openCount != 0 || h.madeCount == 0 {
			t.Errorf("%d of %d earlier states stayed open", h.openCount, h.madeCount)
		}
	}
}
