// This file stores the state of a reconciliation: the entries that both sides had at the last synchronization.
//
// The file has JSON lines: a header with a digest of all other lines, and a record for each entry. It contains only
// salted hashes of contents, aliases and labels. Therefore no copy of a text remains here after the text is redacted in
// the memory. If the file is torn, at most the header is used. Without records, the two sides are merged as in a first
// synchronization, and everything is kept.

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

// maxStateFileBytes is the maximum size, in bytes, of the file with the facts that a home remembers about a server.
const maxStateFileBytes = 1 << 30

// State contains the facts that a home remembers about a server. The zero State belongs to a server with which the
// home was never synchronized.
type State struct {
	URL string

	salt []byte
	// the sync records include the server's changes up to this position ("" if it is unknown)
	serverPosition oxbow.Position
	// position in the home's history at the last synchronization ("" if it is unknown)
	homeHistoryPosition      oxbow.Position
	lastPullChangeNumbers    []uint64       // numbers of the changes that the last pull made in the home
	serverPositionBeforePull oxbow.Position // value of serverPosition before the last pull
	records                  []*syncRecord

	fileHeaderDigest []byte // digest of the header in the state file (nil if the file is missing)
	// This State contains the results of a pull or push that was killed before it wrote them to the state file. They
	// are not in the state file yet.
	hasUnsavedRunResults bool
	// changes that this run is about to make, or that a killed run was about to make
	plan *unfinishedRunPlan
	// a plan file, which lists the changes of an unfinished pull or push, exists
	hasPlan bool
}

// stateFileHeader is the first line of a state file.
type stateFileHeader struct {
	Version                  int      `json:"oxbow_remote"`
	URL                      string   `json:"url"`
	Salt                     []byte   `json:"salt,omitempty"`
	ServerHistoryPosition    []byte   `json:"server,omitempty"`
	HomeHistoryPosition      []byte   `json:"home,omitempty"`
	Pulls                    []uint64 `json:"pulls,omitempty"`
	ServerPositionBeforePull []byte   `json:"before,omitempty"`
	Checksum                 []byte   `json:"sum"` // SHA-256 of all lines of the state file after the header
}

// syncRecord describes an entry as it was at the last synchronization.
type syncRecord struct {
	ID      uint64 `json:"id,omitempty"`      // ID that the entry has on the server (0 if it is not known yet)
	Version uint64 `json:"version,omitempty"` // number of the version on the server (0 if it is not known yet)
	// time at which the server wrote the version with the number Version, in nanoseconds since 1970
	UpdatedNanoseconds int64                `json:"updated,omitempty"`
	ServerEntry        entryVersionIdentity `json:"server"`
	HomeEntry          entryVersionIdentity `json:"home"`

	// Hashes of the content, aliases and labels that the entry had on the server. Merges are based on them.
	Content string   `json:"content"`
	Aliases []string `json:"aliases,omitempty"`
	Labels  []string `json:"labels,omitempty"`

	WasPulled bool `json:"pulled,omitempty"` // the last pull wrote this entry
	// the record about the entry before the last pull (nil if there was no record)
	RecordBeforePull *syncRecord `json:"before,omitempty"`
	// The last pull removed the entry from the home. The record is kept because somebody may undo the pull.
	WasRemoved bool `json:"gone,omitempty"`
}

// entryVersionIdentity identifies an entry, and the version that the entry had in the home or on the server at the last
// synchronization.
type entryVersionIdentity struct {
	EntryName          string     `json:"name"`
	Kind               oxbow.Kind `json:"kind,omitempty"`
	CreatedNanoseconds int64      `json:"created"` // in nanoseconds since 1970
	// hash of the whole entry, or "" if the entry contains changes that the opposite side (the server or the home) does
	// not have yet
	EntryHash string `json:"hash,omitempty"`
}

// undoPull restores the records as they were before the last pull. It is called if somebody has undone that pull.
func (s *State) undoPull() {
	var all []*syncRecord
	for _, r := range s.records {
		if r.WasPulled {
			r = r.RecordBeforePull
		}
		if r != nil {
			all = append(all, r)
		}
	}
	s.records = all
	s.serverPosition = s.serverPositionBeforePull
	s.lastPullChangeNumbers = nil
	s.serverPositionBeforePull = ""
	s.hasUnsavedRunResults = true
}

// saltedHash returns a hash of the salt and the parts. The division of a text into parts affects the hash.
func (s *State) saltedHash(parts ...string) string {
	h := sha256.New()
	h.Write(s.salt)
	for _, p := range parts {
		fmt.Fprintf(h, "%d ", len(p))
		_, _ = io.WriteString(h, p) // writing to a hash never fails
	}
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil)[:12])
}

func (s *State) saltedHashes(texts []string) (out []string) {
	for _, v := range texts {
		out = append(out, s.saltedHash(v))
	}
	return out
}

// entryHash returns a hash of an entry's parts that are synchronized. Labels that a server stamps on an entry are left
// out, because the home and the server set such labels independently.
func (s *State) entryHash(e *oxbow.Entry) string {
	aliases := slices.Sorted(slices.Values(e.Aliases))
	labels := labelTexts(withoutServerStamps(e.Labels))
	return s.saltedHash(slices.Concat(
		[]string{e.Name, e.Kind.String(), e.Content, fmt.Sprint(len(aliases))},
		aliases,
		labels,
	)...)
}

