// This file tests counting labels, and changing the labels of many entries.

package label

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// open returns a memory with these entries. Each is described by its name and its labels, separated by spaces.
func open(t *testing.T, entries ...string) *oxbow.Memory {
	t.Helper()
	return openOn(t, vfs.NewMem(), entries...)
}

// openOn opens the memory on a disk and adds entries.
func openOn(t *testing.T, disk vfs.FS, entries ...string) *oxbow.Memory {
	t.Helper()
	now := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: disk, Clock: func() time.Time {
		now = now.Add(time.Minute)
		return now
	}})
	for _, e := range entries {
		ws := strings.Fields(e)
		if _, err := m.Remember(t.Context(), oxbow.Entry{Name: ws[0], Content: "about " +
			ws[0], Labels: labels(t, ws[1:]...)}); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func labels(t *testing.T, ws ...string) []oxbow.Label {
	t.Helper()
	var ls []oxbow.Label
	for _, w := range ws {
		l, err := oxbow.ParseLabel(w)
		if err != nil {
			t.Fatal(err)
		}
		ls = append(ls, l)
	}
	return ls
}

// shown returns the entries of the memory in the form that the helper open accepts: the name of the entry, followed by
// its labels.
func shown(t *testing.T, m *oxbow.Memory) []string {
	t.Helper()
	var es []string
	for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		es = append(es, strings.TrimSpace(e.Name+" "+joinLabels(e.Labels)))
	}
	return es
}

