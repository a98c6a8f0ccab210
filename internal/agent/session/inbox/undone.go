// This file finds edits that git or a later edit reverted, and edits that the person corrected.

package inbox

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/extract"
)

// These are the keys of labels for turns. They record that an agent's work was undone or criticized. The value of the
// label is the path of a file. If the file is below the working directory, the path is relative to this directory.
const (
	LabelReverted = "reverted" // Git, or an edit in a later turn, reverted the turn's edits of the file.
	// In this turn's prompt, the person criticized the work of the previous turn and named the file.
	LabelCorrectedByPerson = "corrected"
)

// turnFileLabel is a label that will be added to a turn of a session. The label's value is a file.
type turnFileLabel struct {
	turnIndex int // index of the turn in the session's turns
	filePath  string
}

// editingTurnsByFile maps each file to the indexes of the turns that changed it.
type editingTurnsByFile map[string][]int

// workingTree simulates which edits are in a working tree, while the turns' edits and git commands are read.
type workingTree struct {
	uncommittedEdits   editingTurnsByFile // turns that edited each file since the last git commit
	lastCommitEdits    editingTurnsByFile // turns that edited each file between the last two git commits
	stashedEdits       editingTurnsByFile
	editHistory        []fileReplacement
	revertedTurnLabels []turnFileLabel
}

// fileReplacement is an edit that replaced a text in a file. Hashes identify the old and the new text.
type fileReplacement struct {
	turnIndex                      int // index of the turn that made the edit
	file, oldTextHash, newTextHash string
	fileHashBefore, fileHashAfter  string // hashes of the whole file before and after the edit ("" if unknown)
}

// findRevertedFiles returns the edits that were reverted. Each result contains the turn that made the edit, and the
// file. An edit is reverted by a later git command, or by an edit in a later turn that restores the replaced text. Git
// commands revert only edits in the working tree: git restore does not revert committed edits, and git stash pop
// brings stashed edits back.
func findRevertedFiles(turns []session.Turn) []turnFileLabel {
	t := workingTree{
		uncommittedEdits: editingTurnsByFile{},
		lastCommitEdits:  editingTurnsByFile{},
		stashedEdits:     editingTurnsByFile{},
	}
	for i := range turns {
		for _, e := range turns[i].CallEvents() {
			for _, f := range writtenFiles(e.Call, turns[i].Dir()) {
				if !slices.Contains(t.uncommittedEdits[f], i) {
					t.uncommittedEdits[f] = append(t.uncommittedEdits[f], i)
				}
				t.applyEdit(
					fileReplacement{
						i,
						f,
						e.Call.OldTextHash,
						e.Call.NewTextHash,
						e.Call.FileHashBefore,
						e.Call.FileHashAfter,
					},
				)
			}
			// A longer command was cut, so not all of it is known.
			if hasPassed(e.Call) && len(e.Call.Command) < session.MaxCommandBytes {
				for _, args := range parseGitCommands(e.Call.Command) {
					t.applyGitCommand(args)
				}
			}
		}
	}
	slices.SortFunc(
		t.revertedTurnLabels,
		func(a, b turnFileLabel) int {
			return cmp.Or(a.turnIndex-b.turnIndex, strings.Compare(a.filePath, b.filePath))
		},
	)
	return slices.Compact(t.revertedTurnLabels)
}

// applyEdit adds the edit r to t.editHistory. But if r reverts earlier edits, these edits are removed from the history
// instead, and the turns that made them are added to t.revertedTurnLabels. The turn of r itself is never added.
//
// An edit that restores an earlier content of the whole file reverts all later edits of the file. Any other edit
// reverts the last edit that is its exact opposite.
func (t *workingTree) applyEdit(r fileReplacement) {
	if t.detectWholeFileRevert(r) {
		return
	}
	if r.oldTextHash != r.newTextHash { // The edit replaced a text by a different text.
		for i, e := range slices.Backward(t.editHistory) {
			isReverse := e.oldTextHash == r.newTextHash && e.newTextHash == r.oldTextHash
			if isReverse && e.file == r.file {
				t.editHistory = slices.Delete(t.editHistory, i, i+1)
				if e.turnIndex != r.turnIndex {
					t.revertedTurnLabels = append(t.revertedTurnLabels, turnFileLabel{e.turnIndex, e.file})
				}
				return
			}
		}
	}
	t.editHistory = append(t.editHistory, r)
}

// detectWholeFileRevert reports whether the edit r restores the content that the whole file had before an earlier edit.
// In this case, r reverts the earlier edit and all later edits of the file, and detectWholeFileRevert removes these
// edits from t.editHistory. For each removed edit whose turn is not the turn of r, detectWholeFileRevert appends the
// turn and the file to t.revertedTurnLabels. If r does not change the file, or if r.fileHashAfter is not known,
// detectWholeFileRevert returns false.
func (t *workingTree) detectWholeFileRevert(r fileReplacement) bool {
	if r.fileHashAfter == "" || r.fileHashBefore == r.fileHashAfter {
		return false
	}
	first := -1 // index of the oldest edit that the new file content reverts
	for i, e := range slices.Backward(t.editHistory) {
		if e.file != r.file {
			continue
		}
		if e.fileHashAfter == r.fileHashAfter {
			break
		}
		before := e.fileHashBefore
		if before == "" {
			before = t.fileHashBeforeEdit(i)
		}
		if before == r.fileHashAfter {
			first = i
			break
		}
	}
	if first < 0 {
		return false
	}
	var rest []fileReplacement
	for i, e := range t.editHistory {
		if i < first || e.file != r.file {
			rest = append(rest, e)
		} else if e.turnIndex != r.turnIndex {
			t.revertedTurnLabels = append(t.revertedTurnLabels, turnFileLabel{e.turnIndex, e.file})
		}
	}
	t.editHistory = rest
	return true
}

