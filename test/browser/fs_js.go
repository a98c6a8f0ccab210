// The file system: how it is opened, and what is in its
// database.
//
// The database, of version 1, has two object stores.
//
//	nodes   key: ino, a number given by the store and never given again
//	        value: {ino, mode, size, mod}   and, while a name leads to it, {dir, name}
//	                                        and, when none does any more, {gone: 1}
//	chunks  key: [ino, i]
//	        value: {i, b: Uint8Array}
//
// A node is a file or a directory. ino 1 is the root; mode is an [fs.FileMode];
// size is in bytes; mod is the time of the last change, in milliseconds since
// 1970 with fractions, each later than the one before; dir is the ino of the
// directory that holds the node, and name its name there. The index "place" over
// [dir, name] is unique and finds a node by its name, and all nodes of a
// directory; the index "gone" finds the files that wait for their last holder to
// close them.
//
// A file's bytes are in chunks of 16 KiB: chunk i holds those from i × 16384 on,
// without the zeros at its end. A chunk of nothing but zeros has no row. So free
// space costs nothing, and nothing is stored after the end of a file.
//
// Example: the file notes.md of the root, with the text "hi", is the node
// {ino: 2, dir: 1, name: "notes.md", mode: 384, size: 2, mod: 1776504600000.001}
// and the chunk {i: 0, b: [104, 105]} under the key [2, 0].

package browser

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"
	"syscall/js"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// version of the database.
//
//	1: nodes and chunks, as told above
const version = 1

const (
	nodeStore  = "nodes"
	chunkStore = "chunks"
	placeIndex = "place"
	goneIndex  = "gone"

	rootIno = 1

	chunkSize = 16 << 10 // bytes
)

// errClosed is what a file system that was closed answers.
var errClosed = fmt.Errorf("the file system was closed: %w", fs.ErrClosed)

// Options change how a file system is opened. Nil and zero fields mean the
// default.
type Options struct {
	// Clock gives the time that changes bear; time.Now by default.
	Clock func() time.Time
}

// FS is a file system in IndexedDB. Permissions are kept but not enforced; there
// are no links.
type FS struct {
	name   string
	clock  func() time.Time
	db     js.Value // undefined until it is open
	stores js.Value
	ranges js.Value // IDBKeyRange
	locks  js.Value // navigator.locks
	closed atomic.Bool
	onGone js.Func

	closing sync.Once
	mu      sync.Mutex     // guards held
	held    map[*hold]bool // Web Locks, for Close
}

var _ vfs.FS = (*FS)(nil)

// Open opens the file system of that name in the page's origin, making it where
// there is none. Names of other programs' databases are refused. Where the
// browser lacks IndexedDB or Web Locks (a page that came neither by https nor
// from localhost has none) the error matches [vfs.ErrUnsupported].
//
// When ctx ends first, what the browser opens later is closed again.
func Open(ctx context.Context, name string, o *Options) (*FS, error) {
	f := &FS{name: name, clock: time.Now, held: map[*hold]bool{}}
	if o != nil && o.Clock != nil {
		f.clock = o.Clock
	}
	if err := f.open(ctx); err != nil {
		return nil, fmt.Errorf("opening the browser's file system %q: %w", name, err)
	}
	return f, nil
}

