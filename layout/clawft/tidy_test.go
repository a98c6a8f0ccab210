// This file tests consolidation and compression, which shorten the memory files. It also tests that both can be undone.

package clawft

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestConsolidate(t *testing.T) {
	const head = "[2026-04-14 10:23] Taken out of MEMORY.md, where what stays says the same:\n\n"
	for _, tt := range []struct{ name, memory, want, history string }{
		{"nothing to do", "one\n\ntwo\n", "one\n\ntwo\n", ""},
		{
			"a paragraph twice",
			"We ship on Tuesdays.\n\nother\n\nWe ship on\nTuesdays.\n\nend",
			"We ship on Tuesdays.\n\nother\n\nend",
			"",
		},
		{"in other words", "User prefers dark mode\n\n\nother\n\nThe user prefers the dark mode in editors\n",
			"other\n\nThe user prefers the dark mode in editors\n", head + "User prefers dark mode\n\n"},
		{
			"items of lists",
			"# User\n\n- Likes green tea\n- Lives in central Oslo\n\n## Home\n\n1. Lives in central Oslo\n2. Has " +
				"dogs\n",
			"# User\n\n- Likes green tea\n- Lives in central Oslo\n\n## Home\n\n2. Has dogs\n", head +
				"(User / Home)\n1. Lives in central Oslo\n\n",
		},
		{
			"a heading goes with its last fact",
			"# A\n\nfacts of three words\n\n# B\n\nFacts of three words!\n\n# C\n\nx\n",
			"# B\n\nFacts of three words!\n\n# C\n\nx\n", head + "(A)\nfacts of three words\n\n",
		},
		{"an empty heading is nobody's", "# A\n\n# B\n\nx\n\nx\n", "# A\n\n# B\n\nx\n", ""},
		{
			"the same word elsewhere",
			"# Allergies\n\nnone\n\n# Pets\n\nnone\n",
			"# Allergies\n\nnone\n\n# Pets\n\nnone\n",
			"",
		},
		{
			"a list with words above",
			"Pets:\n- Luna the cat sleeps\n\nAnd:\n- Luna the cat sleeps\n",
			"Pets:\n- Luna the cat sleeps\n",
			head + "(And)\n- Luna the cat sleeps\n\n",
		},
		{
			"what is below an item",
			"- ship\n  - on Tuesdays always\n- ship\n  - on Fridays always\n",
			"- ship\n  - on Tuesdays always\n- ship\n  - on Fridays always\n",
			"",
		},
		{"the named one stays", "indent with tabs\n\n<!-- oxbow {\"name\":\"style\"} -->\nIndent with tabs.\n",
			"<!-- oxbow {\"name\":\"style\"} -->\nIndent with tabs.\n", head + "indent with tabs\n\n"},
		{
			"names are passed on",
			"<!-- oxbow {\"name\":\"ship\",\"labels\":[\"tag:a\"]} -->\nWe ship Tuesdays at nine\n\n<!-- oxbow " +
				"{\"name\":\"release\",\"labels\":[\"tag:b\"],\"end\":1} -->\nWe ship on Tuesdays at " +
				"nine\n\nsharp\n<!-- /oxbow 1 -->\n",
			"<!-- oxbow {\"name\":\"release\",\"aliases\":[\"ship\"],\"labels\":[\"tag:a\",\"tag:b\"],\"end\":1} " +
				"-->\nWe ship on Tuesdays at nine\n\nsharp\n<!-- /oxbow 1 -->\n",
			head + "We ship Tuesdays at nine\n\n",
		},
		{
			"to one without",
			"<!-- oxbow {\"name\":\"ship\"} -->\nWe ship Tuesdays early\n\nWe ship on Tuesdays, early and often\n",
			"<!-- oxbow {\"name\":\"ship\"} -->\nWe ship on Tuesdays, early and often\n", head +
				"We ship Tuesdays early\n\n",
		},
		{
			"not to an item",
			"<!-- oxbow {\"name\":\"ship\"} -->\nWe ship Tuesdays early\n\n- We ship on Tuesdays, early and often\n",
			"<!-- oxbow {\"name\":\"ship\"} -->\nWe ship Tuesdays early\n\n- We ship on Tuesdays, early and often\n",
			"",
		},
		{
			"kept by a person",
			"<!-- oxbow {\"name\":\"n\",\"labels\":[\"tag:keep\"]} -->\nWe ship Tuesdays early\n\nWe ship on " +
				"Tuesdays, early and often\n",
			"<!-- oxbow {\"name\":\"n\",\"labels\":[\"tag:keep\"]} -->\nWe ship Tuesdays early\n\nWe ship on " +
				"Tuesdays, early and often\n", "",
		},
		{
			"code is of one piece",
			"```\na b c d\n\n- a b c d\n\n# x\n```\n\na b c d e\n\n- item with code\n  ```\n  a\n\n  - b\n  ```\n- a " +
				"b c d e\n",
			"```\na b c d\n\n- a b c d\n\n# x\n```\n\na b c d e\n\n- item with code\n  ```\n  a\n\n  - b\n  ```\n", "",
		},
		{
			"below a heading",
			"# A\n\n- one of its facts stays\n- Luna meets her vet twice\n- Luna meets her vet twice\n\n# B\n\nLuna " +
				"meets her vet twice\n\n- x\n",
			"# A\n\n- one of its facts stays\n- Luna meets her vet twice\n\n# B\n\n- x\n", head +
				"(B)\nLuna meets her vet twice\n\n",
		},
		{"lines of Windows", "a b c d\r\n\r\n- a b c d\r\n- e\r\n", "a b c d\r\n\r\n- e\r\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfs.NewMem()
			put(t, fsys, clawftMemoryDir+"/MEMORY.md", tt.memory)
			h := openHome(t, fsys)
			plan, err := h.Consolidate(t.Context(), true)
			if err != nil || read(t, fsys, clawftMemoryDir+"/MEMORY.md") != tt.memory {
				t.Fatalf(
					"a preview = %+v, %v; MEMORY.md is %q",
					plan,
					err,
					read(t, fsys, clawftMemoryDir+"/MEMORY.md"),
				)
			}
			did, err := h.Consolidate(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != tt.want {
				t.Errorf("MEMORY.md is\n%q, want\n%q", got, tt.want)
			}
			if !slices.Equal(plan.Steps, did.Steps) || plan.After != did.After || plan.Number != 0 {
				t.Errorf("planned %+v, did %+v", plan, did)
			}
			history, _, err := h.ReadHistory(t.Context())
			if err != nil || history != tt.history {
				t.Errorf("HISTORY.md is\n%q, want\n%q; %v", history, tt.history, err)
			}
			if again, err := h.Consolidate(t.Context(), false); err != nil || len(again.Steps) != 0 ||
				again.Number != 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
			if len(did.Steps) == 0 {
				return
			}
			back, err := h.Revert(t.Context(), 0, false)
			if err != nil || back.Number != did.Number || read(t, fsys, clawftMemoryDir+"/MEMORY.md") != tt.memory {
				t.Errorf("Revert() = %+v, %v; MEMORY.md is %q", back, err, read(t, fsys, clawftMemoryDir+"/MEMORY.md"))
			}
			if history, there, err := h.ReadHistory(t.Context()); err != nil || there {
				t.Errorf("HISTORY.md is %q, %v", history, err)
			}
		})
	}
}

