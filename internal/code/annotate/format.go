// This file encodes and decodes sidecars. docs/format.md describes the format for other programs.
//
// A sidecar is a UTF-8 text. Each line is a JSON object, ends with a line feed, and does not depend on other lines.
// Lines may be in any order and may be repeated. Therefore git's union merge, or a concatenation of two sidecars,
// results in a sidecar with both contents. There are three kinds of lines, distinguished by a key:
//
//	{"v":1,"id":"3f…","file":"a/b.go","lines":[42,60],"why":"…",…}   an annotation
//	{"v":1,"archive":"3f…","time":"2026-11-21T12:00:00Z"}            it is archived
//	{"v":1,"return":"3f…","time":"2026-11-22T09:00:00Z"}             it is back
//
// If [Store.GC] writes a line, the member "run" contains the name of this GC run. If [Store.UndoGC] writes a line to
// undo the run, the member "undo" contains the name of the undone run, and the member "run" contains a new name.
//
// If two annotations have the same ID, the annotation whose line sorts first counts, so that the order does not matter.
// If archive and return both exist, the later line counts. If the times are equal, return counts.
//
// Lines are only appended. If the last line lacks a line feed and cannot be read, it is an incomplete write and is
// ignored. The next append starts a new line. Any other line that cannot be read is reported as damaged, and the
// remaining lines are used. A line whose v is greater than 1 was written by a newer program. It is ignored and kept.

package annotate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// lineFormatVersion is the version of the line format that this program writes.
const lineFormatVersion = 1

// maxSidecarLineBytes is the maximum length of a sidecar's line, in bytes.
const maxSidecarLineBytes = 2 << 20

// sidecarLine is the JSON object in a line of a sidecar.
type sidecarLine struct {
	Version              int       `json:"v"`
	ID                   string    `json:"id,omitempty"`
	ArchivedAnnotationID string    `json:"archive,omitempty"`
	RestoredAnnotationID string    `json:"return,omitempty"`
	GCRunName            string    `json:"run,omitempty"`
	UndoneGCRunName      string    `json:"undo,omitempty"`
	File                 string    `json:"file,omitempty"`
	Lines                *[2]int   `json:"lines,omitempty"`
	Reasoning            string    `json:"why,omitempty"`
	RejectedAlternatives []string  `json:"rejected,omitempty"`
	Author               string    `json:"by,omitempty"`
	Agent                string    `json:"agent,omitempty"`
	Model                string    `json:"model,omitempty"`
	Session              string    `json:"session,omitempty"`
	Profile              string    `json:"profile,omitempty"`
	SourceRef            string    `json:"ref,omitempty"`
	Time                 time.Time `json:"time,omitzero"`
	Commit               string    `json:"commit,omitempty"`
	FileBlobName         string    `json:"blob,omitempty"`
	BlockHash            string    `json:"hash,omitempty"`
	LinesBefore          []string  `json:"before,omitempty"`
	BlockLines           []string  `json:"block,omitempty"`
	LinesAfter           []string  `json:"after,omitempty"`
	OmittedBlockLines    int       `json:"cut,omitempty"`
	EnclosingLines       []string  `json:"scope,omitempty"`
	// proof of who wrote the record; see [Store.FindUnreviewedAnnotations]
	MachineSignature string `json:"mark,omitempty"`
}

// archiveEvent records that an annotation was archived or restored.
type archiveEvent struct {
	recordID      string
	isRestoration bool
	time          time.Time
	// name of the GC or UndoGC run that archived or restored the annotation ("" if neither run did)
	gcRunName       string
	undoneGCRunName string // name of the GC run that this event undoes ("" if it undoes none)
}

// compare orders the events of an annotation by time. The last event in this order decides whether the annotation is
// archived. If two events have the same time, an event that restores the annotation comes after an event that archives
// it. Further ties are ordered by the record ID and the names of garbage collections.
func (e archiveEvent) compare(o archiveEvent) int {
	back := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(
		e.time.Compare(o.time),
		cmp.Compare(back(e.isRestoration), back(o.isRestoration)),
		cmp.Compare(e.recordID, o.recordID),
		cmp.Compare(e.gcRunName, o.gcRunName),
		cmp.Compare(e.undoneGCRunName, o.undoneGCRunName),
	)
}

// appendRecord appends the line of a record, including the line feed, to dst.
func appendRecord(dst []byte, r *Record) ([]byte, error) {
	return appendLine(
		dst,
		&sidecarLine{Version: lineFormatVersion, ID: r.ID, File: r.File, Lines: &[2]int{r.Span.First, r.Span.Last},
			Reasoning: r.Why, RejectedAlternatives: r.RejectedAlternatives, Author: string(r.Author), Agent: r.Agent,
			Model:     r.Model,
			Session:   r.Session,
			Profile:   r.Profile,
			SourceRef: r.SourceRef, Time: r.Time.UTC(), Commit: r.Commit, FileBlobName: r.FileBlobName,
			BlockHash:   r.BlockHash,
			LinesBefore: r.LinesBefore,
			BlockLines:  r.Block,
			LinesAfter:  r.LinesAfter, OmittedBlockLines: r.OmittedBlockLines, EnclosingLines: r.EnclosingLines,
			MachineSignature: r.MachineSignature},
	)
}

