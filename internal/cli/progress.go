// This file shows the progress of long operations on standard error, if standard error is a terminal.

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

// The progress is first shown after progressDelay, and then again after each progressInterval.
const (
	progressDelay    = 500 * time.Millisecond
	progressInterval = 200 * time.Millisecond
)

// rateDisplayDelay is the time after which the rate and the remaining time are shown. Earlier values would not be
// reliable.
const rateDisplayDelay = 2 * time.Second

// progressLine writes to standard error and keeps a line with a command's progress at the end of the output. The line
// is erased before any other text is written. It is hidden while the person answers a question.
type progressLine struct {
	io.Writer
	now func() time.Time

	mu          sync.Mutex // guards the fields below and the embedded writer
	commandName string     // name of the running command ("" if none is running)
	startTime   time.Time
	state       progress.State
	serverWait  time.Duration // time that a server asked the run to wait (0 if it did not)
	timer       *time.Timer
	isShown     bool

	progressPauseReasons
	pauseStart time.Time // time at which one of progressPauseReasons became true
}

// startProgress starts to show the progress of a command. The argument what is the name of the command. The progress
// appears after progressDelay. The function stop ends the display and erases the line.
func (p *progressLine) startProgress(what string) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commandName, p.startTime = what, p.now()
	p.state, p.serverWait = progress.State{}, 0
	p.timer = time.AfterFunc(progressDelay, p.drawLine)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.commandName = ""
		p.timer.Stop()
		p.eraseLine()
	}
}

// setProgress sets the operation's current progress.
func (p *progressLine) setProgress(s progress.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = s
}

// setServerWait sets how long the run still waits for a server. 0 means that it does not wait.
func (p *progressLine) setServerWait(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serverWait = d
}

func (p *progressLine) drawLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.commandName == "" {
		return
	}
	if !p.isQuestionOpen && !p.isReadingInput {
		p.isShown = true
		fmt.Fprintf(p.Writer, "\r%s\x1b[K", p.lineText())
	}
	p.timer.Reset(progressInterval)
}

// lineText returns the line's text, such as "import: 14500 entries (45 %), 1450 a second, about 12 s left".
func (p *progressLine) lineText() string {
	took := p.now().Sub(p.startTime)
	s := p.state
	var facts []string
	if s.DoneCount > 0 {
		facts = append(facts, formatProgress(s))
	}
	if s.TotalCount > 0 {
		s.FinishedWorkShare = float64(s.DoneCount) / float64(s.TotalCount)
	}
	if p.serverWait > 0 {
		facts = append(
			facts,
			fmt.Sprintf("the server is busy and asks to wait %s", formatSeconds(p.serverWait+time.Second-1)),
		)
	}
	if s.DoneCount > 0 && took >= rateDisplayDelay {
		facts = append(facts, formatRate(s, took))
	}
	isPartDone := s.FinishedWorkShare > 0 && s.FinishedWorkShare < 1
	if isPartDone && took >= rateDisplayDelay {
		left := time.Duration(float64(took) * (1 - s.FinishedWorkShare) / s.FinishedWorkShare)
		facts = append(facts, "about "+formatSeconds(left+time.Second-1)+" left")
	} else {
		facts = append(facts, formatSeconds(took))
	}
	return p.commandName + ": " + strings.Join(facts, ", ")
}

// formatProgress formats how much is done, such as "4 of 20 entries" or "12.0 MB (30 %)".
func formatProgress(s progress.State) string {
	count := func(n int64) string {
		if s.Unit == progress.UnitBytes {
			return text.FormatBytes(n)
		}
		return text.FormatCount(int(n), s.Unit.Singular, s.Unit.Plural)
	}
	switch {
	case s.TotalCount > 0 && s.Unit == progress.UnitBytes:
		return count(s.DoneCount) + " of " + count(s.TotalCount)
	case s.TotalCount > 0:
		return fmt.Sprintf("%d of %s", s.DoneCount, count(s.TotalCount))
	case s.FinishedWorkShare > 0:
		return fmt.Sprintf("%s (%d %%)", count(s.DoneCount), int(100*s.FinishedWorkShare))
	}
	return count(s.DoneCount)
}

// formatRate formats how much was done in a second or in a minute on average.
func formatRate(s progress.State, elapsed time.Duration) string {
	each := float64(s.DoneCount) / elapsed.Seconds()
	if s.Unit == progress.UnitBytes {
		return text.FormatBytes(int64(each)) + " a second"
	}
	if each >= 1 {
		return fmt.Sprintf("%.0f a second", each)
	}
	return fmt.Sprintf("%.0f a minute", float64(s.DoneCount)/elapsed.Minutes())
}

// formatSeconds formats a duration in whole seconds, or in minutes and seconds.
func formatSeconds(d time.Duration) string {
	s := int(d / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d min %d s", s/60, s%60)
}

func (p *progressLine) eraseLine() {
	if p.isShown {
		fmt.Fprint(p.Writer, "\r\x1b[K")
		p.isShown = false
	}
}

// Write erases the progress line, which shows how far oxbow is, and then writes b. If b does not end with a newline, b
// is a question to the person. In this case, the progress line stays hidden until the person has answered.
func (p *progressLine) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eraseLine()
	if len(b) > 0 {
		p.setPauseReasons(
			progressPauseReasons{isQuestionOpen: !bytes.HasSuffix(b, []byte("\n")), isReadingInput: p.isReadingInput},
		)
	}
	return p.Writer.Write(b)
}

// progressPauseReasons contains the reasons for hiding the progress line on the terminal.
type progressPauseReasons struct {
	isQuestionOpen bool // The program asked the person a question: the last text on standard error lacks a newline.
	isReadingInput bool // oxbow waits for the person's input.
}

// setPauseReasons sets the reasons for hiding the progress line. The time during which the line is hidden does not
// count as working time.
func (p *progressLine) setPauseReasons(reasons progressPauseReasons) {
	was, is := p.isQuestionOpen || p.isReadingInput, reasons.isQuestionOpen || reasons.isReadingInput
	p.progressPauseReasons = reasons
	switch {
	case is && !was:
		p.pauseStart = p.now()
	case was && !is:
		p.startTime = p.startTime.Add(p.now().Sub(p.pauseStart))
	}
}

// beginReadingInput records that the program waits for the person's input.
func (p *progressLine) beginReadingInput() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eraseLine()
	p.setPauseReasons(progressPauseReasons{isQuestionOpen: p.isQuestionOpen, isReadingInput: true})
}

// endReadingInput records that the person has entered a line. The line also answers the question that the program
// asked, if any.
func (p *progressLine) endReadingInput() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eraseLine()
	p.setPauseReasons(progressPauseReasons{})
}

// terminalInput is standard input on a terminal. The progress line is hidden while the program waits for input.
type terminalInput struct {
	io.Reader
	progress *progressLine
}

func (i terminalInput) Read(b []byte) (int, error) {
	i.progress.beginReadingInput()
	defer i.progress.endReadingInput()
	return i.Reader.Read(b)
}
