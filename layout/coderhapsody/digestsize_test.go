// This file tests the compression of daily logs with realistic sizes. It tests how much shorter the logs become, and
// which logs stay unchanged.

package coderhapsody

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/layouttest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// realisticHome returns a file system with logs of up to seven days, two for each day, and two later logs. The texts
// are pages of this project's manual, about 3 to 20 kB each; short pages are left out. Every second log is divided into
// four entries, the others are one entry each. The result days is the number of logs without the two later ones.
func realisticHome(t *testing.T) (fsys *vfs.Mem, days int) {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 14 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	fsys = vfs.NewMem()
	for i, page := range pages[:14] {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) <= layout.DefaultOver {
			continue
		}
		days++
		name := fmt.Sprintf("memory/2026-04-%d-%d.md", 13+i/2, 1+i%2)
		if i%2 == 0 {
			put(t, fsys, name, string(text))
			continue
		}
		// The same text with front matter, divided into four entries.
		var log strings.Builder
		for n, part := range quarters(string(text)) {
			fmt.Fprintf(
				&log,
				"---\ntime: %02d:00\nproject: vtt\ntags: [%s]\n---\n\n%s\n\n",
				9+n,
				[]string{"decision", "lesson"}[n%2],
				strings.ReplaceAll(part, "\n---\n", "\n\\---\n"),
			)
		}
		put(t, fsys, name, log.String())
	}
	put(t, fsys, "memory/2026-05-04.md", "May.\n")
	put(t, fsys, "memory/2026-05-05.md", "May again.\n")
	return fsys, days
}

// quarters splits a text between paragraphs into at most four parts. Parts have the same number of paragraphs, except
// the last.
func quarters(text string) []string {
	ps := strings.Split(strings.TrimSpace(text), "\n\n")
	var out []string
	for chunk := range slices.Chunk(ps, max(1, (len(ps)+3)/4)) {
		out = append(out, strings.Join(chunk, "\n\n"))
	}
	return out
}

// TestCompressToAnEighth checks that days of realistic size become eight times shorter.
func TestCompressToAnEighth(t *testing.T) {
	fsys, days := realisticHome(t)
	h := openHome(t, fsys, may)
	done, err := h.Compress(t.Context(), layout.Compression{Span: "week"})
	if err != nil {
		t.Fatal(err)
	}
	before := 0
	after := 0
	files := 0
	for _, d := range done {
		files += len(d.Covers)
		for _, p := range d.Parts {
			before, after = before+p.Before, after+p.After
			if p.After > p.Before/digestShrinkFactor {
				t.Errorf("%s: %d bytes to %d, more than an eighth", p.Entry, p.Before, p.After)
			}
		}
	}
	t.Logf("%d days, %d bytes to %d: %.3f", files, before, after, float64(after)/float64(before))
	if files != days || float64(after) < 0.8*float64(before)/digestShrinkFactor {
		t.Errorf("%d of %d days, %d bytes to %d; want an eighth of all", files, days, before, after)
	}
	if r, err := h.Memory().Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %v, %v", r.Problems, err)
	}
}

// TestShortDaysStay checks that short days stay unchanged, even if other days are compressed.
func TestShortDaysStay(t *testing.T) {
	fsys := vfs.NewMem()
	short, long := "Squares, not hexes.\n", strings.Repeat("It took a while. ", 200)
	put(t, fsys, "memory/2026-04-13.md", short)
	put(t, fsys, "memory/2026-04-14.md", "# Day\n\n"+long)
	put(t, fsys, "memory/2026-04-21.md", short)
	put(t, fsys, "memory/2026-05-04.md", "May.\n")
	put(t, fsys, "memory/2026-05-05.md", "May again.\n")
	h := openHome(t, fsys, may)
	done, err := h.Compress(t.Context(), layout.Compression{Span: "week"})
	if err != nil || len(done) != 2 || !slices.Equal(done[0].Covers, []string{"2026-04-14.md"}) ||
		done[1].Skipped != "has no log of more than 2000 bytes" {
		t.Errorf("Compress() = %+v, %v", done, err)
	}
	if got := read(t, fsys, "memory/2026-04-13.md"); got != short {
		t.Errorf("a short day is %q", got)
	}
	done, err = h.Compress(t.Context(), layout.Compression{Span: "month", Over: 10_000})
	if err != nil || len(done) != 1 || done[0].Skipped != "has no log of more than 10000 bytes" {
		t.Errorf("Compress(month, over 10000) = %+v, %v", done, err)
	}
	if r, err := h.Memory().Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %v, %v", r.Problems, err)
	}
}

