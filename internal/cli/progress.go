// This file shows the progress of long operations on standard error, if that is a terminal.

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

// The progress is shown for the first time after progressAfter, and then again after each
// progressEvery.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

// rateAfter is the time after which rates and remaining times are shown. Earlier values are
// unreliable.
const rateAfter = 2 * time.Second

// progressLine is standard error, with a last line that shows the progress of a command. The line
// is erased before other text is written. It is not shown while a question is open.
type progressLine struct {
	io.Writer
	now func() time.Time

	mu    sync.Mutex // guards the fields below and the writer
	what  string     // name of the running command ("" if none runs)
	began time.Time
	state progress.State
	wait  time.Duration // time that a server asked to wait (0 if none)
	timer *time.Timer
	shown bool

	pauses
	paused time.Time // time at which open or reads became true
}

// start begins to show progress. It ends when stop is called.
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

// setProgress sets the progress of the operation.
func (p *progressLine) setProgress(s progress.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = s
}

// setWait sets how long the run waits for a server. 0 means that it no longer waits.
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

// line returns the text of the line, such as "import: 14500 entries (45 %), 1450 a second, about
// 12 s left".
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
		facts = append(
			facts,
			fmt.Sprintf("the server is busy and asks to wait %s", formatSeconds(p.wait+time.Second-1)),
		)
	}
	if s.Done > 0 && took >= rateAfter {
		facts = append(facts, rate(s, took))
	}
	isPartDone := s.Part > 0 && s.Part < 1
	if isPartDone && took >= rateAfter {
		left := time.Duration(float64(took) * (1 - s.Part) / s.Part)
		facts = append(facts, "about "+formatSeconds(left+time.Second-1)+" left")
	} else {
		facts = append(facts, formatSeconds(took))
	}
	return p.what + ": " + strings.Join(facts, ", ")
}

// doneText formats the finished amount, such as "4 of 20 entries" or "12.0 MB (30 %)".
func doneText(s progress.State) string {
	count := func(n int64) string {
		if s.Unit == progress.Bytes {
			return text.FormatBytes(n)
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

// rate formats the average amount in one second or one minute.
func rate(s progress.State, took time.Duration) string {
	each := float64(s.Done) / took.Seconds()
	if s.Unit == progress.Bytes {
		return text.FormatBytes(int64(each)) + " a second"
	}
	if each >= 1 {
		return fmt.Sprintf("%.0f a second", each)
	}
	return fmt.Sprintf("%.0f a minute", float64(s.Done)/took.Minutes())
}

// formatSeconds formats a time in whole seconds, or in minutes and seconds.
func formatSeconds(d time.Duration) string {
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

// Write erases the line and writes b. If b does not end with a line break, b is a question, and the
// progress line stays hidden until a person has answered.
func (p *progressLine) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	if len(b) > 0 {
		p.pauseFor(pauses{open: !bytes.HasSuffix(b, []byte("\n")), reads: p.reads})
	}
	return p.Writer.Write(b)
}

// pauses are the reasons to pause.
type pauses struct {
	open  bool // the last written line is not complete, so it is a question
	reads bool // the program waits for input of the person
}

// pauseFor sets the reasons to pause. The time during which there is one does not count as working
// time.
func (p *progressLine) pauseFor(reasons pauses) {
	was, is := p.open || p.reads, reasons.open || reasons.reads
	p.pauses = reasons
	switch {
	case is && !was:
		p.paused = p.now()
	case was && !is:
		p.began = p.began.Add(p.now().Sub(p.paused))
	}
}

// beginRead records that the program waits for input.
func (p *progressLine) beginRead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	p.pauseFor(pauses{open: p.open, reads: true})
}

// endRead records that the program does not wait for input any more. The person's input ends an open
// question.
func (p *progressLine) endRead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	p.pauseFor(pauses{})
}

// input is standard input on a terminal. While it is read, the progress line is hidden.
type input struct {
	io.Reader
	shown *progressLine
}

func (i input) Read(b []byte) (int, error) {
	i.shown.beginRead()
	defer i.shown.endRead()
	return i.Reader.Read(b)
}
