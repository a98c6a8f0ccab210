// This file tests the reading and writing of JSON lines.

package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

func TestReadJSONLGood(t *testing.T) {
	for _, tt := range []struct {
		name, in, labels string
		want             oxbow.Entry
	}{
		{"least", `{"name":"a","content":"b"}`, "", oxbow.Entry{Name: "a", Content: "b"}},
		{"kind and aliases", `{"name":"a","kind":"archive","content":"","aliases":["x","y"]}`, "",
			oxbow.Entry{Name: "a", Kind: oxbow.Archive, Aliases: []string{"x", "y"}}},
		{"label list", `{"name":"a","content":"b","labels":[{"key":"tag","value":"z"},{"key":"tag","value":"c"}]}`,
			"tag:c tag:z", oxbow.Entry{Name: "a", Content: "b"}},
		{"label object", `{"name":"a","content":"b","labels":{"project":"x","tag":["c","d"]}}`,
			"project:x tag:c tag:d", oxbow.Entry{Name: "a", Content: "b"}},
		{
			"the fields of remember",
			`{"name":"a","content":"b","project":"x","tags":["c"],"related_files":["m.go"],"confidence":0.50}`,
			"confidence:0.5 file:m.go project:x tag:c", oxbow.Entry{Name: "a", Content: "b"},
		},
		{
			"times in another zone",
			`{"name":"a","content":"b","created":"2026-04-18T11:30:00.25+02:00","updated":"2026-04-19"}`,
			"",
			oxbow.Entry{
				Name:    "a",
				Content: "b",
				Created: time.Date(2026, 4, 18, 9, 30, 0, 250e6, time.UTC),
				Updated: time.Date(2026, 4, 19, 10, 0, 0, 0, time.UTC),
			},
		},
		{
			"what the old store gave",
			`{"id":7,"name":"a","content":"b","version":9,"source":{"time":"x"}}`,
			"",
			oxbow.Entry{Name: "a", Content: "b"},
		},
		{
			"null is absent",
			`{"name":"a","content":"b","kind":null,"aliases":null,"labels":null,"tags":null,"created":null}`,
			"",
			oxbow.Entry{Name: "a", Content: "b"},
		},
		{
			"byte order mark and carriage return",
			"\uFEFF{\"name\":\"a\",\"content\":\"b\"}\r\n",
			"",
			oxbow.Entry{Name: "a", Content: "b"},
		},
		{
			"pairs of surrogates",
			`{"name":"\ud83d\ude00","content":"\\ud83d"}`,
			"",
			oxbow.Entry{Name: "😀", Content: `\ud83d`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			it := one(t, jsonl(tt.in))
			e := it.Entry
			if e.Name != tt.want.Name || e.Kind != tt.want.Kind || e.Content != tt.want.Content ||
				!slices.Equal(e.Aliases, tt.want.Aliases) || !e.Created.Equal(tt.want.Created) ||
				!e.Updated.Equal(tt.want.Updated) {
				t.Errorf("readJSONL(%s) = %+v, want %+v", tt.in, e, tt.want)
			}
			if got := labels(e); got != tt.labels {
				t.Errorf("readJSONL(%s) has the labels %q, want %q", tt.in, got, tt.labels)
			}
			if it.Position != "in.jsonl:1" || it.Origin != "" {
				t.Errorf("readJSONL(%s) is at %q from %q, want in.jsonl:1 from nowhere", tt.in, it.Position, it.Origin)
			}
		})
	}
}

