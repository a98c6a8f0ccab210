// This file tests the reading of Markdown: front matter, headings and splitting.

package exchange

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func TestFrontMatter(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     string // fields as key=value, separated by spaces; list values are joined by |; errors are !key
		rest     string
	}{
		{"none", "text\n---\n", "", "text\n---\n"},
		{
			"scalars",
			"---\na: x y\nB-c:   'it''s' # no\nd: \"q\\n\\u00e9\"\ne:\n---\nbody",
			"a=x y b_c=it's d=q\né e=",
			"body",
		},
		{
			"lists",
			"---\na: [x, \"y, z\", 'w']\nb:\n  - one\n  - \"two\"\nc:\n- three\n---\n",
			"a=x|y, z|w b=one|two c=three",
			"",
		},
		{"list over lines", "---\na: [x,\n  y]\n---\n", "a=x|y", ""},
		{"blocks", "---\na: |\n  l1\n    l2\n\nb: >-\n  f1\n  f2\n\n  f3\n---\n", "a=l1\n  l2 b=f1 f2\nf3", ""},
		{"comments and blank lines", "---\n# c\n\na: x#y\n...\nbody\n", "= a=x#y", "body\n"},
		{"comments alone may be headings", "---\n# c\n---\n", "", "---\n# c\n---\n"},
		{"carriage returns", "---\r\na: x\r\n---\r\nbody\r\n", "a=x", "body\r\n"},
		{"null", "---\na: ~\nb: null\nc: []\n---\n", "a= b= c=", ""},
		{"value with a colon", "---\na: http://x: y\n---\n", "a=http://x: y", ""},
		{"empty", "---\n---\nbody", "", "body"},
		{"a rule, then text", "---\nSome text.\n---\n", "", "---\nSome text.\n---\n"},
		{"never closed", "---\na: x\n", "", "---\na: x\n"},
		{"nested", "---\na:\n  b: c\nd: x\n---\n", "a.b=c d=x", ""},
		{"a bad line after a key", "---\na: x\n]\n---\n", "a=x !", ""},
		{"open quote", "---\na: \"x\n---\n", "a=\"x", ""},
		{"escapes are characters, not bytes", "---\na: \"\\xff\"\n---\n", "a=ÿ", ""},
		{"escapes that make no text", "---\na: \"\\ud800\"\nb: \"\\0\"\n---\n", "a=\"\\ud800\" !b", ""},
		{
			"what YAML refuses",
			"---\na: [*.go, 'y z']\nt: [#x]\nb:\n- @u\n- \"v\"\nc: d: e  f # g\nd: *x\n---\n",
			"a=*.go|y z t=#x b=@u|v c=d: e  f d=*x",
			"",
		},
		{
			"text after a hash",
			"---\na: PR #762 and #800, so\nb:\n  - Ticket #44\n  - #45\nc: #x, #y\nd: harbor #2 # a remark\n---\n",
			"a=PR #762 and #800, so b=Ticket #44|#45 c=#x, #y d=harbor #2",
			"",
		},
		{
			"a hash in a nested mapping and in a block",
			"---\na:\n  b: crash #12\n  c: |\n    - x #1\n    y: z #2\n  d: it's #3\n---\n",
			"a.b=crash #12 a.c=- x #1\ny: z #2 a.d=it's #3",
			"",
		},
		{
			"lists in lists and mappings in lists",
			"---\na: [[x], [y, z]]\nb:\n- c: 1\n  d: 2\n- e\n---\n",
			"a=x|y|z b=e b.c=1 b.d=2",
			"",
		},
		{
			"keys with spaces and quotes",
			"---\ndate created: x\n\"Due Date\": y\n---\n",
			"date_created=x due_date=y",
			"",
		},
		{"a sentence, then a rule", "---\nOne thing I learned: x\n---\n", "", "---\nOne thing I learned: x\n---\n"},
		{
			"what metadata nests",
			"---\nmetadata:\n  type: reference\n  node-type: memory\n---\n",
			"type=reference node_type=memory",
			"",
		},
	} {
		keys, size, _ := parseYAMLFrontMatter(tt.in)
		var got []string
		for _, k := range keys {
			if k.err != nil {
				got = append(got, "!"+k.normalizedKey)
				continue
			}
			got = append(got, k.normalizedKey+"="+strings.Join(k.values, "|"))
		}
		if g := strings.Join(got, " "); g != tt.want || tt.in[size:] != tt.rest {
			t.Errorf(
				"%s: parseFront(%q) = %q and the rest %q, want %q and %q",
				tt.name,
				tt.in,
				g,
				tt.in[size:],
				tt.want,
				tt.rest,
			)
		}
	}
}

