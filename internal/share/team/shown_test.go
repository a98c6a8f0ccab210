// A team entry is an entry from a file in a git repository that a team shares. This file tests how team entries are
// shown together with the entries of a memory, before and after a person has reviewed the files.

package team

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/overlay"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// over returns a memory that includes the team files of a directory, and the memory without them. *shares contains the
// entries that the user has shared.
func over(t testing.TB, dir string, shares *[]oxbow.Entry) (both, own *oxbow.Memory) {
	t.Helper()
	own = storetest.Open(t, filepath.Join(t.TempDir(), "memory.oxbow"), nil)
	tree, err := FindTree(dir)
	if err != nil || tree == nil {
		t.Fatalf("Find(%s) = %v, %v", dir, tree, err)
	}
	files, err := tree.Open(t.Context(), mdtree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	prints := func() map[string]bool {
		own := map[string]bool{}
		for _, e := range *shares {
			own[EntryHash(e)] = true
		}
		return own
	}
	both, err = overlay.New(t.Context(), own, NewTeamStore(files, prints), " (team)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := both.Close(); err != nil {
			t.Error(err)
		}
	})
	return both, own
}

// found returns the entry that a recall finds, and fails the test if there is not exactly one.
func found(t testing.TB, m *oxbow.Memory, words string) oxbow.Entry {
	t.Helper()
	hits, err := m.Recall(t.Context(), oxbow.Query{Text: words})
	if err != nil || len(hits) != 1 {
		t.Fatalf("recall %q finds %v: %v", words, hits, err)
	}
	return hits[0].Entry
}

func TestShown(t *testing.T) {
	pinned := oxbow.Entry{
		Name:    "b",
		Content: "the harbour",
		Labels:  []oxbow.Label{{Key: "pinned", Value: "yes"}, {Key: "tag", Value: "x"}},
	}
	up, clone := shared(t, map[string]string{inDir(1): noteFile("a", "the crane")})
	mine := oxbow.Entry{
		Name:    "c",
		Content: "the pier",
		Created: time.Unix(1767225600, 0).UTC(),
		Labels:  []oxbow.Label{{Key: "pinned", Value: "yes"}},
	}
	var shares []oxbow.Entry
	both, _ := over(t, clone, &shares)
	put(t, clone, map[string]string{inDir(2): FormatEntry(pinned), inDir(3): FormatEntry(mine)})
	want := func(words string, trust oxbow.Trust, volunteered, pinned bool) {
		t.Helper()
		e := found(t, both, words)
		if _, has := e.Label("pinned"); e.Trust() != trust || e.MayShow(oxbow.Unasked) != volunteered || has != pinned {
			t.Errorf(
				"%q is %s (volunteered %v, pinned %v), want %s (%v, %v): %+v",
				e.Name,
				e.Trust(),
				e.MayShow(oxbow.Unasked),
				has,
				trust,
				volunteered,
				pinned,
				e.Source,
			)
		}
	}
	want("crane", "team", true, false)
	want("harbour", oxbow.TrustTainted, false, false)
	want("pier", oxbow.TrustTainted, false, false)
	shares = append(shares, mine)
	want("pier", "agent", true, true)
	if e := found(t, both, "crane"); e.Source.Ref == "" || e.Source.Actor != oxbow.Team {
		t.Errorf("the source of a reviewed entry is %+v", e.Source)
	}

	// Once the file of an entry was reviewed, the entry has the trust "team". An entry whose file was edited without a
	// review is tainted again.
	put(t, up, map[string]string{inDir(2): FormatEntry(pinned)})
	runGit(t, up, "add", "-A")
	runGit(t, up, "commit", "-qm", "reviewed")
	runGit(t, clone, "fetch", "-q")
	want("harbour", "team", true, true)
	put(t, clone, map[string]string{inDir(1): noteFile("a", "another crane")})
	want("crane", oxbow.TrustTainted, false, false)
	if err := os.Remove(filepath.Join(clone, filepath.FromSlash(inDir(1)))); err != nil {
		t.Fatal(err)
	}
	if hits, err := both.Recall(t.Context(), oxbow.Query{Text: "crane"}); err != nil || len(hits) > 0 {
		t.Errorf("a file that was removed is found: %v %v", hits, err)
	}
}

