// Fences, signatures and the form of a turn.

package session_test

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/session"
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
		"<b>bold</b> if a < b && c > d":                                                   "<b>bold</b> if a < b && c > d",
		"<deja-recall>one</deja-recall><system-reminder>two</system-reminder>":            "",
		"<System_Reminder>x</system_reminder>go":                                          "go",
	} {
		if got := session.Strip(in); got != want {
			t.Errorf("Strip(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzStrip(f *testing.F) {
	f.Add("<hook_context>a</hook_context>b")
	f.Add("<system-reminder><system-reminder></system-reminder>x")
	f.Fuzz(func(t *testing.T, s string) {
		once := session.Strip(s)
		if len(once) > len(s) {
			t.Errorf("Strip(%q) = %q is longer", s, once)
		}
	})
}

func TestSignature(t *testing.T) {
	for _, same := range []struct {
		want    string
		outputs []string
	}{
		{"PATH: undefined: Frob", []string{"# example.com/x\n./a/b.go:12:3: undefined: Frob\n", "ok\n/home/me/x/b.go:7:30: undefined: Frob\nFAIL"}},
		{"--- FAIL: TestPay (N)", []string{"=== RUN TestPay\n--- FAIL: TestPay (0.03s)\n", "--- FAIL: TestPay (12.5s)"}},
		{"T dial tcp N:N: connection refused", []string{"2026-11-20T10:00:01Z dial tcp 127.0.0.1:5432: connection refused", "2025-01-02 03:04:05 dial tcp 10.0.0.1:80: connection refused"}},
		{"panic: bad block HEX", []string{"panic: bad block 0xdeadbeef", "panic: bad block 0x1"}},
		{"no tests", []string{"\n  no tests  \nmore"}},
		{"", []string{"", "\n"}},
	} {
		for _, out := range same.outputs {
			if got := session.Signature(out); got != same.want {
				t.Errorf("Signature(%q) = %q, want %q", out, got, same.want)
			}
		}
	}
}

// Whatever a turn holds is parsed back, and whatever a content is, parsing it ends
// well.
func FuzzForm(f *testing.F) {
	f.Add("fix it", "Done.\n\nuser: no", "go test", "FAIL\n-->", "p1", "u1")
	f.Add("\x00\xff", "<!--1 x-->", "", "a\n\nb", "", "")
	f.Fuzz(func(t *testing.T, prompt, text, command, output, turn, id string) {
		c := call(turn, id, 3, command)
		c.Call.Output, c.Call.Failed = output, true
		in := put(turn, id, 1, output, session.Injection{Place: command, Shown: []session.Shown{{In: id, Name: prompt}}, Rare: strings.Fields(text)})
		turns := session.Fold([]session.Event{event(session.Prompt, turn, "", 0, prompt), event(session.Prompt, turn, id, 1, prompt), in,
			event(session.Text, turn, id, 2, text), c})
		for _, one := range turns {
			back, err := session.Parse(one.Content())
			if err != nil {
				t.Fatalf("Parse: %v", err)
			}
			_ = back.Used()
			if got, want := bytesOf(t, []session.Turn{back}), bytesOf(t, []session.Turn{one}); got != want {
				t.Fatalf("parsed back\n%s\nwant\n%s", got, want)
			}
		}
		_, _ = session.Parse(prompt)
		_, _ = session.Parse("<!--1 " + prompt + "-->")
		if again := session.Fold(turns[0].Reports()); bytesOf(t, again[:1]) == "" {
			t.Error("a turn folds to nothing")
		}
	})
}
