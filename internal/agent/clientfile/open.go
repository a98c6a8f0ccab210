// This file opens transcripts. A transcript may be compressed: Codex compresses old transcripts by Zstandard, and
// people compress them by gzip. Chat exports are ZIP archives.

package clientfile

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/oxbow-memory/oxbow/vfs"
)

// decompressorsBySuffix maps a file name suffix to the function that opens a reader for the decompressed text.
var decompressorsBySuffix = map[string]func(io.Reader) (io.ReadCloser, error){
	".zst": func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindowBytes))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	},
	".gz": func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
}

// TrimCompressedSuffix removes the suffix of a compressed file, such as .gz, from a path. It returns false if the path
// does not have such a suffix.
func TrimCompressedSuffix(path string) (plain string, isCompressed bool) {
	for suffix := range decompressorsBySuffix {
		if plain, ok := strings.CutSuffix(path, suffix); ok {
			return plain, true
		}
	}
	return path, false
}

// IsTranscript reports whether a path has the name of a transcript. This is *.jsonl, session-*.json for Gemini CLI up
// to version 0.38, or rollout-*.json for Codex up to May 2025. A suffix for compression may follow.
func IsTranscript(path string) bool {
	path, _ = TrimCompressedSuffix(path)
	base := filepath.Base(path)
	isDocument := strings.HasPrefix(base, "session-") || strings.HasPrefix(base, "rollout-")
	return strings.HasSuffix(path, ".jsonl") || (isDocument && strings.HasSuffix(path, ".json"))
}

// maxZstdWindowBytes is the maximum window size of a compressed transcript, in bytes.
const maxZstdWindowBytes = 128 << 20

// ArchiveSuffix is the file name suffix of a ZIP archive. A file inside an archive has a path that
// consists of the archive's path, a slash, and the file's name.
const ArchiveSuffix = ".zip"

// Transcript is an open transcript. For a compressed file, Read and Seek use the decompressed text.
type Transcript struct {
	file *os.File
	size int64 // size of the decompressed transcript in bytes (-1 if it is not known yet)

	// openTextReader opens a new reader for the text, from its beginning. It is nil for a plain file, which is read
	// directly. The fields below are then not used.
	openTextReader func() (io.ReadCloser, error)
	textReader     io.ReadCloser
	offset         int64 // position of the next Read in the text
}