func TestReadJSONLBad(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`{"name":"a"`, "ends too early"},
		{`{"name":"a",}`, "is not JSON"},
		{`{"name":"a","content":"b"} {}`, "more behind"},
		{`"a"`, "not a JSON object"},
		{`{"content":"b"}`, "has no name"},
		{`{"name":"a"}`, "has no content"},
		{`{"name":"","content":"b"}`, "name is empty"},
		{`{"name":"a","content":null}`, "has no content"},
		{`{"name":"a","content":5}`, "content must be a string, not \"5\""},
		{`{"name":"a","content":"b","kind":"noet"}`, "did you mean note?"},
		{`{"name":"a","content":"b","kind":"Handof"}`, "did you mean handoff?"},
		{`{"name":"a","content":"b","created":"yesterday"}`, `created: date "yesterday"`},
		{`{"name":"a","content":"b","updated":"2026-13-01"}`, `updated: date "2026-13-01"`},
		{`{"name":"a","contents":"b"}`, `field "contents" is unknown; did you mean content?`},
		{`{"title":"a","content":"b"}`, `field "title" is unknown; did you mean name?`},
		{`{"name":"a","content":"b","Kind":"note"}`, `field "Kind" is unknown; did you mean kind?`},
		{`{"name":"a","content":"b","zebra":1}`, `field "zebra" is unknown; there are id, name`},
		{`{"id":"s","turns":[]}`, "is this a chat log?"},
		{`{"name":"a","content":"b","name":"c"}`, `field "name" is given twice`},
		{`{"name":"a","content":"\ud83d"}`, "lone surrogate"},
		{`{"name":"a","content":"\ude00\ud83d"}`, "lone surrogate"},
		{"{\"name\":\"a\",\"content\":\"\xff\"}", "is not UTF-8 at byte 23"},
		{`{"name":"` + strings.Repeat("x", 257) + `","content":"b"}`, "has 257 bytes; the most is 256"},
		{`{"name":"a","content":"` + strings.Repeat("x", oxbow.MaxContent+1) + `"}`, "content"},
		{`{"name":"a","content":"b\u0000"}`, "NUL"},
		{`{"name":"a","content":"b","aliases":"x"}`, "aliases must be a list of strings"},
		{`{"name":"a","content":"b","aliases":["x","x"]}`, "given twice"},
		{`{"name":"a","content":"b","labels":[{"key":"Tag","value":"x"}]}`, "label key"},
		{`{"name":"a","content":"b","labels":[{"key":"tag","valeu":"x"}]}`, "did you mean value?"},
		{`{"name":"a","content":"b","labels":{"tag":5}}`, "tag must be a list"},
		{`{"name":"a","content":"b","labels":"tag"}`, "labels must be a list or an object"},
		{`{"name":"a","content":"b","confidence":2}`, "from 0 to 1"},
		{`{"name":"a","content":"b","confidence":"0.5"}`, "from 0 to 1"},
	} {
		// Put the bad line between two good lines, which must both be read.
		in := `{"name":"before","content":"1"}` + "\n\n" + tt.in + "\n" + `{"name":"after","content":"2"}`
		items, errs := collect(jsonl(in))
		if len(items) != 2 || len(errs) != 1 {
			t.Errorf(
				"readJSONL(%s) gave %d items and %q, want the two good ones and one error",
				truncateAndQuote(tt.in),
				len(items),
				errs,
			)
			continue
		}
		if !strings.HasPrefix(errs[0], "in.jsonl:3: ") || !strings.Contains(errs[0], tt.want) {
			t.Errorf("readJSONL(%s) = %q, want in.jsonl:3 and %q", truncateAndQuote(tt.in), errs[0], tt.want)
		}
	}
}

// TestReadJSONLDocument tests that a file with one JSON document is refused with one error, and not with an error for
// each line.
func TestReadJSONLDocument(t *testing.T) {
	for _, in := range []string{
		"{\n \"name\": \"a\"\n}\n",
		"[\n{\"name\":\"a\",\"content\":\"b\"}\n]",
		`[{"name":"a","content":"b"}]`,
	} {
		items, errs := collect(jsonl(in))
		if len(items) != 0 || len(errs) != 1 || !strings.Contains(errs[0], "is one JSON document, and no lines") {
			t.Errorf("readJSONL(%q) = %d items, %q; want one error that tells the form", in, len(items), errs)
		}
	}
}

func TestReadJSONLLongLine(t *testing.T) {
	good := `{"name":"a","content":"b"}` + "\n"
	r := io.MultiReader(
		strings.NewReader(good),
		io.LimitReader(endless('x'), maxLineBytes+10),
		strings.NewReader("\n"+good),
	)
	items, errs := collect(readJSONL(r, "in"))
	if len(items) != 2 || len(errs) != 1 || !strings.HasPrefix(errs[0], "in:2: line of 33554443 bytes is longer") {
		t.Errorf("a line over maxLine between two good ones gave %d items and %q", len(items), errs)
	}
}

// endless is a reader that repeats one byte forever.
type endless byte

