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

// ShownTextsFile is the file that stores a session's [SessionShownTexts]. Each hook is a separate process. If a hook
// is configured for both the user and the project, it runs twice at the same time. Therefore changes of the file are
// made under a lock.
//
// Each line of the file is a [shownTextsLine] in JSON. A line contains the totals up to this line, so the end of the
// file is enough to restore the state. A line that was not written completely is skipped.
type ShownTextsFile struct {
	Dir             string // directory that contains a state file for each session
	Client, Session string
	Now             time.Time
}

// These are kinds of lines in a session's state file. The constants for hook events, such as [HookEventPrompt], are
// further kinds of lines. A line of such a kind records that a hook begins to answer this event.
const (
	eventTextShown        = "shown"   // a text from memory was shown to the model
	eventCompaction       = "compact" // the client has compacted the conversation
	eventReportAfterStart = "other"   // the client has reported something else after a session's start
)

// shownTextsLine is a line of the file that records which texts a session was shown. If EventKind is "start", "prompt"
// or "action", the line records that a hook begins to answer the start of the session, a prompt, or an action of the
// agent.
type shownTextsLine struct {
	Time      time.Time `json:"time"`
	EventKind string    `json:"event"`
	// identifies the event that the hook answers, such as the turn of a prompt
	AnsweredHookEventKey string `json:"key,omitempty"`
	ShownAtEventKind     string `json:"place,omitempty"` // where the text was shown: "start", "prompt" or "action"
	// number of prompts in the session, up to and including this line
	PromptNumber int `json:"prompt"`
	// number of tokens that the session was shown, up to and including this line
	TotalTokens    int      `json:"tokens"`
	ShownEntryKeys []string `json:"shown,omitempty"`
	Fingerprints   []string `json:"prints,omitempty"`
}

// Limits of the files that record which texts each session was shown.
const (
	// maximum size, in bytes, of the file that records which texts a session was shown; only the last half of a larger
	// file is kept
	maxShownTextsFileBytes = 128 << 10
	maxShownTextsFileAge   = 30 * 24 * time.Hour
	maxLockWait            = 200 * time.Millisecond // maximum time to wait for another process's lock
	// If a second hook process begins the same answer within this time, it is a duplicate of the first.
	maxDuplicateAnswerGap = 5 * time.Second
)

func (f ShownTextsFile) fileName() string {
	sum := sha256.Sum256([]byte(f.Client + " " + f.Session))
	return hex.EncodeToString(sum[:12])
}

// BeginHookAnswer records that a hook is about to show a text to the session. The argument hookEvent is "start",
// "prompt" or "action". The argument answerKey identifies the client's event that the hook answers, such as a turn. The
// result s describes the texts that the session was already shown.
//
// The result isNewAnswer is false if the same hookEvent and answerKey were already recorded within the last five
// seconds, for example by another process. In this case BeginHookAnswer records nothing. The event "start" has an
// exception: isNewAnswer is true if another event was recorded after the last start.
func (f ShownTextsFile) BeginHookAnswer(
	ctx context.Context,
	hookEvent, answerKey string,
) (s SessionShownTexts, isNewAnswer bool, err error) {
	return f.recordHookAnswer(ctx, hookEvent, answerKey, maxDuplicateAnswerGap)
}

// BeginTurn records that a hook is about to answer the prompt of a turn. The result s lists the texts that were already
// shown in this session. If a process has recorded the same turnID before, no matter how long ago, isNewTurn is false
// and BeginTurn records nothing.
func (f ShownTextsFile) BeginTurn(
	ctx context.Context,
	turnID string,
) (s SessionShownTexts, isNewTurn bool, err error) {
	return f.recordHookAnswer(ctx, HookEventPrompt, turnID, math.MaxInt64)
}

// recordHookAnswer records that a hook is about to answer an event, and returns true for isNewAnswer. If an answer with
// the same hookEvent and answerKey was recorded at most maxAge ago, the answer is a repetition. Then recordHookAnswer
// records nothing, and isNewAnswer is false.
//
// The start of a session is an exception. It is a repetition only if, in addition, the last recorded event is the start
// of a session. The result s describes the texts that the session has already been shown.
func (f ShownTextsFile) recordHookAnswer(
	ctx context.Context,
	hookEvent, answerKey string,
	maxAge time.Duration,
) (s SessionShownTexts, isNewAnswer bool, err error) {
	err = f.lockAndAppend(ctx, func(s0 SessionShownTexts, lines []shownTextsLine) *shownTextsLine {
		s, isNewAnswer = s0, !slices.ContainsFunc(lines, func(l shownTextsLine) bool {
			return l.EventKind == hookEvent && l.AnsweredHookEventKey == answerKey && f.Now.Sub(l.Time).Abs() <= maxAge
		})
		isNewAnswer = isNewAnswer || (hookEvent == HookEventSessionStart && !endsWithSessionStart(lines))
		if !isNewAnswer {
			return nil
		}
		l := &shownTextsLine{EventKind: hookEvent, AnsweredHookEventKey: answerKey}
		s.applyLine(l)
		return l
	})
	return s, isNewAnswer, err
}

