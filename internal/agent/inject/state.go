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

// StateFile is the file with a session's [ShownState]. Each hook is a separate process, and a hook that
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

// Events of lines, in addition to the places such as [PlacePrompt].
const (
	eventShown   = "shown"   // a block was shown to the model
	eventCompact = "compact" // the client has compacted the conversation
	eventOther   = "other"   // any other report after a start
)

// stateLine is a line of the file. If Event is a place, the line records that a hook answers at this
// place.
type stateLine struct {
	Time         time.Time `json:"time"`
	Event        string    `json:"event"`
	Key          string    `json:"key,omitempty"`   // identifies the answer at the place
	ShownPlace   string    `json:"place,omitempty"` // place at which the block was shown
	PromptNumber int       `json:"prompt"`          // number of prompts so far
	TotalTokens  int       `json:"tokens"`          // total of shown tokens so far
	ShownKeys    []string  `json:"shown,omitempty"`
	Fingerprints []string  `json:"prints,omitempty"`
}

// Bounds of the files.
const (
	maxStateFile   = 128 << 10 // maximum bytes of a file (a longer file is cut to its last half)
	maxStateAge    = 30 * 24 * time.Hour
	maxLockWait    = 200 * time.Millisecond // longest wait for another process
	sameAnswerTime = 5 * time.Second        // longest time between two reports of the same answer
)

func (f StateFile) fileName() string {
	sum := sha256.Sum256([]byte(f.Client + " " + f.Session))
	return hex.EncodeToString(sum[:12])
}

// BeginAnswer records that a hook is about to answer at a place, and returns the texts shown to the
// session before. The result isFirst is false if another process has recorded the same answer within
// the last five seconds. A repeated start counts as a new answer if anything else was reported in
// between.
func (f StateFile) BeginAnswer(ctx context.Context, place, key string) (s ShownState, isFirst bool, err error) {
	return f.recordAnswer(ctx, place, key, sameAnswerTime)
}

// BeginTurn is like BeginAnswer for the prompt of a turn. The result isFirst is false if another process has
// recorded the same turn at any time.
func (f StateFile) BeginTurn(ctx context.Context, turn string) (s ShownState, isFirst bool, err error) {
	return f.recordAnswer(ctx, PlacePrompt, turn, math.MaxInt64)
}

// recordAnswer is like BeginAnswer, but an answer counts as the same if it was recorded less than maxAge ago.
func (f StateFile) recordAnswer(
	ctx context.Context,
	place, key string,
	maxAge time.Duration,
) (s ShownState, isFirst bool, err error) {
	err = f.lockAndAppend(ctx, func(s0 ShownState, lines []stateLine) *stateLine {
		s, isFirst = s0, !slices.ContainsFunc(lines, func(l stateLine) bool {
			return l.Event == place && l.Key == key && f.Now.Sub(l.Time).Abs() <= maxAge
		})
		isFirst = isFirst || (place == PlaceStart && !endsWithStart(lines))
		if !isFirst {
			return nil
		}
		l := &stateLine{Event: place, Key: key}
		s.applyLine(l)
		return l
	})
	return s, isFirst, err
}

// RecordBlock records a block that is about to be shown to the model. It returns false, and records nothing, if
// all sentences of the block have been shown to the session in the meantime. A block for a start is
// always recorded, because [State.HasStart] tells whether the client still has it.
func (f StateFile) RecordBlock(ctx context.Context, b Block) (isNew bool, err error) {
	err = f.lockAndAppend(ctx, func(s ShownState, _ []stateLine) *stateLine {
		isNew = b.Place == PlaceStart || len(b.Fingerprints) == 0 ||
			slices.ContainsFunc(b.Fingerprints, func(p string) bool {
				return !s.Prints[p]
			})
		if !isNew {
			return nil
		}
		l := &stateLine{Event: eventShown, ShownPlace: b.Place, TotalTokens: b.Tokens, Fingerprints: b.Fingerprints}
		for _, e := range b.ShownEntries {
			l.ShownKeys = append(l.ShownKeys, EntryKey(e))
		}
		return l
	})
	return isNew, err
}

// RecordCompaction records that the session lost everything shown to it. Claude Code reports a compaction
// again after the start that follows it. That second report does not change the state.
func (f StateFile) RecordCompaction(ctx context.Context) error {
	return f.lockAndAppend(ctx, func(_ ShownState, lines []stateLine) *stateLine {
		for _, l := range slices.Backward(lines) {
			if l.Event == PlaceStart && l.Key == "compact" {
				return &stateLine{Event: eventOther}
			} else if l.Event != eventShown {
				break
			}
		}
		return &stateLine{Event: eventCompact}
	})
}

// RecordOtherReport records that something was reported after a start, so that the next start with the same key
// counts as a new answer.
func (f StateFile) RecordOtherReport(ctx context.Context) error {
	_, _, lines, err := f.readState()
	if err != nil || len(lines) == 0 {
		return err
	}
	if !endsWithStart(lines) {
		return nil
	}
	return f.lockAndAppend(ctx, func(_ ShownState, lines []stateLine) *stateLine {
		if !endsWithStart(lines) {
			return nil
		}
		return &stateLine{Event: eventOther}
	})
}

