// The plan of a run: what it is about to change, in a file until the state has it.
//
// The file is next to that of the state: lines of JSON, a header, which has the digest of
// all that follows, and each step. It has hashes alone, as the state has. A plan whose
// state is another by now, or that is torn, is none.

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

// planVersion is the version of the file.
//
//	1  2026-11: the first
const planVersion = 1

// planSuffix follows the name of the state's file.
const planSuffix = ".plan"

// plan is what a run is about to change, after a state.
type plan struct {
	home  oxbow.Position // when the run began
	pull  bool
	mark  mark
	steps []*planStep
}

// mark is that by which the changes of a pull are known in the home's history: those
// after a number, of a source and a note.
type mark struct {
	After   uint64 `json:"after,omitempty"`
	Session string `json:"session,omitempty"`
	Note    string `json:"note,omitempty"`
}

// planHeader is the first line.
type planHeader struct {
	Version int    `json:"oxbow_plan"`
	Base    []byte `json:"base,omitempty"` // the digest of the state; none where there was no file
	Salt    []byte `json:"salt"`
	Home    []byte `json:"home,omitempty"`
	Pull    bool   `json:"pull,omitempty"`
	Mark    mark   `json:"mark,omitzero"`
	Sum     []byte `json:"sum"` // SHA-256 of all lines after this
}

// planStep is one step.
type planStep struct {
	Old    int     `json:"old,omitempty"`    // which record it replaces, from 1 up; 0 for none
	Name   string  `json:"name"`             // of the entry that is changed, as the step leaves it
	At     string  `json:"at,omitempty"`     // of a pull: the home's entry of the record
	Stay   bool    `json:"stay,omitempty"`   // of a pull: the home has more than the server
	Record *record `json:"record,omitempty"` // as the step leaves it; nil for none
}

// WritePlan writes, before a run changes anything, what it is about to change
// ([Options.Record]). If the run is killed before [State.Write], the next one has from
// the plan what this one did.
func (s *State) WritePlan(fsys vfs.FS, name string) error {
	if s.ahead {
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
	head, err := json.Marshal(planHeader{planVersion, s.base, s.salt, []byte(s.plan.home), s.plan.pull, s.plan.mark, sum[:]})
	if err == nil {
		err = vfs.WriteFile(fsys, name+planSuffix, slices.Concat(head, []byte("\n"), body.Bytes()), 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording what is to be changed: %w", err)
	}
	s.hasPlan = true
	return nil
}

// readPlan reads the plan that belongs to the state, if there is one.
func (s *State) readPlan(fsys vfs.FS, name string) error {
	b, err := vfs.ReadFile(fsys, name+planSuffix, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what is known of the server: %w", err)
	}
	s.hasPlan = true
	if h, p := parsePlan(b, len(s.records)); p != nil && bytes.Equal(h.Base, s.base) && (len(s.salt) == 0 || bytes.Equal(h.Salt, s.salt)) {
		s.salt = h.Salt
		s.plan = p
		s.ahead = true
	}
	return nil
}

// parsePlan reads a plan over a state of so many records; nil is none.
func parsePlan(b []byte, records int) (planHeader, *plan) {
	line, rest, _ := bytes.Cut(b, []byte("\n"))
	var h planHeader
	if sum := sha256.Sum256(rest); json.Unmarshal(line, &h) != nil || h.Version != planVersion || len(h.Salt) == 0 || !bytes.Equal(sum[:], h.Sum) {
		return h, nil
	}
	p := &plan{home: oxbow.Position(h.Home), pull: h.Pull, mark: h.Mark}
	used := map[int]bool{}
	for l := range bytes.Lines(rest) {
		var st planStep
		if json.Unmarshal(l, &st) != nil || st.Old < 0 || st.Old > records || (st.Old > 0 && used[st.Old]) || (st.Old == 0 && st.Record == nil) {
			return h, nil
		}
		used[st.Old] = true
		p.steps = append(p.steps, &st)
	}
	return h, p
}