// fileHashBeforeEdit returns the hash that the file had before an edit, which is its hash after the previous edit. It
// returns "" if the hash is not known.
func (t *workingTree) fileHashBeforeEdit(editIndex int) string {
	for _, e := range slices.Backward(t.editHistory[:editIndex]) {
		if e.file == t.editHistory[editIndex].file {
			return e.fileHashAfter
		}
	}
	return ""
}

// parseGitCommands returns the arguments of each git command in a command line.
func parseGitCommands(line string) (all [][]string) {
	for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(";&|\n()", r) }) {
		words := strings.Fields(part)
		if len(words) < 2 || words[0] != "git" {
			continue
		}
		words = words[1:]
		for len(words) > 2 && words[0] == "-C" {
			words = words[2:]
		}
		all = append(all, words)
	}
	return all
}

// applyGitCommand applies the effect of a git command to the simulated tree.
func (t *workingTree) applyGitCommand(args []string) {
	rest := args[1:]
	has := func(word string) bool { return slices.Contains(rest, word) }
	switch args[0] {
	case "commit":
		t.lastCommitEdits, t.uncommittedEdits = t.uncommittedEdits, editingTurnsByFile{}
	case "restore", "checkout":
		if !has("--staged") && !has("-b") {
			t.applyGitRestore(rest)
		}
	case "reset":
		if !has("--hard") {
			return
		}
		t.markChangesReverted(t.uncommittedEdits)
		t.uncommittedEdits = editingTurnsByFile{}
		isBeforeHead := has("HEAD~1") || has("HEAD^") || has("HEAD~")
		if isBeforeHead {
			t.markChangesReverted(t.lastCommitEdits)
			t.lastCommitEdits = editingTurnsByFile{}
		}
	case "revert":
		if has("HEAD") {
			t.markChangesReverted(t.lastCommitEdits)
			t.lastCommitEdits = editingTurnsByFile{}
		}
	case "stash":
		t.applyGitStash(rest)
	}
}

// applyGitRestore simulates git restore or git checkout with these arguments. It marks the uncommitted edits of the
// files that the arguments name as reverted, and removes these edits from uncommittedEdits.
func (t *workingTree) applyGitRestore(args []string) {
	some := editingTurnsByFile{}
	for f, turns := range t.uncommittedEdits {
		if slices.ContainsFunc(args, func(a string) bool {
			return a == "." || a == ":/" || namesFileOrParentDir(strings.Trim(a, `"'`), f)
		}) {
			some[f] = turns
		}
	}
	t.markChangesReverted(some)
	for f := range some {
		delete(t.uncommittedEdits, f)
	}
}

// namesFileOrParentDir reports whether an argument names a file, or a directory that contains the file. The argument
// may be relative to the project's root or to a directory in the project.
func namesFileOrParentDir(arg, file string) bool {
	arg = path.Clean(arg)
	return arg == file || strings.HasSuffix(file, "/"+arg) || strings.HasPrefix(file, arg+"/") ||
		strings.HasSuffix(arg, "/"+file)
}

// applyGitStash simulates git stash with these arguments. A stash takes the uncommitted edits out of the tree, git
// stash pop brings them back, and git stash drop reverts them.
func (t *workingTree) applyGitStash(args []string) {
	switch what := append(args, "push")[0]; {
	case what == "pop" || what == "apply":
		for f, turns := range t.stashedEdits {
			t.uncommittedEdits[f] = append(t.uncommittedEdits[f], turns...)
		}
		t.stashedEdits = editingTurnsByFile{}
	case what == "drop" || what == "clear":
		t.markChangesReverted(t.stashedEdits)
		t.stashedEdits = editingTurnsByFile{}
	case what == "push" || what == "save" || strings.HasPrefix(what, "-"):
		t.stashedEdits, t.uncommittedEdits = t.uncommittedEdits, editingTurnsByFile{}
	}
}

// markChangesReverted marks all given changes as reverted.
func (t *workingTree) markChangesReverted(changes editingTurnsByFile) {
	for f, turns := range changes {
		for _, i := range turns {
			t.revertedTurnLabels = append(t.revertedTurnLabels, turnFileLabel{i, f})
		}
	}
}

// findCorrectedTurns finds turns in which the person's prompt corrects the agent, and names a file that the agent
// changed in the turn before. It returns one label for each such turn and file. The label is for the turn with the
// prompt, not for the turn that changed the file. findCorrectedTurns does not find out whether the change of the file
// was undone.
func findCorrectedTurns(turns []session.Turn) (found []turnFileLabel) {
	for i := range turns {
		if i == 0 || extract.FindCorrection(turns[i].Prompt()) == "" {
			continue
		}
		for _, f := range changedFiles(&turns[i-1]) {
			if mentionsFile(turns[i].Prompt(), f) {
				found = append(found, turnFileLabel{i, f})
			}
		}
	}
	return found
}

// mentionsFile reports whether a word of the text names a file. Such a word is the file's name, or a path that ends
// with the file's name or leads to one of its parent directories. A word without a dot counts only if it is the whole
// name.
func mentionsFile(text, filePath string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/", r)
	})
	return slices.ContainsFunc(words, func(w string) bool {
		w = strings.TrimRight(w, "./-")
		return w == path.Base(filePath) || (w != "" && namesFileOrParentDir(w, filePath) && strings.Contains(w, "."))
	})
}
