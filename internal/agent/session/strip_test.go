// This file tests the removal of blocks that clients or oxbow inserted into a text. It also tests the signatures by
// which similar failures are found, and the encoded form of a turn of a conversation.

package session_test

import (
	"encoding/json"
	"html"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

func TestStrip(t *testing.T) {
	for in, want := range map[string]string{
		"  fix it \n": "fix it",
		"<hook_context>\nMemory of old.\n</hook_context>\n\nfix it":                       "fix it",
		"fix <system-reminder>\nSessionStart hook: x\n</system-reminder> it":              "fix  it",
		"<oxbow-memory profile=\"x\">a <oxbow-memory>b</oxbow-memory> c</oxbow-memory> d": "d",
		"<hindsight_memories>[{\"x\":\"<b>\"}]</hindsight_memories>yes":                   "yes",
		"<claude-mem-context> never closed":                                               "",
		"a stray </system-reminder> end":                                                  "a stray  end",
		"<b>bold</b> if a < b && c > " +
			"d": "<b>bold</b> if a < b && c > d",
		"<deja-recall>one</deja-recall><system-reminder>two</system-reminder>": "",
		"<System_Reminder>x</system_reminder>go":                               "go",

		"Why?<qwen:user-prompt-submit-context>\n&lt;oxbow-memory&gt;\na\n&lt;/oxbow-memory&gt;\n</qwen:user-prompt-submit-context>": "Why?",
		"Why? &lt;oxbow-memory&gt; a &lt;/oxbow-memory&gt; " +
			"So?": "Why?  So?",
		`Why? \u003coxbow-memory\u003e\na\n\u003c/oxbow-memory\u003e`: "Why?",
		"what is &lt;system-reminder&gt;, and a &lt; " +
			"b?": "what is &lt;system-reminder&gt;, and a &lt; b?",
	} {
		if got := session.StripInsertedBlocks(in); got != want {
			t.Errorf("StripFences(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestStripWrapped tests that StripInsertedBlocks removes the block that oxbow inserted into a prompt, and keeps the
// rest of the prompt. A client may escape the block in any way, and may put the block into elements of any kind.
func TestStripWrapped(t *testing.T) {
	escapes := []func(string) string{
		func(s string) string { return s },
		html.EscapeString,
		func(s string) string { return html.EscapeString(html.EscapeString(s)) },
		func(s string) string { return quoted(s) },
		func(s string) string { return quoted(quoted(s)) },
		func(s string) string { return quoted(html.EscapeString(s)) },
	}
	elements := []string{"hook_context", "qwen:user-prompt-submit-context", "system-reminder", "system_reminder"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		block := escapes[rng.IntN(len(escapes))](
			"<" + session.InsertedTagName + ">\nPerhaps useful: a < b & \"c\"\n</" +
				session.InsertedTagName + ">",
		)
		for range rng.IntN(3) {
			e := elements[rng.IntN(len(elements))]
			block = "<" + e + ">\n" + block + "\n</" + e + ">"
		}
		before, after := []string{"", "Why is it so? "}[rng.IntN(2)], []string{"", " And a < b?"}[rng.IntN(2)]
		if got, want := session.StripInsertedBlocks(before+block+after), strings.TrimSpace(before+after); got != want {
			t.Fatalf("StripFences(%q) = %q, want %q", before+block+after, got, want)
		}
	}
}

// quoted returns a text as it is written inside a JSON string.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return strings.Trim(string(b), `"`)
}

func FuzzStrip(f *testing.F) {
	f.Add("<hook_context>a</hook_context>b")
	f.Add("<system-reminder><system-reminder></system-reminder>x")
	f.Fuzz(func(t *testing.T, s string) {
		once := session.StripInsertedBlocks(s)
		if len(once) > len(s) {
			t.Errorf("StripFences(%q) = %q is longer", s, once)
		}
	})
}

func TestSignature(t *testing.T) {
	for _, same := range []struct {
		want    string
		outputs []string
	}{
		{
			"PATH: undefined: Frob",
			[]string{
				"# example.com/x\n./a/b.go:12:3: undefined: Frob\n",
				"ok\n/home/me/x/b.go:7:30: undefined: Frob\nFAIL",
			},
		},
		{
			"--- FAIL: TestPay (N)",
			[]string{"=== RUN TestPay\n--- FAIL: TestPay (0.03s)\n", "--- FAIL: TestPay (12.5s)"},
		},
		{
			"T dial tcp N:N: connection refused",
			[]string{
				"2026-11-20T10:00:01Z dial tcp 127.0.0.1:5432: connection refused",
				"2025-01-02 03:04:05 dial tcp 10.0.0.1:80: connection refused",
			},
		},
		{
			`vet: PATH: "fmt" imported and not used`,
			[]string{"# hello\n# [hello]\nvet: ./hello.go:3:8: \"fmt\" imported and not used"},
		},
		{
			"PATH: declared and not used: count",
			[]string{
				"# hello\n./hello.go:7:2: declared and not used: count\n",
				"# other\nmain.go:1:2: declared and not used: count\n",
			},
		},
		{"no package", []string{"# hello\nno package"}},
		{"panic: bad block HEX", []string{"panic: bad block 0xdeadbeef", "panic: bad block 0x1"}},
		{"no tests", []string{"\n  no tests  \nmore"}},
		{"", []string{"", "\n"}},
	} {
		for _, out := range same.outputs {
			if got := session.FailureSignature(out); got != same.want {
				t.Errorf("Signature(%q) = %q, want %q", out, got, same.want)
			}
		}
	}
}

// FuzzForm tests that any turn is read back from its content, and that parsing any content causes no panic.
func FuzzForm(f *testing.F) {
	f.Add("fix it", "Done.\n\nuser: no", "go test", "FAIL\n-->", "p1", "u1")
	f.Add("\x00\xff", "<!--1 x-->", "", "a\n\nb", "", "")
	f.Fuzz(func(t *testing.T, prompt, text, command, output, turn, id string) {
		c := call(turn, id, 3, command)
		c.Call.Output, c.Call.Failed = output, true
		in := put(
			turn,
			id,
			1,
			output,
			session.Injection{
				HookEvent:    command,
				ShownEntries: []session.ShownEntry{{SourceKind: id, Name: prompt}},
				RareTerms:    strings.Fields(text),
			},
		)
		turns := session.BuildTurns(
			[]session.Event{
				event(session.KindPrompt, turn, "", 0, prompt),
				event(session.KindPrompt, turn, id, 1, prompt),
				in,
				event(session.KindText, turn, id, 2, text),
				c,
			},
		)
		for _, one := range turns {
			back, err := session.ParseTurn(one.Content())
			if err != nil {
				t.Fatalf("Parse: %v", err)
			}
			_ = back.ShownEntriesUsed()
			if got, want := bytesOf(t, []session.Turn{back}), bytesOf(t, []session.Turn{one}); got != want {
				t.Fatalf("parsed back\n%s\nwant\n%s", got, want)
			}
		}
		_, _ = session.ParseTurn(prompt)
		_, _ = session.ParseTurn("<!--1 " + prompt + "-->")
		if again := session.BuildTurns(turns[0].UnmergedReports()); bytesOf(t, again[:1]) == "" {
			t.Error("a turn folds to nothing")
		}
	})
}

// anyTag matches a begin tag or an end tag, anywhere in a text, of a block that a client or oxbow inserts into a
// prompt. Tests compare StripInsertedBlocks with it.
var anyTag = sync.OnceValue(func() *regexp.Regexp {
	const ampersand = `(?:&|\\+u0026)`
	const open, end = `(?:<|` + ampersand + `(?:amp;)*lt;|\\+u003c)`, `(?:>|` + ampersand + `(?:amp;)*gt;|\\+u003e)`
	const names = `oxbow-memory|hook_context|qwen:user-prompt-submit-context|system-reminder|claude-mem|memory_context`
	return regexp.MustCompile(`(?i)</?(?:` + names + `)(?:\s[^<>]*)?>|` + open + `\\*/?oxbow-memory` + end)
})

// TestStripFindsTags compares StripInsertedBlocks with a regular expression on random texts that consist of parts of
// tags. StripInsertedBlocks looks only at places where a tag may begin, because the regular expression is slow.
func TestStripFindsTags(t *testing.T) {
	parts := []string{"<", "</", ">", "&", "&lt;", "&gt;", "&amp;", "amp;", "lt;", "gt;", `\`, `\\`, "u003c", `\u003c`,
		`\u003e`, `\u0026`, "/", `\/`, " a", "\n", "text",
		"ſystem-reminder", "hoo\u212a_context", "HOOK_CONTEXT", " x=1>",
		"<oxbow-memory>", "&LT;", `\U003C`, "oxbow-memory", "qwen:user-prompt-submit-context", "system-reminder",
		"claude-mem", "memory_context", "<div>", "<o>", "<h"}
	rng := rand.New(rand.NewPCG(1, 2))
	fenced := 0
	for range 5000 {
		var b strings.Builder
		for range 1 + rng.IntN(12) {
			b.WriteString(parts[rng.IntN(len(parts))])
		}
		text := "before " + b.String()
		hasTag := anyTag().MatchString(text)
		isStripped := session.StripInsertedBlocks(text) != strings.TrimSpace(text)
		if hasTag != isStripped {
			t.Errorf(
				"StripFences(%q) = %q, but the text has a tag: %t",
				text,
				session.StripInsertedBlocks(text),
				hasTag,
			)
		}
		if hasTag {
			fenced++
		}
	}
	if fenced < 100 {
		t.Errorf("only %d of the texts have a tag", fenced)
	}
}
