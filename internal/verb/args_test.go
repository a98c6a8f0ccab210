// This file tests how the arguments of calls are decoded.

package verb

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

func ptr[T any](v T) *T { return &v }

func readAs[In any](verb, args string) (In, error) {
	var v In
	return v, readInto(verb, structParams(reflect.TypeFor[In]()), args, &v)
}

// readInto decodes a JSON object into the struct to which the argument in points.
func readInto(verb string, params []Param, object string, in any) error {
	args, err := ParseArguments(json.RawMessage(object))
	if err != nil {
		return err
	}
	asIs := func(text string) string { return text }
	return readArgs(verb, params, args, asIs, reflect.ValueOf(in).Elem())
}

func TestReadRecall(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       RecallIn
	}{
		{"nothing", ``, RecallIn{}},
		{"null", `null`, RecallIn{}},
		{"plain", `{"query":"a b","limit":7}`, RecallIn{Query: "a b", Limit: ptr(7)}},
		{"q", `{"q":"a"}`, RecallIn{Query: "a"}},
		{"search", `{"search":"a"}`, RecallIn{Query: "a"}},
		{"text", `{"text":"a"}`, RecallIn{Query: "a"}},
		{"max_results", `{"max_results":3}`, RecallIn{Limit: ptr(3)}},
		{"top_k", `{"top_k":3}`, RecallIn{Limit: ptr(3)}},
		{"per_page", `{"per_page":3}`, RecallIn{Limit: ptr(3)}},
		{"k", `{"k":3}`, RecallIn{Limit: ptr(3)}},
		{"since, until", `{"since":"2026-04","until":"2026-05"}`,
			RecallIn{EntrySelection: EntrySelection{CreatedAfter: "2026-04", CreatedUntil: "2026-05"}}},
		{"a year as a number", `{"after":2026}`, RecallIn{EntrySelection: EntrySelection{CreatedAfter: "2026"}}},
		{"labels", `{"labels":["a"]}`, RecallIn{EntrySelection: EntrySelection{Tags: []string{"a"}}}},
		{"a string becomes a list", `{"tag":"a"}`, RecallIn{EntrySelection: EntrySelection{Tags: []string{"a"}}}},
		{"a comma does not split", `{"tags":"a,b"}`, RecallIn{EntrySelection: EntrySelection{Tags: []string{"a,b"}}}},
		{"a list written as a string", `{"tags":"[\"a\",\"b\"]"}`,
			RecallIn{EntrySelection: EntrySelection{Tags: []string{"a", "b"}}}},
		{"not quite a list", `{"tags":"[a"}`, RecallIn{EntrySelection: EntrySelection{Tags: []string{"[a"}}}},
		{"number in a list of strings", `{"tags":["a",7]}`,
			RecallIn{EntrySelection: EntrySelection{Tags: []string{"a", "7"}}}},
		{"number as string", `{"limit":"7"}`, RecallIn{Limit: ptr(7)}},
		{"whole float", `{"limit":7.0}`, RecallIn{Limit: ptr(7)}},
		{"exponent", `{"limit":1e9}`, RecallIn{Limit: ptr(1000000000)}},
		{"zero is given", `{"limit":0}`, RecallIn{Limit: ptr(0)}},
		{"negative is given", `{"limit":-1}`, RecallIn{Limit: ptr(-1)}},
		{"truth as string", `{"explain":"true"}`, RecallIn{Explain: true}},
		{"null is absent", `{"query":"a","limit":null,"tags":null}`, RecallIn{Query: "a"}},
		{"empty is absent", `{"query":"a","project":"","tags":[],"kind":""}`, RecallIn{Query: "a"}},
		{"camel case", `{"maxTokens":9}`, RecallIn{MaxTokens: ptr(9)}},
		{"dashes", `{"max-tokens":9,"as-of":12}`, RecallIn{MaxTokens: ptr(9), AsOf: "12"}},
		{"capital", `{"Query":"a"}`, RecallIn{Query: "a"}},
		{"kind", `{"type":"journal"}`, RecallIn{EntrySelection: EntrySelection{Kind: "journal"}}},
		{"replacement character as written", `{"query":"\ufffd"}`, RecallIn{Query: "\ufffd"}},
		{"surrogate pair", `{"query":"\ud83d\ude00"}`, RecallIn{Query: "😀"}},
		{
			"a parameter of the client",
			`{"query":"a","wait_for_previous":true,"waitForPrevious":false}`,
			RecallIn{Query: "a"},
		},
		{"space around", " {\"query\" : \"a\"}\n", RecallIn{Query: "a"}},
	} {
		got, err := readAs[RecallIn]("recall", c.args)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: readArgs(%s) = %+v, %v, want %+v", c.name, c.args, got, err, c.want)
		}
	}
}

