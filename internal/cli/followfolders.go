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
func (a *app) followFolders() {
	a.folders.compare = a.compareFolders
	a.folders.write = a.writeFolders
	a.folders.follower = a.folderFollower
}

// folderHome returns the home whose folders this run follows, or "" if there are none. Folders of a home that
// is not trusted are not followed, because somebody else may have registered them.
func (a *app) folderHome() string {
	if a.store != nil || a.tenant || a.sample {
		return ""
	}
	path, err := a.storePath()
	if err != nil || filepath.Base(path) != storeFile || !folder.HasList(filepath.Dir(path)) {
		return ""
	}
	if _, other, err := a.layout(); err != nil || other {
		return ""
	}
	if foreign, err := a.isForeign(); err != nil || foreign || a.host().MayWrite(path) != nil {
		return ""
	}
	return filepath.Dir(path)
}

// compareFolders brings changes in the files of registered folders into the memory, once in a run. A failure
// does not prevent the run, and is reported.
func (a *app) compareFolders() {
	a.folders.mu.Lock()
	isDone := a.folders.isDone
	a.folders.isDone = true // the comparison itself opens the memory
	a.folders.mu.Unlock()
	if isDone || a.folderHome() == "" {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	if a.hurried {
		ctx, stop = context.WithTimeout(ctx, a.env.hookWaits().Start)
	}
	defer stop()
	wasAnswer := a.answers
	a.answers = false
	defer func() { a.answers = wasAnswer }()
	w, done, err := a.workspace(ctx)
	if err != nil {
		return // the run itself reports it
	}
	a.followIn(ctx, w, folders.CompareIn{OnlyFiles: true})
	if err := done(); err != nil {
		a.warn("closing the memory after comparing its folders: %v", err)
	}
}

// writeFolders writes changes of this run into the files of registered folders.
func (a *app) writeFolders(ctx context.Context, w *verb.Workspace) {
	if home := a.folderHome(); home != "" && folders.HasWritten(home) {
		a.followIn(context.WithoutCancel(ctx), w, folders.CompareIn{})
	}
}

// followIn compares the folders, and reports what a person should know.
func (a *app) followIn(ctx context.Context, w *verb.Workspace, in folders.CompareIn) {
	out, err := folders.Compare(ctx, w, in)
	for _, c := range out.Changes {
		for _, said := range c.Messages() {
			a.warnOnce("folder " + c.Folder + ": " + said)
		}
	}
	if err != nil {
		a.warnOnce("its folders are not compared: " + err.Error())
	}
}

// warnOnce prints a warning, once in a run.
func (a *app) warnOnce(said string) {
	if a.folders.said[said] {
		return
	}
	if a.folders.said == nil {
		a.folders.said = map[string]bool{}
	}
	a.folders.said[said] = true
	a.warn("%s", clean(said))
}

// folderFollower returns a function that a server calls before each use of its memory. It compares the folders,
// unless the last comparison was so recent that comparing would take more than a tenth of the time.
func (a *app) folderFollower(
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
		f := &a.folders
		if !f.mu.TryLock() {
			return // another call compares them
		}
		defer f.mu.Unlock()
		start := a.env.Now()
		isEarly := start.Before(f.next) && f.next.Sub(start) < time.Minute // else the clock was set back
		if isEarly || a.folderHome() == "" {
			return
		}
		src, err := a.source()
		if err != nil {
			return
		}
		w := &verb.Workspace{Open: open, Now: a.env.Now, Source: src, Secrets: a.secretsPolicy(), Place: a.memoryPlace,
			Host: a.host(), Knowledge: a.knowledge}
		a.followIn(context.WithoutCancel(ctx), w, folders.CompareIn{})
		end := a.env.Now()
		f.next = end.Add(followShare * end.Sub(start))
	}
}
