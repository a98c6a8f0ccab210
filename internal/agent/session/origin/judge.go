// This file contains the state in which the verdict on a call is computed.

package origin

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// judge is the state in which the verdict on a call is computed.
type judge struct {
	Machine
	tree  *tree
	level Level
	what  string // the part of a command that determined the level
	own   []string
	other []string
	runs  Level // highest level of text that a program in a command may have written into files
}

// raise sets the level if it is higher than the current level.
func (j *judge) raise(l Level, what string) {
	j.runs = max(j.runs, l)
	j.raisePrinted(l, what)
}

// raisePrinted is like raise, for a program that writes no text of others into files.
func (j *judge) raisePrinted(l Level, what string) {
	if l > j.level {
		j.level, j.what = l, what
	}
}

// wroteOwn records files into which the agent's own text was written.
func (j *judge) wroteOwn(paths ...string) {
	for _, p := range paths {
		j.own = append(j.own, j.tree.resolve(p))
	}
}

// wroteOther records files into which other text was written.
func (j *judge) wroteOther(paths ...string) {
	for _, p := range paths {
		j.other = append(j.other, j.tree.resolve(p))
	}
}

// editedPart records files of which the agent changed a part. Such a file is the agent's own only if it
// was before, because the rest may be text by others.
func (j *judge) editedPart(paths []string) {
	if j.Writers == nil {
		j.wroteOwn(paths...)
		return
	}
	for _, p := range paths {
		switch writer := j.Writers([]string{j.tree.resolve(p)})[0]; {
		case writer == fingerprint.Other || writer == fingerprint.Program:
			j.wroteOther(p)
		case j.tree.level([]string{p}, j.Machine) == Own:
			j.wroteOwn(p)
		}
	}
}

// maxFiles is the maximum number of a call's files that are examined. With more files, the level
// is Foreign.
const maxFiles = 500

// readFiles raises the level to the highest level among the files read.
func (j *judge) readFiles(dir string, paths []string, what string) {
	hasRelative := slices.ContainsFunc(paths, func(p string) bool { return !filepath.IsAbs(p) })
	isUnknown := dir == "" && hasRelative
	if isUnknown || len(paths) > maxFiles {
		j.raise(Foreign, what)
		return
	}
	j.raise(j.tree.level(absolute(dir, paths), j.Machine), what)
}

// absolute returns the paths as absolute paths. Relative paths are below dir.
func absolute(dir string, paths []string) (all []string) {
	for _, p := range paths {
		p = filepath.FromSlash(strings.ReplaceAll(p, `\`, string(filepath.Separator)))
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		all = append(all, filepath.Clean(p))
	}
	return all
}
