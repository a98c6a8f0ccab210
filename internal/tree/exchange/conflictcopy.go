// This file recognizes conflict copies, which sync programs make if two devices changed the same file.

package exchange

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// conflictCopyPattern matches the names that sync programs give to a file's second version, without the
// ending:
//
//   - "Note (Pat's conflicted copy 2026-03-01)" of Dropbox, Nextcloud and Obsidian Sync, in the
//     languages of Dropbox
//   - "Note.sync-conflict-20260301-120000-ABCDEFG" of Syncthing
//   - "Note_conflict-20260301-120000" of ownCloud, "Note conflict 2026-03-01 12:00" of QOwnNotes
//   - "Note (SFConflict pat@example.org 2026-03-01-12-00-00)" of Seafile
//   - "Note (conflict)", "Note [conflicted]" of pCloud, "Note_DESKTOP_Mar-01_Conflict" of Synology
//   - "Note.conflict-1" of oxbow's own stores of Markdown files
var conflictCopyPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bconflict(?:ed|ing)? copy\b|\.sync-conflict-\d|\.conflict-\d+$` +
		`|[ _-]conflict[ _-]\d{4}-?\d{2}-?\d{2}|\((?:sf)?conflict(?:ed)?\b|\[conflict(?:ed)?\]|_conflict(?:ed)?(?:copy)?$` +
		`|in konflikt stehende kopie|konfliktkopie|copie en conflit|copie conflictuelle|copia en conflicto` +
		`|copia in conflitto|cópia em conflito|conflicterende kopie|конфликтующая копия|競合コピー|冲突副本|衝突複本`)
})

// isConflictCopy reports whether a file name, with or without its extension, is the name of a conflict copy.
func isConflictCopy(fileName string) bool {
	if !mayBeConflictCopy(fileName) {
		return false
	}
	fileName = strings.TrimSuffix(fileName, ".gz")
	return conflictCopyPattern().MatchString(strings.TrimSuffix(fileName, path.Ext(fileName)))
}

// mayBeConflictCopy is a fast test of a file name. If it returns false, the name does not match conflictCopyPattern.
// The test is used because matching the pattern takes longer than reading a short file. Every alternative of the
// pattern contains "onfli" or a character that is not ASCII, and mayBeConflictCopy searches for these.
func mayBeConflictCopy(fileName string) bool {
	for i := range len(fileName) {
		isStart := fileName[i]|0x20 == 'o' && len(fileName)-i >= len("onfli")
		if fileName[i] >= utf8.RuneSelf || (isStart && strings.EqualFold(fileName[i:i+len("onfli")], "onfli")) {
			return true
		}
	}
	return false
}
