// This file implements doors. A door records the author of each change that arrives at a server, and the entries that
// each session was shown.

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

// An AgentInterface is a way in which agents can reach a [MemoryView]. It must not be copied.
type AgentInterface struct {
	// name of the interface through which agents call oxbow, such as "http". It is recorded in the source of each
	// change ([oxbow.Source]).
	InterfaceName string
	RunID         string // random ID of this run, which is used as the session in calls that specify no session
	// TokenName is the name of the token that is used for all calls. It is "" if the server has a single token without
	// a name.
	TokenName string
	// MergesWithShownEntries is true if the home, the directory of the memory, does not have a history. The door then
	// keeps, for each session, the entries that the session was shown. A change is compared with these entries, so that
	// a session does not overwrite changes by another session.
	MergesWithShownEntries bool

	mu             sync.Mutex // guards the following fields
	sessionEntries map[string]*verb.SeenEntries
	recentSessions []string // sessions in sessionEntries (the newest is last)
}

// ContextWithSource returns ctx with the source that is stored with each change of this call. The source consists of
// these facts:
//   - Door is the interface through which the call came. Actor is always an agent.
//   - Session is a digest of the parameter session, which is the client's session ID. If session is "", Session is
//     d.RunID. If d.TokenName is not empty, this name and a colon are put in front. The session ID itself is not
//     stored, because anyone who knows it can make calls in the session.
//   - Claimed.Client is the parameter client, which is only the client's own claim. The server determines all other
//     facts itself.
//
// The returned context also contains the set of entries that were already shown in this session.
func (d *AgentInterface) ContextWithSource(
	ctx context.Context,
	w *verb.Workspace,
	session, client string,
) context.Context {
	src := w.Source
	src.Door = d.InterfaceName
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
	ctx = verb.WithShownTexts(ctx, seen)
	if d.MergesWithShownEntries {
		ctx = verb.WithSeenEntries(ctx, seen)
	}
	return oxbow.WithSource(ctx, src)
}

// maxSeenSessions is the maximum number of sessions for which an interface remembers the entries that the session was
// shown.
const maxSeenSessions = 64

// sessionSeenEntries returns the set of entries that were shown to a session. The argument session is the key of the
// session and its client. If the session is new, sessionSeenEntries creates an empty set for it. The new set records
// the texts that tools write in writtenTexts. If there are already maxSeenSessions sessions, sessionSeenEntries first
// deletes the set of the session that was not used for the longest time.
func (d *AgentInterface) sessionSeenEntries(session string, writtenTexts *verb.WrittenTexts) *verb.SeenEntries {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.recentSessions, session); i >= 0 {
		d.recentSessions = append(slices.Delete(d.recentSessions, i, i+1), session)
		return d.sessionEntries[session]
	}
	if d.sessionEntries == nil {
		d.sessionEntries = map[string]*verb.SeenEntries{}
	}
	if len(d.recentSessions) == maxSeenSessions {
		delete(d.sessionEntries, d.recentSessions[0])
		d.recentSessions = d.recentSessions[1:]
	}
	d.recentSessions, d.sessionEntries[session] = append(d.recentSessions, session), verb.NewSeenEntries(writtenTexts)
	return d.sessionEntries[session]
}

// maxClientClaimBytes is the maximum length of a client's claim about itself, in bytes.
const maxClientClaimBytes = 128

// shortenClaim shortens the claim of a client and puts it on a single line, so that the claim can be logged.
func shortenClaim(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(strings.TrimSpace(s), ""))
	return text.TruncateBytes(s, maxClientClaimBytes)
}
