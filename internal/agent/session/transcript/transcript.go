// This file reads a client's transcript of a session as events.

// Package transcript converts the transcripts that clients store on disk into the same events that
// their hooks report.
//
// A file is read line by line from an offset to its end, in bounded memory. Unknown data is
// skipped. An incomplete last line is left for the next call.
package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// ErrRead is matched by the errors of a [Reader] that could not read the file.
var ErrRead = errors.New("reading the transcript")

var errUnknown = errors.New("the transcripts of this client are not known")

// Reasons why a line cannot be read.
const (
	notObject  = "it is not a JSON object of this client"
	tooLong    = "it is longer than 64 MB"
	isTorn     = "it is incomplete"
	afterJSON  = "text follows the JSON object"
	incomplete = "it is incomplete; import again when the client has written the rest"
)

// maxRead is the number of bytes after which reading stops at the next turn.
const maxRead = 8 << 20

// Reader returns a function that reads a transcript after a cursor, which is "" at the start. A call reads some
// megabytes, but at least a turn. If events were added to the previous call's last turn, it reports that turn again.
// If everything has been read, it returns the same cursor. The function clean is applied to texts and removes what
// must not be stored. The function unread is called with each line that cannot be read, and with an incomplete last
// line. If unread is nil, the client is assumed to be still writing, and a prompt at the end whose turn is not known
// yet is left for the next call.
func Reader(
	clean func(string) string,
	unread func(UnreadLine),
) func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
	return CountingReader(clean, unread, nil)
}

// CountingReader is like Reader. It also calls leftOut with the numbers of parts of conversations that are not kept.
// LeftOut may be nil.
func CountingReader(
	clean func(string) string,
	unread func(UnreadLine),
	leftOut func(LeftOutParts),
) func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
	return func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
		f := &file{client: client, path: path, clean: clean, most: maxRead, whole: unread != nil}
		next, err := f.readFrom(ctx, cursor)
		if err != nil {
			return nil, cursor, fmt.Errorf("%w %s: %w", ErrRead, path, err)
		}
		if unread != nil {
			for _, line := range f.bad {
				unread(line)
			}
		}
		if leftOut != nil {
			for kind, count := range f.left {
				leftOut(LeftOutParts{Kind: kind, Count: count})
			}
			for kind, count := range f.unknown {
				leftOut(LeftOutParts{Kind: kind, Count: count, IsUnknown: true})
			}
		}
		return f.events, next, nil
	}
}

// readFrom reads from a cursor, and returns the next cursor.
func (f *file) readFrom(ctx context.Context, cursor string) (string, error) {
	in, err := clientfile.Open(f.path)
	if err != nil {
		return cursor, err
	}
	defer in.Close()
	last := parseCursor(cursor)
	isSame, err := last.isOf(in)
	if err != nil {
		return cursor, err
	}
	if !isSame {
		last = readCursor{end: -1}
	}
	size, isKnown := in.Size()
	if isKnown && size == last.end {
		return cursor, nil
	}
	f.seen = last.end
	if err := f.readEvents(ctx, in, last.turn); err != nil {
		return cursor, err
	}
	next, err := readCursor{turn: f.next, end: f.end}.withSum(in)
	if err != nil {
		return cursor, err
	}
	if !isKnown && next.String() == cursor {
		// Without a size, only the end shows that nothing was added.
		f.events, f.bad = nil, nil
		f.left, f.unknown = nil, nil
	}
	return next.String(), nil
}

// readEvents collects the events of a file from an offset.
func (f *file) readEvents(ctx context.Context, in io.ReadSeeker, from int64) error {
	f.from = from
	f.next = from
	f.end = from
	if IsChatService(f.client) {
		return f.readConversationsOrRestart(ctx, in)
	}
	r := newEventReader(f)
	if r == nil {
		return errUnknown
	}
	if from > 0 { // the first line identifies the session
		if err := f.readLines(ctx, in, r, 0, 1); err != nil {
			return err
		}
		f.events = nil
		f.held = nil
		f.bad = nil
		f.next = from
	}
	err := f.readLines(ctx, in, r, from, 0)
	if f.whole && !f.full {
		r.end()
	}
	f.release()
	if err == nil && r.isOther() {
		return fmt.Errorf("it was written by %s, not by %s; name the client that wrote it", r.author, f.client)
	}
	return err
}

// readLines passes lines from offset on to the reader: maxLines lines, or all lines if maxLines is 0.
func (f *file) readLines(ctx context.Context, in io.ReadSeeker, r *eventReader, offset int64, maxLines int) error {
	if _, err := in.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	br := bufio.NewReaderSize(in, 1<<18)
	if offset == 0 && maxLines == 0 {
		document, lines, err := clientfile.ReadDocument(br)
		if err != nil {
			return err
		}
		if document != nil {
			f.end = int64(len(document))
			f.give(r, document, 0, 0)
			return nil
		}
		br = lines
	}
	for n := 0; !f.full && (maxLines == 0 || n < maxLines); {
		b, size, err := clientfile.Next(br)
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF && isIncomplete(b, size) {
			if f.whole && len(bytes.Trim(b, " \t\r\n\x00")) > 0 {
				f.addBad(offset, incomplete)
			}
			return nil // the line is still being written
		}
		if f.give(r, b, size, offset) {
			n++
		}
		offset += size
		f.end = offset
		if err == io.EOF {
			return nil
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// isIncomplete reports whether the last line of a file is still being written. A line that is too long is not regarded
// as incomplete, so that it is reported.
func isIncomplete(line []byte, size int64) bool {
	return size <= clientfile.Max && !bytes.HasSuffix(line, []byte("\n")) && !json.Valid(line)
}

// give passes a line to the reader. It returns false if the line is empty.
func (f *file) give(r *eventReader, b []byte, size, offset int64) bool {
	b = bytes.TrimPrefix(bytes.TrimSpace(b), []byte("\ufeff"))
	if len(b) == 0 && size <= clientfile.Max {
		return false
	}
	if size > clientfile.Max {
		f.addBad(offset, tooLong)
		return true
	}
	objects, rest := clientfile.SplitObjects(b)
	for i, object := range objects {
		if r.readLine(object, offset+int64(i)) {
			continue
		}
		f.addBad(offset, notObject)
		if last := clientfile.LastObject(object); last != nil && !json.Valid(object) {
			r.readLine(last, offset+int64(i))
		}
	}
	switch {
	case len(rest) > 0 && len(objects) > 0 && &rest[0] != &b[0]:
		f.addBad(offset, afterJSON)
	case len(rest) > 0:
		f.addBad(offset, isTorn)
	}
	return true
}
