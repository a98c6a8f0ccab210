// A line on standard error that shows how far long work is, on a terminal only.

package command

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Work is shown when it has taken so long, and again so often.
const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

// progress is standard error with a line that shows the work of a command. The
// line is wiped before anything else is written.
type progress struct {
	io.Writer
	now func() time.Time

	mu          sync.Mutex // guards what follows, and the writer
	what        string     // is done; "" between two starts
	began       time.Time
	done, total int           // 0 when they are not known
	part        float64       // that is done, where the total is not known; 0 when this is neither
	wait        time.Duration // for which a server is waited for; 0 when none is
	timer       *time.Timer
	shown       bool
}

// start begins to show work, until stop is called.
func (p *progress) start(what string) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.began, p.done, p.total, p.part, p.wait = what, p.now(), 0, 0, 0, 0
	p.timer = time.AfterFunc(progressAfter, p.show)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.what = ""
		p.timer.Stop()
		p.wipe()
	}
}

// set says how much is done, of how much.
func (p *progress) set(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total = done, total
}

// setPart says how much is done, and which part that is of all.
func (p *progress) setPart(done int, part float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.part = done, part
}

// setWait says for how long a server is waited for, 0 when none is any more.
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
	line := p.what + ": "
	if p.done > 0 {
		line += fmt.Sprint(p.done)
		if p.total > 0 {
			line += fmt.Sprintf(" of %d", p.total)
		} else if p.part > 0 {
			line += fmt.Sprintf(" (%d %%)", int(100*p.part))
		}
		line += ", "
	}
	if p.wait > 0 {
		line += fmt.Sprintf("the server is busy and asks to wait %d s, ", (p.wait+time.Second-1)/time.Second)
	}
	p.shown = true
	fmt.Fprintf(p.Writer, "\r%s%d s\x1b[K", line, p.now().Sub(p.began)/time.Second)
	p.timer.Reset(progressEvery)
}

func (p *progress) wipe() {
	if p.shown {
		fmt.Fprint(p.Writer, "\r\x1b[K")
		p.shown = false
	}
}

// Write wipes the line, and writes b in its place.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
	return p.Writer.Write(b)
}
