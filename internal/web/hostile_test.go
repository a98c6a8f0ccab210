// This file tests that the content of an entry cannot change the structure of a page.

package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// payloads contains texts that would change a page if they were not escaped.
var payloads = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `"><svg onload=alert(1)>`, `'><b>`,
	`</textarea><script>1</script>`, `</pre></main><h1>owned</h1>`, `</title><script>1</script>`,
	`[x](javascript:alert(1))`, `[x](JaVaScRiPt:alert(1))`, `![x](data:text/html,<script>1</script>)`,
	"[x](\tjavascript:alert(1))", `<javascript:alert(1)>`, `[x](vbscript:1 "on=1")`,
	`[x](https://e.example/"onclick="1)`,
	"\u202e\u2066turned", "\u200b\u200dhidden\ufeff", "```\n</code></pre><script>1</script>\n", "~~~\n<!-- ", "<!--",
	"-->", "]]>", "<![CDATA[", "&lt;script&gt;", "&#60;script&#62;1", "<a href=//e.example>",
	"<form action=//e.example><button>Save",
	"<base href=//e.example>", "<meta http-equiv=refresh content=0>", "<style>*{display:none}</style>",
	"<link rel=stylesheet href=//e.example>", "<iframe srcdoc=x>", "| a | <td> |\n|-|-|\n| </table> | x |",
	"# <h1>\n\n####### x", "\x1b[31mred", "\x01\x02\x7f",
	"{{.}} ${x} <%= 1 %>", "\\<script\\>", "&amp;&quot;&#x3c;b&#x3e;", "<details open ontoggle=alert(1)>",
	strings.Repeat("[", 20_000), strings.Repeat("<b>", 3000), strings.Repeat(">", 3000), strings.Repeat("x", 1<<20),
	strings.Repeat("](", 9000),
}

var (
	anyTag  = regexp.MustCompile(`<(/?)([a-z0-9]+)((?: [a-zA-Z-]+(?:="[^"<>]*")?)*)/?>`)
	attribs = regexp.MustCompile(` ([a-zA-Z-]+)(?:="([^"<>]*)")?`)
	voids   = map[string]bool{"meta": true, "link": true, "input": true, "br": true, "hr": true, "path": true}
	foreign = map[string]bool{"img": true, "iframe": true, "base": true, "style": true, "object": true,
		"embed": true, "audio": true, "video": true}
	values    = regexp.MustCompile(` value="[^"]*"`) // value attributes of form fields; the values contain entry names
	localLink = regexp.MustCompile(`^(/ui/|#main$|https?://e\.example|mailto:)`)
)

// sound returns an error if a page is not well-formed, or could run a script or load something that is not from this
// server. A page is wrong if:
//
//   - a tag is unclosed, unexpected, or one of the elements in foreign
//   - a tag has a style attribute or an event attribute, whose name begins with "on"
//   - an href, action or src attribute leads to another server
//   - the page does not have exactly one h1, main, script and title element
func sound(shown string) error {
	shown = strings.TrimPrefix(shown, "<!doctype html>")
	tags := anyTag.FindAllStringSubmatch(shown, -1)
	if n := strings.Count(shown, "<"); n != len(tags) {
		return fmt.Errorf("%d < begin %d tags", n, len(tags))
	}
	var open []string
	count := map[string]int{}
	for _, m := range tags {
		switch name := m[2]; {
		case foreign[name]:
			return fmt.Errorf("there is a <%s>", name)
		case m[1] == "/" && (len(open) == 0 || open[len(open)-1] != name):
			return fmt.Errorf("</%s> closes %v", name, open)
		case m[1] == "/":
			open = open[:len(open)-1]
			continue
		case !voids[name]:
			open = append(open, name)
			fallthrough
		default:
			count[name]++
		}
		for _, a := range attribs.FindAllStringSubmatch(m[3], -1) {
			if strings.HasPrefix(strings.ToLower(a[1]), "on") || a[1] == "style" ||
				((a[1] == "href" || a[1] == "action" || a[1] == "src") && !localLink.MatchString(a[2])) {
				return fmt.Errorf("a <%s> has %s", m[2], a[0])
			}
		}
	}
	if len(open) > 0 || count["h1"] != 1 || count["main"] != 1 || count["script"] != 1 || count["title"] != 1 {
		return fmt.Errorf(
			"open are %v, and there are %d <h1>, %d <main>, %d <script>",
			open,
			count["h1"],
			count["main"],
			count["script"],
		)
	}
	return nil
}

// TestHostile tests that 500 hostile entries do not change the structure of the pages that show them.
func TestHostile(t *testing.T) {
	testenv.SkipInShortMode(t)
	b := open(t, auth.Permissions{})
	var names []string
	for i := range 500 {
		text := payloads[i%len(payloads)]
		if i >= len(payloads) { // two payloads in one entry
			text = text[:min(len(text), 4000)] + []string{
				"\n\n",
				" ",
				"",
			}[i%3] + payloads[(i*7+i/len(payloads))%len(payloads)]
		}
		name := fmt.Sprintf("%d %s", i, strings.ToValidUTF8(text[:min(len(text), 60)], ""))
		if oxbow.CheckName(name) != nil {
			name = fmt.Sprint(i)
		}
		var labels []oxbow.Label
		for _, l := range []oxbow.Label{
			{Key: "tag", Value: name},
			{Key: "project", Value: name},
			{Key: "file", Value: name},
		} {
			if l.Check() == nil {
				labels = append(labels, l)
			}
		}
		b.remember(name, text, labels...)
		names = append(names, name)
	}
	paths := []string{page.RootPath, page.RootPath + "log", page.RootPath + "new", page.RootPath +
		"find", page.RootPath + page.FindPagePath("script alert"), page.RootPath + page.FindPagePath("<b> \"x")}
	for i, name := range names {
		paths = append(paths, at(name, ""))
		if i < len(payloads)*2 {
			paths = append(paths, at(name, "/edit"), at(name, "/versions"))
		}
	}
	for _, path := range paths {
		shown := b.get(path, http.StatusOK)
		if err := sound(shown); err != nil {
			t.Fatalf("%s: %v in\n%s", path, err, shown)
		}
		shown = values.ReplaceAllString(shown, "")
		if !strings.HasSuffix(path, "/edit") && page.VisibleText(shown) != shown {
			t.Errorf("%s shows hidden characters", path)
		}
	}
	if b.content(names[4]) != payloads[4] {
		t.Error("showing an entry changed it")
	}
}
