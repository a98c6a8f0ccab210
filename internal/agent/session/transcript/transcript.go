// This file reads a client's transcript as events of the archive.

// Package transcript converts the transcripts that clients store on disk to the events that the clients' hooks report.
//
// A file is read line by line, from an offset to its end, in bounded memory. Unknown data is skipped. An incomplete
// last line is left for the next call.
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

// ErrReadTranscript is matched by errors of a [NewReader] function that could not read the file.
var ErrReadTranscript = errors.New("reading the transcript")

var errUnknownClient = errors.New("the transcripts of this client are not known")

// These are the reasons why a line cannot be read.
const (
	reasonNotObject        = "it is not a JSON object of this client"
	reasonTooLong          = "it is longer than 64 MB"
	reasonTornLine         = "it is incomplete"
	reasonTextAfterJSON    = "text follows the JSON object"
	reasonIncompletePrompt = "it is incomplete; import again when the client has written the rest"
)

// maxReadBytes limits the number of transcript bytes that a call to the reader reads. After this many bytes, the call
// stops at the beginning of the next turn.
const maxReadBytes = 8 << 20

// NewReader returns a function that reads a transcript step by step. Each call of the function gets a cursor and
// returns the next cursor. A cursor is the position at which the previous call stopped ("" at the start). A call reads
// some megabytes, and more if the turn at the cursor is larger. If the last turn has grown since the previous call, the
// whole turn is returned again. At the end of the transcript, a call returns the same cursor again. Calls must not be
// concurrent.
//
// Each text is passed through the function cleanText, which removes what must not be stored, such as secrets. If some
// parts that were read are not returned, the function report is called with a description of these parts. The function
// report may be nil.
//
// The client may still be writing the transcript. Therefore an incomplete last line is left for the next call. A prompt
// at the end is also left for the next call if only the lines after it will show to which turn it belongs.
func NewReader(cleanText func(string) string, report func(ReadReport)) session.TranscriptReader {
	return newReader(transcriptFile{cleanText: cleanText}, report)
}

// NewFinishedTranscriptReader is like NewReader, but assumes that the client writes nothing more. It also reads the
// prompts that NewReader leaves for the next call, and reports an incomplete last line.
func NewFinishedTranscriptReader(cleanText func(string) string, report func(ReadReport)) session.TranscriptReader {
	return newReader(transcriptFile{cleanText: cleanText, isFinalRead: true}, report)
}

// newReader returns a function that reads the part of a transcript after a cursor, and returns its events and the next
// cursor. The argument file contains the options for reading. If report is not nil, the function calls report with the
// problems that it found in the transcript. Errors match ErrReadTranscript.
func newReader(file transcriptFile, report func(ReadReport)) session.TranscriptReader {
	var lines lineCounter
	file.maxBytes = maxReadBytes
	return func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
		f := file
		f.clientName, f.filePath = client, path
		next, err := f.readFrom(ctx, cursor, &lines)
		if err != nil {
			return nil, cursor, fmt.Errorf("%w %s: %w", ErrReadTranscript, path, err)
		}
		if report != nil && !f.report.IsEmpty() {
			report(f.report)
		}
		return f.events, next, nil
	}
}

// readFrom reads the part of the transcript after a cursor into f.events and f.report, and returns the next cursor. If
// there is nothing more to read, it returns the same cursor. counter counts the lines before this part, so that the
// report contains the line numbers of the whole file.
func (f *transcriptFile) readFrom(ctx context.Context, cursor string, counter *lineCounter) (string, error) {
	in, err := clientfile.Open(f.filePath)
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
		last = turnReadPosition{endOffset: -1}
	}
	size, isKnown := in.Size()
	if isKnown && size == last.endOffset {
		return cursor, nil
	}
	f.earlierReadEndOffset = last.endOffset
	if err := f.readEvents(ctx, in, last.turnOffset); err != nil {
		return cursor, err
	}
	next, err := turnReadPosition{turnOffset: f.lastTurnOffset, endOffset: f.endOffset}.withChecksum(in)
	if err != nil {
		return cursor, err
	}
	if !isKnown && next.String() == cursor {
		// The transcript's size is not known, so it was read to the end. The cursor is unchanged, so nothing was
		// added.
		f.events, f.report = nil, ReadReport{}
	}
	return next.String(), f.makeLineNumbersAbsolute(in, counter)
}