// endsWithStart reports whether the last line, apart from lines about shown blocks, is a start.
func endsWithStart(lines []stateLine) bool {
	for _, l := range slices.Backward(lines) {
		if l.Event != eventShown {
			return l.Event == PlaceStart
		}
	}
	return false
}

// emptyState returns the state of a session to which nothing was shown.
func emptyState() ShownState {
	return ShownState{Shown: map[string]int{}, Prints: map[string]bool{}, Stored: map[string]bool{}}
}

// ReadState returns the texts shown to the session. If the file cannot be read, the state is
// empty.
func (f StateFile) ReadState() ShownState {
	_, s, _, _ := f.readState()
	return s
}

// applyLine applies a line to the state.
func (s *ShownState) applyLine(l *stateLine) {
	switch {
	case l.Event == eventCompact, l.Event == PlaceStart && (l.Key == "compact" || l.Key == "clear"):
		clear(s.Shown)
		clear(s.Prints)
		clear(s.Stored)
		s.HasStart, s.Compacted = false, l.Key != "clear"
	case l.Event == PlacePrompt:
		s.Prompt++
	case l.Event == eventShown && l.ShownPlace == PlaceStart:
		s.HasStart, s.Compacted = true, false
	}
	s.Tokens += l.TotalTokens
	for _, e := range l.ShownKeys {
		s.Shown[e] = s.Prompt
	}
	for _, p := range l.Fingerprints {
		s.Prints[p] = true
		if l.ShownPlace != PlaceStart {
			s.Stored[p] = true
		}
	}
}

// readState returns the content of the file, and the state and the lines that were parsed from it. A missing
// file is an empty state, not an error.
func (f StateFile) readState() ([]byte, ShownState, []stateLine, error) {
	b, err := os.ReadFile(filepath.Join(f.Dir, f.fileName()))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	s, lines := parseState(b)
	return b, s, lines, err
}

// isValid reports whether the line has an event and no negative numbers.
func (l *stateLine) isValid() bool {
	return l.Event != "" && l.PromptNumber >= 0 && l.TotalTokens >= 0
}

// parseState parses the last [maxStateFile] bytes of b, line by line. Lines that are not valid are skipped.
func parseState(b []byte) (s ShownState, lines []stateLine) {
	s = emptyState()
	for line := range bytes.Lines(b[max(0, len(b)-maxStateFile):]) {
		var l stateLine
		if json.Unmarshal(line, &l) != nil || !l.isValid() {
			continue
		}
		lines = append(lines, l)
		prompt, tokens := l.PromptNumber, l.TotalTokens
		s.applyLine(&l)
		s.Prompt, s.Tokens = prompt, tokens // the line's own sums include this line
		for _, e := range l.ShownKeys {
			s.Shown[e] = prompt
		}
	}
	return s, lines
}

// lockAndAppend locks the file and appends the line that next returns. If next returns nil, the file does not
// change. If another process keeps the lock for [maxLockWait], lockAndAppend returns context.DeadlineExceeded.
func (f StateFile) lockAndAppend(ctx context.Context, next func(ShownState, []stateLine) *stateLine) error {
	ok, err := vfs.WithLock(ctx, f.Dir, f.fileName(), maxLockWait, func(*vfs.OS) error { return f.appendNext(next) })
	if err == nil && !ok {
		err = context.DeadlineExceeded
	}
	return err
}

// appendNext does the work of lockAndAppend after the caller has locked the file.
func (f StateFile) appendNext(next func(ShownState, []stateLine) *stateLine) error {
	b, s, lines, err := f.readState()
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		removeOldFiles(f.Dir, f.Now.Add(-maxStateAge))
	}
	l := next(s, lines)
	if l == nil {
		return nil
	}
	sums := s
	s = emptyState()
	s.Prompt, s.Tokens = sums.Prompt, sums.Tokens
	s.applyLine(l)
	l.Time = f.Now
	l.PromptNumber = s.Prompt
	l.TotalTokens = s.Tokens
	return f.appendLine(b, l)
}

// appendLine appends a line to the file, whose content is b.
func (f StateFile) appendLine(b []byte, l *stateLine) error {
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	line = append(append([]byte{'\n'}, line...), '\n') // the first newline ends a line that was not written completely
	name := filepath.Join(f.Dir, f.fileName())
	if len(b)+len(line) > maxStateFile {
		dir, err := vfs.Dir(f.Dir)
		if err != nil {
			return err
		}
		defer dir.Close()
		return vfs.WriteDerived(dir, f.fileName(), 0o600, b[len(b)-maxStateFile/2:], line)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}

// removeOldFiles removes the files in dir that were last written before oldest. Errors are ignored,
// because the next session tries again.
func removeOldFiles(dir string, oldest time.Time) {
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