func (c endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

func TestReadJSONLReadError(t *testing.T) {
	boom := errors.New("boom")
	r := io.MultiReader(strings.NewReader(`{"name":"a","content":"b"}`+"\n"), iotest.ErrReader(boom))
	s := newStore()
	rep, err := Import(t.Context(), s, readJSONL(r, "in"), nil)
	if !errors.Is(err, boom) || rep.AddedCount != 1 {
		t.Errorf("Import of an input that breaks off = %+v, %v; want what came before, and the error", rep, err)
	}
}

func TestGraph(t *testing.T) {
	in := `{"type":"relation","from":"Ada","to":"Acme","relationType":"works at"}
{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea","two\nlines"]}
{"type":"entity","name":"Acme","entityType":"company","observations":[],"createdAt":"x"}
{"type":"relation","from":"Bob","to":"Acme","relationType":"left"}
{"type":"entity","name":"","entityType":"x","observations":[]}
{"type":"entity","name":"bad","entityType":"x","observations":[1,null,["x"]]}
`
	items, errs := collect(jsonl(in))
	if len(items) != 3 || len(errs) != 2 || items[2].Entry.Content != "- 1\n- [\"x\"]" {
		t.Fatalf("readJSONL(graph) = %+v, %q; want 3 and 2", items, errs)
	}
	ada, acme := items[0], items[1]
	if want := "- likes tea\n- two\n  lines\n- works at → Acme"; ada.Entry.Content != want ||
		labels(ada.Entry) != "tag:person" {
		t.Errorf("Ada = %q with %q, want %q with tag:person", ada.Entry.Content, labels(ada.Entry), want)
	}
	if acme.Entry.Content != "" || acme.Position != "in.jsonl:3" || labels(acme.Entry) != "createdat:x tag:company" {
		t.Errorf("Acme = %+v, want no content and a label for createdAt", acme)
	}
	for i, want := range []string{
		"in.jsonl:5: entity has no name",
		`in.jsonl:4: relation "left" → "Acme" is from "Bob"`,
	} {
		if !strings.HasPrefix(errs[i], want) {
			t.Errorf("error %d = %q, want %q", i, errs[i], want)
		}
	}
	s := newStore()
	load(t, s, jsonl(in), nil)
	if rep := load(t, s, jsonl(strings.ReplaceAll(in, "tea", "coffee")), nil); counts(rep) != [4]int{0, 1, 2, 2} {
		t.Errorf("importing a changed graph = %+v, want one update", rep)
	}
}

// TestGraphOfForks tests files that forks of the memory server wrote. The forks use other keys, write observations as
// texts or objects, and add further members.
func TestGraphOfForks(t *testing.T) {
	items, errs := collect(
		jsonl(`{"type":"entity","name":"Wren","entity_type":"person","observations":"keeps the log",` +
			`"weight":6,"created_at":"2025-01-02T03:04:05Z","id":"7","where":{"x":null}}
{"type":"entity","name":"Snipe","entityType":"bird","observations":[{"text":"drums","timestamp":"2025-01-02"},{"content":"dives","weight":null}]}
{"type":"relation","from_entity":"Wren","to_entity":"Snipe","relationType":"watches"}
{"type":"relation","source":"Wren","target":"Snipe","relation_type":"feeds","weight":3,"note":null}
`),
	)
	if len(items) != 2 || len(errs) > 0 {
		t.Fatalf("readJSONL = %v, %q", items, errs)
	}
	if e := items[0].Entry; labels(e) != "tag:person weight:6 where:\"{\\\"x\\\":null}\"" || e.Created.Year() != 2025 {
		t.Errorf("Wren has the labels %q and was created at %v", labels(e), e.Created)
	}
	for i, want := range []string{
		"- keeps the log\n- watches → Snipe\n- feeds → Snipe (weight: 3)\n- id: 7",
		"- drums (timestamp: 2025-01-02)\n- dives"} {
		if got := items[i].Entry.Content; got != want {
			t.Errorf("entity %d has the text %q, want %q", i, got, want)
		}
	}
}

// storesOwn matches the parts of an exported entry that each store sets itself. These parts differ after an import, so
// tests remove them before comparing two exports.
var storesOwn = regexp.MustCompile(`"id":\d+|"updated":"[^"]*","version":\d+,"source":.*`)

func export(t *testing.T, s oxbow.Store) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := Export(t.Context(), s, oxbow.Filter{}, &b); err != nil {
		t.Fatalf("Export: %v", err)
	}
	return b.String()
}

