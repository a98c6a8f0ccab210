// This file starts the storage in which a program such as oxbow-jetstream keeps its memories.

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// prepareDaemonHome checks the home of a daemon and creates its directory. A daemon is a server whose memories are not
// in store files. It returns an error if neither the flag --home nor the variable $OXBOW_HOME names the home, or if a
// variable is set that is only for memories in files. If the home contains a store file, it prints a warning, because
// the daemon does not serve this file. If this program is not a daemon, prepareDaemonHome does nothing.
func (mem *lazyMemory) prepareDaemonHome() error {
	if mem.daemonMemories == nil {
		return nil
	}
	if cmp.Or(mem.finder.homeFlag, mem.env.Getenv("OXBOW_HOME")) == "" {
		return usageErrorf("name the directory of what this server keeps by itself: --home DIR", "--home is missing")
	}
	for _, v := range []string{"OXBOW_KEEP", "OXBOW_DIALECT"} {
		if mem.env.Getenv(v) != "" {
			return usageErrorf(
				"unset it",
				"%s is for memories in files, and those of %s are none",
				v,
				mem.env.programName,
			)
		}
	}
	home, err := mem.finder.homePath()
	if err != nil {
		return err
	}
	if fi, err := os.Stat(home); err == nil && !fi.IsDir() {
		return &hintedError{fmt.Errorf("the home %s is a file", home), "name a directory with --home DIR"}
	}
	if file := filepath.Join(home, storeFileName); fileExists(file) {
		mem.env.printWarning("%s is not served: the memories of %s are elsewhere", file, mem.env.programName)
	}
	return os.MkdirAll(home, 0o700)
}

// daemonMemoryPlace returns the place of a memory that a daemon keeps in its own storage, and not in a file in the
// home. LayoutName is set in this place, so that the verbs that need a memory file return an error.
func (finder *homeFinder) daemonMemoryPlace() (verb.Place, error) {
	p, err := finder.memoryPlace()
	p.StorePath = p.Home
	p.LayoutName = finder.env.programName
	p.LayoutTitle = "the memories of " + finder.env.programName
	return p, err
}

// startDaemonStorage opens the server's port and starts the storage of the memories. If the memories are files, it
// does nothing. The returned function stops the storage.
func (mem *lazyMemory) startDaemonStorage(ctx context.Context, server *runningServer) (stop func() error, err error) {
	none := func() error { return nil }
	if mem.daemonMemories == nil {
		return none, nil
	}
	home, err := mem.finder.homePath()
	if err != nil {
		return none, err
	}
	if err := mem.listen(ctx, server); err != nil {
		return none, err
	}
	mem.daemonMemories.memories, err = mem.daemonMemories.startMemories(ctx, home, mem.env.printNote)
	if err != nil {
		return none, asUsageError(errors.Join(err, server.listener.Close()))
	}
	return mem.daemonMemories.memories.Close, nil
}