func TestMarkdownHeader(t *testing.T) {
	in := `---
title: Deploying
name: deploy
description: How we ship.
tags: [ops, "#ci"]
aliases: [ship it, deploy]
project: vtt
related_files:
  - cmd/main.go
confidence: 0.80
date: 2026-01-02
created: 2026-01-01T10:00:00+01:00
type: feedback
kind: world
colour: red
metadata:
  node: x
---
# Ship

text
`
	it := one(t, markdown("d/x.md", in))
	e := it.Entry
	if e.Name != "deploy" || e.Kind != oxbow.World || !slices.Equal(e.Aliases, []string{"Deploying", "ship it"}) {
		t.Errorf("name, kind, aliases = %q, %v, %q", e.Name, e.Kind, e.Aliases)
	}
	if want := "How we ship.\n\n# Ship\n\ntext\n"; e.Content != want {
		t.Errorf("content = %q, want %q", e.Content, want)
	}
	if want := "colour:red confidence:0.8 file:cmd/main.go node:x project:vtt tag:ci tag:ops type:feedback"; labels(
		e,
	) != want {
		t.Errorf("labels = %q, want %q", labels(e), want)
	}
	if want := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC); !e.Created.Equal(want) {
		t.Errorf("created = %v, want %v", e.Created, want)
	}
	if it.Position != "d/x.md:1" || it.Origin != "d/x.md" {
		t.Errorf("ref, origin = %q, %q", it.Position, it.Origin)
	}
	if len(it.Warnings) > 0 {
		t.Errorf("warnings = %q, want none: every key has a place", it.Warnings)
	}
}

// TestMarkdownBadHeader tests that no mistake in front matter makes the text get lost.
func TestMarkdownBadHeader(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"created: soon", `created is kept with the text: date "soon"`},
		{"kind: noet", "did you mean note?"},
		{"confidence: high", "is not a number from 0 to 1"},
		{"titel: x", `key "titel" is kept as a label; did you mean title?`},
		{"tags: a\n= b", `line "= b" is not key: value`},
		{"name: [a, b]", "name takes one value"},
		{"name: " + strings.Repeat("x", 300), "name has 300 bytes; the most is 256, so it is cut"},
		{"description: a\ndescription: b", "description is given twice"},
		{"due:", `property "due" has no value`},
		{"due: ~\ntags:\naliases: []", `property "due" has no value`},
		{"due: ''", `property "due" has no value`},
		{"due: []", `property "due" has no value`},
		{"due: {}", `property "due" has no value`},
		{"owner:\n  name: ann\n  phone: null", `property "owner.phone" has no value`},
	} {
		it := one(t, markdown("x.md", "---\n"+tt.line+"\n---\nthe text\n"))
		if len(it.Warnings) != 1 || !strings.Contains(it.Warnings[0], tt.want) ||
			!strings.HasPrefix(it.Warnings[0], "x.md:") {
			t.Errorf("%s: warnings = %q, want one with %q", tt.line, it.Warnings, tt.want)
		}
		if !strings.HasSuffix(it.Entry.Content, "the text\n") {
			t.Errorf("%s: content = %q", tt.line, it.Entry.Content)
		}
	}
	// There is no warning for a property whose value is a list of mappings.
	if it := one(t, markdown("x.md", "---\nparameters:\n  - name: a\n---\nthe text\n")); len(it.Warnings) != 0 {
		t.Errorf("a list of mappings: warnings = %q, want none", it.Warnings)
	}
}