// RecordBlock records a block that is about to be shown to the model. If all sentences of the block were already shown
// to the session, for example by another hook process, RecordBlock records nothing and returns false. A block without
// fingerprints is always recorded. A block of a session's start is always recorded too, because
// [SessionShownTexts.HasSessionStartBlock] depends on it.
func (f ShownTextsFile) RecordBlock(ctx context.Context, b ShownBlock) (isFirstRecord bool, err error) {
	err = f.lockAndAppend(ctx, func(s SessionShownTexts, _ []shownTextsLine) *shownTextsLine {
		isFirstRecord = b.HookEvent == HookEventSessionStart || len(b.SentenceFingerprints) == 0 ||
			slices.ContainsFunc(b.SentenceFingerprints, func(p string) bool {
				return !s.SentenceFingerprints[p]
			})
		if !isFirstRecord {
			return nil
		}
		l := &shownTextsLine{
			EventKind:        eventTextShown,
			ShownAtEventKind: b.HookEvent,
			TotalTokens:      b.TokenCount,
			Fingerprints:     b.SentenceFingerprints,
		}
		for _, e := range b.ShownEntries {
			l.ShownEntryKeys = append(l.ShownEntryKeys, ShownEntryKey(e))
		}
		return l
	})
	return isFirstRecord, err
}

// RecordCompaction records that the client compacted the conversation. After a compaction, the model does not have the
// texts that were shown before. Claude Code reports the same compaction twice: before and after the session is started
// again. For the second report, RecordCompaction appends a line that has no effect.
func (f ShownTextsFile) RecordCompaction(ctx context.Context) error {
	return f.lockAndAppend(ctx, func(_ SessionShownTexts, lines []shownTextsLine) *shownTextsLine {
		for _, l := range slices.Backward(lines) {
			if l.EventKind == HookEventSessionStart && l.AnsweredHookEventKey == "compact" {
				return &shownTextsLine{EventKind: eventReportAfterStart}
			} else if l.EventKind != eventTextShown {
				break
			}
		}
		return &shownTextsLine{EventKind: eventCompaction}
	})
}

// RecordReportAfterStart records that the client reported another event after the start of the session. If the client
// then reports the start of the same session again, the hook shows the text for the start again. Without this record,
// the hook would ignore the second start as a duplicate of the first.
func (f ShownTextsFile) RecordReportAfterStart(ctx context.Context) error {
	_, _, lines, err := f.readShownTexts()
	if err != nil || len(lines) == 0 {
		return err
	}
	if !endsWithSessionStart(lines) {
		return nil
	}
	return f.lockAndAppend(ctx, func(_ SessionShownTexts, lines []shownTextsLine) *shownTextsLine {
		if !endsWithSessionStart(lines) {
			return nil
		}
		return &shownTextsLine{EventKind: eventReportAfterStart}
	})
}

// endsWithSessionStart reports whether the session's start is the last event in these lines of the session's file.
// Lines that only record a shown text are ignored.
func endsWithSessionStart(lines []shownTextsLine) bool {
	for _, l := range slices.Backward(lines) {
		if l.EventKind != eventTextShown {
			return l.EventKind == HookEventSessionStart
		}
	}
	return false
}

// newSessionShownTexts returns the state of a session to which nothing was shown yet.
func newSessionShownTexts() SessionShownTexts {
	return SessionShownTexts{
		LastPromptByEntryKey: map[string]int{},
		SentenceFingerprints: map[string]bool{},
		StoredFingerprints:   map[string]bool{},
	}
}

// ReadState returns the record of the texts that the session was shown. If the file cannot be read, it returns an
// empty state.
func (f ShownTextsFile) ReadState() SessionShownTexts {
	_, s, _, _ := f.readShownTexts()
	return s
}

// applyLine updates the record of shown texts with one line from the session's state file. It adds l.TotalTokens to
// s.Tokens, so this field of a new line must contain only the tokens of the line's own text.
func (s *SessionShownTexts) applyLine(l *shownTextsLine) {
	switch {
	case l.EventKind == eventCompaction,
		l.EventKind == HookEventSessionStart && (l.AnsweredHookEventKey == "compact" ||
			l.AnsweredHookEventKey == "clear"):
		clear(s.LastPromptByEntryKey)
		clear(s.SentenceFingerprints)
		clear(s.StoredFingerprints)
		s.HasSessionStartBlock, s.Compacted = false, l.AnsweredHookEventKey != "clear"
	case l.EventKind == HookEventPrompt:
		s.PromptNumber++
	case l.EventKind == eventTextShown && l.ShownAtEventKind == HookEventSessionStart:
		s.HasSessionStartBlock, s.Compacted = true, false
	}
	s.Tokens += l.TotalTokens
	for _, e := range l.ShownEntryKeys {
		s.LastPromptByEntryKey[e] = s.PromptNumber
	}
	for _, p := range l.Fingerprints {
		s.SentenceFingerprints[p] = true
		if l.ShownAtEventKind != HookEventSessionStart {
			s.StoredFingerprints[p] = true
		}
	}
}

