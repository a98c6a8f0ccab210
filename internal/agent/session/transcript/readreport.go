// This file reports the parts of transcripts that are not stored, and the places where the first such parts are.

package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Place is a place in a transcript.
type Place struct {
	// Path is the transcript's path. For a session in a database, it consists of the database's path, a slash and the
	// session's ID.
	Path string `json:"path"`

	// Line is the number of a line, where the first line has the number 1. It is 0 if the transcript is a JSON document
	// on several lines, or a session in a database.
	Line int `json:"line,omitempty"`

	// RecordName names a part of the line or the document: an element of a list, such as messages[3], or a conversation
	// of a chat service. It is "" if the line or the document has a single part.
	RecordName string `json:"record,omitempty"`
}

// String returns the place in one of these forms, depending on which fields are set:
//
//	PATH
//	PATH:LINE
//	PATH, RECORD
//	PATH:LINE, RECORD
//
// A record is, for example, messages[3].
func (p Place) String() string {
	s := p.Path
	if p.Line > 0 {
		s += ":" + strconv.Itoa(p.Line)
	}
	if p.RecordName != "" {
		s += ", " + p.RecordName
	}
	return s
}

// UnreadLine is a line of a transcript, or a record of a document, that cannot be read.
type UnreadLine struct {
	Place
	Offset int64  `json:"offset"` // offset at which the line begins
	Reason string `json:"reason"`
}

// String returns the place and the reason.
func (l UnreadLine) String() string {
	if l.Place.Line == 0 && l.Offset > 0 {
		return fmt.Sprintf("%s, byte %d: %s", l.Place, l.Offset, l.Reason)
	}
	return l.Place.String() + ": " + l.Reason
}

// UnknownPartPlace is a place with parts of the same kind that oxbow does not understand.
type UnknownPartPlace struct {
	Kind  string `json:"kind"`  // kind of transcript part, as a plural noun, such as: lines of the type "x"
	Count int    `json:"count"` // number of transcript parts of this kind at this place
	Place
}

// ReadReport reports the parts of transcripts that are not stored. It contains only the first places of each kind, so
// that its size is limited for any number of transcripts. The zero value reports nothing.
type ReadReport struct {
	BadLines      int          `json:"bad"`                 // number of lines that cannot be read
	FirstBadLines []UnreadLine `json:"bad_lines,omitempty"` // the first of these lines

	// LeftOutParts contains the number of transcript parts that oxbow deliberately does not store, by kind. A kind is
	// a plural noun, such as "tool results".
	LeftOutParts map[string]int `json:"left_out,omitempty"`

	// UnknownPartCounts contains the number of parts that oxbow does not understand, by kind. A newer version of the
	// client may have written them.
	UnknownPartCounts map[string]int `json:"unknown,omitempty"`
	// for each kind of transcript part in UnknownPartCounts, the first places where such parts were found
	UnknownPartPlaces []UnknownPartPlace `json:"unknown_places,omitempty"`

	lastBadLine  UnreadLine
	instructions []Instructions
}

// leftOutInstructions is the name for custom instructions in LeftOutParts, which counts the transcript parts that are
// not stored.
const leftOutInstructions = "custom instructions"

// Instructions is a text that a person has written for all conversations with a chat service.
type Instructions struct {
	IsAboutPerson bool // The text describes the person. Otherwise it says how the model should answer.
	Text          string
	Time          time.Time // time of the first conversation with this text (zero if it is unknown)
}

// TakeInstructions returns the custom instructions that were read, and removes them from the report, because the caller
// stores them. Instructions that no caller takes remain in the report as parts that are not stored.
func (r *ReadReport) TakeInstructions() []Instructions {
	found := r.instructions
	r.instructions = nil
	if len(found) > 0 {
		delete(r.LeftOutParts, leftOutInstructions)
	}
	return found
}

// These constants limit the size of a report.
const (
	maxListedBadLines    = 10
	maxPlacesPerPartKind = 3
	maxPartKinds         = 100 // maximum number of kinds. Parts of further kinds are counted as otherPartKinds.
	otherPartKinds       = "parts of other types"

	maxDescribedPartKinds = 10 // maximum number of kinds that DescribeUnknownParts describes
)

// IsEmpty reports whether nothing was left out.
func (r *ReadReport) IsEmpty() bool {
	return r.BadLines == 0 && len(r.LeftOutParts) == 0 && len(r.UnknownPartCounts) == 0
}

// HasProblems reports whether a line was unreadable, or a part was not understood.
func (r *ReadReport) HasProblems() bool { return r.BadLines > 0 || len(r.UnknownPartCounts) > 0 }

// addUnreadLine adds a line that cannot be read.
func (r *ReadReport) addUnreadLine(line UnreadLine) {
	r.BadLines++
	r.lastBadLine = line
	if len(r.FirstBadLines) < maxListedBadLines {
		r.FirstBadLines = append(r.FirstBadLines, line)
	}
}

