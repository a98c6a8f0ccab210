// This file tests the verbs, which are operations such as remember and recall. Each test calls them on a memory.

package verb

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
)

// sentences returns the notes as text, one on each line.
func sentences(notes []Note) string {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString(n.String() + "\n")
	}
	return b.String()
}

func has(notes []Note, word string) bool { return strings.Contains(sentences(notes), word) }

func TestRememberAndGet(t *testing.T) {
	b := newBench(t)
	out := do[RememberOut](
		b,
		"remember",
		`{"name":"deploy","content":"Deploy on Friday.","project":"vtt","tags":["ops","a b:c"],
		"aliases":["release"],"related_files":["Makefile"],"confidence":0.8}`,
	)
	if out.EntryOutcome != "added" || out.Entry.Name != "deploy" || out.Entry.Version == 0 || out.Entry.Content != nil {
		t.Errorf("remember = %+v, want deploy added, without its content", out)
	}
	got := do[GetOut](b, "get", `{"name":"deploy"}`)
	wantLabels := map[string][]string{
		"project":    {"vtt"},
		"tag":        {"a b:c", "ops"},
		"file":       {"Makefile"},
		"confidence": {"0.8"},
	}
	if !reflect.DeepEqual(got.Entry.Labels, wantLabels) {
		t.Errorf("labels = %v, want %v", got.Entry.Labels, wantLabels)
	}
	if got.Entry.Content == nil || *got.Entry.Content != "Deploy on Friday." {
		t.Errorf("content = %v, want what was remembered", got.Entry.Content)
	}
	if s := got.Entry.Source; s.Actor != "person" || s.Door != "cli" {
		t.Errorf("source = %+v, want the desk's", s)
	}
	if got.Entry.Created[:11] != "2026-04-18T" || !strings.HasSuffix(got.Entry.Created, "Z") {
		t.Errorf("created = %q, want a time of 2026-04-18 in UTC", got.Entry.Created)
	}
	if a := do[GetOut](b, "get", `{"name":"release"}`); a.Entry.Name != "deploy" || !has(a.Notes, "alias") {
		t.Errorf("get by alias = %+v, want deploy and a note", a)
	}
}

// TestUpdateKeepsTheRest checks that an update changes only those parts of an entry that the call gives.
func TestUpdateKeepsTheRest(t *testing.T) {
	b := newBench(t)
	do[RememberOut](
		b,
		"remember",
		`{"name":"n","content":"one","project":"vtt","tags":["x"],"aliases":["m"],"confidence":0.5}`,
	)
	out := do[RememberOut](b, "remember", `{"name":"n","content":"two","tags":["y"]}`)
	want := map[string][]string{"project": {"vtt"}, "tag": {"y"}, "confidence": {"0.5"}}
	if out.EntryOutcome != "updated" || !reflect.DeepEqual(out.Entry.Labels, want) ||
		!reflect.DeepEqual(out.Entry.Aliases, []string{"m"}) {
		t.Errorf(
			"update = %s %v %v, want project, confidence and alias kept",
			out.EntryOutcome,
			out.Entry.Labels,
			out.Entry.Aliases,
		)
	}
	// Models often pass parameters that they do not need. An empty value must not remove anything.
	out = do[RememberOut](b, "remember", `{"name":"n","content":"three","tags":[],"project":"","aliases":null}`)
	if !reflect.DeepEqual(out.Entry.Labels, want) {
		t.Errorf("empty lists changed the labels to %v, want %v", out.Entry.Labels, want)
	}
	out = do[RememberOut](b, "remember", `{"name":"n","content":"three","clear":["tags","aliases","confidence"]}`)
	if want := map[string][]string{"project": {"vtt"}}; !reflect.DeepEqual(out.Entry.Labels, want) ||
		len(out.Entry.Aliases) > 0 {
		t.Errorf("clear left %v %v, want %v and no alias", out.Entry.Labels, out.Entry.Aliases, want)
	}
	b.fail("remember", `{"name":"n","content":"x","tags":["a"],"clear":["tags"]}`, "clear", "tags", "either")
	b.fail("remember", `{"name":"n","content":"x","clear":["content"]}`, "content", "project, tags")

	// If the same entry is remembered again, nothing is written, and the outcome is "unchanged".
	before := do[HistoryOut](b, "history", `{"name":"n"}`)
	out = do[RememberOut](b, "remember", `{"name":"n","content":"three","project":"vtt"}`)
	after := do[HistoryOut](b, "history", `{"name":"n"}`)
	if out.EntryOutcome != "unchanged" || len(out.Notes) == 0 || len(before.Changes) != len(after.Changes) {
		t.Errorf(
			"repeat = %s %v, %d then %d changes, want unchanged",
			out.EntryOutcome,
			out.Notes,
			len(before.Changes),
			len(after.Changes),
		)
	}
}

