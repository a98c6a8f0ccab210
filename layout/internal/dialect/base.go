// Package dialect has the functions that all layouts share. These functions open the files of a layout as a memory,
// create new files, and change entries and documents. A change by somebody else, made after the session read the
// entry, is never lost.
package dialect

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// HomeBase implements the methods of [layout.Home] that do not depend on the layout. A home embeds it, and adds Tools,
// Context and Session. The fields of a HomeBase do not change after the home was opened.
//
// Many layouts store the memory in files that an [mdtree.Layout] reads. Such a layout opens its home like this:
//
//	h := &home{HomeBase: dialect.NewHomeBase(o)}
//	h.Tree, err = h.OpenTree(ctx, o.FS, o.Path, treeLayout{h.Zone}, "")
//	if err != nil {
//		return nil, err
//	}
//	h.SetStore(h.Tree)       // sets h.HomeMemory
//	h.RecordWrittenTexts(o.FS, ".") // otherwise tools cannot overwrite what tools wrote
type HomeBase struct {
	layout.Options // options of the home; their clock, zone and Warn are always set
	HomeMemory     *oxbow.Memory

	Tree *mdtree.Store // store of the layout's files (nil if the layout lacks files)
	// DocumentPaths are the paths of files in the tree that contain no entries and that clients may read.
	DocumentPaths []string

	entriesSeenOutsideSessions *verb.SeenEntries  // record of the entries that callers without a session were shown
	writtenTexts               *verb.WrittenTexts // record of the texts that the tools wrote (may be nil)
}

// NewHomeBase returns a HomeBase without a memory. The caller must set the memory with [HomeBase.SetStore].
func NewHomeBase(o layout.Options) HomeBase {
	if o.Memory.Clock == nil {
		o.Memory.Clock = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	return HomeBase{Options: o, entriesSeenOutsideSessions: &verb.SeenEntries{}}
}

// RecordWrittenTexts makes the home keep a list of the texts that the tools write. The list is stored in a file in the
// directory dir of fsys. With this list, a tool may overwrite a text that only tools wrote, and never a text that a
// person edited. Without this list, a session may overwrite only texts that it has seen.
func (b *HomeBase) RecordWrittenTexts(fsys vfs.FS, dir string) {
	b.writtenTexts = verb.NewWrittenTexts(fsys, path.Join(dir, verb.WrittenTextsFileName))
	b.entriesSeenOutsideSessions = verb.NewSeenEntries(b.writtenTexts)
}

// Written implements [layout.Home].
func (b *HomeBase) Written() *verb.WrittenTexts { return b.writtenTexts }

// SetStore makes the store the home's memory.
func (b *HomeBase) SetStore(s oxbow.Store) {
	mo := b.Options.Memory
	mo.FS = nil
	b.HomeMemory = oxbow.New(s, &mo)
}

// OpenTree opens a layout's files in fsys as a store. The store has the clock, the lock timeout and the read-only mode
// of b.Options.Memory. The argument path is the path of the root directory that messages contain. The argument lockPath
// is the path of the lock file, or "" for the default path.
//
// OpenTree does not change b. After OpenTree returns, the caller must assign the returned store to b.Tree, and then
// call [HomeBase.SetStore].
func (b *HomeBase) OpenTree(
	ctx context.Context,
	fsys vfs.FS,
	path string,
	l mdtree.Layout,
	lockPath string,
) (*mdtree.Store, error) {
	mo := b.Options.Memory
	return mdtree.Open(
		ctx,
		fsys,
		l,
		mdtree.Options{Clock: mo.Clock, LockWait: mo.LockWait, ReadOnly: mo.ReadOnly, DirectoryName: path, Warn: b.Warn,
			LockPath: lockPath},
	)
}

// Now returns the current time in the time zone of the home's dates.
func (b *HomeBase) Now() time.Time { return b.Options.Memory.Clock().In(b.Zone) }

// Memory implements [layout.Home].
func (b *HomeBase) Memory() *oxbow.Memory { return b.HomeMemory }

// Close implements [layout.Home].
func (b *HomeBase) Close() error { return b.HomeMemory.Close() }

// CountFileIfExists returns 1 if fsys has a file with that name. Otherwise it returns 0.
func CountFileIfExists(fsys vfs.FS, name string) (int, error) {
	return countIfExists(fsys, name, func(info fs.FileInfo) bool { return !info.IsDir() })
}

// CountDirIfExists returns 1 if fsys has a directory with that name. Otherwise it returns 0.
func CountDirIfExists(fsys vfs.FS, name string) (int, error) {
	return countIfExists(fsys, name, fs.FileInfo.IsDir)
}

// countIfExists returns 1 if the name exists and isWanted accepts its description, otherwise 0.
func countIfExists(fsys vfs.FS, name string, isWanted func(fs.FileInfo) bool) (int, error) {
	info, err := fsys.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !isWanted(info):
		return 0, nil
	}
	return 1, nil
}

// FileToCreate is a file to create in a new home.
type FileToCreate struct{ Name, Text string }

// CreateFiles creates the directory dir and the files that do not exist. It returns the names of the created directory
// and files. dir may be "." for the root. Each file must be in dir or in a directory that exists.
func CreateFiles(
	ctx context.Context,
	fsys vfs.FS,
	dir string,
	files ...FileToCreate,
) (createdNames []string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("making the home: %w", err)
		}
	}()
	if _, err := fsys.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := MakeDir(fsys, dir); err != nil {
			return nil, err
		}
		createdNames = append(createdNames, dir)
	} else if err != nil {
		return nil, err
	}
	for _, f := range files {
		if _, err := fsys.Stat(f.Name); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return createdNames, err
		}
		if err := vfs.WriteFile(fsys, f.Name, []byte(f.Text), 0o644); err != nil {
			return createdNames, err
		}
		createdNames = append(createdNames, f.Name)
	}
	return createdNames, ctx.Err()
}

// MakeDir creates a directory and all missing parents, and syncs the new directories to disk.
func MakeDir(fsys vfs.FS, dir string) error {
	if _, err := fsys.Stat(dir); err == nil {
		return nil
	}
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for p := dir; p != "."; p = path.Dir(p) {
		if err := fsys.SyncDir(path.Dir(p)); err != nil {
			return err
		}
	}
	return nil
}

// NewTool returns a tool that cannot be called yet. Its description is the embedded file
// tool_NAME.md.
func NewTool(descriptions embed.FS, name, title string) verb.Tool {
	b, err := descriptions.ReadFile("tool_" + name + ".md")
	if err != nil {
		panic(err) // The file is embedded at build time, so it is missing only after a programmer's mistake.
	}
	return verb.Tool{Verb: verb.Verb{Name: name, Title: title}, Description: string(b)}
}
