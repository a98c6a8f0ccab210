// This file tests which facts about its callers a door records. A door is a way to call the memory, such as MCP or
// HTTP.

package rights

import (
	"fmt"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func TestClaim(t *testing.T) {
	for in, want := range map[string]string{
		"claude-code 2.1":          "claude-code 2.1",
		"evil\n\x1b[31m\u202ename": "evil[31mname",
		"":                         "",
		strings.Repeat("é", 100):   strings.Repeat("é", 64),
	} {
		if got := shortenClaim(in); got != want {
			t.Errorf("claim(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestStamp tests the source that ContextWithSource gives to a call. All calls of a session must have the same record
// of the entries that the session was shown. The source contains only a digest of the session's ID. A call without an
// ID gets RunID as its session, with the token's name before it. If there are more than maxSeenSessions sessions, the
// oldest record must be dropped.
func TestStamp(t *testing.T) {
	d := &AgentInterface{InterfaceName: "http", RunID: "run1", MergesWithShownEntries: true}
	w := &verb.Workspace{Source: oxbow.Source{Profile: "p", Actor: oxbow.Person}}
	ctx := d.ContextWithSource(t.Context(), w, "secret id", " client 1\n")
	src, _ := oxbow.SourceFrom(ctx)
	if src.Door != "http" || src.Actor != oxbow.Agent || src.Profile != "p" || src.Claimed.Client != "client 1" ||
		len(src.Session) != 16 {
		t.Errorf("the source is %+v", src)
	}
	same, other := d.ContextWithSource(
		t.Context(),
		w,
		"secret id",
		"client 1",
	), d.ContextWithSource(
		t.Context(),
		w,
		"",
		"client 1",
	)
	if a, b := verb.ContextSeenEntries(ctx, nil), verb.ContextSeenEntries(same, nil); a == nil || a != b {
		t.Errorf("two calls of a session know %p and %p", a, b)
	}
	if src, _ := oxbow.SourceFrom(other); src.Session != "run1" ||
		verb.ContextSeenEntries(other, nil) == verb.ContextSeenEntries(ctx, nil) {
		t.Errorf("a call without a session is of %+v, and knows what another does", src)
	}
	d.TokenName = "ada"
	if src, _ := oxbow.SourceFrom(d.ContextWithSource(t.Context(), w, "", "")); src.Session != "ada:run1" {
		t.Errorf("a call with a token is of session %q, want ada:run1", src.Session)
	}
	d.TokenName = ""
	for i := range maxSeenSessions {
		d.ContextWithSource(t.Context(), w, fmt.Sprint(i), "")
	}
	if len(d.sessionEntries) != maxSeenSessions || verb.ContextSeenEntries(
		d.ContextWithSource(t.Context(), w, "secret id", "client 1"),
		nil,
	) == verb.ContextSeenEntries(ctx, nil) {
		t.Errorf("%d sessions are known; want the oldest forgotten", len(d.sessionEntries))
	}
}
