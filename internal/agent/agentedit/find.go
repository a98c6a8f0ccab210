// This file finds the entries: it reads the changes since the last call and stores the result in a file
// next to the log.

// Package agentedit finds entries whose text a person wrote and an agent later changed or deleted, or
// whose protecting labels an agent changed. An entry is found until the person keeps the change or
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
	// changesBeforeSave is the number of new changes after which the state is saved. Until then, each call
	// reads them again.
	changesBeforeSave = 64
	// maxLookups is the maximum number of entries that are looked up individually. For more entries,
	// the whole log is read.
	maxLookups = 64
	// maxChangesWithoutState is the maximum number of changes that are read if the memory has no state file.
	maxChangesWithoutState = 2000
	// maxRenameSearch is the maximum number of changes that are searched for a text's new name. The
	// text may have been stored there at most maxRenameDistance changes before its removal.
	maxRenameSearch   = 500
	maxRenameDistance = 8
	// maxVersions is the maximum number of an entry's versions that are read.
	maxVersions = 10_000
)

// searchState is the result of a search up to a change.
type searchState struct {
	Seq   uint64   `json:"seq"`
	Hash  string   `json:"hash"`  // hash of the log at this change
	Names []string `json:"names"` // names of the entries that agents changed, sorted
}

// FindEditedNames returns the names of the entries that agents changed, sorted. Its time is
// proportional to the number of changes since the last call.
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

// encode returns a line with the checksum of the state, followed by the state in JSON.
func (s *searchState) encode() []byte {
	data, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(data)
	return slices.Concat([]byte(hex.EncodeToString(sum[:])), []byte("\n"), data)
}

// decodeState decodes the output of encode. It returns an empty state if data is invalid.
func decodeState(data []byte) (s searchState) {
	sum, data, _ := bytes.Cut(data, []byte("\n"))
	want := sha256.Sum256(data)
	if string(sum) != hex.EncodeToString(want[:]) || json.Unmarshal(data, &s) != nil {
		return searchState{}
	}
	return s
}

// finder contains the parameters of a search.
type finder struct {
	ctx        context.Context
	m          *oxbow.Memory
	savedState searchState
	maxChanges int // maximum number of changes to read (0 means unlimited)
}

// findState returns the state after the last change: the names of the entries with an open edit by an agent. It reads
// the changes since the saved state. If these do not decide about an entry, it calls DescribeEdit. If very many
// entries are undecided, it reads the whole log.
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
		case isWhole && f.maxChanges == 0: // a compaction deleted the older versions
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

// mustSave reports whether the found state differs so much from the saved state that it must be
// saved: it has other names, is many changes newer, or is of another log.
func (f *finder) mustSave(found *searchState) bool {
	if found.Seq < f.savedState.Seq || found.Seq >= f.savedState.Seq+changesBeforeSave {
		return true
	}
	return !slices.Equal(found.Names, f.savedState.Names)
}

// isAfterChange reports whether c is the change after which the state was saved.
func (s *searchState) isAfterChange(c *oxbow.Change) bool {
	return c.Seq == s.Seq && c.Hash != "" && c.Hash == s.Hash
}

// readLog reads the changes after the saved state, the newest first. trails contains, by name, what these changes say
// about each entry. head has the number and hash of the newest change. isWhole is true if readLog did not find the
// saved state, and therefore read the log to its start or to maxChanges.
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
				continue // the version was erased
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

// AgentEdit describes what agents did to a person's text.
type AgentEdit struct {
	Name    string
	Own     oxbow.Version // the person's text
	Now     *oxbow.Entry  // current entry (nil if it was deleted)
	Renamed string        // current name of the text, if it was deleted and is stored under another name
	Back    uint64        // number of the change whose version can be restored
	First   oxbow.Version // oldest change by an agent since Own
	Last    oxbow.Version // newest change by an agent
	Changes int           // number of changes by agents

	// Relabelled is true if the person changed labels or aliases after the agents' last change.
	Relabelled bool
	// Labels contains the protecting labels that the person set last.
	Labels []oxbow.Label
}

// DescribeEdit returns what agents did to the entry with this name. The result isOpen is true if [FindEditedNames]
// returns the entry.
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

// currentName returns the current name of a deleted text. This is the entry with the old name as an
// alias, or an entry with the same text. It returns "" if neither exists.
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