func TestExportRoundTrip(t *testing.T) {
	s := newStore()
	ctl := make([]byte, 0, 31)
	for c := byte(1); c < 32; c++ {
		ctl = append(ctl, c)
	}
	for i, content := range []string{"", "plain", "<b>&\u2028</b>", "\r\n tail \n\n", "😀 日本 \\ \" \uFFFD",
		string(ctl)} {
		s.must(t, oxbow.Add{Name: fmt.Sprintf("n%d/<ü>", i), Kind: oxbow.Kind(i % 6), Content: content,
			Aliases: []string{fmt.Sprint("z", i), fmt.Sprintf("a\"b %d", i)},
			Labels:  []oxbow.Label{{Key: "project", Value: "p q"}, oxbow.Confidence(0.25)},
			Created: time.Date(2020, 1, 2, 3, 4, 5, i, time.UTC)})
	}
	s.must(t, oxbow.Remove{Name: "n1/<ü>"}) // Remove an entry, so that the IDs have a gap.
	first := export(t, s)
	s2 := newStore()
	if rep := load(t, s2, readJSONL(strings.NewReader(first), "x"), nil); counts(rep) != [4]int{5, 0, 0, 0} {
		t.Fatalf("Import(Export) = %v, %q", counts(rep), rep.Problems)
	}
	second := export(t, s2)
	a, b := storesOwn.ReplaceAllString(first, ""), storesOwn.ReplaceAllString(second, "")
	if a != b {
		t.Errorf("Export, Import, Export differs:\n%.400s\n%.400s", a, b)
	}
	if rep := load(t, s2, readJSONL(strings.NewReader(first), "x"), nil); counts(rep) != [4]int{0, 0, 5, 0} {
		t.Errorf("a second Import = %v, want all the same", counts(rep))
	}
}

// TestExportLargest tests that an entry of maximum size can be exported and read again if each byte is a control
// character, because JSON needs the most bytes to escape control characters.
func TestExportLargest(t *testing.T) {
	testenv.SkipInShortMode(t)
	s := newStore()
	s.must(t, oxbow.Add{Name: "a", Content: strings.Repeat("\x01", oxbow.MaxContent)})
	it := one(t, jsonl(export(t, s)))
	if it.Entry.Content != s.entries[0].Content {
		t.Errorf("the largest content came back with %d bytes", len(it.Entry.Content))
	}
}

func TestExportShape(t *testing.T) {
	s := newStore()
	s.must(t, oxbow.Add{Name: "a", Content: "b & c"}, oxbow.Add{Name: "other", Kind: oxbow.World})
	s.entries[0].Source = oxbow.Source{Time: s.now, Actor: oxbow.Agent}
	var b bytes.Buffer
	n, err := Export(t.Context(), s, oxbow.Filter{Terms: []oxbow.Term{{Key: "kind", Values: []string{"note"}}}}, &b)
	want := `{"id":1,"name":"a","kind":"note","content":"b & c","aliases":[],"labels":[],"created":"2026-05-01T12:00:00Z",` +
		`"updated":"2026-05-01T12:00:00Z","version":1,"source":{"time":"2026-05-01T12:00:01Z","actor":"agent"}}` + "\n"
	if n != 1 || err != nil || b.String() != want {
		t.Errorf("Export = %d, %v,\n%swant\n%s", n, err, b.String(), want)
	}
	if !json.Valid(b.Bytes()) {
		t.Errorf("Export wrote no JSON: %s", b.String())
	}
	full := errors.New("full")
	if _, err := Export(t.Context(), s, oxbow.Filter{}, failingWriter{full}); !errors.Is(err, full) {
		t.Errorf("Export to a full disk = %v, want its error", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestUTF16Lines reads lines in UTF-16, which get a single error that says what to do.
func TestUTF16Lines(t *testing.T) {
	for _, in := range []string{"\xff\xfe{\x00}\x00\n\x00{\x00}\x00", "\xfe\xff\x00{\x00}\x00\n\x00{\x00}"} {
		items, errs := collect(jsonl(in))
		if len(items) != 0 || len(errs) != 1 || !strings.Contains(errs[0], "is UTF-16; convert it") {
			t.Errorf("readJSONL(%q) = %d items and %q, want one error about UTF-16", in, len(items), errs)
		}
	}
}