// Open opens a transcript. The path may also name a file in a ZIP archive or a session in a database. A compressed
// file is decompressed while it is read. The caller must close the transcript.
func Open(path string) (*Transcript, error) {
	if database, id := splitDatabasePath(path); id != "" {
		return openDatabaseSession(database, id)
	}
	if IsDatabase(path) {
		return nil, databaseError(path)
	}
	path, member := splitArchivePath(path)
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t := &Transcript{file: f, size: info.Size()}
	decompress := decompressorsBySuffix[filepath.Ext(path)]
	switch {
	case member != "":
		err = t.openArchiveMember(member)
	case filepath.Base(filepath.Dir(path)) == chatSessionsDir && strings.HasSuffix(path, ".jsonl"),
		filepath.Base(filepath.Dir(path)) == emptyWindowChatDir && strings.HasSuffix(path, ".jsonl"):
		err = t.replaceLogBySession()
	case decompress != nil:
		size := t.size
		t.size = -1
		t.openTextReader = func() (io.ReadCloser, error) { return decompress(io.NewSectionReader(f, 0, size)) }
	case isOpencodeSessionFile(path):
		err = t.replaceByStoredSession(path)
	}
	if err == nil && t.openTextReader != nil {
		t.textReader, err = t.openTextReader()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// These directories contain logs of changes, in which VS Code stores its chats.
const (
	chatSessionsDir    = "chatSessions"
	emptyWindowChatDir = "emptyWindowChatSessions"
)

// replaceLogBySession makes the transcript return the session that a change log describes, instead of the log.
func (t *Transcript) replaceLogBySession() error {
	b, err := readDocument(t.file)
	if err == nil {
		b, err = replayChangeLog(b)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.file.Name(), err)
	}
	t.replaceText(b)
	return nil
}

// replaceByStoredSession replaces the transcript's text by a whole opencode session. The file at the path only
// describes the session, and the messages are in other files. The new text has the form in which the command opencode
// export writes a session.
func (t *Transcript) replaceByStoredSession(path string) error {
	b, err := readStoredSession(path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	t.replaceText(b)
	return nil
}

// openDatabaseSession opens one session of a database.
func openDatabaseSession(database, id string) (*Transcript, error) {
	b, err := readDatabaseSession(database, id)
	if err != nil {
		return nil, err
	}
	f, err := vfs.OpenRegular(database)
	if err != nil {
		return nil, err
	}
	t := &Transcript{file: f}
	t.replaceText(b)
	t.textReader, _ = t.openTextReader()
	return t, nil
}

// replaceText makes Read return b instead of the file's content.
func (t *Transcript) replaceText(b []byte) {
	t.size = int64(len(b))
	t.openTextReader = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
}

// splitArchivePath divides a path into a ZIP archive's path and the name of a file in the archive. member is "" if the
// path does not lead into an archive.
func splitArchivePath(path string) (archive, member string) {
	slashed := filepath.ToSlash(path)
	i := strings.Index(strings.ToLower(slashed), ArchiveSuffix+"/")
	if i < 0 {
		return path, ""
	}
	archive = filepath.FromSlash(slashed[:i+len(ArchiveSuffix)])
	if info, err := os.Stat(archive); err != nil || info.IsDir() {
		return path, ""
	}
	return archive, slashed[i+len(ArchiveSuffix)+1:]
}

// ListArchiveMembers returns the paths of all files in a ZIP archive. [Open] accepts these paths.
func ListArchiveMembers(archive string) ([]string, error) {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", archive, err)
	}
	defer r.Close()
	var all []string
	for _, m := range r.File {
		if !m.FileInfo().IsDir() {
			all = append(all, archive+"/"+m.Name)
		}
	}
	return all, nil
}

// openArchiveMember makes the transcript return the text of the file with this name in the ZIP archive t.file. If there
// is no such file, the error matches fs.ErrNotExist.
func (t *Transcript) openArchiveMember(name string) error {
	r, err := zip.NewReader(t.file, t.size)
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.file.Name(), err)
	}
	for _, m := range r.File {
		if m.Name == name {
			t.size = int64(m.UncompressedSize64)
			t.openTextReader = m.Open
			return nil
		}
	}
	return fmt.Errorf("%s in %s: %w", name, t.file.Name(), fs.ErrNotExist)
}

// Size returns the size of the text in bytes. It is not known for .zst and .gz files.
func (t *Transcript) Size() (size int64, isKnown bool) { return t.size, t.size >= 0 }

// Read reads from the current offset of the text.
func (t *Transcript) Read(p []byte) (n int, err error) {
	if t.openTextReader == nil {
		return t.file.Read(p)
	}
	n, err = t.textReader.Read(p)
	t.offset += int64(n)
	return n, err
}

// Seek sets the offset of the next Read. For a compressed file, whence must be io.SeekStart, and Seek decompresses all
// text before the offset.
func (t *Transcript) Seek(offset int64, whence int) (int64, error) {
	if t.openTextReader == nil {
		return t.file.Seek(offset, whence)
	}
	if whence != io.SeekStart || offset < 0 {
		return t.offset, fmt.Errorf("seeking to %d from %d: %w", offset, whence, errors.ErrUnsupported)
	}
	if offset < t.offset {
		text, err := t.openTextReader()
		if err != nil {
			return t.offset, err
		}
		_ = t.textReader.Close() // Ignore the error: the file was only read.
		t.textReader = text
		t.offset = 0
	}
	// Read advances t.offset. It is an error if the text ends before the offset.
	if _, err := io.CopyN(io.Discard, readerWithoutSeek{t}, offset-t.offset); err != nil {
		return t.offset, fmt.Errorf("seeking to %d: %w", offset, err)
	}
	return t.offset, nil
}

// readerWithoutSeek is a reader that has only the method Read, even if the embedded Reader has further methods such as
// Seek.
type readerWithoutSeek struct{ io.Reader }

// Close closes the transcript and its file.
func (t *Transcript) Close() error {
	if t.textReader != nil {
		_ = t.textReader.Close() // Ignore the error: the file was only read.
	}
	return t.file.Close()
}
