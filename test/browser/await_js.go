// Waits for what JavaScript answers later: promises, requests and
// transactions of IndexedDB.

package browser

import (
	"errors"
	"fmt"
	"syscall"
	"syscall/js"
)

// call calls a method and returns what it throws as an error.
func call(v js.Value, method string, args ...any) (res js.Value, err error) {
	defer caught(&err)
	return v.Call(method, args...), nil
}

// caught turns what JavaScript threw into an error.
func caught(err *error) {
	if r := recover(); r != nil {
		thrown, ok := r.(js.Error)
		if !ok {
			panic(r)
		}
		*err = failure(thrown.Value)
	}
}

// A DOMError is an error of the browser, such as one named AbortError.
type DOMError struct {
	Name    string // for programs; see https://webidl.spec.whatwg.org/#idl-DOMException-error-names
	Message string // for people
}

func (e *DOMError) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Name + ": " + e.Message
}

// Is makes the error of a full disk the one that [vfs.IsFull] knows.
func (e *DOMError) Is(target error) bool {
	return e.Name == "QuotaExceededError" && target == syscall.ENOSPC
}

// errNoReason is what a browser means that gives none.
var errNoReason = errors.New("the browser gave no reason")

// failure makes an error of a DOMException, an Error, or nothing.
func failure(v js.Value) error {
	if v.Type() != js.TypeObject {
		return errNoReason
	}
	return &DOMError{Name: text(v, "name"), Message: text(v, "message")}
}

// text returns a property that should be a string.
func text(v js.Value, key string) string {
	if p := v.Get(key); p.Type() == js.TypeString {
		return p.String()
	}
	return ""
}

// number returns a property that should be a number.
func number(v js.Value, key string) float64 {
	if p := v.Get(key); p.Type() == js.TypeNumber {
		return p.Float()
	}
	return 0
}

// answer is how something ended.
type answer struct {
	value js.Value
	err   error
}

// pending is an answer to come. Its handlers are released by wait, which must
// be called once, unless the answer does not matter any more and cannot come.
type pending struct {
	ch    chan answer
	funcs []js.Func
}

func newPending() *pending { return &pending{ch: make(chan answer, 1)} }

// on returns a handler that makes what fn returns the answer, if it is the
// first.
func (p *pending) on(fn func(args []js.Value) answer) js.Func {
	f := js.FuncOf(func(_ js.Value, args []js.Value) any {
		select {
		case p.ch <- fn(args):
		default:
		}
		return nil
	})
	p.funcs = append(p.funcs, f)
	return f
}

func (p *pending) wait() (js.Value, error) {
	a := <-p.ch
	p.release()
	return a.value, a.err
}

func (p *pending) release() {
	for _, f := range p.funcs {
		f.Release()
	}
	p.funcs = nil
}

// promised waits for a promise.
func promised(promise js.Value) (js.Value, error) {
	p := newPending()
	promise.Call("then", p.on(func(args []js.Value) answer { return answer{value: args[0]} }),
		p.on(func(args []js.Value) answer { return answer{err: failure(args[0])} }))
	return p.wait()
}

// answered follows a request of IndexedDB.
func answered(request js.Value) *pending {
	p := newPending()
	request.Set("onsuccess", p.on(func([]js.Value) answer { return answer{value: request.Get("result")} }))
	request.Set("onerror", p.on(func([]js.Value) answer { return answer{err: failure(request.Get("error"))} }))
	return p
}

// tx is a transaction of IndexedDB. It ends by itself when it was told nothing
// to do by the time JavaScript gets its turn. So between two requests nothing
// may be waited for but the first one's answer: while Go runs, JavaScript does
// not.
type tx struct {
	v      js.Value
	nodes  js.Value
	chunks js.Value
	end    *pending // of a transaction that writes
}

// The durabilities of a transaction that writes.
const (
	relaxed = "relaxed" // done when the operating system has it
	strict  = "strict"  // done when all so far is on stable storage
)

// view runs fn with a transaction that reads.
func (f *FS) view(fn func(t *tx) error) error {
	t, err := f.begin("readonly", relaxed)
	if err != nil {
		return err
	}
	return fn(t)
}

// update runs fn with a transaction that writes, and waits until it is done,
// or undoes it when fn fails.
func (f *FS) update(durability string, fn func(t *tx) error) error {
	t, err := f.begin("readwrite", durability)
	if err != nil {
		return err
	}
	t.end = newPending()
	t.v.Set("oncomplete", t.end.on(func([]js.Value) answer { return answer{} }))
	t.v.Set("onabort", t.end.on(func([]js.Value) answer {
		return answer{err: fmt.Errorf("the browser undid the change: %w", failure(t.v.Get("error")))}
	}))
	if err := fn(t); err != nil {
		_, _ = call(t.v, "abort") // fails when it was undone already, which is as well
		_, _ = t.end.wait()
		return err
	}
	_, _ = call(t.v, "commit") // saves a turn; a transaction that was undone says so below
	_, err = t.end.wait()
	return err
}

func (f *FS) begin(mode, durability string) (t *tx, err error) {
	if f.closed.Load() {
		return nil, errClosed
	}
	defer caught(&err)
	v := f.db.Call("transaction", f.stores, mode, js.ValueOf(map[string]any{"durability": durability}))
	return &tx{v: v, nodes: v.Call("objectStore", nodeStore), chunks: v.Call("objectStore", chunkStore)}, nil
}

// ask sends a request; its answer is to be waited for.
func ask(on js.Value, method string, args ...any) (p *pending, err error) {
	request, err := call(on, method, args...)
	if err != nil {
		return nil, err
	}
	return answered(request), nil
}

// get sends a request and waits for its answer.
func get(on js.Value, method string, args ...any) (js.Value, error) {
	p, err := ask(on, method, args...)
	if err != nil {
		return js.Undefined(), err
	}
	return p.wait()
}

// tell sends a request that changes something. When it fails the transaction
// is undone, and that is how one learns of it.
func tell(on js.Value, method string, args ...any) error {
	_, err := call(on, method, args...)
	return err
}
