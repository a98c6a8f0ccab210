// Doors: who makes a change that comes in over a server, and what its session was
// shown.

package view

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// Door is one way in to a [View], over which agents call. It must not be copied.
type Door struct {
	Name string // as [oxbow.Source] says it, such as "http"
	Run  string // random id of this run, the session of calls that name none
	// Token is the name of the token that all calls carried, "" for a lone one.
	Token string
	// Merge is true in a home without a history, where a change is compared with what
	// its session was shown.
	Merge bool

	mu     sync.Mutex // guards the following
	seen   map[string]*verb.Seen
	recent []string // the sessions in seen, the newest last
}

// Stamp returns the context of a call on the workspace: door, actor and session are
// the server's to say, the client's name is its own claim. The session begins with the
// name of the token and a colon. Of its id, which may be "", only a digest is kept: a
// client that knows the id may speak in it.
func (d *Door) Stamp(ctx context.Context, w *verb.Workspace, session, client string) context.Context {
	src := w.Source
	src.Door = d.Name
	src.Actor = oxbow.Agent
	src.Session = d.Run
	if session != "" {
		sum := sha256.Sum256([]byte(session))
		src.Session = hex.EncodeToString(sum[:8])
	}
	if d.Token != "" {
		src.Session = text.Clip(d.Token, 100) + ":" + src.Session
	}
	src.Claimed.Client = claim(client)
	seen := d.seenBy(src.Session+" "+src.Claimed.Client, w.Written)
	ctx = verb.WithLedger(ctx, seen)
	if d.Merge {
		ctx = verb.WithSeen(ctx, seen)
	}
	return oxbow.WithSource(ctx, src)
}

// maxSessions is the most sessions of which it is known what they were shown.
const maxSessions = 64

// seenBy returns what a session was shown. Requests without a session are one
// session for each token and client name.
func (d *Door) seenBy(session string, w *verb.Written) *verb.Seen {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.recent, session); i >= 0 {
		d.recent = append(slices.Delete(d.recent, i, i+1), session)
		return d.seen[session]
	}
	if d.seen == nil {
		d.seen = map[string]*verb.Seen{}
	}
	if len(d.recent) == maxSessions {
		delete(d.seen, d.recent[0])
		d.recent = d.recent[1:]
	}
	d.recent, d.seen[session] = append(d.recent, session), verb.NewSeen(w)
	return d.seen[session]
}

// maxClaim is the most bytes kept of what a client says of itself.
const maxClaim = 128

// claim makes a client's word fit for the log: short, on one line.
func claim(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(strings.TrimSpace(s), ""))
	return text.Cut(s, maxClaim)
}
