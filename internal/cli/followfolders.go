// This file compares the registered folders of a home with the memory, when a run opens the memory.

package cli

import (
	"context"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/internal/tree/folder"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/folders"
)

// followShare is the largest share of the time that a server spends on comparisons: one part in followShare.
const followShare = 10

// followFolders makes the run follow the registered folders of its home.
func (mem *openMemory) followFolders() {
	mem.folders.compare = mem.compareFolders
	mem.folders.write = mem.writeFolders
	mem.folders.follower = mem.folderFollower
}

// folderHome returns the home whose folders this run follows, or "" if there are none. Folders of a home that
// is not trusted are not followed, because somebody else may have registered them.
func (mem *openMemory) folderHome() string {
	isPersonsHome := mem.finder.store == nil && !mem.tenant && !mem.sample
	if !isPersonsHome {
		return ""
	}
	path, err := mem.finder.storePath()
	if err != nil || filepath.Base(path) != storeFile {
		return ""
	}
	if !folder.HasList(filepath.Dir(path)) {
		return ""
	}
	if _, other, err := mem.finder.layout(); err != nil || other {
		return ""
	}
	if foreign, err := mem.finder.isForeign(); err != nil || foreign {
		return ""
	}
	if mem.finder.host().MayWrite(path) != nil {
		return ""
	}
	return filepath.Dir(path)
}

// compareFolders brings changes in the files of registered folders into the memory, once in a run. A failure
// does not prevent the run, and is reported.
func (mem *openMemory) compareFolders() {
	mem.folders.mu.Lock()
	isDone := mem.folders.isDone
	mem.folders.isDone = true // the comparison itself opens the memory
	mem.folders.mu.Unlock()
	if isDone || mem.folderHome() == "" {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	if mem.hurried {
		ctx, stop = context.WithTimeout(ctx, mem.env.hookWaits().Start)
	}
	defer stop()
	wasAnswer := mem.answers
	mem.answers = false
	defer func() { mem.answers = wasAnswer }()
	w, done, err := mem.workspace(ctx)
	if err != nil {
		return // the run itself reports it
	}
	mem.followIn(ctx, w, folders.CompareIn{OnlyFiles: true})
	if err := done(); err != nil {
		mem.env.warn("closing the memory after comparing its folders: %v", err)
	}
}

// writeFolders writes the changes made in this run into the registered folders' files.
func (mem *openMemory) writeFolders(ctx context.Context, w *verb.Workspace) {
	if home := mem.folderHome(); home != "" && folders.HasWritten(home) {
		mem.followIn(context.WithoutCancel(ctx), w, folders.CompareIn{})
	}
}

// followIn compares the folders with their files. It warns a person about changes that need
// attention, and about an error.
func (mem *openMemory) followIn(ctx context.Context, w *verb.Workspace, in folders.CompareIn) {
	out, err := folders.Compare(ctx, w, in)
	for _, c := range out.Changes {
		for _, said := range c.Messages() {
			mem.warnOnce("folder " + c.Folder + ": " + said)
		}
	}
	if err != nil {
		mem.warnOnce("its folders are not compared: " + err.Error())
	}
}

// warnOnce prints a warning, once in a run.
func (mem *openMemory) warnOnce(said string) {
	if mem.folders.said[said] {
		return
	}
	if mem.folders.said == nil {
		mem.folders.said = map[string]bool{}
	}
	mem.folders.said[said] = true
	mem.env.warn("%s", clean(said))
}

// folderFollower returns a function that a server calls before each use of its memory. It compares the folders,
// unless the last comparison was so recent that comparing would take more than a tenth of the time.
func (mem *openMemory) folderFollower(
	how access,
	open openFunc,
) func(context.Context, verb.Access) {
	if how == look {
		return func(context.Context, verb.Access) {}
	}
	return func(ctx context.Context, use verb.Access) {
		if use == verb.Write {
			return // an undo must not find a change that the comparison made just before
		}
		f := &mem.folders
		if !f.mu.TryLock() {
			return // another call compares them
		}
		defer f.mu.Unlock()
		start := mem.env.Now()
		isEarly := start.Before(f.next) && f.next.Sub(start) < time.Minute // else the clock was set back
		if isEarly || mem.folderHome() == "" {
			return
		}
		src, err := mem.source()
		if err != nil {
			return
		}
		w := &verb.Workspace{
			Open:      open,
			Now:       mem.env.Now,
			Source:    src,
			Secrets:   mem.screening().Secrets(),
			Place:     mem.finder.memoryPlace,
			Host:      mem.finder.host(),
			Knowledge: mem.knowledge,
		}
		mem.followIn(context.WithoutCancel(ctx), w, folders.CompareIn{})
		end := mem.env.Now()
		f.next = end.Add(followShare * end.Sub(start))
	}
}
