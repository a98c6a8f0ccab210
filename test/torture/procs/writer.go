//go:build unix

// This file implements the writers: each lane makes one change after another through one
// process, to names of its own and to names that all lanes share.

package procs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// sharedNames is the number of names that all lanes change. Each lane makes its change for the
// version that the lane has read.
const sharedNames = 4

func sharedName(i int) string { return fmt.Sprintf("shared%d", i) }

// keep is the number of names from which on a lane forgets more names than it adds.
const keep = 40

// lane is a goroutine that writes.
type lane struct {
	run  *run
	id   int
	p    *proc
	rand *rand.Rand
	n    int      // number of requested changes
	own  []string // its own names that exist
	next int      // number of the next name
}

// write makes changes until the campaign is over.
func (l *lane) write(ctx context.Context) {
	for ctx.Err() == nil && !l.run.over() {
		x := l.rand.IntN(100)
		switch {
		case x < 10:
			l.share(ctx)
		case len(l.own) < 3 || (x < 50 && len(l.own) < keep):
			l.next++
			l.change(ctx, remember, fmt.Sprintf("l%dx%d", l.id, l.next), 0)
		case x < 75:
			name := l.own[l.rand.IntN(len(l.own))]
			var at uint64
			if l.rand.IntN(2) == 0 {
				at = l.run.ledger.look(name).version
			}
			l.change(ctx, remember, name, at)
		default:
			l.change(ctx, forget, l.own[l.rand.IntN(len(l.own))], 0)
		}
	}
}

// content returns a text that begins with the tag and contains the name.
func (l *lane) content(tag, name string) string {
	n := 1 + l.rand.IntN(40)
	if l.rand.IntN(200) == 0 {
		n = 8000 // longer than a page and than one step of free space
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", tag, name)
	for range n {
		fmt.Fprintf(&b, " word%d", l.rand.IntN(500))
	}
	return b.String()
}

// newCall returns the call for the lane's next change.
func (l *lane) newCall(verb, name string, at uint64) call {
	l.n++
	c := call{Verb: verb, Name: name, OpID: fmt.Sprintf("op%dx%d", l.id, l.n), If: at}
	if verb == remember {
		c.Content = l.content(c.OpID, name)
	}
	return c
}

// change changes one of the lane's own names, which must not be refused.
func (l *lane) change(ctx context.Context, verb, name string, at uint64) {
	c := l.newCall(verb, name, at)
	l.run.ledger.ask(c.OpID, name, verb, false)
	start := time.Now()
	a, retries, err := l.p.ask(ctx, c)
	l.run.retries.Add(int64(retries))
	if err != nil {
		return
	}
	if a.Refused != "" {
		l.run.violate(
			"refused: %s would not %s %q for version %d (%d retries): %s",
			l.p.name,
			verb,
			name,
			at,
			retries,
			a.Refused,
		)
		return
	}
	if retries == 0 {
		l.run.times.add(time.Since(start))
	}
	if verb == remember && a.Version == 0 {
		l.run.violate("answer: %s acknowledged %q without a version", l.p.name, name)
		return
	}
	l.run.ledger.settle(c.OpID, acknowledged, a.Version)
	had := -1
	for i, n := range l.own {
		if n == name {
			had = i
		}
	}
	switch {
	case verb == forget:
		l.own = append(l.own[:had], l.own[had+1:]...)
	case had < 0:
		l.own = append(l.own, name)
	}
	if l.rand.IntN(12) == 0 {
		l.repeat(ctx, c, a)
	}
}

// repeat repeats a call, like a client that lost the answer. The answer must be the same.
func (l *lane) repeat(ctx context.Context, c call, was answer) {
	a, retries, err := l.p.ask(ctx, c)
	l.run.retries.Add(int64(retries))
	l.run.repeats.Add(1)
	switch {
	case err != nil:
	case a.Refused != "":
		l.run.violate(
			"repeat: %s refused a second %s of %q with the same op id: %s",
			l.p.name,
			c.Verb,
			c.Name,
			a.Refused,
		)
	case c.Verb == remember && a.Version != was.Version:
		l.run.violate(
			"twice: %s answered a second %s of %q with version %d, the first with %d",
			l.p.name,
			c.Verb,
			c.Name,
			a.Version,
			was.Version,
		)
	}
}

// share changes a shared name for the version that it read.
func (l *lane) share(ctx context.Context) {
	name := sharedName(l.rand.IntN(sharedNames))
	a, _, err := l.p.ask(ctx, call{Verb: get, Name: name})
	if err != nil {
		return
	}
	if a.Refused != "" {
		l.run.violate("stale: %s has no %q: %s", l.p.name, name, a.Refused)
		return
	}
	c := l.newCall(remember, name, a.Version)
	l.run.ledger.ask(c.OpID, name, remember, true)
	a, retries, err := l.p.ask(ctx, c)
	l.run.retries.Add(int64(retries))
	switch {
	case err != nil:
	case a.Refused == refusedConflict:
		l.run.conflicts.Add(1)
		l.run.ledger.settle(c.OpID, refused, 0)
	case a.Refused != "":
		l.run.violate("refused: %s would not change %q: %s", l.p.name, name, a.Refused)
	default:
		l.run.ledger.settle(c.OpID, acknowledged, a.Version)
	}
}
