// This file tests how entry files are encoded and decoded.

package mdtree

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// nasty contains texts that are difficult for a file format.
var nasty = []string{
	"", " ", "x", "group imports", "\n", "\r", "\r\n", "\n\n\n", "\r\r\n", "\n\r\n\r", "a\n", "a\n\n", "a\r\n", "a\r",
	"\na", "\r\na", "\n\r\na\r\n\n", "  indented\n  code\n", "trailing  ", "trailing  \n", "\ttab", "a\r\nb\r\nc",
	"</div>", "has </div> and <div id=\"meta\">\ninside", `<div id="meta">` +
		"\n</div>\n\nx", "<!-- content: LF before -->",
	"&lt;", "&amp;lt;", "&#10;", "&", "a & b < c > d", "\ufeffbom", "emoji 🦀", "日本語\n", "e\u0301 é", "\u2028",
	"\u0085x", " \n x \n ",
	"<dt>Name</dt><dd>fake</dd>", "<li>x</li>", `datetime="2001-01-01T00:00:00Z"`, "---\nyaml: x\n---\n",
	"# Heading\n\ntext\n",
	"x\x00y", "x\x01y", strings.Repeat("\n", 1000), strings.Repeat("\r\r\n", 50) + "x" + strings.Repeat("\n\r", 50),
}

func roundTrip(t *testing.T, e *oxbow.Entry, showName bool) {
	t.Helper()
	text := string(entryText{Entry: e, includesName: showName}.appendFileText(nil))
	p, err := parseEntry(text)
	if err != nil {
		t.Errorf("parseEntry(%q): %v", text, err)
		return
	}
	got := oxbow.Entry{Name: e.Name, Content: p.content, Aliases: p.aliases, Labels: p.labels, Created: p.created}
	if showName {
		got.Name = p.name
	}
	if g, w := describeEntry(&got), describeEntry(e); g != w {
		t.Errorf("file %q\nparsed %s\nwant   %s", text, g, w)
	}
	if p.hasName != showName || len(p.warnings) > 0 {
		t.Errorf("file %q: named = %v, warnings %q; want %v and none", text, p.hasName, p.warnings, showName)
	}
}

func TestEntryRoundTrip(t *testing.T) {
	for i, content := range nasty {
		e := &oxbow.Entry{
			Name:    nasty[(i+7)%len(nasty)],
			Content: content,
			Created: noon.Add(time.Duration(i) * 1234567),
		}
		roundTrip(t, e, true)
		e.Aliases = []string{nasty[(i+1)%len(nasty)], nasty[(i+2)%len(nasty)], content}
		for _, s := range nasty {
			l := oxbow.Label{Key: "k", Value: s}
			if l.Check() == nil {
				e.Labels = append(e.Labels, l)
			}
		}
		e.Labels = oxbow.SortLabels(e.Labels)
		if len(e.Labels) < 5 {
			t.Fatalf("only %d labels to test with", len(e.Labels))
		}
		roundTrip(t, e, false)
		roundTrip(t, e, true)
	}
	for _, sec := range []int64{0, -1, minUnixSeconds - 1, minUnixSeconds, maxUnixSeconds, maxUnixSeconds + 1,
		1 << 62, -1 << 62} {
		for _, nano := range []int64{0, 1, 500_000_000, 999_999_999} {
			roundTrip(t, &oxbow.Entry{Name: "n", Created: time.Unix(sec, nano)}, false)
		}
	}
}

