// This file controls the terminal: it switches to raw mode and the alternate screen, and writes the rows that changed.

package tui

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// Terminal is a terminal with a keyboard and a screen.
type Terminal struct {
	in, out        *os.File
	savedState     *term.State  // the terminal's state before enterScreen
	shownFrame     frame        // the frame that is now on the screen
	restoreConsole func() error // restores the Windows console
}

// NewTerminal returns a terminal. The terminal reads keys from the first file, and writes to the second file.
func NewTerminal(in, out *os.File) *Terminal { return &Terminal{in: in, out: out} }

// These sequences are written when the screen begins and when it ends. They switch to the alternate screen and back,
// make the terminal mark pasted text, and disable wrapping. Wrapping is disabled because a terminal may show a
// character wider than expected.
const (
	enterScreenSequence = "\x1b[?1049h\x1b[?2004h\x1b[?7l"
	leaveScreenSequence = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?2004l\x1b[?25h\x1b[?1049l"
)

// enterScreen puts the terminal into raw mode and switches to the alternate screen.
func (t *Terminal) enterScreen() error {
	undo, err := prepareConsole(t.out)
	if err != nil {
		return fmt.Errorf("preparing the console: %w", err)
	}
	state, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("preparing the terminal: %w", err)
	}
	if t.savedState == nil {
		t.savedState, t.restoreConsole = state, undo
	}
	t.shownFrame = frame{}
	_, err = t.out.WriteString(enterScreenSequence)
	return err
}

// leaveScreen restores the terminal. It may be called several times.
func (t *Terminal) leaveScreen() {
	if t.savedState == nil {
		return
	}
	// Restore everything although a step may fail. Ignore the errors, because this function cannot report them.
	_, _ = t.out.WriteString(leaveScreenSequence)
	_ = term.Restore(int(t.in.Fd()), t.savedState)
	_ = t.restoreConsole()
}

// copyText asks the terminal to put a text on its clipboard, by the sequence OSC 52. Terminals that do not support
// this sequence ignore it.
func (t *Terminal) copyText(s string) {
	_, _ = t.out.WriteString("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(s)) + "\a")
}

// size returns the columns and rows of the terminal, or 80 and 24 if they are unknown.
func (t *Terminal) size() screenSize {
	w, h, err := term.GetSize(int(t.out.Fd()))
	isEmpty := w < 1 || h < 1
	if err != nil || isEmpty {
		return screenSize{80, 24}
	}
	return screenSize{w, h}
}

// draw shows a frame. It writes only the rows that have changed since the last frame.
func (t *Terminal) draw(f frame) error {
	var b bytes.Buffer
	b.WriteString("\x1b[?2026h\x1b[?25l")
	all := len(t.shownFrame.rows) != len(f.rows)
	if all {
		b.WriteString("\x1b[2J")
	}
	for i, row := range f.rows {
		if !all && row == t.shownFrame.rows[i] {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[K", i+1)
		// The SafeWriter keeps the terminal safe even if a row contains harmful characters.
		_, _ = (&termtext.SafeWriter{Output: &b}).Write([]byte(row))
	}
	if f.hasCursor {
		fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[?25h", f.cursorRow+1, f.cursorColumn+1)
	}
	b.WriteString("\x1b[?2026l")
	t.shownFrame = f
	_, err := t.out.Write(b.Bytes())
	return err
}
