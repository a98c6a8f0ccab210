// Hooks in homes of other layouts: what the system of the layout recalls by itself.

package command

import (
	"context"
	"io"
	"time"

	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/hook"
	"github.com/oxbow-memory/oxbow/prompt"
	"github.com/oxbow-memory/oxbow/tool"
)

// hookLayout answers a prompt in a home of another layout with what its system would
// recall for it, and nothing else. Such a home has no archive: nothing is kept.
func (a *app) hookLayout(ctx context.Context, client string) []byte {
	home, err := a.home()
	d, other, lerr := a.layout()
	bound, berr := a.boundName()
	if err != nil || lerr != nil || berr != nil || !other || bound != "" {
		return nil
	}
	r := hook.Read(client, readReport(ctx, a.env.Stdin), hook.Env{Now: a.env.Now(), Clean: cleaner(home)})
	if r.Prompt == "" || a.env.Getenv("OXBOW_INJECT") == "off" || a.offBy(tool.HooksOff, home, r.Events[0].Dir) || a.offBy(tool.InjectOff, home, r.Events[0].Dir) {
		return nil
	}
	return r.Answer(inTime(ctx, waits.prompt, func(ctx context.Context) string {
		h, err := a.openHome(d, look)
		if err != nil {
			return ""
		}
		s, err := h.Session(ctx, dialect.Request{})
		if err != nil {
			return ""
		}
		c, err := s.BeforeTurn(ctx, r.Prompt)
		if err != nil {
			return ""
		}
		return c.Of(prompt.User)
	}))
}

// Bounds of one call of a hook.
const (
	maxReport  = 64 << 20 // bytes
	reportWait = 3 * time.Second
)

// readReport returns what stands on standard input, "" when that is too much or
// does not end in time.
func readReport(ctx context.Context, in io.Reader) []byte {
	done := make(chan []byte, 1)
	go func() {
		b, err := io.ReadAll(io.LimitReader(in, maxReport+1))
		if err != nil || len(b) > maxReport {
			b = nil
		}
		done <- b
	}()
	select {
	case b := <-done:
		return b
	case <-time.After(reportWait):
	case <-ctx.Done():
	}
	return nil
}
