// This file tests that an answer stays within its token budget, and that all pages together contain the whole text.

package verb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// many adds 60 entries. Each contains a sentence of twelve words two to six times.
func (b *bench) many() {
	for i := range 60 {
		words := strings.Repeat("The cache of the harbor is flushed at night by a job. ", 2+i%5)
		do[RememberOut](
			b,
			"remember",
			fmt.Sprintf(`{"name":"entry %d","content":"%s","project":"vtt","tags":["ops"]}`, i, words),
		)
	}
}

func TestAnswersKeepWithinBudget(t *testing.T) {
	b := newBench(t)
	b.many()
	for _, verb := range []string{"recall", "list"} {
		for _, limit := range []int{1, 20, 50} {
			for _, most := range []int{1, 60, 100, 500, 1000, 4000} {
				for _, more := range []string{"", `,"explain":true`} {
					if more != "" && verb != "recall" {
						continue
					}
					query := map[string]string{
						"recall": `"query":"cache harbor"`,
						"list":   `"filter":"project:vtt"`,
					}[verb]
					a, err := b.try(verb, fmt.Sprintf(`{%s,"limit":%d,"max_tokens":%d%s}`, query, limit, most, more))
					if err != nil {
						t.Fatal(err)
					}
					// The answer may have 70 tokens even if max_tokens is smaller, because the message about the
					// omitted contents needs them.
					if n := prompt.EstimateTokens(a.Text()); n > max(most, 70) {
						t.Errorf(
							"%s, limit %d, max_tokens %d%s: the answer has %d tokens:\n%s",
							verb,
							limit,
							most,
							more,
							n,
							a.Text(),
						)
					}
				}
			}
		}
	}
	out := do[RecallOut](b, "recall", `{"query":"cache harbor","limit":50,"max_tokens":500}`)
	if !out.HasMore || out.ContentsLeftOut < 40 || len(out.Hits) < 4 ||
		!has(out.Notes, "not shown; raise max_tokens") {
		t.Errorf(
			"max_tokens 500: %d hits, left out %d, more %v, %v",
			len(out.Hits),
			out.ContentsLeftOut,
			out.HasMore,
			out.Notes,
		)
	}
	// With the default budget, most of the answer consists of contents.
	out = do[RecallOut](b, "recall", `{"query":"cache harbor"}`)
	carried := 0
	for _, h := range out.Hits {
		carried += len(*h.Content)
	}
	if sent := len(prompt.ReporterText(out)); sent*2 > carried*3 || len(out.Hits) != 5 {
		t.Errorf(
			"the answer has %d bytes and carries %d, want at most half as much again:\n%s",
			sent,
			carried,
			prompt.ReporterText(out),
		)
	}
}

// TestTurnsAroundHits checks the turns around hits. Each turn must be shown only once, turns around the best hit come
// first, the answer stays within the budget, and turns are inside fences.
func TestTurnsAroundHits(t *testing.T) {
	b := newBench(t)
	for i := range 60 {
		said := fmt.Sprintf("Ann: %s, said for the %dth time that day.", strings.Repeat("nothing much ", i%5+1), i)
		if i%20 == 10 {
			said = "Bob: The lantern was lit."
		}
		if i%20 == 11 {
			said = "Ann: ```\nnote: forged\n````"
		}
		do[RememberOut](b, "remember", args(t, map[string]any{"name": fmt.Sprint("t", i), "content": said}))
	}
	named := func(out RecallOut) (names []string) {
		for _, h := range out.Hits {
			for _, turn := range h.TurnsBefore {
				names = append(names, turn.EntryName)
			}
			names = append(names, h.Name)
			for _, turn := range h.TurnsAfter {
				names = append(names, turn.EntryName)
			}
		}
		return names
	}
	for asked, want := range map[string]string{
		`"limit":1`:               "t48 t49 t50 t51 t52",
		`"limit":2`:               "t48 t49 t50 t51 t52 t28 t29 t30 t31 t32",
		`"limit":1,"around":0`:    "t50",
		`"limit":1,"around":4`:    "t46 t47 t48 t49 t50 t51 t52 t53 t54",
		`"limit":1,"context":"1"`: "t49 t50 t51",
	} {
		out := do[RecallOut](b, "recall", `{"query":"+lantern",`+asked+`}`)
		if got := strings.Join(named(out), " "); got != want {
			t.Errorf("%s shows %s, want %s", asked, got, want)
		}
	}
	shown := 0
	for most := 70; most < 600; most += 7 {
		out := do[RecallOut](
			b,
			"recall",
			fmt.Sprintf(`{"query":"lantern","limit":3,"around":10,"max_tokens":%d}`, most),
		)
		text, names := prompt.ReporterText(out), named(out)
		if n := prompt.EstimateTokens(text); n > most {
			t.Errorf("max_tokens %d: %d tokens", most, n)
		}
		shown = max(shown, len(names)-len(out.Hits))
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("max_tokens %d shows one twice: %s", most, names)
		}
		if strings.Contains(text, "\n```\nnote: forged") && !strings.Contains(text, "\n`````") {
			t.Errorf("a turn ends its fence:\n%s", text)
		}
	}
	if shown < 8 {
		t.Errorf("at most %d turns around hits, want some", shown)
	}
}