// facts returns the text of a MEMORY.md with n paragraphs under headings.
func facts(n int) string {
	var b strings.Builder
	for i := range n {
		if i%5 == 0 {
			fmt.Fprintf(&b, "## Part %d\n\n", i/5)
		}
		fmt.Fprintf(
			&b,
			"Fact %d is about thing%d. It has more to say, which is of less use to anybody who reads it later on.\n\n",
			i,
			i,
		)
	}
	return b.String()
}

func TestCompress(t *testing.T) {
	text := facts(
		20,
	) + "<!-- oxbow {\"name\":\"me\",\"labels\":[\"tag:keep\"]} -->\nCall me Anna. Always do so, whatever else you " +
		"may read here or there.\n\n<!-- oxbow {\"name\":\"last\"} -->\n- one\n\n" + "Fact 3 is about thing3\n"
	for _, budget := range []int{5000, 500, 400, 300, 200, 100, 60} {
		fsys := vfs.NewMem()
		put(t, fsys, clawftMemoryDir+"/MEMORY.md", text)
		put(t, fsys, clawftMemoryDir+"/HISTORY.md", "[2026-01-01] first\n")
		h := openHome(t, fsys)
		plan, err := h.Compress(t.Context(), budget, true)
		if err != nil || read(t, fsys, clawftMemoryDir+"/MEMORY.md") != text {
			t.Fatalf("budget %d: a preview = %v", budget, err)
		}
		did, err := h.Compress(t.Context(), budget, false)
		if err != nil {
			t.Fatalf("budget %d: %v", budget, err)
		}
		if !slices.Equal(plan.Steps, did.Steps) {
			t.Errorf("budget %d: planned %+v, did %+v", budget, plan.Steps, did.Steps)
		}
		c, err := h.Context(t.Context(), layout.Request{})
		if err != nil {
			t.Fatal(err)
		}
		c.FitToBudget(0)
		if c.Tokens > budget || c.Tokens != did.After {
			t.Errorf("budget %d: %d tokens, said %d", budget, c.Tokens, did.After)
		}
		if !strings.Contains(c.Text(), "Call me Anna. Always do so, whatever") {
			t.Errorf("budget %d: what was to be kept is gone", budget)
		}
		// Nothing is lost: each fact, whole, is in one of the files.
		history := read(t, fsys, clawftMemoryDir+"/HISTORY.md")
		for _, p := range splitParagraphs(text) {
			name := strings.Trim(p.text, "# ") // without the # of a heading
			if !strings.Contains(c.Text()+history, p.text) && !strings.Contains(history, "("+name+")\n") {
				t.Errorf("budget %d: %q is in neither file", budget, p.text)
			}
		}
		// The newest stay longest.
		if i, j := strings.Index(c.Text(), "thing2."), strings.Index(c.Text(), "thing17."); i >= 0 && j < 0 {
			t.Errorf("budget %d: the older stays and the newer goes", budget)
		}
		if budget == 5000 {
			if len(did.Steps) != 0 || did.Number != 0 {
				t.Errorf("a budget that fits: %+v", did)
			}
			continue
		}
		if _, err := h.Memory().Get(t.Context(), "last"); err != nil {
			t.Errorf("budget %d: the named entry: %v", budget, err)
		}
		if found, err := h.Memory().Recall(t.Context(), oxbow.Query{Text: "thing0"}); err != nil || len(found) == 0 {
			t.Errorf("budget %d: what was moved is not recalled: %v", budget, err)
		}
		if _, err := h.Revert(t.Context(), did.Number, false); err != nil ||
			read(t, fsys, clawftMemoryDir+"/MEMORY.md") != text ||
			read(t, fsys, clawftMemoryDir+"/HISTORY.md") != "[2026-01-01] first\n" {
			t.Errorf("budget %d: not taken back: %v", budget, err)
		}
	}
}

