//go:build unix

// The ledger: of each name, what was acknowledged and what may be under way.

package procs

import (
	"fmt"
	"maps"
	"strings"
	"sync"
)

// change is one change that a lane asked for.
type change struct {
	tag     string // its op id, and the first word of its content
	name    string
	verb    string
	outcome outcome
	version uint64 // acknowledged; 0 when the answer did not say
	seq     uint64 // where the log has it, 0 while it was not found there
}

type outcome int

const (
	asked outcome = iota
	acknowledged
	refused
)

// fact is what is known of one name.
type fact struct {
	version uint64 // last acknowledged
	tag     string // of that change
	gone    bool   // forgotten, and acknowledged
	asked   int    // changes asked for so far
	settled int    // and of these, answered
	leaving bool   // its removal was asked for
	shared  bool   // several lanes change it: what is acknowledged may be newer than the change
}

// ledger is safe for concurrent use.
type ledger struct {
	mu      sync.Mutex
	facts   map[string]*fact
	changes map[string]*change // by tag; not yet verified in the log
	recent  []string           // names acknowledged lately, for readers to ask for
	at      int                // next place in recent
	acks    int
}

// recentNames is how many names readers choose from.
const recentNames = 512

func newLedger() *ledger {
	return &ledger{facts: map[string]*fact{}, changes: map[string]*change{}}
}

// ask notes that a change is about to be asked for.
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

// settle notes the answer to a change.
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
		// Others may have been quicker: only that it did not go back is sure.
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

// look returns what is known of a name.
func (l *ledger) look(name string) fact {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known(name)
}

// lately returns a name that was acknowledged lately, with what is known of it.
func (l *ledger) lately(n int) (string, fact, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.recent) == 0 {
		return "", fact{}, false
	}
	name := l.recent[n%len(l.recent)]
	return name, l.known(name), true
}

// known is look for callers that hold mu. A name that the ledger does not keep any
// more was forgotten.
func (l *ledger) known(name string) fact {
	if f := l.facts[name]; f != nil {
		return *f
	}
	return fact{gone: true, leaving: true}
}

// all returns what is known of every name.
func (l *ledger) all() map[string]fact {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := make(map[string]fact, len(l.facts))
	for name, f := range l.facts {
		m[name] = *f
	}
	return m
}

// open returns the changes that are not verified in the log yet.
func (l *ledger) open() map[string]change {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := make(map[string]change, len(l.changes))
	for tag, c := range l.changes {
		m[tag] = *c
	}
	return m
}

// found notes where the log has a change, and says what is wrong with that.
func (l *ledger) found(tag, name string, seq uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.changes[tag]
	switch {
	case c == nil:
		return fmt.Errorf("twice: the log has %s of %q again, or without anybody having asked for it, as change %d", tag, name, seq)
	case c.name != name:
		return fmt.Errorf("mixed: the log has %s under the name %q, not %q, as change %d", tag, name, c.name, seq)
	case c.seq != 0:
		return fmt.Errorf("twice: the log has %s of %q as change %d and as change %d", tag, name, c.seq, seq)
	}
	c.seq = seq
	return nil
}

// foundRemoval is found for a removal, which carries no tag of its own.
func (l *ledger) foundRemoval(name string, seq uint64) error {
	l.mu.Lock()
	tag := ""
	for t, c := range l.changes {
		if c.verb == forget && c.name == name {
			tag = t
		}
	}
	l.mu.Unlock()
	return l.found(tag, name, seq)
}

// drop forgets the changes of these tags, which were verified, and the names
// that are gone for good.
func (l *ledger) drop(tags []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range tags {
		c := l.changes[t]
		delete(l.changes, t)
		if f := l.facts[c.name]; f != nil && f.gone && f.asked == f.settled {
			delete(l.facts, c.name)
		}
	}
}

// live returns the names that must be there when nothing is under way.
func (l *ledger) live() map[string]fact {
	m := l.all()
	maps.DeleteFunc(m, func(_ string, f fact) bool { return f.gone || f.version == 0 })
	return m
}

// tagOf returns the tag in a content, its first word.
func tagOf(content string) string {
	tag, _, _ := strings.Cut(content, " ")
	return tag
}