func (s *State) identify(e *oxbow.Entry) entryVersionIdentity {
	return entryVersionIdentity{e.Name, e.Kind, e.Created.UnixNano(), s.entryHash(e)}
}

// newPairRecord returns a record about an entry that exists on the server and in the home. If the home's entry contains
// changes that the server lacks, the caller must pass nil for homeEntry. Then the field HomeEntry of the record is
// empty.
func (s *State) newPairRecord(serverEntry, homeEntry *oxbow.Entry) *syncRecord {
	r := &syncRecord{
		ID:                 serverEntry.ID,
		Version:            serverEntry.Version,
		UpdatedNanoseconds: serverEntry.Updated.UnixNano(),
		ServerEntry:        s.identify(serverEntry),
		Content:            s.saltedHash(serverEntry.Content),
		Aliases: s.saltedHashes(
			serverEntry.Aliases,
		),
		Labels: s.saltedHashes(labelTexts(withoutServerStamps(serverEntry.Labels))),
	}
	if homeEntry != nil {
		r.HomeEntry = s.identify(homeEntry)
	}
	return r
}

func labelTexts(ls []oxbow.Label) (out []string) {
	for _, l := range ls {
		out = append(out, l.String())
	}
	return out
}

// ReadState reads the state from the file name. If a killed run has left a plan, ReadState also reads the plan. If the
// file does not exist, it returns the zero State.
//
// If the file is damaged or incomplete, ReadState ignores the records in the file. The State then contains the URL from
// the file's header, or no URL if the header is damaged, too. If a later version of oxbow wrote the file, the error
// matches [oxbow.ErrVersion].
func ReadState(fsys vfs.FS, name string) (*State, error) {
	s := &State{}
	b, err := vfs.ReadFile(fsys, name, maxStateFileBytes)
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
	var h stateFileHeader
	if err := json.Unmarshal(line, &h); err != nil {
		return &State{fileHeaderDigest: headerDigest(line)}, nil
	}
	if h.Version > stateVersion {
		return nil, fmt.Errorf(
			"%w: what is known of the server was written by a later version of oxbow (%d)",
			oxbow.ErrVersion,
			h.Version,
		)
	}
	s := &State{URL: h.URL, fileHeaderDigest: headerDigest(line)}
	if h.Version != stateVersion || len(h.Salt) == 0 {
		return s, nil
	}
	if sum := sha256.Sum256(rest); !bytes.Equal(sum[:], h.Checksum) {
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
	s.serverPosition = oxbow.Position(h.ServerHistoryPosition)
	s.homeHistoryPosition = oxbow.Position(h.HomeHistoryPosition)
	s.lastPullChangeNumbers = h.Pulls
	s.records = records
	s.serverPositionBeforePull = oxbow.Position(h.ServerPositionBeforePull)
	return s, nil
}

// headerDigest returns the SHA-256 digest of a file's header line. The header contains the digest of all other lines,
// so the result changes if any line of the file changes.
func headerDigest(line []byte) []byte {
	sum := sha256.Sum256(line)
	return sum[:]
}

// Write replaces the state file atomically. It also deletes the plan file, which lists the changes of a pull or push.
// If some of these changes may still arrive at the server, it rewrites the plan file instead.
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
	if err := fsys.Remove(name + planFileSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
		stateFileHeader{
			stateVersion,
			s.URL,
			s.salt,
			[]byte(s.serverPosition),
			[]byte(s.homeHistoryPosition),
			s.lastPullChangeNumbers,
			[]byte(s.serverPositionBeforePull),
			sum[:],
		},
	)
	if err == nil {
		err = vfs.WriteFile(fsys, name, slices.Concat(head, []byte("\n"), body.Bytes()), 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording what is known of the server: %w", err)
	}
	s.fileHeaderDigest, s.hasUnsavedRunResults = headerDigest(head), false
	return nil
}

// withoutServerStamps returns the labels that are not stamps. Stamps are labels with which programs describe a text,
// such as a verification mark. The home and the server set them independently, so they are not synchronized.
func withoutServerStamps(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), isServerStampLabel)
}

func keepServerStampLabels(ls []oxbow.Label) []oxbow.Label {
	return slices.DeleteFunc(slices.Clone(ls), func(l oxbow.Label) bool { return !isServerStampLabel(l) })
}

func isServerStampLabel(l oxbow.Label) bool {
	return l.IsPersonal() || l.Key == oxbow.LabelVerified || l.Key == oxbow.LabelApproved ||
		l.Key == oxbow.LabelTextBy || slices.Contains(oxbow.Unasked.HeldLabels(), l.Key)
}

// StateFile returns the name of the file that contains the state for a server. It is next to the memory's file.
func StateFile(memoryFileName, url string) string {
	sum := sha256.Sum256([]byte(url))
	return fmt.Sprintf("%s%s%x", memoryFileName, stateFileInfix, sum[:6])
}

const stateFileInfix = ".remote-"

// ReadStates returns the state for each server with which a memory was synchronized.
func ReadStates(fsys vfs.FS, memoryFileName string) (all []*State, err error) {
	files, err := fsys.ReadDir(".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files {
		if name := f.Name(); strings.HasPrefix(name, memoryFileName+stateFileInfix) {
			s, err := ReadState(fsys, name)
			if err != nil {
				return nil, err
			}
			if StateFile(memoryFileName, s.URL) == name {
				all = append(all, s)
			}
		}
	}
	return all, err
}
