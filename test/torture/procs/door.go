//go:build unix

// This file defines the calls to a tested process and the answers of the process. They are the same for all ways in
// which a process can be called. It also implements one of these ways: calls to a child process by JSON lines.

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

// Verbs of a call to a tested process.
const (
	verbRemember = "remember"
	verbForget   = "forget"
	verbGet      = "get"
	verbRecall   = "recall"
	// recall with a memory that is opened only for this call (only if the tested process uses the library directly)
	verbOpenAndRecall = "glance"
	verbListNames     = "names"   // list of all entries (only if the tested process uses the library directly)
	verbCompact       = "compact" // compaction (only if the tested process uses the library directly)
)

// callRequest is a request to a process.
type callRequest struct {
	ID         uint64    `json:"id"`
	Verb       string    `json:"verb"`
	Name       string    `json:"name,omitempty"`
	Content    string    `json:"content,omitempty"`
	OpID       string    `json:"op_id,omitempty"`
	IfVersion  uint64    `json:"if,omitempty"`
	Query      string    `json:"query,omitempty"`
	DropBefore time.Time `json:"before,omitzero"` // for a compaction: changes before this time may be dropped
}

// These are the reasons for a refusal.
const (
	refusalVersionConflict = "conflict"
	refusalEntryMissing    = "not found"
	refusalStoreBusy       = "busy"
)

// callAnswer is the answer of a process to a call.
type callAnswer struct {
	ID      uint64 `json:"id"`
	Version uint64 `json:"version,omitempty"` // version of the entry (for forget: the change's number)
	Content string `json:"content,omitempty"` // content of the entry (for get)
	// versions of entries by name (for calls with the verbs names, recall and glance)
	VersionsByName map[string]uint64 `json:"names,omitempty"`
	Refusal        string            `json:"refused,omitempty"` // reason for a refusal, or an error message
}

// processConnection is the connection to a process that writes or reads the store. Several goroutines may use it at the
// same time. The method call returns an error only if the process has ended. It is then unknown whether the request was
// executed.
type processConnection interface {
	call(ctx context.Context, c callRequest) (callAnswer, error)

	// closeInput tells the process that no more calls follow, if the transport supports this.
	closeInput()
}

// errProcessGone is the error of a call if the process ended before it answered.
var errProcessGone = errors.New("the process is gone")

// lineConnection is the connection to a child process that runs [ChildCommand]. Requests and answers are lines of JSON.
type lineConnection struct {
	mu         sync.Mutex // guards callWriter, nextID and pendingCalls
	callWriter io.WriteCloser
	nextID     uint64
	// calls that were not answered yet, by their IDs (nil after the process has ended)
	pendingCalls map[uint64]chan callAnswer
}

func newLineConnection(childInput io.WriteCloser, childOutput io.Reader) *lineConnection {
	l := &lineConnection{callWriter: childInput, pendingCalls: map[uint64]chan callAnswer{}}
	go l.readLines(childOutput)
	return l
}

func (l *lineConnection) readLines(childOutput io.Reader) {
	d := json.NewDecoder(bufio.NewReader(childOutput))
	for {
		var a callAnswer
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

func (l *lineConnection) call(ctx context.Context, c callRequest) (callAnswer, error) {
	ch := make(chan callAnswer, 1)
	l.mu.Lock()
	if l.pendingCalls == nil {
		l.mu.Unlock()
		return callAnswer{}, errProcessGone
	}
	l.nextID++
	c.ID = l.nextID
	l.pendingCalls[c.ID] = ch
	b, err := json.Marshal(c)
	if err == nil {
		_, err = l.callWriter.Write(append(b, '\n'))
	}
	l.mu.Unlock()
	if err != nil {
		return callAnswer{}, fmt.Errorf("%w: %w", errProcessGone, err)
	}
	select {
	case a, ok := <-ch:
		if !ok {
			return callAnswer{}, errProcessGone
		}
		return a, nil
	case <-ctx.Done():
		return callAnswer{}, ctx.Err()
	}
}

func (l *lineConnection) closeInput() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.callWriter.Close()
}
