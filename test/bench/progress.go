// This file shows the progress of a measurement to a person.

package main

import (
	"fmt"
	"os"

	"github.com/mattn/go-isatty"
)

// progress is a line on a terminal that is overwritten at each step.
type progress struct {
	b    *bench
	what string
	on   bool
}

// progress returns a line that shows how much of the work is done. It shows nothing if the log is not a
// terminal.
func (b *bench) progress(what string) *progress {
	f, ok := b.log.(*os.File)
	return &progress{b: b, what: what, on: ok && isatty.IsTerminal(f.Fd())}
}

func (p *progress) setProgress(done, total int) {
	if p.on {
		fmt.Fprintf(p.b.log, "\r%s: %d of %d\x1b[K", p.what, done, total)
	}
}

func (p *progress) end() {
	if p.on {
		fmt.Fprint(p.b.log, "\r\x1b[K")
	}
}
