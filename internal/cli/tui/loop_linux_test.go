// This file tests the loop on a real terminal, with verbs that are slow or that fail.

package tui

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// shown is a screen that a test shows on a pseudo-terminal. The file person is the end at which the test types and
// reads. The file program is the end that the screen uses.
type shown struct {
	t       *testing.T
	person  *os.File
	program *os.File
	before  unix.Termios
	text    string // everything that the terminal has received from the screen
	ended   chan any
}

// show shows a screen in a goroutine, which records the error or panic with which the screen ends.
func show(t *testing.T, ctx context.Context, v Callbacks) *shown {
	t.Helper()
	s := &shown{t: t, ended: make(chan any, 1)}
	s.person, s.program = testenv.OpenTerminal(t)
	t.Cleanup(func() { s.program.Close() })
	s.before = s.settings()
	go func() {
		defer func() {
			if v := recover(); v != nil {
				s.ended <- v
			}
		}()
		s.ended <- ShowScreen(ctx, NewTerminal(s.program, s.program), "", time.Now, v)
	}()
	return s
}

func (s *shown) settings() unix.Termios {
	s.t.Helper()
	got, err := unix.IoctlGetTermios(int(s.program.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *got
}

func (s *shown) types(keys string) {
	s.t.Helper()
	if _, err := s.person.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// until waits until the program has written the text to the terminal. It then removes everything up to the end of this
// text from s.text. The test fails if the terminal is closed before.
func (s *shown) until(text string) {
	s.t.Helper()
	b := make([]byte, 4096)
	for !strings.Contains(s.text, text) {
		n, err := s.person.Read(b)
		s.text += string(b[:n])
		if err != nil {
			s.t.Fatalf("the terminal was sent %q (%v), want %q", s.text, err, text)
		}
	}
	s.text = s.text[strings.Index(s.text, text)+len(text):]
}

// ends waits for the end of the screen and returns its error or panic. It checks that the terminal is restored.
func (s *shown) ends() any {
	s.t.Helper()
	got := <-s.ended
	s.until(leaveScreenSequence)
	if now := s.settings(); now != s.before {
		s.t.Errorf("the terminal's settings are %+v, want %+v", now, s.before)
	}
	return got
}

// A verb that panics ends the screen. The terminal is restored, so that the shell shows the panic.
func TestPanicRestoresTheTerminal(t *testing.T) {
	s := show(t, t.Context(), Callbacks{Recall: func(_ context.Context, query string) QueryResult {
		if query == "x" {
			panic("out of luck")
		}
		return QueryResult{NoHitReasons: []string{"empty"}}
	}})
	s.until("empty")
	s.types("x")
	if got := fmt.Sprint(s.ends()); !strings.HasPrefix(got, "out of luck\n\ngoroutine ") {
		t.Errorf("it ended with %q, want the panic with its stack", got)
	}
}

// A slow recall does not delay the keys that are typed into the query. The next search cancels the recall, and the
// recall's answer is not shown.
func TestSlowRecall(t *testing.T) {
	began, ended := make(chan string), make(chan string, 3)
	s := show(t, t.Context(), Callbacks{Recall: func(ctx context.Context, query string) QueryResult {
		if query == "fast" {
			return QueryResult{NoHitReasons: []string{"this is fast"}}
		}
		began <- query
		<-ctx.Done()
		ended <- query
		return QueryResult{NoHitReasons: []string{"too late"}}
	}})
	if q := <-began; q != "" {
		t.Fatalf("the first search is for %q", q)
	}
	s.types("fas")
	s.until("fas")
	s.until("searching…")
	if q := <-began; q != "fas" {
		t.Fatalf("the second search is for %q", q)
	}
	s.types("t")
	s.until("this is fast")
	if a, b := <-ended, <-ended; a != "" || b != "fas" {
		t.Errorf("ended were %q and %q", a, b)
	}
	if strings.Contains(s.text, "too late") {
		t.Errorf("an old answer is in %q", s.text)
	}
	s.types("\x1b")
	if got := s.ends(); got != nil {
		t.Errorf("it ended with %v", got)
	}
}

// While an editor runs, the terminal is in the state it had before the screen. Keys that were typed together with the
// key that starts the editor are discarded.
func TestEditorHasTheTerminal(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var s *shown
	edited := make(chan bool)
	s = show(t, ctx, Callbacks{
		Recall: func(context.Context, string) QueryResult {
			return QueryResult{Hits: []Hit{{Name: "style", MetadataText: "note"}}}
		},
		Edit: func(context.Context, Hit) ChangeResult {
			edited <- s.settings() == s.before
			return ChangeResult{Text: "edited it", ChangeNumber: 4}
		},
	})
	s.until("style")
	s.types("\x1b[B")
	s.until("d forget")
	s.types("e\x03")
	if !<-edited {
		t.Error("the editor has a terminal in raw mode")
	}
	s.until(enterScreenSequence)
	s.until("edited it")
	stop()
	if got := s.ends(); got != context.Canceled {
		t.Errorf("it ended with %v, want %v", got, context.Canceled)
	}
}
