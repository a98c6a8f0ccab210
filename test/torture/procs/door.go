//go:build unix

// This file defines calls and answers, which are the same for each transport, and the
// transport of child processes.

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

// Verbs of a call.
const (
	verbRemember = "remember"
	verbForget   = "forget"
	verbGet      = "get"
	verbRecall   = "recall"
	verbGlance   = "glance"  // recall with a memory opened for this call; only for children that use the library
	verbNames    = "names"   // all entries; only for children that use the library
	verbCompact  = "compact" // only for children that use the library
)

// call is a request to a process.
type call struct {
	ID        uint64    `json:"id"`
	Verb      string    `json:"verb"`
	Name      string    `json:"name,omitempty"`
	Content   string    `json:"content,omitempty"`
	OpID      string    `json:"op_id,omitempty"`
	IfVersion uint64    `json:"if,omitempty"`
	Query     string    `json:"query,omitempty"`
	Before    time.Time `json:"before,omitzero"` // for compact
}

// Reasons of a refusal.
const (
	refusedConflict = "conflict"
	refusedMissing  = "not found"
	refusedBusy     = "busy"
)

// answer is the answer of a process to a call.
type answer struct {
	ID      uint64            `json:"id"`
	Version uint64            `json:"version,omitempty"` // of the entry or, for forget, the number of the change
	Content string            `json:"content,omitempty"` // for get
	Names   map[string]uint64 `json:"names,omitempty"`   // for names, recall and glance: versions by name
	Refusal string            `json:"refused,omitempty"` // one of the words above, or an error message
}

// connection is the connection to one process. Several goroutines may use it at the same time. An
// error means that the process is gone, so that the outcome of the call is not known.
type connection interface {
	call(ctx context.Context, c call) (answer, error)

	// closeInput tells the process, if the transport supports it, that no more calls follow.
	closeInput()
}

// errProcessGone is the error of a call if its process ended before answering.
var errProcessGone = errors.New("the process is gone")

// lineConnection is the door of a child process that runs [Child]. Requests and answers are JSON
// lines.
type lineConnection struct {
	mu           sync.Mutex // guards in, next and open
	in           io.WriteCloser
	nextID       uint64
	pendingCalls map[uint64]chan answer // nil after the process is gone
}

func newLineConnection(in io.WriteCloser, out io.Reader) *lineConnection {
	l := &lineConnection{in: in, pendingCalls: map[uint64]chan answer{}}
	go l.readLines(out)
	return l
}

func (l *lineConnection) readLines(out io.Reader) {
	d := json.NewDecoder(bufio.NewReader(out))
	for {
		var a answer
		if d.Decode(&a) != nil {
			break
		}
		l.mu.Lock()
		ch := l.pendingCalls[a.ID]
		delete(l.pendingCalls, a.ID)
		l.mu.Unlock()
		if ch != nil {
			ch <- a
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ch := range l.pendingCalls {
		close(ch)
	}
	l.pendingCalls = nil
}

func (l *lineConnection) call(ctx context.Context, c call) (answer, error) {
	ch := make(chan answer, 1)
	l.mu.Lock()
	if l.pendingCalls == nil {
		l.mu.Unlock()
		return answer{}, errProcessGone
	}
	l.nextID++
	c.ID = l.nextID
	l.pendingCalls[c.ID] = ch
	b, err := json.Marshal(c)
	if err == nil {
		_, err = l.in.Write(append(b, '\n'))
	}
	l.mu.Unlock()
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errProcessGone, err)
	}
	select {
	case a, ok := <-ch:
		if !ok {
			return answer{}, errProcessGone
		}
		return a, nil
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

func (l *lineConnection) closeInput() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.in.Close()
}
