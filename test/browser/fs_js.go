// This file opens the file system and defines the format of its database.
//
// The database has version 1 and two object stores:
//
//	nodes   key: ino, a number that the store assigns and never uses again
//	        value: {ino, mode, size, mod}, and {dir, name} if the node has a name,
//	                                       or {gone: 1} if it has none any more
//	chunks  key: [ino, i]
//	        value: {i, b: Uint8Array}
//
// A node is a file or a directory. The root directory has ino 1. mode is an [fs.FileMode], and size is in bytes. mod
// is the time of the last change in milliseconds since 1970, with a fraction. Each change has a later time than the
// previous one. dir is the ino of the parent directory, and name is the name in that directory.
//
// There are two indexes. The unique index "place" over [dir, name] finds the node with a name, and all nodes in a
// directory. The index "gone" finds files without a name, which are deleted when the last page closes them.
//
// A file's bytes are stored in chunks of 16 KiB. Chunk i contains the bytes from i × 16384 on, without the zeros at
// its end. A chunk of zeros only is not stored, so holes need no space. Nothing is stored beyond the end of a file.
//
// For example, the file notes.md in the root directory with the text "hi" is the node {ino: 2, dir: 1, name:
// "notes.md", mode: 384, size: 2, mod: 1776504600000.001} and the chunk {i: 0, b: [104, 105]} with the key [2, 0].

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

// databaseVersion is the version of the database. So far there is one version:
//
//	1: object stores for nodes (files and directories) and chunks (file contents)
const databaseVersion = 1

const (
	nodeStoreName     = "nodes"
	chunkStoreName    = "chunks"
	placeIndexName    = "place"
	unlinkedIndexName = "gone"

	rootNodeNumber = 1

	chunkSize = 16 << 10 // size of a chunk, a part of a file, in bytes
)

// errClosed is the error of all calls after Close.
var errClosed = fmt.Errorf("the file system was closed: %w", fs.ErrClosed)

// Options are options for [Open]. A nil pointer and zero fields mean the defaults.
type Options struct {
	// Clock returns the current time, which becomes the time of a change. The default is time.Now.
	Clock func() time.Time
}

// FS is a file system in an IndexedDB database. Permissions are stored but not checked. Links are not supported.
type FS struct {
	name                 string
	clock                func() time.Time
	database             js.Value // undefined until Open has opened the database
	storeNames           js.Value
	keyRangeClass        js.Value // the browser's object IDBKeyRange
	lockManager          js.Value // the browser's object navigator.locks
	isClosed             atomic.Bool
	connectionEndHandler js.Func

	closeOnce sync.Once
	mu        sync.Mutex             // mu guards the field heldLocks.
	heldLocks map[*acquiredLock]bool // Web Locks that Close must release
}

var _ vfs.FS = (*FS)(nil)

// Open opens the file system with this name, which belongs to the origin of the page. It creates the file system if
// necessary. It refuses a database of another program. If the browser lacks IndexedDB or Web Locks, the error matches
// [vfs.ErrUnsupported]. A page has Web Locks only if it was loaded by https or from localhost.
//
// If ctx ends before the browser has opened the database, Open returns the error of ctx. The database is closed as
// soon as the browser opens it.
func Open(ctx context.Context, name string, o *Options) (*FS, error) {
	f := &FS{name: name, clock: time.Now, heldLocks: map[*acquiredLock]bool{}}
	if o != nil && o.Clock != nil {
		f.clock = o.Clock
	}
	if err := f.openDatabase(ctx); err != nil {
		return nil, fmt.Errorf("opening the browser's file system %q: %w", name, err)
	}
	return f, nil
}

