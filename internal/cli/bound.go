// This file finds memory profiles. If the command was started with a profile, it also restricts the command to the part
// of the memory that the profile selects.

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb/output"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

// loadProfiles returns the home's profiles, followed by the profiles of the project that contains the working
// directory.
func (mem *lazyMemory) loadProfiles() (*profile.Set, error) {
	if mem.profileSet != nil {
		return mem.profileSet, nil
	}
	home, err := mem.finder.homePath()
	if err != nil {
		return nil, err
	}
	// The first directory with profiles is always the home's own, even if the home does not exist yet.
	own := profile.Place{FS: vfs.NewMem(), Path: home, Dirs: profile.HomeDirs}
	if fi, err := os.Stat(home); err == nil && fi.IsDir() {
		own.FS, err = mem.openDir(home)
		if err != nil {
			return nil, err
		}
	}
	own.Withhold, own.Project, err = mem.finder.documentRefusalFunc(home)
	if err != nil {
		return nil, err
	}
	trusted := mem.finder.host().TrustList
	own.Vouched = func(path string) bool { return trusted.VouchesForDocument(home, path) }
	own.Repeats = mem.repeatsForeignText
	set := &profile.Set{Places: []profile.Place{own}, Zone: mem.env.Now().Location()}
	if mem.finder.hasNonOxbowLayout() {
		set.Repeats = mem.repeatsForeignText
	}
	root, err := mem.env.absolutePath(".")
	if err != nil { // A home that was named by a flag needs no working directory.
		mem.profileSet = set
		return set, nil
	}
	// Ignore the error: a directory without a project name may still contain profiles.
	if p, err := mem.env.projectOf("."); err == nil {
		root = p.RootDir
	}
	dirs := slices.Clone(profile.ProjectDirs)
	if output.SameFile(home, filepath.Join(root, homeDirName)) {
		// The project contains the home, so do not read the home's profiles a second time.
		dirs = slices.DeleteFunc(dirs, func(d string) bool { return strings.HasPrefix(d, homeDirName+"/") })
	}
	if !output.SameFile(home, root) {
		fsys, err := mem.openDir(root)
		if err != nil {
			return nil, err
		}
		set.Places = append(set.Places, profile.Place{FS: fsys, Path: root, Dirs: dirs, Project: true})
	}
	mem.profileSet = set
	return set, nil
}

// documentRefusalFunc returns a function that decides whether a document in the home may be used. The function
// refusalReason returns "" if the document with the given path may be used, and otherwise the reason why it must not be
// used. There are three cases:
//
//   - The user chose the home. All documents may be used, and refusalReason is nil.
//   - oxbow found the home by searching the parent directories, and the user has not marked the home as trusted (a
//     foreign home). No document may be used. hasProjectProfiles is true only in this case, because the profiles of a
//     foreign home count as project profiles.
//   - oxbow found the home by searching the parent directories, and the home is not foreign. Documents that may have
//     come with a git pull or checkout must not be used.
func (finder *homeFinder) documentRefusalFunc(
	home string,
) (refusalReason func(path string) string, hasProjectProfiles bool, err error) {
	p, err := finder.memoryPlace()
	if err != nil || !p.FoundFromWorkingDir {
		return nil, false, err
	}
	foreign, err := finder.isForeignHome()
	if foreign {
		return func(string) string { return "the home is not trusted" }, true, err
	}
	return func(path string) string { return finder.host().TrustList.DocumentRefusalReason(home, path) }, false, err
}

// boundProfileName returns the name of the profile that restricts this run, or "" if no profile does. The flag
// --profile or the variable $OXBOW_PROFILE names the profile. If they name two different profiles, boundProfileName
// returns an error. Therefore an agent cannot use a profile other than the profile in its environment.
func (mem *lazyMemory) boundProfileName() (string, error) {
	env := mem.env.Getenv("OXBOW_PROFILE")
	namesBoth := mem.profileFlag != "" && env != ""
	if namesBoth && mem.profileFlag != env {
		return "", usageErrorf(
			"leave one of them out",
			"--profile is %q and OXBOW_PROFILE is %q: a run is bound to one profile",
			mem.profileFlag,
			env,
		)
	}
	if env != "" {
		return env, nil
	}
	return mem.profileFlag, nil
}

