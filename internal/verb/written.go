// This file implements the list of texts written by a home's tools. A session may overwrite
// these texts even if they were not shown to the session.

package verb

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Written lists the texts that a home's tools wrote, and the lines of these texts. It is stored as
// a file of hashes in a home without a history. A text is not listed if somebody else wrote one of
// its lines or aliases, so that a tool never overwrites a person's text unseen. Errors of the file are ignored, because
// a text that is missing from the list is merely protected more than necessary. A nil Written is empty.
// It is safe for concurrent use.
type Written struct {
	fs   vfs.FS
	path string

	mu sync.Mutex // guards the file within this process
}

// WrittenFile is the name of a [Written] file. It is next to the home's lock file.
const WrittenFile = ".oxbow-written"

// A line of the file is the first half of a SHA-256 hash in hexadecimal. Other lines are
// ignored, such as mixed lines that two processes wrote at the same time.
const (
	writtenHash  = 16                // bytes of a hash
	writtenLine  = 2*writtenHash + 1 // bytes of a line
	maxWritten   = 30_000            // with more lines, the older half is dropped
	writtenBytes = maxWritten * writtenLine
)

// NewWritten returns the list in the file at path.
func NewWritten(fsys vfs.FS, path string) *Written { return &Written{fs: fsys, path: path} }

// HasEntry reports whether the entry, with its name, content and aliases, is in the list. White space
// around the content is ignored.
func (w *Written) HasEntry(e oxbow.Entry) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.readHashes(), hashWritten(e))
}

// Record adds the text that a tool wrote, and the lines that the tool itself added. It does not add
// the text if a line or alias existed before and was not written by a tool. The argument was is the
// zero entry if the entry is new.
func (w *Written) Record(was, is oxbow.Entry) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	hashes := w.readHashes()
	listed := make(map[string]bool, len(hashes))
	for _, hash := range hashes {
		listed[hash] = true
	}
	wasOwn := listed[hashWritten(was)]
	before := map[string]bool{}
	for _, line := range textLines(was) {
		before[line] = true
	}
	isOwn := wasOwn || !slices.ContainsFunc(is.Aliases, func(alias string) bool {
		return slices.Contains(was.Aliases, alias)
	})
	var added []string
	for _, line := range textLines(is) {
		hash := hashWritten(oxbow.Entry{Name: lineKey + is.Name, Content: line})
		switch {
		case listed[hash]:
		case before[line] && !wasOwn:
			isOwn = false
		default:
			listed[hash] = true
			added = append(added, hash)
		}
	}
	if hash := hashWritten(is); isOwn && !listed[hash] {
		added = append(added, hash)
	}
	if len(added) > 0 {
		w.add(hashes, added)
	}
}

// add appends hashes to the file, whose current hashes are given.
func (w *Written) add(hashes, added []string) {
	if len(hashes)+len(added) > maxWritten {
		all := append(hashes, added...)
		all = all[len(all)-min(len(all), maxWritten/2):]
		_ = vfs.WriteFile(w.fs, w.path, []byte(strings.Join(all, "\n")+"\n"), 0o600)
		return
	}
	f, err := w.fs.OpenFile(w.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	_, _ = f.WriteAt([]byte(strings.Join(added, "\n")+"\n"), info.Size())
}

// lineKey is the prefix for an entry's name in the hash of a line. No real name contains
// it.
const lineKey = "\x01"

// textLines returns an entry's lines, except blank lines, without surrounding space.
func textLines(e oxbow.Entry) (out []string) {
	for line := range strings.Lines(normalLines(e.Content)) {
		line = strings.TrimSpace(line)
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

// readHashes returns the hashes in the file, oldest first.
func (w *Written) readHashes() []string {
	data, err := vfs.ReadFile(w.fs, w.path, 2*writtenBytes)
	if err != nil {
		return nil
	}
	return parseWritten(string(data))
}

// parseWritten returns the hashes in the text of the file.
func parseWritten(text string) []string {
	var hashes []string
	for line := range strings.Lines(text) {
		if len(line) != writtenLine || line[writtenLine-1] != '\n' {
			continue
		}
		if _, err := hex.DecodeString(line[:writtenLine-1]); err == nil {
			hashes = append(hashes, line[:writtenLine-1])
		}
	}
	return hashes
}

// hashWritten returns the hash of an entry's name, aliases and content.
func hashWritten(e oxbow.Entry) string {
	var b strings.Builder
	aliases := slices.Sorted(slices.Values(e.Aliases))
	for _, part := range append(
		[]string{"written 1", e.Name},
		append(aliases, strings.TrimSpace(normalLines(e.Content)))...,
	) {
		b.WriteString(strconv.Itoa(len(part)) + ":" + part)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:writtenHash])
}

// normalLines returns the text with \n at the end of each line.
func normalLines(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
