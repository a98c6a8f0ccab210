// This file tests the highlighting of code.

package page

import (
	"strings"
	"testing"

	g "maragu.dev/gomponents"
)

func rendered(t *testing.T, n g.Node) string {
	t.Helper()
	var b strings.Builder
	if err := n.Render(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHighlighted(t *testing.T) {
	span := strings.NewReplacer("<k ", `<span class="hk">`, "<s ", `<span class="hs">`, "<c ", `<span class="hc">`,
		"<n ", `<span class="hn">`, ">", "</span>")
	for _, test := range []struct{ language, code, want string }{
		{"go", "return nil // done", "<k return> <k nil> <c // done>"},
		{"Go", "x := 45*time.Second", "x := <n 45>*time.Second"},
		{"go", "s := `a\nb` + 'c'", "s := <s `a\nb`> + <s &#39;c&#39;>"},
		{"go", "/* a\n b */ returned", "<c /* a\n b */> returned"},
		{"go", `a := "not closed`, `a := &#34;not closed`},
		{"rust", "fn f<'a>(x: &'a str) {", "<k fn> f&lt;&#39;a&gt;(x: &amp;&#39;a str) {"},
		{"python", "x = f\"a\\\"b\" # it's", "x = f<s &#34;a\\&#34;b&#34;> <c # it&#39;s>"},
		{"python", "'''a\n'b''' in x", "<s &#39;&#39;&#39;a\n&#39;b&#39;&#39;&#39;> <k in> x"},
		{"sh", "echo a#b 'c' # d", "echo a#b <s &#39;c&#39;> <c # d>"},
		{"sql", "SELECT 1 FROM t -- all", "<k SELECT> <n 1> <k FROM> t <c -- all>"},
		{"yaml", "a: don't # b\nc: 'd'", "a: don&#39;t <c # b>\nc: <s &#39;d&#39;>"},
		{"json", `{"a": true}`, `{<s &#34;a&#34;>: <k true>}`},
		{"unknown", "return 1", "return 1"},
		{"", "<b>", "&lt;b&gt;"},
	} {
		got := rendered(t, highlightCode(test.code, test.language))
		want := span.Replace(test.want)
		if got != want {
			t.Errorf("%s %q:\n got %s\nwant %s", test.language, test.code, got, want)
		}
	}
}

// FuzzHighlighted tests that highlighting neither loses nor adds text.
func FuzzHighlighted(f *testing.F) {
	f.Add("go", "return `x")
	f.Add("rust", "'a '\\'' \"")
	f.Add("python", `"""\`)
	f.Add("sh", "é# 'ü'")
	f.Fuzz(func(t *testing.T, language, code string) {
		got := rendered(t, highlightCode(code, language))
		for _, class := range []string{commentSpanClass, keywordSpanClass, numberSpanClass, stringSpanClass} {
			got = strings.ReplaceAll(got, `<span class="`+class+`">`, "")
		}
		got = strings.ReplaceAll(got, "</span>", "")
		if want := rendered(t, g.Text(VisibleText(code))); got != want {
			t.Errorf("%q in %q became %q, want %q", code, language, got, want)
		}
	})
}
