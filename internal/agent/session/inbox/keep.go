// This file stores proposals, fixes and commands as entries of the session archive.
//
// A proposal is an entry named proposal/ID, with the proposed sentence as its content. Its labels "from" name the turns
// that contain the sentence. Its label "proposal" contains the state.
//
// A fix is an entry named fix/ID. The commands of a project are stored in two entries, runs/ID and runs/ID/recent. The
// entry cursor/inbox records the archive version up to which sessions were examined.

package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// These are the states of a proposal.
const (
	ProposalStateOpen     = "open"
	ProposalStateAccepted = "accepted"
	ProposalStateDropped  = "dropped"

	// ProposalStateUndone is the state of an accepted proposal whose note was removed by an undo. A person must then
	// decide about the proposal again. The archive still stores the proposal as accepted.
	ProposalStateUndone = "undone"
)

// labelSourceTurn is the key of the labels that name the turns from which an entry was made.
const labelSourceTurn = "from"

const (
	labelProposalState   = "proposal"
	labelNoteName        = "note" // key of the label that names the note made from a proposal
	labelReason          = "why"
	inboxCursorEntryName = "cursor/inbox"

	maxTurnsPerProposal    = 16  // maximum number of turns that a proposal lists
	maxFilesPerCorrection  = 8   // maximum number of files that are stored with a sentence that corrects the agent
	maxCountedCommands     = 300 // maximum number of commands that are counted for a project
	minSessionsWithSuccess = 3   // FindRepeatedCommands returns a command only if it has passed in this many sessions.
)

// TurnLabels returns labels for a turn:
//
//   - the label concluded:yes, if the agent drew conclusions in the turn
//   - a label with the key oxbow.LabelTaint for each tool call through which text by others may have come into the turn
//   - a label with the key oxbow.LabelUnvouched for each call of an unknown program whose output the turn repeats
//
// The field MakeLabels of [session.Archive] can be set to TurnLabels.
func TurnLabels(t *session.Turn) []oxbow.Label {
	var ls []oxbow.Label
	if len(extract.FindConclusions(t.AgentText())) > 0 {
		ls = append(ls, oxbow.Label{Key: "concluded", Value: "yes"})
	}
	for _, v := range t.DescribeTaintingCalls() {
		ls = append(ls, oxbow.Label{Key: oxbow.LabelTaint, Value: v})
	}
	for _, v := range t.UnknownProgramCalls() {
		ls = append(ls, oxbow.Label{Key: oxbow.LabelUnvouched, Value: v})
	}
	return ls
}

// UpdateProposals examines all sessions that changed since the last call, and returns how many there were. Examining a
// session again changes nothing.
func UpdateProposals(ctx context.Context, a *session.Archive) (int, error) {
	var at struct {
		Version uint64 `json:"version"`
	}
	if e, err := a.Memory.Store().Get(ctx, inboxCursorEntryName); err == nil {
		if err := json.Unmarshal([]byte(e.Content), &at); err != nil {
			return 0, fmt.Errorf("reading %s: %w", inboxCursorEntryName, err)
		}
	} else if !errors.Is(err, oxbow.ErrNotFound) {
		return 0, err
	}
	heads, last, err := changedSessions(ctx, a.Memory, at.Version)
	if err != nil {
		return 0, err
	}
	// Examine the oldest sessions first. After every 20 sessions and after the last session, store the version up to
	// which all sessions were examined. If the loop is interrupted, the next call continues there.
	for i, h := range heads {
		if err := StoreLessons(
			ctx,
			a,
			session.ChangedSession{Client: h.Client, Session: h.Session, Project: h.Project, FirstChangedTurn: 1},
		); err != nil {
			return i, err
		}
		if i%20 == 19 || i == len(heads)-1 {
			if err := storeInboxCursor(ctx, a.Memory, h.version); err != nil {
				return i, err
			}
		}
	}
	if last > at.Version {
		return len(heads), storeInboxCursor(ctx, a.Memory, last)
	}
	return len(heads), nil
}

