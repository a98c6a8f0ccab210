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

// ErrReadTranscript is matched by the errors of a [NewReader] that could not read the file.
var ErrReadTranscript = errors.New("reading the transcript")

var errUnknownClient = errors.New("the transcripts of this client are not known")

// Reasons why a line cannot be read.
const (
	reasonNotObject     = "it is not a JSON object of this client"
	reasonTooLong       = "it is longer than 64 MB"
	reasonTorn          = "it is incomplete"
	reasonTextAfterJSON = "text follows the JSON object"
	reasonIncomplete    = "it is incomplete; import again when the client has written the rest"
)

// maxReadBytes is the number of bytes after which reading stops at the next turn.
const maxReadBytes = 8 << 20

// NewReader returns a function that reads a transcript after a cursor, which is "" at the start. A call reads some
// megabytes, but at least a turn. If events were added to the previous call's last turn, it reports that turn again.
// If everything has been read, it returns the same cursor. The function clean is applied to texts and removes what
// must not be stored. The function unread is called with each line that cannot be read, and with an incomplete last
// line. If unread is nil, the client is assumed to be still writing, and a prompt at the end whose turn is not known
// yet is left for the next call.
func NewReader(
	clean func(string) string,
	unread func(UnreadLine),
) func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
	return NewCountingReader(clean, unread, nil)
}

// NewCountingReader is like NewReader. It also calls leftOut with the numbers of parts of conversations that are not
// kept. leftOut may be nil.
func NewCountingReader(
	clean func(string) string,
	unread func(UnreadLine),
	leftOut func(LeftOutParts),
) func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
	return func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
		f := &transcriptFile{
			client:      client,
			path:        path,
			clean:       clean,
			maxBytes:    maxReadBytes,
			isFinalRead: unread != nil,
		}
		next, err := f.readFrom(ctx, cursor)
		if err != nil {
			return nil, cursor, fmt.Errorf("%w %s: %w", ErrReadTranscript, path, err)
		}
		if unread != nil {
			for _, line := range f.unreadLines {
				unread(line)
			}
		}
		if leftOut != nil {
			for kind, count := range f.leftOutCounts {
				leftOut(LeftOutParts{Kind: kind, Count: count})
			}
			for kind, count := range f.unknownCounts {
				leftOut(LeftOutParts{Kind: kind, Count: count, IsUnknown: true})
			}
		}
		return f.events, next, nil
	}
}

// readFrom reads from a cursor, and returns the next cursor.
func (f *transcriptFile) readFrom(ctx context.Context, cursor string) (string, error) {
	in, err := clientfile.Open(f.path)
	if err != nil {
		return cursor, err
	}
	defer in.Close()
	last := parseCursor(cursor)
	isSame, err := last.matchesText(in)
	if err != nil {
		return cursor, err
	}
	if !isSame {
		last = readPosition{endOffset: -1}
	}
	size, isKnown := in.Size()
	if isKnown && size == last.endOffset {
		return cursor, nil
	}
	f.countedOffset = last.endOffset
	if err := f.readEvents(ctx, in, last.turnOffset); err != nil {
		return cursor, err
	}
	next, err := readPosition{turnOffset: f.lastTurnOffset, endOffset: f.endOffset}.withChecksum(in)
	if err != nil {
		return cursor, err
	}
	if !isKnown && next.String() == cursor {
		// Without a size, only the end shows that nothing was added.
		f.events, f.unreadLines = nil, nil
		f.leftOutCounts, f.unknownCounts = nil, nil
	}
	return next.String(), nil
}

// readEvents collects the events of a file from an offset.
func (f *transcriptFile) readEvents(ctx context.Context, in io.ReadSeeker, from int64) error {
	f.startOffset = from
	f.lastTurnOffset = from
	f.endOffset = from
	if IsChatService(f.client) {
		return f.readConversationsOrRestart(ctx, in)
	}
	r := newEventReader(f)
	if r == nil {
		return errUnknownClient
	}
	if from > 0 { // the first line identifies the session
		before := lineRange{from: 0, until: from, most: 1}
		if r.client.NumbersLines {
			before.most = 0
		}
		if err := f.readLines(ctx, in, r, before); err != nil {
			return err
		}
		f.events = nil
		f.heldEvents = nil
		f.unreadLines = nil
		f.lastTurnOffset = from
	}
	err := f.readLines(ctx, in, r, lineRange{from: from})
	if f.isFinalRead && !f.hasReachedLimit {
		r.flushEvents()
	}
	f.releaseHeldEvents()
	if err == nil && r.isOfOtherClient() {
		return fmt.Errorf("it was written by %s, not by %s; name the client that wrote it", r.author, f.client)
	}
	return err
}

// lineRange is a range of lines: those that begin at the offset from or later, and before until (0 for the end of the
// file). At most the number of lines in most are read, or all if most is 0.
type lineRange struct {
	from, until int64
	most        int
}

// isWhole reports whether the range is the whole file.
func (l lineRange) isWhole() bool { return l == lineRange{} }

// contains reports whether the line at an offset is read after n lines.
func (l lineRange) contains(offset int64, n int) bool {
	return (l.until == 0 || offset < l.until) && (l.most == 0 || n < l.most)
}

// readLines passes lines to the reader.
func (f *transcriptFile) readLines(ctx context.Context, in io.ReadSeeker, r *eventReader, lines lineRange) error {
	offset := lines.from
	if _, err := in.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	br := bufio.NewReaderSize(in, 1<<18)
	if lines.isWhole() {
		document, rest, err := clientfile.ReadDocument(br)
		if err != nil {
			return err
		}
		if document != nil {
			f.endOffset = int64(len(document))
			f.passLine(r, document, 0, 0)
			return nil
		}
		br = rest
	}
	for n := 0; !f.hasReachedLimit && lines.contains(offset, n); {
		b, size, err := clientfile.NextLine(br)
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF && isIncomplete(b, size) {
			if f.isFinalRead && len(bytes.Trim(b, " \t\r\n\x00")) > 0 {
				f.addUnreadLine(offset, reasonIncomplete)
			}
			return nil // the line is still being written
		}
		if f.passLine(r, b, size, offset) {
			n++
		}
		offset += size
		f.endOffset = offset
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
	return size <= clientfile.MaxLineSize && !bytes.HasSuffix(line, []byte("\n")) && !json.Valid(line)
}

// passLine passes a line to the reader. It returns false if the line is empty.
func (f *transcriptFile) passLine(r *eventReader, b []byte, size, offset int64) bool {
	b = bytes.TrimPrefix(bytes.TrimSpace(b), []byte("\ufeff"))
	if len(b) == 0 && size <= clientfile.MaxLineSize {
		return false
	}
	if size > clientfile.MaxLineSize {
		f.addUnreadLine(offset, reasonTooLong)
		return true
	}
	objects, rest := clientfile.SplitObjects(b)
	for i, object := range objects {
		if r.readLine(object, offset+int64(i)) {
			continue
		}
		f.addUnreadLine(offset, reasonNotObject)
		if last := clientfile.LastObject(object); last != nil && !json.Valid(object) {
			r.readLine(last, offset+int64(i))
		}
	}
	switch {
	case len(rest) > 0 && len(objects) > 0 && &rest[0] != &b[0]:
		f.addUnreadLine(offset, reasonTextAfterJSON)
	case len(rest) > 0:
		f.addUnreadLine(offset, reasonTorn)
	}
	return true
}
