// This file finds the entries that agents edited. It reads the changes since the last search, and stores the result in
// a file next to the log.

// Package agentedit finds entries of persons that an agent edited: the agent changed or deleted a text that a person
// wrote, or changed labels that protect the entry. An entry is reported until the person accepts the change or
// restores the text.
package agentedit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

const (
	// changesBeforeSave is the number of new changes after which the search result is saved to the file. Until then,
	// each search reads these changes again.
	changesBeforeSave = 64
	// maxLookups is the maximum number of entries whose versions are read one entry at a time. If more entries are
	// undecided, the whole log is read instead.
	maxLookups = 64
	// maxChangesWithoutState is the maximum number of changes that a search reads if no earlier result was saved.
	maxChangesWithoutState = 2000
	// maxRenameSearch is the maximum number of changes that are read to find the new name of a deleted text. A text
	// counts as renamed if it was stored under the new name at most maxRenameDistance changes before the old entry was
	// deleted.
	maxRenameSearch   = 500
	maxRenameDistance = 8
	// maxVersions is the maximum number of versions that DescribeEdit reads of an entry.
	maxVersions = 10_000
)

// searchState is the result of a search. It is valid for the log up to the change with the number Seq.
type searchState struct {
	Seq   uint64   `json:"seq"`
	Hash  string   `json:"hash"`  // hash of the log after change Seq
	Names []string `json:"names"` // names of the entries that agents edited, sorted
}

// FindEditedNames returns the sorted names of the entries that agents edited and about which no person has decided
// yet. It reads only the changes since the last saved result.
func FindEditedNames(ctx context.Context, m *oxbow.Memory) ([]string, error) {
	file := m.EditsFile()
	f := finder{ctx: ctx, m: m}
	if file == nil {
		f.maxChanges = maxChangesWithoutState
	} else {
		f.savedState = decodeState(file.Read())
	}
	found, err := f.findState()
	if err != nil {
		return nil, err
	}
	if file != nil && f.mustSave(&found) {
		file.Write(ctx, found.encode())
	}
	return found.Names, nil
}

// encode returns the state as JSON, preceded by a line with its checksum.
func (s *searchState) encode() []byte {
	data, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(data)
	return slices.Concat([]byte(hex.EncodeToString(sum[:])), []byte("\n"), data)
}

// decodeState decodes the output of encode. It returns an empty state if data is damaged.
func decodeState(data []byte) (s searchState) {
	sum, data, _ := bytes.Cut(data, []byte("\n"))
	want := sha256.Sum256(data)
	if string(sum) != hex.EncodeToString(want[:]) || json.Unmarshal(data, &s) != nil {
		return searchState{}
	}
	return s
}

// finder searches a memory for entries that agents edited.
type finder struct {
	ctx        context.Context
	m          *oxbow.Memory
	savedState searchState
	maxChanges int // maximum number of changes to read (0 means unlimited)
}

