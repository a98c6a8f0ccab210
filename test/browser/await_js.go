// This file waits for asynchronous results of JavaScript: promises, and the requests and transactions
// of IndexedDB.

package browser

import (
	"errors"
	"fmt"
	"syscall"
	"syscall/js"
)

// call calls a method and returns an exception as an error.
func call(v js.Value, method string, args ...any) (res js.Value, err error) {
	defer caught(&err)
	return v.Call(method, args...), nil
}

// caught stores a JavaScript exception in *err. It must be deferred.
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
	Name    string // a stable name (see https://webidl.spec.whatwg.org/#idl-DOMException-error-names)
	Message string // a text for people
}

func (e *DOMError) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Name + ": " + e.Message
}

// Is reports a match with ENOSPC if the disk is full, so that [vfs.IsFull] detects it.
func (e *DOMError) Is(target error) bool {
	return e.Name == "QuotaExceededError" && target == syscall.ENOSPC
}

// errNoReason is the error if the browser provides no error.
var errNoReason = errors.New("the browser gave no reason")

// failure converts a DOMException, an Error or a missing value to an error.
func failure(v js.Value) error {
	if v.Type() != js.TypeObject {
		return errNoReason
	}
	return &DOMError{Name: text(v, "name"), Message: text(v, "message")}
}

// text returns a property that should be a string, or "" if it is not.
func text(v js.Value, key string) string {
	if p := v.Get(key); p.Type() == js.TypeString {
		return p.String()
	}
	return ""
}

// number returns a property that should be a number, or 0 if it is not.
func number(v js.Value, key string) float64 {
	if p := v.Get(key); p.Type() == js.TypeNumber {
		return p.Float()
	}
	return 0
}

// answer is the result of an asynchronous operation.
type answer struct {
	value js.Value
	err   error
}

// pending is an answer that has not arrived yet. wait releases the answer's handlers. Callers must
// call wait once, unless nobody needs the answer and the answer can no longer arrive.
type pending struct {
	ch    chan answer
	funcs []js.Func
}

func newPending() *pending { return &pending{ch: make(chan answer, 1)} }

// on returns a handler that calls fn and makes its result the answer, unless there is an answer
// already.
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

// promised waits for a promise and returns its value.
func promised(promise js.Value) (js.Value, error) {
	p := newPending()
	promise.Call("then", p.on(func(args []js.Value) answer { return answer{value: args[0]} }),
		p.on(func(args []js.Value) answer { return answer{err: failure(args[0])} }))
	return p.wait()
}

// answered returns the pending answer to an IndexedDB request.
func answered(request js.Value) *pending {
	p := newPending()
	request.Set("onsuccess", p.on(func([]js.Value) answer { return answer{value: request.Get("result")} }))
	request.Set("onerror", p.on(func([]js.Value) answer { return answer{err: failure(request.Get("error"))} }))
	return p
}

// tx is a transaction of IndexedDB. The browser ends a transaction that has no open request when
// control returns to JavaScript. JavaScript does not run while Go runs. Between two requests,
// therefore, the program may only wait for the answer to the first.
type tx struct {
	v      js.Value
	nodes  js.Value
	chunks js.Value
	end    *pending // answer to the end of the transaction, if it can write
}

// Durabilities of a transaction that writes.
const (
	relaxed = "relaxed" // complete when the operating system has the data
	strict  = "strict"  // complete when all previous changes are on stable storage
)

// view runs fn with a read-only transaction.
func (f *FS) view(fn func(t *tx) error) error {
	t, err := f.begin("readonly", relaxed)
	if err != nil {
		return err
	}
	return fn(t)
}

// update runs fn with a transaction that can write, and waits until it is complete. If fn fails, update
// undoes the transaction.
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
		_, _ = call(t.v, "abort") // fails if the transaction was undone already, which is fine
		_, _ = t.end.wait()
		return err
	}
	_, _ = call(t.v, "commit") // commit without waiting for JavaScript; an undone transaction is reported below
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

// ask sends a request. The caller must wait for the answer.
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

// tell sends a request that changes data. It does not wait for the answer, because a failure undoes the
// transaction.
func tell(on js.Value, method string, args ...any) error {
	_, err := call(on, method, args...)
	return err
}
