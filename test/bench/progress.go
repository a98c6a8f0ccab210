// This file shows the progress of a measurement to a person.

package main

import (
	"fmt"
	"os"

	"github.com/mattn/go-isatty"
)

// progress is a line on a terminal that is overwritten at each step.
type progress struct {
	bench   *bench
	label   string
	isShown bool
}

// newProgress returns a line that shows how much of the work is done. It is shown only if the log is a terminal.
func (b *bench) newProgress(label string) *progress {
	f, ok := b.log.(*os.File)
	return &progress{bench: b, label: label, isShown: ok && isatty.IsTerminal(f.Fd())}
}

func (p *progress) setProgress(done, total int) {
	if p.isShown {
		fmt.Fprintf(p.bench.log, "\r%s: %d of %d\x1b[K", p.label, done, total)
	}
}

func (p *progress) clear() {
	if p.isShown {
		fmt.Fprint(p.bench.log, "\r\x1b[K")
	}
}
