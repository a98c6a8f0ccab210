// This file tests the file that records what was shown to a session.

package inject

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

func stateFile(t *testing.T) ShownTextsFile {
	return ShownTextsFile{
		Dir:     filepath.Join(t.TempDir(), "shown"),
		Client:  "claude",
		Session: "s1",
		Now:     time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC),
	}
}

// block returns a block with one note and one fingerprint.
func block(name, print string) ShownBlock {
	b := ShownBlock{SentenceFingerprints: []string{print}}
	b.TokenCount, b.ShownEntries = 10, []session.ShownEntry{{SourceKind: SourceKindNotes, Name: name}}
	return b
}

func (f ShownTextsFile) mustBegin(t *testing.T, place, key string, turn, want bool) SessionShownTexts {
	t.Helper()
	var s SessionShownTexts
	var first bool
	var err error
	if turn {
		s, first, err = f.BeginTurn(t.Context(), key)
	} else {
		s, first, err = f.BeginHookAnswer(t.Context(), place, key)
	}
	if err != nil || first != want {
		t.Fatalf("Begin(%s, %s) = first %t, %v; want %t", place, key, first, err, want)
	}
	return s
}

func (f ShownTextsFile) mustAdd(t *testing.T, b ShownBlock, want bool) {
	t.Helper()
	if fresh, err := f.RecordBlock(t.Context(), b); err != nil || fresh != want {
		t.Fatalf("Add(%v) = %t, %v; want %t", b.SentenceFingerprints, fresh, err, want)
	}
}