// findState returns the search result for the newest change. It starts with the saved result and reads the changes
// since. If these changes do not show whether an entry is still edited, findState calls DescribeEdit for the entry. If
// more than maxLookups entries are undecided, it reads the whole log.
func (f *finder) findState() (found searchState, err error) {
	trails, head, isWhole, err := f.readLog()
	if err != nil {
		return found, err
	}
	wasOpen := map[string]bool{}
	if !isWhole {
		for _, name := range f.savedState.Names {
			wasOpen[name] = true
		}
	}
	var unknown []string
	for name, t := range trails {
		switch {
		case t.done:
			wasOpen[name] = t.hasAgentEdit
		case isWhole && f.maxChanges == 0: // The older versions were deleted by a compaction.
			delete(wasOpen, name)
		case t.agentVersions > 0 || wasOpen[name] || len(t.undoneSeqs) > 0:
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > maxLookups && f.maxChanges == 0 {
		f.savedState = searchState{}
		return f.findState()
	}
	slices.Sort(unknown)
	for _, name := range unknown[:min(len(unknown), maxLookups)] {
		_, isOpen, err := DescribeEdit(f.ctx, f.m, name)
		if err != nil {
			return found, err
		}
		wasOpen[name] = isOpen
	}
	maps.DeleteFunc(wasOpen, func(_ string, isOpen bool) bool { return !isOpen })
	head.Names = slices.Sorted(maps.Keys(wasOpen))
	return head, nil
}

// mustSave reports whether the new result should replace the saved result. This is the case if it has other names, if
// it is at least changesBeforeSave changes newer, or if its change number is lower, because it then belongs to another
// log.
func (f *finder) mustSave(found *searchState) bool {
	if found.Seq < f.savedState.Seq || found.Seq >= f.savedState.Seq+changesBeforeSave {
		return true
	}
	return !slices.Equal(found.Names, f.savedState.Names)
}

// isAfterChange reports whether the state is the result for the log up to and including change c.
func (s *searchState) isAfterChange(c *oxbow.Change) bool {
	return c.Seq == s.Seq && c.Hash != "" && c.Hash == s.Hash
}

// readLog reads the changes after the saved state, newest first. trails maps each entry name to the history that these
// changes show. head contains the number and the hash of the newest change. isWhole is true if the saved state was not
// found in the log. Then readLog has read the log to its start or up to maxChanges changes.
func (f *finder) readLog() (trails map[string]*entryHistory, head searchState, isWhole bool, err error) {
	trails, isWhole = map[string]*entryHistory{}, true
	left := f.maxChanges
	for c, err := range f.m.Log(f.ctx) {
		if err != nil {
			return nil, head, false, err
		}
		if head.Seq == 0 {
			head.Seq, head.Hash = c.Seq, c.Hash
		}
		if f.savedState.isAfterChange(&c) {
			isWhole = false
			break
		}
		left--
		if f.maxChanges > 0 && left < 0 {
			break
		}
		for _, v := range slices.Backward(c.Versions) {
			if v.Entry.Name == "" {
				continue // The version was erased.
			}
			t := trails[v.Entry.Name]
			if t == nil {
				t = new(entryHistory)
				trails[v.Entry.Name] = t
			}
			if !t.done {
				t.processVersion(&v)
			}
		}
	}
	return trails, head, isWhole, nil
}

// AgentEdit describes how agents edited an entry of a person.
type AgentEdit struct {
	Name    string
	Own     oxbow.Version // newest version with the person's text
	Now     *oxbow.Entry  // current entry, or nil if it was deleted
	Renamed string        // name under which the deleted text is stored now, or ""
	Back    uint64        // number of the change to which the entry can be restored
	First   oxbow.Version // oldest version that an agent wrote after Own
	Last    oxbow.Version // newest version that an agent wrote
	Changes int           // number of changes that agents made

	// Relabelled is true if the person changed labels or aliases after the newest version by an agent.
	Relabelled bool
	// Labels contains the protecting labels (see ProtectingKeys) that the person set last.
	Labels []oxbow.Label
}

// DescribeEdit describes how agents edited the entry with this name. isOpen is true if no person has decided about the
// edit yet, so that [FindEditedNames] returns the name.
func DescribeEdit(ctx context.Context, m *oxbow.Memory, name string) (e AgentEdit, isOpen bool, err error) {
	var t entryHistory
	var versions []oxbow.Version
	for v, err := range m.Versions(ctx, name) {
		if errors.Is(err, oxbow.ErrNotFound) {
			return e, false, nil
		}
		if err != nil {
			return e, false, err
		}
		versions = append(versions, v)
		t.processVersion(&v)
		if t.done || len(versions) == maxVersions {
			break
		}
	}
	if !t.done || !t.hasAgentEdit {
		return e, false, nil
	}
	e = AgentEdit{
		Name:       name,
		Back:       t.seqBeforeAgent,
		Changes:    t.agentVersions,
		Relabelled: t.hasNewLabels,
		Labels:     t.labels,
	}
	for _, v := range versions {
		switch v.Seq {
		case t.lastAgentSeq:
			if e.Last.Seq == 0 {
				e.Last = v
			}
			e.First = v
		case t.firstAgentSeq:
			e.First = v
		case t.base:
			if e.Own.Seq == 0 {
				e.Own = v
			}
		}
	}
	if top := versions[0]; top.Verb != oxbow.VerbRemove {
		e.Now = &top.Entry
		return e, true, nil
	}
	e.Renamed, err = currentName(ctx, m, &e)
	return e, true, err
}

// currentName returns the name under which a deleted text is stored now. It looks for an entry that has the old name
// as an alias, and then for an entry with the same text. It returns "" if no such entry exists.
func currentName(ctx context.Context, m *oxbow.Memory, e *AgentEdit) (string, error) {
	now, err := m.Get(ctx, e.Name)
	switch {
	case err == nil && now.Name != e.Name:
		return now.Name, nil
	case err != nil && !errors.Is(err, oxbow.ErrNotFound):
		return "", err
	}
	left := maxRenameSearch
	for c, err := range m.Log(ctx) {
		if err != nil {
			return "", err
		}
		left--
		if left < 0 || c.Seq+maxRenameDistance < e.Last.Seq {
			break
		}
		for _, v := range c.Versions {
			isCopy := v.Verb == oxbow.VerbAdd && v.Entry.Content == e.Own.Entry.Content
			if isCopy && v.Entry.Name != e.Name {
				if now, err := m.Get(ctx, v.Entry.Name); err == nil && now.Content == e.Own.Entry.Content {
					return now.Name, nil
				}
			}
		}
	}
	return "", nil
}
