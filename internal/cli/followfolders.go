// This file compares the registered folders of a home with the memory when a run opens the memory.

package cli

import (
	"context"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/internal/tree/folder"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/folders"
)

// folderComparisonWaitFactor limits how much of its time a server spends on comparing folders with the memory. After
// each comparison, the server waits at least folderComparisonWaitFactor times as long as the comparison took.
const folderComparisonWaitFactor = 10

// enableFolderSync makes this process follow registered folders. The files of a registered folder and the
// corresponding entries of the memory are kept equal. If a file changes, the process updates the entries. If the
// process changes entries, it updates the files.
func (mem *lazyMemory) enableFolderSync() {
	mem.folderState.compareFolders = mem.syncFoldersOnce
	mem.folderState.writeFolders = mem.writeFolderFiles
	mem.folderState.newComparer = mem.newFolderComparer
}

// homeOfSyncedFolders returns the home whose registered folders this run keeps synchronized with the memory. It returns
// "" if this run must not synchronize folders, or if no folders are registered. A run synchronizes only the folders of
// a home that belongs to the person, is trusted, has oxbow's own layout, and can be written. In a home that is not
// trusted, somebody else may have registered the folders.
func (mem *lazyMemory) homeOfSyncedFolders() string {
	isPersonsHome := mem.finder.openStore == nil && !mem.isTenantHome && !mem.isDemoSample
	if !isPersonsHome {
		return ""
	}
	if home := mem.finder.servedHome.Load(); home != nil && !folder.HasFolders(*home) {
		return ""
	}
	path, err := mem.finder.storePath()
	if err != nil || filepath.Base(path) != storeFileName {
		return ""
	}
	if !folder.HasFolders(filepath.Dir(path)) {
		return ""
	}
	if _, other, err := mem.finder.detectLayout(); err != nil || other {
		return ""
	}
	if foreign, err := mem.finder.isForeignHome(); err != nil || foreign {
		return ""
	}
	if mem.finder.host().CheckMayWrite(path) != nil {
		return ""
	}
	return filepath.Dir(path)
}

// syncFoldersOnce brings changed files of registered folders into the memory, once in a run. A failure is reported and
// does not end the run.
func (mem *lazyMemory) syncFoldersOnce() {
	mem.folderState.mu.Lock()
	isDone := mem.folderState.areFoldersCompared
	// Set this first, because comparing the folders opens the memory, which calls this function again.
	mem.folderState.areFoldersCompared = true
	mem.folderState.mu.Unlock()
	if isDone || mem.homeOfSyncedFolders() == "" {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	if mem.skipsCheckpoints {
		ctx, stop = context.WithTimeout(ctx, mem.env.hookTimeLimits().SessionStartContext)
	}
	defer stop()
	wasAnswer := mem.showsAnswerFirst
	mem.showsAnswerFirst = false
	defer func() { mem.showsAnswerFirst = wasAnswer }()
	w, done, err := mem.newWorkspace(ctx)
	if err != nil {
		return // Ignore the error: the command that the person called will fail with the same error and report it.
	}
	mem.compareFolders(ctx, w, folders.SyncIn{OnlyIfFilesChanged: true})
	if err := done(); err != nil {
		mem.env.printWarning("closing the memory after comparing its folders: %v", err)
	}
}

// writeFolderFiles writes the changes that this run made in the memory into the files of the registered folders.
func (mem *lazyMemory) writeFolderFiles(ctx context.Context, w *verb.Workspace) {
	if home := mem.homeOfSyncedFolders(); home != "" && folders.HasWritableFolder(home) {
		mem.compareFolders(context.WithoutCancel(ctx), w, folders.SyncIn{})
	}
}

// compareFolders calls [folders.Sync], which compares the registered folders with the memory and imports their changed
// files. It prints the messages about what Sync has changed in each folder as warnings. If Sync fails, it also prints a
// warning about the error.
func (mem *lazyMemory) compareFolders(ctx context.Context, w *verb.Workspace, in folders.SyncIn) {
	out, err := folders.Sync(ctx, w, in)
	for _, c := range out.Changes {
		for _, said := range c.Messages() {
			mem.warnOnce("folder " + c.Folder + ": " + said)
		}
	}
	if err != nil {
		mem.warnOnce("its folders are not compared: " + err.Error())
	}
}

// warnOnce prints a warning, unless this run has printed it before.
func (mem *lazyMemory) warnOnce(message string) {
	if mem.folderState.printedWarnings[message] {
		return
	}
	if mem.folderState.printedWarnings == nil {
		mem.folderState.printedWarnings = map[string]bool{}
	}
	mem.folderState.printedWarnings[message] = true
	mem.env.printWarning("%s", replaceHarmfulChars(message))
}

// newFolderComparer returns a function that a server calls before each use of its memory. This function compares the
// registered folders with the memory and synchronizes both. After each comparison, the function waits
// folderComparisonWaitFactor times as long as the comparison took, so that a server spends less than a tenth of its
// time on comparisons. The function does nothing before a write, and it never does anything if accessKind is
// readWithoutTeamAccess.
func (mem *lazyMemory) newFolderComparer(
	accessKind accessKind,
	openFunc openMemoryFunc,
) func(context.Context, verb.MemoryAccess) {
	if accessKind == readWithoutTeamAccess {
		return func(context.Context, verb.MemoryAccess) {}
	}
	return func(ctx context.Context, use verb.MemoryAccess) {
		if use == verb.Write {
			// Do not compare the folders before a call that changes the memory, such as undo. Otherwise undo would
			// revert the change that the comparison has just made, and not the change that the person means.
			return
		}
		f := &mem.folderState
		if !f.mu.TryLock() {
			return // Another call is comparing the folders.
		}
		defer f.mu.Unlock()
		start := mem.env.Now()
		isEarly := start.Before(f.nextComparisonTime) &&
			// If the next comparison is more than a minute away, the clock was set back, so compare now.
			f.nextComparisonTime.Sub(start) < time.Minute
		if isEarly || mem.homeOfSyncedFolders() == "" {
			return
		}
		src, err := mem.sourceOfChanges()
		if err != nil {
			return
		}
		w := &verb.Workspace{
			Open:      openFunc,
			Now:       mem.env.Now,
			Source:    src,
			Secrets:   mem.secretScreening().SecretPolicy(),
			Place:     mem.finder.memoryPlace,
			Host:      mem.finder.host(),
			Knowledge: mem.loadProvenanceData,
		}
		mem.compareFolders(context.WithoutCancel(ctx), w, folders.SyncIn{})
		end := mem.env.Now()
		f.nextComparisonTime = end.Add(folderComparisonWaitFactor * end.Sub(start))
	}
}