// TestFrontMatterIsKept tests that each value in front matter becomes a field or a label of the entry, or is put above
// the text.
func TestFrontMatterIsKept(t *testing.T) {
	long := strings.Repeat("long ", 100)
	for _, tt := range []struct{ front, labels, aliases, text string }{
		{"tag: solo\nalias: Only One", "tag:solo", "Only One", "text\n"},
		{"tags: #alpha, #beta", "tag:alpha tag:beta", "", "text\n"},
		{"tags: [[ships]]", "tag:ships", "", "text\n"},
		{"tags: [\"a\\tb\"]", "tag:\"a b\"", "", "text\n"},
		{"owner:\n  name: Pat\n  desk: quay 3", "owner_desk:\"quay 3\" owner_name:Pat", "", "text\n"},
		{"summary: |\n  Rebuilt once.\n    Then again.", "summary:\"Rebuilt once. Then again.\"", "",
			"summary: Rebuilt once.\n  Then again.\n\ntext\n"},
		{"summary: >-\n  Rebuilt once.\n  Then again.", "summary:\"Rebuilt once. Then again.\"", "", "text\n"},
		{"\"ships: all\": x\n'b': y", "b:y", "", "ships: all: x\n\ntext\n"},
		{"a:\n  b:\n    c:\n      d:\n        e: [x, y]", "a_b_c_d_e:x a_b_c_d_e:y", "", "text\n"},
		{"a: &x\n  b: y\nc: *x", "c:*x", "", "a: &x\n  b: y\n\ntext\n"},
		{"a:\n  <<: *x\n  b:\n    - y", "", "", "a:\n  <<: *x\n  b:\n    - y\n\ntext\n"},
		{"a: \"open\n  quote", "", "", "a: \"open\n  quote\n\ntext\n"},
		{
			"creator: Ada\nrelated: \"[[Tides]]\"\ntypes: [a, b]",
			"creator:Ada related:[[Tides]] types:a types:b",
			"",
			"text\n",
		},
		{"metadata:\n  type: reference", "type:reference", "", "text\n"},
		{"summary: " + long, "", "", "summary: " + strings.TrimSpace(long) + "\n\ntext\n"},
		{"id: 42\nКлюч: значение\ncolour: red", "colour:red", "", "id: 42\nКлюч: значение\n\ntext\n"},
		{"kind: noet", "", "", "kind: noet\n\ntext\n"},
		{
			"confidence: high\nname: [a, b]\ncreated: soon",
			"",
			"",
			"confidence: high\nname: a, b\ncreated: soon\n\ntext\n",
		},
		{"title: one\ntitle: two", "", "", "title: two\n\ntext\n"},
		{"description: See # 5 # first", "", "", "See # 5 # first\n\ntext\n"},
		{"a: x", "a:x", "", "text\n"}, // A short key gets no suggestion.
		{"status: open # or closed", "status:open", "", "status: open # or closed\n\ntext\n"},
		{"status: \"open\" # or closed", "status:open", "", "status: open # or closed\n\ntext\n"},
		{"status: # choose", "", "", "status: # choose\n\ntext\n"},
		{"a: [x, y] # both", "a:x a:y", "", "a: x, y # both\n\ntext\n"},
		{"a:\n  # above\n  - x # beside\n  - PR #1 # too", "a:\"PR #1\" a:x", "",
			"a: x, PR #1 # above # beside # too\n\ntext\n"},
		{"a: # all\n  - @x # it", "a:@x", "", "a: @x # all # it\n\ntext\n"},
		{"# head\na: x\n#foot", "a:x", "", "\\# head\n\\#foot\n\ntext\n"},
		{"a: x\nno key\n= b", "a:x", "", "no key\n= b\n\ntext\n"},
		{"a: \"x\\0y\"", "", "", "a: x\\0y\n\ntext\n"},
		{"a: [x, \"\\0\"]", "a:x", "", "a: \\0\n\ntext\n"},
	} {
		e := one(t, markdown("x.md", "---\n"+tt.front+"\n---\ntext\n")).Entry
		if labels(e) != tt.labels || strings.Join(e.Aliases, ",") != tt.aliases || e.Content != tt.text {
			t.Errorf(
				"%s:\n labels %q, want %q\n aliases %q, want %q\n text %q, want %q",
				tt.front,
				labels(e),
				tt.labels,
				e.Aliases,
				tt.aliases,
				e.Content,
				tt.text,
			)
		}
	}
}

