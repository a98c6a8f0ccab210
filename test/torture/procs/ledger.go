//go:build unix

// This file implements the ledger: for each name, the acknowledged changes and those in
// progress.

package procs

import (
	"fmt"
	"maps"
	"strings"
	"sync"
)

// change is a change that a lane requested.
type change struct {
	tag     string // op ID of the change, and the first word of its content
	name    string
	verb    string
	outcome outcome
	version uint64 // acknowledged version (0 if the answer did not contain it)
	seq     uint64 // number of the change in the log (0 until it is found there)
}

type outcome int

const (
	asked outcome = iota
	acknowledged
	refused
)

// fact is the known state of one name.
type fact struct {
	version uint64 // last acknowledged version
	tag     string // tag of the change with that version
	gone    bool   // its removal was acknowledged
	asked   int    // number of requested changes
	settled int    // number of answered changes
	leaving bool   // its removal was requested
	shared  bool   // several lanes change it, so the acknowledged version may be newer than the tag's change
}

// ledger records all changes. It is safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	facts   map[string]*fact
	changes map[string]*change // by tag; those that are not yet verified in the log
	recent  []string           // recently acknowledged names, from which readers choose
	at      int                // next index in recent
	acks    int
}

// recentNames is the number of names from which readers choose.
const recentNames = 512

func newLedger() *ledger {
	return &ledger{facts: map[string]*fact{}, changes: map[string]*change{}}
}

// ask records that a change is about to be requested.
func (l *ledger) ask(tag, name, verb string, shared bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.facts[name]
	if f == nil {
		f = &fact{shared: shared}
		l.facts[name] = f
	}
	f.asked++
	f.leaving = f.leaving || verb == forget
	l.changes[tag] = &change{tag: tag, name: name, verb: verb}
}

// settle records the answer to a change.
func (l *ledger) settle(tag string, o outcome, version uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.changes[tag]
	f := l.facts[c.name]
	f.settled++
	c.outcome, c.version = o, version
	if o == refused {
		return
	}
	l.acks++
	if f.shared {
		// Other lanes may have changed it since. It is only certain that the version did not
		// decrease.
		c.version = 0
		f.version = max(f.version, version)
	} else {
		f.version, f.tag = version, tag
	}
	f.gone = c.verb == forget
	if len(l.recent) < recentNames {
		l.recent = append(l.recent, c.name)
		return
	}
	l.recent[l.at] = c.name
	l.at = (l.at + 1) % recentNames
}

// look returns the known state of a name.
func (l *ledger) look(name string) fact {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.knownFact(name)
}

// lately returns a recently acknowledged name with its known state. The bool is false if
// there is none.
func (l *ledger) lately(n int) (string, fact, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.recent) == 0 {
		return "", fact{}, false
	}
	name := l.recent[n%len(l.recent)]
	return name, l.knownFact(name), true
}

// knownFact is like look, but the caller holds mu. A name that the ledger no longer contains was
// forgotten.
func (l *ledger) knownFact(name string) fact {
	if f := l.facts[name]; f != nil {
		return *f
	}
	return fact{gone: true, leaving: true}
}

// all returns the known states of all names.
func (l *ledger) all() map[string]fact {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := make(map[string]fact, len(l.facts))
	for name, f := range l.facts {
		m[name] = *f
	}
	return m
}

// openChanges returns the changes that are not yet verified in the log.
func (l *ledger) openChanges() map[string]change {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := make(map[string]change, len(l.changes))
	for tag, c := range l.changes {
		m[tag] = *c
	}
	return m
}

// recordFound records the number that a change has in the log. It returns an error if the number
// is wrong.
func (l *ledger) recordFound(tag, name string, seq uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.changes[tag]
	switch {
	case c == nil:
		return fmt.Errorf(
			"twice: the log has %s of %q again, or without anybody having asked for it, as change %d",
			tag,
			name,
			seq,
		)
	case c.name != name:
		return fmt.Errorf("mixed: the log has %s under the name %q, not %q, as change %d", tag, name, c.name, seq)
	case c.seq != 0:
		return fmt.Errorf("twice: the log has %s of %q as change %d and as change %d", tag, name, c.seq, seq)
	}
	c.seq = seq
	return nil
}

// foundRemoval is like recordFound, for a removal, which has no tag.
func (l *ledger) foundRemoval(name string, seq uint64) error {
	l.mu.Lock()
	tag := ""
	for t, c := range l.changes {
		if c.verb == forget && c.name == name {
			tag = t
		}
	}
	l.mu.Unlock()
	return l.recordFound(tag, name, seq)
}

// drop removes verified changes from the ledger, and names that were removed for good.
func (l *ledger) drop(tags []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range tags {
		c := l.changes[t]
		delete(l.changes, t)
		f := l.facts[c.name]
		if f == nil || !f.gone {
			continue
		}
		if f.asked == f.settled {
			delete(l.facts, c.name)
		}
	}
}

// live returns the names that must exist when no change is in progress.
func (l *ledger) live() map[string]fact {
	m := l.all()
	maps.DeleteFunc(m, func(_ string, f fact) bool { return f.gone || f.version == 0 })
	return m
}

// firstWord returns the tag in a content, which is its first word.
func firstWord(content string) string {
	tag, _, _ := strings.Cut(content, " ")
	return tag
}