// addLeftOutParts adds to the count of transcript parts that oxbow deliberately does not store.
func (r *ReadReport) addLeftOutParts(kind string, count int) {
	addPartCount(&r.LeftOutParts, kind, count)
}

// addUnknownParts adds parts that oxbow does not understand.
func (r *ReadReport) addUnknownParts(p UnknownPartPlace) {
	addPartCount(&r.UnknownPartCounts, p.Kind, p.Count)
	r.addUnknownPartPlace(p)
}

// addUnknownPartPlace records a place in the transcript where there are parts that oxbow does not understand. If
// r.UnknownPartPlaces already contains this place with the same kind, place.Count is added to the recorded count. At
// most maxPlacesPerPartKind places are recorded for each kind. The caller must first count the parts in
// r.UnknownPartCounts, because a kind without a count is recorded as otherPartKinds.
func (r *ReadReport) addUnknownPartPlace(place UnknownPartPlace) {
	if r.UnknownPartCounts[place.Kind] == 0 {
		place.Kind = otherPartKinds
	}
	placeCount := 0
	for i := range r.UnknownPartPlaces {
		known := &r.UnknownPartPlaces[i]
		if known.Kind != place.Kind {
			continue
		}
		if known.Place == place.Place {
			known.Count += place.Count
			return
		}
		placeCount++
	}
	if placeCount < maxPlacesPerPartKind {
		r.UnknownPartPlaces = append(r.UnknownPartPlaces, place)
	}
}

// addPartCount adds a number of parts to the parts of a kind. If there are too many kinds already, the parts are added
// to the kind otherPartKinds.
func addPartCount(counts *map[string]int, kind string, count int) {
	if *counts == nil {
		*counts = map[string]int{}
	}
	if (*counts)[kind] == 0 && len(*counts) >= maxPartKinds {
		kind = otherPartKinds
	}
	(*counts)[kind] += count
}

// Add adds the counts and lists of the report o to the report r. The report o may be about the next part of the same
// transcript. In this case, both reports may contain the same line, which was incomplete at the end of the previous
// part. Therefore Add counts the first bad line of o only once if it is equal to the last bad line of r.
func (r *ReadReport) Add(o ReadReport) {
	lines := o.FirstBadLines
	r.BadLines += o.BadLines
	if len(lines) > 0 && lines[0] == r.lastBadLine {
		lines = lines[1:]
		r.BadLines--
	}
	if o.BadLines > 0 {
		r.lastBadLine = o.lastBadLine
	}
	r.FirstBadLines = append(r.FirstBadLines, lines[:min(len(lines), maxListedBadLines-len(r.FirstBadLines))]...)
	for _, kind := range slices.Sorted(maps.Keys(o.LeftOutParts)) {
		r.addLeftOutParts(kind, o.LeftOutParts[kind])
	}
	for _, kind := range slices.Sorted(maps.Keys(o.UnknownPartCounts)) {
		addPartCount(&r.UnknownPartCounts, kind, o.UnknownPartCounts[kind])
	}
	for _, p := range o.UnknownPartPlaces {
		r.addUnknownPartPlace(p)
	}
}

// DescribeLeftOutParts returns a list with the kinds of transcript parts that oxbow deliberately does not store, each
// with its part count.
func (r *ReadReport) DescribeLeftOutParts() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r.LeftOutParts)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", kind, r.LeftOutParts[kind]))
	}
	return strings.Join(parts, ", ")
}

// DescribeUnknownParts returns a description of each kind of parts that oxbow does not understand, such as
//
//	lines of the type "x" (12): a.jsonl:3, a.jsonl:7, b.jsonl:1 and 9 more
//
// It describes at most maxDescribedPartKinds kinds. If there are more kinds, the last text says how many kinds were
// left out.
func (r *ReadReport) DescribeUnknownParts() []string {
	kinds := slices.Sorted(maps.Keys(r.UnknownPartCounts))
	var all []string
	for _, kind := range kinds[:min(len(kinds), maxDescribedPartKinds)] {
		var places []string
		rest := r.UnknownPartCounts[kind]
		for _, p := range r.UnknownPartPlaces {
			if p.Kind == kind {
				places = append(places, p.Place.String())
				rest -= p.Count
			}
		}
		text := fmt.Sprintf("%s (%d)", kind, r.UnknownPartCounts[kind])
		if len(places) > 0 {
			text += ": " + strings.Join(places, ", ")
			if rest > 0 {
				text += fmt.Sprintf(" and %d more", rest)
			}
		}
		all = append(all, text)
	}
	if rest := len(kinds) - len(all); rest > 0 {
		all = append(all, fmt.Sprintf("parts of %d more kinds", rest))
	}
	return all
}