// readEvents reads the events of a file from an offset on.
func (f *transcriptFile) readEvents(ctx context.Context, in io.ReadSeeker, startOffset int64) error {
	f.startOffset = startOffset
	f.lastTurnOffset = startOffset
	f.endOffset = startOffset
	if IsChatService(f.clientName) {
		return f.readConversationsOrRestart(ctx, in)
	}
	r := newEventReader(f)
	if r == nil {
		return errUnknownClient
	}
	// Read line 1 again, because this line names the session. If event IDs contain line numbers, read all earlier lines
	// again (maxLines 0 means no limit), so that the line numbers are right.
	if startOffset > 0 {
		before := lineRange{firstOffset: 0, endOffset: startOffset, maxLines: 1}
		if r.client.HasLineBasedEventIDs {
			before.maxLines = 0
		}
		if err := f.readLines(ctx, in, r, before); err != nil {
			return err
		}
		f.events = nil
		f.possibleCopyEvents = nil
		f.report = ReadReport{}
		f.lastTurnOffset = startOffset
	}
	err := f.readLines(ctx, in, r, lineRange{firstOffset: startOffset})
	if f.isFinalRead && !f.hasReachedByteLimit {
		r.flushEvents()
	}
	f.flushPossibleCopyEvents()
	if err == nil && r.isOfOtherClient() {
		return fmt.Errorf(
			"it was written by %s, not by %s; name the client that wrote it",
			r.writingClient,
			f.clientName,
		)
	}
	return err
}

// lineRange selects lines in a file: the lines that begin at firstOffset or later, and before endOffset (0 means the
// end of the file). At most maxLines lines are read (0 means all).
type lineRange struct {
	firstOffset, endOffset int64
	maxLines               int
}

// isWholeFile reports whether the range contains all lines of the file.
func (l lineRange) isWholeFile() bool { return l == lineRange{} }

// includesLine reports whether the line at an offset belongs to the range, after readLineCount lines of the range were
// read.
func (l lineRange) includesLine(offset int64, readLineCount int) bool {
	return (l.endOffset == 0 || offset < l.endOffset) && (l.maxLines == 0 || readLineCount < l.maxLines)
}

// readLines passes the lines of a range to the reader, until the byte limit is reached.
func (f *transcriptFile) readLines(ctx context.Context, in io.ReadSeeker, r *eventReader, lines lineRange) error {
	offset := lines.firstOffset
	if _, err := in.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	br := bufio.NewReaderSize(in, 1<<18)
	f.lineNumber = 0
	if lines.isWholeFile() {
		document, rest, err := clientfile.ReadDocument(br)
		if err != nil {
			return err
		}
		if document != nil {
			f.endOffset = int64(len(document))
			f.passLineToReader(r, document, 0, 0)
			return nil
		}
		br = rest
	}
	for n := 0; !f.hasReachedByteLimit && lines.includesLine(offset, n); {
		f.lineNumber++
		b, size, err := clientfile.ReadNextLine(br)
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF && isIncompleteLine(b, size) {
			if f.isFinalRead && len(bytes.Trim(b, " \t\r\n\x00")) > 0 {
				f.addUnreadLine(offset, "", reasonIncompletePrompt)
			}
			return nil // Stop before this line, because the client is still writing it.
		}
		if f.passLineToReader(r, b, size, offset) {
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

// isIncompleteLine reports whether the last line of a file is still being written. A line above the maximum length does
// not count as incomplete, because the reader must report such a line as an error.
func isIncompleteLine(line []byte, lineSize int64) bool {
	return lineSize <= clientfile.MaxLineBytes && !bytes.HasSuffix(line, []byte("\n")) && !json.Valid(line)
}

// passLineToReader passes a line to the reader. It returns false if the line is empty. Otherwise it returns true,
// even if the line cannot be read.
func (f *transcriptFile) passLineToReader(r *eventReader, b []byte, size, offset int64) bool {
	b = bytes.TrimPrefix(bytes.TrimSpace(b), []byte("\ufeff"))
	if len(b) == 0 && size <= clientfile.MaxLineBytes {
		return false
	}
	if size > clientfile.MaxLineBytes {
		f.addUnreadLine(offset, "", reasonTooLong)
		return true
	}
	objects, rest := clientfile.SplitJSONObjects(b)
	for i, object := range objects {
		if r.readLine(object, offset+int64(i)) {
			continue
		}
		f.addUnreadLine(offset, "", reasonNotObject)
		if last := clientfile.LastJSONObject(object); last != nil && !json.Valid(object) {
			r.readLine(last, offset+int64(i))
		}
	}
	switch {
	case len(rest) > 0 && len(objects) > 0 && &rest[0] != &b[0]:
		f.addUnreadLine(offset, "", reasonTextAfterJSON)
	case len(rest) > 0:
		f.addUnreadLine(offset, "", reasonTornLine)
	}
	return true
}
