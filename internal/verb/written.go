// This file implements the list of texts that oxbow's own tools have written into the home's files. A session may
// overwrite such a text without having read it, because nothing that a person or an agent wrote is lost then.

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

// WrittenTexts lists the texts that tools have written in a home (the directory of a memory), and the lines of these
// texts. The list is stored as a file of hashes. It is used in a home without a history. A text is not in the list if
// somebody else has written one of its lines or aliases. Therefore a tool never overwrites a person's text.
//
// Errors of the file are ignored. If a text is missing in the list, the only effect is that tools cannot overwrite it,
// even though a tool wrote it. A nil list is empty. A WrittenTexts is safe for concurrent use.
type WrittenTexts struct {
	fs   vfs.FS
	path string

	mu sync.Mutex // lets only one goroutine of this process change the file
}

// WrittenTextsFileName is the name of the file that contains a [WrittenTexts]. It is next to the home's lock file.
const WrittenTextsFileName = ".oxbow-written"

// Each line in the file contains the first half of a SHA-256 hash in hexadecimal. Lines of another form are ignored.
// They may be mixtures that two processes have written at the same time.
const (
	entryHashBytes = 16 // number of bytes in each hash
	// number of bytes in each line, which contains two hexadecimal digits for each byte and a line break
	entryHashLineBytes     = 2*entryHashBytes + 1
	maxHashFileLines       = 30_000 // maximum number of lines; if there are more, the older half is dropped
	writtenHashesFileBytes = maxHashFileLines * entryHashLineBytes
)

// NewWrittenTexts returns the list of the texts that oxbow's tools have written. The argument path is the path of the
// list's file, which is read when it is needed.
func NewWrittenTexts(fsys vfs.FS, path string) *WrittenTexts {
	return &WrittenTexts{fs: fsys, path: path}
}

// HasEntry reports whether the list contains the text of an entry: its name, content and aliases. White space before
// and after the content is ignored.
func (w *WrittenTexts) HasEntry(e oxbow.Entry) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.readHashes(), hashEntry(e))
}

// RecordWrite adds an entry that a tool has written to the list. The argument oldEntry is the entry before the write
// (the zero entry if the entry is new), and newEntry is the entry after the write.
//
// RecordWrite adds a hash for each new line of the entry. It adds a hash of the whole entry only if tools have also
// written all lines and aliases that the entry had before and still has. If w is nil, RecordWrite does nothing.
func (w *WrittenTexts) RecordWrite(oldEntry, newEntry oxbow.Entry) {
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
	wasOwn := listed[hashEntry(oldEntry)]
	before := map[string]bool{}
	for _, line := range hashableLines(oldEntry) {
		before[line] = true
	}
	isOwn := wasOwn || !slices.ContainsFunc(newEntry.Aliases, func(alias string) bool {
		return slices.Contains(oldEntry.Aliases, alias)
	})
	var added []string
	for _, line := range hashableLines(newEntry) {
		hash := hashEntry(oxbow.Entry{Name: lineHashPrefix + newEntry.Name, Content: line})
		switch {
		case listed[hash]:
		case before[line] && !wasOwn:
			isOwn = false
		default:
			listed[hash] = true
			added = append(added, hash)
		}
	}
	if hash := hashEntry(newEntry); isOwn && !listed[hash] {
		added = append(added, hash)
	}
	if len(added) > 0 {
		w.appendHashes(hashes, added)
	}
}

// appendHashes appends newHashes to the file. The argument hashes contains the hashes that the file contains now. If
// the file would exceed maxHashFileLines lines, appendHashes writes the file anew with only the newest
// maxHashFileLines/2 hashes. Errors are ignored.
func (w *WrittenTexts) appendHashes(hashes, newHashes []string) {
	if len(hashes)+len(newHashes) > maxHashFileLines {
		all := append(hashes, newHashes...)
		all = all[len(all)-min(len(all), maxHashFileLines/2):]
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

// lineHashPrefix distinguishes a line's hash from a whole entry's hash. It is put before the entry's name when a line
// is hashed. The names of entries cannot contain it.
const lineHashPrefix = "\x01"

// hashableLines returns the lines of an entry's content without surrounding space. Blank lines are left out.
func hashableLines(e oxbow.Entry) (out []string) {
	for line := range strings.Lines(normalizeLineEnds(e.Content)) {
		line = strings.TrimSpace(line)
		if line != "" {
			out = append(out, line)
		}
	}
	return out
}

// readHashes returns all hashes in the file, the oldest first.
func (w *WrittenTexts) readHashes() []string {
	data, err := vfs.ReadFile(w.fs, w.path, 2*writtenHashesFileBytes)
	if err != nil {
		return nil
	}
	return parseHashes(string(data))
}

// parseHashes returns the hashes in the text of the file that lists written texts. It ignores lines of another form.
func parseHashes(text string) []string {
	var hashes []string
	for line := range strings.Lines(text) {
		if len(line) != entryHashLineBytes || line[entryHashLineBytes-1] != '\n' {
			continue
		}
		if _, err := hex.DecodeString(line[:entryHashLineBytes-1]); err == nil {
			hashes = append(hashes, line[:entryHashLineBytes-1])
		}
	}
	return hashes
}

// hashEntry returns a hash of an entry's name, aliases and content. The hash is the beginning of a SHA-256 hash in
// hexadecimal digits. It does not depend on the order of the aliases, on the kind of line ends, or on white space at
// the beginning and end of the content.
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
	return hex.EncodeToString(sum[:entryHashBytes])
}

// normalizeLineEnds returns the text with each \r\n replaced by \n. If the text is not empty and does not end with \n,
// it also appends \n.
func normalizeLineEnds(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