func TestDerivedName(t *testing.T) {
	b := newBench(t)
	one := do[RememberOut](b, "remember", `{"content":"# Meeting notes\n\nfirst"}`)
	if one.Entry.Name != "Meeting notes" || !has(one.Notes, `"Meeting notes" was made from the first line`) {
		t.Errorf("remember = %q %v, want a name from the first line and a note", one.Entry.Name, one.Notes)
	}
	// A text whose first line is the same must not overwrite another entry.
	two := do[RememberOut](b, "remember", `{"content":"# Meeting notes\n\nsecond"}`)
	if two.Entry.Name != "Meeting notes (2)" || two.EntryOutcome != "added" || !has(two.Notes, "another entry") {
		t.Errorf("remember = %s %q %v, want a second entry", two.EntryOutcome, two.Entry.Name, two.Notes)
	}
	if again := do[RememberOut](
		b,
		"remember",
		`{"content":"# Meeting notes\n\nsecond"}`,
	); again.EntryOutcome != "unchanged" || again.Entry.ID != two.Entry.ID {
		t.Errorf("repeat = %s %q, want the second entry unchanged", again.EntryOutcome, again.Entry.Name)
	}
	if e := do[GetOut](b, "get", `{"name":"Meeting notes"}`); *e.Entry.Content != "# Meeting notes\n\nfirst" {
		t.Errorf("the first entry now says %q", *e.Entry.Content)
	}
}

