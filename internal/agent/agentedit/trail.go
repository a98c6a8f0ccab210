// This file judges a single entry by reading its versions from newest to oldest.

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

// ProtectingKeys contains the keys of labels with which an entry is always shown to a model. If an agent adds or
// removes such a label, the agent changes a decision of the person.
var ProtectingKeys = []string{profile.LabelPinned, profile.LabelProcess}

// undoNotePrefix is the beginning of an undo's note. The numbers of the undone changes follow.
const undoNotePrefix = "undo of "

// versionParts contains the parts of a version that are compared.
type versionParts struct {
	isRemoved   bool
	contentHash [sha256.Size]byte
	aliases     []string
	labels      []oxbow.Label // only labels with a protecting key
}

func newVersionParts(v *oxbow.Version) versionParts {
	e := &v.Entry
	img := versionParts{
		isRemoved:   v.Verb == oxbow.VerbRemove,
		contentHash: sha256.Sum256([]byte(e.Content)),
		aliases:     e.Aliases,
	}
	for _, l := range e.Labels {
		if slices.Contains(ProtectingKeys, l.Key) {
			img.labels = append(img.labels, l)
		}
	}
	return img
}

// equal reports whether both images are equal.
func (i versionParts) equal(o versionParts) bool {
	return i.isRemoved == o.isRemoved && i.contentHash == o.contentHash && slices.Equal(i.aliases, o.aliases) &&
		slices.Equal(i.labels, o.labels)
}

// isByAgent reports whether an agent made a change: over MCP or HTTP, in a shell, or by an import or a program that the
// agent started.
func isByAgent(s oxbow.Source) bool {
	switch s.Actor {
	case oxbow.Agent:
		return true
	case oxbow.Imported, oxbow.Program:
		return session.HasCaller(s) || s.Claimed.Agent != "" || s.Door == "mcp" || s.Door == "http"
	}
	return false
}

// entryHistory is the knowledge about an entry after some of its versions were read.
type entryHistory struct {
	isStarted    bool
	done         bool
	hasAgentEdit bool // an agent changed a person's text (only meaningful if done)

	newest    versionParts  // newest version
	labels    []oxbow.Label // protecting labels that a person set last
	hasLabels bool          // labels is set

	agentVersions               int    // number of versions by agents
	firstAgentSeq, lastAgentSeq uint64 // oldest and newest change by an agent
	seqBeforeAgent              uint64 // version before the oldest version by an agent
	base                        uint64 // version with the person's text
	hasNewLabels                bool   // a person changed labels or aliases after the last version by an agent

	undoneSeqs    map[uint64]bool // changes that a person has undone
	restoredParts *versionParts   // version that an undo restored, if its note does not list all undone changes
}

// processVersion processes the next older version. If done is set, no more versions need to be read.
func (t *entryHistory) processVersion(v *oxbow.Version) {
	img := newVersionParts(v)
	if !t.isStarted {
		t.isStarted, t.newest = true, img
		if v.Erased || v.Entry.Kind == oxbow.Handoff {
			t.done = true
			return
		}
	}
	switch {
	case t.undoneSeqs[v.Seq]:
	case t.restoredParts != nil && !img.equal(*t.restoredParts):
	case v.Source.Actor == oxbow.Person && strings.HasPrefix(v.Note, undoNotePrefix):
		t.recordUndo(v.Note, img)
	case v.Source.Actor == oxbow.Person:
		t.restoredParts = nil
		t.processPersonVersion(v, img)
	case isByAgent(v.Source):
		t.restoredParts = nil
		t.agentVersions++
		if t.lastAgentSeq == 0 {
			t.lastAgentSeq = v.Seq
		}
		t.firstAgentSeq, t.seqBeforeAgent = v.Seq, 0
	default:
		t.restoredParts = nil
		t.recordNonAgentSeq(v.Seq)
	}
	if v.Prev == 0 {
		t.done = true
	}
}

// recordNonAgentSeq records the number of a version that was not written by an agent.
func (t *entryHistory) recordNonAgentSeq(seq uint64) {
	if t.agentVersions > 0 && t.seqBeforeAgent == 0 {
		t.seqBeforeAgent = seq
	}
}

// processPersonVersion processes a version that a person wrote. A change of only labels or aliases, which may affect
// many entries at once, does not show that the person has read the text.
func (t *entryHistory) processPersonVersion(v *oxbow.Version, img versionParts) {
	t.recordNonAgentSeq(v.Seq)
	if !t.hasLabels && !img.isRemoved {
		t.labels, t.hasLabels = img.labels, true
	}
	if v.Verb == oxbow.VerbLabel || v.Verb == oxbow.VerbAlias {
		t.hasNewLabels = t.hasNewLabels || t.agentVersions == 0
		return
	}
	t.base, t.done = v.Seq, true
	t.hasAgentEdit = t.agentVersions > 0 && !img.isRemoved && !v.Erased && t.differsFromPersonVersion(img)
}

// differsFromPersonVersion reports whether the entry differs from the person's version.
func (t *entryHistory) differsFromPersonVersion(personParts versionParts) bool {
	if t.newest.isRemoved || t.newest.contentHash != personParts.contentHash {
		return true
	}
	if !slices.Equal(t.newest.labels, t.labels) {
		return true
	}
	return slices.ContainsFunc(
		personParts.aliases,
		func(a string) bool { return !slices.Contains(t.newest.aliases, a) },
	)
}

// recordUndo records the changes that a person has undone, so that processVersion ignores these changes.
func (t *entryHistory) recordUndo(note string, img versionParts) {
	list, _, isCut := strings.Cut(strings.TrimPrefix(note, undoNotePrefix), ", …")
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
		t.restoredParts = &img
	}
}
