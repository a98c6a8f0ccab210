// This file implements doors, which record the author of a change that arrives at a server and what
// its session was shown.

package rights

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

// Door is a way for agents to reach a [View]. It must not be copied.
type Door struct {
	Name string // name in [oxbow.Source], such as "http"
	Run  string // random id of this run, used as session for calls that name no session
	// Token is the name of the token for all calls, or "" if the server has a single unnamed token.
	Token string
	// Merge is set if the home does not keep a history. A change is then compared with the entries
	// that the session was shown.
	Merge bool

	mu     sync.Mutex // guards the following
	seen   map[string]*verb.SeenEntries
	recent []string // sessions in seen, newest last
}

// Stamp returns a call's context. The server determines the door, the actor and the session, and
// the client only claims its name. The session is a digest of the client's session id, or d.Run if
// the id is "". If the call has a token, the session begins with the token's name and a colon. Only
// a digest is stored, because knowing the id allows a client to act in the session.
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
	src.Claimed.Client = shortenClaim(client)
	seen := d.seenBy(src.Session+" "+src.Claimed.Client, w.Written)
	ctx = verb.WithLedger(ctx, seen)
	if d.Merge {
		ctx = verb.WithSeen(ctx, seen)
	}
	return oxbow.WithSource(ctx, src)
}

// maxSessions is the maximum number of sessions whose shown entries are kept.
const maxSessions = 64

// seenBy returns the entries that a session was shown. Requests without a session count as a
// session for each token and client name.
func (d *Door) seenBy(session string, w *verb.Written) *verb.SeenEntries {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.recent, session); i >= 0 {
		d.recent = append(slices.Delete(d.recent, i, i+1), session)
		return d.seen[session]
	}
	if d.seen == nil {
		d.seen = map[string]*verb.SeenEntries{}
	}
	if len(d.recent) == maxSessions {
		delete(d.seen, d.recent[0])
		d.recent = d.recent[1:]
	}
	d.recent, d.seen[session] = append(d.recent, session), verb.NewSeen(w)
	return d.seen[session]
}

// maxClaim is the maximum length of a client's claim about itself, in bytes.
const maxClaim = 128

// shortenClaim shortens a client's claim and puts it on a single line, for the log.
func shortenClaim(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(strings.TrimSpace(s), ""))
	return text.CutPrefix(s, maxClaim)
}