// storeInboxCursor records that all sessions were examined for lessons, up to this version of the session archive.
func storeInboxCursor(ctx context.Context, m *oxbow.Memory, version uint64) error {
	// Ignore the error: a map of numbers can always be encoded.
	b, _ := json.Marshal(map[string]uint64{"version": version})
	return putEntry(ctx, m, oxbow.Entry{
		Name:    inboxCursorEntryName,
		Content: string(b),
		Labels:  []oxbow.Label{{Key: "cursor", Value: "inbox"}},
	})
}

// versionedSummary is a session's summary with the version of its entry.
type versionedSummary struct {
	version uint64
	session.Summary
}

// changedSessions returns the summaries of the sessions that changed after a given change, oldest first. The argument
// afterSeq is the number of that change. Usually changedSessions reads only the later changes, and newestSeq is 0. If
// there are more than maxReadChanges later changes, it reads the summaries of all sessions instead. Then newestSeq is
// the number of the newest change, and the caller must set the cursor to newestSeq.
func changedSessions(ctx context.Context, m *oxbow.Memory, afterSeq uint64) (
	heads []versionedSummary,
	newestSeq uint64,
	err error,
) {
	names, newest, isComplete, err := sessionsWrittenSince(ctx, m, afterSeq)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range names {
		e, err := m.Store().Get(ctx, name)
		if err != nil && !errors.Is(err, oxbow.ErrNotFound) {
			return nil, 0, err
		}
		if err == nil {
			heads = appendSummary(heads, &e)
		}
	}
	if !isComplete {
		newestSeq, heads = newest, nil
		for e, err := range m.Entries(ctx, session.SessionFilter) {
			if err != nil {
				return nil, 0, err
			}
			if e.Version > afterSeq {
				heads = appendSummary(heads, &e)
			}
		}
	}
	slices.SortFunc(heads, func(a, b versionedSummary) int { return cmp.Compare(a.version, b.version) })
	return heads, newestSeq, nil
}

// maxReadChanges is the maximum number of changes that [sessionsWrittenSince] reads.
const maxReadChanges = 256

// sessionsWrittenSince reads the changes that are newer than the change with the number afterSeq. names contains the
// names of the sessions that these changes wrote. newest is the number of the newest change in the log, or 0 if the log
// is empty.
//
// isComplete is false if names may lack sessions. This happens if more than maxReadChanges changes are newer than
// afterSeq. It also happens if the oldest change in the log is newer than afterSeq, because earlier changes were
// dropped.
func sessionsWrittenSince(ctx context.Context, m *oxbow.Memory, afterSeq uint64) (
	names []string,
	newest uint64,
	isComplete bool,
	err error,
) {
	walked := 0
	for c, err := range m.Log(ctx) {
		if err != nil {
			return nil, 0, false, err
		}
		newest = max(newest, c.Seq)
		if c.Seq <= afterSeq {
			return names, newest, true, nil
		}
		walked++
		if walked > maxReadChanges {
			break
		}
		for _, v := range c.Versions {
			if session.SessionFilter.Match(&v.Entry) && !slices.Contains(names, v.Entry.Name) {
				names = append(names, v.Entry.Name)
			}
		}
	}
	return names, newest, newest == 0, nil
}

// appendSummary decodes the session summary in an entry and appends it. An entry without a summary is ignored.
func appendSummary(summaries []versionedSummary, e *oxbow.Entry) []versionedSummary {
	var s session.Summary
	if json.Unmarshal([]byte(e.Content), &s) != nil {
		return summaries
	}
	return append(summaries, versionedSummary{e.Version, s})
}

// putEntry adds or updates an entry. If the entry already has this content and these labels, it changes nothing.
func putEntry(ctx context.Context, m *oxbow.Memory, e oxbow.Entry) error {
	return m.Edit(ctx, e.Name, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		labels := oxbow.SortLabels(e.Labels)
		switch {
		case !found:
			return oxbow.Add{Name: e.Name, Kind: oxbow.History, Content: e.Content, Labels: labels,
				Created: e.Created}, nil
		case old.Content == e.Content && slices.Equal(old.Labels, labels):
			return nil, nil
		}
		return oxbow.Update{Name: e.Name, Content: e.Content, Labels: labels, If: old.Version}, nil
	})
}

// turnsToReread is the number of old turns that StoreLessons reads again before a session's new turns, because a
// fix may have begun in them.
const turnsToReread = 30

