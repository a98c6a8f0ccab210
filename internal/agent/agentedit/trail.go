// This file decides about one entry: its versions are read from the newest to the oldest.

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

// ProtectingKeys are the keys of labels that put an entry before a model for good. An
// agent that adds or removes such a label has changed what the person wanted.
var ProtectingKeys = []string{profile.LabelPinned, profile.LabelProcess}

// undoNote begins the note of a change that undid others. Their numbers follow.
const undoNote = "undo of "

// image is what is compared of a version.
type image struct {
	removed bool
	content [sha256.Size]byte
	aliases []string
	labels  []oxbow.Label // only those that protect
}

func imageOf(v *oxbow.Version) image {
	e := &v.Entry
	img := image{removed: v.Verb == oxbow.VerbRemove, content: sha256.Sum256([]byte(e.Content)), aliases: e.Aliases}
	for _, l := range e.Labels {
		if slices.Contains(ProtectingKeys, l.Key) {
			img.labels = append(img.labels, l)
		}
	}
	return img
}

// equal reports whether both versions are the same in all that is compared.
func (i image) equal(o image) bool {
	return i.removed == o.removed && i.content == o.content && slices.Equal(i.aliases, o.aliases) &&
		slices.Equal(i.labels, o.labels)
}

// byAgent reports whether an agent made a change: by MCP or HTTP, in its shell, or through
// an import or a program that it started.
func byAgent(s oxbow.Source) bool {
	switch s.Actor {
	case oxbow.Agent:
		return true
	case oxbow.Imported, oxbow.Program:
		return session.IsCaller(s) || s.Claimed.Agent != "" || s.Door == "mcp" || s.Door == "http"
	}
	return false
}

// trail is what is known about one entry after some of its versions were read.
type trail struct {
	started bool
	done    bool
	open    bool // an agent changed what a person wrote; only meaningful if done

	top    image         // the entry now
	labels []oxbow.Label // protecting labels as a person left them last
	ruled  bool          // labels are known

	agents      int    // number of agents' versions read
	first, last uint64 // oldest and newest change of them
	back        uint64 // the version before the oldest of them
	base        uint64 // the version with the person's text
	relabelled  bool   // a person changed labels after the last agent's version

	undone map[uint64]bool // changes that a person undid
	sought *image          // what an undo of very many changes brought back
}

// read takes the next older version into account. Nothing is left to read once done is set.
func (t *trail) read(v *oxbow.Version) {
	img := imageOf(v)
	if !t.started {
		t.started, t.top = true, img
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

// before notes a version that no agent made.
func (t *trail) before(seq uint64) {
	if t.agents > 0 && t.back == 0 {
		t.back = seq
	}
}

// readOwn takes a version into account that a person made. A change of labels or aliases
// alone, which may touch many entries at once, does not say that the person has read the
// text.
func (t *trail) readOwn(v *oxbow.Version, img image) {
	t.before(v.Seq)
	if !t.ruled && !img.removed {
		t.labels, t.ruled = img.labels, true
	}
	if v.Verb == oxbow.VerbLabel || v.Verb == oxbow.VerbAlias {
		t.relabelled = t.relabelled || t.agents == 0
		return
	}
	t.base, t.done = v.Seq, true
	t.open = t.agents > 0 && !img.removed && !v.Erased && t.differs(img)
}

// differs reports whether the entry is not as the person left it.
func (t *trail) differs(own image) bool {
	if t.top.removed || t.top.content != own.content || !slices.Equal(t.top.labels, t.labels) {
		return true
	}
	return slices.ContainsFunc(own.aliases, func(a string) bool { return !slices.Contains(t.top.aliases, a) })
}

// undo ignores the changes that a person undid: the entry is again as it was before them.
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
