// This file shows on standard error, if that is a terminal, how far long work is.

package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Work is shown when it has taken so long, and again so often.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

// Rates and ends are shown from this time on: earlier ones say little.
const rateAfter = 2 * time.Second

// progressLine is standard error with a last line that shows how far the work of a command is. The
// line is wiped before anything else is written. It is not shown while a question is open.
type progressLine struct {
	io.Writer
	now func() time.Time

	mu    sync.Mutex // guards what follows, and the writer
	what  string     // the command that works; "" between two starts
	began time.Time
	state progress.State
	wait  time.Duration // the time that a server asked to wait; 0 if it did not
	timer *time.Timer
	shown bool

	open   bool      // the last line that was written is not complete: a question
	reads  bool      // a person is asked for input
	paused time.Time // since when one of these is so
}

// start begins to show work, until stop is called.
func (p *progressLine) start(what string) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.began = what, p.now()
	p.state, p.wait = progress.State{}, 0
	p.timer = time.AfterFunc(progressAfter, p.show)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.what = ""
		p.timer.Stop()
		p.wipe()
	}
}

// set sets how far the work is.
func (p *progressLine) set(s progress.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = s
}

// setWait sets for how long a server is waited for; 0 if it no longer is.
func (p *progressLine) setWait(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait = d
}

func (p *progressLine) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.what == "" {
		return
	}
	if !p.open && !p.reads {
		p.shown = true
		fmt.Fprintf(p.Writer, "\r%s\x1b[K", p.line())
	}
	p.timer.Reset(progressEvery)
}

// line returns how far the work is: "import: 14500 entries (45 %), 1450 a second, about 12 s left".
func (p *progressLine) line() string {
	took := p.now().Sub(p.began)
	s := p.state
	var facts []string
	if s.Done > 0 {
		facts = append(facts, doneText(s))
	}
	if s.Total > 0 {
		s.Part = float64(s.Done) / float64(s.Total)
	}
	if p.wait > 0 {
		facts = append(facts, fmt.Sprintf("the server is busy and asks to wait %s", seconds(p.wait+time.Second-1)))
	}
	if s.Done > 0 && took >= rateAfter {
		facts = append(facts, rate(s, took))
	}
	if s.Part > 0 && s.Part < 1 && took >= rateAfter {
		left := time.Duration(float64(took) * (1 - s.Part) / s.Part)
		facts = append(facts, "about "+seconds(left+time.Second-1)+" left")
	} else {
		facts = append(facts, seconds(took))
	}
	return p.what + ": " + strings.Join(facts, ", ")
}

// doneText says how much is done: "4 of 20 entries", "12.0 MB (30 %)".
func doneText(s progress.State) string {
	count := func(n int64) string {
		if s.Unit == progress.Bytes {
			return text.Bytes(n)
		}
		return text.Count(int(n), s.Unit.One, s.Unit.Many)
	}
	switch {
	case s.Total > 0 && s.Unit == progress.Bytes:
		return count(s.Done) + " of " + count(s.Total)
	case s.Total > 0:
		return fmt.Sprintf("%d of %s", s.Done, count(s.Total))
	case s.Part > 0:
		return fmt.Sprintf("%s (%d %%)", count(s.Done), int(100*s.Part))
	}
	return count(s.Done)
}

// rate says how much was done in one second or one minute.
func rate(s progress.State, took time.Duration) string {
	each := float64(s.Done) / took.Seconds()
	if s.Unit == progress.Bytes {
		return text.Bytes(int64(each)) + " a second"
	}
	if each >= 1 {
		return fmt.Sprintf("%.0f a second", each)
	}
	return fmt.Sprintf("%.0f a minute", float64(s.Done)/took.Minutes())
}

// seconds says a time in whole seconds, or minutes and seconds.
func seconds(d time.Duration) string {
	s := int(d / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}

func (p *progressLine) wipe() {
	if p.shown {
		fmt.Fprint(p.Writer, "\r\x1b[K")
		p.shown = false
	}
}

// Write wipes the line, and writes b in its place. If b does not end its line, it is a question:
// nothing is shown until a person has answered it.
func (p *progressLine) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	if len(b) > 0 {
		p.pause(!bytes.HasSuffix(b, []byte("\n")), p.reads)
	}
	return p.Writer.Write(b)
}

// pause sets whether a question is open and whether a person is asked for input. The time in which
// one of these is so is no working time.
func (p *progressLine) pause(open, reads bool) {
	was, is := p.open || p.reads, open || reads
	p.open, p.reads = open, reads
	switch {
	case is && !was:
		p.paused = p.now()
	case was && !is:
		p.began = p.began.Add(p.now().Sub(p.paused))
	}
}

// setReads sets whether a person is asked for input, with which a person ends an open line.
func (p *progressLine) setReads(reads bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	p.pause(p.open && reads, reads)
}

// input is standard input that is a terminal: nothing is shown while it is read.
type input struct {
	io.Reader
	shown *progressLine
}

func (i input) Read(b []byte) (int, error) {
	i.shown.setReads(true)
	defer i.shown.setReads(false)
	return i.Reader.Read(b)
}