func TestIfVersionAndOpID(t *testing.T) {
	b := newBench(t)
	v1 := do[RememberOut](b, "remember", `{"name":"n","content":"one"}`).Entry.Version
	v2 := do[RememberOut](b, "remember", fmt.Sprintf(`{"name":"n","content":"two","if_version":%d}`, v1)).Entry.Version
	err := b.fail(
		"remember",
		fmt.Sprintf(`{"name":"n","content":"three","if_version":%d}`, v1),
		"changed since",
		fmt.Sprintf("if_version %d", v2),
	)
	if !errors.Is(err, oxbow.ErrConflict) {
		t.Errorf("stale if_version = %v, want ErrConflict", err)
	}
	b.fail("remember", fmt.Sprintf(`{"name":"n","content":"two","if_version":%d}`, v1), "changed since")
	b.fail("forget", fmt.Sprintf(`{"name":"n","if_version":%d}`, v1), "changed since")
	b.fail("forget", fmt.Sprintf(`{"name":"n","if_version":%d,"dry_run":true}`, v1), "changed since")
	b.fail("remember", `{"name":"new","content":"x","if_version":7}`, "leave if_version out")
	b.fail("remember", `{"content":"x","if_version":7}`, "needs the name")
	b.fail("remember", `{"name":"n","content":"x","if_version":0}`, "is no version")
	b.fail("remember", args(t, map[string]any{"content": "x", "op_id": strings.Repeat("x", 65)}), "op_id", "65 bytes")

	// A call with a repeated op_id reports the first change, even if the memory has changed since.
	do[RememberOut](b, "remember", `{"name":"once","content":"first","op_id":"A"}`)
	do[RememberOut](b, "remember", `{"name":"once","content":"second"}`)
	first := do[RememberOut](b, "remember", `{"name":"once","content":"first","op_id":"A"}`)
	if first.EntryOutcome != "added" || first.Snippet != "first" || !has(first.Notes, "changed since") {
		t.Errorf(
			"repeat with the op_id = %+v, want what the first call did, and that the entry was changed since",
			first,
		)
	}
	if e := do[GetOut](b, "get", `{"name":"once"}`); *e.Entry.Content != "second" {
		t.Errorf("the repeat brought %q back", *e.Entry.Content)
	}
	once := do[ForgetOut](b, "forget", `{"name":"once","op_id":"B"}`)
	if out := do[ForgetOut](b, "forget", `{"name":"once","op_id":"B"}`); !out.Forgotten || !has(out.Notes, "before") ||
		out.ID != once.ID || out.Version != once.Version || out.Snippet != once.Snippet || out.Seq != once.Seq {
		t.Errorf("repeated forget = %+v, want success and a note", out)
	}
	again := do[RememberOut](b, "remember", `{"name":"once","content":"first","op_id":"A"}`)
	if again.Version != first.Version || again.Snippet != "first" || !has(again.Notes, "forgotten since") {
		t.Errorf(
			"repeat after the entry was forgotten = %+v, want %+v, and that the entry was forgotten since",
			again,
			first,
		)
	}
}

func TestRecall(t *testing.T) {
	b := newBench(t)
	do[RememberOut](
		b,
		"remember",
		`{"name":"cache","content":"The cache is flushed every night.","project":"vtt","tags":["ops","night"]}`,
	)
	do[RememberOut](
		b,
		"remember",
		`{"name":"cookies","content":"Cookies live one hour; the cache does not hold them.","project":"web","tags":["ops"]}`,
	)
	do[RememberOut](b, "remember", args(t, map[string]any{"name": "long", "content": "cache " +
		strings.Repeat("lorem ipsum dolor ", 800), "kind": "archive"}))

	out := do[RecallOut](b, "recall", `{"query":"cache flushed"}`)
	if len(out.Hits) != 3 || out.Hits[0].Name != "cache" || out.Hits[0].Score <= out.Hits[1].Score {
		t.Fatalf("recall = %+v, want three hits, cache first", out.Hits)
	}
	for _, h := range out.Hits {
		if h.Snippet == "" || len(h.Snippet) > 2*snippetWidth {
			t.Errorf("%s has the snippet %q, want one of about %d bytes", h.Name, h.Snippet, snippetWidth)
		}
		if (h.Content == nil) != (h.Name == "long") {
			t.Errorf("%s: content given = %v; only long does not fit", h.Name, h.Content != nil)
		}
	}
	if out.ContentsLeftOut != 1 || !has(out.Notes, `get with the name`) || out.TokensUsed < 1 ||
		out.TokensUsed > 2000 {
		t.Errorf(
			"left out %d, %d tokens, notes %v, want long left out within 2000",
			out.ContentsLeftOut,
			out.TokensUsed,
			out.Notes,
		)
	}
	if out := do[RecallOut](b, "recall", `{"query":"cache","max_tokens":1}`); out.ContentsLeftOut != 3 ||
		len(out.Hits) != 0 ||
		!out.HasMore ||
		!has(out.EmptyReasons, "3 entries were found, and none fits into max_tokens 1; the first needs about ") ||
		has(out.Notes, "not shown") {
		t.Errorf("max_tokens 1 = %+v, want that 3 are left out", out)
	}
	if out := do[RecallOut](b, "recall", `{"query":"cache","max_tokens":100000}`); out.ContentsLeftOut != 0 ||
		out.TokensUsed < 1000 {
		t.Errorf("max_tokens 100000 left out %d, used %d, want all in", out.ContentsLeftOut, out.TokensUsed)
	}

	for _, c := range []struct{ args, want string }{
		{`{"query":"cache","project":"vtt"}`, "cache"},
		{`{"query":"cache project:web"}`, "cookies"},
		{`{"query":"cache","tags":["ops"]}`, "cache cookies"},
		{`{"query":"cache","tags":["ops","night"]}`, "cache"},
		{`{"query":"cache","filter":"-tag:night -kind:archive"}`, "cookies"},
		{`{"query":"cache","kind":"archive"}`, "long"},
		{`{"query":"cache","after":"2026-04-18","before":"2026-04-19","limit":1}`, "*"},
		{`{"project":"vtt"}`, "cache"},
		{`{"query":"cache","as_of":1}`, "cache"},
		{`{"query":"cache","as_of":"2026-04-18","kind":"archive"}`, "long"},
	} {
		out := do[RecallOut](b, "recall", c.args)
		var names []string
		for _, h := range out.Hits {
			names = append(names, h.Name)
		}
		if c.want == "*" {
			if len(names) != 1 || !out.HasMore {
				t.Errorf("recall(%s) = %v, more %v, want one hit and more", c.args, names, out.HasMore)
			}
			continue
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("recall(%s) = %q, want %q", c.args, got, c.want)
		}
	}
	x := do[RecallOut](b, "recall", `{"query":"flushed","explain":true}`)
	if e := x.Hits[0].Explanation; e == nil || e.Entries != 3 || len(e.Terms) != 1 || e.Terms[0].DF != 1 {
		t.Errorf("explanation = %+v, want one term in 1 of 3 entries", e)
	}
	if !strings.Contains(prompt.ReporterText(x), "idf") {
		t.Errorf("the text does not explain: %s", prompt.ReporterText(x))
	}
	if out := do[RecallOut](b, "recall", `{"query":"cache","limit":1000000000}`); !has(out.Notes, "lowered to 1000") ||
		len(out.Hits) != 3 {
		t.Errorf("limit 1e9: %v, want it lowered and said so", out.Notes)
	}
}

