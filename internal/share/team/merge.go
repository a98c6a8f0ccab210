// This file implements git's merge driver for team files: it merges three versions of an entry by
// meaning.
//
// [threeway.MergeKeepingBoth] merges the entries. If both sides changed the same lines, both texts are kept in the
// entry. The two texts are not written to separate files, because git's interface lets a merge driver write only a
// single file. Another file would be untracked and missing from merge commits, would obstruct the next merge, and
// could not be written if git merges without a working tree.
//
// If the file was deleted on one side and changed on the opposite side, git reports a conflict that the user has to
// resolve. A file that is not a valid entry is merged by git line by line.

package team

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/threeway"
)

// Merge merges two versions of a file, ours and theirs. Both were made from base, which is "" if both files are new.
// Swapping ours and theirs does not change the result. If Merge returns an error, git must merge the file line by
// line, or a person must.
func Merge(base, ours, theirs string) (string, error) {
	if ours == theirs || theirs == base {
		return ours, nil
	}
	if ours == base {
		return theirs, nil
	}
	var o, a, b oxbow.Entry
	for _, side := range []struct {
		to         *oxbow.Entry
		what, text string
	}{{&o, "the base", base}, {&a, "our version", ours}, {&b, "their version", theirs}} {
		e, notes, err := parseEntry(side.text)
		if side.text == "" && side.what == "the base" {
			continue
		}
		if err == nil && len(notes) > 0 {
			err = errors.New(strings.Join(notes, "; "))
		}
		if err != nil {
			return "", fmt.Errorf("merging: %s %w", side.what, err)
		}
		*side.to = e
	}
	e, err := threeway.MergeKeepingBoth(&o, &a, &b)
	if err != nil {
		return "", fmt.Errorf("merging: %w", err)
	}
	text := FormatEntry(e)
	if _, _, err := parseEntry(text); err != nil {
		return "", fmt.Errorf("merging: the result %w", err)
	}
	return text, nil
}

// MergeFiles is like [Merge] for the paths of three files. It writes the result to the file ours. conflict is true if
// the versions could not be merged completely, so that both are kept.
func MergeFiles(base, ours, theirs string) (conflict bool, err error) {
	var texts [3]string
	for i, p := range []string{base, ours, theirs} {
		texts[i], err = readFile(p)
		if err != nil {
			return false, fmt.Errorf("merging: %w", err)
		}
	}
	merged, err := Merge(texts[0], texts[1], texts[2])
	if err != nil {
		return false, err
	}
	e, _, err := parseEntry(merged)
	_, conflict = e.Label(threeway.LabelConflict)
	if err != nil || merged == texts[1] {
		return conflict, wrapError("merging", err)
	}
	return conflict, wrapError("merging", replaceFile(filepath.Dir(ours), filepath.Base(ours), []byte(texts[1]),
		merged))
}
