// This file reads a transcript line by line.

package fileedits

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// client is a program whose transcripts can be read.
type client struct {
	name string
	is   func(line []byte) bool          // reports whether only this program writes such a line
	open func(t *Transcript) (in reader) // returns a reader for a file
}

// clients returns the supported clients.
func clients() []client {
	all := []client{
		{"claude-code", isClaude, newClaude},
		{"codex", isCodex, newCodex},
		{"gemini", isGemini, newGemini},
		{"opencode", isOpencode, newOpencode},
	}
	for _, c := range clientfile.EventClients {
		all = append(all, client{c.Name, c.Recognizes, newEventReader(c)})
	}
	return all
}

// maxSniff is the maximum number of lines that are read to recognize the client.
const maxSniff = 200

// Read reads a transcript, which has a JSON object on each line. Lines that cannot be read
// are counted and ignored. Errors match [ErrUnknown] or are errors of r.
func Read(r io.Reader) (*Transcript, error) {
	t := &Transcript{}
	var in reader
	var held [][]byte // lines read before the client was recognized
	give := func(b []byte) {
		if err := in.line(b); err != nil {
			t.Bad++
		}
	}
	br := bufio.NewReaderSize(r, 1<<16)
	for last := false; !last; {
		b, size, err := clientfile.Next(br)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading a transcript: %w", err)
		}
		last = err == io.EOF
		long := size > clientfile.Max
		b = bytes.TrimSpace(b)
		if long || len(b) > 0 {
			t.Lines++
		}
		switch {
		case long:
			t.Bad++
		case len(b) == 0:
		case in != nil:
			give(b)
		default:
			held = append(held, bytes.Clone(b))
			in = t.openReader(b)
			if in != nil {
				for _, h := range held {
					give(h)
				}
				held = nil
			} else if len(held) > maxSniff {
				return nil, ErrUnknown
			}
		}
	}
	if in == nil {
		return nil, ErrUnknown
	}
	in.end()
	return t, nil
}

// openReader returns a reader for the client that writes such lines, or nil if the client is
// unknown.
func (t *Transcript) openReader(line []byte) reader {
	for _, c := range clients() {
		if c.is(line) {
			t.Client = c.name
			return c.open(t)
		}
	}
	return nil
}