// TestNeverSilentZero checks that an answer without results always contains a reason.
func TestNeverSilentZero(t *testing.T) {
	b := newBench(t)
	for _, verb := range []string{"recall", "list"} {
		a := map[string]string{"recall": `{"query":"x1"}`, "list": `{}`}[verb]
		ans, err := b.try(verb, a)
		if err != nil || !strings.Contains(ans.Text(), "no entries yet") {
			t.Errorf("%s on an empty memory = %v, %v, want it to say so", verb, ans, err)
		}
	}
	if out := do[HistoryOut](b, "history", `{}`); !has(out.Notes, "nothing was changed yet") {
		t.Errorf("history of an empty memory = %+v, want a note", out)
	}
	do[RememberOut](b, "remember", `{"name":"cache","content":"The cache is flushed every night.","project":"vtt"}`)
	if out := do[RecallOut](
		b,
		"recall",
		`{"query":"zebra","project":"vtt"}`,
	); !has(out.EmptyReasons, `no entry holds "zebra"`) || has(out.EmptyReasons, "removes") {
		t.Errorf("why = %v, want that the word found nothing, not that the filter did", out.EmptyReasons)
	}
	for _, c := range []struct {
		verb, args string
		words      []string
	}{
		{"recall", `{"query":"zebra"}`, []string{`no entry holds "zebra"`}},
		{"recall", `{"query":"cahce"}`, []string{`no entry holds "cahce"`, "cache"}},
		{
			"recall",
			`{"query":"cache","project":"vtx"}`,
			[]string{"project:vtx alone removes all that was found", "1 entry would be found", "vtt"},
		},
		{"recall", `{"query":"cache","before":"2020"}`, []string{"before:2020", "alone removes all that was found"}},
		{"recall", `{"query":"the of and"}`, []string{"only very common words"}},
		{"recall", `{"query":"!!!"}`, []string{"no letters, digits or emoji"}},
		{"recall", `{"query":"cache","as_of":"2020-01-01"}`, []string{"held nothing yet"}},
		{"list", `{"project":"nope"}`, []string{"project:nope alone removes all that was found"}},
		{"list", `{"tags":["a","b"]}`, []string{"tag:a alone removes all that was found"}},
		{"list", `{"offset":5}`, []string{"past the last of 1 entry"}},
	} {
		a, err := b.try(c.verb, c.args)
		if err != nil {
			t.Errorf("%s(%s) = %v, want an empty answer", c.verb, c.args, err)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(a.Text(), w) {
				t.Errorf("%s(%s) = %q, want %q in it", c.verb, c.args, a.Text(), w)
			}
		}
	}
}