// StoreLessons stores what can be learned from a session's new turns: proposals for notes, and fixes, which are the
// edits after which a failed command passed. It also reads up to turnsToReread earlier turns, because the failure of
// a fix may be in these turns. StoreLessons labels the turns whose files were reverted or corrected, and counts the
// commands that passed.
func StoreLessons(ctx context.Context, a *session.Archive, t session.ChangedSession) error {
	turns, err := a.ReadTurnsFrom(ctx, t.Client, t.Session, max(1, t.FirstChangedTurn-turnsToReread))
	if err != nil || len(turns) == 0 {
		return err
	}
	fresh := max(0, slices.IndexFunc(turns, func(u session.Turn) bool { return u.Number >= t.FirstChangedTurn }))
	for _, p := range findProposals(turns[max(0, fresh-1):]) {
		if err := storeProposal(ctx, a.Memory, &p, t.Project); err != nil {
			return err
		}
	}
	for _, f := range findFixes(turns) {
		if f.Turn.Number < t.FirstChangedTurn {
			continue
		}
		if err := storeFix(ctx, a.Memory, &f, t.Project); err != nil {
			return err
		}
	}
	if err := addTurnFileLabels(ctx, a.Memory, turns, LabelReverted, findRevertedFiles(turns)); err != nil {
		return err
	}
	if err := addTurnFileLabels(ctx, a.Memory, turns, LabelCorrectedByPerson, findCorrectedTurns(turns)); err != nil {
		return err
	}
	return storeSuccessfulCommands(ctx, a.Memory, turns[fresh:], t.Project)
}

// storeFix stores a fix as an entry, or updates the entry if the fix is already stored. The entry's labels contain the
// error, the command, the project, the turn, the edited files, and the calls that returned text by others.
func storeFix(ctx context.Context, m *oxbow.Memory, f *foundFix, project string) error {
	labels := makeLabels(
		"error",
		f.ErrorSignature,
		"cmd",
		f.Command,
		oxbow.LabelProject,
		project,
		labelSourceTurn,
		f.Turn.EntryName(),
	)
	for _, file := range f.EditedFiles {
		labels = append(labels, makeLabels(oxbow.LabelFile, file)...)
	}
	if r := f.RepeatedCallResults; r != nil {
		for _, call := range r.ForeignTextCalls {
			labels = append(labels, makeLabels(oxbow.LabelTaint, call)...)
		}
		for _, call := range r.UnvouchedTextCalls {
			labels = append(labels, makeLabels(oxbow.LabelUnvouched, call)...)
		}
	}
	return putEntry(ctx, m, oxbow.Entry{Name: "fix/" +
		f.ID(), Content: f.Text(), Labels: append(labels, makeLabels("fix", "yes")...), Created: f.Turn.StartTime})
}