// TestState follows a session through several prompts and a compaction.
func TestState(t *testing.T) {
	f := stateFile(t)
	if s := f.mustBegin(t, HookEventPrompt, "1", true, true); s.PromptNumber != 1 || len(s.LastPromptByEntryKey) > 0 {
		t.Errorf("the first prompt has the state %+v", s)
	}
	f.mustAdd(t, block("style", "tabs"), true)
	f.mustAdd(t, block("style", "tabs"), false)
	f.mustBegin(t, HookEventPrompt, "1", true, false)
	f.mustBegin(t, HookEventPrompt, "2", true, true)
	f.mustAdd(t, block("ship", "tuesdays"), true)
	if s := f.ReadState(); s.PromptNumber != 2 || s.Tokens != 20 ||
		!maps.Equal(
			s.LastPromptByEntryKey,
			map[string]int{"notes style": 1, "notes ship": 2},
		) || !s.SentenceFingerprints["tabs"] ||
		!s.SentenceFingerprints["tuesdays"] {
		t.Errorf("the state is %+v", s)
	}
	other := f
	other.Session = "s2"
	if s := other.mustBegin(t, HookEventPrompt, "1", true, true); s.PromptNumber != 1 {
		t.Errorf("another session has the state %+v", s)
	}
	if err := f.RecordCompaction(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := f.ReadState(); s.PromptNumber != 2 || s.Tokens != 20 ||
		len(s.LastPromptByEntryKey)+len(s.SentenceFingerprints) > 0 {
		t.Errorf("after a compaction the state is %+v", s)
	}
	f.mustAdd(t, block("style", "tabs"), true)
	f.mustBegin(t, HookEventSessionStart, "resume", false, true)
	if s := f.ReadState(); len(s.LastPromptByEntryKey) != 1 {
		t.Errorf("a resumed session has the state %+v", s)
	}
	f.mustBegin(t, HookEventSessionStart, "compact", false, true)
	if s := f.ReadState(); len(s.LastPromptByEntryKey) != 0 || s.Tokens != 30 {
		t.Errorf("a session that starts again after a compaction has the state %+v", s)
	}
}

// TestHasStart checks that HasSessionStartBlock and Compacted in the state correspond to the texts in the client's
// context.
func TestHasStart(t *testing.T) {
	f := stateFile(t)
	shown := block("style", "tabs")
	shown.HookEvent = HookEventSessionStart
	has := func(when string, start, compacted bool) {
		t.Helper()
		if s := f.ReadState(); s.HasSessionStartBlock != start || s.Compacted != compacted {
			t.Errorf(
				"%s: HasStart is %t, Compacted %t; want %t, %t",
				when,
				s.HasSessionStartBlock,
				s.Compacted,
				start,
				compacted,
			)
		}
	}
	has("at first", false, false)
	f.mustBegin(t, HookEventSessionStart, "startup", false, true)
	has("before anything is shown", false, false)
	f.mustAdd(t, shown, true)
	has("shown", true, false)
	f.mustBegin(t, HookEventPrompt, "1", true, true)
	f.mustBegin(t, HookEventSessionStart, "resume", false, true)
	has("resumed", true, false)
	if err := f.RecordCompaction(t.Context()); err != nil {
		t.Fatal(err)
	}
	has("compacted", false, true)
	f.mustBegin(t, HookEventSessionStart, "resume", false, true)
	f.mustAdd(t, shown, true)
	has("resumed after it", true, false)
	// Claude Code reports the compaction only after the session has started again.
	f.mustBegin(t, HookEventSessionStart, "compact", false, true)
	has("after a compaction", false, true)
	f.mustAdd(t, shown, true)
	if err := f.RecordCompaction(t.Context()); err != nil {
		t.Fatal(err)
	}
	has("whose report comes late", true, false)
	f.mustBegin(t, HookEventSessionStart, "clear", false, true)
	has("cleared", false, false)
}

// TestBeginAgain tests when BeginHookAnswer treats a repeated event as a new one, which the hook must answer again. A
// repeated session start is new if the client has reported another event in between. A repeated prompt without a turn
// ID is new if more than maxDuplicateAnswerGap has passed.
func TestBeginAgain(t *testing.T) {
	f := stateFile(t)
	f.mustBegin(t, HookEventSessionStart, "startup", false, true)
	f.mustAdd(t, block("style", "tabs"), true)
	f.mustBegin(t, HookEventSessionStart, "startup", false, false)
	f.mustBegin(t, HookEventSessionStart, "resume", false, true)
	for range 2 {
		if err := f.RecordReportAfterStart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, lines, _ := f.readShownTexts(); len(lines) != 4 || lines[3].EventKind != eventReportAfterStart {
		t.Errorf("the lines are %+v", lines)
	}
	f.mustBegin(t, HookEventSessionStart, "resume", false, true)
	f.mustBegin(t, HookEventPrompt, "go on", false, true)
	f.mustBegin(t, HookEventPrompt, "go on", false, false)
	f.Now = f.Now.Add(maxDuplicateAnswerGap + 1)
	f.mustBegin(t, HookEventPrompt, "go on", false, true)
	f.mustBegin(t, HookEventSessionStart, "resume", false, true)
}

// TestBeginAtOnce tests hooks that run at the same time with the same key. BeginHookAnswer must return first for
// exactly one of them. RecordBlock must report for exactly one of them that the block is new.
func TestBeginAtOnce(t *testing.T) {
	f := stateFile(t)
	for _, key := range []string{"a", "b", "c"} {
		var all sync.WaitGroup
		var firsts, shown atomic.Int32
		for range 8 {
			all.Go(func() {
				if _, first, err := f.BeginHookAnswer(t.Context(), HookEventPrompt, key); err != nil {
					t.Error(err)
				} else if first {
					firsts.Add(1)
				}
				if fresh, err := f.RecordBlock(t.Context(), block(key, key)); err != nil {
					t.Error(err)
				} else if fresh {
					shown.Add(1)
				}
			})
		}
		all.Wait()
		if firsts.Load() != 1 || shown.Load() != 1 {
			t.Errorf("%s: %d were the first, %d showed it", key, firsts.Load(), shown.Load())
		}
	}
}

// TestStateIsBounded checks that the file stays below its size limit, that the newest lines are kept, and that old
// files are removed.
func TestStateIsBounded(t *testing.T) {
	f := stateFile(t)
	f.mustBegin(t, HookEventPrompt, "0", true, true)
	name := filepath.Join(f.Dir, f.fileName())
	if err := os.WriteFile(name, []byte(strings.Repeat(`{"event":"prompt","key":"x","prompt":7,"tokens":5}`+
		"\n", maxShownTextsFileBytes/50)), 0o600); err != nil {
		t.Fatal(err)
	}
	f.mustAdd(t, block("style", "tabs"), true)
	f.mustBegin(t, HookEventPrompt, "1", true, true)
	fi, err := os.Stat(name)
	if s := f.ReadState(); err != nil || fi.Size() > maxShownTextsFileBytes || s.PromptNumber != 8 || s.Tokens != 15 ||
		s.LastPromptByEntryKey["notes style"] != 7 {
		t.Errorf("the file has %d bytes, the state is %+v; %v", fi.Size(), s, err)
	}
	for _, age := range []time.Duration{maxShownTextsFileAge - time.Hour, maxShownTextsFileAge + time.Hour} {
		if err := os.Chtimes(name, f.Now, f.Now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		other := f
		other.Session = fmt.Sprint("another", age)
		other.mustBegin(t, HookEventSessionStart, "startup", false, true)
		if _, err := os.Stat(name); (err == nil) != (age < maxShownTextsFileAge) {
			t.Errorf("a file that is %v old: %v", age, err)
		}
	}
}

// FuzzParseState checks that parseShownTexts accepts any bytes, and that it still reads a valid line after them.
func FuzzParseState(f *testing.F) {
	f.Add([]byte("{\"event\":\"prompt\",\"prompt\":1}\n{\"event\":\"sho"))
	f.Add([]byte("\n\n{}\nnull\n7\n{\"event\":\"shown\",\"prompt\":-1,\"shown\":[\"a\"]}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		parseShownTexts(b)
		s, lines := parseShownTexts(slices.Concat(
			b,
			[]byte("\n{\"event\":\"shown\",\"prompt\":3,\"tokens\":4,\"shown\":[\"notes a\"],\"prints\":[\"p\"]}\n"),
		))
		if len(lines) == 0 || s.PromptNumber != 3 || s.Tokens != 4 || s.LastPromptByEntryKey["notes a"] != 3 ||
			!s.SentenceFingerprints["p"] {
			t.Errorf("%q: the state is %+v", b, s)
		}
		if bytes.Count(b, []byte("\n"))+2 < len(lines) {
			t.Errorf("%q has %d lines", b, len(lines))
		}
	})
}

// TestWithoutShown checks that sentences which the model already has are removed from a note.
func TestWithoutShown(t *testing.T) {
	const port, key = "The proxy listens on port 8443.", "Ask Ada for its key."
	code := "```\nmake deploy\n```"
	for _, c := range []struct{ content, shown, want string }{
		{port, "", port},
		{port, key, port},
		{port, port, ""},
		{port + "\n", "the proxy  listens on port 8443.", ""}, // Fingerprints ignore case and spaces.
		{"- " + port + "\n- " + key, port + " " + key, ""},
		{port + " " + key, port, " " + key},
		{port + "\n" + code, port, "\n" + code},
		{code, port, code},
		{"", port, ""},
	} {
		prints := map[string]bool{}
		for _, p := range FingerprintShownSentences(c.shown, JoinToOneLine(c.shown)) {
			prints[p] = true
		}
		if got := RemoveShownSentences(c.content, prints); got != c.want {
			t.Errorf("RemoveShownSentences(%q, prints of %q) = %q, want %q", c.content, c.shown, got, c.want)
		}
	}
	if got := FingerprintShownSentences(port+" "+key, port+" Ask"); len(got) != 1 ||
		got[0] != sentenceFingerprint(port) {
		t.Errorf("a sentence that was cut counts as shown: %v", got)
	}
}

// TestStored checks SessionShownTexts.StoredFingerprints, which contains the fingerprints of the texts that every
// client stores with the conversation. Texts for a prompt and for an action are such texts. The text of the session
// start is not, because some clients do not store it. After a compaction, SessionShownTexts.StoredFingerprints must be
// empty.
func TestStored(t *testing.T) {
	f := stateFile(t)
	for place, print := range map[string]string{HookEventSessionStart: "start", HookEventPrompt: "prompt",
		HookEventBeforeAction: "action"} {
		b := block(place, print)
		b.HookEvent = place
		f.mustAdd(t, b, true)
	}
	if s := f.ReadState(); len(s.SentenceFingerprints) != 3 || s.StoredFingerprints["start"] ||
		!s.StoredFingerprints["prompt"] ||
		!s.StoredFingerprints["action"] {
		t.Errorf("shown are %v, and the client stored %v", s.SentenceFingerprints, s.StoredFingerprints)
	}
	if err := f.RecordCompaction(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := f.ReadState(); len(s.StoredFingerprints) != 0 {
		t.Errorf("after a compaction the client still has %v", s.StoredFingerprints)
	}
}