func TestList(t *testing.T) {
	b := newBench(t)
	for i := range 25 {
		do[RememberOut](b, "remember", fmt.Sprintf(`{"name":"n%02d","content":"number %d"}`, i, i))
	}
	do[RememberOut](b, "remember", `{"name":"n03","content":"changed last"}`)
	out := do[ListOut](b, "list", `{}`)
	if out.Total != 26-1 || len(out.Entries) != 20 || out.NextOffset != 20 || out.Entries[0].Name != "n03" ||
		out.Entries[1].Name != "n24" {
		t.Errorf(
			"list = %d of %d, next %d, first %s, want 20 of 25, the last written first",
			len(out.Entries),
			out.Total,
			out.NextOffset,
			out.Entries[0].Name,
		)
	}
	rest := do[ListOut](b, "list", `{"offset":20}`)
	seen := map[string]bool{}
	for _, e := range append(out.Entries, rest.Entries...) {
		seen[e.Name] = true
	}
	if len(seen) != 25 || rest.NextOffset != 0 {
		t.Errorf("two pages hold %d names, next %d, want 25 and no more", len(seen), rest.NextOffset)
	}
}

func TestForgetUndoRestore(t *testing.T) {
	b := newBench(t)
	v1 := do[RememberOut](b, "remember", `{"name":"n","content":"one","aliases":["other"]}`).Entry.Version
	v2 := do[RememberOut](b, "remember", `{"name":"n","content":"two"}`).Entry.Version

	dry := do[ForgetOut](b, "forget", `{"name":"n","dry_run":true}`)
	if dry.Forgotten || dry.Entry.Snippet != "two" {
		t.Errorf("dry run = %+v, want n shown and kept", dry)
	}
	do[GetOut](b, "get", `{"name":"n"}`)

	gone := do[ForgetOut](b, "forget", `{"name":"other"}`)
	if !gone.Forgotten || gone.Entry.Name != "n" || gone.Seq == 0 || !has(gone.Notes, "undo with seq") {
		t.Errorf("forget = %+v, want n forgotten, and how to undo it", gone)
	}
	err := b.fail("get", `{"name":"n"}`, "forgotten by change", fmt.Sprintf("seq %d brings it back", v2))
	if !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("get = %v, want ErrNotFound", err)
	}

	if e := do[GetOut](b, "get", fmt.Sprintf(`{"name":"n@%d"}`, v1)); *e.Entry.Content != "one" ||
		!has(e.Notes, "as of change") {
		t.Errorf("get n@%d = %+v, want the first version", v1, e)
	}
	b.fail("get", `{"name":"n@999999"}`, "there is no change 999999 yet", fmt.Sprintf("n@%d, n@%d", v2, v1))

	would := do[UndoOut](b, "undo", `{"dry_run":true}`)
	if would.Seq != 0 || len(would.UndoneChanges) != 1 || would.UndoneChanges[0].Seq != gone.Seq {
		t.Errorf("undo dry run = %+v, want change %d", would, gone.Seq)
	}
	undone := do[UndoOut](b, "undo", `{}`)
	if undone.Seq == 0 || undone.UndoneChanges[0].Entries[0].Name != "n" ||
		!has(undone.Notes, fmt.Sprintf("undo with seq [%d]", undone.Seq)) {
		t.Errorf("undo = %+v, want it to name n and say how to redo", undone)
	}
	if e := do[GetOut](b, "get", `{"name":"n"}`); *e.Entry.Content != "two" {
		t.Errorf("after undo n says %q, want two", *e.Entry.Content)
	}
	do[UndoOut](b, "undo", fmt.Sprintf(`{"seq":[%d]}`, undone.Seq))
	b.fail("get", `{"name":"n"}`, "forgotten")

	back := do[RestoreOut](b, "restore", fmt.Sprintf(`{"name":"n","seq":%d}`, v1))
	if back.Entry.Snippet != "one" || back.Seq == 0 {
		t.Errorf("restore = %+v, want one", back)
	}
	hist := do[HistoryOut](b, "history", `{"name":"other"}`)
	if hist.Name != "n" || len(hist.Changes) < 4 || hist.Changes[0].Seq != back.Seq {
		t.Errorf("history = %+v, want that of n, the restore first", hist)
	}
	all := do[HistoryOut](b, "history", `{"limit":2}`)
	if len(all.Changes) != 2 || !all.HasMore || all.Changes[0].Seq != back.Seq || all.Changes[0].Source.Door != "cli" {
		t.Errorf("history = %+v, want the last two changes and their source", all)
	}

	b.fail("undo", `{"count":0}`, "undo nothing")
	b.fail("undo", `{"count":-1}`, "undo nothing")
	b.fail("undo", `{"count":1000000000}`, "more than the 1000")
	b.fail("undo", `{"count":1,"seq":[1]}`, "give one of them")
	b.fail("undo", `{"seq":[99999]}`, "99999", "no such change", "history")
	b.fail("undo", `{"seq":[99999],"dry_run":true}`, "no such change")
	b.fail("restore", `{"name":"n","seq":0}`, "no change")
	b.fail("restore", `{"name":"n"}`, "was not forgotten", "brings back the one before")
	b.fail("restore", `{"name":"nn","seq":1}`, "nearest names", `"n"`)
	b.fail("history", `{"name":"nobody"}`, "not found")
}

