// This file stores the state of a session in a file that the session's hooks share.

package inject

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// StateFile is the file with a session's [State]. Each hook is a separate process, and a hook that
// is registered for both the user and the project runs twice at the same time, so a lock on the
// file orders the changes.
//
// Each line of the file is a [stateLine] in JSON. Each line includes the sums over all earlier
// lines and itself, so the end of the file is enough to restore the state. A line that was not
// written completely is skipped.
type StateFile struct {
	Dir             string // directory with a file for each session
	Client, Session string
	Now             time.Time
}

// Events of lines, in addition to the places such as [AtPrompt].
const (
	eventShown   = "shown"   // a block was shown to the model
	eventCompact = "compact" // the client has compacted the conversation
	eventOther   = "other"   // any other report after a start
)

// stateLine is a line of the file. If Event is a place, the line records that a hook answers at this
// place.
type stateLine struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"`
	Key    string    `json:"key,omitempty"`   // identifies the answer at the place
	Place  string    `json:"place,omitempty"` // place at which the block was shown
	Prompt int       `json:"prompt"`          // number of prompts so far
	Tokens int       `json:"tokens"`          // total of shown tokens so far
	Shown  []string  `json:"shown,omitempty"`
	Prints []string  `json:"prints,omitempty"`
}

// Bounds of the files.
const (
	maxState   = 128 << 10 // maximum bytes of a file (a longer file is cut to its last half)
	stateKept  = 30 * 24 * time.Hour
	stateWait  = 200 * time.Millisecond // longest wait for another process
	sameAnswer = 5 * time.Second        // longest time between two reports of the same answer
)

func (f StateFile) name() string {
	sum := sha256.Sum256([]byte(f.Client + " " + f.Session))
	return hex.EncodeToString(sum[:12])
}

// Begin records that a hook is about to answer at a place, and returns the texts shown to the
// session before. The result isFirst is false if another process has recorded the same answer within
// the last five seconds. A repeated start counts as a new answer if anything else was reported in
// between.
func (f StateFile) Begin(ctx context.Context, place, key string) (s State, isFirst bool, err error) {
	return f.begin(ctx, place, key, sameAnswer)
}

// BeginTurn is like Begin for the prompt of a turn. The result isFirst is false if another process has
// recorded the same turn at any time.
func (f StateFile) BeginTurn(ctx context.Context, turn string) (s State, isFirst bool, err error) {
	return f.begin(ctx, AtPrompt, turn, math.MaxInt64)
}

// begin is like Begin, but an answer counts as the same if it was recorded less than maxAge ago.
func (f StateFile) begin(
	ctx context.Context,
	place, key string,
	maxAge time.Duration,
) (s State, isFirst bool, err error) {
	err = f.change(ctx, func(s0 State, lines []stateLine) *stateLine {
		s, isFirst = s0, !slices.ContainsFunc(lines, func(l stateLine) bool {
			return l.Event == place && l.Key == key && f.Now.Sub(l.Time).Abs() <= maxAge
		})
		isFirst = isFirst || (place == AtStart && !startsLast(lines))
		if !isFirst {
			return nil
		}
		l := &stateLine{Event: place, Key: key}
		s.add(l)
		return l
	})
	return s, isFirst, err
}

// Add records a block that is about to be shown to the model. It returns false, and records nothing, if
// all sentences of the block have been shown to the session in the meantime. A block for a start is
// always recorded, because [State.HasStart] tells whether the client still has it.
func (f StateFile) Add(ctx context.Context, b Block) (isNew bool, err error) {
	err = f.change(ctx, func(s State, _ []stateLine) *stateLine {
		isNew = b.Place == AtStart || len(b.Prints) == 0 || slices.ContainsFunc(b.Prints, func(p string) bool {
			return !s.Prints[p]
		})
		if !isNew {
			return nil
		}
		l := &stateLine{Event: eventShown, Place: b.Place, Tokens: b.Tokens, Prints: b.Prints}
		for _, e := range b.Shown {
			l.Shown = append(l.Shown, Key(e))
		}
		return l
	})
	return isNew, err
}

// RecordCompaction records that the session lost everything shown to it. Claude Code reports a compaction
// again after the start that follows it. That second report does not change the state.
func (f StateFile) RecordCompaction(ctx context.Context) error {
	return f.change(ctx, func(_ State, lines []stateLine) *stateLine {
		for _, l := range slices.Backward(lines) {
			if l.Event == AtStart && l.Key == "compact" {
				return &stateLine{Event: eventOther}
			} else if l.Event != eventShown {
				break
			}
		}
		return &stateLine{Event: eventCompact}
	})
}

