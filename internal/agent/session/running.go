// This file finds the session that called oxbow's server. It also finds the text by others that this session has read
// since the person's last prompt.

package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Caller describes who called a server. The client reports all fields except Dir, so these fields cannot be trusted.
// Each field may be "".
type Caller struct {
	Client  string // the client's name, as in the command oxbow setup ("" for an unknown client)
	Session string // the client's session ID
	Call    string // the client's call ID
	Dir     string // the working directory

	// paths of the agent's own files, one on each line (a session that reads them has not read text by others)
	OwnFilePaths string
}

// These limits apply to the data that is read to answer a call.
const (
	maxRunningSessions = 16 // maximum number of sessions
	// A session counts as running until this time has passed after the last event of its hooks.
	maxTimeSinceLastEvent = 12 * time.Hour
	maxSpoolTailBytes     = 1 << 20 // maximum number of bytes that are read from the end of a file with hook events
	// Maximum number of bytes at a transcript's end in which the ID of the tool call is searched.
	maxTranscriptTailBytes = 128 << 10
)

// Exposure describes which texts the model of a session has seen.
type Exposure struct {
	IsReportedByHooks bool // The client's hooks report the session.
	// Calls since the person's last prompt that returned text by others, if no fingerprints of the text are stored.
	CallsWithoutFingerprints []string
	// calls since the person's last prompt that returned text by others, such as a web page
	ForeignTextCalls []string
	// entries that hooks inserted into the model's context, according to the hooks' last events
	ShownTexts []ShownText
	// last passed test or last commit since the prompt ("" if neither exists, or if a file was written later)
	LastTestOrCommit        string
	FilesBeforeTestOrCommit []string // paths of the files that were written before the command in LastTestOrCommit ran
}

// ShownText is an entry that a hook showed to a model, with the text that the model saw.
type ShownText struct {
	ShownEntry
	Text string
}

// FindTextsSeenBySession returns the texts that the model in the calling session has seen. The argument c describes the
// caller. If c does not name the session, FindTextsSeenBySession searches for the call ID in c in the hook events and
// transcripts of the sessions. If it finds no session, the result combines all sessions that run in the caller's
// directory. If the directory is unknown, the result is empty.
//
// FindTextsSeenBySession calls openArchive if the hook events contain no prompt of the session, because earlier events
// may have been moved into the archive.
func (s Spool) FindTextsSeenBySession(
	ctx context.Context,
	c Caller,
	openArchive func(context.Context) (*Archive, error),
	now time.Time,
) (x Exposure, err error) {
	// Read the spool first, because openArchive moves the spool's events into the archive.
	all := s.runningSessions(now)
	chosen := c.findSessionsByIDOrCall(all)
	if len(chosen) == 0 || !slices.ContainsFunc(chosen[0].events, isMainAgentPrompt) {
		a, err := openArchive(ctx)
		if err != nil {
			return x, err
		}
		// Create a new Archive with only the Memory. The functions in all other fields of the opened Archive, such as
		// Redact, may not be safe for concurrent use.
		chosen, err = (&Archive{Memory: a.Memory}).callerSessions(ctx, c, all, now)
		if err != nil {
			return x, err
		}
	}
	if len(chosen) == 1 {
		x.LastTestOrCommit, x.FilesBeforeTestOrCommit = findLastTestOrCommit(chosen[0].eventsSincePrompt())
	}
	x.IsReportedByHooks = len(chosen) > 0
	for _, r := range chosen {
		since := r.eventsSincePrompt()
		if !s.FingerprintFile(func() time.Time { return now }).HasAllIDs(findForeignFingerprintIDs(since)...) {
			since = removeTraceIDs(since)
		}
		turn := Turn{Events: since}
		x.ForeignTextCalls = appendMissingTexts(x.ForeignTextCalls, turn.ForeignTextCalls()...)
		x.CallsWithoutFingerprints = appendMissingTexts(
			x.CallsWithoutFingerprints,
			unfingerprintedCalls(since, r.dir, strings.Split(c.OwnFilePaths, "\n")...)...)
		for _, e := range r.events {
			if e.Kind != KindInjection || e.Injection == nil {
				continue
			}
			for _, s := range e.Injection.ShownEntries {
				x.ShownTexts = append(x.ShownTexts, ShownText{s, e.textAboutEntry(s)})
			}
		}
	}
	return x, nil
}

