// This file opens the memory, and everything else that the verbs of a run use.

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/share/team"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/internal/verb/signing"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/vfs"
)

// openProfileMemory opens the home's memory, restricted to the entries that the run's profile includes. If accessKind
// is verb.Read, the memory also contains the entries of the team files that the user trusts. The caller must close the
// memory.
func (mem *lazyMemory) openProfileMemory(accessKind accessKind) (*oxbow.Memory, error) {
	if _, err := mem.boundProfile(); err != nil {
		return nil, err
	}
	if mem.folderState.compareFolders != nil {
		mem.folderState.compareFolders()
	}
	m, err := mem.openUnrestrictedMemory(max(accessKind, readWithoutTeamAccess))
	if err != nil {
		return nil, err
	}
	if accessKind == verb.Read {
		if over := mem.withTeamEntries(context.Background(), m); over != m {
			mem.closeFuncs = append(mem.closeFuncs, m.Close)
			m = over
		}
	}
	return mem.restrictToProfile(m)
}

// serverMemoryOpener returns the function open, which a server calls for each of its calls. The first call of open
// opens the memory, and later calls reuse it. If open is called with [verb.Read] and the working directory has trusted
// team files, the returned memory also contains the entries of these files. If the user has bound a profile, the
// returned memory contains only what the profile allows. closeFn closes everything that open has opened.
func (mem *lazyMemory) serverMemoryOpener(
	accessKind accessKind,
) (open func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error), closeFn func() error) {
	all, closeAll := verb.OpenOnFirstUse(func(context.Context) (*oxbow.Memory, error) {
		if _, err := mem.boundProfile(); err != nil {
			return nil, err
		}
		return mem.openUnrestrictedMemory(accessKind)
	})
	shown := func(
		of func(context.Context, *oxbow.Memory) *oxbow.Memory,
	) (func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error), func() error) {
		return verb.OpenOnFirstUse(func(ctx context.Context) (*oxbow.Memory, error) {
			m, err := all(ctx, accessKind)
			if err != nil {
				return nil, err
			}
			return mem.restrictToProfile(of(ctx, m))
		})
	}
	own, closeOwn := shown(func(_ context.Context, m *oxbow.Memory) *oxbow.Memory { return m })
	read, closeRead := shown(mem.withTeamEntries)
	follow := func(context.Context, verb.MemoryAccess) {}
	if mem.folderState.newComparer != nil {
		follow = mem.folderState.newComparer(accessKind, all)
	}
	open = func(ctx context.Context, how verb.MemoryAccess) (m *oxbow.Memory, err error) {
		follow(ctx, how)
		if how == verb.Read && mem.trustedTeamTree() != nil {
			m, err = read(ctx, how)
		} else {
			m, err = own(ctx, how)
		}
		if err == nil {
			mem.finder.cacheServerHome()
		}
		return m, err
	}
	return open, func() (err error) {
		for _, fn := range []func() error{closeRead, closeOwn, closeAll} {
			// If two of these functions close the same memory, the second one fails with ErrClosed.
			if e := fn(); !errors.Is(e, oxbow.ErrClosed) {
				err = errors.Join(err, e)
			}
		}
		return err
	}
}

// openUnrestrictedMemory opens the home's memory without the limits of a memory profile. If the user has not marked the
// home as trusted (a foreign home), the memory can be opened only with readWithoutTeamAccess, which permits only
// reading. The memory is then wrapped as a foreign memory, and cannot be changed. With any other accessKind,
// openUnrestrictedMemory returns an UntrustedError for a foreign home.
func (mem *lazyMemory) openUnrestrictedMemory(accessKind accessKind) (*oxbow.Memory, error) {
	if mem.finder.openStore != nil {
		return mem.openDaemonMemory(accessKind)
	}
	d, other, err := mem.finder.detectLayout()
	if err != nil {
		return nil, err
	}
	if other {
		h, err := mem.openHome(d, accessKind)
		if err != nil {
			return nil, err
		}
		return h.Memory(), nil
	}
	// Refuse the flag --agent, because all agents share one memory in oxbow's own layout.
	options := layout.Options{Agent: mem.agentFlag}
	if err := options.NoAgents(", or bind it to a memory profile"); err != nil {
		return nil, err
	}
	path, err := mem.finder.storePath()
	if err != nil {
		return nil, err
	}
	foreign, err := mem.finder.isForeignHome()
	if err != nil {
		return nil, err
	}
	if !foreign {
		return mem.openStore(path, accessKind, mem.finder.host().CheckMayWrite(path))
	}
	if accessKind != readWithoutTeamAccess {
		return nil, ownership.NewUntrustedError(filepath.Dir(path))
	}
	m, err := mem.openStore(path, readWithoutTeamAccess, ownership.NewUntrustedError(filepath.Dir(path)))
	if err != nil {
		return nil, err
	}
	return trust.NewForeignMemory(m, ownership.NewUntrustedError(filepath.Dir(path))), nil
}

