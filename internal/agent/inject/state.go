// The state of a session, in a file that its hooks share.

package inject

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// StateFile is the file that keeps the [State] of a session. Each hook is a process of
// its own, and one that is registered for the user and for the project runs twice at
// once: a lock on the file orders their changes.
//
// A line of the file is a [stateLine] as JSON, with the sums up to it. So the end of
// the file is enough, and a line that was not finished is passed over.
type StateFile struct {
	Dir             string // with a file for each session
	Client, Session string
	Now             time.Time
}

// The events of lines that are no places.
const (
	eventShown   = "shown"   // something was put before the model
	eventCompact = "compact" // the client has compacted the conversation
	eventOther   = "other"   // anything else, after a start
)

// stateLine is a line of the file. One of a place records that a hook answers there.
type stateLine struct {
	Time   time.Time `json:"time"`
	Event  string    `json:"event"`
	Key    string    `json:"key,omitempty"`   // the same for the same answer of the place
	Place  string    `json:"place,omitempty"` // at which something was shown
	Prompt int       `json:"prompt"`          // prompts so far
	Tokens int       `json:"tokens"`          // shown so far
	Shown  []string  `json:"shown,omitempty"`
	Prints []string  `json:"prints,omitempty"`
}

// Bounds of the files.
const (
	maxState   = 128 << 10 // bytes of a file, of which then the last half is kept
	stateKept  = 30 * 24 * time.Hour
	stateWait  = 200 * time.Millisecond // for another process
	sameAnswer = 5 * time.Second        // between two reports of the same
)

func (f StateFile) name() string {
	sum := sha256.Sum256([]byte(f.Client + " " + f.Session))
	return hex.EncodeToString(sum[:12])
}

// Begin records that a hook is about to answer at a place, and returns what the session
// was shown before. First is false when another process has recorded the same answer:
// with the key of a turn at any time, else just before. A second start is another one
// when anything was reported between them.
func (f StateFile) Begin(ctx context.Context, place, key string, turn bool) (s State, first bool, err error) {
	err = f.change(ctx, func(s0 State, lines []stateLine) *stateLine {
		s, first = s0, !slices.ContainsFunc(lines, func(l stateLine) bool {
			return l.Event == place && l.Key == key && (turn || f.Now.Sub(l.Time).Abs() <= sameAnswer)
		})
		first = first || (place == AtStart && !startsLast(lines))
		if !first {
			return nil
		}
		l := &stateLine{Event: place, Key: key}
		s.add(l)
		return l
	})
	return s, first, err
}

// Add records what is about to be put before the model. It returns false when the
// session was shown all of that meanwhile. What stands at a start is recorded in any case:
// [State.HasStart] says whether the client has it already.
func (f StateFile) Add(ctx context.Context, b Block) (fresh bool, err error) {
	err = f.change(ctx, func(s State, _ []stateLine) *stateLine {
		fresh = b.Place == AtStart || len(b.Prints) == 0 || slices.ContainsFunc(b.Prints, func(p string) bool {
			return !s.Prints[p]
		})
		if !fresh {
			return nil
		}
		l := &stateLine{Event: eventShown, Place: b.Place, Tokens: b.Tokens, Prints: b.Prints}
		for _, e := range b.Shown {
			l.Shown = append(l.Shown, Key(e))
		}
		return l
	})
	return fresh, err
}

// Compacted records that the session has lost what it was shown. Claude Code reports a
// compaction after the start that follows it: such a report changes nothing.
func (f StateFile) Compacted(ctx context.Context) error {
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

// Past records that something was reported after a start: from then on the same start
// is another one.
func (f StateFile) Past(ctx context.Context) error {
	_, _, lines, err := f.read()
	if err != nil || len(lines) == 0 || !startsLast(lines) {
		return err
	}
	return f.change(ctx, func(_ State, lines []stateLine) *stateLine {
		if !startsLast(lines) {
			return nil
		}
		return &stateLine{Event: eventOther}
	})
}

// startsLast reports whether a start, and what was shown at it, stand last.
func startsLast(lines []stateLine) bool {
	for _, l := range slices.Backward(lines) {
		if l.Event != eventShown {
			return l.Event == AtStart
		}
	}
	return false
}

// State returns what the session was shown, nothing where that cannot be read.
func (f StateFile) State() State {
	_, s, _, _ := f.read()
	return s
}

// add applies a line.
func (s *State) add(l *stateLine) {
	switch {
	case l.Event == eventCompact, l.Event == AtStart && (l.Key == "compact" || l.Key == "clear"):
		clear(s.Shown)
		clear(s.Prints)
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
	}
}

// read returns the bytes of the file, the state that it has, and its lines.
func (f StateFile) read() ([]byte, State, []stateLine, error) {
	b, err := os.ReadFile(filepath.Join(f.Dir, f.name()))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	s, lines := parseState(b)
	return b, s, lines, err
}

// parseState reads lines, and passes over what is none.
func parseState(b []byte) (s State, lines []stateLine) {
	s = State{Shown: map[string]int{}, Prints: map[string]bool{}}
	for line := range bytes.Lines(b[max(0, len(b)-maxState):]) {
		var l stateLine
		if json.Unmarshal(line, &l) != nil || l.Event == "" || l.Prompt < 0 || l.Tokens < 0 {
			continue
		}
		lines = append(lines, l)
		prompt, tokens := l.Prompt, l.Tokens
		s.add(&l)
		s.Prompt, s.Tokens = prompt, tokens // the sums up to it
		for _, e := range l.Shown {
			s.Shown[e] = prompt
		}
	}
	return s, lines
}

// change appends the line that next returns, if any, when no other process does.
func (f StateFile) change(ctx context.Context, next func(State, []stateLine) *stateLine) error {
	ok, err := vfs.WithLock(ctx, f.Dir, f.name(), stateWait, func(*vfs.OS) error { return f.append(next) })
	if err == nil && !ok {
		err = context.DeadlineExceeded
	}
	return err
}

// append does what change does, under the lock.
func (f StateFile) append(next func(State, []stateLine) *stateLine) error {
	b, s, lines, err := f.read()
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
	s = State{Prompt: s.Prompt, Tokens: s.Tokens, Shown: map[string]int{}, Prints: map[string]bool{}}
	s.add(l)
	l.Time = f.Now
	l.Prompt = s.Prompt
	l.Tokens = s.Tokens
	return f.write(b, l)
}

// write writes a line after the bytes of the file.
func (f StateFile) write(b []byte, l *stateLine) error {
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	line = append(append([]byte{'\n'}, line...), '\n') // after a line that was not finished, too
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

// removeOld removes the files of a directory that were not written to since a time.
// What cannot be removed stays for the next session.
func removeOld(dir string, since time.Time) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		if fi, err := f.Info(); err == nil && fi.Mode().IsRegular() && fi.ModTime().Before(since) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