// readShownTexts returns the bytes of the file, and the state and lines parsed from them. If the file does not exist,
// the state is empty and the error is nil.
func (f ShownTextsFile) readShownTexts() ([]byte, SessionShownTexts, []shownTextsLine, error) {
	b, err := os.ReadFile(filepath.Join(f.Dir, f.fileName()))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	s, lines := parseShownTexts(b)
	return b, s, lines, err
}

// isValid reports whether the line names its kind and contains no negative numbers.
func (l *shownTextsLine) isValid() bool {
	return l.EventKind != "" && l.PromptNumber >= 0 && l.TotalTokens >= 0
}

// parseShownTexts parses the content b of a session's state file, of which it reads only the last
// [maxShownTextsFileBytes] bytes. It returns the lines, and the record of shown texts that results from them. It skips
// invalid lines.
func parseShownTexts(b []byte) (s SessionShownTexts, lines []shownTextsLine) {
	s = newSessionShownTexts()
	for line := range bytes.Lines(b[max(0, len(b)-maxShownTextsFileBytes):]) {
		var l shownTextsLine
		if json.Unmarshal(line, &l) != nil || !l.isValid() {
			continue
		}
		lines = append(lines, l)
		prompt, tokens := l.PromptNumber, l.TotalTokens
		s.applyLine(&l)
		// The fields PromptNumber and TotalTokens of a line are totals which already include the line itself. But
		// applyLine has added the line's values to the totals in s. Therefore set the totals in s to the line's totals.
		s.PromptNumber, s.Tokens = prompt, tokens
		for _, e := range l.ShownEntryKeys {
			s.LastPromptByEntryKey[e] = prompt
		}
	}
	return s, lines
}

// lockAndAppend locks the session's file and calls nextLine with the texts and lines that the file records. It appends
// the line that nextLine returns. If nextLine returns nil, the file stays unchanged. If another process keeps the lock
// for [maxLockWait], lockAndAppend returns context.DeadlineExceeded.
func (f ShownTextsFile) lockAndAppend(
	ctx context.Context,
	nextLine func(SessionShownTexts, []shownTextsLine) *shownTextsLine,
) error {
	ok, err := vfs.WithLock(
		ctx,
		f.Dir,
		f.fileName(),
		maxLockWait,
		func(*vfs.OS) error { return f.appendNextLine(nextLine) },
	)
	if err == nil && !ok {
		err = context.DeadlineExceeded
	}
	return err
}

// appendNextLine calls nextLine with the content of the state file, and appends the line that nextLine returns. If
// nextLine returns nil, the file stays unchanged. The caller must hold the file's lock.
func (f ShownTextsFile) appendNextLine(nextLine func(SessionShownTexts, []shownTextsLine) *shownTextsLine) error {
	b, s, lines, err := f.readShownTexts()
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		removeOldFiles(f.Dir, f.Now.Add(-maxShownTextsFileAge))
	}
	l := nextLine(s, lines)
	if l == nil {
		return nil
	}
	sums := s
	s = newSessionShownTexts()
	s.PromptNumber, s.Tokens = sums.PromptNumber, sums.Tokens
	s.applyLine(l)
	l.Time = f.Now
	l.PromptNumber = s.PromptNumber
	l.TotalTokens = s.Tokens
	return f.appendLine(b, l)
}

// appendLine appends the line l to the file. fileBytes is the present content of the file. If the file would become
// longer than maxShownTextsFileBytes, appendLine replaces it by a file that contains only the end of fileBytes (half
// this limit) and the new line.
func (f ShownTextsFile) appendLine(fileBytes []byte, l *shownTextsLine) error {
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	// The leading line break separates the new line from an incomplete last line of the state file, if there is one.
	line = append(append([]byte{'\n'}, line...), '\n')
	name := filepath.Join(f.Dir, f.fileName())
	if len(fileBytes)+len(line) > maxShownTextsFileBytes {
		dir, err := vfs.Dir(f.Dir)
		if err != nil {
			return err
		}
		defer dir.Close()
		return vfs.WriteDerived(dir, f.fileName(), 0o600, fileBytes[len(fileBytes)-maxShownTextsFileBytes/2:], line)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}

// removeOldFiles removes the regular files in dir that were last changed before the time oldestKeptTime. It ignores
// errors, because the next session tries again.
func removeOldFiles(dir string, oldestKeptTime time.Time) {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		fi, err := f.Info()
		if err != nil || !fi.Mode().IsRegular() {
			continue
		}
		if fi.ModTime().Before(oldestKeptTime) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}
