// Tests the loop on a real terminal, with verbs that are slow or fail.

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

// shown is a screen on a terminal.
type shown struct {
	t       *testing.T
	person  *os.File
	program *os.File
	before  unix.Termios
	text    string // all that came
	ended   chan any
}

// show shows a screen until it ends, and keeps its error or panic.
func show(t *testing.T, ctx context.Context, v Verbs) *shown {
	t.Helper()
	s := &shown{t: t, ended: make(chan any, 1)}
	s.person, s.program = testenv.Terminal(t)
	t.Cleanup(func() { s.program.Close() })
	s.before = s.settings()
	go func() {
		defer func() {
			if v := recover(); v != nil {
				s.ended <- v
			}
		}()
		s.ended <- Show(ctx, NewTerminal(s.program, s.program), "", time.Now, v)
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

// until reads until the terminal was sent a text.
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

// ends returns how the screen ended, and checks that the terminal is as it was.
func (s *shown) ends() any {
	s.t.Helper()
	got := <-s.ended
	s.until(leaveSequence)
	if now := s.settings(); now != s.before {
		s.t.Errorf("the terminal's settings are %+v, want %+v", now, s.before)
	}
	return got
}

// A verb that panics ends the screen, and the panic is seen at the shell.
func TestPanicRestoresTheTerminal(t *testing.T) {
	s := show(t, t.Context(), Verbs{Recall: func(_ context.Context, query string) QueryResult {
		if query == "x" {
			panic("out of luck")
		}
		return QueryResult{EmptyReasons: []string{"empty"}}
	}})
	s.until("empty")
	s.types("x")
	if got := fmt.Sprint(s.ends()); !strings.HasPrefix(got, "out of luck\n\ngoroutine ") {
		t.Errorf("it ended with %q, want the panic with its stack", got)
	}
}

// A recall that takes long keeps no key from the query. The next search ends it, and
// its answer is not shown.
func TestSlowRecall(t *testing.T) {
	began, ended := make(chan string), make(chan string, 3)
	s := show(t, t.Context(), Verbs{Recall: func(ctx context.Context, query string) QueryResult {
		if query == "fast" {
			return QueryResult{EmptyReasons: []string{"this is fast"}}
		}
		began <- query
		<-ctx.Done()
		ended <- query
		return QueryResult{EmptyReasons: []string{"too late"}}
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

// An editor has the terminal as it was before the screen. What is typed ahead of it
// in one breath is no answer to the screen.
func TestEditorHasTheTerminal(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var s *shown
	edited := make(chan bool)
	s = show(t, ctx, Verbs{
		Recall: func(context.Context, string) QueryResult {
			return QueryResult{Hits: []Hit{{Name: "style", Meta: "note"}}}
		},
		Edit: func(context.Context, Hit) ChangeResult {
			edited <- s.settings() == s.before
			return ChangeResult{Text: "edited it", Change: 4}
		},
	})
	s.until("style")
	s.types("\x1b[B")
	s.until("d forget")
	s.types("e\x03")
	if !<-edited {
		t.Error("the editor has a terminal in raw mode")
	}
	s.until(enterSequence)
	s.until("edited it")
	stop()
	if got := s.ends(); got != context.Canceled {
		t.Errorf("it ended with %v, want %v", got, context.Canceled)
	}
}
