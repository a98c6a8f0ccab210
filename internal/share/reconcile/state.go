// This file stores the state of a reconciliation: the entries that both sides had at the last
// synchronization.
//
// The file has JSON lines: a header with a digest of all other lines, and a record for each entry. It contains
// only salted hashes of contents, aliases and labels. Therefore no copy of a text remains here after the text
// is redacted in the memory. If the file is torn, at most the header is used. Without records, the two sides
// are merged as if they had never been synchronized, and nothing is lost.

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

// stateVersion is the version of the file format.
//
//	1  2026-11: the first version
const stateVersion = 1

// maxState is the maximum size of the file, in bytes.
const maxState = 1 << 30

// State contains the recorded data about a server. The zero State is for a server with which the
// home was never synchronized.
type State struct {
	URL string

	salt             []byte
	serverPosition   oxbow.Position // the records include the server's changes up to this position ("" if unknown)
	homePosition     oxbow.Position // position of the home at the last synchronization ("" if unknown)
	pullChanges      []uint64       // numbers of the home's changes that the last pull made
	serverBeforePull oxbow.Position // value of server before that pull
	records          []*syncRecord

	fileDigest        []byte   // digest of the file's header (nil if the file does not exist)
	hasUnsavedResults bool     // the state contains results of a killed run that are not in the state file yet
	plan              *runPlan // changes that this run, or a killed run, is about to make
	hasPlan           bool     // a plan file exists
}

// header is the first line of the file.
type header struct {
	Version          int      `json:"oxbow_remote"`
	URL              string   `json:"url"`
	Salt             []byte   `json:"salt,omitempty"`
	ServerPosition   []byte   `json:"server,omitempty"`
	HomePosition     []byte   `json:"home,omitempty"`
	Pulls            []uint64 `json:"pulls,omitempty"`
	ServerBeforePull []byte   `json:"before,omitempty"`
	Sum              []byte   `json:"sum"` // SHA-256 of all following lines
}

// syncRecord describes an entry at the time of the last synchronization.
type syncRecord struct {
	ID      uint64 `json:"id,omitempty"`      // ID on the server (0 if it is not known yet)
	Version uint64 `json:"version,omitempty"` // version on the server (0 if it is not known yet)
	// Time when the server wrote that version, in nanoseconds since 1970
	Updated int64         `json:"updated,omitempty"`
	Server  entryIdentity `json:"server"`
	Home    entryIdentity `json:"home"`

	// Hashes of the server's version, which is the merge base.
	Content string   `json:"content"`
	Aliases []string `json:"aliases,omitempty"`
	Labels  []string `json:"labels,omitempty"`

	WasPulled  bool        `json:"pulled,omitempty"` // the last pull wrote the entry
	BeforePull *syncRecord `json:"before,omitempty"` // record before that pull (nil if the entry was new)
	// That pull removed the entry. The record is kept in case the pull is undone.
	WasRemoved bool `json:"gone,omitempty"`
}

// entryIdentity identifies an entry and its version on one side.
type entryIdentity struct {
	Name    string     `json:"name"`
	Kind    oxbow.Kind `json:"kind,omitempty"`
	Created int64      `json:"created"` // nanoseconds since 1970
	// Hash of the whole entry, or "" if this side has changes that are not on the other side.
	Hash string `json:"hash,omitempty"`
}

// undoPull restores the records from the time before the last pull, because that pull was undone.
func (s *State) undoPull() {
	var all []*syncRecord
	for _, r := range s.records {
		if r.WasPulled {
			r = r.BeforePull
		}
		if r != nil {
			all = append(all, r)
		}
	}
	s.records = all
	s.serverPosition = s.serverBeforePull
	s.pullChanges = nil
	s.serverBeforePull = ""
	s.hasUnsavedResults = true
}

// saltedHash returns a salted digest of the parts. It depends on how the text is divided into parts.
func (s *State) saltedHash(parts ...string) string {
	h := sha256.New()
	h.Write(s.salt)
	for _, p := range parts {
		fmt.Fprintf(h, "%d ", len(p))
		_, _ = io.WriteString(h, p) // a hash never fails
	}
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil)[:12])
}

func (s *State) saltedHashes(all []string) (out []string) {
	for _, v := range all {
		out = append(out, s.saltedHash(v))
	}
	return out
}

