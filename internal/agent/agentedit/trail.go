// This file decides whether an agent edited an entry. It reads the versions of the entry from newest to oldest.

package agentedit

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/profile"
)

// EveryPromptLabelKeys contains the keys of labels that put an entry into every prompt. A person decides about these
// labels, so an agent that adds or removes such a label overrides the person.
var EveryPromptLabelKeys = []string{profile.LabelPinned, profile.LabelProcess}

// undoNotePrefix begins the note of a change that undoes other changes. The numbers of the undone changes follow.
const undoNotePrefix = "undo of "

// comparedVersionParts contains the parts of a version that decide whether an agent edited the entry.
type comparedVersionParts struct {
	isRemoved   bool
	contentHash [sha256.Size]byte
	aliases     []string
	labels      []oxbow.Label // the version's labels whose keys are in EveryPromptLabelKeys
}

// newComparedVersionParts returns the parts of a version that are compared with other versions.
func newComparedVersionParts(v *oxbow.Version) comparedVersionParts {
	e := &v.Entry
	img := comparedVersionParts{
		isRemoved:   v.Verb == oxbow.VerbRemove,
		contentHash: sha256.Sum256([]byte(e.Content)),
		aliases:     e.Aliases,
	}
	for _, l := range e.Labels {
		if slices.Contains(EveryPromptLabelKeys, l.Key) {
			img.labels = append(img.labels, l)
		}
	}
	return img
}

// equals reports whether two versions of an entry have the same text, the same aliases and the same labels with keys in
// EveryPromptLabelKeys, and whether both or neither remove the entry.
func (i comparedVersionParts) equals(o comparedVersionParts) bool {
	return i.isRemoved == o.isRemoved && i.contentHash == o.contentHash && slices.Equal(i.aliases, o.aliases) &&
		slices.Equal(i.labels, o.labels)
}

// isByAgent reports whether an agent made the change whose source is s. The actor is then an agent, or an import or
// another program that an agent started. An agent started the program if s refers to a session or a tool call, if
// s.Claimed names an agent, or if the change came through MCP or HTTP (s.Door).
func isByAgent(s oxbow.Source) bool {
	switch s.Actor {
	case oxbow.Agent:
		return true
	case oxbow.Imported, oxbow.Program:
		return session.HasSessionOrCall(s) || s.Claimed.Agent != "" || s.Door == "mcp" || s.Door == "http"
	}
	return false
}

// entryHistory contains the facts that are known about an entry after some of its versions were read.
type entryHistory struct {
	hasNewestVersion   bool
	isAgentEditDecided bool
	hasAgentEdit       bool // an agent edited the entry (valid if isAgentEditDecided is set)

	newestParts comparedVersionParts // text hash, aliases and labels of the newest version
	// labels from the newest version that a person wrote, but only the labels with keys in EveryPromptLabelKeys, which
	// put an entry into every prompt (valid if hasLabels is set)
	editPreventingLabels []oxbow.Label
	hasLabels            bool // A version of the entry that a person wrote, with its labels, was read.

	agentVersionCount                 int    // number of versions that agents wrote
	firstAgentChange, lastAgentChange uint64 // numbers of the oldest and newest change by an agent
	// number of the entry's newest change that is older than all changes by agents
	changeBeforeAgent    uint64
	personTextSeq        uint64 // number of the change in which a person last wrote the entry's text
	isRelabelledByPerson bool   // a person changed labels or aliases after the newest version by an agent

	undoneSeqs map[uint64]bool // numbers of the changes that a person has undone
	// The entry's parts after a person's undo, if the undo's note lists only some of the undone changes. Older versions
	// are then ignored until a version with equal parts is found. Otherwise nil.
	restoredParts *comparedVersionParts
}