func TestUndoOnEmpty(t *testing.T) {
	b := newBench(t)
	b.fail("undo", `{}`, "no change to undo")
	if out := do[UndoOut](b, "undo", `{"dry_run":true}`); len(out.UndoneChanges) != 0 ||
		!has(out.Notes, "nothing to undo") {
		t.Errorf("undo dry run = %+v, want a note", out)
	}
	do[RememberOut](b, "remember", `{"name":"n","content":"one"}`)
	if out := do[UndoOut](b, "undo", `{"count":3}`); len(out.UndoneChanges) != 1 ||
		!has(out.Notes, "only 1 change could be undone") {
		t.Errorf("undo 3 of 1 = %+v, want one undone and a note", out)
	}
}

// TestBadInput checks that invalid arguments are refused with a message.
func TestBadInput(t *testing.T) {
	b := newBench(t)
	do[RememberOut](b, "remember", `{"name":"keep","content":"as it is"}`)
	long := strings.Repeat("x", 10<<10)
	huge := strings.Repeat("words ", 5<<20/6)
	for _, c := range []struct {
		verb  string
		args  map[string]any
		words []string
	}{
		{"remember", map[string]any{}, []string{`content is empty`}},
		{"remember", map[string]any{"content": ""}, []string{"content is empty"}},
		{"remember", map[string]any{"content": " \n\t"}, []string{"content is empty"}},
		{"remember", map[string]any{"content": "a\x00b"}, []string{"NUL"}},
		{"remember", map[string]any{"content": huge}, []string{"longer than", "4.0 MB"}},
		{"remember", map[string]any{"content": "x", "name": long}, []string{"10240 bytes", "256"}},
		{"remember", map[string]any{"content": "x", "name": "a\nb"}, []string{"control character"}},
		{"remember", map[string]any{"content": "x", "name": "a\x00b"}, []string{"control character"}},
		{"remember", map[string]any{"content": "x", "name": " a"}, []string{"white space"}},
		{"remember", map[string]any{"content": "x", "name": "   "}, []string{"white space"}},
		{"remember", map[string]any{"content": "x", "kind": "memo"}, []string{"memo", "note, archive"}},
		{
			"remember",
			map[string]any{"content": "x", "name": "keep", "kind": "archive"},
			[]string{"kind note", "choose another name"},
		},
		{
			"remember",
			map[string]any{"content": "x", "tags": []string{"a\nb"}},
			[]string{"label tag", "control character"},
		},
		{"remember", map[string]any{"content": "x", "tags": []string{long}}, []string{"label tag", "256"}},
		{"remember", map[string]any{"content": "x", "confidence": 1.5}, []string{"confidence", "from 0 to 1"}},
		{"remember", map[string]any{"content": "x", "confidence": -0.1}, []string{"from 0 to 1"}},
		{"remember", map[string]any{"content": "x", "aliases": []string{"a", "a"}}, []string{"alias", "twice"}},
		{"recall", map[string]any{}, []string{"query is empty", "list"}},
		{"recall", map[string]any{"query": "  "}, []string{"query is empty"}},
		{"recall", map[string]any{"query": "x", "limit": 0}, []string{"limit", "would return nothing", "1000"}},
		{"recall", map[string]any{"query": "x", "limit": -1}, []string{"limit", "would return nothing"}},
		{"recall", map[string]any{"query": "x", "max_tokens": 0}, []string{"max_tokens", "2000"}},
		{"recall", map[string]any{"query": "x", "max_tokens": -5}, []string{"max_tokens"}},
		{"recall", map[string]any{"query": "x", "after": "yesterdayish"}, []string{"not a date", "2026-04-18"}},
		{"recall", map[string]any{"query": "x", "before": "13/04/2026"}, []string{"not a date"}},
		{"recall", map[string]any{"query": "x", "filter": "nonsense"}, []string{"key:value"}},
		{"recall", map[string]any{"query": "x", "filter": "kind:memo"}, []string{"note, archive"}},
		{"recall", map[string]any{"query": "x", "as_of": "soon"}, []string{"as_of", "not the number of a change"}},
		{"recall", map[string]any{"query": "x", "as_of": 0}, []string{"count from 1"}},
		{"recall", map[string]any{"query": "x", "as_of": 4711}, []string{"4711"}},
		{"recall", map[string]any{"query": "x", "recency": "soon"}, []string{"recency", "half-life", "30d"}},
		{"recall", map[string]any{"query": "x", "recency": "0d"}, []string{"recency", "half-life"}},
		{"recall", map[string]any{"query": "x", "project": "a\nb"}, []string{"control character"}},
		{"list", map[string]any{"limit": 0}, []string{"would return nothing"}},
		{"list", map[string]any{"offset": -1}, []string{"offset", "less than 0"}},
		{"history", map[string]any{"limit": -3}, []string{"would return nothing"}},
		{"get", map[string]any{"name": ""}, []string{"name is empty"}},
		{"get", map[string]any{"name": "keeep"}, []string{"nearest names", `"keep"`}},
		{"get", map[string]any{"name": long}, []string{"10240 bytes"}},
		{"get", map[string]any{"name": long + "@3"}, []string{"10242 bytes"}},
		{"forget", map[string]any{"name": "a\nb"}, []string{"control character"}},
		{"history", map[string]any{"name": long}, []string{"10240 bytes"}},
		{"restore", map[string]any{"name": long, "seq": 1}, []string{"10240 bytes"}},
		{"forget", map[string]any{"name": ""}, []string{"name is empty"}},
		{"forget", map[string]any{"name": "kep"}, []string{"nearest names", `"keep"`}},
		{"forget", map[string]any{"name": "x", "op_id": long}, []string{"64"}},
	} {
		b.fail(c.verb, args(t, c.args), c.words...)
	}
	if out := do[ListOut](b, "list", `{}`); out.Total != 1 {
		t.Errorf("after refused calls the memory holds %d entries, want 1", out.Total)
	}
}

