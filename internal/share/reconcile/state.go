// The state of a reconciliation: what both sides had when they last met, in a file.
//
// The file is lines of JSON: a header, which has the digest of all that follows, and a
// record for each entry. Of contents, aliases and labels it has salted hashes alone, so
// that what is redacted in a memory is nowhere else. A file that is torn keeps its header
// at best; two sides without records are merged as if they had never met, in which
// nothing is lost.

package reconcile

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// stateVersion is the version of the file.
//
//	1  2026-11: the first
const stateVersion = 1

// maxState bounds, in bytes, the file that is read.
const maxState = 1 << 30

// State is what is known of a server. The zero value is that of one that was never met.
type State struct {
	URL string

	salt    []byte
	server  oxbow.Position // up to which all of the server is in the records; "" for none
	home    oxbow.Position // when both met last; "" for none
	pulls   []uint64       // the changes of the home that the last pull made
	before  oxbow.Position // server, before that pull
	records []*record

	base    []byte // digest of the file; nil where there is none
	ahead   bool   // it has what the file lacks, before a run changes anything
	plan    *plan  // what a run is about to change, or was when it was killed
	hasPlan bool   // there is a file of a plan
}

// header is the first line.
type header struct {
	Version int      `json:"oxbow_remote"`
	URL     string   `json:"url"`
	Salt    []byte   `json:"salt,omitempty"`
	Server  []byte   `json:"server,omitempty"`
	Home    []byte   `json:"home,omitempty"`
	Pulls   []uint64 `json:"pulls,omitempty"`
	Before  []byte   `json:"before,omitempty"`
	Sum     []byte   `json:"sum"` // SHA-256 of all lines after this
}

// record is an entry when both sides met last.
type record struct {
	ID      uint64 `json:"id,omitempty"`      // on the server, 0 where it is not known yet
	Version uint64 `json:"version,omitempty"` // on the server, 0 where it is not known yet
	Updated int64  `json:"updated,omitempty"` // when the server wrote that, nanoseconds since 1970
	Server  met    `json:"server"`
	Home    met    `json:"home"`

	// Of the server's version: what a merge begins with.
	Content string   `json:"content"`
	Aliases []string `json:"aliases,omitempty"`
	Labels  []string `json:"labels,omitempty"`

	Pulled bool    `json:"pulled,omitempty"` // by the last pull
	Before *record `json:"before,omitempty"` // that pull; nil where there was none
	Gone   bool    `json:"gone,omitempty"`   // that pull removed it: kept for what undo brings back
}

// met is an entry on one side.
type met struct {
	Name    string     `json:"name"`
	Kind    oxbow.Kind `json:"kind,omitempty"`
	Created int64      `json:"created"`        // nanoseconds since 1970
	Hash    string     `json:"hash,omitempty"` // of all of it; "" where the side has what the other lacks
}

// undo makes the state what it was before the last pull, which was taken back.
func (s *State) undo() {
	var all []*record
	for _, r := range s.records {
		if r.Pulled {
			r = r.Before
		}
		if r != nil {
			all = append(all, r)
		}
	}
	s.records = all
	s.server = s.before
	s.pulls = nil
	s.before = ""
	s.ahead = true
}

// hash returns a salted digest of texts.
func (s *State) hash(parts ...string) string {
	h := sha256.New()
	h.Write(s.salt)
	for _, p := range parts {
		fmt.Fprintf(h, "%d ", len(p))
		_, _ = io.WriteString(h, p) // which does not fail
	}
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil)[:12])
}

func (s *State) hashes(all []string) (out []string) {
	for _, v := range all {
		out = append(out, s.hash(v))
	}
	return out
}

// entryHash is the hash of what is reconciled of an entry: stamps are each side's own.
func (s *State) entryHash(e *oxbow.Entry) string {
	aliases := slices.Sorted(slices.Values(e.Aliases))
	labels := labelTexts(withoutStamps(e.Labels))
	return s.hash(slices.Concat([]string{e.Name, e.Kind.String(), e.Content, fmt.Sprint(len(aliases))}, aliases, labels)...)
}

func (s *State) met(e *oxbow.Entry) met {
	return met{e.Name, e.Kind, e.Created.UnixNano(), s.entryHash(e)}
}