// FingerprintFile returns the file with the fingerprints of the texts that this home's sessions have read.
func (s Spool) FingerprintFile(now func() time.Time) fingerprint.Store {
	return fingerprint.Store{Dir: s.Dir, Now: now}
}

// removeTraceIDs returns a copy of the events in which no TextSource has a TraceID. It is used if the fingerprints
// that the TraceIDs identify are lost.
func removeTraceIDs(events []Event) []Event {
	events = slices.Clone(events)
	for i, e := range events {
		if e.Call != nil && e.Call.ResultTextSource != nil {
			c, r := *e.Call, *e.Call.ResultTextSource
			r.TraceID, c.ResultTextSource, events[i].Call = "", &r, &c
		}
	}
	return events
}

// callerSessions returns the sessions that may have made the call that c describes. It searches spooledSessions, which
// contains the sessions whose hook events are not in the archive yet, and recent sessions in the archive.
//
// If c contains the ID of a session or of a call, and sessions with this ID are found, callerSessions returns only
// these. Otherwise it returns each session whose directory is c.Dir, is above or below c.Dir, or is not known. If
// c.Client is not "", the session must also belong to this client. If c.Dir is "", no session is returned.
func (a *Archive) callerSessions(
	ctx context.Context,
	c Caller,
	spooledSessions []runningSession,
	now time.Time,
) ([]runningSession, error) {
	spooledSessions, err := a.addArchivedSessions(ctx, spooledSessions, now)
	if err != nil {
		return nil, err
	}
	for i := range spooledSessions {
		if err := spooledSessions[i].prependArchivedTurn(ctx, a); err != nil {
			return nil, err
		}
	}
	if chosen := c.findSessionsByIDOrCall(spooledSessions); len(chosen) > 0 || c.Dir == "" {
		return chosen, nil
	}
	return filterSessions(spooledSessions, func(r *runningSession) bool {
		return (c.Client == "" || r.client == c.Client) &&
			(r.dir == "" || isSameOrBelow(c.Dir, r.dir) || isSameOrBelow(r.dir, c.Dir))
	}), nil
}

// findSessionsByIDOrCall searches the list all. It returns the sessions whose ID is c.Session. If c.Session is "" or no
// session has this ID, it returns the sessions that contain the call with the ID c.Call. It returns no sessions if
// c.Call is "" as well.
func (c *Caller) findSessionsByIDOrCall(all []runningSession) []runningSession {
	if c.Session != "" {
		if named := filterSessions(all, func(r *runningSession) bool { return r.sessionID == c.Session }); len(
			named,
		) > 0 {
			return named
		}
	}
	if c.Call == "" {
		return nil
	}
	return filterSessions(all, func(r *runningSession) bool { return r.hasCallID(c.Call) })
}

func filterSessions(all []runningSession, isWanted func(*runningSession) bool) (wantedSessions []runningSession) {
	for i := range all {
		if isWanted(&all[i]) {
			wantedSessions = append(wantedSessions, all[i])
		}
	}
	return wantedSessions
}

// prependArchivedTurn adds the session's last archived turn before the events that are not archived yet. It adds
// nothing if these events already contain a prompt to the main agent.
func (r *runningSession) prependArchivedTurn(ctx context.Context, a *Archive) error {
	if slices.ContainsFunc(r.events, isMainAgentPrompt) {
		return nil
	}
	turns, err := a.ReadTurnsFrom(ctx, r.client, r.sessionID, 0)
	if err != nil || len(turns) == 0 {
		return err
	}
	r.events = slices.Concat(turns[0].Events, r.events)
	for _, e := range r.events {
		r.transcriptPath = cmp.Or(e.TranscriptPath, r.transcriptPath)
		if e.ID != "" {
			r.spoolTail = append(append(r.spoolTail, e.ID...), '\n')
		}
	}
	return nil
}