func (e archiveEvent) appendEvent(dst []byte) ([]byte, error) {
	l := &sidecarLine{
		Version:         lineFormatVersion,
		Time:            e.time.UTC(),
		GCRunName:       e.gcRunName,
		UndoneGCRunName: e.undoneGCRunName,
	}
	if e.isRestoration {
		l.RestoredAnnotationID = e.recordID
	} else {
		l.ArchivedAnnotationID = e.recordID
	}
	return appendLine(dst, l)
}

func appendLine(dst []byte, l *sidecarLine) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		return nil, fmt.Errorf("encoding an annotation: %w", err)
	}
	if b.Len() > maxSidecarLineBytes {
		return nil, &oxbow.InvalidError{
			Field:  "annotation",
			Reason: fmt.Sprintf("has %d bytes with its lines; the most is %d", b.Len(), maxSidecarLineBytes),
		}
	}
	return append(dst, b.Bytes()...), nil
}

var errConflictMark = errors.New("a conflict of a merge stands here; both sides are kept, remove the mark")

// parseSidecarLine parses a line, without its line feed. It returns a record or an event. The bool is true if a newer
// version wrote the line, which is then not parsed. For an empty line, all results are zero.
func parseSidecarLine(b []byte) (*Record, *archiveEvent, bool, error) {
	b = bytes.TrimSuffix(b, []byte{'\r'})
	if len(bytes.TrimSpace(b)) == 0 {
		return nil, nil, false, nil
	}
	for _, m := range []string{"<<<<<<< ", "=======", ">>>>>>> ", "||||||| "} {
		if bytes.HasPrefix(b, []byte(m)) {
			return nil, nil, false, errConflictMark
		}
	}
	if len(b) > maxSidecarLineBytes {
		return nil, nil, false, fmt.Errorf("it has %d bytes; the most is %d", len(b), maxSidecarLineBytes)
	}
	if !utf8.Valid(b) {
		return nil, nil, false, errors.New("it is not UTF-8")
	}
	var l sidecarLine
	if err := json.Unmarshal(b, &l); err != nil {
		// Parse only the version first, because a newer version may use other types.
		var v struct {
			V int `json:"v"`
		}
		if json.Unmarshal(b, &v) == nil && v.V > lineFormatVersion {
			return nil, nil, true, nil
		}
		return nil, nil, false, err
	}
	switch {
	case l.Version > lineFormatVersion:
		return nil, nil, true, nil
	case l.Version < 1:
		return nil, nil, false, errors.New("it has no version")
	}
	id := l.ID + l.ArchivedAnnotationID + l.RestoredAnnotationID
	isOnlyID := id == l.ID || id == l.ArchivedAnnotationID || id == l.RestoredAnnotationID
	if !isValidID(id) || !isOnlyID {
		return nil, nil, false, errors.New("it has not one id")
	}
	if l.ID == "" {
		if len(l.GCRunName) > maxFieldBytes || len(l.UndoneGCRunName) > maxFieldBytes {
			return nil, nil, false, fmt.Errorf("its run has more than %d bytes", maxFieldBytes)
		}
		return nil, &archiveEvent{
			recordID:        id,
			isRestoration:   l.RestoredAnnotationID != "",
			time:            l.Time,
			gcRunName:       l.GCRunName,
			undoneGCRunName: l.UndoneGCRunName,
		}, false, nil
	}
	r := &Record{
		ID: l.ID, File: l.File, Why: l.Reasoning, RejectedAlternatives: l.RejectedAlternatives,
		Author: oxbow.Actor(l.Author),
		Agent:  l.Agent, Model: l.Model, Session: l.Session, Profile: l.Profile, SourceRef: l.SourceRef, Time: l.Time,
		Commit: l.Commit, FileBlobName: l.FileBlobName, BlockHash: l.BlockHash, LinesBefore: l.LinesBefore,
		Block:             l.BlockLines,
		LinesAfter:        l.LinesAfter,
		OmittedBlockLines: l.OmittedBlockLines, EnclosingLines: l.EnclosingLines, MachineSignature: l.MachineSignature,
	}
	if l.Lines != nil {
		r.Span = LineSpan{l.Lines[0], l.Lines[1]}
	}
	if err := r.validate(); err != nil {
		return nil, nil, false, err
	}
	if s := r.Span; s != (LineSpan{}) && !s.isValidRange() {
		return nil, nil, false, errors.New("its lines are no range")
	}
	if !r.isWithinLimits() {
		return nil, nil, false, errors.New("its block is too long")
	}
	return r, nil, false, nil
}