// TestMoreAliasesThanAnEntryHas tests that an entry gets as many aliases as it can have, and that the others are kept
// with the text.
func TestMoreAliasesThanAnEntryHas(t *testing.T) {
	var names []string
	for i := range oxbow.MaxAliases + 2 {
		names = append(names, fmt.Sprintf("n%d", i))
	}
	it := one(t, markdown("x.md", "---\naliases: ["+strings.Join(names, ", ")+"]\n---\ntext\n"))
	if !slices.Equal(it.Entry.Aliases, names[:oxbow.MaxAliases]) {
		t.Errorf("aliases = %q", it.Entry.Aliases)
	}
	if want := "aliases: n64\naliases: n65\n\ntext\n"; it.Entry.Content != want {
		t.Errorf("content = %q, want %q", it.Entry.Content, want)
	}
	if len(it.Warnings) != 2 || !strings.Contains(it.Warnings[0], `x.md:2: alias "n64" is kept with the text`) {
		t.Errorf("warnings = %q", it.Warnings)
	}
}

// TestNoteOfUnreadProperties tests a note that consists only of front matter which is not plain YAML. The note must not
// become empty: it must have the front matter as its content, and a warning.
func TestNoteOfUnreadProperties(t *testing.T) {
	it := one(t, markdown("x.md", "---\na: &x\n  b: y\n---\n"))
	if want := "a: &x\n  b: y\n"; it.Entry.Content != want || len(it.Warnings) != 1 {
		t.Errorf("content = %q, want %q; warnings %q", it.Entry.Content, want, it.Warnings)
	}
}

// TestNoteOfProperties tests that the front matter becomes the text of a note without other text.
func TestNoteOfProperties(t *testing.T) {
	e := one(
		t,
		markdown("d/Low Tide.md", "---\ncategories:\n  - \"[[Albums]]\"\nyear: 1957\ncreated: 2023-09-12\n---\n"),
	).Entry
	if e.Name != "Low Tide" || labels(e) != "categories:[[Albums]] year:1957" ||
		!strings.Contains(e.Content, "year: 1957") || e.Created.Year() != 2023 {
		t.Errorf("the entry is %+v", e)
	}
	if items, errs := collect(markdown("x.md", "---\ntags:\n---\n\n")); len(items) != 0 || len(errs) != 1 {
		t.Errorf("a note without text and values gave %v, %q", items, errs)
	}
}