// Past records that something was reported after a start, so that the next start with the same key
// counts as a new answer.
func (f StateFile) Past(ctx context.Context) error {
	_, _, lines, err := f.readState()
	if err != nil || len(lines) == 0 {
		return err
	}
	if !startsLast(lines) {
		return nil
	}
	return f.change(ctx, func(_ State, lines []stateLine) *stateLine {
		if !startsLast(lines) {
			return nil
		}
		return &stateLine{Event: eventOther}
	})
}

// startsLast reports whether the last line, apart from lines about shown blocks, is a start.
func startsLast(lines []stateLine) bool {
	for _, l := range slices.Backward(lines) {
		if l.Event != eventShown {
			return l.Event == AtStart
		}
	}
	return false
}

// emptyState returns the state of a session to which nothing was shown.
func emptyState() State {
	return State{Shown: map[string]int{}, Prints: map[string]bool{}, Stored: map[string]bool{}}
}

// State returns the texts shown to the session. If the file cannot be read, the state is
// empty.
func (f StateFile) State() State {
	_, s, _, _ := f.readState()
	return s
}

// add applies a line to the state.
func (s *State) add(l *stateLine) {
	switch {
	case l.Event == eventCompact, l.Event == AtStart && (l.Key == "compact" || l.Key == "clear"):
		clear(s.Shown)
		clear(s.Prints)
		clear(s.Stored)
		s.HasStart, s.Compacted = false, l.Key != "clear"
	case l.Event == AtPrompt:
		s.Prompt++
	case l.Event == eventShown && l.Place == AtStart:
		s.HasStart, s.Compacted = true, false
	}
	s.Tokens += l.Tokens
	for _, e := range l.Shown {
		s.Shown[e] = s.Prompt
	}
	for _, p := range l.Prints {
		s.Prints[p] = true
		if l.Place != AtStart {
			s.Stored[p] = true
		}
	}
}

// readState returns the content of the file, and the state and the lines that were parsed from it. A missing
// file is an empty state, not an error.
func (f StateFile) readState() ([]byte, State, []stateLine, error) {
	b, err := os.ReadFile(filepath.Join(f.Dir, f.name()))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	s, lines := parseState(b)
	return b, s, lines, err
}

// isValid reports whether the line has an event and no negative numbers.
func (l *stateLine) isValid() bool {
	return l.Event != "" && l.Prompt >= 0 && l.Tokens >= 0
}

// parseState parses the last [maxState] bytes of b, line by line. Lines that are not valid are skipped.
func parseState(b []byte) (s State, lines []stateLine) {
	s = emptyState()
	for line := range bytes.Lines(b[max(0, len(b)-maxState):]) {
		var l stateLine
		if json.Unmarshal(line, &l) != nil || !l.isValid() {
			continue
		}
		lines = append(lines, l)
		prompt, tokens := l.Prompt, l.Tokens
		s.add(&l)
		s.Prompt, s.Tokens = prompt, tokens // the line's own sums include this line
		for _, e := range l.Shown {
			s.Shown[e] = prompt
		}
	}
	return s, lines
}

// change locks the file and appends the line that next returns. If next returns nil, the file does not
// change. If another process keeps the lock for [stateWait], change returns context.DeadlineExceeded.
func (f StateFile) change(ctx context.Context, next func(State, []stateLine) *stateLine) error {
	ok, err := vfs.WithLock(ctx, f.Dir, f.name(), stateWait, func(*vfs.OS) error { return f.append(next) })
	if err == nil && !ok {
		err = context.DeadlineExceeded
	}
	return err
}

// append does the work of change after the caller has locked the file.
func (f StateFile) append(next func(State, []stateLine) *stateLine) error {
	b, s, lines, err := f.readState()
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		removeOld(f.Dir, f.Now.Add(-stateKept))
	}
	l := next(s, lines)
	if l == nil {
		return nil
	}
	sums := s
	s = emptyState()
	s.Prompt, s.Tokens = sums.Prompt, sums.Tokens
	s.add(l)
	l.Time = f.Now
	l.Prompt = s.Prompt
	l.Tokens = s.Tokens
	return f.write(b, l)
}

// write appends a line to the file, whose content is b.
func (f StateFile) write(b []byte, l *stateLine) error {
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	line = append(append([]byte{'\n'}, line...), '\n') // the first newline ends a line that was not written completely
	name := filepath.Join(f.Dir, f.name())
	if len(b)+len(line) > maxState {
		dir, err := vfs.Dir(f.Dir)
		if err != nil {
			return err
		}
		defer dir.Close()
		return vfs.WriteDerived(dir, f.name(), 0o600, b[len(b)-maxState/2:], line)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}

// removeOld removes the files in dir that were last written before oldest. Errors are ignored,
// because the next session tries again.
func removeOld(dir string, oldest time.Time) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		fi, err := f.Info()
		if err != nil || !fi.Mode().IsRegular() {
			continue
		}
		if fi.ModTime().Before(oldest) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
