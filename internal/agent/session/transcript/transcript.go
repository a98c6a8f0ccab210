// Reading the file in which a client keeps a session, as events.

// Package transcript reads what clients keep of their sessions on disk, and makes
// events of it: the same that their hooks report.
//
// A file is read from an offset to its end, line by line, in bounded memory. What is
// not known is passed over; a last line that is not whole yet is left for the next
// time.
package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow/internal/agent/clientline"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// ErrRead is matched by the errors of a [Reader]: the file could not be read.
var ErrRead = errors.New("reading the transcript")

var errUnknown = errors.New("the transcripts of this client are not known")

// readers are those of the clients that keep one JSON object a line.
var readers = map[string]func(*file) reader{
	"claude":  newClaude,
	"codex":   newCodex,
	"gemini":  newGemini,
	"copilot": newCopilot,
	"qwen":    newQwen,
}

// maxRead is how many bytes are read at a time, up to the end of the turn.
const maxRead = 8 << 20

// Reader returns a function that reads a transcript on: what it has after a
// cursor, which is "" at the start. It reads some megabytes, and at least a turn.
// The last turn is reported again when there is more of it. A cursor that is given
// back says that there is nothing more. Clean takes out of texts what may not be
// kept. Bad is called with the number of lines that cannot be read; nil for no
// calls.
func Reader(
	clean func(string) string,
	bad func(path string, lines int),
) func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
	return func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
		f := &file{client: client, path: path, clean: clean, most: maxRead}
		next, err := f.readFrom(ctx, cursor)
		if err != nil {
			return nil, cursor, fmt.Errorf("%w %s: %w", ErrRead, path, err)
		}
		if f.bad > 0 && bad != nil {
			bad(path, f.bad)
		}
		return f.events, next, nil
	}
}

// readFrom reads from a cursor, which has the offset of the last turn and the end of what
// was read before. It returns the next cursor.
func (f *file) readFrom(ctx context.Context, cursor string) (string, error) {
	in, err := clientline.Open(f.path)
	if err != nil {
		return cursor, err
	}
	defer in.Close()
	var from, end int64
	_, err = fmt.Sscanf(cursor, "%d %d", &from, &end)
	size, isKnown := in.Size()
	isShorter := isKnown && size < end
	if err != nil || from < 0 || end < from || isShorter {
		from, end = 0, -1 // there is no cursor, or it is one of another file
	}
	if isKnown && size == end {
		return cursor, nil
	}
	f.seen = end
	if err := f.read(ctx, in, from); err != nil {
		return cursor, err
	}
	next := fmt.Sprintf("%d %d", f.next, f.end)
	if !isKnown && next == cursor {
		f.events, f.bad = nil, 0 // only the end tells that nothing was added
	}
	return next, nil
}

// read collects the events of a file from an offset.
func (f *file) read(ctx context.Context, in io.ReadSeeker, from int64) error {
	f.from = from
	f.next = from
	f.end = from
	switch {
	case f.client == "opencode":
		return f.export(in)
	case f.client == "gemini" && isGeminiDocument(f.path):
		return f.geminiDocument(in)
	}
	newReader := readers[f.client]
	if newReader == nil {
		return errUnknown
	}
	r := newReader(f)
	if from > 0 { // the first line says of what session the file is
		if err := f.readLines(ctx, in, r, 0, 1); err != nil {
			return err
		}
		f.events = nil
		f.held = nil
		f.bad = 0
		f.next = from
	}
	err := f.readLines(ctx, in, r, from, 0)
	f.release()
	return err
}

// readLines gives the reader the lines from an offset: as many, or all when most
// is 0.
func (f *file) readLines(ctx context.Context, in io.ReadSeeker, r reader, at int64, most int) error {
	if _, err := in.Seek(at, io.SeekStart); err != nil {
		return err
	}
	br := bufio.NewReaderSize(in, 1<<18)
	for n := 0; !f.full && (most == 0 || n < most); {
		b, size, err := clientline.Next(br)
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF && !bytes.HasSuffix(b, []byte("\n")) && size <= clientline.Max && !json.Valid(b) {
			return nil // it is still being written
		}
		if f.give(r, b, size, at) {
			n++
		}
		at += size
		f.end = at
		if err == io.EOF {
			return nil
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// give gives a line to the reader, and returns false for one that is empty.
func (f *file) give(r reader, b []byte, size, at int64) bool {
	b = bytes.TrimPrefix(bytes.TrimSpace(b), []byte("\ufeff"))
	if len(b) == 0 && size <= clientline.Max {
		return false
	}
	if (size > clientline.Max || !r.line(b, at)) && at >= f.seen {
		f.bad++
	}
	return true
}
