// This file records in a file which texts were shown to a session. The hooks of the session share this file.

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

// StateFile is the file that stores a session's [ShownState]. Each hook is a separate process. If a hook is configured
// for both the user and the project, it runs twice at the same time. Therefore changes of the file are made under a
// lock.
//
// Each line of the file is a [stateLine] in JSON. A line contains the totals up to this line, so the end of the file
// is enough to restore the state. A line that was not written completely is skipped.
type StateFile struct {
	Dir             string // directory that contains a state file for each session
	Client, Session string
	Now             time.Time
}

// Kinds of lines in a session's state file. Further kinds are the moments at which a hook shows memory, such as
// [PlacePrompt].
const (
	eventShown      = "shown"   // a text from memory was shown to the model
	eventCompaction = "compact" // the client has compacted the conversation
	eventOther      = "other"   // the client has reported something else after a session's start
)

// stateLine is a line of the file that records which texts a session was shown. If EventKind is "start", "prompt" or
// "action", the line records that a hook begins to answer such an event.
type stateLine struct {
	Time         time.Time `json:"time"`
	EventKind    string    `json:"event"`
	AnswerKey    string    `json:"key,omitempty"`   // identifies what the hook answers, such as the turn of a prompt
	ShownPlace   string    `json:"place,omitempty"` // where the text was shown: "start", "prompt" or "action"
	PromptNumber int       `json:"prompt"`          // number of prompts in the session, up to and including this line
	// number of tokens that the session was shown, up to and including this line
	TotalTokens  int      `json:"tokens"`
	ShownKeys    []string `json:"shown,omitempty"`
	Fingerprints []string `json:"prints,omitempty"`
}

// Limits of the files that record which texts each session was shown.
const (
	// maximum size, in bytes, of the file that records which texts a session was shown; only the last half of a larger
	// file is kept
	maxStateFileBytes = 128 << 10
	maxStateAge       = 30 * 24 * time.Hour
	maxLockWait       = 200 * time.Millisecond // maximum time to wait for another process's lock
	// If a second hook process begins the same answer within this time, it is a duplicate of the first.
	maxRepeatDelay = 5 * time.Second
)

func (f StateFile) fileName() string {
	sum := sha256.Sum256([]byte(f.Client + " " + f.Session))
	return hex.EncodeToString(sum[:12])
}

// BeginAnswer records that a hook is about to show a text to the session. place is the moment: "start", "prompt" or
// "action". answerKey identifies the client's event that the hook answers, such as a turn. BeginAnswer returns which
// texts the session was already shown.
//
// isNewAnswer is false if another process recorded the same place and answerKey within the last five seconds. For the
// place "start", isNewAnswer is always true if the client reported another event after the last recorded start.
func (f StateFile) BeginAnswer(
	ctx context.Context,
	place, answerKey string,
) (s ShownState, isNewAnswer bool, err error) {
	return f.recordAnswer(ctx, place, answerKey, maxRepeatDelay)
}

// BeginTurn records that a hook is about to show a text with the prompt of a turn. It returns which texts the session
// was already shown. isNewTurn is false if any process recorded the same turn before, no matter how long ago.
func (f StateFile) BeginTurn(ctx context.Context, turnID string) (s ShownState, isNewTurn bool, err error) {
	return f.recordAnswer(ctx, PlacePrompt, turnID, math.MaxInt64)
}

// recordAnswer records that a hook is about to answer, and returns which texts the session was already shown.
// isNewAnswer is false if another hook process recorded the same answer less than maxAge ago. A repeated session start
// is a new answer if anything else was recorded in between.
func (f StateFile) recordAnswer(
	ctx context.Context,
	place, answerKey string,
	maxAge time.Duration,
) (s ShownState, isNewAnswer bool, err error) {
	err = f.lockAndAppend(ctx, func(s0 ShownState, lines []stateLine) *stateLine {
		s, isNewAnswer = s0, !slices.ContainsFunc(lines, func(l stateLine) bool {
			return l.EventKind == place && l.AnswerKey == answerKey && f.Now.Sub(l.Time).Abs() <= maxAge
		})
		isNewAnswer = isNewAnswer || (place == PlaceStart && !endsWithStartBlock(lines))
		if !isNewAnswer {
			return nil
		}
		l := &stateLine{EventKind: place, AnswerKey: answerKey}
		s.applyLine(l)
		return l
	})
	return s, isNewAnswer, err
}

