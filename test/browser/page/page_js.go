// This file is the program that runs in the page. It opens a memory on the browser's files and gives
// the page the object "memory", whose functions return promises.

package main

import (
	"context"
	"errors"
	"fmt"
	"syscall/js"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/browser"
)

func main() {
	if err := run(context.Background()); err != nil {
		js.Global().Call("opened", nil, err.Error())
	}
}

func run(ctx context.Context) error {
	fsys, err := browser.Open(ctx, "oxbow-example", nil)
	if err != nil {
		return err
	}
	defer fsys.Close()
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: fsys, Source: oxbow.Source{Door: "page"}})
	if err != nil {
		return err
	}
	defer m.Close()

	kept, err := fsys.Persist()
	if err != nil {
		kept = false // An old browser cannot promise to keep the files, but the memory works nevertheless.
	}
	js.Global().Call("opened", js.ValueOf(map[string]any{
		"kept": kept,
		"remember": newPromiseFunc(func(args []string) (any, error) {
			if len(args) != 2 {
				return nil, errors.New("remember takes a name and a content")
			}
			e, err := m.Remember(ctx, oxbow.Entry{Name: args[0], Content: args[1]})
			return entryFields(e), err
		}),
		"recall": newPromiseFunc(func(args []string) (any, error) {
			if len(args) != 1 {
				return nil, errors.New("recall takes a question")
			}
			hits, err := m.Recall(ctx, oxbow.Query{Text: args[0]})
			found := []any{}
			for _, h := range hits {
				found = append(found, entryFields(h.Entry))
			}
			return found, err
		}),
		"list": newPromiseFunc(func([]string) (any, error) {
			all := []any{}
			for e, err := range m.Entries(ctx, oxbow.Filter{}) {
				if err != nil {
					return nil, err
				}
				all = append(all, entryFields(e))
			}
			return all, nil
		}),
		"forget": newPromiseFunc(func(args []string) (any, error) {
			if len(args) != 1 {
				return nil, errors.New("forget takes a name")
			}
			return nil, m.Forget(ctx, args[0])
		}),
		"undo": newPromiseFunc(func([]string) (any, error) { return undoLastChange(ctx, m) }),
		"check": newPromiseFunc(func([]string) (any, error) {
			rep, err := m.Check(ctx)
			problems := []any{}
			for _, p := range rep.Problems {
				problems = append(problems, p.What)
			}
			return map[string]any{"entries": rep.Entries, "changes": rep.Last, "problems": problems}, err
		}),
	}), nil)
	// wait forever, because the functions above work only while the program runs. Closing the page ends the program.
	select {}
}

// undoLastChange reverts the last change and returns its number. If there is no change, it returns an error.
func undoLastChange(ctx context.Context, m *oxbow.Memory) (any, error) {
	for c, err := range m.Log(ctx) {
		if err != nil {
			return nil, err
		}
		_, err := m.Revert(ctx, c.Seq)
		return c.Seq, err
	}
	return nil, errors.New("there is nothing to undo")
}

// entryFields returns the fields of an entry that the page needs.
func entryFields(e oxbow.Entry) map[string]any {
	return map[string]any{"name": e.Name, "content": e.Content}
}

// newPromiseFunc returns a JavaScript function that immediately returns a promise. The argument work is a Go function
// that runs in a goroutine and receives the arguments of the JavaScript function as strings. If work returns an error,
// the promise is rejected, and otherwise it is resolved with the result of work. A goroutine is necessary because work
// waits for the browser's database, and the browser continues only after control has returned to JavaScript.
func newPromiseFunc(work func(args []string) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		var texts []string
		for _, a := range args {
			texts = append(texts, a.String())
		}
		var start js.Func
		start = js.FuncOf(func(_ js.Value, args []js.Value) any {
			resolve, reject := args[0], args[1]
			go func() {
				defer start.Release()
				v, err := work(texts)
				if err != nil {
					reject.Invoke(js.Global().Get("Error").New(fmt.Sprint(err)))
					return
				}
				resolve.Invoke(v)
			}()
			return nil
		})
		return js.Global().Get("Promise").New(start)
	})
}