// openDaemonMemory opens the memory of a home that is not a directory with a memory file. The function
// mem.finder.openStore opens the store of such a home. If the home has a memory file, [lazyMemory.openStore] is used
// instead of openDaemonMemory.
func (mem *lazyMemory) openDaemonMemory(accessKind accessKind) (*oxbow.Memory, error) {
	src, err := mem.sourceOfChanges()
	if err != nil {
		return nil, err
	}
	s, err := mem.finder.openStore(context.Background())
	if err != nil {
		return nil, err
	}
	var m *oxbow.Memory
	m = oxbow.New(
		s,
		&oxbow.Options{
			Clock:    mem.env.Now,
			Rand:     mem.env.Rand,
			Source:   src,
			ReadOnly: accessKind == readWithoutTeamAccess,
			Screen:   mem.secretScreening().ScreenFuncForMemory(&m),
			History:  mem.writeLimit.WrapHistory,
		},
	)
	return m, nil
}

// openStore opens the memory that is stored in the file at path. The parameter readOnlyReason is an error that says why
// nothing may be written, or nil if writing is allowed. openStore writes the index only if readOnlyReason is nil.
// Otherwise, it returns readOnlyReason if accessKind allows writing.
//
// If the file does not exist, accessKind is createAccess, and readOnlyReason is nil, openStore creates the file. If the
// file does not exist and accessKind is not createAccess, openStore returns an empty memory that has no file, even if
// readOnlyReason is not nil.
func (mem *lazyMemory) openStore(path string, accessKind accessKind, readOnlyReason error) (*oxbow.Memory, error) {
	src, err := mem.sourceOfChanges()
	if err != nil {
		return nil, err
	}
	missing, err := verb.IsStoreMissing(path)
	if err != nil {
		return nil, err
	}
	switch {
	case missing && accessKind != createAccess:
		// Return an empty memory without a file, because reading or undoing must not create one. Such a memory
		// contains nothing that could be changed.
		mem.missingHome = filepath.Dir(path)
		return oxbow.Open(storeFileName, &oxbow.Options{FS: vfs.NewMem(), Clock: mem.env.Now, Source: src})
	case accessKind != readWithoutTeamAccess && readOnlyReason != nil:
		return nil, readOnlyReason
	case missing:
		if err := maintenance.WriteGitignore(filepath.Dir(path)); err != nil {
			return nil, err
		}
		// Record the home before the store is created, because this run may be interrupted.
		_ = mem.recordHomeAsTrusted()
		mem.closeFuncs = append(mem.closeFuncs, mem.recordHomeAsTrusted)
	}
	changes, age, err := verb.ParseHistoryLimit(mem.env.Getenv("OXBOW_KEEP"))
	if err != nil {
		return nil, fmt.Errorf("OXBOW_KEEP: %w", err)
	}
	var m *oxbow.Memory
	m, err = oxbow.Open(
		path,
		&oxbow.Options{KeepChanges: changes, KeepFor: age, Clock: mem.env.Now, Rand: mem.env.Rand, Source: src,
			SealAfter: mem.logSealDelay, Cache: mem.sharedCache, ReadOnly: accessKind == readWithoutTeamAccess,
			KeepIndex: readOnlyReason == nil,
			Screen:    mem.secretScreening().ScreenFuncForMemory(&m), History: mem.writeLimit.WrapHistory},
	)
	if err != nil {
		return nil, storeOpenError(path, err)
	}
	mem.enableLogHashSigning(m, path, accessKind)
	rollbacks := maintenance.NewRollbackWatcher(m, path, mem.env.Now)
	said := func(say func(verb.Note) string) string { return say(rollbacks.Note(context.Background())) }
	isFirst := mem.describeStoreDefect.Swap(&said) == nil
	if !isFirst || accessKind != readWithoutTeamAccess {
		return m, nil
	}
	if note := said(formatNote); note != "" {
		mem.env.printWarning("%s", note)
	}
	return m, nil
}

// enableLogHashSigning makes this process sign the hash of the memory's newest change at intervals. A signature shows
// later whether somebody has rewritten the log. enableLogHashSigning does nothing if the memory is opened read-only. It
// also does nothing if the file at the path has a name other than storeFileName, because the memory is then a copy
// rather than the memory of a home.
func (mem *lazyMemory) enableLogHashSigning(m *oxbow.Memory, path string, accessKind accessKind) {
	if accessKind != readWithoutTeamAccess && filepath.Base(path) == storeFileName {
		mem.closeHooks.add(signing.SignLogHashPeriodically(m, path, mem.env.Now))
	}
}