// recordOf returns the record of an entry that both sides have. Home is nil where the
// home has more than the server.
func (s *State) recordOf(server, home *oxbow.Entry) *record {
	r := &record{ID: server.ID, Version: server.Version, Updated: server.Updated.UnixNano(), Server: s.met(server), Content: s.hash(server.Content),
		Aliases: s.hashes(server.Aliases), Labels: s.hashes(labelTexts(withoutStamps(server.Labels)))}
	if home != nil {
		r.Home = s.met(home)
	}
	return r
}

func labelTexts(ls []oxbow.Label) (out []string) {
	for _, l := range ls {
		out = append(out, l.String())
	}
	return out
}

// ReadState reads a state from a file, and the plan of a run that was killed. Of a torn
// file it has the header alone, if that can be read; of none it is the zero value. One
// that a later version wrote is [oxbow.ErrVersion].
func ReadState(fsys vfs.FS, name string) (*State, error) {
	s := &State{}
	b, err := vfs.ReadFile(fsys, name, maxState)
	if err == nil {
		s, err = parseState(b)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	} else {
		err = fmt.Errorf("reading what is known of the server: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return s, s.readPlan(fsys, name)
}

func parseState(b []byte) (*State, error) {
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	var h header
	if err := json.Unmarshal(line, &h); err != nil {
		return &State{base: digest(line)}, nil
	}
	if h.Version > stateVersion {
		return nil, fmt.Errorf("%w: what is known of the server was written by a later version of oxbow (%d)", oxbow.ErrVersion, h.Version)
	}
	s := &State{URL: h.URL, base: digest(line)}
	if sum := sha256.Sum256(rest); h.Version != stateVersion || !bytes.Equal(sum[:], h.Sum) || len(h.Salt) == 0 {
		return s, nil
	}
	var records []*record
	for l := range bytes.Lines(rest) {
		var r record
		if json.Unmarshal(l, &r) != nil {
			return s, nil
		}
		records = append(records, &r)
	}
	s.salt = h.Salt
	s.server = oxbow.Position(h.Server)
	s.home = oxbow.Position(h.Home)
	s.pulls = h.Pulls
	s.records = records
	s.before = oxbow.Position(h.Before)
	return s, nil
}

// digest is that of the first line, which has the digest of the others.
func digest(line []byte) []byte {
	sum := sha256.Sum256(line)
	return sum[:]
}

// Write replaces the file, which has all that the run did. After a crash it is the old or
// the new one.
func (s *State) Write(fsys vfs.FS, name string) error {
	if err := s.writeState(fsys, name); err != nil {
		return err
	}
	if s.plan != nil {
		return s.writePlan(fsys, name)
	}
	if !s.hasPlan {
		return nil
	}
	s.hasPlan = false
	if err := fsys.Remove(name + planSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("recording what is known of the server: %w", err)
	}
	return nil
}

func (s *State) writeState(fsys vfs.FS, name string) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	for _, r := range s.records {
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("recording what is known of the server: %w", err)
		}
	}
	sum := sha256.Sum256(body.Bytes())
	head, err := json.Marshal(header{stateVersion, s.URL, s.salt, []byte(s.server), []byte(s.home), s.pulls, []byte(s.before), sum[:]})
	if err == nil {
		err = vfs.WriteFile(fsys, name, slices.Concat(head, []byte("\n"), body.Bytes()), 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording what is known of the server: %w", err)
	}
	s.base, s.ahead = digest(head), false
	return nil
}

// withoutStamps returns labels without those that programs write of a text: of these,
// each side has its own.
func withoutStamps(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), isStamp)
}

func stampsOf(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), func(l oxbow.Label) bool { return !isStamp(l) })
}

func isStamp(l oxbow.Label) bool {
	return l.IsPersonal() || l.Key == oxbow.LabelVerified || l.Key == oxbow.LabelApproved || slices.Contains(oxbow.HeldLabels(), l.Key)
}

// FileOf returns the name of the file of a server, next to a memory's.
func FileOf(memory, url string) string {
	sum := sha256.Sum256([]byte(url))
	return fmt.Sprintf("%s%s%x", memory, fileInfix, sum[:6])
}

const fileInfix = ".remote-"

// Known returns the states of the servers that a memory met.
func Known(fsys vfs.FS, memory string) (all []*State, err error) {
	files, err := fsys.ReadDir(".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files {
		if name := f.Name(); strings.HasPrefix(name, memory+fileInfix) {
			s, err := ReadState(fsys, name)
			if err != nil {
				return nil, err
			}
			if FileOf(memory, s.URL) == name {
				all = append(all, s)
			}
		}
	}
	return all, err
}