// TestTOMLFrontMatter tests that front matter in TOML, as Hugo writes it, is read like YAML.
func TestTOMLFrontMatter(t *testing.T) {
	e := one(
		t,
		markdown(
			"h.md",
			"+++\ntitle = \"Hugo page\"\ntags = [\"a\", \"b\"]\ndate = 2024-01-02\ndraft = true\n[params]\nauthor = "+
				"\"Ada #1\"\n+++\ntext\n",
		),
	).Entry
	if e.Name != "Hugo page" || labels(e) != `draft:true params_author:"Ada #1" tag:a tag:b` ||
		e.Created.Format(time.DateOnly) != "2024-01-02" || e.Content != "text\n" {
		t.Errorf("the entry is %+v", e)
	}
	if e := one(t, markdown("h.md", "+++\nkey = \"v\"\n+++\n")).Entry; e.Content != "key = \"v\"\n" {
		t.Errorf("a page of properties has the text %q", e.Content)
	}
	it := one(t, markdown("h.md", "+++\nno TOML\n+++\ntext\n"))
	if len(it.Warnings) != 1 ||
		!strings.Contains(it.Warnings[0], "h.md:2: front matter is kept with the text: not TOML") ||
		it.Entry.Content != "+++\nno TOML\n+++\ntext\n" {
		t.Errorf("the warnings are %q", it.Warnings)
	}
	if e := one(t, markdown("h.md", "+++\nnever = \"closed\"\n")).Entry; !strings.HasPrefix(e.Content, "+++\nnever") {
		t.Errorf("an open front matter left the text %q", e.Content)
	}
}

// TestTOMLComments tests that comments in TOML are kept, and that a # in a string does not begin a comment.
func TestTOMLComments(t *testing.T) {
	e := one(t, markdown("h.md",
		"+++\n# draft\na = \"x # y\" # z\nb = '''\n# text\n'''\nc = 1\n+++\ntext\n")).Entry
	if e.Content != "\\# draft\n\\# z\n\ntext\n" || labels(e) != `a:"x # y" b:"# text" c:1` {
		t.Errorf("content %q, labels %q", e.Content, labels(e))
	}
}

// TestJSONFrontMatter tests that front matter in JSON is read like YAML, and that a text that is only an object is not
// front matter.
func TestJSONFrontMatter(t *testing.T) {
	const front = "{\n \"title\": \"A page\",\n \"tags\": [\"a\"],\n \"weight\": 3,\n " +
		"\"x\": null, \"p\": {\"q\": true}\n}\n"
	e := one(t, markdown("h.md", front+"\ntext\n")).Entry
	if e.Name != "A page" || labels(e) != "p_q:true tag:a weight:3" || e.Content != "\ntext\n" {
		t.Errorf("the entry is %+v", e)
	}
	for _, in := range []string{front, "{\n1\n}\ntext\n", "{ x }\ntext\n", "{\n\"a\": 1\n} more\ntext\n"} {
		if e := one(t, markdown("h.md", in)).Entry; e.Content != in || e.Name != "h" {
			t.Errorf("%q became %q with the name %q", in, e.Content, e.Name)
		}
	}
}

// TestSecondFrontMatter tests that a second front matter stays in the text and adds values that the first does not
// have.
func TestSecondFrontMatter(t *testing.T) {
	const second = "\n---\ntitle: Two\nauthor: Pat\ntags: [b]\ncreated: 2024-05-06\n---\n# Heading\n"
	for _, tt := range []struct{ in, name, labels, text string }{
		{"---\ntitle: One\ntags: [a]\n---\n" + second, "One", "author:Pat tag:a tag:b", second},
		{"---\ntags: [a]\n---\n" + second, "Two", "author:Pat tag:a tag:b", second},
		{"---\ntags: [a]\n---\n---\nTo all hands: x\n= y\n---\n", "h", "tag:a", "---\nTo all hands: x\n= y\n---\n"},
		{"---\ntags: [a]\n---\n---\nb: c\n---\n# Heading\n", "Heading", "b:c tag:a", "---\nb: c\n---\n# Heading\n"},
	} {
		e := one(t, markdown("h.md", tt.in)).Entry
		if e.Name != tt.name || labels(e) != tt.labels || e.Content != tt.text {
			t.Errorf("%q became %q with labels %q and text %q", tt.in, e.Name, labels(e), e.Content)
		}
	}
}