// TestOddNames checks that names and labels may contain any text.
func TestOddNames(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"../../etc/passwd", "a/b", "con", "名前", "a@b", "x@2", `"quoted"`, "-rf", "%00",
		"<b>"} {
		do[RememberOut](b, "remember", args(t, map[string]any{"name": name, "content": "content of " +
			name, "tags": []string{name, "two words", "k:v"}}))
		got := do[GetOut](b, "get", args(t, map[string]any{"name": name}))
		if *got.Entry.Content != "content of "+name {
			t.Errorf("get(%q) = %q", name, *got.Entry.Content)
		}
		out := do[ListOut](b, "list", args(t, map[string]any{"tags": []string{name, "k:v", "two words"}}))
		if out.Total != 1 {
			t.Errorf("list by the tag %q found %d, want 1", name, out.Total)
		}
	}
	// A name such as "x@1", which looks like an old version, is first looked up as a name.
	do[RememberOut](b, "remember", `{"name":"x","content":"plain"}`)
	if got := do[GetOut](b, "get", `{"name":"x@2"}`); *got.Entry.Content != "content of x@2" {
		t.Errorf("get(x@2) = %q, want the entry of that very name", *got.Entry.Content)
	}
	// The answer says that the new entry took an alias from another entry.
	do[RememberOut](b, "remember", `{"name":"y","content":"c","aliases":["z"]}`)
	if out := do[RememberOut](
		b,
		"remember",
		`{"name":"z","content":"c"}`,
	); !has(out.Notes, "alias of the entry \"y\"") {
		t.Errorf("notes = %v, want a word about the alias", out.Notes)
	}
}