// addTurnFileLabels adds the labels in turnFileLabels to the entries of the turns. Each label has the key labelKey, and
// the path of the file as its value. A turn is skipped if it already has the label, or if its entry no longer exists.
func addTurnFileLabels(
	ctx context.Context,
	m *oxbow.Memory,
	turns []session.Turn,
	labelKey string,
	turnFileLabels []turnFileLabel,
) error {
	for _, mark := range turnFileLabels {
		err := m.Edit(ctx, turns[mark.turnIndex].EntryName(), func(old oxbow.Entry, found bool) (oxbow.Op, error) {
			l := makeLabels(labelKey, mark.filePath)
			if !found || len(l) == 0 {
				return nil, nil
			}
			if slices.Contains(old.Labels, l[0]) {
				return nil, nil
			}
			return oxbow.Update{Name: old.Name, Content: old.Content, Aliases: old.Aliases,
				Labels: oxbow.SortLabels(append(slices.Clone(old.Labels), l...)), If: old.Version}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// makeLabels returns labels from pairs of keys and values. It leaves out labels that are not valid.
func makeLabels(pairs ...string) (ls []oxbow.Label) {
	for i := 0; i < len(pairs); i += 2 {
		l := oxbow.Label{
			Key:   pairs[i],
			Value: strings.TrimSpace(text.TruncateBytes(strings.Join(strings.Fields(pairs[i+1]), " "), oxbow.MaxName)),
		}
		if l.Check() == nil {
			ls = append(ls, l)
		}
	}
	return ls
}

// storeProposal stores a proposal as an entry. If an entry for the proposal already exists, whether the proposal is
// open or decided, storeProposal only adds the proposal's turn to the entry. It changes nothing if the entry already
// has this turn or has maxTurnsPerProposal turns.
func storeProposal(ctx context.Context, m *oxbow.Memory, p *noteProposal, project string) error {
	return m.Edit(ctx, "proposal/"+p.ID(), func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		from := oxbow.Label{Key: labelSourceTurn, Value: p.Turn.EntryName()}
		if found {
			if froms := old.Values(labelSourceTurn); slices.Contains(froms, from.Value) ||
				len(froms) >= maxTurnsPerProposal {
				return nil, nil
			}
			return oxbow.Update{
				Name:    old.Name,
				Content: old.Content,
				Labels:  oxbow.SortLabels(append(slices.Clone(old.Labels), from)),
				If:      old.Version,
			}, nil
		}
		labels := append(
			makeLabels(
				labelProposalState,
				ProposalStateOpen,
				labelReason,
				p.Reason,
				oxbow.LabelProject,
				project,
				"client",
				p.Turn.Client,
			),
			from,
		)
		for _, f := range p.Files[:min(len(p.Files), maxFilesPerCorrection)] {
			labels = append(labels, makeLabels(oxbow.LabelFile, f)...)
		}
		return oxbow.Add{Name: "proposal/" +
			p.ID(), Kind: oxbow.History, Content: p.Sentence, Labels: oxbow.SortLabels(labels),
			Created: p.Turn.StartTime}, nil
	})
}

// StoredProposal is a proposal as the archive stores it.
type StoredProposal struct {
	ID               string    `json:"id"`
	State            string    `json:"state"`
	Reason           string    `json:"why"`
	Sentence         string    `json:"sentence"`
	Project          string    `json:"project,omitempty"`
	Files            []string  `json:"files,omitempty"`
	SourceTurns      []string  `json:"from"` // names of the turns that contain Sentence
	FirstWrittenTime time.Time `json:"said"` // time at which the person first wrote Sentence
	// name of the note that was made from the proposal ("" without such a note)
	NoteName string `json:"note,omitempty"`
}

// NoteText returns the text of the note if the person accepts the proposal unchanged.
func (it *StoredProposal) NoteText() string {
	if it.Reason == ReasonRememberRequest {
		return extract.ExtractNoteText(it.Sentence)
	}
	return it.Sentence
}

// SessionCount returns the number of sessions in which the person wrote the proposal's sentence.
func (it *StoredProposal) SessionCount() int {
	seen := map[string]bool{}
	for _, f := range it.SourceTurns {
		seen[f[:max(strings.LastIndexByte(f, '/'), 0)]] = true
	}
	return len(seen)
}

// decodeProposal converts the entry of a proposal to a [StoredProposal].
func decodeProposal(e oxbow.Entry) StoredProposal {
	it := StoredProposal{
		ID:               strings.TrimPrefix(e.Name, "proposal/"),
		Sentence:         e.Content,
		Files:            e.Values(oxbow.LabelFile),
		SourceTurns:      e.Values(labelSourceTurn),
		FirstWrittenTime: e.Created,
	}
	it.State, _ = e.Label(labelProposalState)
	it.Reason, _ = e.Label(labelReason)
	it.NoteName, _ = e.Label(labelNoteName)
	it.Project, _ = e.Label(oxbow.LabelProject)
	return it
}

// ListProposals returns the proposals that have a given state and belong to a given project. An empty state or an empty
// project matches all proposals. The proposals are sorted by the time of their first turn, the latest first.
func ListProposals(ctx context.Context, m *oxbow.Memory, state, project string) ([]StoredProposal, error) {
	f := oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{labelProposalState}}}}
	if state != "" {
		f.Terms = []oxbow.Term{{Key: labelProposalState, Values: []string{state}}}
	}
	if project != "" {
		f.Terms = append(f.Terms, oxbow.Term{Key: oxbow.LabelProject, Values: []string{project}})
	}
	items := []StoredProposal{}
	hits, err := m.Recall(ctx, oxbow.Query{Filter: f, Limit: oxbow.MaxLimit})
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		items = append(items, decodeProposal(h.Entry))
	}
	if len(hits) == oxbow.MaxLimit { // There may be more proposals than one query returns.
		items = items[:0]
		for e, err := range m.Entries(ctx, f) {
			if err != nil {
				return nil, err
			}
			items = append(items, decodeProposal(e))
		}
	}
	slices.SortFunc(items, func(a, b StoredProposal) int {
		return cmp.Or(b.FirstWrittenTime.Compare(a.FirstWrittenTime), cmp.Compare(a.ID, b.ID))
	})
	return items, nil
}