// storeOpenError returns the error to report if opening the store at path failed with the error err. The result
// contains the path. If the file is not a store, the result is verb.NotStoreError. If the path is a link to another
// directory, the result advises to use the target's directory as the home.
func storeOpenError(path string, err error) error {
	if errors.Is(err, oxbow.ErrNotStore) {
		return verb.NotStoreError(path, err)
	}
	if fi, lerr := os.Lstat(path); lerr == nil && fi.Mode()&fs.ModeSymlink != 0 {
		at, lerr := filepath.EvalSymlinks(path)
		if lerr == nil && filepath.Dir(at) != filepath.Dir(path) {
			return verb.Advise(
				fmt.Errorf("opening %s: it is a link out of its directory, to %s", path, at),
				"name that one: --home "+text.ShellQuote(filepath.Dir(at)),
			)
		}
	}
	var pe *fs.PathError
	var ce *oxbow.CorruptError
	if errors.As(err, &pe) || errors.As(err, &ce) {
		return fmt.Errorf("opening the store: %w", err)
	}
	return fmt.Errorf("opening %s: %w", path, err)
}

// closeMemory closes the memory m. If showsAnswerFirst is set, closeMemory closes m only at the end of the process, so
// that the person sees the answer sooner. closeMemory also discards otherLayoutHome, the opened home with the file
// layout of another memory program. This home is opened again when it is needed.
func (mem *lazyMemory) closeMemory(ctx context.Context, m *oxbow.Memory) error {
	mem.otherLayoutHome = nil
	mem.closeHooks.run()
	if mem.showsAnswerFirst {
		mem.closeAtRunEnd(m)
		return nil
	}
	_ = m.Checkpoint(ctx) // Ignore the error: the next run makes the checkpoint.
	return m.Close()
}

// currentProjectName returns the name of the project that contains the working directory. After an error, it returns
// "".
func (env *environment) currentProjectName() string {
	p, err := env.projectOf(".")
	if err != nil {
		return ""
	}
	return p.Name
}

// newWorkspace returns the workspace for the run's verbs, and a function that closes everything that the verbs have
// opened.
func (mem *lazyMemory) newWorkspace(ctx context.Context) (*verb.Workspace, func() error, error) {
	src, err := mem.sourceOfChanges()
	if err != nil {
		return nil, nil, err
	}
	var memories [verb.Create + 1]*oxbow.Memory // opened memories by access
	var notes *annotate.Store
	w := &verb.Workspace{
		Open: func(_ context.Context, how verb.MemoryAccess) (m *oxbow.Memory, err error) {
			if how == verb.Read && mem.trustedTeamTree() == nil {
				how = verb.ReadWithoutTeamFiles
			}
			for _, m := range memories[how:] {
				if m != nil {
					return m, nil
				}
				if how == verb.Read {
					break
				}
			}
			memories[how], err = mem.openProfileMemory(how)
			return memories[how], err
		},
		Home: mem.openNonOxbowLayoutHome,
		Annotations: func(ctx context.Context) (_ verb.WorkingTree, err error) {
			if notes == nil {
				notes, err = mem.finder.openWorkingDirAnnotations(ctx)
			}
			return notes, err
		},
		Knowledge: mem.loadProvenanceData,
		Now:       mem.env.Now,

		Unlabelled: mem.finder.hasNonOxbowLayout(),

		MaxChangeBytes: mem.env.MaxChangeBytes,

		Source:  src,
		Secrets: mem.secretScreening().SecretPolicy(),
		Project: mem.env.currentProjectName,
		Place:   mem.finder.memoryPlace,
		Host:    mem.finder.host(),
		Words:   referenceText,
		Typed:   mem.env.commandRewriter,
		Loader:  mem.newLoader,

		Sessions: mem.archiveOpenerAfterSpoolDrain(),
		Kept:     mem.archiveOpenerWithoutSpoolDrain(),

		Unbounded: true,
	}
	w.Vectors, err = mem.memoryVectors()
	if err != nil {
		return nil, nil, err
	}
	// Ignore the error: if the working directory is missing, handoffs cannot refer to files.
	w.Dir, _ = mem.env.absolutePath(".")
	return w, func() error {
		var errs []error
		hasWritten := slices.ContainsFunc(memories[verb.Write:], func(m *oxbow.Memory) bool { return m != nil })
		if hasWritten && mem.folderState.writeFolders != nil {
			mem.folderState.writeFolders(ctx, w)
		}
		for _, m := range memories {
			if m != nil {
				errs = append(errs, mem.closeMemory(ctx, m))
			}
		}
		if notes != nil {
			errs = append(errs, notes.Close())
		}
		return errors.Join(errs...)
	}, nil
}