// eventsSincePrompt returns the events from the person's last prompt on. Without a prompt, it returns all events.
func (r *runningSession) eventsSincePrompt() []Event {
	for i := len(r.events) - 1; i >= 0; i-- {
		if isMainAgentPrompt(r.events[i]) {
			return r.events[i:]
		}
	}
	return r.events
}

// addArchivedSessions returns the list all, extended by recent sessions from the archive. It examines the
// maxRunningSessions sessions that were changed last. It appends a session if the session was changed at most
// maxTimeSinceLastEvent before the time now, and is not in the list yet.
func (a *Archive) addArchivedSessions(
	ctx context.Context,
	all []runningSession,
	now time.Time,
) ([]runningSession, error) {
	// Because the query has no text, Recall returns the sessions with the latest changes.
	hits, err := a.Memory.Recall(
		ctx,
		oxbow.Query{Limit: maxRunningSessions, Filter: SessionFilter},
	)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		var s Summary
		if now.Sub(h.Entry.Updated) > maxTimeSinceLastEvent || json.Unmarshal([]byte(h.Entry.Content), &s) != nil {
			continue
		}
		if !slices.ContainsFunc(
			all,
			func(r runningSession) bool { return r.client == s.Client && r.sessionID == s.Session },
		) {
			all = append(all, runningSession{client: s.Client, sessionID: s.Session, dir: s.Dir})
		}
	}
	return all, nil
}

func isMainAgentPrompt(e Event) bool { return e.Kind == KindPrompt && e.SubAgent == "" }

// runningSession is a session whose client has sent a report recently.
type runningSession struct {
	client, sessionID, dir, transcriptPath string
	events                                 []Event
	spoolTail                              []byte
}

// hasCallID reports whether the spool or the transcript's end contains the call ID. An ID of fewer than 6 bytes is
// never found.
func (r *runningSession) hasCallID(callID string) bool {
	if len(callID) < 6 { // A short ID may occur by chance in another session's events.
		return false
	}
	return bytes.Contains(r.spoolTail, []byte(callID)) ||
		(r.transcriptPath != "" && bytes.Contains(readTail(r.transcriptPath, maxTranscriptTailBytes), []byte(callID)))
}

// runningSessions returns the sessions for which a hook wrote events within maxTimeSinceLastEvent, latest first. It
// returns at most maxRunningSessions. A session whose events were all moved into the archive is missing.
func (s Spool) runningSessions(now time.Time) (sessions []runningSession) {
	files, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil
	}
	type recent struct {
		name string
		time time.Time
	}
	var names []recent
	for _, f := range files {
		fi, err := f.Info()
		if err != nil || !fi.Mode().IsRegular() {
			continue
		}
		if strings.HasSuffix(f.Name(), spoolSuffix) && now.Sub(fi.ModTime()) < maxTimeSinceLastEvent {
			names = append(names, recent{f.Name(), fi.ModTime()})
		}
	}
	slices.SortFunc(names, func(a, b recent) int {
		return cmp.Or(b.time.Compare(a.time), strings.Compare(a.name, b.name))
	})
	for _, n := range names[:min(len(names), maxRunningSessions)] {
		name := filepath.Join(s.Dir, n.name)
		r := runningSession{
			spoolTail: slices.Concat(
				readTail(name+movedSpoolFileSuffix, maxSpoolTailBytes),
				[]byte{'\n'},
				readTail(name, maxSpoolTailBytes),
			),
		}
		r.events, _ = parseEvents(r.spoolTail)
		r.spoolTail = withoutInjections(r.spoolTail)
		for _, e := range r.events {
			r.client, r.sessionID = e.Client, e.Session
			r.dir, r.transcriptPath = cmp.Or(e.Dir, r.dir), cmp.Or(e.TranscriptPath, r.transcriptPath)
		}
		if len(r.events) > 0 {
			sessions = append(sessions, r)
		}
	}
	return sessions
}