// CountOpenProposals returns the number of open proposals, at most [oxbow.MaxLimit].
func CountOpenProposals(ctx context.Context, m *oxbow.Memory) (int, error) {
	hits, err := m.Recall(
		ctx,
		oxbow.Query{
			Limit:  oxbow.MaxLimit,
			Filter: oxbow.Filter{Terms: []oxbow.Term{{Key: labelProposalState, Values: []string{ProposalStateOpen}}}},
		},
	)
	return len(hits), err
}

// FindProposal returns the proposal whose ID is id or begins with id. If no proposal or more than one matches, the
// error matches [oxbow.ErrNotFound].
func FindProposal(ctx context.Context, m *oxbow.Memory, id string) (StoredProposal, error) {
	all, err := ListProposals(ctx, m, "", "")
	if err != nil {
		return StoredProposal{}, err
	}
	fit := slices.DeleteFunc(all, func(it StoredProposal) bool { return id == "" || !strings.HasPrefix(it.ID, id) })
	if len(fit) != 1 {
		return StoredProposal{}, fmt.Errorf(
			"%d proposals have an id that begins with %q: %w",
			len(fit),
			id,
			oxbow.ErrNotFound,
		)
	}
	return fit[0], nil
}

// SetProposalState sets the state of the proposal with this ID. It also stores noteName, the name of the note that was
// made from the proposal, in a label. noteName may be empty. If no proposal has the ID, SetProposalState does nothing
// and returns nil.
func SetProposalState(ctx context.Context, m *oxbow.Memory, id, state, noteName string) error {
	return m.Edit(ctx, "proposal/"+id, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		if !found {
			return nil, nil
		}
		labels := slices.DeleteFunc(slices.Clone(old.Labels), func(l oxbow.Label) bool {
			return l.Key == labelProposalState || l.Key == labelNoteName
		})
		labels = oxbow.SortLabels(append(labels, makeLabels(labelProposalState, state, labelNoteName, noteName)...))
		if slices.Equal(labels, old.Labels) {
			return nil, nil
		}
		return oxbow.Update{Name: old.Name, Content: old.Content, Labels: labels, If: old.Version}, nil
	})
}

// successfulProjectCommand is a command that succeeded in a project's sessions. Sessions lists some of these sessions,
// at most minSessionsWithSuccess, because FindRepeatedCommands only asks whether there are that many.
type successfulProjectCommand struct {
	Command         string    `json:"command"`
	Sessions        []string  `json:"sessions"`
	LastSuccessTime time.Time `json:"last"`
}

// listSuccessfulCommands returns the commands that passed in a session, with the time at which each last passed. The
// commands are in the form that [extract.NormalizeCommand] returns. It leaves out commands that only print something,
// and commands that the archive does not contain completely.
func listSuccessfulCommands(turns []session.Turn) map[string]time.Time {
	passed := map[string]time.Time{}
	for i := range turns {
		for _, e := range turns[i].CallEvents() {
			line := strings.Join(strings.Fields(e.Call.Command), " ")
			if hasFailed(e.Call) || e.Call.ExitStatus == nil {
				continue
			}
			if !isCompleteCommand(line) || extract.IsPrintOnlyCommand(line) {
				continue
			}
			line = extract.NormalizeCommand(line, strings.TrimSuffix(turns[i].Dir(), "/"))
			if e.Time.After(passed[line]) {
				passed[line] = e.Time.UTC()
			}
		}
	}
	return passed
}

// recentCommandsSuffix is the end of an entry's name. Each project has an entry runs/ID with counts of the commands
// that succeeded, and an entry runs/ID/recent with only the counts that changed since. The second entry saves space,
// because a session changes few counts and the log keeps every version of an entry. If the second entry becomes large,
// its counts are merged into runs/ID.
const recentCommandsSuffix = "/recent"

