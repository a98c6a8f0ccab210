// This file compares the cut of recall's answers with a slow reference, which renders each answer as a whole.

package verb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
)

// referenceCut is like cutToBudget, but renders and counts the whole answer again for each attempt.
func referenceCut(out *RecallOut, contents []string, maxTokens int, keepAllHits bool) {
	all := len(out.Hits)
	notes := out.Notes
	hits := out.Hits
	frame := *out
	frame.Hits = nil
	spent := prompt.EstimateTokens(prompt.ReporterText(frame)) + reservedNoteTokens
	var heads []int
	for i, h := range out.Hits {
		n := prompt.EstimateTokens(listedEntryText(h)) + 2
		needed := spent + n
		if i == all-1 {
			needed -= reservedNoteTokens
		}
		if !keepAllHits && needed > maxTokens {
			break
		}
		heads, spent = append(heads, n), spent+n
	}
	out.Hits = out.Hits[:len(heads)]
	for i := range out.Hits {
		if len(contents[i]) > snippetWidth && len(contents[i])/100 > maxTokens-spent {
			continue
		}
		whole := out.Hits[i]
		whole.Content = &contents[i]
		n := prompt.EstimateTokens(listedEntryText(whole)) + 2
		if n <= heads[i] || spent-heads[i]+n <= maxTokens {
			out.Hits[i], spent = whole, spent-heads[i]+n
		}
	}
	out.addTurnsAroundHits(maxTokens - spent)
	count := func() {
		out.addBudgetNotes(notes, make([]hitCost, len(out.Hits)), all, maxTokens)
		out.TokensUsed = maxTokens
		out.TokensUsed = prompt.EstimateTokens(prompt.ReporterText(out))
	}
	for count(); !keepAllHits && len(out.Hits) > 0 && out.TokensUsed > maxTokens; count() {
		last := &out.Hits[len(out.Hits)-1]
		if i := lastIndexWithTurns(out.Hits); i >= 0 {
			out.Hits[i].TurnsBefore, out.Hits[i].TurnsAfter = nil, nil
		} else if last.Content != nil && len(*last.Content) > snippetWidth {
			last.Content = nil
		} else {
			out.Hits = out.Hits[:len(out.Hits)-1]
		}
	}
	if all > 0 && len(out.Hits) == 0 {
		out.Notes = notes
		out.EmptyReasons = budgetTooSmallNotes(
			prompt.EstimateTokens(prompt.ReporterText(out)), all, maxTokens, hits[0],
		)
		out.TokensUsed = prompt.EstimateTokens(prompt.ReporterText(out))
	}
}

// TestCutToBudgetLikeReference cuts random answers to random budgets.
func TestCutToBudgetLikeReference(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{
		"word ", "camelCase ", "12345 ", "\n", "\n\n", "```\n", "``", "é", "日本", "\t", "- item\n", "  ", "###", "\r\n",
		"x", ".", "\u0301", "\xff", "`", "Krzyżówka ", "7", "note: ", "1. ",
	}
	makeText := func(most int) string {
		var b strings.Builder
		for range rng.IntN(most) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	var cut, emptied, withTurns int
	for round := range 4000 {
		answer := RecallOut{HasMore: rng.IntN(4) == 0}
		if rng.IntN(4) == 0 {
			answer.AsOfSeq = 1 + rng.Uint64N(200)
		}
		for range rng.IntN(3) {
			answer.Notes = append(answer.Notes, Notef("read %q as %s", makeText(4), "something"))
		}
		var contents []string
		for i := range 1 + rng.IntN(14) {
			content := makeText(1 + rng.IntN(200))
			e := Entry{Name: fmt.Sprint(i, makeText(3)), Kind: "note", Updated: "2026-01-02T03:04:05Z", Version: 7}
			e.Snippet = makeSnippet(content, nil, snippetWidth)
			e.Aliases = strings.Fields(makeText(3))
			if rng.IntN(3) == 0 {
				e.Labels = map[string][]string{"tag": {makeText(3)}, "project": {"p"}}
				e.SameContentNames = []string{makeText(3)}
			}
			if rng.IntN(3) == 0 {
				terms := []TermScore{{Term: makeText(2), Score: .5}}
				e.Explanation = &Explanation{Formula: "f", Entries: 3, Terms: terms}
			}
			for side := range e.turnsBeforeAndAfter {
				for range rng.IntN(3) {
					turn := Turn{EntryName: "t", Content: makeText(20)}
					e.turnsBeforeAndAfter[side] = append(e.turnsBeforeAndAfter[side], turn)
				}
			}
			answer.Hits, contents = append(answer.Hits, e), append(contents, content)
		}
		maxTokens := 1 + rng.IntN(1500)
		keepAllHits := rng.IntN(4) == 0
		if rng.IntN(20) == 0 {
			maxTokens = math.MaxInt32
		}
		got, want := answer, answer
		got.Hits, want.Hits = append([]Entry(nil), answer.Hits...), append([]Entry(nil), answer.Hits...)
		got.cutToBudget(contents, maxTokens, keepAllHits)
		referenceCut(&want, contents, maxTokens, keepAllHits)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, round %d: cutToBudget to %d tokens gives\n%+v, want\n%+v", seed, round, maxTokens, got,
				want)
		}
		if text := prompt.ReporterText(got); text != prompt.ReporterText(want) {
			t.Fatalf("seed %d, round %d: the texts differ", seed, round)
		}
		if got.ContentsLeftOut > 0 {
			cut++
		}
		if len(got.Hits) == 0 {
			emptied++
		}
		if lastIndexWithTurns(got.Hits) >= 0 {
			withTurns++
		}
	}
	if cut < 100 || emptied < 100 || withTurns < 100 {
		t.Errorf("%d answers were cut, %d became empty and %d have turns, want 100 of each", cut, emptied, withTurns)
	}
}