// TestParallelUpdates tests that concurrent calls of remember do not overwrite each other. Five calls add different
// labels and an alias to one entry, and the entry must have all of them.
func TestParallelUpdates(t *testing.T) {
	b := newBench(t)
	do[RememberOut](b, "remember", `{"name":"n","content":"c"}`)
	verb, _ := FindTool("remember")
	var wg sync.WaitGroup
	for _, a := range []string{`{"name":"n","content":"c","project":"p"}`, `{"name":"n","content":"c","tags":["t"]}`,
		`{"name":"n","content":"c","confidence":1}`, `{"name":"n","content":"c","related_files":["f"]}`,
		`{"name":"n","content":"c","aliases":["a"]}`} {
		wg.Go(func() {
			if _, err := verb.CallForModel(t.Context(), b.Workspace, []byte(a)); err != nil {
				t.Errorf("remember(%s) = %v", a, err)
			}
		})
	}
	// Entries whose derived names would be equal get different names.
	for i := range 10 {
		wg.Go(func() {
			if _, err := verb.CallForModel(
				t.Context(),
				b.Workspace,
				fmt.Appendf(nil, `{"content":"# Same\n%d"}`, i),
			); err != nil {
				t.Errorf("remember %d = %v", i, err)
			}
		})
	}
	wg.Wait()
	got := do[GetOut](b, "get", `{"name":"n"}`).Entry
	if len(got.Labels) != 4 || len(got.Aliases) != 1 {
		t.Errorf("n has labels %v and aliases %v, want all that was given", got.Labels, got.Aliases)
	}
	if out := do[ListOut](b, "list", `{}`); out.Total != 11 {
		t.Errorf("the memory holds %d entries, want 11", out.Total)
	}
}
