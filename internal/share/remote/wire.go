// This file declares the JSON documents of requests and answers: entries, filters, changes and reports.

package remote

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// wireEntry is the JSON form of an [oxbow.Entry]. This type and the types below have the same fields in the same order
// as the original types, so that Go can convert them.
type wireEntry struct {
	ID      uint64        `json:"id"`
	Name    string        `json:"name"`
	Kind    oxbow.Kind    `json:"kind"`
	Content string        `json:"content"`
	Aliases []string      `json:"aliases,omitempty"`
	Labels  []oxbow.Label `json:"labels,omitempty"`
	Created time.Time     `json:"created,omitzero"`
	Updated time.Time     `json:"updated,omitzero"`
	Version uint64        `json:"version"`
	Source  oxbow.Source  `json:"source"`
}

func toWireEntry(e oxbow.Entry) *wireEntry {
	e.Created = text.ClampToJSONTime(e.Created)
	e.Updated = text.ClampToJSONTime(e.Updated)
	e.Source.Time = text.ClampToJSONTime(e.Source.Time)
	return (*wireEntry)(&e)
}

// wireFilter is the JSON form of an [oxbow.Filter].
type wireFilter struct {
	Terms  []wireTerm `json:"terms,omitempty"`
	After  time.Time  `json:"after,omitzero"`
	Before time.Time  `json:"before,omitzero"`
}

type wireTerm struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
	Not    bool     `json:"not,omitempty"`
}

// toWireFilter converts a filter. It leaves out values that are invalid UTF-8: no entry contains such a value, and JSON
// would change the value.
func toWireFilter(f oxbow.Filter) wireFilter {
	w := wireFilter{After: text.ClampToJSONTime(f.After), Before: text.ClampToJSONTime(f.Before)}
	for _, t := range f.Terms {
		t.Values = slices.DeleteFunc(slices.Clone(t.Values), func(v string) bool {
			return !utf8.ValidString(v) || !utf8.ValidString(t.Key)
		})
		w.Terms = append(w.Terms, wireTerm(t))
	}
	return w
}

func (w wireFilter) toFilter() oxbow.Filter {
	f := oxbow.Filter{After: w.After, Before: w.Before}
	for _, t := range w.Terms {
		f.Terms = append(f.Terms, oxbow.Term(t))
	}
	return f
}

// wireChange is the JSON form of an [oxbow.Change] without its versions, which follow on separate lines.
type wireChange struct {
	Seq          uint64       `json:"seq"`
	Hash         string       `json:"hash,omitempty"`
	Time         time.Time    `json:"time"`
	Source       oxbow.Source `json:"source"`
	Note         string       `json:"note,omitempty"`
	Reverts      []uint64     `json:"reverts,omitempty"`
	VersionCount int          `json:"versions"`
}

func toWireChange(c oxbow.Change) *wireChange {
	return &wireChange{c.Seq, c.Hash, text.ClampToJSONTime(c.Time), c.Source, c.Note, c.Reverts, len(c.Versions)}
}

func (w *wireChange) toChange() oxbow.Change {
	return oxbow.Change{Seq: w.Seq, Hash: w.Hash, Time: w.Time, Source: w.Source, Note: w.Note, Reverts: w.Reverts}
}

// validVerbs lists the values that the field Verb of a version may have. The verb says how the version was made, for
// example by adding or updating an entry.
var validVerbs = []oxbow.Verb{oxbow.VerbAdd, oxbow.VerbUpdate, oxbow.VerbAlias, oxbow.VerbLabel, oxbow.VerbRemove,
	oxbow.VerbRestore}

// wireVersion is the JSON form of an [oxbow.Version].
type wireVersion struct {
	Seq    uint64       `json:"seq"`
	Prev   uint64       `json:"prev,omitempty"`
	Verb   oxbow.Verb   `json:"verb"`
	Entry  *wireEntry   `json:"entry"`
	Source oxbow.Source `json:"source"`
	Note   string       `json:"note,omitempty"`
	Erased bool         `json:"erased,omitempty"`
}

func toWireVersion(v oxbow.Version) *wireVersion {
	return &wireVersion{v.Seq, v.Prev, v.Verb, toWireEntry(v.Entry), v.Source, v.Note, v.Erased}
}

// toVersion converts w to a version. It returns false if w is invalid, that is, if w lacks an entry or has an unknown
// verb. A correct server never sends such a version.
func (w *wireVersion) toVersion() (oxbow.Version, bool) {
	if w.Entry == nil || !slices.Contains(validVerbs, w.Verb) {
		return oxbow.Version{}, false
	}
	return oxbow.Version{Seq: w.Seq, Prev: w.Prev, Verb: w.Verb, Entry: oxbow.Entry(*w.Entry), Source: w.Source,
		Note: w.Note, Erased: w.Erased}, true
}

// wireDelta is the JSON form of an [oxbow.Delta].
type wireDelta struct {
	ID    uint64     `json:"id"`
	Entry *wireEntry `json:"entry,omitempty"` // missing if the entry was removed
}

func toWireDelta(d oxbow.Delta) *wireDelta {
	if d.Entry == nil {
		return &wireDelta{ID: d.ID}
	}
	return &wireDelta{d.ID, toWireEntry(*d.Entry)}
}

// wireReport is the JSON form of an [oxbow.CheckReport].
type wireReport struct {
	Path     string        `json:"path"`
	Records  int           `json:"records"`
	Entries  int           `json:"entries"`
	Bytes    int64         `json:"bytes"`
	First    uint64        `json:"first"`
	Last     uint64        `json:"last"`
	Head     string        `json:"head"`
	Problems []wireProblem `json:"problems"`
}

type wireProblem struct {
	// byte offset of the problem in the store's file, or -1 if the problem does not concern a certain byte
	Offset int64  `json:"offset"`
	What   string `json:"what"`
	Mend   string `json:"mend,omitempty"`
}

func toWireReport(r oxbow.CheckReport) wireReport {
	w := wireReport{r.Path, r.Records, r.Entries, r.Bytes, r.First, r.Last, r.Head, nil}
	for _, p := range r.Problems {
		w.Problems = append(w.Problems, wireProblem(p))
	}
	return w
}

func (w *wireReport) toReport() oxbow.CheckReport {
	r := oxbow.CheckReport{Path: w.Path, Records: w.Records, Entries: w.Entries, Bytes: w.Bytes, First: w.First,
		Last: w.Last, Head: w.Head}
	for _, p := range w.Problems {
		r.Problems = append(r.Problems, oxbow.Problem(p))
	}
	return r
}

// wireStats is the JSON form of [oxbow.Stats].
type wireStats struct {
	Path    string `json:"path"`
	Entries int    `json:"entries"`
	Bytes   int64  `json:"bytes"`
	Used    int64  `json:"used"`
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	Head    string `json:"head"`
}

// JSON documents in the requests and answers between a client and a server.
type (
	wireStoreCapabilities struct {
		KeepsOpIDs bool `json:"op_ids"` // a change is not made again if an earlier change had the same op ID
	}
	wireEntriesRequest struct {
		Filter      wireFilter `json:"filter,omitzero"`
		AfterChange *uint64    `json:"at,omitempty"` // read the store in the state after the change with this number
	}
	wireChangeNumber struct {
		Seq uint64 `json:"seq"`
	}
	wirePosition struct {
		Position []byte `json:"position"`
	}
)
