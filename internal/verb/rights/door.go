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

// AgentDoor is a way for agents to reach a [MemoryView]. It must not be copied.
type AgentDoor struct {
	DoorName string // name in [oxbow.Source], such as "http"
	RunID    string // random id of this run, used as session for calls that name no session
	// TokenName is the name of the token for all calls, or "" if the server has a single unnamed token.
	TokenName string
	// MergeChanges is set if the home does not keep a history. A change is then compared with the entries
	// that the session was shown.
	MergeChanges bool

	mu             sync.Mutex // guards the following
	sessionEntries map[string]*verb.SeenEntries
	recentSessions []string // sessions in seen, newest last
}

// StampContext returns a call's context. The server determines the door, the actor and the session, and
// the client only claims its name. The session is a digest of the client's session id, or d.RunID if
// the id is "". If the call has a token, the session begins with the token's name and a colon. Only
// a digest is stored, because knowing the id allows a client to act in the session.
func (d *AgentDoor) StampContext(ctx context.Context, w *verb.Workspace, session, client string) context.Context {
	src := w.Source
	src.Door = d.DoorName
	src.Actor = oxbow.Agent
	src.Session = d.RunID
	if session != "" {
		sum := sha256.Sum256([]byte(session))
		src.Session = hex.EncodeToString(sum[:8])
	}
	if d.TokenName != "" {
		src.Session = text.TruncateWithEllipsis(d.TokenName, 100) + ":" + src.Session
	}
	src.Claimed.Client = shortenClaim(client)
	seen := d.sessionSeenEntries(src.Session+" "+src.Claimed.Client, w.Written)
	ctx = verb.WithLedger(ctx, seen)
	if d.MergeChanges {
		ctx = verb.WithSeenEntries(ctx, seen)
	}
	return oxbow.WithSource(ctx, src)
}

// maxSessions is the maximum number of sessions whose shown entries are kept.
const maxSessions = 64

// sessionSeenEntries returns the entries that a session was shown. Requests without a session count as a
// session for each token and client name.
func (d *AgentDoor) sessionSeenEntries(session string, w *verb.WrittenTexts) *verb.SeenEntries {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.recentSessions, session); i >= 0 {
		d.recentSessions = append(slices.Delete(d.recentSessions, i, i+1), session)
		return d.sessionEntries[session]
	}
	if d.sessionEntries == nil {
		d.sessionEntries = map[string]*verb.SeenEntries{}
	}
	if len(d.recentSessions) == maxSessions {
		delete(d.sessionEntries, d.recentSessions[0])
		d.recentSessions = d.recentSessions[1:]
	}
	d.recentSessions, d.sessionEntries[session] = append(d.recentSessions, session), verb.NewSeenEntries(w)
	return d.sessionEntries[session]
}

// maxClaimBytes is the maximum length of a client's claim about itself, in bytes.
const maxClaimBytes = 128

// shortenClaim shortens a client's claim and puts it on a single line, for the log.
func shortenClaim(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(strings.TrimSpace(s), ""))
	return text.TruncateBytes(s, maxClaimBytes)
}
