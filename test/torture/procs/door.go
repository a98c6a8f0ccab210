//go:build unix

// Calls and answers of a process, the same for each transport, and the transport of
// the library's child process.

package procs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// The verbs of a call.
const (
	remember = "remember"
	forget   = "forget"
	get      = "get"
	recall   = "recall"
	glance   = "glance"  // recall by a memory opened for it, of library children only
	names    = "names"   // all entries, of library children only
	compact  = "compact" // of library children only
)

// call is one thing asked of a process.
type call struct {
	ID      uint64    `json:"id"`
	Verb    string    `json:"verb"`
	Name    string    `json:"name,omitempty"`
	Content string    `json:"content,omitempty"`
	OpID    string    `json:"op_id,omitempty"`
	If      uint64    `json:"if,omitempty"`
	Query   string    `json:"query,omitempty"`
	Before  time.Time `json:"before,omitzero"` // of compact
}

// How a process refuses.
const (
	refusedConflict = "conflict"
	refusedMissing  = "not found"
	refusedBusy     = "busy"
)

// answer is what a process says to a call.
type answer struct {
	ID      uint64            `json:"id"`
	Version uint64            `json:"version,omitempty"` // of the entry; of forget, the change that did it
	Content string            `json:"content,omitempty"` // of get
	Names   map[string]uint64 `json:"names,omitempty"`   // of names, recall and glance: versions by name
	Refused string            `json:"refused,omitempty"` // one of the words above, or what went wrong
}

// door is one process that can be asked. Calls may come from several goroutines
// at once. An error means that the process is gone: the outcome of the call is
// not known.
type door interface {
	call(ctx context.Context, c call) (answer, error)

	// hangUp tells the process, where its door can, that no more calls come.
	hangUp()
}

// errGone is the error of a call whose process ended before it answered.
var errGone = errors.New("the process is gone")

// lines is the door of a child process that runs [Child]: JSON lines both ways.
type lines struct {
	mu   sync.Mutex // guards in, next and open
	in   io.WriteCloser
	next uint64
	open map[uint64]chan answer // nil once the process is gone
}

func newLines(in io.WriteCloser, out io.Reader) *lines {
	l := &lines{in: in, open: map[uint64]chan answer{}}
	go l.read(out)
	return l
}

func (l *lines) read(out io.Reader) {
	d := json.NewDecoder(bufio.NewReader(out))
	for {
		var a answer
		if d.Decode(&a) != nil {
			break
		}
		l.mu.Lock()
		ch := l.open[a.ID]
		delete(l.open, a.ID)
		l.mu.Unlock()
		if ch != nil {
			ch <- a
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ch := range l.open {
		close(ch)
	}
	l.open = nil
}

func (l *lines) call(ctx context.Context, c call) (answer, error) {
	ch := make(chan answer, 1)
	l.mu.Lock()
	if l.open == nil {
		l.mu.Unlock()
		return answer{}, errGone
	}
	l.next++
	c.ID = l.next
	l.open[c.ID] = ch
	b, err := json.Marshal(c)
	if err == nil {
		_, err = l.in.Write(append(b, '\n'))
	}
	l.mu.Unlock()
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errGone, err)
	}
	select {
	case a, ok := <-ch:
		if !ok {
			return answer{}, errGone
		}
		return a, nil
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

func (l *lines) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.in.Close()
}