func TestIsConflictCopy(t *testing.T) {
	for name, want := range map[string]bool{
		"Harbor.md": false, "conflict.md": false, "Merge conflicts.md": false, "conflict-resolution.md": false,
		"Harbor (Pat's conflicted copy 2026-03-01).md":              true,
		"Harbor.sync-conflict-20260301-120000-ABCDEFG.md":           true,
		"Harbor (Conflicted copy laptop 202603011200).md":           true,
		"Harbor (conflicted copy 2026-03-01 120000).md":             true,
		"Harbor_conflict-20260301-120000.md":                        true,
		"Harbor conflict 2026-03-01 12:00:00.md":                    true,
		"Harbor (Case Conflict).md":                                 false,
		"Border conflict 1848.md":                                   false,
		"conflict-1.md":                                             false,
		"Harbor (SFConflict pat@x.org 2026-03-01-12-00-00).md":      true,
		"Harbor (conflict on 2026-03-01).md":                        true,
		"Harbor [conflicted].md.gz":                                 true,
		"Harbor_DESKTOP_Mar-01-1200-2026_Conflict.md":               true,
		"Harbor (In Konflikt stehende Kopie von Pat 2026-03-01).md": true,
		"Harbor (Copie en conflit de Pat 2026-03-01).md":            true,
		"Harbor.conflict-2.md":                                      true,
	} {
		if got := isConflictCopy(name); got != want {
			t.Errorf("isConflictCopy(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestMarkdownNameAndDate(t *testing.T) {
	mod := time.Date(2025, 5, 5, 5, 5, 5, 0, time.UTC)
	day := time.Date(2026, 4, 18, defaultUTCHour, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		ref, in, name string
		created       time.Time
	}{
		{"a/plain.md", "text", "plain", mod},
		{"a/2026-04-18-standup.md", "text", "2026-04-18-standup", day},
		{"a/12026-04-181.md", "text", "12026-04-181", mod},
		{"a/2026-04-99.md", "text", "2026-04-99", mod},
		{"x.md", "\n# The *title* #\n\ntext", "The title", mod},
		{"x.md", "Title\n=====\ntext\n", "Title", mod},
		{"x.md", "# A\n# B\n", "x", mod},
		{"x.md", "before\n# A\n", "x", mod},
		{"x.md", "<!-- made\nby -->\n\n# A\n", "A", mod},
		{"x.md", "<!-- made --> by\n\n# A\n", "x", mod},
		{"x.md", "[![b](x.svg)](y) ![c][d]\n\n[d]: http://x\n\n# A\n", "A", mod},
		{"x.md", "<p align=\"center\">\n  <img src=\"x\">\n</p>\n\n# A\n", "A", mod},
		{"x.md", "<p>Words</p>\n\n# A\n", "x", mod},
		{"x.md", "```\n# A\n```\n", "x", mod},
		{"x.md.gz", "text", "x", mod},
		{".md", "text", ".md", mod},
		{"x.md", "# " + strings.Repeat("é", 200) + "\n", strings.Repeat("é", 126) + "…", mod},
	} {
		it := one(t, ReadMarkdown(strings.NewReader(tt.in), tt.ref, &ReadOptions{ModTime: mod}))
		if it.Entry.Name != tt.name || !it.Entry.Created.Equal(tt.created) {
			t.Errorf(
				"ReadMarkdown(%q, %q) = %q of %v, want %q of %v",
				tt.ref,
				tt.in,
				it.Entry.Name,
				it.Entry.Created,
				tt.name,
				tt.created,
			)
		}
	}
}

func TestMarkdownBad(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"a\nb\xff\n", "x.md:2: is not UTF-8"},
		{"a\n\nb\x00\n", "x.md:3: holds a NUL"},
		{strings.Repeat("a", maxMarkdownBytes+1), "x.md: has more than the 16 MiB"},
		{" \n\n", "x.md:1: holds no text"},
	} {
		items, errs := collect(markdown("x.md", tt.in))
		if len(items) != 0 || len(errs) != 1 || !strings.HasPrefix(errs[0], tt.want) {
			t.Errorf("ReadMarkdown(%.20q) = %d items, %q; want %q", tt.in, len(items), errs, tt.want)
		}
	}
}

func TestBlockStarts(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"# A\n## B ##\n### C#\n####### no\n#no\n", "1:A 2:B 3:C#"},
		{"   # in\n    # out\n\t# out\n", "1:in"},
		{"```\n# no\n````\n# yes\n", "1:yes"},
		{"````x\n# no\n```\n# no\n````\n# yes\n", "1:yes"},
		{"~~~\n# no\n```\n~~~\n# yes", "1:yes"},
		{"``` a`b\n# yes\n", "1:yes"},
		{"```\n# no, never closed\n", ""},
		{"<!--\n# no\n-->\n# yes\n<!-- x -->\n# too\n", "1:yes 1:too"},
		{"A\n===\nB b\nc\n---\n", "1:A 2:B b c"},
		{"# H\nA\n---\n", "1:H 2:A"},
		{"---\nA\n===\n", "1:A"},
		{"- item\n---\n> quote\n---\n| t |\n---\n1. x\n---\n", ""},
		{"A\n\n---\n", ""},
		{"A\n- b\n---\n", ""},
		{"#\n##  \n", "1: 2:"},
		{"# A\r\nB\r\n===\r\n", "1:A 1:B"},
	} {
		var got []string
		for m := range splitPositions(tt.in) {
			if m.level > 0 {
				got = append(got, fmt.Sprintf("%d:%s", m.level, m.text))
			}
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("headings of %q = %q, want %q", tt.in, g, tt.want)
		}
	}
}