func TestEntryFile(t *testing.T) {
	e := &oxbow.Entry{Name: "a/b", Content: "\n\nsteps\n", Created: noon.Add(5e8),
		Aliases: []string{"ship", "a<b\n"},
		Labels:  []oxbow.Label{{Key: "project", Value: "vtt"}, {Key: "tag", Value: "two words"}}}
	want := `<div id="meta">
<dl>
  <dt>Created</dt>
  <dd><time datetime="2026-04-14T10:23:45.5Z">2026-04-14T10:23:45.5Z</time></dd>
  <dt>Aliases</dt>
  <dd>
    <ul>
      <li>ship</li>
      <li>a&lt;b&#10;</li>
    </ul>
  </dd>
  <dt>Labels</dt>
  <dd>
    <ul>
      <li>project:vtt</li>
      <li>tag:"two words"</li>
    </ul>
  </dd>
  <dt>Name</dt>
  <dd>a/b</dd>
  <!-- content: LF*2 before, LF after -->
</dl>
</div>

steps
`
	if got := string(entryText{Entry: e, includesName: true}.appendFileText(nil)); got != want {
		t.Errorf("appendEntry = %s\nwant %s", got, want)
	}
}

// TestParseEntryByHand parses files that people have edited.
func TestParseEntryByHand(t *testing.T) {
	const open, end = `<div id="meta"><dl>`, `</dl></div>`
	for _, c := range []struct {
		what, file string
		content    string
		aliases    string
		labels     string
	}{
		{"an editor trims the end", open + "<!-- content: LF*2 after -->" + end + "\n\ntext", "text\n\n", "", ""},
		{"an editor adds a line", open + end + "\n\ntext\n\n\n", "text", "", ""},
		{"spaces at the front stay", open + end + "\n\n    code\n", "    code", "", ""},
		{"an item over lines", open + "<dt>Aliases</dt><dd><ul><li>\n  two\n  </li></ul></dd>" + end, "", "two", ""},
		{"quotes by name",
			open + "<dt>Aliases</dt><dd><ul><li>&quot;a&quot; &apos;b&#39; &nbsp; &#x41;</li></ul></dd>" + end, "",
			`"a" 'b' &nbsp; &#x41;`, ""},
		{"space around a label", open + "<dt>Labels</dt><dd><ul><li> project:vtt </li></ul></dd>" +
			end, "", "", "project:vtt"},
		{"a label twice", open + "<dt>Labels</dt><dd><li>tag:b</li><li>tag:a</li><li>tag:b</li></dd>" +
			end, "", "", "tag:a tag:b"},
	} {
		p, err := parseEntry(c.file)
		var labels []string
		for _, l := range p.labels {
			labels = append(labels, l.String())
		}
		if err != nil || p.content != c.content || strings.Join(p.aliases, ",") != c.aliases ||
			strings.Join(labels, " ") != c.labels {
			t.Errorf("%s: parseEntry(%q) = content %q, aliases %q, labels %q, error %v; want %q, %q, %q",
				c.what, c.file, p.content, p.aliases, labels, err, c.content, c.aliases, c.labels)
		}
	}
	for _, block := range []string{
		"<dt>Labels</dt><dd><ul><li>nocolon</li></ul></dd>",
		"<dt>Labels</dt><dd><ul><li>Bad Key:x</li></ul></dd>",
		"<!-- content: some -->",
		"<!-- content: LF*0 before -->",
		"<!-- content: LF*99999999999999999999 before -->",
		"<!-- content: CRLF*4000000 after -->",
		"<!-- content: LF after, LF before -->",
	} {
		if p, err := parseEntry(open + block + end + "x"); err == nil {
			t.Errorf("parseEntry with %s = %+v, want an error", block, p)
		}
	}
	for _, block := range []string{"<dt>Mood</dt><dd>fine</dd>", `<time datetime="yesterday">`} {
		if p, err := parseEntry(open + block + end); err != nil || len(p.warnings) != 1 {
			t.Errorf("parseEntry with %s: warnings %q, error %v; want one warning", block, p.warnings, err)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"},
		{"2020-01-01t00:00:00z", "2020-01-01T00:00:00Z"},
		{"2020-01-01 01:00:00+02:00", "2019-12-31T23:00:00Z"},
		{"2020-01-01T00:00:00.999Z", "2020-01-01T00:00:00.999Z"},
		{"2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"},
		{"2020-01-01", ""}, {"2020-01-01T00:00:00", ""}, {"-2020-01-01T00:00:00Z", ""},
		{"+12000-01-01T00:00:00Z", ""}, {"", ""}, {"@", ""}, {"@1+5", ""}, {"@x", ""}, {"@99999999999999999999", ""},
	} {
		got, ok := parseTime(c.in)
		if ok != (c.want != "") || (ok && got.Format(time.RFC3339Nano) != c.want) {
			t.Errorf("parseTime(%q) = %v, %v, want %q", c.in, got, ok, c.want)
		}
	}
}

func FuzzParseEntry(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
		e := &oxbow.Entry{Name: s, Content: s, Aliases: []string{s}, Created: noon}
		f.Add(string(entryText{Entry: e, includesName: true}.appendFileText(nil)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 || (strings.Contains(text, "*") && strings.Contains(text, lineEndingCommentStart)) {
			// remove *, because *N makes contents very long, which only takes time
			text = strings.ReplaceAll(text, "*", "")
		}
		p, err := parseEntry(text)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		// An entry that was read, written and read again must be the same.
		e := oxbow.Entry{Name: "n", Content: p.content, Aliases: p.aliases, Labels: p.labels, Created: p.created}
		again, err := parseEntry(string(entryText{Entry: &e}.appendFileText(nil)))
		if err != nil || again.content != p.content || !slices.Equal(again.aliases, p.aliases) ||
			!slices.Equal(again.labels, p.labels) || !again.created.Equal(p.created) {
			t.Errorf("%q\nread as   %+v\nand again %+v, %v", text, p, again, err)
		}
	})
}

func FuzzEntryRoundTrip(f *testing.F) {
	for i, s := range nasty {
		f.Add(s, s, nasty[(i+1)%len(nasty)], "v"+s, int64(i), int64(i))
	}
	f.Fuzz(func(t *testing.T, name, content, alias, value string, sec, nano int64) {
		for _, s := range []string{name, content, alias} {
			if !utf8.ValidString(s) {
				return
			}
		}
		e := &oxbow.Entry{
			Name:    name,
			Content: content,
			Aliases: []string{alias, content},
			Created: time.Unix(sec, nano),
		}
		if l := (oxbow.Label{Key: "tag", Value: value}); l.Check() == nil {
			e.Labels = []oxbow.Label{l}
		}
		if e.Created.IsZero() {
			return
		}
		roundTrip(t, e, true)
	})
}

func ExampleProblem() {
	fmt.Println(Problem{"notes/a.md", oxbow.ErrInvalid})
	// Output: notes/a.md: invalid
}

// TestEveryInsertedWordIsReadOrReported inserts a word at each position of a file. The word must be part of the entry,
// or there must be a warning or an error.
func TestEveryInsertedWordIsReadOrReported(t *testing.T) {
	e := oxbow.Entry{Name: "why?", Kind: oxbow.Note, Content: "\n\nfirst line\n\nsecond\n", Created: noon,
		Aliases: []string{"ship", "a & b"}, Labels: []oxbow.Label{{Key: "project", Value: "vtt"}}}
	for _, showName := range []string{"", "shown"} {
		text := string(entryText{Entry: &e, includesName: showName != ""}.appendFileText(nil))
		for i := range len(text) + 1 {
			for _, word := range []string{"zebra", " zebra ", "<p>zebra</p>", "<!-- zebra -->", "\n<dt>zebra</dt>\n"} {
				edited := text[:i] + word + text[i:]
				got, f, err := parseEntryFile(&entryKindDirs[0], "notes/why%3F.md", edited)
				read := fmt.Sprint(got.Name, got.Content, got.Aliases, got.Labels, f.warnings)
				if err == nil && !strings.Contains(read, "zebra") && len(f.warnings) == 0 {
					t.Errorf("%q at byte %d is neither read nor reported:\n%s", word, i, edited)
				}
			}
		}
		if _, f, err := parseEntryFile(&entryKindDirs[0], "notes/why%3F.md", text); err != nil || len(f.warnings) > 0 {
			t.Errorf("the file of a dump has warnings %q (%v)", f.warnings, err)
		}
	}
}