// entryHash returns a hash of an entry's synchronized parts. It omits stamps, because the two sides
// set stamps independently.
func (s *State) entryHash(e *oxbow.Entry) string {
	aliases := slices.Sorted(slices.Values(e.Aliases))
	labels := labelTexts(withoutStamps(e.Labels))
	return s.saltedHash(slices.Concat(
		[]string{e.Name, e.Kind.String(), e.Content, fmt.Sprint(len(aliases))},
		aliases,
		labels,
	)...)
}

func (s *State) identify(e *oxbow.Entry) entryIdentity {
	return entryIdentity{e.Name, e.Kind, e.Created.UnixNano(), s.entryHash(e)}
}

// pairRecord returns the record of an entry that both sides have. home is nil if the home has
// changes that the server does not have.
func (s *State) pairRecord(server, home *oxbow.Entry) *syncRecord {
	r := &syncRecord{ID: server.ID, Version: server.Version, Updated: server.Updated.UnixNano(),
		Server:  s.identify(server),
		Content: s.saltedHash(server.Content),
		Aliases: s.saltedHashes(server.Aliases), Labels: s.saltedHashes(labelTexts(withoutStamps(server.Labels)))}
	if home != nil {
		r.Home = s.identify(home)
	}
	return r
}

func labelTexts(ls []oxbow.Label) (out []string) {
	for _, l := range ls {
		out = append(out, l.String())
	}
	return out
}

// ReadState reads a state from a file. If there is a plan file of a killed run, it also reads the
// plan. If the state file is torn, ReadState uses only the URL in the header, provided that the
// header can be read. If the file does not exist, it returns the zero State. If a later version of
// oxbow wrote the file, the error matches [oxbow.ErrVersion].
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
		return &State{fileDigest: headerDigest(line)}, nil
	}
	if h.Version > stateVersion {
		return nil, fmt.Errorf(
			"%w: what is known of the server was written by a later version of oxbow (%d)",
			oxbow.ErrVersion,
			h.Version,
		)
	}
	s := &State{URL: h.URL, fileDigest: headerDigest(line)}
	if h.Version != stateVersion || len(h.Salt) == 0 {
		return s, nil
	}
	if sum := sha256.Sum256(rest); !bytes.Equal(sum[:], h.Sum) {
		return s, nil
	}
	var records []*syncRecord
	for l := range bytes.Lines(rest) {
		var r syncRecord
		if json.Unmarshal(l, &r) != nil {
			return s, nil
		}
		records = append(records, &r)
	}
	s.salt = h.Salt
	s.serverPosition = oxbow.Position(h.ServerPosition)
	s.homePosition = oxbow.Position(h.HomePosition)
	s.pullChanges = h.Pulls
	s.records = records
	s.serverBeforePull = oxbow.Position(h.ServerBeforePull)
	return s, nil
}

// headerDigest returns the header line's digest. The header in turn contains the digest of all
// other lines.
func headerDigest(line []byte) []byte {
	sum := sha256.Sum256(line)
	return sum[:]
}

// Write replaces the state file atomically. It also deletes the plan file. If changes of the plan
// may still arrive at the server, it rewrites the plan file instead.
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
	head, err := json.Marshal(
		header{stateVersion, s.URL, s.salt, []byte(s.serverPosition), []byte(s.homePosition), s.pullChanges,
			[]byte(s.serverBeforePull), sum[:]},
	)
	if err == nil {
		err = vfs.WriteFile(fsys, name, slices.Concat(head, []byte("\n"), body.Bytes()), 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording what is known of the server: %w", err)
	}
	s.fileDigest, s.hasUnsavedResults = headerDigest(head), false
	return nil
}

// withoutStamps returns the labels without stamps. Stamps are labels with which programs describe a
// text. The two sides set stamps independently.
func withoutStamps(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), isStamp)
}

func onlyStamps(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), func(l oxbow.Label) bool { return !isStamp(l) })
}

func isStamp(l oxbow.Label) bool {
	return l.IsPersonal() || l.Key == oxbow.LabelVerified || l.Key == oxbow.LabelApproved ||
		l.Key == oxbow.LabelTextBy || slices.Contains(oxbow.Unasked.HeldLabels(), l.Key)
}

// StateFile returns the name of the state file for a server. The file is next to the memory's file.
func StateFile(memory, url string) string {
	sum := sha256.Sum256([]byte(url))
	return fmt.Sprintf("%s%s%x", memory, fileInfix, sum[:6])
}

const fileInfix = ".remote-"

// ReadStates returns the states of all servers with which a memory was synchronized.
func ReadStates(fsys vfs.FS, memory string) (all []*State, err error) {
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
			if StateFile(memory, s.URL) == name {
				all = append(all, s)
			}
		}
	}
	return all, err
}