func filler(n int) string { return strings.Repeat("Some words here. ", n/17+1) + "\n" }

func TestMarkdownSplit(t *testing.T) {
	in := "# Guide\n\n## Empty\n## Setup\n" + filler(3000) + "```sh\n## not a heading\n```\n" +
		"## Setup\n" + filler(3000) +
		"## Long\nintro\n### One\n" + filler(9000) + "### Two\n" + filler(9000) +
		"## Paragraphs\n" + strings.Repeat(filler(5000)+"\n", 5) +
		"# Other\n## Deep\n" + filler(100)
	items, errs := collect(markdown("d/guide.md", in))
	if len(errs) != 0 {
		t.Fatalf("errors: %q", errs)
	}
	var names []string
	var all strings.Builder
	for _, it := range items {
		names = append(names, it.Entry.Name)
		all.WriteString(it.Entry.Content)
	}
	want := []string{"guide > Guide > Setup", "guide > Guide > Setup (2)", "guide > Guide > Long",
		"guide > Guide > Long > One",
		"guide > Guide > Long > Two", "guide > Guide > Paragraphs", "guide > Guide > Paragraphs (part 2)",
		"guide > Other > Deep"}
	if !slices.Equal(names, want) {
		t.Errorf("names = %q,\nwant %q", names, want)
	}
	if all.String() != in {
		t.Errorf("the pieces are not the text: %d bytes, want %d", all.Len(), len(in))
	}
	// Each piece must begin on the line that its reference names.
	lines := strings.SplitAfter(in, "\n")
	for _, it := range items {
		var n int
		if _, err := fmt.Sscanf(it.Position, "d/guide.md:%d", &n); err != nil ||
			!strings.HasPrefix(it.Entry.Content, lines[n-1]) {
			t.Errorf("%s begins with %.20q, but the line is %.20q", it.Position, it.Entry.Content, lines[n-1])
		}
	}
	one := one(t, markdown("x.md", "# A\n## B\nshort\n"))
	if one.Entry.Name != "A" {
		t.Errorf("a short file is named %q, want A", one.Entry.Name)
	}
}

