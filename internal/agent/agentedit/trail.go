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

// undoNote is the beginning of an undo's note. The numbers of the undone changes follow.
const undoNote = "undo of "

// image contains the parts of a version that are compared.
type image struct {
	isRemoved bool
	content   [sha256.Size]byte
	aliases   []string
	labels    []oxbow.Label // only labels with a protecting key
}

func versionImage(v *oxbow.Version) image {
	e := &v.Entry
	img := image{isRemoved: v.Verb == oxbow.VerbRemove, content: sha256.Sum256([]byte(e.Content)), aliases: e.Aliases}
	for _, l := range e.Labels {
		if slices.Contains(ProtectingKeys, l.Key) {
			img.labels = append(img.labels, l)
		}
	}
	return img
}

// equal reports whether both images are equal.
func (i image) equal(o image) bool {
	return i.isRemoved == o.isRemoved && i.content == o.content && slices.Equal(i.aliases, o.aliases) &&
		slices.Equal(i.labels, o.labels)
}

// byAgent reports whether an agent made a change: over MCP or HTTP, in a shell, or by an import or a program that the
// agent started.
func byAgent(s oxbow.Source) bool {
	switch s.Actor {
	case oxbow.Agent:
		return true
	case oxbow.Imported, oxbow.Program:
		return session.IsCaller(s) || s.Claimed.Agent != "" || s.Door == "mcp" || s.Door == "http"
	}
	return false
}

// trail is the knowledge about an entry after some of its versions were read.
type trail struct {
	isStarted bool
	done      bool
	isOpen    bool // an agent changed a person's text (only meaningful if done)

	top       image         // newest version
	labels    []oxbow.Label // protecting labels that a person set last
	hasLabels bool          // labels is set

	agents        int    // number of versions by agents
	first, last   uint64 // oldest and newest change by an agent
	back          uint64 // version before the oldest version by an agent
	base          uint64 // version with the person's text
	wasRelabelled bool   // a person changed labels or aliases after the last version by an agent

	undone map[uint64]bool // changes that a person has undone
	sought *image          // version that an undo restored, if its note does not list all undone changes
}

// processVersion processes the next older version. If done is set, no more versions need to be read.
func (t *trail) processVersion(v *oxbow.Version) {
	img := versionImage(v)
	if !t.isStarted {
		t.isStarted, t.top = true, img
		if v.Erased || v.Entry.Kind == oxbow.Handoff {
			t.done = true
			return
		}
	}
	switch {
	case t.undone[v.Seq]:
	case t.sought != nil && !img.equal(*t.sought):
	case v.Source.Actor == oxbow.Person && strings.HasPrefix(v.Note, undoNote):
		t.undo(v.Note, img)
	case v.Source.Actor == oxbow.Person:
		t.sought = nil
		t.readOwn(v, img)
	case byAgent(v.Source):
		t.sought = nil
		t.agents++
		if t.last == 0 {
			t.last = v.Seq
		}
		t.first, t.back = v.Seq, 0
	default:
		t.sought = nil
		t.before(v.Seq)
	}
	if v.Prev == 0 {
		t.done = true
	}
}

// before records the number of a version that was not written by an agent.
func (t *trail) before(seq uint64) {
	if t.agents > 0 && t.back == 0 {
		t.back = seq
	}
}

// readOwn processes a version that a person wrote. A change of only labels or aliases, which may affect
// many entries at once, does not show that the person has read the text.
func (t *trail) readOwn(v *oxbow.Version, img image) {
	t.before(v.Seq)
	if !t.hasLabels && !img.isRemoved {
		t.labels, t.hasLabels = img.labels, true
	}
	if v.Verb == oxbow.VerbLabel || v.Verb == oxbow.VerbAlias {
		t.wasRelabelled = t.wasRelabelled || t.agents == 0
		return
	}
	t.base, t.done = v.Seq, true
	t.isOpen = t.agents > 0 && !img.isRemoved && !v.Erased && t.differsFrom(img)
}

// differsFrom reports whether the entry differs from the person's version.
func (t *trail) differsFrom(own image) bool {
	if t.top.isRemoved || t.top.content != own.content {
		return true
	}
	if !slices.Equal(t.top.labels, t.labels) {
		return true
	}
	return slices.ContainsFunc(own.aliases, func(a string) bool { return !slices.Contains(t.top.aliases, a) })
}

// undo records the changes that a person has undone, so that processVersion ignores these changes.
func (t *trail) undo(note string, img image) {
	list, _, isCut := strings.Cut(strings.TrimPrefix(note, undoNote), ", …")
	if t.undone == nil {
		t.undone = map[uint64]bool{}
	}
	for _, word := range strings.Split(list, ", ") {
		if seq, err := strconv.ParseUint(word, 10, 64); err == nil {
			t.undone[seq] = true
		}
	}
	t.sought = nil
	if isCut {
		t.sought = &img
	}
}
