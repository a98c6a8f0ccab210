// This file collects the known facts about a tool call while its trust level is determined.

package origin

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// toolCallVerdictState collects facts about a tool call while oxbow determines who wrote the text that the call
// returned.
type toolCallVerdictState struct {
	Machine
	tree              *projectTree
	highestTrustLevel TrustLevel
	// the part of the command because of which the output has the trust level highestTrustLevel
	trustLevelCause       string
	filesWithAgentText    []string
	filesWithNonAgentText []string
	// trust level of the least trusted text that a program in the command may have written into files
	unnamedFilesTrustLevel TrustLevel
}

// raiseTrustLevel records that the tool call may have printed text of this trust level or written such text into files.
// Lower levels than the recorded one are ignored. cause is the part of the command that is the reason.
func (j *toolCallVerdictState) raiseTrustLevel(l TrustLevel, cause string) {
	j.unnamedFilesTrustLevel = max(j.unnamedFilesTrustLevel, l)
	j.raiseOutputTrustLevel(l, cause)
}

// raiseOutputTrustLevel records that the tool call may have printed text of the trust level l. If the recorded level is
// already l or higher (less trusted), nothing changes. cause is the part of the command that may have printed the text.
// Unlike raiseTrustLevel, this method does not record that the call may have written such text into files.
func (j *toolCallVerdictState) raiseOutputTrustLevel(l TrustLevel, cause string) {
	if l > j.highestTrustLevel {
		j.highestTrustLevel, j.trustLevelCause = l, cause
	}
}

// recordFilesWithAgentText records files into which the call wrote the agent's own text.
func (j *toolCallVerdictState) recordFilesWithAgentText(paths ...string) {
	for _, p := range paths {
		j.filesWithAgentText = append(j.filesWithAgentText, j.tree.resolveLinks(p))
	}
}

// recordFilesWithNonAgentText records files into which the call wrote text that is not the agent's own.
func (j *toolCallVerdictState) recordFilesWithNonAgentText(paths ...string) {
	for _, p := range paths {
		j.filesWithNonAgentText = append(j.filesWithNonAgentText, j.tree.resolveLinks(p))
	}
}

// recordPartlyEditedFiles records files of which the agent edited only a part. The rest of such a file may be text by
// others. Therefore each file is treated as follows:
//
//   - If a program wrote the file last, and the program may have written text by others, the file is recorded as text
//     that is not the agent's.
//   - If the file was trusted as the agent's or the project's own text before the edit, it is recorded as the agent's
//     text.
//   - In all other cases, nothing is recorded for the file.
//
// If LastWriters is nil, all files are recorded as the agent's text.
func (j *toolCallVerdictState) recordPartlyEditedFiles(paths []string) {
	if j.LastWriters == nil {
		j.recordFilesWithAgentText(paths...)
		return
	}
	for _, p := range paths {
		switch writer := j.LastWriters([]string{j.tree.resolveLinks(p)})[0]; {
		case writer == fingerprint.WriterForeignTextProgram || writer == fingerprint.WriterUnknownAuthorProgram:
			j.recordFilesWithNonAgentText(p)
		case j.tree.trustLevelOfPaths([]string{p}, j.Machine) == TrustLevelOwnText:
			j.recordFilesWithAgentText(p)
		}
	}
}

// maxFilesExaminedPerCall is the maximum number of files that are examined for a call. For a call with more files, the
// output counts as text by others (TrustLevelForeignText).
const maxFilesExaminedPerCall = 500

// raiseTrustLevelForReadFiles records that the call's output may contain text from the files at the given paths.
// Relative paths are relative to the directory dir. The least trusted file determines the output's trust level. The
// output counts as text by others (TrustLevelForeignText) if a path is relative and dir is "", or if there are more
// than maxFilesExaminedPerCall paths.
func (j *toolCallVerdictState) raiseTrustLevelForReadFiles(dir string, paths []string, cause string) {
	hasRelative := slices.ContainsFunc(paths, func(p string) bool { return !filepath.IsAbs(p) })
	isUnknown := dir == "" && hasRelative
	if isUnknown || len(paths) > maxFilesExaminedPerCall {
		j.raiseTrustLevel(TrustLevelForeignText, cause)
		return
	}
	j.raiseTrustLevel(j.tree.trustLevelOfPaths(absolutePaths(dir, paths), j.Machine), cause)
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