func TestReadOthers(t *testing.T) {
	want := RememberIn{Name: "n", Content: "c", Aliases: []string{"x"}, Tags: []string{"t"},
		RelatedFiles: []string{"a.go"},
		Confidence:   ptr(0.5), IfVersion: ptr(uint64(9))}
	for _, a := range []string{
		`{"name":"n","content":"c","aliases":["x"],"tags":["t"],"related_files":["a.go"],"confidence":0.5,"if_version":9}`,
		`{"key":"n","text":"c","alias":"x","tag":"t","files":"a.go","confidence":"0.5","version":"9"}`,
		`{"title":"n","body":"c","aliases":"x","labels":"t","paths":["a.go"],"confidence":5e-1,"ifVersion":9}`,
		`{"id":"n","note":"c","aliases":["x"],"tags":["t"],"file":"a.go","confidence":0.5,"if-version":9.0}`,
	} {
		if got, err := readAs[RememberIn]("remember", a); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("readArgs(%s) = %+v, %v, want %+v", a, got, err, want)
		}
	}
	if got, err := readAs[UndoIn]("undo", `{"seq":[3,"5"]}`); err != nil || !slices.Equal(got.Seqs, []uint64{3, 5}) {
		t.Errorf("seq = %v, %v, want [3 5]", got.Seqs, err)
	}
	if got, err := readAs[UndoIn]("undo", `{"change":3}`); err != nil || !slices.Equal(got.Seqs, []uint64{3}) {
		t.Errorf("seq = %v, %v, want [3]", got.Seqs, err)
	}
	if got, err := readAs[RestoreIn]("restore", `{"name":"n","seq":18446744073709551615}`); err == nil {
		t.Errorf("a number that does not fit was read as %d", got.Seq)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, args string
		words      []string
	}{
		{
			"unknown",
			`{"query":"a","limitt":1}`,
			[]string{`"limitt"`, "not known to recall", "did you mean limit?", "max_tokens"},
		},
		{"unknown, far", `{"zzzzzzzzzzz":1}`, []string{"not known", "query, filter"}},
		{"twice", `{"query":"a","query":"b"}`, []string{`"query"`, "twice"}},
		{"alias and name", `{"q":"a","query":"b"}`, []string{`"query"`, "same as q"}},
		{"two aliases", `{"k":1,"top_k":1}`, []string{"same as k", "give only limit"}},
		{"list for string", `{"query":["a"]}`, []string{`"query"`, "wants a string", "not a list"}},
		{"object for string", `{"query":{}}`, []string{"wants a string", "not an object"}},
		{"truth for string", `{"query":true}`, []string{"wants a string", "not true or false"}},
		{"word for number", `{"limit":"five"}`, []string{`"limit"`, "wants a whole number", "five"}},
		{"fraction", `{"limit":2.5}`, []string{"wants a whole number", "2.5"}},
		{"huge", `{"limit":1e300}`, []string{"wants a whole number"}},
		{"list in list", `{"tags":[["a"]]}`, []string{`"tags"`, "wants a list of strings"}},
		{"object in list", `{"tags":{"a":"b"}}`, []string{"wants a list of strings", "not an object"}},
		{"number for truth", `{"explain":1}`, []string{"wants true or false", "not a number"}},
		{"unknown kind", `{"kind":"notes"}`, []string{`kind "notes"`, "note, archive", "did you mean note?"}},
		{"array", `[1]`, []string{"not one JSON object"}},
		{"string", `"a"`, []string{"not one JSON object"}},
		{"torn", `{"query":"a"`, []string{"end too early"}},
		{"trailing", `{"query":"a"} x`, []string{"something follows"}},
		{"two objects", `{}{}`, []string{"something follows"}},
		{"no JSON", `query=a`, []string{"not one JSON object"}},
		{"not UTF-8", "{\"query\":\"\xff\"}", []string{"not UTF-8"}},
		{"half a pair", `{"query":"\ud83d"}`, []string{"half of a surrogate pair"}},
		{"half a pair after a written U+FFFD", `{"query":"\ufffd\ud83d"}`, []string{"half of a surrogate pair"}},
	} {
		_, err := readAs[RecallIn]("recall", c.args)
		if !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("%s: readArgs(%s) = %v, want an error matching ErrInvalid", c.name, c.args, err)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: readArgs(%s) = %q, want %q in it", c.name, c.args, err, w)
			}
		}
	}
	if _, err := readAs[GetIn]("get", `{"id":12}`); err == nil || !strings.Contains(err.Error(), "called by name") {
		t.Errorf("get by number = %v, want an error that asks for the name", err)
	}
	if _, err := readAs[GetIn]("get", `{}`); err == nil || !strings.Contains(err.Error(), `"name" is missing`) {
		t.Errorf("get without name = %v, want an error that asks for it", err)
	}
	if _, err := readAs[UndoIn]("undo", `{"seq":[-1]}`); err == nil || !strings.Contains(err.Error(), "less than 0") {
		t.Errorf("undo of -1 = %v, want an error", err)
	}
}