// newLoader returns a loader for the profiles and skills whose names occur in handoffs and sessions. If the run is
// restricted to one profile, the loader's field RestrictingProfile contains this profile.
func (mem *lazyMemory) newLoader() (*handoff.Loader, error) {
	profiles, err := mem.loadProfiles()
	if err != nil {
		return nil, err
	}
	skills, err := mem.loadSkills()
	if err != nil {
		return nil, err
	}
	bound, err := mem.boundProfile()
	return &handoff.Loader{Profiles: profiles, Skills: skills, RestrictingProfile: bound}, err
}

// loadSkills returns the home's skills, the user's skills, and the skills of the project that contains the working
// directory. If the home is not the user's own, its skills are treated like the project's.
func (mem *lazyMemory) loadSkills() (*skill.Set, error) {
	home, err := mem.finder.homePath()
	if err != nil {
		return nil, err
	}
	set := &skill.Set{}
	own := mem.finder.isOwnHome(home)
	if own {
		set.Roots = append(
			set.Roots,
			skill.SearchRoot{FS: os.DirFS(home), RootPath: home, SkillDirs: skill.HomeSkillDirs},
		)
	}
	if user := mem.env.userHomeDir(); user != "" {
		set.Roots = append(set.Roots, skill.SearchRoot{FS: os.DirFS(user), RootPath: user, SkillDirs: skill.UserDirs})
	}
	root, err := mem.env.absolutePath(".")
	if err != nil { // Return only the user's own skills, because the working directory is not known.
		return set, nil
	}
	if p, err := mem.env.projectOf("."); err == nil {
		root = p.RootDir
	}
	within := func(dir string, dirs []string) error {
		r, err := os.OpenRoot(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("opening %s: %w", dir, err)
		}
		mem.closeFuncs = append(mem.closeFuncs, r.Close)
		set.Roots = append(set.Roots, skill.SearchRoot{FS: r.FS(), RootPath: dir, SkillDirs: dirs, IsProject: true})
		return nil
	}
	if !own {
		err = within(home, skill.HomeSkillDirs)
	}
	return set, errors.Join(err, within(root, skill.ProjectSkillDirs))
}

// recordHomeAsTrusted records that the home was created on this machine, so that the home stays trusted. This is
// necessary only for a home that oxbow may find by searching from a working directory, because other homes are always
// trusted.
func (mem *lazyMemory) recordHomeAsTrusted() error {
	p, err := mem.finder.memoryPlace()
	if err != nil || mem.isDemoSample {
		return nil
	}
	canBeFound := filepath.Base(p.Home) == homeDirName || git.IsInWorktree(p.Home)
	if !canBeFound || !isDir(p.Home) {
		return nil
	}
	if err := mem.finder.host().TrustList.RecordHome(context.Background(), p.Home, p.StorePath,
		mem.env.Now()); err != nil &&
		git.IsInWorktree(p.Home) {
		mem.env.printNote(
			"it is not recorded that you made %s: %v; if it is not trusted later, say: oxbow trust %s",
			p.Home,
			err,
			text.ShellQuote(p.Home),
		)
	}
	return nil
}

// openWorkingDirAnnotations opens the annotations (notes about lines of code) of the working tree that contains the
// working directory. Their subdirectory in the working tree depends on the layout of the memory directory. The caller
// must close the result.
func (finder *homeFinder) openWorkingDirAnnotations(ctx context.Context) (*annotate.Store, error) {
	wd, err := finder.env.absolutePath(".")
	if err != nil {
		return nil, err
	}
	return finder.openAnnotationsIn(ctx, wd)
}

func (finder *homeFinder) openAnnotationsIn(ctx context.Context, dir string) (*annotate.Store, error) {
	trusted := finder.host().TrustList
	o := annotate.Options{Clock: finder.env.Now, MachineKey: trusted.MachineKey, ReviewedCommit: team.ReviewedCommit,
		CreateMachineKey: func(ctx context.Context) []byte { return trusted.EnsureMachineKey(ctx, finder.env.Rand) }}
	// Ignore the error: annotations of code can also be used without a home.
	if d, other, err := finder.detectLayout(); err == nil && other {
		o.Dir = d.Annotations
	}
	return annotate.OpenDir(ctx, dir, &o)
}
