// This file tests the headline of an annotation.

package annotate

import "testing"

func TestHeadline(t *testing.T) {
	spoken := Record{ID: "t0123456789abcdef", SourceRef: "claude-code toolu_1"}
	for _, c := range []struct{ name, why, want string }{
		{
			"the last sentence",
			"Let me look at the file before changing it.\n\nThe proxy drops idle connections after a minute.",
			"The proxy drops idle connections after a minute.",
		},
		{
			"an announcement after the reason",
			"Get fails at once when the pool is empty. Let me fix that now:",
			"Get fails at once when the pool is empty.",
		},
		{
			"an announcement with a reason",
			"The pool is small. I'll make it wait with a timer instead of a context: its callers have none.",
			"I'll make it wait with a timer instead of a context: its callers have none.",
		},
		{"nothing but announcements", "Let me look at the file.\n\nNow let me edit it.", "Now let me edit it."},
		{
			"a word of joy",
			"Both ends must lock, or Put races with Close. Done!",
			"Both ends must lock, or Put races with Close.",
		},
		{
			"a list",
			"Two things are wrong:\n\n- the buffer is one too small\n- **Close** does not wait",
			"**Close** does not wait",
		},
		{"code at the end", "The head comes first.\n\n```go\nreturn head\n```\n", "The head comes first."},
		{
			"names with points",
			"It reads pool.go, e.g. for Get. The limit in v1.2 is wrong, as main.go says.",
			"The limit in v1.2 is wrong, as main.go says.",
		},
		{"another script", "先にファイルを見る。接続は一分で切れる。", "接続は一分で切れる。"},
		{"nothing was said", NoReasoning + " It was asked: Fix it. And test it.", NoReasoning +
			" It was asked: Fix it. And test it."},
		{"signs only", "…", "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := spoken
			r.Why = c.why
			if r.Headline() != c.want {
				t.Errorf("Headline = %q, want %q", r.Headline(), c.want)
			}
		})
	}
	written := Record{ID: "0123456789abcdef", Why: " One connection per shard.\nThe proxy drops idle ones. "}
	if got, want := written.Headline(), "One connection per shard."; got != want {
		t.Errorf("Headline of what was written = %q, want %q", got, want)
	}
}

func TestReasoning(t *testing.T) {
	spoken := Record{ID: "t0123456789abcdef", SourceRef: "claude-code toolu_1"}
	for _, c := range []struct{ why, want string }{
		{
			"Let me look at the file before changing it.\n\nThe proxy drops idle connections. Its limit is a minute.",
			"The proxy drops idle connections. Its limit is a minute.",
		},
		{
			"Check that it builds. Now let me see.\nGet fails when the pool is empty. Let me fix that now:",
			"Get fails when the pool is empty.",
		},
		{"Let me look.\n\nNow let me edit it.", "Let me look.\n\nNow let me edit it."},
		{
			"Let me see:\n\n- the buffer is one too small\n- **Close** does not wait",
			"- the buffer is one too small\n- **Close** does not wait",
		},
		{
			"```go\nLet me look.\n```\nLet me look. The head comes first.",
			"```go\nLet me look.\n```\nLet me look. The head comes first.",
		},
		{NoReasoning + " It was asked: Fix it.", NoReasoning + " It was asked: Fix it."},
		{"", ""},
	} {
		r := spoken
		r.Why = c.why
		if r.Reasoning() != c.want {
			t.Errorf("Reasoning of %q = %q, want %q", c.why, r.Reasoning(), c.want)
		}
	}
	if written := (Record{Why: "Let me be brief: no."}); written.Reasoning() != written.Why {
		t.Errorf("Reasoning of what was written = %q, want all of it", written.Reasoning())
	}
}
