// This file collects what is known about a tool call while its trust level is determined.

package origin

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// verdictState collects facts about a tool call while oxbow determines who wrote the text that the call returned.
type verdictState struct {
	Machine
	tree         *projectTree
	highestLevel Level
	cause        string // the part of the command because of which the output has the trust level highestLevel
	ownFiles     []string
	otherFiles   []string
	// trust level of the least trusted text that a program in the command may have written into files
	unnamedFilesLevel Level
}

// raiseLevel records that the tool call may have printed text of this trust level or written such text into files.
// Lower levels than the recorded one are ignored. cause is the part of the command that is the reason.
func (j *verdictState) raiseLevel(l Level, cause string) {
	j.unnamedFilesLevel = max(j.unnamedFilesLevel, l)
	j.raisePrintedLevel(l, cause)
}

// raisePrintedLevel records that a program may have printed text of this trust level, but wrote no such text into
// files. Lower levels than the recorded level are ignored.
func (j *verdictState) raisePrintedLevel(l Level, cause string) {
	if l > j.highestLevel {
		j.highestLevel, j.cause = l, cause
	}
}

// recordOwnFiles records files into which the call wrote the agent's own text.
func (j *verdictState) recordOwnFiles(paths ...string) {
	for _, p := range paths {
		j.ownFiles = append(j.ownFiles, j.tree.resolveLinks(p))
	}
}

// recordOtherFiles records files into which the call wrote text that is not the agent's own.
func (j *verdictState) recordOtherFiles(paths ...string) {
	for _, p := range paths {
		j.otherFiles = append(j.otherFiles, j.tree.resolveLinks(p))
	}
}

// recordPartialEdits records files that the agent edited in part. Such a file counts as the agent's own only if it did
// before the edit, because the rest may be text by others.
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

// maxJudgedFiles is the maximum number of files that are examined for a call. For a call with more files, the output
// counts as text by others (LevelForeign).
const maxJudgedFiles = 500

// raiseLevelForReadFiles records that the call's output may contain text from these files. The least trusted file
// determines the output's trust level.
func (j *verdictState) raiseLevelForReadFiles(dir string, paths []string, cause string) {
	hasRelative := slices.ContainsFunc(paths, func(p string) bool { return !filepath.IsAbs(p) })
	isUnknown := dir == "" && hasRelative
	if isUnknown || len(paths) > maxJudgedFiles {
		j.raiseLevel(LevelForeign, cause)
		return
	}
	j.raiseLevel(j.tree.levelOfPaths(absolutePaths(dir, paths), j.Machine), cause)
}

// absolutePaths returns the absolute paths. A relative path is resolved in dir.
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