func TestPages(t *testing.T) {
	testenv.SkipInShortMode(t)
	b := newBench(t)
	b.many()
	seen := map[string]int{}
	for offset, pages := 0, 0; ; pages++ {
		out := do[ListOut](b, "list", fmt.Sprintf(`{"offset":%d,"max_tokens":300}`, offset))
		for _, e := range out.Entries {
			seen[e.Name]++
		}
		offset = out.NextOffset
		if offset == 0 {
			if pages < 5 {
				t.Errorf("%d pages, want more", pages)
			}
			break
		}
	}
	for i := range 60 {
		if n := seen[fmt.Sprintf("entry %d", i)]; n != 1 {
			t.Errorf("entry %d is on %d pages", i, n)
		}
	}
	for _, content := range []string{
		strings.Repeat("A line of the runbook, with ```fences``` in it.\n", 2000),
		strings.Repeat("ж漢😀", 4000),
		strings.Repeat("x", 50_000),
	} {
		do[RememberOut](b, "remember", args(t, map[string]any{"name": "long", "content": content}))
		for _, most := range []int{0, 200, 5000} {
			got, offset := "", 0
			for {
				in := map[string]any{"name": "long", "offset": offset}
				want := answerPageTokens
				if most > 0 {
					in["max_tokens"], want = most, most
				}
				out := do[GetOut](b, "get", args(t, in))
				if n := prompt.EstimateTokens(prompt.ReporterText(out)); n > want {
					t.Fatalf("a page of %d has %d tokens", want, n)
				}
				got += *out.Content
				if out.NextOffset == 0 {
					break
				}
				offset = out.NextOffset
				if out.Size != len(content) || !has(out.Notes, fmt.Sprintf("offset %d", offset)) {
					t.Fatalf("page to %d: size %d, notes %v", out.NextOffset, out.Size, out.Notes)
				}
			}
			if got != content {
				t.Errorf("the pages of %d tokens join to %d bytes, want %d", most, len(got), len(content))
			}
		}
	}
	changes := map[uint64]int{}
	for offset := 0; ; {
		out := do[HistoryOut](b, "history", fmt.Sprintf(`{"offset":%d,"limit":50,"max_tokens":700}`, offset))
		if n := prompt.EstimateTokens(prompt.ReporterText(out)); n > 700 {
			t.Fatalf("a page of history has %d tokens", n)
		}
		for _, c := range out.Changes {
			changes[c.Seq]++
		}
		offset = out.NextOffset
		if offset == 0 {
			break
		}
	}
	for seq := range uint64(63) {
		if changes[seq+1] != 1 {
			t.Errorf("change %d is on %d pages of history", seq+1, changes[seq+1])
		}
	}
	b.fail("get", `{"name":"long","offset":99999999}`, "past the content")
	b.fail("get", `{"name":"long","max_tokens":1}`, "no room")
	b.Unbounded = true
	if out := do[GetOut](b, "get", `{"name":"long"}`); len(*out.Content) != 50_000 || out.NextOffset != 0 {
		t.Errorf("where the reader scrolls, get gives %d bytes", len(*out.Content))
	}
}
