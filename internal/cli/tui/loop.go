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
	typingPause = 40 * time.Millisecond // The query is run after this pause in typing.
	// maximum time to wait for the rest of a key that begins with an escape character
	escapeTimeout = 50 * time.Millisecond

	pasteTimeout = time.Second // maximum time to wait for the rest of a pasted text
)

// ShowScreen shows the screen until the person quits, ctx ends or a signal arrives. It always restores the terminal,
// even after a panic.
func ShowScreen(ctx context.Context, t *Terminal, query string, now func() time.Time, v Callbacks) error {
	signals := watchSignals()
	defer signals.close()
	if err := t.enterScreen(); err != nil {
		t.leaveScreen()
		return err
	}
	ctx, end := context.WithCancel(ctx)
	l := &eventLoop{
		terminal:     t,
		signals:      signals,
		verbs:        v,
		now:          now,
		events:       make(chan any),
		readRequests: make(chan struct{}, 1),
		model:        newModel(query, t.size(), typingPause),
	}
	// Verbs must end before ShowScreen returns, because the caller then closes the memory that they use.
	defer l.verbCalls.Wait()
	defer end()
	defer t.leaveScreen()
	return l.run(ctx)
}

// eventLoop runs the screen once. All its work is done in one goroutine, except verb calls and the reading of keys.
type eventLoop struct {
	terminal     *Terminal
	verbs        Callbacks
	now          func() time.Time
	model        *model
	signals      *signals
	events       chan any
	readRequests chan struct{} // receives a value each time readKeys may read from the terminal once

	pendingKeyBytes []byte             // bytes of a key that has not arrived completely
	hasEnded        bool               // the screen must end, because the person has quit or chosen an entry
	cancelSearch    context.CancelFunc // cancels the running search (nil before the first search)
	verbMutex       sync.Mutex         // ensures that only one verb runs at a time
	verbCalls       sync.WaitGroup
}

// The event loop handles events of the types in this group itself. It passes all other events to the model, the state
// of the screen.
type (
	inputEvent struct {
		bytes []byte
		err   error
	}
	// A pause in the input: only the first pendingByteCount bytes of a key's byte sequence have arrived, and no further
	// byte has arrived for a while.
	inputPauseEvent struct{ pendingByteCount int }
	panicEvent      struct {
		value any
		stack []byte
	}
)