const (
	minRecentCommandsBytes = 4 << 10 // Up to this size in bytes, the entry runs/ID/recent is not merged into runs/ID.
	// The entry runs/ID/recent is merged into the entry runs/ID only if the size of runs/ID/recent is more than 1/4 of
	// the size of runs/ID.
	recentCommandsSizeDivisor = 4
)

// storeSuccessfulCommands records, for the project, in which sessions each command has passed. The turns must belong to
// one session. All their commands that passed are added to the stored counts. storeSuccessfulCommands does nothing if
// project is empty or no command passed.
//
// The counts are stored in two entries, so that the large main entry is seldom rewritten. The second, recent entry
// contains only the commands whose counts differ from the main entry. If the recent entry becomes large, it is merged
// into the main entry.
func storeSuccessfulCommands(ctx context.Context, m *oxbow.Memory, turns []session.Turn, project string) error {
	passed := listSuccessfulCommands(turns)
	if project == "" || len(passed) == 0 {
		return nil
	}
	id := makeShortDigest(turns[0].Client, turns[0].Session)
	name := "runs/" + makeShortDigest(project)
	large := false
	err := editSuccessfulCommands(
		ctx,
		m,
		name+recentCommandsSuffix,
		project,
		func(recent []successfulProjectCommand) ([]successfulProjectCommand, error) {
			all, size, err := readSuccessfulCommands(ctx, m, name)
			if err != nil {
				return nil, err
			}
			rest := addedOrChangedCommands(addSessionCommands(mergeSuccessfulCommands(all, recent), passed, id), all)
			b, err := json.Marshal(rest)
			large = len(b) > max(minRecentCommandsBytes, size/recentCommandsSizeDivisor)
			return rest, err
		},
	)
	if err != nil || !large {
		return err
	}
	err = editSuccessfulCommands(
		ctx,
		m,
		name,
		project,
		func(all []successfulProjectCommand) ([]successfulProjectCommand, error) {
			recent, _, err := readSuccessfulCommands(ctx, m, name+recentCommandsSuffix)
			return addSessionCommands(mergeSuccessfulCommands(all, recent), nil, ""), err
		},
	)
	if err != nil {
		return err
	}
	return editSuccessfulCommands(
		ctx,
		m,
		name+recentCommandsSuffix,
		project,
		func(recent []successfulProjectCommand) ([]successfulProjectCommand, error) {
			all, _, err := readSuccessfulCommands(ctx, m, name)
			return addedOrChangedCommands(recent, all), err
		},
	)
}

// editSuccessfulCommands changes an entry that contains a list of successful commands. edit receives the list and
// returns the new list. If the entry does not exist, edit receives an empty list, and the entry is created if the new
// list has elements.
func editSuccessfulCommands(
	ctx context.Context,
	m *oxbow.Memory,
	name, project string,
	edit func([]successfulProjectCommand) ([]successfulProjectCommand, error),
) error {
	return m.Edit(ctx, name, func(old oxbow.Entry, found bool) (oxbow.Op, error) {
		runs, err := decodePassedCommands(old)
		if err == nil {
			runs, err = edit(runs)
		}
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(runs)
		if err != nil {
			return nil, err
		}
		isUnchanged := (found && string(b) == old.Content) || (!found && len(runs) == 0)
		if isUnchanged {
			return nil, nil
		}
		if found {
			return oxbow.Update{Name: name, Content: string(b), Labels: old.Labels, If: old.Version}, nil
		}
		return oxbow.Add{
			Name:    name,
			Kind:    oxbow.History,
			Content: string(b),
			Labels:  oxbow.SortLabels(makeLabels("runs", "yes", oxbow.LabelProject, project)),
		}, nil
	})
}

// readSuccessfulCommands returns the commands in an entry, and the size of the entry's content. If the entry does not
// exist, it returns no commands.
func readSuccessfulCommands(
	ctx context.Context,
	m *oxbow.Memory,
	name string,
) (runs []successfulProjectCommand, contentBytes int, err error) {
	e, err := m.Store().Get(ctx, name)
	if errors.Is(err, oxbow.ErrNotFound) {
		return nil, 0, nil
	}
	if err == nil {
		runs, err = decodePassedCommands(e)
	}
	return runs, len(e.Content), err
}

