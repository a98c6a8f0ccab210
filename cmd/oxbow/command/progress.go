// This file shows on standard error, if that is a terminal, how far long work is.

package command

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// Work is shown when it has taken so long, and again so often.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

// Rates and ends are shown from this time on: earlier ones say little.
const rateAfter = 2 * time.Second

// unit is what a command counts.
type unit struct{ one, many string }

var (
	entriesUnit = unit{"entry", "entries"}
	filesUnit   = unit{"file", "files"}
	changesUnit = unit{"change", "changes"}
	textsUnit   = unit{"text", "texts"}
)

// progress is standard error with a last line that shows how far the work of a command is. The
// line is wiped before anything else is written. It is not shown while a question is open.
type progress struct {
	io.Writer
	now func() time.Time

	mu          sync.Mutex // guards what follows, and the writer
	what        string     // the command that works; "" between two starts
	began       time.Time
	unit        unit
	done, total int           // 0 if they are not known
	part        float64       // the part of the work that is done if total is not known; 0 if this is neither
	wait        time.Duration // the time that a server asked to wait; 0 if it did not
	timer       *time.Timer
	shown       bool

	open   bool      // the last line that was written is not complete: a question
	reads  bool      // a person is asked for input
	paused time.Time // since when one of these is so
}

// start begins to show work, until stop is called.
func (p *progress) start(what string) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.began, p.unit = what, p.now(), unit{}
	p.done, p.total, p.part, p.wait = 0, 0, 0, 0
	p.timer = time.AfterFunc(progressAfter, p.show)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.what = ""
		p.timer.Stop()
		p.wipe()
	}
}

// set sets how much is done of how much; a total of 0 is unknown.
func (p *progress) set(u unit, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unit, p.done, p.total = u, done, total
}

// setPart sets how much is done, and which part of all that is, from 0 to 1.
func (p *progress) setPart(u unit, done int, part float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unit, p.done, p.part = u, done, part
}

// setWait sets for how long a server is waited for; 0 if it no longer is.
func (p *progress) setWait(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait = d
}

func (p *progress) show() {
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
func (p *progress) line() string {
	took := p.now().Sub(p.began)
	part := p.part
	var facts []string
	if p.done > 0 {
		did := text.Count(p.done, p.unit.one, p.unit.many)
		switch {
		case p.total > 0:
			did = fmt.Sprintf("%d of %s", p.done, text.Count(p.total, p.unit.one, p.unit.many))
			part = float64(p.done) / float64(p.total)
		case part > 0:
			did += fmt.Sprintf(" (%d %%)", int(100*part))
		}
		facts = append(facts, did)
	}
	if p.wait > 0 {
		facts = append(facts, fmt.Sprintf("the server is busy and asks to wait %s", seconds(p.wait+time.Second-1)))
	}
	if p.done > 0 && took >= rateAfter {
		facts = append(facts, rate(p.done, took))
	}
	if part > 0 && part < 1 && took >= rateAfter {
		left := time.Duration(float64(took) * (1 - part) / part)
		facts = append(facts, "about "+seconds(left+time.Second-1)+" left")
	} else {
		facts = append(facts, seconds(took))
	}
	return p.what + ": " + strings.Join(facts, ", ")
}

// rate says how many were done in one second or one minute.
func rate(done int, took time.Duration) string {
	if each := float64(done) / took.Seconds(); each >= 1 {
		return fmt.Sprintf("%.0f a second", each)
	}
	return fmt.Sprintf("%.0f a minute", float64(done)/took.Minutes())
}

// seconds says a time in whole seconds, or minutes and seconds.
func seconds(d time.Duration) string {
	s := int(d / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}

func (p *progress) wipe() {
	if p.shown {
		fmt.Fprint(p.Writer, "\r\x1b[K")
		p.shown = false
	}
}

// Write wipes the line, and writes b in its place. If b does not end its line, it is a question:
// nothing is shown until a person has answered it.
func (p *progress) Write(b []byte) (int, error) {
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
func (p *progress) pause(open, reads bool) {
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
func (p *progress) setReads(reads bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	p.pause(p.open && reads, reads)
}

// input is standard input that is a terminal: nothing is shown while it is read.
type input struct {
	io.Reader
	shown *progress
}

func (i input) Read(b []byte) (int, error) {
	i.shown.setReads(true)
	defer i.shown.setReads(false)
	return i.Reader.Read(b)
}