func TestCompressRefuses(t *testing.T) {
	fsys := vfs.NewMem()
	text := facts(2) + "<!-- oxbow {\"name\":\"me\",\"labels\":[\"tag:keep\"]} -->\nCall me Anna.\n"
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", text)
	h := openHome(t, fsys)
	before := fsys.Names()
	for _, budget := range []int{-1, 0, 10} {
		if did, err := h.Compress(t.Context(), budget, false); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("Compress(%d) = %+v, %v", budget, did, err)
		}
	}
	if read(t, fsys, clawftMemoryDir+"/MEMORY.md") != text ||
		slices.Contains(fsys.Names(), clawftMemoryDir+"/"+undoFilePath(1)) {
		t.Errorf("a refused compression left %q, there was %q", fsys.Names(), before)
	}
}

// TestCompressNames tests that Compress does not write an entry's name to HISTORY.md if an entry there already has this
// name.
func TestCompressNames(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", facts(3)+"<!-- oxbow {\"name\":\"n\"} -->\nnew of it\n\nend of all\n")
	put(
		t,
		fsys,
		clawftMemoryDir+"/HISTORY.md",
		"<!-- oxbow {\"name\":\"n\",\"created\":\"2020-01-01T00:00:00Z\"} -->\nold\n",
	)
	h := openHome(t, fsys)
	if _, err := h.Compress(t.Context(), 15, false); err != nil {
		t.Fatal(err)
	}
	rep, err := h.Tree.Check(t.Context())
	if err != nil || len(rep.Problems) != 0 {
		t.Errorf("Check() = %+v, %v", rep.Problems, err)
	}
	if got := read(t, fsys, clawftMemoryDir+"/HISTORY.md"); strings.Count(got, `"name":"n"`) != 1 ||
		!strings.Contains(got, "\nnew of it\n") {
		t.Errorf("HISTORY.md is %q", got)
	}
}

