// This file checks that output is not written to a path where it would destroy a part of the memory.

package output

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/verb"
)

// oxbowFileNames contains the names of the files and directories in a home that belong to oxbow. The store, and files
// whose names begin with the name of the store, are not included.
var oxbowFileNames = []string{"token", "settings.yaml", "profiles", "skills"}

// CheckWritePath returns an error if a write to the absolute path would destroy a part of the memory or its home. These
// parts are the home itself, the store, the files whose names begin with the name of the store, tokens, settings,
// profiles and skills. In a home that does not have oxbow's own layout, every existing file is such a part, except
// exports (files with the extension .jsonl). If isBoundToProfile is true, because the run is restricted to a profile,
// each path inside the home is refused.
//
// Files are compared by identity as well as by name. Therefore a link, another spelling or a hard link is refused like
// the file that it leads to.
func CheckWritePath(p verb.Place, path string, isBoundToProfile bool) error {
	other := "name another file"
	home := p.Dir()
	// Check the path of a link itself and the path that the link leads to.
	paths := []string{path}
	if to, err := filepath.EvalSymlinks(path); err == nil && to != path {
		paths = append(paths, to)
	}
	for _, path := range paths {
		if SameFile(path, p.StorePath) {
			return verb.Advise(verb.Invalidf("%s is the memory itself", path), other)
		}
		if SameFile(path, home) {
			return verb.Advise(verb.Invalidf("%s is the home of the memory", path), "name another path")
		}
		inner, inside := pathInDir(path, home)
		if !inside {
			continue
		}
		first, _, _ := strings.Cut(filepath.ToSlash(inner), "/")
		switch {
		case p.HasOwnLayout() && strings.EqualFold(inner, filepath.Base(p.StorePath)):
			return verb.Advise(verb.Invalidf("%s is the memory itself", path), other)
		case isOxbowFileName(p, first):
			return verb.Advise(verb.Invalidf("%s belongs to the memory in %s", path, home), other)
		case isBoundToProfile:
			return verb.Advise(
				verb.Invalidf("%s is inside the home of the memory, and this run is bound to a profile", path),
				"name a file outside of "+home,
			)
		case !p.HasOwnLayout() && !strings.EqualFold(filepath.Ext(path), ".jsonl") && isFile(path):
			return verb.Advise(
				verb.Invalidf("%s is in the home of the memory, and is no export", path),
				"name a file that is not there yet, or one outside of "+home,
			)
		}
	}
	return checkHardLinks(p, path, other)
}

// isOxbowFileName reports whether a file with that name in the home belongs to oxbow.
func isOxbowFileName(p verb.Place, name string) bool {
	// Ignore letter case, because some file systems do. On such file systems, Store.oxbow and store.oxbow are the same
	// file.
	name = strings.ToLower(name)
	store := strings.ToLower(filepath.Base(p.StorePath))
	isStore := name == store || strings.HasPrefix(name, store+".")
	if isStore && p.StorePath != p.Dir() {
		return true
	}
	return p.HasOwnLayout() && filepath.Dir(p.StorePath) == p.Home && slices.Contains(oxbowFileNames, name)
}

// checkHardLinks returns an error if a path is a hard link to a file of the memory.
func checkHardLinks(p verb.Place, path, remedy string) error {
	fi, err := os.Stat(path)
	if err != nil || fi.IsDir() {
		return nil
	}
	files, err := os.ReadDir(p.Dir())
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("looking for the files of the memory: %w", err)
	}
	for _, f := range files {
		if name := filepath.Join(p.Dir(), f.Name()); isOxbowFileName(p, f.Name()) && SameFile(path, name) {
			return verb.Advise(verb.Invalidf("%s is %s, which belongs to the memory", path, name), remedy)
		}
	}
	return nil
}

// pathInDir returns the part of a path that is relative to a directory, even if the path leads into the directory
// through links. It returns false if the path does not lead into the directory.
func pathInDir(path, dir string) (inner string, ok bool) {
	for {
		parent := filepath.Dir(path)
		if parent == path {
			return "", false
		}
		inner = filepath.Join(filepath.Base(path), inner)
		if SameFile(parent, dir) {
			return inner, true
		}
		// If the parent directory is a link, use the directory to which the link leads.
		if to, err := filepath.EvalSymlinks(parent); err == nil {
			parent = to
		}
		path = parent
	}
}

func isFile(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && !fi.IsDir()
}

// SameFile reports whether both paths lead to the same file.
func SameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
