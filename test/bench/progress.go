// Shows how far a measurement has come, to a person.

package main

import (
	"fmt"
	"os"

	"github.com/mattn/go-isatty"
)

// progress is a line on a terminal that is written over.
type progress struct {
	b    *bench
	what string
	on   bool
}

// progress returns a line that says what is done; nothing where the log is not a
// terminal.
func (b *bench) progress(what string) *progress {
	f, ok := b.log.(*os.File)
	return &progress{b: b, what: what, on: ok && isatty.IsTerminal(f.Fd())}
}

func (p *progress) set(done, total int) {
	if p.on {
		fmt.Fprintf(p.b.log, "\r%s: %d of %d\x1b[K", p.what, done, total)
	}
}

func (p *progress) end() {
	if p.on {
		fmt.Fprint(p.b.log, "\r\x1b[K")
	}
}