// mergeSuccessfulCommands returns the commands of both lists. For a command in both lists, it uses the element in
// recent.
func mergeSuccessfulCommands(all, recent []successfulProjectCommand) []successfulProjectCommand {
	isRecent := map[string]bool{}
	for _, r := range recent {
		isRecent[r.Command] = true
	}
	merged := slices.Clone(recent)
	for _, r := range all {
		if !isRecent[r.Command] {
			merged = append(merged, r)
		}
	}
	return merged
}

// addedOrChangedCommands compares two lists of commands. It returns the elements of the list runs whose command is
// missing in the list old, and the elements whose sessions or time differ there.
func addedOrChangedCommands(runs, old []successfulProjectCommand) []successfulProjectCommand {
	byCommand := map[string]*successfulProjectCommand{}
	for i := range old {
		byCommand[old[i].Command] = &old[i]
	}
	rest := []successfulProjectCommand{}
	for _, r := range runs {
		o := byCommand[r.Command]
		isSame := o != nil && slices.Equal(o.Sessions, r.Sessions) && o.LastSuccessTime.Equal(r.LastSuccessTime)
		if !isSame {
			rest = append(rest, r)
		}
	}
	return rest
}

// addSessionCommands records in runs that commands passed in the session with the ID sessionID. successTimes contains
// these commands, each with the time at which it passed. At most minSessionsWithSuccess sessions are recorded for a
// command. The result has at most maxCountedCommands elements. The commands with the most sessions come first.
func addSessionCommands(
	runs []successfulProjectCommand,
	successTimes map[string]time.Time,
	sessionID string,
) []successfulProjectCommand {
	for _, line := range slices.Sorted(maps.Keys(successTimes)) {
		i := slices.IndexFunc(runs, func(r successfulProjectCommand) bool { return r.Command == line })
		if i < 0 {
			i = len(runs)
			runs = append(runs, successfulProjectCommand{Command: line})
		}
		r := &runs[i]
		if !slices.Contains(r.Sessions, sessionID) && len(r.Sessions) < minSessionsWithSuccess {
			r.Sessions = append(slices.Clone(r.Sessions), sessionID)
		}
		if successTimes[line].After(r.LastSuccessTime) {
			r.LastSuccessTime = successTimes[line]
		}
	}
	slices.SortStableFunc(runs, func(a, b successfulProjectCommand) int {
		return cmp.Or(
			cmp.Compare(len(b.Sessions), len(a.Sessions)),
			b.LastSuccessTime.Compare(a.LastSuccessTime),
			strings.Compare(a.Command, b.Command),
		)
	})
	return runs[:min(len(runs), maxCountedCommands)]
}

// decodePassedCommands decodes the list of commands in an entry's content. The list of an entry without content is
// empty.
func decodePassedCommands(e oxbow.Entry) (runs []successfulProjectCommand, err error) {
	if e.Content != "" {
		err = json.Unmarshal([]byte(e.Content), &runs)
	}
	if err != nil {
		err = fmt.Errorf("reading %s: %w", e.Name, err)
	}
	return runs, err
}

// FindRepeatedCommands returns the commands that passed in at least minSessionsWithSuccess sessions of a project. The
// command that passed last comes first.
func FindRepeatedCommands(ctx context.Context, m *oxbow.Memory, project string) ([]string, error) {
	name := "runs/" + makeShortDigest(project)
	all, _, err := readSuccessfulCommands(ctx, m, name)
	if err != nil {
		return nil, err
	}
	recent, _, err := readSuccessfulCommands(ctx, m, name+recentCommandsSuffix)
	runs := addSessionCommands(mergeSuccessfulCommands(all, recent), nil, "")
	slices.SortStableFunc(
		runs,
		func(a, b successfulProjectCommand) int { return b.LastSuccessTime.Compare(a.LastSuccessTime) },
	)
	var commands []string
	for _, r := range runs {
		if len(r.Sessions) >= minSessionsWithSuccess {
			commands = append(commands, r.Command)
		}
	}
	return commands, err
}