// isValidRange reports whether the span is not empty and its line numbers are possible.
func (s LineSpan) isValidRange() bool { return s.Len() > 0 && s.Last <= 1<<30 }

// isWithinLimits reports whether the record's numbers of annotated lines and surrounding lines are within [Store.Add]'s
// limits. A record with more lines was not written by oxbow.
func (r *Record) isWithinLimits() bool {
	isBlockShort := r.OmittedBlockLines >= 0 && len(r.Block) <= maxStoredBlockLines
	isContextShort := len(r.LinesBefore) <= ContextLines && len(r.LinesAfter) <= ContextLines &&
		len(r.EnclosingLines) <= maxReturnedEnclosingLines
	return isBlockShort && isContextShort
}

// damagedLine is a line of a sidecar that cannot be read.
type damagedLine struct {
	line   int // line number, counted from 1
	offset int64
	err    error
}

// sidecar is the parsed content of a sidecar file, which contains the annotations of one source file.
type sidecar struct {
	records       []*Record      // sorted by time, then by ID; each ID occurs once
	archiveEvents []archiveEvent // sorted by time, without duplicates
	// for each ID, the event that decides whether the annotation is archived
	lastArchiveEventByID  map[string]archiveEvent
	newerFormatLineCount  int // number of lines that newer program versions wrote
	damagedLines          []damagedLine
	hasIncompleteLastLine bool // the last line is incomplete, because a write was interrupted
}

// parsedSidecarLine is a line of a sidecar with its parsed content: a record, an event, or an error.
type parsedSidecarLine struct {
	text               []byte
	record             *Record
	event              *archiveEvent
	isFromNewerVersion bool
	err                error
}

// minLinesPerGoroutine is the minimum number of lines for which parseLines starts a goroutine. Fewer lines are not
// worth a goroutine.
const minLinesPerGoroutine = 64

// parseLines parses the lines of a sidecar, which is a file with annotations. It uses several goroutines, because a
// program that looks up annotations has to wait until the sidecar is parsed.
func parseLines(data []byte) []parsedSidecarLine {
	var lines []parsedSidecarLine
	for rest := data; len(rest) > 0; {
		b, after, _ := bytes.Cut(rest, []byte{'\n'})
		lines = append(lines, parsedSidecarLine{text: b})
		rest = after
	}
	var wg sync.WaitGroup
	n := max(minLinesPerGoroutine, len(lines)/runtime.GOMAXPROCS(0)+1)
	for some := range slices.Chunk(lines, n) {
		wg.Go(func() {
			for i := range some {
				l := &some[i]
				l.record, l.event, l.isFromNewerVersion, l.err = parseSidecarLine(l.text)
			}
		})
	}
	wg.Wait()
	return lines
}

// parseSidecar parses the content of a sidecar. It never fails: the result lists the lines that cannot be read.
func parseSidecar(data []byte) *sidecar {
	s := &sidecar{lastArchiveEventByID: map[string]archiveEvent{}}
	byID := map[string]int{}
	raw := map[string][]byte{}
	lines := parseLines(data)
	at := int64(0)
	for n, l := range lines {
		b := l.text
		r := l.record
		e := l.event
		newer := l.isFromNewerVersion
		err := l.err
		whole := n < len(lines)-1 || data[len(data)-1] == '\n'
		from := at
		at += int64(len(b)) + 1
		switch {
		case err != nil && !whole:
			s.hasIncompleteLastLine = true
		case err != nil:
			s.damagedLines = append(s.damagedLines, damagedLine{n + 1, from, err})
		case newer:
			s.newerFormatLineCount++
		case e != nil:
			s.archiveEvents = append(s.archiveEvents, *e)
		case r != nil:
			i, ok := byID[r.ID]
			if !ok {
				byID[r.ID], raw[r.ID] = len(s.records), b
				s.records = append(s.records, r)
			} else if bytes.Compare(b, raw[r.ID]) < 0 {
				s.records[i], raw[r.ID] = r, b
			}
		}
	}
	slices.SortFunc(s.archiveEvents, archiveEvent.compare)
	s.archiveEvents = slices.CompactFunc(s.archiveEvents, func(a, b archiveEvent) bool { return a.compare(b) == 0 })
	for _, e := range s.archiveEvents {
		s.lastArchiveEventByID[e.recordID] = e
	}
	for id, e := range s.lastArchiveEventByID {
		if i, ok := byID[id]; ok {
			s.records[i].Archived = !e.isRestoration
		}
	}
	slices.SortFunc(s.records, func(a, b *Record) int {
		if c := a.Time.Compare(b.Time); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return s
}

// annotatedFileOf returns the source file to which the sidecar name belongs. If the name was shortened,
// annotatedFileOf uses the file in the newest annotation.
func annotatedFileOf(name string, s *sidecar) string {
	if file, ok := fileOfSidecarPath(name); ok || len(s.records) == 0 {
		return file
	}
	return s.records[len(s.records)-1].File
}