// TestReadLongWords checks that a very long text in place of a word is refused at once, with a short message.
func TestReadLongWords(t *testing.T) {
	long := strings.Repeat("ab", 1<<16)
	for _, a := range []string{`{"` + long + `":1}`, `{"kind":"` + long + `"}`, `{"limit":"` + long +
		`"}`, `{"limit":1` + strings.Repeat("0", 1<<17) + `}`, strings.Repeat("[", 1<<17)} {
		_, err := readAs[RecallIn]("recall", a)
		if err == nil || len(err.Error()) > 500 {
			t.Errorf("readArgs of %d bytes %.20q = %d bytes of error, want 1 to 500", len(a), a, len(fmt.Sprint(err)))
		}
	}
}

// FuzzReadArgs tests that decoding of arguments never panics, and that each error is ErrInvalid. If the arguments are
// accepted, the result must be unchanged after it was encoded and decoded again.
func FuzzReadArgs(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"q":"a","k":"5","tags":"a,b"}`, `{"query":"\ud800"}`, `{"tags":"[\"a\"]"}`,
		`{"limit":1e9,"explain":"true","as_of":17}`, `{"query":"a","query":"b"}`, "{\"query\":\"\xff\"}",
		`{"tags":[null,""]}`, `{"a":{"b":[1]}}`} {
		f.Add(s)
	}
	params := structParams(reflect.TypeFor[RecallIn]())
	f.Fuzz(func(t *testing.T, s string) {
		var in RecallIn
		if err := readInto("recall", params, s, &in); err != nil {
			if !errors.Is(err, oxbow.ErrInvalid) {
				t.Fatalf("readArgs(%q) = %v, which is not ErrInvalid", s, err)
			}
			return
		}
		if !utf8.ValidString(in.Query) {
			t.Fatalf("readArgs(%q) let %q pass", s, in.Query)
		}
		again, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var in2 RecallIn
		if err := readInto("recall", params, string(again), &in2); err != nil {
			t.Fatalf("readArgs(%s): %v", again, err)
		}
		// The decoder also accepts a string for a list, such as "a,b". An item of a JSON list must not be split in this
		// way, even if it looks like a list.
		if !reflect.DeepEqual(in, in2) {
			t.Fatalf("readArgs(%q) = %+v, but its own JSON reads as %+v", s, in, in2)
		}
	})
}