func TestEdit(t *testing.T) {
	before := []string{"a project:vtt tag:idea", "b project:VTT", "c tag:idea tag:ideas confidence:0.5", "d"}
	l := func(s string) oxbow.Label { return labels(t, s)[0] }
	where := func(s string) oxbow.Filter {
		f, err := query.ParseFilter(s, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, tt := range []struct {
		name string
		plan Planner
		want string // all entries after the change
		n    int    // number of changed entries
		err  error
	}{
		{"add by filter", PlanAddLabels(Selection{Filter: where("tag:idea")}, l("tag:x")),
			"a project:vtt tag:idea tag:x; b project:VTT; c confidence:0.5 tag:idea tag:ideas tag:x; d", 2, nil},
		{"add by name", PlanAddLabels(Selection{Names: []string{"d", "a"}}, l("tag:x"), l("tag:y")),
			"a project:vtt tag:idea tag:x tag:y; b project:VTT; c confidence:0.5 tag:idea tag:ideas; d tag:x tag:y", 2,
			nil},
		{"add by both", PlanAddLabels(Selection{Filter: where("tag:idea"), Names: []string{"a"}}, l("tag:x")),
			"a project:vtt tag:idea tag:x; b project:VTT; c confidence:0.5 tag:idea tag:ideas; d", 1, nil},
		{"add a confidence", PlanAddLabels(Selection{Names: []string{"c", "d"}}, l("confidence:0.9")),
			"a project:vtt tag:idea; b project:VTT; c confidence:0.9 tag:idea tag:ideas; d confidence:0.9", 2, nil},
		{"add what is there", PlanAddLabels(Selection{Names: []string{"a"}}, l("tag:idea")),
			"a project:vtt tag:idea; b project:VTT; c confidence:0.5 tag:idea tag:ideas; d", 0, nil},
		{"add to an unknown name", PlanAddLabels(Selection{Names: []string{"a", "z"}}, l("tag:x")), "", 0,
			oxbow.ErrNotFound},
		{"add to a name the filter leaves out",
			PlanAddLabels(Selection{Filter: where("tag:idea"), Names: []string{"d"}}, l("tag:x")), "", 0,
			oxbow.ErrNotFound},
		{"add a wrong label", PlanAddLabels(Selection{}, oxbow.Label{Key: "Kind", Value: "x"}), "", 0,
			oxbow.ErrInvalid},
		{"remove", PlanRemoveLabels(Selection{}, l("tag:idea"), l("project:vtt")),
			"a; b project:VTT; c confidence:0.5 tag:ideas; d", 2, nil},
		{"rename", PlanLabelRename(l("project:VTT"), l("project:table")),
			"a project:vtt tag:idea; b project:table; c confidence:0.5 tag:idea tag:ideas; d", 1, nil},
		{"rename to another key", PlanLabelRename(l("project:VTT"), l("tag:vtt")),
			"a project:vtt tag:idea; b tag:vtt; c confidence:0.5 tag:idea tag:ideas; d", 1, nil},
		{"rename to what is in use", PlanLabelRename(l("project:VTT"), l("project:vtt")), "", 0, oxbow.ErrInvalid},
		{"rename to itself", PlanLabelRename(l("tag:idea"), l("tag:idea")), "", 0, oxbow.ErrInvalid},
		{"rename the unknown", PlanLabelRename(l("tag:z"), l("tag:y")), "", 0, oxbow.ErrNotFound},
		{"merge", PlanMergeLabels([]oxbow.Label{l("tag:idea"), l("tag:ideas")}, l("tag:thought")),
			"a project:vtt tag:thought; b project:VTT; c confidence:0.5 tag:thought; d", 2, nil},
		{"merge into one of them", PlanMergeLabels([]oxbow.Label{l("tag:idea"), l("tag:ideas")}, l("tag:idea")),
			"a project:vtt tag:idea; b project:VTT; c confidence:0.5 tag:idea; d", 1, nil},
		{"merge nothing", PlanMergeLabels([]oxbow.Label{l("tag:idea")}, l("tag:idea")), "", 0, oxbow.ErrInvalid},
		{"merge the unknown", PlanMergeLabels([]oxbow.Label{l("tag:y"), l("tag:z")}, l("tag:idea")), "", 0,
			oxbow.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := open(t, before...)
			was := shown(t, m)
			p, seq, err := ApplyPlan(t.Context(), m, tt.plan, 0)
			if !errors.Is(err, tt.err) || (err == nil && len(p.EntryChanges) != tt.n) {
				t.Fatalf("Apply() changes %d, %v; want %d, %v", len(p.EntryChanges), err, tt.n, tt.err)
			}
			if tt.err != nil {
				if now := shown(t, m); !slices.Equal(now, was) {
					t.Errorf("a refused change left %q", now)
				}
				return
			}
			if got := strings.Join(shown(t, m), "; "); got != tt.want {
				t.Errorf("after %s: %s\nwant %s", p.ChangeNote, got, tt.want)
			}
			if tt.n == 0 {
				return
			}
			// The plan was applied as one change, so one undo reverts it.
			if _, cs, err := m.Undo(t.Context(), 1); err != nil || len(cs) != 1 || cs[0].Seq != seq ||
				cs[0].Note != p.ChangeNote || len(cs[0].Versions) != tt.n {
				t.Fatalf("Undo() = %+v, %v; want one change noted %q", cs, err, p.ChangeNote)
			}
			if now := shown(t, m); !slices.Equal(now, was) {
				t.Errorf("after undo: %q, want %q", now, was)
			}
		})
	}
}

// racer is a store that simulates another writer. Method Apply calls the function race before it applies operations, so
// that entries change after a plan was made and before the plan is applied. The field times is the number of further
// calls of race. The argument n of race is the number of calls that then remain.
type racer struct {
	oxbow.Store
	times int
	race  func(n int) error
}

func (r *racer) Apply(ctx context.Context, ops ...oxbow.Op) error {
	if r.times > 0 {
		r.times--
		if err := r.race(r.times); err != nil {
			return err
		}
	}
	return r.Store.Apply(ctx, ops...)
}

func TestApplyPlansAgain(t *testing.T) {
	m := open(t, "a tag:x", "b tag:x", "c tag:x")
	r := &racer{Store: m, times: 3, race: func(n int) error {
		if n == 0 {
			return m.Forget(t.Context(), "b")
		}
		return m.Apply(t.Context(), oxbow.Relabel{Name: "a", Labels: labels(t, "tag:x", fmt.Sprintf("tag:race%d", n))})
	}}
	plan := PlanLabelRename(labels(t, "tag:x")[0], labels(t, "tag:y")[0])
	if _, _, err := ApplyPlan(t.Context(), r, plan, 0); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(t, m), []string{"a tag:race1 tag:y", "c tag:y"}; !slices.Equal(got, want) {
		t.Errorf("Apply() among writers left %q, want %q", got, want)
	}
}

// TestNameSelectsOneEntry tests that a name selects the entry with this name, and no other entry that has the name as
// an alias. An alias selects an entry only if no entry has it as its name, and no other entry has the alias.
func TestNameSelectsOneEntry(t *testing.T) {
	m := open(t, "good", "evil", "other")
	for name, aliases := range map[string][]string{"evil": {"good", "both"}, "other": {"both", "only"}} {
		if err := m.Apply(t.Context(), oxbow.Update{Name: name, Content: name, Aliases: aliases}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, want string
		err        error
	}{
		{"good", "good", nil},
		{"only", "other", nil},
		{"both", "", oxbow.ErrNotFound}, // an AliasError
		{"none", "", oxbow.ErrNotFound},
	} {
		p, err := PlanAddLabels(Selection{Names: []string{tt.name, tt.name}}, labels(t, "tag:x")...)(t.Context(), m)
		var names []string
		for _, c := range p.EntryChanges {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("the name %q selects %q, %v, want %q, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
}

func TestCounts(t *testing.T) {
	m := open(t, "a tag:x project:p", "b tag:x", "c tag:y")
	cs, err := CountValues(t.Context(), m, oxbow.Filter{}, "")
	if got, want := fmt.Sprint(cs), "[{project:p 1} {tag:x 2} {tag:y 1}]"; got != want || err != nil {
		t.Errorf("Counts() = %s, %v; want %s", got, err, want)
	}
}

// TestCountsOfKey checks that the counts for a key are the same with a snapshot, without a snapshot, and with entries
// that were written after the snapshot.
func TestCountsOfKey(t *testing.T) {
	var ops []oxbow.Op
	for i := range 1500 {
		ls := fmt.Sprintf("tag:t%d tag:even%d project:p%d area:a%d", i%7, i%2, i%3, i%5)
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("n", i), Labels: labels(t, strings.Fields(ls)...)})
	}
	disk := vfs.NewMem()
	m := openOn(t, disk, "zero")
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	filters := []oxbow.Filter{
		{},
		{Terms: []oxbow.Term{{Key: "tag", Values: []string{"t3", "t4"}}}},
		{Terms: []oxbow.Term{{Key: "tag", Values: []string{"even1"}, Not: true}}},
		{Terms: []oxbow.Term{{Key: "area", Values: []string{"a2"}}}},
		{Terms: []oxbow.Term{{Key: "name", Values: []string{"n8", "n9"}}}},
		{Terms: []oxbow.Term{{Key: "name", Values: []string{"n8"}, Not: true}}},
		{Terms: []oxbow.Term{{Key: "has", Values: []string{"area"}, Not: true}}},
	}
	compare := func(when string) {
		t.Helper()
		for i, f := range filters {
			all, err := CountValues(t.Context(), m.Store(), f, "")
			if err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"tag", "project", "area", "none"} {
				want := slices.DeleteFunc(slices.Clone(all), func(c Count) bool { return c.Label.Key != key })
				got, err := CountValues(t.Context(), m.Store(), f, key)
				if !slices.Equal(got, want) || err != nil {
					t.Errorf("%s, filter %d, key %s: %v, %v; want %v", when, i, key, got, err, want)
				}
			}
		}
	}
	compare("without a snapshot")
	if err := m.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	m = openOn(t, disk)
	if s := m.Store().(interface{ SnapshotSeq() uint64 }); s.SnapshotSeq() == 0 {
		t.Fatal("the store has no snapshot")
	}
	compare("with a snapshot")
	change := oxbow.Relabel{Name: "n8", Labels: labels(t, "tag:t3", "project:other")}
	if err := m.Apply(t.Context(), change, oxbow.Remove{Name: "n9"}); err != nil {
		t.Fatal(err)
	}
	compare("after a change")
}

func TestLint(t *testing.T) {
	for _, tt := range []struct {
		name, have string // have: labels with their counts
		want       string // similar labels = label that should replace them
	}{
		{
			"capitals and marks",
			"project:homebrew-vtt*3 project:Homebrew_VTT*1 project:other*2",
			"project:homebrew-vtt project:Homebrew_VTT = project:homebrew-vtt",
		},
		{
			"plural",
			"tag:decisions*5 tag:decision*2 tag:entry*1 tag:entries*1",
			"tag:decisions tag:decision = tag:decisions; tag:entries tag:entry = tag:entries",
		},
		{
			"typing error",
			"tag:architecture*9 tag:architecure*1 tag:identity*1",
			"tag:architecture tag:architecure = tag:architecture",
		},
		{"swapped", "tag:debugging*2 tag:debuggign*1", "tag:debugging tag:debuggign = tag:debugging"},
		{
			"owner",
			"project:oxbow*4 project:oxbow-memory/oxbow*1",
			"project:oxbow project:oxbow-memory/oxbow = project:oxbow",
		},
		{
			"one path",
			`file:./pkg/a.go*1 file:pkg/a.go*2 file:pkg/b.go*1`,
			`file:pkg/a.go file:./pkg/a.go = file:pkg/a.go`,
		},
		{"accents", "tag:café*1 tag:cafe*2", "tag:cafe tag:café = tag:cafe"},
		{"tag and project", "project:vtt*1 tag:VTT*4", "project:vtt tag:VTT = project:vtt"},
		{"numbers are meant", "tag:release1*1 tag:release2*1 tag:v1*1 tag:v2*1 tag:2024*1 tag:2025*1", ""},
		{"marks that are meant", "tag:c*1 tag:c++*1 tag:c#*1", ""},
		{"short words", "tag:cat*1 tag:car*1 tag:go*1 tag:do*1", ""},
		{"other keys", "project:alpha*1 file:alpha*1 tag:alpht*1", ""},
		{"confidence", "confidence:0.5*1 confidence:0.50*1", ""},
	} {
		var cs []Count
		for _, w := range strings.Fields(tt.have) {
			i := strings.LastIndexByte(w, '*')
			cs = append(cs, Count{labels(t, w[:i])[0], int(w[i+1] - '0')})
		}
		var got []string
		for _, d := range FindSimilarLabels(cs) {
			var ls []oxbow.Label
			for _, c := range d.Labels {
				ls = append(ls, c.Label)
			}
			if d.Why == "" {
				t.Errorf("%s: %+v does not say why", tt.name, d)
			}
			got = append(got, joinLabels(ls)+" = "+d.MergeTarget.String())
		}
		if s := strings.Join(got, "; "); s != tt.want {
			t.Errorf("%s: Lint() = %s\nwant %s", tt.name, s, tt.want)
		}
	}
}

// TestLintIsFast checks that FindSimilarLabels does not compare each label with all others. For 20,000 labels, this
// would be 200 million pairs.
func TestLintIsFast(t *testing.T) {
	var cs []Count
	for i := range 20_000 {
		word := ""
		for n := i; len(word) < 8; n = n*7 + 5 {
			word += string(rune('a' + n%26))
		}
		cs = append(
			cs,
			Count{
				oxbow.Label{Key: "tag", Value: fmt.Sprintf("%s%c%c%c", word, 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26)},
				1,
			},
		)
	}
	start := time.Now()
	FindSimilarLabels(cs)
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("Lint() of 20,000 labels took %s", d)
	}
}