// RecordBlock records a block that is about to be shown to the model. If all sentences of the block were shown to the
// session in the meantime, it records nothing and returns false. A block of a session's start is always recorded,
// because [ShownState.HasStart] depends on it.
func (f StateFile) RecordBlock(ctx context.Context, b Block) (isFirstRecord bool, err error) {
	err = f.lockAndAppend(ctx, func(s ShownState, _ []stateLine) *stateLine {
		isFirstRecord = b.Place == PlaceStart || len(b.Fingerprints) == 0 ||
			slices.ContainsFunc(b.Fingerprints, func(p string) bool {
				return !s.Prints[p]
			})
		if !isFirstRecord {
			return nil
		}
		l := &stateLine{
			EventKind:    eventShown,
			ShownPlace:   b.Place,
			TotalTokens:  b.Tokens,
			Fingerprints: b.Fingerprints,
		}
		for _, e := range b.ShownEntries {
			l.ShownKeys = append(l.ShownKeys, EntryKey(e))
		}
		return l
	})
	return isFirstRecord, err
}

// RecordCompaction records that the client compacted the conversation, so that the model does not have the texts shown
// before any more. Claude Code reports a compaction a second time after the session has started again. The second
// report changes nothing.
func (f StateFile) RecordCompaction(ctx context.Context) error {
	return f.lockAndAppend(ctx, func(_ ShownState, lines []stateLine) *stateLine {
		for _, l := range slices.Backward(lines) {
			if l.EventKind == PlaceStart && l.AnswerKey == "compact" {
				return &stateLine{EventKind: eventOther}
			} else if l.EventKind != eventShown {
				break
			}
		}
		return &stateLine{EventKind: eventCompaction}
	})
}

// RecordOtherReport records that the client reported another event after the session's start. If the client then
// reports a start of the same session again, the hook shows its text again. Without this record, the second start
// would be ignored as a duplicate of the first.
func (f StateFile) RecordOtherReport(ctx context.Context) error {
	_, _, lines, err := f.readState()
	if err != nil || len(lines) == 0 {
		return err
	}
	if !endsWithStartBlock(lines) {
		return nil
	}
	return f.lockAndAppend(ctx, func(_ ShownState, lines []stateLine) *stateLine {
		if !endsWithStartBlock(lines) {
			return nil
		}
		return &stateLine{EventKind: eventOther}
	})
}

// endsWithStartBlock reports whether the session's start is the last event in these lines of the session's file. Lines
// that only record a shown text are ignored.
func endsWithStartBlock(lines []stateLine) bool {
	for _, l := range slices.Backward(lines) {
		if l.EventKind != eventShown {
			return l.EventKind == PlaceStart
		}
	}
	return false
}

// newShownState returns the state of a session to which nothing was shown yet.
func newShownState() ShownState {
	return ShownState{Shown: map[string]int{}, Prints: map[string]bool{}, Stored: map[string]bool{}}
}

// ReadState returns the record of the texts that the session was shown. If the file cannot be read, it returns an
// empty state.
func (f StateFile) ReadState() ShownState {
	_, s, _, _ := f.readState()
	return s
}