func (f *FS) open(ctx context.Context) error {
	if f.name == "" {
		return fmt.Errorf("%w: it needs a name", fs.ErrInvalid)
	}
	global := js.Global()
	factory, navigator := global.Get("indexedDB"), global.Get("navigator")
	if !factory.Truthy() {
		return fmt.Errorf("%w: there is no IndexedDB here", vfs.ErrUnsupported)
	}
	if navigator.Truthy() {
		f.locks = navigator.Get("locks")
	}
	if !f.locks.Truthy() {
		return fmt.Errorf(
			"%w: there are no Web Locks here; a page has them when it came by https or from localhost",
			vfs.ErrUnsupported,
		)
	}
	f.ranges = global.Get("IDBKeyRange")
	f.stores = js.ValueOf([]any{nodeStore, chunkStore})
	db, err := f.connect(ctx, factory)
	if err != nil {
		return err
	}
	f.db = db
	// Another page may want the database for a newer version of this package,
	// and a person may clear the site's data: both wait for, or come with, the
	// end of this connection.
	f.onGone = js.FuncOf(func(js.Value, []js.Value) any {
		f.leave()
		return nil
	})
	f.db.Set("onversionchange", f.onGone)
	f.db.Set("onclose", f.onGone)
	if err := f.sweep(); err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// connect opens the database and makes what it lacks.
func (f *FS) connect(ctx context.Context, factory js.Value) (js.Value, error) {
	request, err := call(factory, "open", f.name, version)
	if err != nil {
		return js.Undefined(), err
	}
	var made error
	upgrade := js.FuncOf(func(_ js.Value, args []js.Value) any {
		made = f.lay(request.Get("result"), number(args[0], "oldVersion"))
		if made != nil {
			_, _ = call(request.Get("transaction"), "abort")
		}
		return nil
	})
	request.Set("onupgradeneeded", upgrade)
	p := answered(request)
	finish := func(a answer) (js.Value, error) {
		p.release()
		upgrade.Release()
		switch e := (*DOMError)(nil); {
		case made != nil:
			return js.Undefined(), made
		case errors.As(a.err, &e) && e.Name == "VersionError":
			return js.Undefined(), fmt.Errorf(
				"%w: the database is of a newer version than %d: %w",
				vfs.ErrUnsupported,
				version,
				a.err,
			)
		case a.err != nil:
			return js.Undefined(), a.err
		}
		has := a.value.Get("objectStoreNames")
		if !has.Call("contains", nodeStore).Bool() || !has.Call("contains", chunkStore).Bool() {
			a.value.Call("close")
			return js.Undefined(), fmt.Errorf("%w: the database of that name is another program's", fs.ErrExist)
		}
		return a.value, nil
	}
	select {
	case a := <-p.ch:
		return finish(a)
	case <-ctx.Done():
		go func() {
			if db, err := finish(<-p.ch); err == nil {
				db.Call("close")
			}
		}()
		return js.Undefined(), ctx.Err()
	}
}

// lay makes the object stores of an empty database, and the root.
func (f *FS) lay(db js.Value, from float64) (err error) {
	if from != 0 {
		return fmt.Errorf("%w: the database of that name is another program's", fs.ErrExist)
	}
	defer caught(&err)
	nodes := db.Call("createObjectStore", nodeStore, map[string]any{"keyPath": "ino", "autoIncrement": true})
	nodes.Call("createIndex", placeIndex, []any{"dir", "name"}, map[string]any{"unique": true})
	nodes.Call("createIndex", goneIndex, "gone")
	db.Call("createObjectStore", chunkStore)
	root := node{ino: rootIno, mode: fs.ModeDir | 0o700, mod: f.stamp(0)}
	nodes.Call("put", root.row())
	return nil
}

// Name returns the name that [Open] was given.
func (f *FS) Name() string { return f.name }

// Close releases the file system, and all files and locks that are open in
// it. Later calls fail with [fs.ErrClosed]; a second Close does nothing.
func (f *FS) Close() error {
	f.leave()
	f.closing.Do(func() {
		f.db.Set("onversionchange", js.Null())
		f.db.Set("onclose", js.Null())
		f.onGone.Release()
	})
	return nil
}

// leave ends the connection and frees the locks. It waits for nothing.
func (f *FS) leave() {
	f.closed.Store(true)
	f.db.Call("close")
	f.mu.Lock()
	held := f.held
	f.held = map[*hold]bool{}
	f.mu.Unlock()
	for h := range held {
		h.free()
		go h.release() // waits
	}
}

// Persist asks the browser to keep the origin's data when its disk runs full,
// and reports whether it will. A browser decides by its own rules, or asks the
// person; until it has agreed it may throw the data away, all of it at once,
// but not while a page of the origin is open.
func (f *FS) Persist() (bool, error) {
	storage := js.Global().Get("navigator").Get("storage")
	if !storage.Truthy() || storage.Get("persist").Type() != js.TypeFunction {
		return false, fmt.Errorf("keeping the data of %q: %w", f.name, vfs.ErrUnsupported)
	}
	promise, err := call(storage, "persist")
	if err == nil {
		var v js.Value
		v, err = promised(promise)
		if err == nil {
			return v.Truthy(), nil
		}
	}
	return false, fmt.Errorf("keeping the data of %q: %w", f.name, err)
}

// stamp returns the time of a change, in milliseconds: the clock's, but later
// than the change before, so that no change has the time of another.
func (f *FS) stamp(before float64) float64 {
	return max(float64(f.clock().UnixNano())/1e6, before+tick)
}

// tick is the least time between two changes of a file: about a microsecond, in
// milliseconds. Numbers as large as today's date are exact to a fourth of it.
const tick = 1.0 / 1024

// node is a row of the store of that name.
type node struct {
	ino  float64 // 0: to be given by the store
	dir  float64 // 0: no name leads to it
	name string
	mode fs.FileMode
	size int64
	mod  float64
}

func (n node) isDir() bool { return n.mode.IsDir() }

// row returns the node as it is stored.
func (n node) row() js.Value {
	v := map[string]any{"mode": float64(n.mode), "size": float64(n.size), "mod": n.mod}
	if n.ino != 0 {
		v["ino"] = n.ino
	}
	switch {
	case n.dir != 0:
		v["dir"], v["name"] = n.dir, n.name
	case n.ino != rootIno:
		v["gone"] = 1
	}
	return js.ValueOf(v)
}

// nodeOf reads a row.
func nodeOf(v js.Value) (n node, ok bool) {
	if v.Type() != js.TypeObject {
		return node{}, false
	}
	n = node{ino: number(v, "ino"), dir: number(v, "dir"), name: text(v, "name"),
		mode: fs.FileMode(number(v, "mode")), size: int64(number(v, "size")), mod: number(v, "mod")}
	return n, n.ino != 0
}

// info describes a node as it was when asked.
type info struct {
	n    node
	fs   string // the file system's name
	name string
}

func (f *FS) info(n node, name string) info { return info{n, f.name, name} }

func (i info) Name() string      { return i.name }
func (i info) Size() int64       { return i.n.size }
func (i info) Mode() fs.FileMode { return i.n.mode }
func (i info) IsDir() bool       { return i.n.isDir() }
func (i info) ModTime() time.Time {
	ms, part := math.Modf(i.n.mod)
	return time.UnixMilli(int64(ms)).Add(time.Duration(part * float64(time.Millisecond)))
}

// Sys returns the inode number, a uint64: unique in its file system, and never
// used twice.
func (i info) Sys() any { return uint64(i.n.ino) }

// SameFile reports whether other describes the same file; see [vfs.SameFile].
func (i info) SameFile(other fs.FileInfo) bool {
	o, ok := other.(info)
	return ok && i.n.ino == o.n.ino && i.fs == o.fs
}
