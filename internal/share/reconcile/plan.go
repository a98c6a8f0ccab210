// This file defines the plan of a run, which lists the changes that the run is about to make. The
// plan is stored in a file until the state file contains the results.
//
// The plan file is next to the state file. It has JSON lines: a header with a digest of all other lines, and a
// line for each step. Like the state file, it contains hashes but no texts. A plan is ignored if its file is
// torn, or if the state file has changed since.

package reconcile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// planVersion is the version of the plan file's format.
//
//	1  2026-11: the first version
const planVersion = 1

// planFileSuffix is appended to the state file's name to form the name of the plan file.
const planFileSuffix = ".plan"

// unfinishedRunPlan lists the changes that a pull or a push is about to make, and is stored in a file. If the process
// is killed, the next pull or push reads from this file which changes may have been made.
type unfinishedRunPlan struct {
	// position in the change history of the home (the memory on this computer) when the pull or push began
	homeHistoryPosition oxbow.Position
	isPull              bool
	pullIdentity        pullIdentity
	steps               []*planStep
}

// pullIdentity identifies the changes that a pull made in the home's history. These are the changes after
// LastChangeBeforePull whose session is PullSession and whose note is ChangeNotePrefix.
type pullIdentity struct {
	LastChangeBeforePull uint64 `json:"after,omitempty"`
	PullSession          string `json:"session,omitempty"`
	ChangeNotePrefix     string `json:"note,omitempty"`
}

// planHeader is the first line of a plan file, which lists the changes that a pull or push is about to make.
type planHeader struct {
	FormatVersion int `json:"oxbow_plan"`
	// digest of the state file for which the plan was made (empty if the state file did not exist)
	StateFileDigest     []byte       `json:"base,omitempty"`
	DigestSalt          []byte       `json:"salt"`
	HomeHistoryPosition []byte       `json:"home,omitempty"`
	IsPull              bool         `json:"pull,omitempty"`
	PullIdentity        pullIdentity `json:"mark,omitzero"`
	Checksum            []byte       `json:"sum"` // SHA-256 of all lines after the header
}

// planStep is one line of a plan file. It describes the planned change of one entry.
type planStep struct {
	// number of the sync record that the step replaces, counted from 1 (0 if the step creates a sync record)
	ReplacedSyncRecordNumber int    `json:"old,omitempty"`
	Name                     string `json:"name"` // name that the entry has after this planned change
	// for a pull: the name of the entry in the home (the memory on this computer) after the pull, as the sync record
	// will contain it
	EntryNameInHome string `json:"at,omitempty"`
	// for a pull: the home's entry will contain changes that are not on the server
	HasHomeChanges bool `json:"stay,omitempty"`
	// the record about the entry after the planned change (nil if the change deletes the record)
	Record *syncRecord `json:"record,omitempty"`
}

// WritePlan writes a file with the changes that a run is about to make. Call it from [Options.WritePlanFile], before
// the first change. If the run is killed before [State.Write], the next run reads the plan to find out which changes
// the killed run was making. If the state contains results of an earlier killed run that are not in the state file yet,
// WritePlan first writes the state.
func (s *State) WritePlan(fsys vfs.FS, name string) error {
	if s.hasUnsavedRunResults {
		if err := s.writeState(fsys, name); err != nil {
			return err
		}
	}
	return s.writePlan(fsys, name)
}

func (s *State) writePlan(fsys vfs.FS, name string) error {
	if s.plan == nil {
		return nil
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	for _, p := range s.plan.steps {
		if err := enc.Encode(p); err != nil {
			return fmt.Errorf("recording what is to be changed: %w", err)
		}
	}
	sum := sha256.Sum256(body.Bytes())
	head, err := json.Marshal(
		planHeader{planVersion, s.fileHeaderDigest, s.salt, []byte(s.plan.homeHistoryPosition), s.plan.isPull,
			s.plan.pullIdentity,
			sum[:]},
	)
	if err == nil {
		err = vfs.WriteFile(fsys, name+planFileSuffix, slices.Concat(head, []byte("\n"), body.Bytes()), 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording what is to be changed: %w", err)
	}
	s.hasPlan = true
	return nil
}

// readPlan reads the plan file that is stored next to the state file. If the plan was made for this state, readPlan
// stores it in s.plan. A plan that is invalid or was made for another state is ignored, but s.hasPlan is set. If the
// file does not exist, readPlan does nothing.
func (s *State) readPlan(fsys vfs.FS, name string) error {
	b, err := vfs.ReadFile(fsys, name+planFileSuffix, maxStateFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what is known of the server: %w", err)
	}
	s.hasPlan = true
	h, p := parsePlan(b, len(s.records))
	if p != nil && s.isPlanOfState(h) {
		s.salt = h.DigestSalt
		s.plan = p
		s.hasUnsavedRunResults = true
	}
	return nil
}

// isPlanOfState reports whether the plan with header h was made for this state.
func (s *State) isPlanOfState(h planHeader) bool {
	if !bytes.Equal(h.StateFileDigest, s.fileHeaderDigest) {
		return false
	}
	return len(s.salt) == 0 || bytes.Equal(h.DigestSalt, s.salt)
}

// parsePlan parses a plan for a state with the given number of records. The plan is nil if b is not a valid plan file.
func parsePlan(b []byte, recordCount int) (planHeader, *unfinishedRunPlan) {
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	var h planHeader
	if json.Unmarshal(line, &h) != nil || h.FormatVersion != planVersion {
		return h, nil
	}
	if sum := sha256.Sum256(rest); len(h.DigestSalt) == 0 || !bytes.Equal(sum[:], h.Checksum) {
		return h, nil
	}
	p := &unfinishedRunPlan{
		homeHistoryPosition: oxbow.Position(h.HomeHistoryPosition),
		isPull:              h.IsPull,
		pullIdentity:        h.PullIdentity,
	}
	used := map[int]bool{}
	for l := range bytes.Lines(rest) {
		var st planStep
		if json.Unmarshal(l, &st) != nil || !st.isValidInPlanFile(recordCount, used) {
			return h, nil
		}
		used[st.ReplacedSyncRecordNumber] = true
		p.steps = append(p.steps, &st)
	}
	return h, p
}

// isValidInPlanFile reports whether the step st can be part of a plan file. A step without ReplacedSyncRecordNumber
// must contain a new record. Any other step must replace an existing record, with a number from 1 to recordCount, that
// no earlier step in the file has replaced. The argument recordCount is the number of existing records. The map
// replacedRecordNumbers contains the numbers of the records that earlier steps have replaced.
func (st *planStep) isValidInPlanFile(recordCount int, replacedRecordNumbers map[int]bool) bool {
	if st.ReplacedSyncRecordNumber == 0 {
		return st.Record != nil
	}
	return st.ReplacedSyncRecordNumber > 0 && st.ReplacedSyncRecordNumber <= recordCount &&
		!replacedRecordNumbers[st.ReplacedSyncRecordNumber]
}
