// The terminal: raw mode, the alternate screen, and rows that changed.

package tui

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/oxbow-memory/oxbow/internal/base/screen"
)

// Terminal is one that keys come from and a screen is shown on.
type Terminal struct {
	in, out *os.File
	cooked  *term.State  // how it was
	shown   frame        // what it shows
	undo    func() error // of what the console of Windows needs
}

// NewTerminal returns the terminal of these two files.
func NewTerminal(in, out *os.File) *Terminal { return &Terminal{in: in, out: out} }

// The sequences that begin and end a screen of its own: the alternate screen, marks
// around what is pasted, and no wrapping of rows, whose characters a terminal may
// take for wider than they are.
const (
	begins = "\x1b[?1049h\x1b[?2004h\x1b[?7l"
	ends   = "\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?2004l\x1b[?25h\x1b[?1049l"
)

// enter takes the terminal over.
func (t *Terminal) enter() error {
	undo, err := prepareConsole(t.out)
	if err != nil {
		return fmt.Errorf("preparing the console: %w", err)
	}
	state, err := term.MakeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("preparing the terminal: %w", err)
	}
	if t.cooked == nil {
		t.cooked, t.undo = state, undo
	}
	t.shown = frame{}
	_, err = t.out.WriteString(begins)
	return err
}

// leave gives the terminal back as it was. It may be called at any time.
func (t *Terminal) leave() {
	if t.cooked == nil {
		return
	}
	// Whatever fails, the rest is tried: there is no other way to say so.
	_, _ = t.out.WriteString(ends)
	_ = term.Restore(int(t.in.Fd()), t.cooked)
	_ = t.undo()
}

// size returns its columns and rows, 80 and 24 where they are not known.
func (t *Terminal) size() size {
	w, h, err := term.GetSize(int(t.out.Fd()))
	if err != nil || w < 1 || h < 1 {
		return size{80, 24}
	}
	return size{w, h}
}

// draw shows a frame, of which only rows are written that differ from those that
// stand there.
func (t *Terminal) draw(f frame) error {
	var b bytes.Buffer
	b.WriteString("\x1b[?2026h\x1b[?25l")
	all := len(t.shown.rows) != len(f.rows)
	if all {
		b.WriteString("\x1b[2J")
	}
	for i, row := range f.rows {
		if !all && row == t.shown.rows[i] {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[K", i+1)
		_, _ = (&screen.Writer{W: &b}).Write([]byte(row)) // whatever the row holds
	}
	if f.cursor {
		fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[?25h", f.row+1, f.column+1)
	}
	b.WriteString("\x1b[?2026l")
	t.shown = f
	_, err := t.out.Write(b.Bytes())
	return err
}
