// This file opens transcripts. Codex compresses its transcripts by Zstandard after a week, people compress old
// transcripts by gzip, and chat exports come in ZIP archives.

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

// decompressors contains the readers for compressed transcripts, by the file name's suffix.
var decompressors = map[string]func(io.Reader) (io.ReadCloser, error){
	".zst": func(r io.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	},
	".gz": func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
}

// TrimCompressedSuffix removes the suffix of a compressed file from a path. It returns false if the path has none.
func TrimCompressedSuffix(path string) (plain string, isCompressed bool) {
	for suffix := range decompressors {
		if plain, ok := strings.CutSuffix(path, suffix); ok {
			return plain, true
		}
	}
	return path, false
}

// IsTranscript reports whether a file has the name of a transcript: *.jsonl, or the session-*.json of Gemini CLI up to
// version 0.38 and rollout-*.json of Codex up to May 2025. Each may be compressed.
func IsTranscript(path string) bool {
	path, _ = TrimCompressedSuffix(path)
	base := filepath.Base(path)
	isDocument := strings.HasPrefix(base, "session-") || strings.HasPrefix(base, "rollout-")
	return strings.HasSuffix(path, ".jsonl") || (isDocument && strings.HasSuffix(path, ".json"))
}

// maxZstdWindow is the maximum window size of a compressed transcript, in bytes.
const maxZstdWindow = 128 << 20

// ArchiveSuffix is the file name suffix of a ZIP archive. A file inside an archive has a path that
// consists of the archive's path, a slash, and the file's name.
const ArchiveSuffix = ".zip"

// Transcript is an open transcript. If the file is compressed, Read and Seek work on the decompressed
// text.
type Transcript struct {
	file *os.File
	size int64 // size of the text in bytes (-1 if it is not known)

	// openText returns a new reader of the decompressed text. For a plain file, begin is nil, and all
	// following fields are unset.
	openText func() (io.ReadCloser, error)
	text     io.ReadCloser
	offset   int64 // offset in the text
}

// Open opens a transcript. A file whose name ends in .zst or .gz, or that is in a ZIP archive, is
// decompressed while it is read. The caller closes it.
func Open(path string) (*Transcript, error) {
	if database, id := splitDatabase(path); id != "" {
		return openSession(database, id)
	}
	if IsDatabase(path) {
		return nil, databaseError(path)
	}
	path, member := splitArchived(path)
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t := &Transcript{file: f, size: info.Size()}
	decompress := decompressors[filepath.Ext(path)]
	switch {
	case member != "":
		err = t.openMember(member)
	case filepath.Base(filepath.Dir(path)) == changeLogDir && strings.HasSuffix(path, ".jsonl"),
		filepath.Base(filepath.Dir(path)) == emptyWindowDir && strings.HasSuffix(path, ".jsonl"):
		err = t.replaceChangeLog()
	case decompress != nil:
		size := t.size
		t.size = -1
		t.openText = func() (io.ReadCloser, error) { return decompress(io.NewSectionReader(f, 0, size)) }
	case isOpencodeSession(path):
		err = t.openStoredSession(path)
	}
	if err == nil && t.openText != nil {
		t.text, err = t.openText()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// Directories in which VS Code stores logs of changes.
const (
	changeLogDir   = "chatSessions"
	emptyWindowDir = "emptyWindowChatSessions"
)

// replaceChangeLog replaces a log of changes by the document that they lead to.
func (t *Transcript) replaceChangeLog() error {
	b, err := readDocument(t.file)
	if err == nil {
		b, err = replayChangeLog(b)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.file.Name(), err)
	}
	t.setText(b)
	return nil
}

// openStoredSession replaces the description of an opencode session by the document that the command opencode
// export writes.
func (t *Transcript) openStoredSession(path string) error {
	b, err := readStoredSession(path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	t.setText(b)
	return nil
}

// openSession opens a session of a database.
func openSession(database, id string) (*Transcript, error) {
	b, err := readDatabaseSession(database, id)
	if err != nil {
		return nil, err
	}
	f, err := vfs.OpenRegular(database)
	if err != nil {
		return nil, err
	}
	t := &Transcript{file: f}
	t.setText(b)
	t.text, _ = t.openText()
	return t, nil
}

// setText sets the text that Read returns instead of the file's.
func (t *Transcript) setText(b []byte) {
	t.size = int64(len(b))
	t.openText = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
}

// splitArchived divides a path into a ZIP archive and the file in it. member is "" for other
// paths.
func splitArchived(path string) (archive, member string) {
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

// ArchiveMembers returns the paths of the files in a ZIP archive, in a form that [Open] opens.
func ArchiveMembers(archive string) ([]string, error) {
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

func (t *Transcript) openMember(name string) error {
	r, err := zip.NewReader(t.file, t.size)
	if err != nil {
		return fmt.Errorf("reading %s: %w", t.file.Name(), err)
	}
	for _, m := range r.File {
		if m.Name == name {
			t.size = int64(m.UncompressedSize64)
			t.openText = m.Open
			return nil
		}
	}
	return fmt.Errorf("%s in %s: %w", name, t.file.Name(), fs.ErrNotExist)
}

// Size returns the size of the text in bytes. It is not known for .zst and .gz files.
func (t *Transcript) Size() (size int64, isKnown bool) { return t.size, t.size >= 0 }

// Read reads the text from the current offset.
func (t *Transcript) Read(p []byte) (n int, err error) {
	if t.openText == nil {
		return t.file.Read(p)
	}
	n, err = t.text.Read(p)
	t.offset += int64(n)
	return n, err
}

// Seek sets the offset of the next Read. In a compressed file, whence must be io.SeekStart,
// and all text before the offset is decompressed.
func (t *Transcript) Seek(offset int64, whence int) (int64, error) {
	if t.openText == nil {
		return t.file.Seek(offset, whence)
	}
	if whence != io.SeekStart || offset < 0 {
		return t.offset, fmt.Errorf("seeking to %d from %d: %w", offset, whence, errors.ErrUnsupported)
	}
	if offset < t.offset {
		text, err := t.openText()
		if err != nil {
			return t.offset, err
		}
		_ = t.text.Close() // ignore the error: the file was only read
		t.text = text
		t.offset = 0
	}
	// Read advances the offset. A text that ends before the offset is an error.
	if _, err := io.CopyN(io.Discard, readerOnly{t}, offset-t.offset); err != nil {
		return t.offset, fmt.Errorf("seeking to %d: %w", offset, err)
	}
	return t.offset, nil
}

// readerOnly hides Seek from io.CopyN.
type readerOnly struct{ io.Reader }

// Close closes the file.
func (t *Transcript) Close() error {
	if t.text != nil {
		_ = t.text.Close() // ignore the error: the file was only read
	}
	return t.file.Close()
}
