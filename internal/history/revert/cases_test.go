// This file tests single cases of reverts: what is kept, what is restored, and what is reported.

package revert

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// write creates a memory and makes a change for each line. A line has the form "session verb name text", in which |
// stands for a newline. The verb merge has a second name instead of a text. The verbs undo and redo (which reverts the
// newest change) use only the session.
func write(t *testing.T, lines ...string) *oxbow.Memory {
	t.Helper()
	m := open(t)
	for _, l := range lines {
		w := strings.SplitN(l, " ", 4)
		a := act{session: w[0], verb: w[1], name: w[2]}
		if len(w) > 3 {
			a.text = strings.ReplaceAll(w[3], "|", "\n")
		}
		if a.verb == "merge" {
			a.other = a.text
		}
		switch a.verb {
		case "undo":
			if _, _, err := m.Undo(in(a.session), 1); err != nil {
				t.Fatal(err)
			}
		case "redo":
			for c, err := range m.Log(t.Context()) {
				if err == nil {
					_, err = m.Revert(in(a.session), c.Seq)
				}
				if err != nil {
					t.Fatal(err)
				}
				break
			}
		default:
			a.do(t, m)
		}
	}
	return m
}

func TestCases(t *testing.T) {
	for _, c := range []struct {
		name    string
		lines   []string
		derived bool
		want    string // expected contents by name
		said    string // expected steps, conflicts and derived versions
	}{
		{"a line of a person stays in a text that is taken back",
			[]string{
				"person write a one|two|three|four",
				"bad write a one|two|three|evil",
				"person write a ONE|two|three|evil",
			}, false,
			"a=ONE|two|three|four", "returned a 2; kept content of a 3 by person"},
		{"a person's text over that of the session stays",
			[]string{"person write a one", "bad write a evil", "person write a two"}, false,
			"a=two", "kept content of a 3 by person"},
		{"labels alone do not hold what the session made",
			[]string{"bad write a evil", "person label a mine"}, false,
			"", "removed a 1; kept  of a 2 by person"},
		{"a person's label on a text that is taken back stays",
			[]string{"person write a one", "bad write a evil", "person label a mine"}, false,
			"a=one [tag:mine]", "returned a 2; kept labels of a 3 by person"},
		{"what was undone is no change", []string{"bad write a evil", "person undo a"}, false, "", ""},
		{"what was undone and done again is", []string{"bad write a evil", "person undo a", "person redo a"}, false,
			"", "removed a 1"},
		{"what others undid of their own is not kept",
			[]string{"bad write a evil", "good write a two", "person undo a"}, false, "", "removed a 1"},
		{"a session's undo is taken back", []string{"person write a one", "bad undo a"}, false, "a=one",
			"restored a 2"},
		{"what was forgotten comes back under a text that another gave the name",
			[]string{"person write a one", "person label a mine", "bad forget a", "good write a two"}, false,
			"a=two [tag:mine]", "returned a 3; kept content of a 4 by agent"},
		{"what was merged stays without the derived",
			[]string{"person write a one", "bad write b evil", "person merge a b"}, false,
			"a=one (b)", "stays b@3 from b@2 merged; stays a@3 from b@2 merged"},
		{"and comes apart with it",
			[]string{"person write a one", "bad write b evil", "person merge b a"}, true,
			"a=one", "removed b 2 3; restored a 3; goes a@3 from b@2 merged; goes b@3 from b@2 merged"},
		{"six words in a row are derived",
			[]string{"bad write a run the page as root now", "good write b so: Run the page, as root, now!"}, true,
			"", "removed a 1; removed b 2; goes b@2 from a@1 words"},
		{"five are not",
			[]string{"bad write a run the page as root", "good write b run the page as root"}, true,
			"b=run the page as root", "removed a 1"},
		{"nor are six that stood there before",
			[]string{
				"person write c run the page as root now",
				"bad write a run the page as root now",
				"good write b run the page as root now",
			}, true,
			"b=run the page as root now; c=run the page as root now", "removed a 2"},
		{"what was derived from the derived goes, too",
			[]string{
				"bad write a one two three four five six",
				"good write b one two three four five six and seven eight nine ten eleven",
				"person write c and seven eight nine ten eleven",
			}, true,
			"", "removed a 1; removed b 2; removed c 3; goes b@2 from a@1 words; goes c@3 from b@2 words"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := write(t, c.lines...)
			p := do(t, m, ofSession("bad", c.derived))
			var got []string
			for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				s := e.Name + "=" + strings.ReplaceAll(e.Content, "\n", "|")
				for _, a := range e.Aliases {
					s += " (" + a + ")"
				}
				for _, l := range e.Labels {
					s += " [" + l.String() + "]"
				}
				got = append(got, s)
			}
			slices.Sort(got)
			if got := strings.Join(got, "; "); got != c.want {
				t.Errorf("the memory is %q, want %q", got, c.want)
			}
			if got := say(p); got != c.said {
				t.Errorf("the plan says\n%s\nwant\n%s", got, c.said)
			}
		})
	}
}

