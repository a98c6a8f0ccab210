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

// WrittenTexts lists the texts that a home's tools wrote, and the lines of these texts. It is stored as
// a file of hashes in a home without a history. A text is not listed if somebody else wrote one of
// its lines or aliases, so that a tool never overwrites a person's text unseen. Errors of the file are ignored, because
// a text that is missing from the list is merely protected more than necessary. A nil Written is empty.
// It is safe for concurrent use.
type WrittenTexts struct {
	fs   vfs.FS
	path string

	mu sync.Mutex // guards the file within this process
}

// WrittenFile is the name of the file of [WrittenTexts]. It is next to the home's lock file.
const WrittenFile = ".oxbow-written"

// A line of the file is the first half of a SHA-256 hash in hexadecimal. Other lines are
// ignored, such as mixed lines that two processes wrote at the same time.
const (
	hashBytes     = 16              // bytes of a hash
	hashLineBytes = 2*hashBytes + 1 // bytes of a line
	maxHashLines  = 30_000          // with more lines, the older half is dropped
	writtenBytes  = maxHashLines * hashLineBytes
)

// NewWrittenTexts returns the list in the file at path.
func NewWrittenTexts(fsys vfs.FS, path string) *WrittenTexts {
	return &WrittenTexts{fs: fsys, path: path}
}

// HasEntry reports whether the entry, with its name, content and aliases, is in the list. White space
// around the content is ignored.
func (w *WrittenTexts) HasEntry(e oxbow.Entry) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.readHashes(), hashEntry(e))
}

// RecordWrite adds the text that a tool wrote, and the lines that the tool itself added. It does not add
// the text if a line or alias existed before and was not written by a tool. The argument was is the
// zero entry if the entry is new.
func (w *WrittenTexts) RecordWrite(was, after oxbow.Entry) {
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
	wasOwn := listed[hashEntry(was)]
	before := map[string]bool{}
	for _, line := range entryLines(was) {
		before[line] = true
	}
	isOwn := wasOwn || !slices.ContainsFunc(after.Aliases, func(alias string) bool {
		return slices.Contains(was.Aliases, alias)
	})
	var added []string
	for _, line := range entryLines(after) {
		hash := hashEntry(oxbow.Entry{Name: linePrefix + after.Name, Content: line})
		switch {
		case listed[hash]:
		case before[line] && !wasOwn:
			isOwn = false
		default:
			listed[hash] = true
			added = append(added, hash)
		}
	}
	if hash := hashEntry(after); isOwn && !listed[hash] {
		added = append(added, hash)
	}
	if len(added) > 0 {
		w.appendHashes(hashes, added)
	}
}

// appendHashes appends hashes to the file, whose current hashes are given.
func (w *WrittenTexts) appendHashes(hashes, newHashes []string) {
	if len(hashes)+len(newHashes) > maxHashLines {
		all := append(hashes, newHashes...)
		all = all[len(all)-min(len(all), maxHashLines/2):]
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
	_, _ = f.WriteAt([]byte(strings.Join(newHashes, "\n")+"\n"), info.Size())
}

// linePrefix is the prefix for an entry's name in the hash of a line. No real name contains
// it.
const linePrefix = "\x01"

// entryLines returns an entry's lines, except blank lines, without surrounding space.
func entryLines(e oxbow.Entry) (out []string) {
	for line := range strings.Lines(normalizeLineEnds(e.Content)) {
		line = strings.TrimSpace(line)
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

// readHashes returns the hashes in the file, oldest first.
func (w *WrittenTexts) readHashes() []string {
	data, err := vfs.ReadFile(w.fs, w.path, 2*writtenBytes)
	if err != nil {
		return nil
	}
	return parseHashes(string(data))
}

// parseHashes returns the hashes in the text of the file.
func parseHashes(text string) []string {
	var hashes []string
	for line := range strings.Lines(text) {
		if len(line) != hashLineBytes || line[hashLineBytes-1] != '\n' {
			continue
		}
		if _, err := hex.DecodeString(line[:hashLineBytes-1]); err == nil {
			hashes = append(hashes, line[:hashLineBytes-1])
		}
	}
	return hashes
}

// hashEntry returns the hash of an entry's name, aliases and content.
func hashEntry(e oxbow.Entry) string {
	var b strings.Builder
	aliases := slices.Sorted(slices.Values(e.Aliases))
	for _, part := range append(
		[]string{"written 1", e.Name},
		append(aliases, strings.TrimSpace(normalizeLineEnds(e.Content)))...,
	) {
		b.WriteString(strconv.Itoa(len(part)) + ":" + part)
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:hashBytes])
}

// normalizeLineEnds returns the text with \n at the end of each line.
func normalizeLineEnds(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
