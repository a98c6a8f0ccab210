// This file tests the rendering of Markdown and of differences.

package page

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/test/testenv"

	g "maragu.dev/gomponents"
)

func written(t testing.TB, n g.Node) string {
	t.Helper()
	var b strings.Builder
	if n == nil {
		return ""
	}
	if err := n.Render(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestProse(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"paragraphs", "one\ntwo\n\nthree", "<p>one\ntwo</p><p>three</p>"},
		{"marks", "*a* **b** `c<` ~~d~~", "<p><em>a</em> <strong>b</strong> <code>c&lt;</code> <s>d</s></p>"},
		{"headings in order", "### a\n##### b\n# c\n## d", "<h3>a</h3><h4>b</h4><h3>c</h3><h4>d</h4>"},
		{"lists", "3. a\n4. b\n\n- c", `<ol start="3"><li>a</li><li>b</li></ol><ul><li>c</li></ul>`},
		{"code", "```go\n<b>\n```\n\n    x", `<pre tabindex="0"><code>&lt;b&gt;` + "\n" +
			`</code></pre><pre tabindex="0"><code>x` + "\n" + `</code></pre>`},
		{
			"table",
			"a|b\n-|-\n1|2",
			`<div class="wide" tabindex="0"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead><tr><td>1</td><td>2</td></tr></table></div>`,
		},
		{
			"html is text",
			"<b>x</b>\n\n<script>1</script>",
			"<p>&lt;b&gt;x&lt;/b&gt;</p><p>&lt;script&gt;1&lt;/script&gt;</p>",
		},
		{
			"link",
			"[a](https://b.example/c?d=e&f)",
			`<p><a href="https://b.example/c?d=e&amp;f" rel="noopener noreferrer nofollow" title="https://b.example/c?d=e&amp;f">a</a></p>`,
		},
		{
			"mail",
			"<me@b.example>",
			`<p><a href="mailto:me@b.example" rel="noopener noreferrer nofollow" title="mailto:me@b.example">me@b.example</a></p>`,
		},
		{
			"inert links",
			"[a](javascript:alert(1)) [b](data:text/html,x) [c](/etc) [d](//evil.example)",
			`<p><span class="inert" title="javascript:alert(1)">a</span> <span class="inert" title="data:text/html,x">b</span> <span class="inert" title="/etc">c</span> <span class="inert" title="//evil.example">d</span></p>`,
		},
		{
			"picture",
			"![alt](https://b.example/p.png)",
			`<p><a href="https://b.example/p.png" rel="noopener noreferrer nofollow" title="https://b.example/p.png">picture: alt</a></p>`,
		},
		{"escapes", `\*a\* &amp; &#65;`, "<p>*a* &amp; A</p>"},
		{"hidden characters", "a\u202eb", "<p>a\ufffdb</p>"},
		{"quote and rule", "> a\n\n---", "<blockquote><p>a</p></blockquote><hr>"},
	} {
		n, cut := RenderMarkdown(c.source)
		if got, want := written(t, n), `<div class="prose" dir="auto">`+c.want+"</div>"; got != want || cut {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
	}
}

// hostile contains parts of texts that make parsers slow if they are repeated.
var hostile = []string{"[", "[](", "](", "![", "*", "**a ", "_a*", "`", "<", ">", "> ", "- ", "1. ", "~~a", "&",
	"\\", "a ", "|", "[a]: b\n", ">\n", "* a\n", "-\n ", "\t- ", "|a|b|\n", "[a][", "***", "a\n", "  - a\n"}

// TestProseFast tests that any text is rendered fast or shown without rendering. The time limit is generous because of
// the race detector: all texts together take 0.2 s of processor time.
func TestProseFast(t *testing.T) {
	for _, unit := range hostile {
		for _, n := range []int{maxProseBytes / len(unit), 100_000} {
			start := testenv.ProcessorTime()
			RenderMarkdown(strings.Repeat(unit, n))
			if d := testenv.ProcessorTime() - start; d > time.Second/2 {
				t.Errorf("%d of %q take %v", n, unit, d)
			}
		}
	}
	if _, cut := RenderMarkdown(strings.Repeat("x", 1<<20)); !cut {
		t.Error("a line of 1 MB is not cut")
	}
	deep, _ := RenderMarkdown(strings.Repeat("> ", 25) + strings.Repeat("- ", 4) + "x")
	if got := written(t, deep); strings.Count(got, "<blockquote>") != 25 {
		t.Errorf("25 quotes are %s", got)
	}
}

// tag matches a tag. Its groups are the slash, the name and the attributes.
var tag = regexp.MustCompile(`<(/?)([a-z0-9]+)((?: [a-z-]+(?:="[^"<>]*")?)*)>`)

// balanced returns an error if a tag is not closed or a < does not begin a tag.
func balanced(s string) error {
	var open []string
	if n := strings.Count(s, "<"); n != len(tag.FindAllString(s, -1)) {
		return fmt.Errorf("%d < begin %d tags", n, len(tag.FindAllString(s, -1)))
	}
	for _, m := range tag.FindAllStringSubmatch(s, -1) {
		switch {
		case m[2] == "br" || m[2] == "hr":
		case m[1] == "":
			open = append(open, m[2])
		case len(open) == 0 || open[len(open)-1] != m[2]:
			return fmt.Errorf("</%s> closes %v", m[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%v are open", open)
	}
	return nil
}

func FuzzProse(f *testing.F) {
	for _, unit := range hostile {
		f.Add("a\n\n" + unit + unit + "b](javascript:x)")
	}
	f.Fuzz(func(t *testing.T, source string) {
		n, _ := RenderMarkdown(source)
		got := written(t, n)
		if err := balanced(got); err != nil {
			t.Errorf("%v in\n%s", err, got)
		}
		for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(got, -1) {
			if !regexp.MustCompile(`^(https?://|mailto:)`).MatchString(m[1]) {
				t.Errorf("a link leads to %q", m[1])
			}
		}
		if VisibleText(got) != got {
			t.Errorf("hidden characters stand in %q", got)
		}
	})
}

func TestDifference(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\ng\n"
	got := written(t, TextDiff(before, strings.Replace(before, "e\n", "E\n<i>\n", 1)))
	want := `<div class="diff" role="group" aria-label="What changed"><span>  …</span><span>  <bdi>c</bdi></span><span>  <bdi>d</bdi></span>` +
		`<del>− <bdi>e</bdi></del><ins>+ <bdi>E</bdi></ins><ins>+ <bdi>&lt;i&gt;</bdi></ins><span>  <bdi>f</bdi></span><span>  <bdi>g</bdi></span></div>`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if TextDiff(before, before) != nil {
		t.Error("equal texts differ")
	}
	long := written(t, TextDiff("", strings.Repeat(strings.Repeat("x", 5000)+"\n", 500)))
	if len(long) > maxDiffLines*(maxLineBytes+60) || !strings.Contains(long, "and more") {
		t.Errorf("a long difference has %d bytes", len(long))
	}
}

func TestProseTasksAndAlignment(t *testing.T) {
	n, _ := RenderMarkdown("- [x] done\n- [ ] open\n\n| a | b |\n|--:|:-:|\n| 1 | 2 |\n")
	var b strings.Builder
	if err := n.Render(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`aria-label="done:">☑ `,
		`aria-label="to do:">☐ `,
		`class="to-right">a`,
		`class="to-center">2`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text has no %q: %s", want, b.String())
		}
	}
}
