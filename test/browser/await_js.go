// This file makes Go wait for asynchronous results of JavaScript: promises, and the requests and transactions of
// IndexedDB.

package browser

import (
	"errors"
	"fmt"
	"syscall"
	"syscall/js"
)

// call calls a method of a JavaScript value. An exception is returned as an error.
func call(v js.Value, method string, args ...any) (res js.Value, err error) {
	defer caught(&err)
	return v.Call(method, args...), nil
}

// caught recovers from a JavaScript exception and stores it in *err. It must be called by defer. Other panics
// continue.
func caught(err *error) {
	if r := recover(); r != nil {
		thrown, ok := r.(js.Error)
		if !ok {
			panic(r)
		}
		*err = failure(thrown.Value)
	}
}

// A DOMError is an error that the browser reports, such as an AbortError.
type DOMError struct {
	// name that identifies the kind of error (https://webidl.spec.whatwg.org/#idl-DOMException-error-names)
	Name    string
	Message string // description for people, which differs between browsers
}

func (e *DOMError) Error() string {
	if e.Message == "" {
		return e.Name
	}
	return e.Name + ": " + e.Message
}

// Is reports that the error matches ENOSPC if the browser has no space left. [vfs.IsFull] relies on this.
func (e *DOMError) Is(target error) bool {
	return e.Name == "QuotaExceededError" && target == syscall.ENOSPC
}

// errNoReason replaces an error that the browser did not describe.
var errNoReason = errors.New("the browser gave no reason")

// failure converts the value with which JavaScript failed to an error. The value is a DOMException or an Error, or it
// is missing.
func failure(v js.Value) error {
	if v.Type() != js.TypeObject {
		return errNoReason
	}
	return &DOMError{Name: text(v, "name"), Message: text(v, "message")}
}

// text returns the property as a string. It returns "" if the property is not a string.
func text(v js.Value, key string) string {
	if p := v.Get(key); p.Type() == js.TypeString {
		return p.String()
	}
	return ""
}

// number returns the property as a number. It returns 0 if the property is not a number.
func number(v js.Value, key string) float64 {
	if p := v.Get(key); p.Type() == js.TypeNumber {
		return p.Float()
	}
	return 0
}

// answer is the value or the error with which an asynchronous operation ended.
type answer struct {
	value js.Value
	err   error
}

// pending is an answer that may not have arrived yet. Callers must call wait once, because wait releases the
// JavaScript handlers. They may omit it only if the answer can no longer arrive and nobody needs it.
type pending struct {
	ch    chan answer
	funcs []js.Func
}

func newPending() *pending { return &pending{ch: make(chan answer, 1)} }

// on returns a JavaScript handler. When JavaScript calls it, the result of fn becomes the answer. Later calls change
// nothing.
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

// promised waits until a promise is settled, and returns its value or its error.
func promised(promise js.Value) (js.Value, error) {
	p := newPending()
	promise.Call("then", p.on(func(args []js.Value) answer { return answer{value: args[0]} }),
		p.on(func(args []js.Value) answer { return answer{err: failure(args[0])} }))
	return p.wait()
}

// answered returns the answer to an IndexedDB request. The answer is pending until the request ends.
func answered(request js.Value) *pending {
	p := newPending()
	request.Set("onsuccess", p.on(func([]js.Value) answer { return answer{value: request.Get("result")} }))
	request.Set("onerror", p.on(func([]js.Value) answer { return answer{err: failure(request.Get("error"))} }))
	return p
}

// tx is a transaction of IndexedDB. The browser ends it when control returns to JavaScript while no request is open.
// JavaScript runs only while Go waits. So after a request, the program must wait for its answer and for nothing else,
// and must then send the next request at once.
type tx struct {
	v      js.Value
	nodes  js.Value
	chunks js.Value
	end    *pending // arrives when a transaction that can write has ended (nil if it only reads)
}

// These tell when a transaction that writes is complete.
const (
	relaxed = "relaxed" // The operating system has the data.
	strict  = "strict"  // All changes so far are on stable storage.
)

// view calls fn with a transaction that can only read.
func (f *FS) view(fn func(t *tx) error) error {
	t, err := f.begin("readonly", relaxed)
	if err != nil {
		return err
	}
	return fn(t)
}

// update calls fn with a transaction that can write, and waits until the transaction is complete. If fn fails, update
// undoes all changes of the transaction.
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
		// The call fails if the browser has undone the transaction already. That is the same result.
		_, _ = call(t.v, "abort")
		_, _ = t.end.wait()
		return err
	}
	// The browser commits at once and not only when JavaScript runs again. If it undoes the transaction instead, wait
	// returns the error.
	_, _ = call(t.v, "commit")
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

// ask sends a request. The caller must wait for the answer that ask returns.
func ask(on js.Value, method string, args ...any) (p *pending, err error) {
	request, err := call(on, method, args...)
	if err != nil {
		return nil, err
	}
	return answered(request), nil
}

// get sends a request and returns the value of the answer.
func get(on js.Value, method string, args ...any) (js.Value, error) {
	p, err := ask(on, method, args...)
	if err != nil {
		return js.Undefined(), err
	}
	return p.wait()
}

// tell sends a request that changes data, and does not wait for the answer. If the request fails, the browser undoes
// the transaction, and update reports that.
func tell(on js.Value, method string, args ...any) error {
	_, err := call(on, method, args...)
	return err
}
