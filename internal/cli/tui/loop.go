// This file implements the event loop, which connects the terminal, the model and the verbs.

package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"
)

const (
	pause   = 40 * time.Millisecond // in typing, after which the query is run
	escWait = 50 * time.Millisecond // for the rest of a key that begins with an escape character

	pasteWait = time.Second // for the rest of a pasted text
)

// Show shows the screen until the person quits, ctx ends or a signal arrives. In each case, and
// after a panic, it restores the terminal.
func Show(ctx context.Context, t *Terminal, query string, now func() time.Time, v Verbs) error {
	signals := watch()
	defer signals.close()
	if err := t.enter(); err != nil {
		t.leave()
		return err
	}
	ctx, end := context.WithCancel(ctx)
	l := &loop{t: t, signals: signals, verbs: v, now: now, events: make(chan any), wanted: make(chan struct{}, 1),
		model: newModel(query, t.size(), pause)}
	defer l.calls.Wait() // before the caller closes the resources of the verbs
	defer end()
	defer t.leave()
	return l.run(ctx)
}

// loop is one run of the screen. Only verb calls and the reading of keys run in separate
// goroutines.
type loop struct {
	t       *Terminal
	verbs   Verbs
	now     func() time.Time
	model   *model
	signals *signals
	events  chan any
	wanted  chan struct{} // receives one value for each wanted read of keys

	pending []byte             // bytes of a key that is not complete
	ended   bool               // the person has quit
	overdue context.CancelFunc // cancels the running search (nil before the first)
	turn    sync.Mutex         // allows one call of a verb at a time
	calls   sync.WaitGroup
}

// Events of the loop besides the events of the model.
type (
	input struct {
		bytes []byte
		err   error
	}
	silence    struct{ pending int } // no byte arrived while pending bytes were waiting
	panicEvent struct {
		value any
		stack []byte
	}
)

func (l *loop) run(ctx context.Context) error {
	go l.readKeys(ctx)
	l.wanted <- struct{}{}
	if err := l.carryOut(ctx, l.model.start(l.now())); err != nil {
		return err
	}
	for !l.ended {
		if err := l.t.draw(l.model.view()); err != nil {
			return fmt.Errorf("drawing the screen: %w", err)
		}
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case n := <-l.signals.came:
			err = l.heard(n)
		case e := <-l.events:
			err = l.handle(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// heard handles a notice of the system.
func (l *loop) heard(n notice) error {
	switch n {
	case stops:
		return l.stop()
	case goesOn: // another program may have used the terminal
		if err := l.t.enter(); err != nil {
			return err
		}
	case hangsUp:
		return context.Canceled
	}
	if s := l.t.size(); s != l.model.size {
		l.model.update(s, l.now())
	}
	return nil
}

// stop restores the terminal and suspends this process.
func (l *loop) stop() error {
	l.t.leave()
	l.signals.stopSelf()
	return l.heard(goesOn)
}

// handle processes an event.
func (l *loop) handle(ctx context.Context, e any) error {
	switch e := e.(type) {
	case panicEvent:
		panic(fmt.Sprintf("%v\n\n%s", e.value, e.stack))
	case input:
		if errors.Is(e.err, io.EOF) {
			l.ended = true
			return nil
		}
		if e.err != nil {
			return fmt.Errorf("reading keys: %w", e.err)
		}
		l.pending = append(l.pending, e.bytes...)
		err := l.press(ctx, moreMayFollow)
		l.wanted <- struct{}{}
		return err
	case silence:
		if e.pending != len(l.pending) {
			return nil
		}
		return l.press(ctx, noneFollow)
	}
	return l.carryOut(ctx, l.model.update(e, l.now()))
}

// moreBytes says whether more bytes of an incomplete key are expected.
type moreBytes int

const (
	moreMayFollow moreBytes = iota
	noneFollow
)

// press passes the keys that have arrived to the model.
func (l *loop) press(ctx context.Context, more moreBytes) error {
	for len(l.pending) > 0 && !l.ended {
		k, n := nextKey(l.pending, more == noneFollow)
		if n == 0 {
			wait := escWait
			if bytes.HasPrefix(l.pending, []byte(pasteBegins)) {
				wait = pasteWait
			}
			l.after(ctx, wait, silence{len(l.pending)})
			break
		}
		l.pending = l.pending[n:]
		if err := l.carryOut(ctx, l.model.update(k, l.now())); err != nil {
			return err
		}
	}
	return nil
}

// readKeys sends the typed bytes. It reads only when a value arrives in l.wanted, so that the
// program leaves the keys to an editor that is running.
func (l *loop) readKeys(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wanted:
		}
		b := make([]byte, 4096)
		n, err := l.t.in.Read(b)
		if n > 0 {
			err = nil
		}
		l.send(ctx, input{b[:n], err})
	}
}

func (l *loop) send(ctx context.Context, e any) {
	select {
	case l.events <- e:
	case <-ctx.Done():
	}
}

// after sends an event after a delay.
func (l *loop) after(ctx context.Context, d time.Duration, e any) {
	time.AfterFunc(d, func() { l.send(ctx, e) })
}

// carryOut performs the effects that the model returned.
func (l *loop) carryOut(ctx context.Context, effects []effect) error {
	for _, e := range effects {
		switch e := e.(type) {
		case quit:
			l.ended = true
		case wake:
			l.after(ctx, e.at.Sub(l.now()), tick{})
		case choice:
			l.verbs.Choose(e.hit)
			l.ended = true
		case clip:
			l.t.copyText(e.hit.Text)
		case redraw:
			l.t.shown = frame{}
		case suspend:
			if err := l.stop(); err != nil {
				return err
			}
		case edit:
			if err := l.edit(ctx, e.hit); err != nil {
				return err
			}
		case search:
			l.dropSearch()
			var own context.Context
			own, l.overdue = context.WithCancel(ctx)
			l.call(ctx, func() any { return answer{e.n, l.verbs.Recall(own, e.query)} }, own)
		case get:
			l.call(ctx, func() any { return entry{e.hit, l.verbs.Get(ctx, e.hit)} }, ctx)
		case forget:
			l.dropSearch()
			l.call(ctx, func() any { return outcome{l.verbs.Forget(ctx, e.hit), false} }, ctx)
		case undo:
			l.dropSearch()
			l.call(ctx, func() any { return outcome{l.verbs.Undo(ctx, e.change), true} }, ctx)
		}
	}
	return nil
}

// call calls a verb in its own goroutine, after the verbs that are running, and sends the
// result. It does neither if wanted is cancelled before.
func (l *loop) call(ctx context.Context, verb func() any, wanted context.Context) {
	l.calls.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				l.send(ctx, panicEvent{v, debug.Stack()})
			}
		}()
		l.turn.Lock()
		var out any
		func() {
			defer l.turn.Unlock()
			if wanted.Err() == nil {
				out = verb()
			}
		}()
		if wanted.Err() == nil {
			l.send(ctx, out)
		}
	})
}

// dropSearch cancels the running search, whose answer is then ignored.
func (l *loop) dropSearch() {
	if l.overdue != nil {
		l.overdue()
	}
}

// edit restores the terminal and lets a person edit an entry. It discards keys that were typed
// ahead.
func (l *loop) edit(ctx context.Context, h Hit) error {
	l.dropSearch()
	l.turn.Lock()
	defer l.turn.Unlock()
	l.t.leave()
	done := l.verbs.Edit(ctx, h)
	l.pending = nil
	if err := l.t.enter(); err != nil {
		return err
	}
	_ = l.heard(resizes)
	return l.carryOut(ctx, l.model.update(outcome{done, false}, l.now()))
}