// applyLine updates the record of shown texts with one line of the session's state file.
func (s *ShownState) applyLine(l *stateLine) {
	switch {
	case l.EventKind == eventCompaction,
		l.EventKind == PlaceStart && (l.AnswerKey == "compact" || l.AnswerKey == "clear"):
		clear(s.Shown)
		clear(s.Prints)
		clear(s.Stored)
		s.HasStart, s.Compacted = false, l.AnswerKey != "clear"
	case l.EventKind == PlacePrompt:
		s.Prompt++
	case l.EventKind == eventShown && l.ShownPlace == PlaceStart:
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

// readState returns the bytes of the file, and the state and lines parsed from them. If the file does not exist, the
// state is empty and the error is nil.
func (f StateFile) readState() ([]byte, ShownState, []stateLine, error) {
	b, err := os.ReadFile(filepath.Join(f.Dir, f.fileName()))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	s, lines := parseState(b)
	return b, s, lines, err
}

// isValid reports whether the line names its kind and contains no negative numbers.
func (l *stateLine) isValid() bool {
	return l.EventKind != "" && l.PromptNumber >= 0 && l.TotalTokens >= 0
}

// parseState parses the content b of a session's state file, of which it reads only the last [maxStateFileBytes]
// bytes. It returns the lines, and the record of shown texts that results from them. It skips invalid lines.
func parseState(b []byte) (s ShownState, lines []stateLine) {
	s = newShownState()
	for line := range bytes.Lines(b[max(0, len(b)-maxStateFileBytes):]) {
		var l stateLine
		if json.Unmarshal(line, &l) != nil || !l.isValid() {
			continue
		}
		lines = append(lines, l)
		prompt, tokens := l.PromptNumber, l.TotalTokens
		s.applyLine(&l)
		// The line's totals already include the prompt and the tokens that the line itself records.
		s.Prompt, s.Tokens = prompt, tokens
		for _, e := range l.ShownKeys {
			s.Shown[e] = prompt
		}
	}
	return s, lines
}

// lockAndAppend locks the session's file and calls nextLine with the texts and lines that the file records. It appends
// the line that nextLine returns. If nextLine returns nil, the file stays unchanged. If another process keeps the lock
// for [maxLockWait], lockAndAppend returns context.DeadlineExceeded.
func (f StateFile) lockAndAppend(ctx context.Context, nextLine func(ShownState, []stateLine) *stateLine) error {
	ok, err := vfs.WithLock(
		ctx,
		f.Dir,
		f.fileName(),
		maxLockWait,
		func(*vfs.OS) error { return f.appendNext(nextLine) },
	)
	if err == nil && !ok {
		err = context.DeadlineExceeded
	}
	return err
}

// appendNext calls nextLine with the content of the state file, and appends the line that nextLine returns. If
// nextLine returns nil, the file stays unchanged. The caller must hold the file's lock.
func (f StateFile) appendNext(nextLine func(ShownState, []stateLine) *stateLine) error {
	b, s, lines, err := f.readState()
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		removeOldFiles(f.Dir, f.Now.Add(-maxStateAge))
	}
	l := nextLine(s, lines)
	if l == nil {
		return nil
	}
	sums := s
	s = newShownState()
	s.Prompt, s.Tokens = sums.Prompt, sums.Tokens
	s.applyLine(l)
	l.Time = f.Now
	l.PromptNumber = s.Prompt
	l.TotalTokens = s.Tokens
	return f.appendLine(b, l)
}

// appendLine appends the line l to the file. fileBytes is the present content of the file.
func (f StateFile) appendLine(fileBytes []byte, l *stateLine) error {
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	// The leading line break separates the new line from an incomplete last line of the state file, if there is one.
	line = append(append([]byte{'\n'}, line...), '\n')
	name := filepath.Join(f.Dir, f.fileName())
	if len(fileBytes)+len(line) > maxStateFileBytes {
		dir, err := vfs.Dir(f.Dir)
		if err != nil {
			return err
		}
		defer dir.Close()
		return vfs.WriteDerived(dir, f.fileName(), 0o600, fileBytes[len(fileBytes)-maxStateFileBytes/2:], line)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}

// removeOldFiles removes the files in dir that were last changed before oldest. It ignores errors, because the next
// session tries again.
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
