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
	// saveAfter is the number of new changes after which the state is saved. Until then, each call
	// reads them again.
	saveAfter = 64
	// chased is the maximum number of entries that are looked up individually. For more entries,
	// the whole log is read.
	chased = 64
	// withoutState is the maximum number of changes that are read if the memory has no state file.
	withoutState = 2000
	// renameSearch is the maximum number of changes that are searched for a text's new name. The
	// text may have been stored there at most renameWithin changes before its removal.
	renameSearch = 500
	renameWithin = 8
	// mostVersions is the maximum number of an entry's versions that are read.
	mostVersions = 10_000
)

// state is the result of a search up to a change.
type state struct {
	Seq   uint64   `json:"seq"`
	Hash  string   `json:"hash"`  // hash of the log at this change
	Names []string `json:"names"` // names of the entries that agents changed, sorted
}

// Find returns the names of the entries that agents changed, sorted. Its time is
// proportional to the number of changes since the last call.
func Find(ctx context.Context, m *oxbow.Memory) ([]string, error) {
	file := m.EditsFile()
	f := finder{ctx: ctx, m: m}
	if file == nil {
		f.most = withoutState
	} else {
		f.old = decodeState(file.Read())
	}
	found, err := f.find()
	if err != nil {
		return nil, err
	}
	if file != nil && f.mustSave(&found) {
		file.Write(ctx, found.encode())
	}
	return found.Names, nil
}

// encode returns a line with the checksum of the state, followed by the state in JSON.
func (s *state) encode() []byte {
	data, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(data)
	return slices.Concat([]byte(hex.EncodeToString(sum[:])), []byte("\n"), data)
}

// decodeState decodes the output of encode. It returns an empty state if data is invalid.
func decodeState(data []byte) (s state) {
	sum, data, _ := bytes.Cut(data, []byte("\n"))
	want := sha256.Sum256(data)
	if string(sum) != hex.EncodeToString(want[:]) || json.Unmarshal(data, &s) != nil {
		return state{}
	}
	return s
}

// finder contains the parameters of a search.
type finder struct {
	ctx  context.Context
	m    *oxbow.Memory
	old  state
	most int // maximum number of changes to read (0 means unlimited)
}

// find returns the state at the last change.
func (f *finder) find() (found state, err error) {
	trails, head, isWhole, err := f.readLog()
	if err != nil {
		return found, err
	}
	wasOpen := map[string]bool{}
	if !isWhole {
		for _, name := range f.old.Names {
			wasOpen[name] = true
		}
	}
	var unknown []string
	for name, t := range trails {
		switch {
		case t.done:
			wasOpen[name] = t.isOpen
		case isWhole && f.most == 0: // a compaction deleted the older versions
			delete(wasOpen, name)
		case t.agents > 0 || wasOpen[name] || len(t.undone) > 0:
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > chased && f.most == 0 {
		f.old = state{}
		return f.find()
	}
	slices.Sort(unknown)
	for _, name := range unknown[:min(len(unknown), chased)] {
		_, isOpen, err := Describe(f.ctx, f.m, name)
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
func (f *finder) mustSave(found *state) bool {
	if found.Seq < f.old.Seq || found.Seq >= f.old.Seq+saveAfter {
		return true
	}
	return !slices.Equal(found.Names, f.old.Names)
}

// isAt reports whether c is the change after which the state was saved.
func (s *state) isAt(c *oxbow.Change) bool {
	return c.Seq == s.Seq && c.Hash != "" && c.Hash == s.Hash
}

// readLog reads the changes after the old state. It reads all changes, and isWhole is true, if the old
// state does not belong to this log.
func (f *finder) readLog() (trails map[string]*trail, head state, isWhole bool, err error) {
	trails, isWhole = map[string]*trail{}, true
	left := f.most
	for c, err := range f.m.Log(f.ctx) {
		if err != nil {
			return nil, head, false, err
		}
		if head.Seq == 0 {
			head.Seq, head.Hash = c.Seq, c.Hash
		}
		if f.old.isAt(&c) {
			isWhole = false
			break
		}
		left--
		if f.most > 0 && left < 0 {
			break
		}
		for _, v := range slices.Backward(c.Versions) {
			if v.Entry.Name == "" {
				continue // the version was erased
			}
			t := trails[v.Entry.Name]
			if t == nil {
				t = new(trail)
				trails[v.Entry.Name] = t
			}
			if !t.done {
				t.processVersion(&v)
			}
		}
	}
	return trails, head, isWhole, nil
}

// Edit describes what agents did to a person's text.
type Edit struct {
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

// Describe returns what agents did to the entry with this name. The result isOpen is true if [Find]
// returns the entry.
func Describe(ctx context.Context, m *oxbow.Memory, name string) (e Edit, isOpen bool, err error) {
	var t trail
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
		if t.done || len(versions) == mostVersions {
			break
		}
	}
	if !t.done || !t.isOpen {
		return e, false, nil
	}
	e = Edit{Name: name, Back: t.back, Changes: t.agents, Relabelled: t.wasRelabelled, Labels: t.labels}
	for _, v := range versions {
		switch v.Seq {
		case t.last:
			if e.Last.Seq == 0 {
				e.Last = v
			}
			e.First = v
		case t.first:
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
func currentName(ctx context.Context, m *oxbow.Memory, e *Edit) (string, error) {
	now, err := m.Get(ctx, e.Name)
	switch {
	case err == nil && now.Name != e.Name:
		return now.Name, nil
	case err != nil && !errors.Is(err, oxbow.ErrNotFound):
		return "", err
	}
	left := renameSearch
	for c, err := range m.Log(ctx) {
		if err != nil {
			return "", err
		}
		left--
		if left < 0 || c.Seq+renameWithin < e.Last.Seq {
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
