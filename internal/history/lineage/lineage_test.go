// This file tests the edges of the lineage graph, which lead from an entry to the entries from which it was made. An
// edge is found by words that both entries contain, or by a label that names the source.

package lineage

import (
	"slices"
	"strconv"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestGrams(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool // The two texts have a gram in common.
	}{
		{"run the page as root now", "So: RUN the page, as 'root' now!", true},
		{"run the page as root", "run the page as root", false},
		{"one run the page as root two", "three run the page as root four", false},
		{"部署脚本以管理员", "请把部署脚本以管理员身份运行", true},
		{"", "", false},
	} {
		b := HashWordGrams(c.b)
		isShared := func(g WordGram) bool { return slices.Contains(b, g) }
		if got := slices.ContainsFunc(HashWordGrams(c.a), isShared); got != c.want {
			t.Errorf("%q and %q share words: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func FuzzParseSource(f *testing.F) {
	for _, s := range []string{"style@3", "a@b@12", "claude/178e/0001", "@1", "x@0", "x@-1",
		"x@99999999999999999999", "x@+1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, version, ok := ParseSource(s)
		if ok != (name != "") || ok != (version != 0) || (ok && FormatSource(name, version) != s) {
			t.Errorf(
				"ParseSource(%q) = %q, %d, %v, and that is written %q",
				s,
				name,
				version,
				ok,
				FormatSource(name, version),
			)
		}
	})
}

func TestWalk(t *testing.T) {
	m := storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	apply := func(ops ...oxbow.Op) {
		t.Helper()
		if err := m.Apply(t.Context(), ops...); err != nil {
			t.Fatal(err)
		}
	}
	apply(oxbow.Add{Name: "page", Content: "run the script of the page as root"})
	apply(oxbow.Add{Name: "other", Content: "nothing to do with it at all"})
	apply(oxbow.Add{Name: "note", Content: "So: run the script of the page as root, and then read the log of it."})
	apply(oxbow.Add{Name: "said", Content: "tabs", Labels: []oxbow.Label{{Key: SourceLabel, Value: "claude/a/0001"}}})
	apply(oxbow.Add{
		Name:    "both",
		Content: "x",
		Labels:  []oxbow.Label{{Key: SourceLabel, Value: "note@3"}, {Key: SourceLabel, Value: "said@4"}},
	})
	apply(
		oxbow.Remove{Name: "other"},
		oxbow.Update{
			Name:    "both",
			Content: "x",
			Aliases: []string{"other"},
			Labels:  []oxbow.Label{{Key: SourceLabel, Value: "note@3"}},
		},
	)
	for _, c := range []struct {
		name string
		down bool
		want []Edge
	}{
		{
			"both",
			false,
			[]Edge{{"both", 5, "note", 3, FoundByLabel}, {"both", 5, "said", 4, FoundByLabel},
				{"both", 6, "other", 2, FoundByMerge},
				{"note", 3, "page", 1, FoundByCopiedWords}, {"said", 4, "claude/a/0001", 0, FoundByLabel}},
		},
		{"page", true, []Edge{{"note", 3, "page", 1, FoundByCopiedWords}, {"both", 5, "note", 3, FoundByLabel}}},
		{"page", false, nil},
		{"both", true, nil},
		{"claude/a/0001", true, []Edge{{"said", 4, "claude/a/0001", 0, FoundByLabel}, {"both", 5, "said", 4,
			FoundByLabel}}},
	} {
		got, made, err := FindLineage(t.Context(), m, c.name)
		if err != nil {
			t.Fatal(err)
		}
		if c.down {
			got = made
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("walk(%s, %v) = %v\nwant %v", c.name, c.down, got, c.want)
		}
	}
}

// TestManyEdges tests that there is one edge for each entry if many entries share a sentence or if one change merges
// many entries. With an edge for each pair of entries, the test would need too much time and memory.
func TestManyEdges(t *testing.T) {
	const n = 3000
	var added, merged oxbow.Change
	for i := range n {
		v := oxbow.Version{Seq: 1, Verb: oxbow.VerbAdd, Entry: oxbow.Entry{
			Name:    "n" + strconv.Itoa(i),
			Content: "the crane of the harbor turns left at dawn and stops at night",
		}}
		added.Versions = append(added.Versions, v)
		gone := oxbow.Version{Seq: 2, Prev: 1, Verb: oxbow.VerbRemove, Entry: v.Entry}
		kept := oxbow.Version{Seq: 2, Verb: oxbow.VerbAdd, Entry: oxbow.Entry{
			Name:    "k" + strconv.Itoa(i),
			Aliases: []string{v.Entry.Name},
		}}
		merged.Versions = append(merged.Versions, gone, kept)
	}
	g := &historyGraph{changes: []oxbow.Change{added, merged}}
	if got := g.Edges(map[string]bool{"n0": true}); len(got) != n {
		// Entry n0 is the source of all other entries with the sentence, and of k0.
		t.Errorf("%d edges, want %d", len(got), n)
	}
	if got := g.findMergeEdges(&merged); len(got) != n || got[7] != (Edge{"k7", 2, "n7", 1, FoundByMerge}) {
		t.Errorf("%d edges of the merge", len(got))
	}
}

// TestGramsOfUnspacedScripts tests scripts without spaces between words. In each script, six letters must have one
// gram, which is a hash of six consecutive words. A longer text that contains these letters must have the same gram.
func TestGramsOfUnspacedScripts(t *testing.T) {
	for _, letters := range []string{"我们周二发布", "あいうえおか", "กขคงจฉ", "ກຂຄງຈຊ", "កខគឃងច", "ကခဂဃငစ"} {
		want := HashWordGrams(letters)
		if len(want) != 1 {
			t.Errorf("%q has %d grams, want 1", letters, len(want))
			continue
		}
		if !slices.Contains(HashWordGrams("before "+letters+letters), want[0]) {
			t.Errorf("the gram of %q is not found in a longer text", letters)
		}
	}
}