func (f *FS) openDatabase(ctx context.Context) error {
	if f.name == "" {
		return fmt.Errorf("%w: it needs a name", fs.ErrInvalid)
	}
	global := js.Global()
	factory, navigator := global.Get("indexedDB"), global.Get("navigator")
	if !factory.Truthy() {
		return fmt.Errorf("%w: there is no IndexedDB here", vfs.ErrUnsupported)
	}
	if navigator.Truthy() {
		f.lockManager = navigator.Get("locks")
	}
	if !f.lockManager.Truthy() {
		return fmt.Errorf(
			"%w: there are no Web Locks here; a page has them when it came by https or from localhost",
			vfs.ErrUnsupported,
		)
	}
	f.keyRangeClass = global.Get("IDBKeyRange")
	f.storeNames = js.ValueOf([]any{nodeStoreName, chunkStoreName})
	db, err := f.connectDatabase(ctx, factory)
	if err != nil {
		return err
	}
	f.database = db
	// Another page may upgrade the database for a newer version of this package, or a person may delete the site's
	// data. The browser then ends this page's connection, or waits until this page ends the connection.
	f.connectionEndHandler = js.FuncOf(func(js.Value, []js.Value) any {
		f.disconnect()
		return nil
	})
	f.database.Set("onversionchange", f.connectionEndHandler)
	f.database.Set("onclose", f.connectionEndHandler)
	if err := f.deleteUnusedFiles(); err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// connectDatabase opens the database. It creates the object stores if the database is new.
func (f *FS) connectDatabase(ctx context.Context, factory js.Value) (js.Value, error) {
	request, err := callMethod(factory, "open", f.name, databaseVersion)
	if err != nil {
		return js.Undefined(), err
	}
	var made error
	upgrade := js.FuncOf(func(_ js.Value, args []js.Value) any {
		made = f.createStores(request.Get("result"), numberProperty(args[0], "oldVersion"))
		if made != nil {
			_, _ = callMethod(request.Get("transaction"), "abort")
		}
		return nil
	})
	request.Set("onupgradeneeded", upgrade)
	p := watchRequest(request)
	finish := func(a asyncAnswer) (js.Value, error) {
		p.releaseHandlers()
		upgrade.Release()
		switch e := (*DOMError)(nil); {
		case made != nil:
			return js.Undefined(), made
		case errors.As(a.err, &e) && e.Name == "VersionError":
			return js.Undefined(), fmt.Errorf(
				"%w: the database is of a newer version than %d: %w",
				vfs.ErrUnsupported,
				databaseVersion,
				a.err,
			)
		case a.err != nil:
			return js.Undefined(), a.err
		}
		has := a.value.Get("objectStoreNames")
		if !has.Call("contains", nodeStoreName).Bool() || !has.Call("contains", chunkStoreName).Bool() {
			a.value.Call("close")
			return js.Undefined(), fmt.Errorf("%w: the database of that name is another program's", fs.ErrExist)
		}
		return a.value, nil
	}
	select {
	case a := <-p.answerChan:
		return finish(a)
	case <-ctx.Done():
		go func() {
			if db, err := finish(<-p.answerChan); err == nil {
				db.Call("close")
			}
		}()
		return js.Undefined(), ctx.Err()
	}
}

// createStores creates the object stores and the root directory in a new database. oldVersion is the version of the
// database; if it is not 0, the database belongs to another program, and createStores fails.
func (f *FS) createStores(db js.Value, oldVersion float64) (err error) {
	if oldVersion != 0 {
		return fmt.Errorf("%w: the database of that name is another program's", fs.ErrExist)
	}
	defer recoverThrown(&err)
	nodes := db.Call("createObjectStore", nodeStoreName, map[string]any{"keyPath": "ino", "autoIncrement": true})
	nodes.Call("createIndex", placeIndexName, []any{"dir", "name"}, map[string]any{"unique": true})
	nodes.Call("createIndex", unlinkedIndexName, "gone")
	db.Call("createObjectStore", chunkStoreName)
	root := node{number: rootNodeNumber, mode: fs.ModeDir | 0o700, modTimeMillis: f.nextChangeTime(0)}
	nodes.Call("put", root.storedRow())
	return nil
}

// Name returns the name that was passed to [Open].
func (f *FS) Name() string { return f.name }

// Close closes the file system with all its open files and locks. Later calls fail with [fs.ErrClosed]. A second Close
// does nothing.
func (f *FS) Close() error {
	f.disconnect()
	f.closeOnce.Do(func() {
		f.database.Set("onversionchange", js.Null())
		f.database.Set("onclose", js.Null())
		f.connectionEndHandler.Release()
	})
	return nil
}

// disconnect closes the connection to the database and releases the locks. It does not wait until the locks are free.
func (f *FS) disconnect() {
	f.isClosed.Store(true)
	f.database.Call("close")
	f.mu.Lock()
	held := f.heldLocks
	f.heldLocks = map[*acquiredLock]bool{}
	f.mu.Unlock()
	for h := range held {
		h.startRelease()
		go h.releaseAndWait() // This waits for the browser, which requires a separate goroutine.
	}
}

// Persist asks the browser to keep the data of the origin even if the disk becomes full. The result tells whether the
// browser promises this. Browsers decide by their own rules or ask the person. Without the promise, a browser may
// delete all the origin's data at once, but only while no page of the origin is open.
func (f *FS) Persist() (bool, error) {
	storage := js.Global().Get("navigator").Get("storage")
	if !storage.Truthy() || storage.Get("persist").Type() != js.TypeFunction {
		return false, fmt.Errorf("keeping the data of %q: %w", f.name, vfs.ErrUnsupported)
	}
	promise, err := callMethod(storage, "persist")
	if err == nil {
		var v js.Value
		v, err = awaitPromise(promise)
		if err == nil {
			return v.Truthy(), nil
		}
	}
	return false, fmt.Errorf("keeping the data of %q: %w", f.name, err)
}

// nextChangeTime returns the time for a change, in milliseconds since 1970. This is the clock's time, but at least
// minTimeStepMillis later than the time of the previous change, which is the argument previousTime.
func (f *FS) nextChangeTime(previousTime float64) float64 {
	return max(float64(f.clock().UnixNano())/1e6, previousTime+minTimeStepMillis)
}

// minTimeStepMillis is the minimum time between two changes of a file, in milliseconds. It is about a microsecond.
// Smaller steps would be lost when times are rounded. Times are floating-point numbers of milliseconds since 1970.
// Neighbouring numbers of this size differ by a quarter of minTimeStepMillis.
const minTimeStepMillis = 1.0 / 1024

// node is a row of the object store "nodes": a file or a directory.
type node struct {
	number        float64 // 0 for a new node, because the store assigns the number
	parentNumber  float64 // number of the parent directory (0 for a node without a name)
	name          string
	mode          fs.FileMode
	size          int64
	modTimeMillis float64
}

func (n node) isDir() bool { return n.mode.IsDir() }

// storedRow converts the node (a file or directory) to the JavaScript object that is stored in the browser's database.
func (n node) storedRow() js.Value {
	v := map[string]any{"mode": float64(n.mode), "size": float64(n.size), "mod": n.modTimeMillis}
	if n.number != 0 {
		v["ino"] = n.number
	}
	switch {
	case n.parentNumber != 0:
		v["dir"], v["name"] = n.parentNumber, n.name
	case n.number != rootNodeNumber:
		v["gone"] = 1
	}
	return js.ValueOf(v)
}

// decodeNode converts a stored JavaScript object to a node. ok is false if v is not a node.
func decodeNode(v js.Value) (n node, ok bool) {
	if v.Type() != js.TypeObject {
		return node{}, false
	}
	n = node{number: numberProperty(v, "ino"), parentNumber: numberProperty(v, "dir"), name: stringProperty(v, "name"),
		mode: fs.FileMode(numberProperty(v, "mode")), size: int64(numberProperty(v, "size")),
		modTimeMillis: numberProperty(v, "mod")}
	return n, n.number != 0
}

// nodeInfo describes a node as it was when the caller asked.
type nodeInfo struct {
	node           node
	fileSystemName string // name of the file system that contains the file or directory
	name           string
}

func (f *FS) newNodeInfo(n node, name string) nodeInfo { return nodeInfo{n, f.name, name} }

func (i nodeInfo) Name() string      { return i.name }
func (i nodeInfo) Size() int64       { return i.node.size }
func (i nodeInfo) Mode() fs.FileMode { return i.node.mode }
func (i nodeInfo) IsDir() bool       { return i.node.isDir() }
func (i nodeInfo) ModTime() time.Time {
	ms, part := math.Modf(i.node.modTimeMillis)
	return time.UnixMilli(int64(ms)).Add(time.Duration(part * float64(time.Millisecond)))
}

// Sys returns the number of the node as a uint64. No other node of the file system ever has the same number.
func (i nodeInfo) Sys() any { return uint64(i.node.number) }

// SameFile reports whether i and other describe the same file, which means the same node of the same file system. The
// function [vfs.SameFile] calls it.
func (i nodeInfo) SameFile(other fs.FileInfo) bool {
	o, ok := other.(nodeInfo)
	return ok && i.node.number == o.node.number && i.fileSystemName == o.fileSystemName
}
