// This file makes Go wait for asynchronous results from JavaScript: promises, and the requests and transactions of
// IndexedDB.

package browser

import (
	"errors"
	"fmt"
	"syscall"
	"syscall/js"
)

// callMethod calls a method of a JavaScript value. An exception is returned as an error.
func callMethod(v js.Value, method string, args ...any) (res js.Value, err error) {
	defer recoverThrown(&err)
	return v.Call(method, args...), nil
}

// recoverThrown stores a JavaScript exception, with which the calling function panicked, in *err. It must be called by
// defer. Other panics continue.
func recoverThrown(err *error) {
	if r := recover(); r != nil {
		thrown, ok := r.(js.Error)
		if !ok {
			panic(r)
		}
		*err = browserError(thrown.Value)
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

// Is reports that the error matches ENOSPC if the browser is out of space. [vfs.IsFull] relies on this.
func (e *DOMError) Is(target error) bool {
	return e.Name == "QuotaExceededError" && target == syscall.ENOSPC
}

// errNoReason replaces an error that the browser did not describe.
var errNoReason = errors.New("the browser gave no reason")

// browserError converts the value with which JavaScript failed to an error. The value is a DOMException or an
// Error, or it is missing.
func browserError(v js.Value) error {
	if v.Type() != js.TypeObject {
		return errNoReason
	}
	return &DOMError{Name: stringProperty(v, "name"), Message: stringProperty(v, "message")}
}

// stringProperty returns the property as a string. It returns "" if the property is not a string.
func stringProperty(v js.Value, key string) string {
	if p := v.Get(key); p.Type() == js.TypeString {
		return p.String()
	}
	return ""
}

// numberProperty returns the property as a number. It returns 0 if the property is not a number.
func numberProperty(v js.Value, key string) float64 {
	if p := v.Get(key); p.Type() == js.TypeNumber {
		return p.Float()
	}
	return 0
}

// asyncAnswer is the value or the error with which an asynchronous operation ended.
type asyncAnswer struct {
	value js.Value
	err   error
}

// pendingAnswer is an answer that may not have arrived yet. Callers must call wait once, because wait releases the
// JavaScript handlers. They may omit the call only if the answer can no longer arrive and is not needed.
type pendingAnswer struct {
	answerChan chan asyncAnswer
	handlers   []js.Func
}

func newPendingAnswer() *pendingAnswer { return &pendingAnswer{answerChan: make(chan asyncAnswer, 1)} }

// handlerFor returns a function for JavaScript to call. When JavaScript calls it, fn gets the arguments, and the result
// of fn becomes the answer of p. If p already has an answer, the result is ignored.
func (p *pendingAnswer) handlerFor(fn func(args []js.Value) asyncAnswer) js.Func {
	f := js.FuncOf(func(_ js.Value, args []js.Value) any {
		select {
		case p.answerChan <- fn(args):
		default:
		}
		return nil
	})
	p.handlers = append(p.handlers, f)
	return f
}

func (p *pendingAnswer) waitForAnswer() (js.Value, error) {
	a := <-p.answerChan
	p.releaseHandlers()
	return a.value, a.err
}

func (p *pendingAnswer) releaseHandlers() {
	for _, f := range p.handlers {
		f.Release()
	}
	p.handlers = nil
}

// awaitPromise waits until a promise is settled, and returns the value or the error.
func awaitPromise(promise js.Value) (js.Value, error) {
	p := newPendingAnswer()
	promise.Call("then", p.handlerFor(func(args []js.Value) asyncAnswer { return asyncAnswer{value: args[0]} }),
		p.handlerFor(func(args []js.Value) asyncAnswer { return asyncAnswer{err: browserError(args[0])} }))
	return p.waitForAnswer()
}

// watchRequest returns the answer to an IndexedDB request. The answer is pending until the request ends.
func watchRequest(request js.Value) *pendingAnswer {
	p := newPendingAnswer()
	request.Set("onsuccess", p.handlerFor(func([]js.Value) asyncAnswer {
		return asyncAnswer{value: request.Get("result")}
	}))
	request.Set("onerror", p.handlerFor(func([]js.Value) asyncAnswer {
		return asyncAnswer{err: browserError(request.Get("error"))}
	}))
	return p
}

// transaction is a transaction of IndexedDB. The browser ends it when control returns to JavaScript while no
// request is open. JavaScript runs only while Go waits. So after a request, the program must wait for its answer
// and for nothing else, and must then send the next request at once.
type transaction struct {
	value        js.Value
	nodeObjects  js.Value
	chunkObjects js.Value
	// the answer arrives when the transaction has ended (nil for a transaction that only reads)
	completionAnswer *pendingAnswer
}

// These values tell the browser how safely a transaction must be stored before it counts as complete.
const (
	durabilityRelaxed = "relaxed" // complete when the browser has passed the data to the operating system
	durabilityStrict  = "strict"  // complete when the data is on stable storage
)

// viewTransaction calls fn with a transaction that can only read.
func (f *FS) viewTransaction(fn func(t *transaction) error) error {
	t, err := f.beginTransaction("readonly", durabilityRelaxed)
	if err != nil {
		return err
	}
	return fn(t)
}

// updateTransaction calls fn with a transaction that can write, and waits until the transaction is complete. If fn
// fails, updateTransaction undoes all changes.
func (f *FS) updateTransaction(durability string, fn func(t *transaction) error) error {
	t, err := f.beginTransaction("readwrite", durability)
	if err != nil {
		return err
	}
	t.completionAnswer = newPendingAnswer()
	t.value.Set("oncomplete", t.completionAnswer.handlerFor(func([]js.Value) asyncAnswer { return asyncAnswer{} }))
	t.value.Set("onabort", t.completionAnswer.handlerFor(func([]js.Value) asyncAnswer {
		return asyncAnswer{err: fmt.Errorf("the browser undid the change: %w", browserError(t.value.Get("error")))}
	}))
	if err := fn(t); err != nil {
		// The call fails if the browser has undone the transaction already. That is the same result.
		_, _ = callMethod(t.value, "abort")
		_, _ = t.completionAnswer.waitForAnswer()
		return err
	}
	// Make the browser commit now. Otherwise it commits only when JavaScript runs again. If the browser undoes the
	// transaction instead of committing, waitForAnswer returns the error.
	_, _ = callMethod(t.value, "commit")
	_, err = t.completionAnswer.waitForAnswer()
	return err
}

func (f *FS) beginTransaction(mode, durability string) (t *transaction, err error) {
	if f.isClosed.Load() {
		return nil, errClosed
	}
	defer recoverThrown(&err)
	v := f.database.Call("transaction", f.storeNames, mode, js.ValueOf(map[string]any{"durability": durability}))
	return &transaction{
		value:        v,
		nodeObjects:  v.Call("objectStore", nodeStoreName),
		chunkObjects: v.Call("objectStore", chunkStoreName),
	}, nil
}

// startRequest sends a request. The caller must wait for the answer.
func startRequest(object js.Value, method string, args ...any) (p *pendingAnswer, err error) {
	request, err := callMethod(object, method, args...)
	if err != nil {
		return nil, err
	}
	return watchRequest(request), nil
}

// runRequest sends a request and returns the value of the answer.
func runRequest(object js.Value, method string, args ...any) (js.Value, error) {
	p, err := startRequest(object, method, args...)
	if err != nil {
		return js.Undefined(), err
	}
	return p.waitForAnswer()
}

// sendRequest sends a request that changes data, and does not wait for the answer. If the request fails, the
// browser undoes the transaction, and updateTransaction reports that.
func sendRequest(object js.Value, method string, args ...any) error {
	_, err := callMethod(object, method, args...)
	return err
}