func (l *eventLoop) run(ctx context.Context) error {
	go l.readKeys(ctx)
	l.readRequests <- struct{}{}
	if err := l.performEffects(ctx, l.model.startFirstSearch(l.now())); err != nil {
		return err
	}
	for !l.hasEnded {
		if err := l.terminal.draw(l.model.render()); err != nil {
			return fmt.Errorf("drawing the screen: %w", err)
		}
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case n := <-l.signals.notices:
			err = l.handleNotice(n)
		case e := <-l.events:
			err = l.handleEvent(ctx, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// handleNotice handles a notice of the operating system.
func (l *eventLoop) handleNotice(n signalNotice) error {
	switch n {
	case noticeSuspendProcess:
		return l.suspendProcess()
	case noticeProcessContinued: // draw everything again, because another program may have used the terminal
		if err := l.terminal.enterScreen(); err != nil {
			return err
		}
	case noticeTerminalClosed:
		return context.Canceled
	}
	if s := l.terminal.size(); s != l.model.screenSize {
		l.model.update(s, l.now())
	}
	return nil
}

// suspendProcess restores the terminal and suspends this process, as Ctrl-Z does. When the process continues,
// suspendProcess sets up the screen again and returns.
func (l *eventLoop) suspendProcess() error {
	l.terminal.leaveScreen()
	l.signals.suspendSelf()
	return l.handleNotice(noticeProcessContinued)
}

// handleEvent handles an event. It handles panics, key input and pauses in the input itself. It passes any other event
// to the model, the state of the screen, and performs the effects that the model's update method returns.
func (l *eventLoop) handleEvent(ctx context.Context, e any) error {
	switch e := e.(type) {
	case panicEvent:
		panic(fmt.Sprintf("%v\n\n%s", e.value, e.stack))
	case inputEvent:
		if errors.Is(e.err, io.EOF) {
			l.hasEnded = true
			return nil
		}
		if e.err != nil {
			return fmt.Errorf("reading keys: %w", e.err)
		}
		l.pendingKeyBytes = append(l.pendingKeyBytes, e.bytes...)
		err := l.handlePendingKeys(ctx, pendingInputMayContinue)
		l.readRequests <- struct{}{}
		return err
	case inputPauseEvent:
		if e.pendingByteCount != len(l.pendingKeyBytes) {
			return nil
		}
		return l.handlePendingKeys(ctx, pendingInputComplete)
	}
	return l.performEffects(ctx, l.model.update(e, l.now()))
}

// pendingInputStatus says whether the rest of an incomplete key may still arrive.
type pendingInputStatus int

const (
	pendingInputMayContinue pendingInputStatus = iota
	pendingInputComplete
)

// handlePendingKeys decodes the pending bytes, passes the keys to the model, and performs the effects. An incomplete
// key stays pending. In this case, an inputPauseEvent follows after a short time. The parameter inputStatus tells
// whether the rest of an incomplete key may still arrive.
func (l *eventLoop) handlePendingKeys(ctx context.Context, inputStatus pendingInputStatus) error {
	for len(l.pendingKeyBytes) > 0 && !l.hasEnded {
		k, n := decodeKey(l.pendingKeyBytes, inputStatus == pendingInputComplete)
		if n == 0 {
			wait := escapeTimeout
			if bytes.HasPrefix(l.pendingKeyBytes, []byte(pasteStart)) {
				wait = pasteTimeout
			}
			l.sendEventLater(ctx, wait, inputPauseEvent{len(l.pendingKeyBytes)})
			break
		}
		l.pendingKeyBytes = l.pendingKeyBytes[n:]
		if err := l.performEffects(ctx, l.model.update(k, l.now())); err != nil {
			return err
		}
	}
	return nil
}

// readKeys reads from the terminal and sends the bytes as inputEvents. It reads once for each value in l.readRequests.
// While an editor runs, no such value arrives, so that the editor gets all keys.
func (l *eventLoop) readKeys(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.readRequests:
		}
		b := make([]byte, 4096)
		n, err := l.terminal.in.Read(b)
		if n > 0 {
			err = nil
		}
		l.sendEvent(ctx, inputEvent{b[:n], err})
	}
}

func (l *eventLoop) sendEvent(ctx context.Context, e any) {
	select {
	case l.events <- e:
	case <-ctx.Done():
	}
}

// sendEventLater sends an event after a delay.
func (l *eventLoop) sendEventLater(ctx context.Context, d time.Duration, e any) {
	time.AfterFunc(d, func() { l.sendEvent(ctx, e) })
}

// performEffects performs actions, such as a search, that the screen's state requested because of an event.
func (l *eventLoop) performEffects(ctx context.Context, effects []modelEffect) error {
	for _, e := range effects {
		switch e := e.(type) {
		case quitEffect:
			l.hasEnded = true
		case timerEffect:
			l.sendEventLater(ctx, e.wakeTime.Sub(l.now()), timerEvent{})
		case chooseEntryEffect:
			l.verbs.ChooseEntry(e.hit)
			l.hasEnded = true
		case copyTextEffect:
			l.terminal.copyText(e.hit.Text)
		case redrawEffect:
			l.terminal.shownFrame = frame{}
		case suspendProcessEffect:
			if err := l.suspendProcess(); err != nil {
				return err
			}
		case editEntryEffect:
			if err := l.openEntryInEditor(ctx, e.hit); err != nil {
				return err
			}
		case searchEffect:
			l.cancelRunningSearch()
			var own context.Context
			own, l.cancelSearch = context.WithCancel(ctx)
			l.runVerb(ctx, func() any { return searchAnswer{e.searchNumber, l.verbs.Recall(own, e.query)} }, own)
		case loadEntryEffect:
			l.runVerb(ctx, func() any { return loadedEntry{e.hit, l.verbs.Get(ctx, e.hit)} }, ctx)
		case forgetEntryEffect:
			l.cancelRunningSearch()
			l.runVerb(ctx, func() any { return changeOutcome{l.verbs.Forget(ctx, e.hit), false} }, ctx)
		case undoChangeEffect:
			l.cancelRunningSearch()
			l.runVerb(ctx, func() any { return changeOutcome{l.verbs.Undo(ctx, e.changeNumber), true} }, ctx)
		}
	}
	return nil
}

// runVerb calls the function verb, which runs a search or another operation, in a new goroutine. It waits until no
// other such function is running. It sends the function's result as an event. If searchContext is cancelled before the
// call, the function is not called. If searchContext is cancelled later, the result is discarded.
func (l *eventLoop) runVerb(ctx context.Context, verb func() any, searchContext context.Context) {
	l.verbCalls.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				l.sendEvent(ctx, panicEvent{v, debug.Stack()})
			}
		}()
		l.verbMutex.Lock()
		var out any
		func() {
			defer l.verbMutex.Unlock()
			if searchContext.Err() == nil {
				out = verb()
			}
		}()
		if searchContext.Err() == nil {
			l.sendEvent(ctx, out)
		}
	})
}

// cancelRunningSearch cancels the running search, if there is one. The search's answer is then ignored.
func (l *eventLoop) cancelRunningSearch() {
	if l.cancelSearch != nil {
		l.cancelSearch()
	}
}

// openEntryInEditor lets a person edit an entry in an editor. Before the editor starts, openEntryInEditor gives the
// terminal back its normal state. After the editor has ended, it shows the screen again. Keys that the person typed
// before the editor started, and that were not handled yet, are discarded.
func (l *eventLoop) openEntryInEditor(ctx context.Context, h Hit) error {
	l.cancelRunningSearch()
	l.verbMutex.Lock()
	defer l.verbMutex.Unlock()
	l.terminal.leaveScreen()
	done := l.verbs.Edit(ctx, h)
	l.pendingKeyBytes = nil
	if err := l.terminal.enterScreen(); err != nil {
		return err
	}
	_ = l.handleNotice(noticeTerminalResized)
	return l.performEffects(ctx, l.model.update(changeOutcome{done, false}, l.now()))
}
