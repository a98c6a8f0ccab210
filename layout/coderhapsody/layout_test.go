// This file runs the tests that every store must pass with a store of logs, and tests that edits change nothing else.

package coderhapsody

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

var noon = time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

func openTree(t *testing.T, fsys vfs.FS) *mdtree.Store {
	t.Helper()
	s, err := mdtree.Open(t.Context(), fsys, logLayout{time.UTC}, mdtree.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// all returns the names of the entries, in order.
func all(t *testing.T, s oxbow.Store) []string {
	t.Helper()
	var names []string
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name)
	}
	return names
}

func TestContract(t *testing.T) {
	var last *vfs.Mem
	open := func(t *testing.T) oxbow.Store {
		s, err := mdtree.Open(context.Background(), last, logLayout{time.UTC}, mdtree.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	storetest.Run(t, func(t *testing.T) oxbow.Store {
		last = vfs.NewMem()
		return open(t)
	}, storetest.Can{Labels: true, Aliases: true, Reopen: open})
}

// old is the text of a daily log in the old format, which has no labels at the beginning.
const old = "# April 18th\r\n\r\nBuilt the grid.\r\n\r\n---\r\n\r\n## Rejected\r\n\r\nHexes.\r\n"

// TestEditsSplice checks that an edit changes only the bytes of its entry.
func TestEditsSplice(t *testing.T) {
	vtt := []oxbow.Label{{Key: "project", Value: "vtt"}, {Key: "tag", Value: "two words"}}
	odd := "---\nname:   first  # mine\nx-key: [odd,  value]\ntags:\n    - b\n    - a\n# about the project\nproject: " +
		"'vtt'\n---\nNo empty line.\n---\ntime: 10:30\n---\n\n\nspaces\n\n\n---\nname: last\nkind: note\n---\nend"
	for _, tt := range []struct {
		name, text string
		op         oxbow.Op
		want       string
	}{
		{"labels for an old log", old, oxbow.Relabel{Name: "2026-04-18", Labels: vtt},
			"---\r\nproject: vtt\r\ntags: [two words]\r\n---\r\n\r\n" + old},
		{"and away again", "---\nproject: vtt\n---\n\nOld.\n", oxbow.Relabel{Name: "2026-04-18"}, "Old.\n"},
		{
			"the content of an old log",
			old,
			oxbow.Update{Name: "2026-04-18", Content: strings.ReplaceAll(old[:len(old)-2], "\r\n", "\n") + " No."},
			"---\r\nupdated: 2026-04-18T12:00:00Z\r\n---\r\n\r\n" + strings.Replace(old, "Hexes.", "Hexes. No.", 1),
		},
		{
			"a tag more",
			odd,
			oxbow.Relabel{
				Name: "first",
				Labels: []oxbow.Label{
					{Key: "project", Value: "vtt"},
					{Key: "tag", Value: "a"},
					{Key: "tag", Value: "b"},
					{Key: "tag", Value: "c d"},
				},
			},
			strings.Replace(odd, "    - b\n    - a\n", "  - a\n  - b\n  - c d\n", 1),
		},
		{
			"another project",
			odd,
			oxbow.Relabel{
				Name: "first",
				Labels: []oxbow.Label{
					{Key: "project", Value: "x: y"},
					{Key: "tag", Value: "a"},
					{Key: "tag", Value: "b"},
				},
			},
			strings.Replace(odd, "'vtt'", `"x: y"`, 1),
		},
		{
			"no project",
			odd,
			oxbow.Relabel{Name: "first", Labels: []oxbow.Label{{Key: "tag", Value: "a"}, {Key: "tag", Value: "b"}}},
			strings.Replace(odd, "project: 'vtt'\n", "", 1),
		},
		{"aliases", odd, oxbow.Alias{Name: "last", Aliases: []string{"a, b", "c"}},
			strings.Replace(odd, "kind: note\n", "kind: note\naliases: [\"a, b\", c]\n", 1)},
		{
			"labels of all sorts",
			"---\ntime: 10:30\n---\n\nx\n",
			oxbow.Relabel{Name: "2026-04-18 x", Labels: []oxbow.Label{{Key: "process", Value: "true"},
				{Key: "pinned", Value: "maybe"}, {Key: "confidence", Value: "0.90"}, {Key: "file", Value: "pkg/a b.go"},
				{Key: "sprint", Value: "7"}}},
			"---\ntime: 10:30\nrelated_files: [pkg/a b.go]\nconfidence: 0.90\nprocess: true\nlabels: " +
				"[\"pinned:maybe\", \"sprint:7\"]\n---\n\nx\n",
		},
		{"the last block goes", odd, oxbow.Remove{Name: "last"}, odd[:strings.Index(odd, "\n\n---\nname: last")+1]},
		{"the first block goes", odd, oxbow.Remove{Name: "first"}, odd[strings.Index(odd, "---\ntime: 10:30"):]},
		{"a first line that made the name", odd, oxbow.Update{Name: "2026-04-18 spaces", Content: "Other words."},
			strings.Replace(
				odd,
				"time: 10:30\n---\n\n\nspaces\n",
				"name: \"2026-04-18 spaces\"\ntime: 10:30\nupdated: 2026-04-18T12:00:00Z\n---\n\nOther words.",
				1,
			)},
		{
			"a block appended",
			"Old, no line end",
			oxbow.Add{Name: "2026-04-18 New.", Kind: oxbow.Journal, Content: "New.", Labels: vtt},
			"Old, no line end\n\n---\ntime: 2026-04-18T12:00:00Z\nproject: vtt\ntags: [two words]\n---\n\nNew.\n",
		},
		{
			"lines that would begin a block",
			"Old.\n",
			oxbow.Add{
				Name:    "note",
				Content: "---\nname: evil\n---\n\\---\ntags: [x]\n---\nprose\n---\nprofile: kept\n",
			},
			"Old.\n\n---\nname: note\ntime: 2026-04-18T12:00:00Z\nkind: note\n---\n\n\\---\nname: " +
				"evil\n---\n\\\\---\ntags: [x]\n---\nprose\n---\nprofile: kept\n\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfs.NewMem()
			put(t, fsys, "memory/2026-04-18.md", tt.text)
			s := openTree(t, fsys)
			before := all(t, s)
			if err := s.Apply(t.Context(), tt.op); err != nil {
				t.Fatal(err)
			}
			if got := read(t, fsys, "memory/2026-04-18.md"); got != tt.want {
				t.Errorf("the file is\n%q, want\n%q", got, tt.want)
			}
			var want []string
			for _, n := range before {
				if _, gone := tt.op.(oxbow.Remove); !gone || n != tt.op.Target() {
					want = append(want, n)
				}
			}
			if _, more := tt.op.(oxbow.Add); more {
				want = append(want, tt.op.Target())
			}
			if got := all(t, openTree(t, fsys)); !slices.Equal(got, want) {
				t.Errorf("entries %q, want %q", got, want)
			}
		})
	}
}