func TestRevert(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, fsys)
	if _, err := h.Revert(t.Context(), 0, false); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Revert() of nothing = %v", err)
	}
	const text = "We ship apps on Tuesdays\n\nother\n\nWe ship apps on Tuesdays and Fridays early\n\nend\n"
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", text)
	did, err := h.Consolidate(t.Context(), false)
	if err != nil || did.Number != 1 {
		t.Fatalf("Consolidate() = %+v, %v", did, err)
	}
	// Revert must keep later changes. If there are later changes, Revert undoes the consolidation only if the call
	// contains its number.
	mustCall(t, h, "memory_write", m{"content": "later"})
	if err := h.AppendHistory(t.Context(), "[2026-04-15] later"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Revert(t.Context(), 0, false); !errors.Is(err, oxbow.ErrConflict) ||
		!strings.Contains(err.Error(), "change 1") {
		t.Errorf("Revert() after other changes = %v", err)
	}
	for _, n := range []int{2, -1} {
		if _, err := h.Revert(t.Context(), n, false); !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("Revert(%d) = %v", n, err)
		}
	}
	plan, err := h.Revert(t.Context(), 1, true)
	if err != nil || len(plan.Steps) != 1 || plan.Steps[0].Text != "We ship apps on Tuesdays" {
		t.Errorf("a preview = %+v, %v", plan, err)
	}
	if _, err := h.Revert(t.Context(), 1, false); err != nil {
		t.Fatal(err)
	}
	if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != text+"\nlater\n\n" {
		t.Errorf("MEMORY.md is %q", got)
	}
	if got := read(t, fsys, clawftMemoryDir+"/HISTORY.md"); got != "[2026-04-15] later\n\n" {
		t.Errorf("HISTORY.md is %q", got)
	}

	// Where a person changed the same lines, nothing is overwritten.
	did, err = h.Consolidate(t.Context(), false)
	if err != nil || did.Number != 1 {
		t.Fatalf("Consolidate() = %+v, %v", did, err)
	}
	put(t, fsys, clawftMemoryDir+"/MEMORY.md", "all new\n")
	if _, err := h.Revert(t.Context(), 1, false); !errors.Is(err, oxbow.ErrConflict) ||
		!strings.Contains(err.Error(), "undo/1.json") {
		t.Errorf("Revert() of what a person changed = %v", err)
	}
	put(t, fsys, clawftMemoryDir+"/undo/1.json", "{")
	if _, err := h.Revert(t.Context(), 1, false); !errors.Is(err, oxbow.ErrCorrupt) {
		t.Errorf("Revert() of a damaged record = %v", err)
	}
	put(t, fsys, clawftMemoryDir+"/undo/1.json", `{"version":2}`)
	if _, err := h.Revert(t.Context(), 1, false); !errors.Is(err, oxbow.ErrVersion) {
		t.Errorf("Revert() of a later record = %v", err)
	}
	if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != "all new\n" {
		t.Errorf("MEMORY.md is %q", got)
	}
}

