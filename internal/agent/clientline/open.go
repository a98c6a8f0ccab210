// This file opens transcripts. Codex compresses its transcripts after a week by Zstandard.

package clientline

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Compressed is the suffix of the name of a compressed transcript.
const Compressed = ".zst"

// maxWindow is the maximum window size of a compressed transcript, in bytes.
const maxWindow = 128 << 20

// Transcript is an open transcript. If the file is compressed, Read and Seek work on the decompressed
// text.
type Transcript struct {
	file    *os.File
	decoder *zstd.Decoder // nil for a plain file
	offset  int64         // offset in the text, only set if the file is compressed
	size    int64         // size of the file in bytes
}

// Open opens a transcript. A file whose name ends in .zst is decompressed while it is read.
// The caller closes it.
func Open(path string) (*Transcript, error) {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	t := &Transcript{file: f, size: info.Size()}
	if strings.HasSuffix(path, Compressed) {
		t.decoder, err = zstd.NewReader(t.whole(), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	return t, nil
}

// whole returns a reader of the file from its beginning.
func (t *Transcript) whole() io.Reader { return io.NewSectionReader(t.file, 0, t.size) }

// Size returns the size of the text in bytes. It is not known if the file is compressed.
func (t *Transcript) Size() (size int64, isKnown bool) { return t.size, t.decoder == nil }

// Read reads the text from the current offset.
func (t *Transcript) Read(p []byte) (n int, err error) {
	if t.decoder == nil {
		return t.file.Read(p)
	}
	n, err = t.decoder.Read(p)
	t.offset += int64(n)
	return n, err
}

// Seek sets the offset of the next Read. In a compressed file, whence must be io.SeekStart,
// and all text before the offset is decompressed.
func (t *Transcript) Seek(offset int64, whence int) (int64, error) {
	if t.decoder == nil {
		return t.file.Seek(offset, whence)
	}
	if whence != io.SeekStart || offset < 0 {
		return t.offset, fmt.Errorf("seeking to %d from %d: %w", offset, whence, errors.ErrUnsupported)
	}
	if offset < t.offset {
		if err := t.decoder.Reset(t.whole()); err != nil {
			return t.offset, err
		}
		t.offset = 0
	}
	// Read advances the offset. A text that ends before the offset is an error.
	if _, err := io.CopyN(io.Discard, readOnly{t}, offset-t.offset); err != nil {
		return t.offset, fmt.Errorf("seeking to %d: %w", offset, err)
	}
	return t.offset, nil
}

// readOnly hides Seek from io.CopyN.
type readOnly struct{ io.Reader }

// Close closes the file.
func (t *Transcript) Close() error {
	if t.decoder != nil {
		t.decoder.Close()
	}
	return t.file.Close()
}