// TestMarkdownSplitTitle tests that line numbers include the front matter, and that a single title is not repeated in
// the names.
func TestMarkdownSplitTitle(t *testing.T) {
	in := "---\ntags: x\naliases: [y]\n---\n# Guide\n" + filler(2500) + "## Setup\n" + filler(2500)
	items, errs := collect(markdown("g.md", in))
	if len(items) != 2 || len(errs) != 0 {
		t.Fatalf("ReadMarkdown = %d items, %q", len(items), errs)
	}
	a, b := items[0], items[1]
	if a.Entry.Name != "Guide" || b.Entry.Name != "Guide > Setup" || b.Position != "g.md:7" {
		t.Errorf(
			"items are %q and %q at %s, want Guide and Guide > Setup at g.md:7",
			a.Entry.Name,
			b.Entry.Name,
			b.Position,
		)
	}
	if len(a.Entry.Aliases) != 1 || len(b.Entry.Aliases) != 0 || labels(b.Entry) != "tag:x" {
		t.Errorf(
			"aliases %q and %q, labels %q; want the alias on the first, the tag on both",
			a.Entry.Aliases,
			b.Entry.Aliases,
			labels(b.Entry),
		)
	}
}

func TestSplitForced(t *testing.T) {
	// The text has no line break, so it must be split within a line. Each character has three bytes.
	in := strings.Repeat("語", oxbow.MaxContent/3+5)
	items, errs := collect(markdown("x.md", in))
	if len(items) != 2 || len(errs) != 0 || items[0].Entry.Content+items[1].Entry.Content != in {
		t.Errorf("a line longer than an entry = %d items, %q", len(items), errs)
	}
	checkPieces(t, strings.Repeat(strings.Repeat("x", 999)+"\n", 3*oxbow.MaxContent/1000))
}

// checkPieces checks what must be true for any text: the pieces in order are the text, each fits into an entry, and
// the line numbers are right.
func checkPieces(t *testing.T, text string) {
	t.Helper()
	off := 0
	for _, p := range splitText(text) {
		if p.start != off || p.end < p.start || p.end-p.start > oxbow.MaxContent {
			t.Fatalf("piece %d to %d follows one that ended at %d", p.start, p.end, off)
		}
		if want := 1 + strings.Count(text[:p.start], "\n"); p.line != want {
			t.Fatalf("piece at %d is said to be at line %d, want %d", p.start, p.line, want)
		}
		off = p.end
	}
	if off != len(text) {
		t.Fatalf("pieces end at %d of %d", off, len(text))
	}
}

func TestHeadingText(t *testing.T) {
	for in, want := range map[string]string{
		"Plain": "Plain", "a_b_c * 2": "a_b_c * 2", "1 < 2 & 3": "1 < 2 & 3", "[x] done": "[x] done",
		"[Tide gate](https://x.org/a) **guide**": "Tide gate guide",
		"[Tide][1] <https://x.org>":              "[Tide][1] https://x.org",
		"Title {#id .cls}":                       "Title", "Title {not}": "Title {not}", "{#id}": "{#id}",
		"<img src=\"a\" alt='x'> Pier": "Pier", "<img src=\"a\" alt='The pier'>": "The pier",
		"![The quay](a.png)": "The quay",
		"![logo](a) `a*b*` and *s* ~~gone~~ \\*star\\* &amp; <b>bold</b>": "a*b* and s gone *star* & bold",
		"Vec<T> and List<String>": "Vec<T> and List<String>", "A <!-- b --> c": "A c", "**": "**",
		"[[Page|shown]] and [[Other]]": "shown and Other", "***": "***",
		strings.Repeat("[", maxHeadingBytes+1): strings.Repeat("[", maxHeadingBytes+1),
	} {
		if got := visibleHeadingText(in); got != want {
			t.Errorf("headingText(%q) = %q, want %q", in, got, want)
		}
	}
}