// TestRecords tests that a home keeps the newest maxUndoRecords undo records, and deletes the oldest. Revert must undo
// all changes that have a record.
func TestRecords(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, fsys)
	for i := range maxUndoRecords + 3 {
		if _, err := h.WriteMemory(t.Context(), fmt.Sprintf("text %d\n", i)); err != nil {
			t.Fatal(err)
		}
	}
	ns, err := h.undoRecordNumbers()
	if err != nil || len(ns) != maxUndoRecords || ns[0] != 3 || ns[maxUndoRecords-1] != maxUndoRecords+2 {
		t.Errorf("records %v, %v", ns, err)
	}
	for i := maxUndoRecords + 1; i >= 3; i-- {
		if _, err := h.Revert(t.Context(), 0, false); err != nil {
			t.Fatal(err)
		}
		if got := read(t, fsys, clawftMemoryDir+"/MEMORY.md"); got != fmt.Sprintf("text %d\n\n", i) {
			t.Fatalf("after taking back to %d: %q", i, got)
		}
	}
}

func TestFirstSentence(t *testing.T) {
	for s, want := range map[string]string{
		"":                                     "",
		"One sentence only.":                   "",
		"We ship on Tuesdays. Never else.":     "We ship on Tuesdays.",
		"Ask Dr. Chen about it. She knows.":    "Ask Dr. Chen about it.",
		"See e.g. The manual says so. Yes.":    "See e.g. The manual says so.",
		"Version 1.2 is out now! Get it.":      "Version 1.2 is out now!",
		"ends with e. then goes on. And on.":   "ends with e. then goes on.",
		"Short. Then a longer sentence. End":   "Short. Then a longer sentence.",
		"今天我们去了海边的餐厅。很好吃。":                     "今天我们去了海边的餐厅。",
		strings.Repeat("long ", 300) + ". End": "",
	} {
		if got := firstSentence(s); got != want {
			t.Errorf("firstSentence(%.40q) = %q, want %q", s, got, want)
		}
	}
}

// FuzzCompress tests compressText with random texts and budgets. If compressText succeeds, the shortened text must fit
// into the budget, which is a number of tokens. Each word of a removable fact must be in the shortened text or in the
// texts for the history, unless a duplicate was dropped. Compressing the shortened text again must not change it.
func FuzzCompress(f *testing.F) {
	for _, s := range []string{"", facts(3), "a\n\na",
		"# A\n## B\n\n- x y z\n  more\n- x y z w\n\nLead:\n1. one two three.\n",
		"<!-- oxbow {\"name\":\"n\",\"end\":1} -->\na b c. D e f.\n\ng\n<!-- /oxbow 1 -->\nh\r\n"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, text string, budget int) {
		if budget < 1 || budget > 1000 || len(text) > 4000 || oxbow.CheckContent(text) != nil {
			t.Skip("too long, no content that a store takes, or no budget")
		}
		is, out, steps, ok := compressText(t.Context(), text, budget)
		if prompt.EstimateTokens(injectedMemoryText(is)) > budget && ok {
			t.Fatalf("%q is over %d tokens", is, budget)
		}
		if !ok {
			return
		}
		var b strings.Builder
		for _, o := range out {
			b.WriteString(" " + o.text + " " + o.textWithComment)
		}
		there := strings.Fields(is + " " + b.String())
		have := map[string]bool{}
		for _, w := range there {
			have[w] = true
		}
		exact := slices.ContainsFunc(steps, func(s layout.Step) bool { return s.Did == "drop" })
		for _, u := range splitMarkdownUnits(text) {
			for _, w := range strings.Fields(u.sourceText) {
				if u.isRemovableFact() && !have[w] && !exact {
					t.Fatalf("%q of %q is nowhere: left %q, moved %q", w, text, is, b.String())
				}
			}
		}
		if again, _, _, ok := compressText(t.Context(), is, budget); !ok || again != is {
			t.Fatalf("%q, compressed again, is %q", is, again)
		}
	})
}

func BenchmarkCompress(b *testing.B) {
	text := facts(1000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		compressText(b.Context(), text, 2000)
	}
}

func BenchmarkAppend(b *testing.B) {
	fsys := vfs.NewMem()
	h, err := Open(b.Context(), options(fsys))
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	if _, err := h.WriteMemory(b.Context(), facts(500)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := h.AppendMemory(b.Context(), "A fact of some words, at "+time.Time{}.String()); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCompressEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if is, _, _, ok := compressText(ctx, facts(100), 200); ok {
		t.Errorf("compress() of a context that is done is %q", is)
	}
}
