// This file finds profiles, and restricts a run to the profile that it is bound to.

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

// loadProfiles returns the profiles of the home, followed by the profiles of the working directory's
// project.
func (a *app) loadProfiles() (*profile.Set, error) {
	if a.profileSet != nil {
		return a.profileSet, nil
	}
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	// The first place is always the home's, even if the home does not exist yet.
	own := profile.Place{FS: vfs.NewMem(), Path: home, Dirs: profile.HomeDirs}
	if fi, err := os.Stat(home); err == nil && fi.IsDir() {
		own.FS, err = a.openDir(home)
		if err != nil {
			return nil, err
		}
	}
	own.Withhold, own.Project, err = a.withhold(home)
	if err != nil {
		return nil, err
	}
	trusted := a.host().Trusted
	own.Vouched = func(path string) bool { return trusted.VouchesForDocument(home, path) }
	own.Repeats = a.repeats
	set := &profile.Set{Places: []profile.Place{own}, Zone: a.env.Now().Location()}
	if a.isUnlabelled() {
		set.Repeats = a.repeats
	}
	root, err := a.absolutePath(".")
	if err != nil { // a home that was named needs no working directory
		a.profileSet = set
		return set, nil
	}
	// Ignore the error: a directory that cannot be named as a project may still contain profiles.
	if p, err := a.project("."); err == nil {
		root = p.Root
	}
	dirs := slices.Clone(profile.ProjectDirs)
	if output.SameFile(home, filepath.Join(root, homeDir)) {
		// The home belongs to the project, so do not read its profiles a second time.
		dirs = slices.DeleteFunc(dirs, func(d string) bool { return strings.HasPrefix(d, homeDir+"/") })
	}
	if !output.SameFile(home, root) {
		fsys, err := a.openDir(root)
		if err != nil {
			return nil, err
		}
		set.Places = append(set.Places, profile.Place{FS: fsys, Path: root, Dirs: dirs, Project: true})
	}
	a.profileSet = set
	return set, nil
}

// withhold returns a function that reports why a document of the home must not be used, or "".
// For a foreign home this applies to all documents, and isProject is true because its profiles
// count as the project's. For another home that was found, it applies to documents that a pull or
// a checkout may have brought.
func (l *locator) withhold(home string) (withhold func(path string) string, isProject bool, err error) {
	p, err := l.memoryPlace()
	if err != nil || !p.Found {
		return nil, false, err
	}
	foreign, err := l.isForeign()
	if foreign {
		return func(string) string { return "the home is not trusted" }, true, err
	}
	return func(path string) string { return l.host().Trusted.WithholdDocument(home, path) }, false, err
}

// boundName returns the name of the profile that the run is bound to, or "". It is the value of
// --profile or $OXBOW_PROFILE. If both are set and differ, it returns an error, so that an agent
// cannot replace the profile that was set in its environment.
func (a *app) boundName() (string, error) {
	env := a.env.Getenv("OXBOW_PROFILE")
	if a.profileFlag != "" && env != "" && a.profileFlag != env {
		return "", misusef(
			"leave one of them out",
			"--profile is %q and OXBOW_PROFILE is %q: a run is bound to one profile",
			a.profileFlag,
			env,
		)
	}
	if env != "" {
		return env, nil
	}
	return a.profileFlag, nil
}

// boundProfile returns the profile that the run is bound to, or nil. The profile is read only once, so
// that editing it does not affect a running server.
func (a *app) boundProfile() (*profile.Resolved, error) {
	name, err := a.boundName()
	if err != nil || name == "" || a.boundTo != nil {
		return a.boundTo, err
	}
	r, err := a.resolve(name)
	if err != nil {
		return nil, err
	}
	a.boundTo = &r
	return a.boundTo, nil
}

// resolve returns the profile with the given name.
func (a *app) resolve(name string) (profile.Resolved, error) {
	set, err := a.loadProfiles()
	if err != nil {
		return profile.Resolved{}, err
	}
	r, err := set.Resolve(name)
	return r, badArgument(err)
}

// bind returns the part of m that the run may see. Without a bound profile this is m itself.
// Closing the returned memory closes m, which is closed at the latest at the end of the run.
func (a *app) bind(m *oxbow.Memory) (*oxbow.Memory, error) {
	r, err := a.boundProfile()
	if err != nil || r == nil {
		return m, err
	}
	a.closers = append(a.closers, m.Close)
	return scope.Within(m, r.Scope()), nil
}

// inScope lists the commands that may run while bound to a profile. They reach entries only
// through the memory. All other commands are refused, because they read or write files that
// contain entries outside the profile.
var inScope = []string{
	"remember", "recall", "get", "list", "edit", "forget", "log", "undo", "restore", "export", "import", "mcp",
	"context",
	"label", "label list", "label add", "label remove", "label rename", "label merge", "label lint", "label suggest",
	"label project",
	"profile", "profile list", "profile show", "profile select", "profile tokens", "spawn",
	"session", "session list", "session show", "session search", "session resume",
	"handoff", "handoff new", "handoff list", "handoff show", "handoff take", "handoff drop",
	"annotate", "why", "blame", // use only the annotations of the working tree
	"annotate merge-driver", // merges files that git names
	"help", "version", "completion", "__complete", "__completeNoDesc",
}

// mayRun returns an error if the run is bound to a profile and the command could reach entries
// outside it.
func (a *app) mayRun(cmd *cobra.Command) error {
	_, command, _ := strings.Cut(cmd.CommandPath(), " ")
	if command == "" || slices.Contains(inScope, command) {
		return nil
	}
	return a.unboundOnly(command)
}

// unboundOnly returns an error if the run is bound to a profile, because the command reads or
// writes the whole memory.
func (a *app) unboundOnly(command string) error {
	name, err := a.boundName()
	if err != nil || name == "" {
		return err
	}
	return &hintedError{&scopeError{command, name}, "run it without --profile, and without OXBOW_PROFILE"}
}

// outputPath returns the absolute path of an output file, or an error if the memory is at that
// path.
func (a *app) outputPath(path string) (string, error) {
	abs, err := a.absolutePath(path)
	bound, berr := a.boundName()
	p, perr := a.memoryPlace()
	err = errors.Join(err, berr, perr)
	if err != nil {
		return "", err
	}
	return abs, badArgument(output.CheckTarget(p, abs, bound != ""))
}

// scopeError reports that a command cannot run while bound to a profile. It matches
// oxbow.ErrUnsupported.
type scopeError struct{ command, profile string }

func (e *scopeError) Error() string {
	return fmt.Sprintf("%s works on all of the memory, and this run is bound to profile %q", e.command, e.profile)
}

func (*scopeError) Is(target error) bool { return target == oxbow.ErrUnsupported }
