// This file contains the state in which the verdict on a call is computed.

package origin

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// verdictState is the state in which the verdict on a call is computed.
type verdictState struct {
	Machine
	tree         *projectTree
	highestLevel Level
	cause        string // the part of a command that determined the level
	ownFiles     []string
	otherFiles   []string
	runLevel     Level // highest level of text that a program in a command may have written into files
}

// raiseLevel sets the level if it is higher than the current level.
func (j *verdictState) raiseLevel(l Level, cause string) {
	j.runLevel = max(j.runLevel, l)
	j.raisePrintedLevel(l, cause)
}

// raisePrintedLevel is like raiseLevel, for a program that writes no text of others into files.
func (j *verdictState) raisePrintedLevel(l Level, cause string) {
	if l > j.highestLevel {
		j.highestLevel, j.cause = l, cause
	}
}

// recordOwnFiles records files into which the agent's own text was written.
func (j *verdictState) recordOwnFiles(paths ...string) {
	for _, p := range paths {
		j.ownFiles = append(j.ownFiles, j.tree.resolveLinks(p))
	}
}

// recordOtherFiles records files into which other text was written.
func (j *verdictState) recordOtherFiles(paths ...string) {
	for _, p := range paths {
		j.otherFiles = append(j.otherFiles, j.tree.resolveLinks(p))
	}
}

// recordPartialEdits records files of which the agent changed a part. Such a file is the agent's own only if it
// was before, because the rest may be text by others.
func (j *verdictState) recordPartialEdits(paths []string) {
	if j.LastWriters == nil {
		j.recordOwnFiles(paths...)
		return
	}
	for _, p := range paths {
		switch writer := j.LastWriters([]string{j.tree.resolveLinks(p)})[0]; {
		case writer == fingerprint.WriterForeign || writer == fingerprint.WriterUnvouched:
			j.recordOtherFiles(p)
		case j.tree.levelOfPaths([]string{p}, j.Machine) == LevelOwn:
			j.recordOwnFiles(p)
		}
	}
}

// maxFiles is the maximum number of a call's files that are examined. With more files, the level
// is LevelForeign.
const maxFiles = 500

// raiseForReadFiles raises the level to the highest level among the files read.
func (j *verdictState) raiseForReadFiles(dir string, paths []string, cause string) {
	hasRelative := slices.ContainsFunc(paths, func(p string) bool { return !filepath.IsAbs(p) })
	isUnknown := dir == "" && hasRelative
	if isUnknown || len(paths) > maxFiles {
		j.raiseLevel(LevelForeign, cause)
		return
	}
	j.raiseLevel(j.tree.levelOfPaths(absolutePaths(dir, paths), j.Machine), cause)
}

// absolutePaths returns the paths as absolute paths. Relative paths are below dir.
func absolutePaths(dir string, paths []string) (all []string) {
	for _, p := range paths {
		p = filepath.FromSlash(strings.ReplaceAll(p, `\`, string(filepath.Separator)))
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		all = append(all, filepath.Clean(p))
	}
	return all
}