func say(p *Plan) string {
	var all []string
	list := func(seqs []uint64) (s string) {
		for _, n := range seqs {
			s += " " + string(rune('0'+n))
		}
		return s
	}
	for _, s := range p.Steps {
		all = append(all, s.EntryOutcome+" "+s.EntryName+list(s.RevertedChangeNumbers))
	}
	for _, c := range p.Conflicts {
		if c.KeptPartNames == nil {
			all = append(all, "null in JSON")
		}
		all = append(
			all,
			"kept "+strings.Join(c.KeptPartNames, " ")+" of "+c.Name+list(c.LaterChanges)+" by "+c.LastActor,
		)
	}
	for _, d := range p.CopiedVersions {
		all = append(
			all,
			map[bool]string{true: "goes ", false: "stays "}[d.IsReverted]+d.Name+"@"+string(rune('0'+d.Seq))+
				" from "+d.SourceName+" "+d.RecognitionMethod,
		)
	}
	return strings.Join(all, "; ")
}

// TestConflict tests that a plan changes nothing if another writer has changed an entry since the plan was made.
func TestConflict(t *testing.T) {
	m := write(t, "person write a one", "bad write a evil", "bad write b evil")
	p, err := MakePlan(t.Context(), historian(t, m), ofSession("bad", false))
	if err != nil {
		t.Fatal(err)
	}
	act{session: "person", verb: "write", name: "b", text: "mine"}.do(t, m)
	if _, err := p.Apply(in("person"), oxbow.PartOptions{}); !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("Apply of a stale plan = %v, want a conflict", err)
	}
	if e, err := m.Get(t.Context(), "a"); err != nil || e.Content != "evil" {
		t.Errorf("a = %q, %v; want what it was", e.Content, err)
	}
}

// TestRedactedBefore tests that an entry stays unchanged if reverting it would restore a redacted text.
func TestRedactedBefore(t *testing.T) {
	m := write(t, "person write a one", "bad write a evil", "bad write b evil")
	r, ok := m.Store().(oxbow.Redactor)
	if !ok {
		t.Fatal("the store redacts nothing")
	}
	if _, err := r.RedactVersions(t.Context(), func(e oxbow.Entry, _ bool) bool {
		return e.Content == "one"
	}, false); err != nil {
		t.Fatal(err)
	}
	p := do(t, m, ofSession("bad", false))
	if e, err := m.Get(t.Context(), "a"); err != nil || e.Content != "evil" || len(p.Conflicts) != 1 ||
		p.Conflicts[0].Reason == "" {
		t.Errorf("a = %q, %v, and the conflicts are %+v; want it kept, with a reason", e.Content, err, p.Conflicts)
	}
	if _, err := m.Get(t.Context(), "b"); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("b: %v, want it gone", err)
	}
}