// withoutInjections returns the hook events of a session without the lines that record an inserted text, because an
// inserted text may contain call IDs of other sessions. Each line of b contains one event.
func withoutInjections(b []byte) (rest []byte) {
	for line := range bytes.Lines(b) {
		if !bytes.Contains(line, []byte(`"kind":"`+KindInjection+`"`)) {
			rest = append(rest, line...)
		}
	}
	return rest
}

// maxFailureSearchBytes is the number of bytes at a spool file's end that are searched for the last failure.
const maxFailureSearchBytes = 64 << 10

// LastFailure returns the signature of the last failed command's error in a session. It returns "" if no command has
// failed since the last prompt or the last write to a file, or if the same command has passed since.
func (s Spool) LastFailure(client, session string) string {
	events, _ := parseEvents(readTail(s.FilePath(client, session), maxFailureSearchBytes))
	passed := map[string]bool{}
	for _, e := range slices.Backward(events) {
		c := e.Call
		switch {
		case isMainAgentPrompt(e) || (c != nil && len(c.WrittenFiles) > 0):
			return ""
		case c == nil || c.Command == "" || e.SubAgent != "" || passed[c.Command]:
		case c.Failed || (c.ExitStatus != nil && *c.ExitStatus != 0):
			return FailureSignature(c.Output)
		default:
			passed[c.Command] = true
		}
	}
	return ""
}

// readTail returns the last maxBytes bytes of a file, or nil if the file cannot be read.
func readTail(name string, maxBytes int64) []byte {
	f, err := vfs.OpenRegular(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil
	}
	b := make([]byte, min(fi.Size(), maxBytes))
	n, _ := f.ReadAt(b, fi.Size()-int64(len(b)))
	return b[:n]
}

// isSameOrBelow reports whether the directory dir is the same as the directory other, or is below it. The case of
// letters is ignored if other contains a colon, as in the Windows path C:/src.
func isSameOrBelow(dir, other string) bool {
	dir, other = replaceBackslashes(dir), strings.TrimSuffix(replaceBackslashes(other), "/")
	rest, ok := cutPrefixFold(dir, other, strings.Contains(other, ":"))
	return ok && (rest == "" || rest[0] == '/')
}

// ParseRequestCaller returns the caller of an MCP request, as far as the client's name and the request's metadata show
// it.
func ParseRequestCaller(clientName string, meta map[string]any) Caller {
	var c Caller
	name := strings.ToLower(clientName)
	for _, known := range clientfile.EventClients {
		if known.HasHooks() && matchesMCPName(name, known) {
			c.Client = known.Name
		}
	}
	get := func(keys ...string) string {
		for _, k := range keys {
			if s, ok := meta[k].(string); ok && s != "" {
				return toShortLine(s, maxIDOrNameBytes)
			}
		}
		return ""
	}
	c.Session = get("sessionId", "session_id")
	c.Call = get("claudecode/toolUseId", "callId", "call_id")
	if turn, ok := meta["x-codex-turn-metadata"].(string); ok && c.Session == "" {
		var m struct {
			Session string `json:"session_id"`
		}
		if json.Unmarshal([]byte(turn), &m) == nil {
			c.Session = toShortLine(m.Session, maxIDOrNameBytes)
		}
	}
	return c
}

// matchesMCPName reports whether the client c may have connected to an MCP server under the given name, which must be
// in lower case. The result is true if the name begins with c.Name, or with the client's MCPClientPrefix if this prefix
// is not empty.
func matchesMCPName(name string, c clientfile.EventClient) bool {
	return strings.HasPrefix(name, c.Name) ||
		(c.Hook.MCPClientPrefix != "" && strings.HasPrefix(name, c.Hook.MCPClientPrefix))
}