// A reviewed file has priority for its entry's name, whatever unreviewed files others add. This must also be so if the
// reviewed branch changes while the memory is open.
func TestReviewedCountsFirst(t *testing.T) {
	up, clone := shared(
		t,
		map[string]string{
			inDir(5):           noteFile("déploy", "the crane is blue"),
			inDir(6):           noteFile("pier", "ships of line four"),
			Dir + "/team.yaml": "version: 1\n",
		},
	)
	both, _ := over(t, clone, &[]oxbow.Entry{})
	want := func(name, content, trust string, n int) {
		t.Helper()
		e, err := both.Get(t.Context(), name)
		if err != nil || e.Content != content || string(e.Trust()) != trust {
			t.Errorf("Get(%q) = %q, %s, %v; want %q, %s", name, e.Content, e.Trust(), err, content, trust)
		}
		// A store that is opened now must show the same entries as the store that was refreshed step by step.
		fresh := opened(t, clone)
		if p, err := fresh.Locate(t.Context(), name); err != nil || p.Entry.Content != content {
			t.Errorf("a store opened now has %q in %s as %q, %v; want %q", p.Entry.Content, p.Path, name, err, content)
		}
		reviewed, _, err := fresh.ReviewedNames(t.Context())
		if err != nil || reviewed[name] != (trust == "team") {
			t.Errorf("Reviewed() = %v, %v; want %q %s", reviewed, err, name, trust)
		}
		if hits, err := both.Recall(t.Context(), oxbow.Query{Text: "crane"}); err != nil || len(hits) != n {
			t.Errorf("a recall finds %d entries, %v; want %d", len(hits), err, n)
		}
		if rep, err := fresh.Check(t.Context()); err != nil ||
			len(rep.Problems) > 0 != (len(namesOf(t, fresh)) < rep.Records) {
			t.Errorf("Check() = %+v, %v; want each name that is there twice", rep, err)
		}
	}
	want("déploy", "the crane is blue", "team", 1)
	put(
		t,
		clone,
		map[string]string{
			inDir(1): noteFile("déploy", "the crane is red"),
			inDir(7): noteFile("déploy", "the crane is green"),
		},
	)
	want("déploy", "the crane is blue", "team", 1)
	// The unreviewed file has the same text as the reviewed file.
	put(t, clone, map[string]string{inDir(1): noteFile("déploy", "the crane is blue")})
	want("déploy", "the crane is blue", "team", 1)
	// Names that only look alike are different names.
	put(
		t,
		clone,
		map[string]string{
			inDir(1): noteFile("de\u0301ploy", "the crane is red"),
			inDir(2): noteFile("DÉPLOY", "the crane is red, too"),
			inDir(3): noteFile("deploy", "the crane is yellow"),
		},
	)
	want("déploy", "the crane is blue", "team", 4)
	want("de\u0301ploy", "the crane is red", "tainted", 4)
	// A file that was reviewed under another file name does not count as reviewed.
	put(
		t,
		clone,
		map[string]string{
			inDir(1): noteFile("déploy", "the crane is red"),
			inDir(2): noteFile("pier", "x"),
			inDir(3): noteFile("pier", "y"),
			inDir(6): noteFile("déploy", "the crane is black"),
		},
	)
	want("déploy", "the crane is blue", "team", 1)
	want("pier", "x", "tainted", 1)
	// An edited file is shown as not reviewed. If no file with the name is reviewed, the first one counts.
	put(t, clone, map[string]string{inDir(5): noteFile("déploy", "the crane is pink")})
	want("déploy", "the crane is red", "tainted", 1)
	put(t, clone, map[string]string{inDir(5): noteFile("déploy", "the crane is blue")})
	want("déploy", "the crane is blue", "team", 1)

	// The reviewed branch changes: it has another file with the name, then none, then both.
	review := func(files ...string) {
		t.Helper()
		runGit(t, up, "rm", "-q", "--ignore-unmatch", Dir+"/*.md")
		for _, file := range files {
			content := map[string]string{
				inDir(1): "the crane is red",
				inDir(5): "the crane is blue",
				inDir(7): "the crane is green",
			}[file]
			put(t, up, map[string]string{file: noteFile("déploy", content)})
		}
		runGit(t, up, "add", "-A")
		runGit(t, up, "commit", "-qm", "reviewed")
		runGit(t, clone, "fetch", "-q")
	}
	review(inDir(7))
	want("déploy", "the crane is green", "team", 1)
	review()
	want("déploy", "the crane is red", "tainted", 1)
	review(inDir(5))
	want("déploy", "the crane is blue", "team", 1)
	review(inDir(5), inDir(1), inDir(7))
	want("déploy", "the crane is red", "team", 1)
	for _, n := range []int{1, 7} {
		if err := os.Remove(filepath.Join(clone, filepath.FromSlash(inDir(n)))); err != nil {
			t.Fatal(err)
		}
	}
	want("déploy", "the crane is blue", "team", 1)
}

// BenchmarkRecall measures recalls with 2,000 team files, in a new memory and in a memory that stays open.
func BenchmarkRecall(b *testing.B) {
	files := map[string]string{}
	for i := range 2000 {
		files[Dir+"/"+fileName(
			"",
			time.UnixMilli(1767225600000+int64(i)),
			[10]byte{8: byte(i >> 8), 9: byte(i)},
		)] = noteFile(
			fmt.Sprint("decision ", i),
			fmt.Sprintf(
				"Decision %d of the harbour: cranes of kind %d turn left, and ships of line %d wait for pier %d.",
				i,
				i%7,
				i%11,
				i%13,
			),
		)
	}
	_, clone := shared(b, files)
	dir := b.TempDir()
	first := func() (both, own *oxbow.Memory) {
		own, err := oxbow.Open(filepath.Join(dir, "memory.oxbow"), nil)
		if err != nil {
			b.Fatal(err)
		}
		tree, err := FindTree(clone)
		if err != nil {
			b.Fatal(err)
		}
		files, err := tree.Open(b.Context(), mdtree.Options{})
		if err != nil {
			b.Fatal(err)
		}
		both, err = overlay.New(b.Context(), own, NewTeamStore(files, nil), " (team)")
		if err != nil {
			b.Fatal(err)
		}
		if hits, err := both.Recall(b.Context(), oxbow.Query{Text: "harbour crane pier"}); err != nil ||
			len(hits) == 0 {
			b.Fatal(hits, err)
		}
		return both, own
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			both, own := first()
			if err := both.Close(); err != nil {
				b.Fatal(err)
			}
			if err := own.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("next", func(b *testing.B) {
		both, own := first()
		for b.Loop() {
			if _, err := both.Recall(context.Background(), oxbow.Query{Text: "harbour crane pier"}); err != nil {
				b.Fatal(err)
			}
		}
		if err := both.Close(); err != nil {
			b.Fatal(err)
		}
		if err := own.Close(); err != nil {
			b.Fatal(err)
		}
	})
}
