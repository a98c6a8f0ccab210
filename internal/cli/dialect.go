// This file opens homes whose layout is not oxbow's own.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// layoutOptions returns the options for opening a home that has the layout of another memory system. If accessKind is
// createAccess, it creates the home's directory. It opens directories for the options, and they are closed at the end
// of the run.
func (mem *lazyMemory) layoutOptions(home string, accessKind accessKind) (layout.Options, error) {
	src, err := mem.sourceOfChanges()
	if err != nil {
		return layout.Options{}, err
	}
	if accessKind == createAccess {
		if err := os.MkdirAll(home, 0o700); err != nil {
			return layout.Options{}, fmt.Errorf("making the home: %w", err)
		}
	}
	fsys, err := vfs.Dir(home)
	if errors.Is(err, fs.ErrNotExist) {
		return layout.Options{}, verb.NoMemoryError(home)
	}
	if err != nil {
		return layout.Options{}, fmt.Errorf("opening the home: %w", err)
	}
	mem.closeFuncs = append(mem.closeFuncs, fsys.Close)
	o := layout.Options{FS: fsys, Path: home, Agent: mem.agentFlag, Zone: mem.env.Now().Location(),
		Memory: oxbow.Options{Clock: mem.env.Now, Rand: mem.env.Rand, Source: src, SealAfter: mem.logSealDelay,
			ReadOnly: accessKind == readWithoutTeamAccess,
			Screen:   mem.secretScreening().ScreenFuncForMemory(new(*oxbow.Memory))},
		Warn: func(message string) { mem.env.printNote("%s", message) },
	}
	wd, err := mem.env.absolutePath(".")
	if err != nil {
		return layout.Options{}, err
	}
	top := filepath.VolumeName(wd) + string(filepath.Separator)
	work, err := vfs.Dir(top)
	if err != nil { // The root directory cannot be opened in WASI, for example, where only the home may be opened.
		return o, nil
	}
	mem.closeFuncs = append(mem.closeFuncs, work.Close)
	rel, err := filepath.Rel(top, wd)
	if err != nil {
		return layout.Options{}, err
	}
	o.Work, o.WorkDir = work, filepath.ToSlash(rel)
	return o, nil
}

// openHome opens the home with the given dialect, unless it is already open. The home is closed at the end of the run.
func (mem *lazyMemory) openHome(d layout.Dialect, accessKind accessKind) (layout.Home, error) {
	if mem.otherLayoutHome != nil {
		return mem.otherLayoutHome, nil
	}
	// Open only a home that the user trusts. A home with another layout than oxbow's own is not checked entry by entry.
	// Its entries are shown to models even if nobody vouches for them.
	home, err := mem.finder.trustedHome()
	if err != nil {
		return nil, err
	}
	if accessKind != readWithoutTeamAccess {
		if err := mem.finder.host().CheckMayWrite(filepath.Join(home, storeFileName)); err != nil {
			return nil, err
		}
	}
	o, err := mem.layoutOptions(home, accessKind)
	if err != nil {
		return nil, err
	}
	h, err := d.Open(context.Background(), o)
	if err != nil {
		return nil, fmt.Errorf("opening %s as %s: %w", home, d.Name, err)
	}
	mem.otherLayoutHome, mem.env.hasNonOxbowLayout = h, true
	mem.closeFuncs = append(mem.closeFuncs, h.Close)
	return h, nil
}

// openNonOxbowLayoutHome opens the home if its layout is not oxbow's own. Otherwise it returns nil. It returns an error
// if a profile restricts the run, because a home's files contain the whole memory.
func (mem *lazyMemory) openNonOxbowLayoutHome(accessKind accessKind) (verb.LayoutHome, error) {
	d, other, err := mem.finder.detectLayout()
	if err != nil || !other {
		return nil, err
	}
	bound, err := mem.boundProfile()
	if err != nil {
		return nil, err
	}
	if bound != nil {
		return nil, fmt.Errorf("%w: it works on all of the memory, and this is bound to profile %q",
			oxbow.ErrUnsupported, bound.Name)
	}
	h, err := mem.openHome(d, accessKind)
	if err != nil {
		return nil, err
	}
	return h, nil
}