// addVersion updates the history of an entry with one version of the entry. The caller must pass the versions from
// newest to oldest. The caller must stop when isAgentEditDecided is true. Then older versions cannot change the answer
// to the question whether an agent edited the entry.
//
// If a person has undone a version, addVersion ignores this version. If a person has restored an earlier state of the
// entry, it also ignores the versions between this state and the restoration.
func (t *entryHistory) addVersion(v *oxbow.Version) {
	img := newComparedVersionParts(v)
	if !t.hasNewestVersion {
		t.hasNewestVersion, t.newestParts = true, img
		if v.Erased || v.Entry.Kind == oxbow.Handoff {
			t.isAgentEditDecided = true
			return
		}
	}
	switch {
	case t.undoneSeqs[v.Seq]:
	case t.restoredParts != nil && !img.equals(*t.restoredParts):
	case v.Source.Actor == oxbow.Person && strings.HasPrefix(v.Note, undoNotePrefix):
		t.recordUndo(v.Note, img)
	case v.Source.Actor == oxbow.Person:
		t.restoredParts = nil
		t.addPersonVersion(v, img)
	case isByAgent(v.Source):
		t.restoredParts = nil
		t.agentVersionCount++
		if t.lastAgentChange == 0 {
			t.lastAgentChange = v.Seq
		}
		t.firstAgentChange, t.changeBeforeAgent = v.Seq, 0
	default:
		t.restoredParts = nil
		t.setChangeBeforeAgent(v.Seq)
	}
	if v.Prev == 0 {
		t.isAgentEditDecided = true
	}
}

// setChangeBeforeAgent sets changeBeforeAgent to seq, the number of a change that was not made by an agent. It does
// nothing if no version by an agent was read yet, or if changeBeforeAgent is already set. The caller must pass the
// changes from newest to oldest. The first change that is passed after all versions by agents is therefore the one to
// which the entry can be restored.
func (t *entryHistory) setChangeBeforeAgent(seq uint64) {
	if t.agentVersionCount > 0 && t.changeBeforeAgent == 0 {
		t.changeBeforeAgent = seq
	}
}

// addPersonVersion updates t for the version v, which a person wrote. If the person wrote a new text, earlier edits by
// agents need no further review, because the person's text has replaced or accepted these edits. addPersonVersion
// therefore sets t.isAgentEditDecided.
//
// If the person changed only labels or aliases, the agents' edits still need review. The reason is that a single change
// of labels may affect many entries, and the person may not have read all of these entries.
func (t *entryHistory) addPersonVersion(v *oxbow.Version, parts comparedVersionParts) {
	t.setChangeBeforeAgent(v.Seq)
	if !t.hasLabels && !parts.isRemoved {
		t.editPreventingLabels, t.hasLabels = parts.labels, true
	}
	if v.Verb == oxbow.VerbLabel || v.Verb == oxbow.VerbAlias {
		t.isRelabelledByPerson = t.isRelabelledByPerson || t.agentVersionCount == 0
		return
	}
	t.personTextSeq, t.isAgentEditDecided = v.Seq, true
	t.hasAgentEdit = t.agentVersionCount > 0 && !parts.isRemoved && !v.Erased && t.differsFromPersonVersion(parts)
}

// differsFromPersonVersion reports whether agents have changed what the person wrote. This is the case if the newest
// version is removed, has another text, lacks an alias of the person's version, or has other labels than
// t.editPreventingLabels.
func (t *entryHistory) differsFromPersonVersion(personParts comparedVersionParts) bool {
	if t.newestParts.isRemoved || t.newestParts.contentHash != personParts.contentHash {
		return true
	}
	if !slices.Equal(t.newestParts.labels, t.editPreventingLabels) {
		return true
	}
	return slices.ContainsFunc(
		personParts.aliases,
		func(a string) bool { return !slices.Contains(t.newestParts.aliases, a) },
	)
}

// recordUndo records in undoneSeqs which changes a person has undone. undoNote is the note of the undo, and lists the
// numbers of these changes. If the list was cut because it was too long, some numbers are missing. recordUndo then
// stores parts, which belong to the version that the undo restored, in restoredParts, so that versions with other parts
// are ignored.
func (t *entryHistory) recordUndo(undoNote string, parts comparedVersionParts) {
	list, _, isCut := strings.Cut(strings.TrimPrefix(undoNote, undoNotePrefix), ", …")
	if t.undoneSeqs == nil {
		t.undoneSeqs = map[uint64]bool{}
	}
	for _, word := range strings.Split(list, ", ") {
		if seq, err := strconv.ParseUint(word, 10, 64); err == nil {
			t.undoneSeqs[seq] = true
		}
	}
	t.restoredParts = nil
	if isCut {
		t.restoredParts = &parts
	}
}
