// This file tests the edges of the lineage graph, which lead from an entry to the entries whose words it repeats. For
// random histories, the edges are compared with the result of a simple but slow function.

package lineage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// plainEdges is a simple version of [historyGraph.Edges] for comparison. It returns the edges between entries that
// contain the same sequence of wordsPerGram words. It compares the words themselves, and not their hashes.
func plainEdges(g *historyGraph, names map[string]bool) (edges []Edge) {
	first := map[string]*oxbow.Version{}
	for v := range g.eachVersion {
		words := splitWords(v.Entry.Content)
		for i := wordsPerGram; i <= len(words); i++ {
			gram := strings.Join(words[i-wordsPerGram:i], " ")
			source := first[gram]
			if source == nil {
				first[gram] = v
				continue
			}
			e := Edge{v.Entry.Name, v.Seq, source.Entry.Name, source.Seq, FoundByCopiedWords}
			isKnown := slices.ContainsFunc(
				edges,
				func(o Edge) bool { return o.EntryName == e.EntryName && o.SourceName == e.SourceName },
			)
			if e.EntryName != e.SourceName && !isKnown && v.Verb != oxbow.VerbRestore &&
				(names[e.EntryName] || names[e.SourceName]) {
				edges = append(edges, e)
			}
		}
	}
	return edges
}

func TestEdgesOfRandomHistories(t *testing.T) {
	words := strings.Fields("a to Read the LOG of oxbow7 in-depth configuration pagination " +
		"Straße naïve İstanbul 部署 ไทย x\xff é e\u0301 don't")
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 51))
		text := func() string {
			var b strings.Builder
			for range rng.IntN(20) {
				// Use few different words, so that sequences of six words repeat.
				b.WriteString(words[rng.IntN(1+rng.IntN(len(words)))] + []string{" ", ", ", "\n", "--"}[rng.IntN(4)])
			}
			return b.String()
		}
		g := &historyGraph{}
		texts := []string{""}
		for seq := range uint64(30) {
			content := text()
			if rng.IntN(2) == 0 {
				content = text() + texts[rng.IntN(len(texts))] + text()
			}
			texts = append(texts, content)
			verb := []oxbow.Verb{oxbow.VerbAdd, oxbow.VerbUpdate, oxbow.VerbRestore}[rng.IntN(3)]
			v := oxbow.Version{Seq: seq + 1, Verb: verb}
			v.Entry = oxbow.Entry{Name: fmt.Sprint("n", rng.IntN(8)), Content: content}
			g.changes = append(g.changes, oxbow.Change{Seq: v.Seq, Versions: []oxbow.Version{v}})
		}
		for i := range 8 {
			names := map[string]bool{fmt.Sprint("n", i): true}
			if got, want := g.Edges(names), plainEdges(g, names); !slices.Equal(got, want) {
				t.Fatalf("history %d: edges of n%d are %v, want %v", seed, i, got, want)
			}
		}
	}
}
