// This file tests how reports are shown on pages.

package page

import (
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func TestReport(t *testing.T) {
	now := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	var r report.Report
	r.AddLinef(
		"found %d of %s in %s",
		2,
		report.EntryName("<b>\u202e"),
		report.Sentencef("the %s", report.OxbowText("archive")),
	)
	r.Add(
		report.Line{Sentence: report.Sentencef("%s below", now), Indent: 2},
		report.Fields{Cells: []report.Cell{{Name: "tags", Value: report.Names{"x", "y"}}, {Name: "none", Value: ""}}},
		report.Table{Columns: []string{"Name", "N"}, Rows: [][]any{{report.EntryName("a"), 3}}},
		report.Finding{Level: "warning", Topic: "space", TopicState: "9 kB free", Remedy: "oxbow compact"},
		report.Finding{Level: "ok", Topic: "lock", TopicState: "free"},
		report.List{IsNumbered: true, Items: []report.Section{
			report.Record{Key: report.EntryName("c"), Effect: report.Sentencef("forgot %s", report.EntryName("c")),
				Cells:          []report.Cell{{Name: "version", Value: uint64(7)}},
				TextCellsBelow: []report.Cell{{Name: "text", Value: report.Quote("<i>")}}},
		}},
		report.TextForModel("as <it> is"),
	)
	report.AddEmptyResultReasons(&r, []report.OxbowText{"nothing fits"}, []string{"near"})
	r.Warnf("%s is lost", report.QuotedText("f"))
	report.AddNotes(&r, []verb.Note{verb.PlainNote("to go on, wait")})
	r.AddNotef("left:%s", report.QuotedLines{"a", "b"})
	var b strings.Builder
	if err := RenderReport(now, r).Render(&b); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`<p>Found 2 of <bdi>&lt;b&gt;` + "\ufffd" + `</bdi> in the archive</p>`,
		`<p class="hint"><time datetime="2026-04-18T09:00:00Z" title="Saturday, 18 April 2026, 09:00:00 UTC">just now` +
			`</time> below</p>`,
		`<dl class="facts"><dt>Tags</dt><dd><bdi>x</bdi>, <bdi>y</bdi></dd></dl>`,
		`<th scope="col">N</th></tr></thead><tbody><tr><td><bdi>a</bdi></td><td class="number">3</td></tr></tbody>`,
		`<ul class="rows"><li class="row"><div class="head"><span class="badge warn">warning</span>` +
			`<span class="dim">space</span><span><bdi>9 kB free.</bdi></span></div><p class="hint">oxbow compact</p></li>` +
			`<li class="row"><div class="head"><span class="badge good">ok</span>`,
		`<ol class="rows"><li class="row"><div class="head"><span>Forgot <bdi>c</bdi></span></div>` +
			`<div class="meta"><span>version 7</span></div>` +
			`<dl class="facts"><dt>Text</dt><dd><blockquote><bdi>&lt;i&gt;</bdi></blockquote></dd></dl></li></ol>`,
		`<pre>as &lt;it&gt; is</pre>`,
		`<div class="empty"><p>Nothing fits</p><p class="dim">Similar names: <bdi>near</bdi></p></div>`,
		`<div class="notice warn"><p><bdi>f</bdi> is lost.</p></div>`,
		`<div class="notice note"><p>To go on, wait.</p></div>`,
		`<div class="notice note"><p>Left:<br><bdi>a</bdi><br><bdi>b</bdi></p></div>`,
	}
	rest := b.String()
	for _, w := range want {
		_, after, found := strings.Cut(rest, w)
		if !found {
			t.Fatalf("the page does not show, or not in this order, %s\nin %s", w, rest)
		}
		rest = after
	}
}