// boundProfile returns the profile that restricts this run, or nil if no profile does. It reads the profile only once,
// so that a later edit of the profile does not affect a running server.
func (mem *lazyMemory) boundProfile() (*profile.Resolved, error) {
	name, err := mem.boundProfileName()
	if err != nil {
		return mem.cachedBoundProfile, err
	}
	if name == "" || mem.cachedBoundProfile != nil {
		return mem.cachedBoundProfile, nil
	}
	r, err := mem.resolveProfile(name)
	if err != nil {
		return nil, err
	}
	mem.cachedBoundProfile = &r
	return mem.cachedBoundProfile, nil
}

// resolveProfile returns the profile with the given name.
func (mem *lazyMemory) resolveProfile(name string) (profile.Resolved, error) {
	set, err := mem.loadProfiles()
	if err != nil {
		return profile.Resolved{}, err
	}
	r, err := set.Resolve(name)
	return r, asUsageError(err)
}

// restrictToProfile returns a memory with only the part of m that the run's profile allows. Closing the returned
// memory does not close m, because m is closed at the end of the run. If the run has no profile, restrictToProfile
// returns m itself.
func (mem *lazyMemory) restrictToProfile(m *oxbow.Memory) (*oxbow.Memory, error) {
	r, err := mem.boundProfile()
	if err != nil || r == nil {
		return m, err
	}
	mem.closeFuncs = append(mem.closeFuncs, m.Close)
	return scope.Within(m, r.Scope()), nil
}

// commandsAllowedWithProfile lists the commands that may run if the run is bound to a profile, that is, restricted to
// the entries that the profile selects. These commands reach entries only through the restricted memory. All other
// commands are refused, because they read or write files with entries outside of the profile.
var commandsAllowedWithProfile = []string{
	"remember", "recall", "get", "list", "edit", "forget", "log", "undo", "restore", "export", "import", "mcp",
	"context",
	"label", "label list", "label add", "label remove", "label rename", "label merge", "label lint", "label suggest",
	"label project",
	"profile", "profile list", "profile show", "profile select", "profile tokens", "spawn",
	"session", "session list", "session show", "session search", "session resume",
	"handoff", "handoff new", "handoff list", "handoff show", "handoff take", "handoff drop",
	// These three commands use only the annotations of the working tree, which a profile does not restrict.
	"annotate", "why", "blame",
	"annotate merge-driver", // This command is allowed, because it merges only the files that git names.
	"help", "version", "completion", "__complete", "__completeNoDesc",
}

// checkProfileAllowsCommand returns an error if a profile binds the run and the command could reach entries outside of
// the profile.
func (mem *lazyMemory) checkProfileAllowsCommand(cmd *cobra.Command) error {
	_, command, _ := strings.Cut(cmd.CommandPath(), " ")
	if command == "" || slices.Contains(commandsAllowedWithProfile, command) {
		return nil
	}
	return mem.refuseIfProfileApplies(command)
}

// refuseIfProfileApplies returns an error if a profile restricts this run. It is called for a command that needs the
// whole memory. The argument command is the name of this command.
func (mem *lazyMemory) refuseIfProfileApplies(command string) error {
	name, err := mem.boundProfileName()
	if err != nil || name == "" {
		return err
	}
	return &hintedError{&scopeError{command, name}, "run it without --profile, and without OXBOW_PROFILE"}
}

// outputPath returns the absolute path of an output file. It returns an error if the memory itself is at that path.
func (mem *lazyMemory) outputPath(path string) (string, error) {
	abs, err := mem.env.absolutePath(path)
	bound, berr := mem.boundProfileName()
	p, perr := mem.finder.memoryPlace()
	err = errors.Join(err, berr, perr)
	if err != nil {
		return "", err
	}
	return abs, asUsageError(output.CheckWritePath(p, abs, bound != ""))
}

// scopeError reports that a command cannot run, because the run is bound to a profile, that is, restricted to the
// entries that the profile selects. It matches oxbow.ErrUnsupported.
type scopeError struct{ command, profile string }

func (e *scopeError) Error() string {
	return fmt.Sprintf("%s works on all of the memory, and this run is bound to profile %q", e.command, e.profile)
}

func (*scopeError) Is(target error) bool { return target == oxbow.ErrUnsupported }