// TestDigestKeepsExcludedTagsApart checks that a digest has a separate entry for entries that a profile excludes.
// Therefore the profile includes the rest of the digest.
func TestDigestKeepsExcludedTagsApart(t *testing.T) {
	fsys := vfs.NewMem()
	long := strings.Repeat("It took a while. ", 200)
	put(t, fsys, "memory/2026-04-13.md", "---\ntags: [decision]\n---\n\nSquares, not hexes. "+long+
		"\n\n---\ntags: [moltbook, decision]\n---\n\nNobody reads moltbook. "+long+"\n")
	put(t, fsys, "memory/2026-05-04.md", "May.\n")
	put(t, fsys, "memory/2026-05-05.md", "May again.\n")
	put(t, fsys, "memory-profiles/work.yaml", "exclude:\n  tags: [moltbook]\n")
	put(t, fsys, "memory-profiles/broken.yaml", "exclude: 5\n")
	h := openHome(t, fsys, may)
	done, err := h.Compress(t.Context(), layout.Compression{Span: "week"})
	if err != nil || len(done) != 1 || len(done[0].Parts) != 2 || len(done[0].Notes) != 1 ||
		!strings.Contains(done[0].Notes[0], `"broken"`) {
		t.Fatalf("Compress() = %+v, %v", done, err)
	}
	bound, err := h.WithProfile("work")
	if err != nil {
		t.Fatal(err)
	}
	c, err := bound.Context(t.Context(), layout.Request{})
	if err != nil || !strings.Contains(sources(c), "week-2026-W16") || !strings.Contains(c.Text(), "Squares") ||
		strings.Contains(c.Text(), "moltbook") {
		t.Errorf("the context of the profile is %s, %v", sources(c), err)
	}
	for name, e := range entries(t, h.Memory()) {
		if strings.HasPrefix(name, "week-") && strings.Contains(e.Content, "Squares") &&
			strings.Contains(labelText(e), "moltbook") {
			t.Errorf("the digest %q has the labels %s", name, labelText(e))
		}
	}
}

// TestNoFactTwice checks that neither recall_memory nor the recall for a message returns a fact twice.
func TestNoFactTwice(t *testing.T) {
	fsys := vfs.NewMem()
	for day := 13; day <= 17; day++ {
		put(
			t,
			fsys,
			fmt.Sprintf("memory/2026-04-%d.md", day),
			fmt.Sprintf(
				"The heron number %d nests on the old crane by the harbour.\n\n%s\n",
				day,
				strings.Repeat("It took a while. ", 200),
			),
		)
	}
	put(t, fsys, "memory/2026-05-04.md", "May.\n")
	put(t, fsys, "memory/2026-05-05.md", "May again.\n")
	h := openHome(t, fsys, may)
	for _, span := range []string{"", "week", "month"} {
		if span != "" {
			if _, err := h.Compress(t.Context(), layout.Compression{Span: span, Over: 1}); err != nil {
				t.Fatal(err)
			}
		}
		answer := layouttest.MustCallHomeTool(
			t,
			h,
			"recall_memory",
			m{"query": "heron crane harbour", "max_results": 5, "max_tokens": 20_000},
		)
		block, err := h.recallEntries(t.Context(), "where does the heron nest, on which crane by the harbour?", nil)
		if err != nil {
			t.Fatal(err)
		}
		for day := 13; day <= 17; day++ {
			if n := strings.Count(answer, fmt.Sprintf("heron number %d nests", day)); n != 1 {
				t.Errorf("after %q, recall_memory says fact %d %d times", span, day, n)
			}
			if n := strings.Count(block.Text(), fmt.Sprintf("heron number %d nests", day)); n > 1 {
				t.Errorf("after %q, a message recalls fact %d %d times", span, day, n)
			}
		}
		if n := strings.Count(block.Text(), "heron number"); n != maxRecalledEntries {
			t.Errorf("after %q, a message recalls %d facts", span, n)
		}
	}
	var digest oxbow.Entry
	for name, e := range entries(t, h.Memory()) {
		if strings.HasPrefix(name, "week-") {
			digest = e
		}
	}
	if !strings.Contains(digest.Content, "heron number") {
		t.Errorf("the digest says %q, so that this test tests nothing", digest.Content)
	}
}
