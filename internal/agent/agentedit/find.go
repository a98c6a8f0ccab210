// This file finds the entries: it reads the changes since the last time, and remembers the
// result in a file next to the log.

// Package agentedit finds the texts of a person that agents changed, forgot or took the
// protection from, until the person keeps the change or brings the text back.
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
	// saveAfter is how many changes are read again at each call before the state is saved.
	saveAfter = 64
	// chased is how many entries are looked up one by one. For more, the log is read.
	chased = 64
	// withoutState is how many changes are read if the memory has no file for the state.
	withoutState = 2000
	// renameSearch is how many of the last changes are searched for the new name of a text,
	// and renameWithin how long before its removal the text may have been stored there.
	renameSearch = 500
	renameWithin = 8
	// mostVersions is how many versions of one entry are read.
	mostVersions = 10_000
)

// state is what was found up to a change.
type state struct {
	Seq   uint64   `json:"seq"`
	Hash  string   `json:"hash"`  // of the chain at that change
	Names []string `json:"names"` // of entries that agents changed, sorted
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
	if file != nil && (found.Seq >= f.old.Seq+saveAfter || found.Seq < f.old.Seq ||
		!slices.Equal(found.Names, f.old.Names)) {
		file.Write(ctx, found.encode())
	}
	return found.Names, nil
}

// encode returns the bytes of the state, after a line with their checksum.
func (s *state) encode() []byte {
	data, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(data)
	return slices.Concat([]byte(hex.EncodeToString(sum[:])), []byte("\n"), data)
}

// decodeState reads what encode wrote. Anything else is the empty state.
func decodeState(data []byte) (s state) {
	sum, data, _ := bytes.Cut(data, []byte("\n"))
	want := sha256.Sum256(data)
	if string(sum) != hex.EncodeToString(want[:]) || json.Unmarshal(data, &s) != nil {
		return state{}
	}
	return s
}

// finder is one search.
type finder struct {
	ctx  context.Context
	m    *oxbow.Memory
	old  state
	most int // changes that are read at most; 0 for no limit
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
			wasOpen[name] = t.open
		case isWhole && f.most == 0: // the older versions were dropped by a compaction
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

// readLog reads the changes after the old state. It returns isWhole if the old state does
// not belong to this log, and so all changes were read.
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
		if c.Seq == f.old.Seq && c.Hash != "" && c.Hash == f.old.Hash {
			isWhole = false
			break
		}
		left--
		if f.most > 0 && left < 0 {
			break
		}
		for _, v := range slices.Backward(c.Versions) {
			if v.Entry.Name == "" {
				continue // it was erased
			}
			t := trails[v.Entry.Name]
			if t == nil {
				t = new(trail)
				trails[v.Entry.Name] = t
			}
			if !t.done {
				t.read(&v)
			}
		}
	}
	return trails, head, isWhole, nil
}

// Edit is what agents made of a person's text.
type Edit struct {
	Name    string
	Own     oxbow.Version // the person's text
	Now     *oxbow.Entry  // the entry now; nil if it was forgotten
	Renamed string        // the name that the forgotten text has now; "" for none
	Back    uint64        // the change to go back to
	First   oxbow.Version // the oldest change of agents since
	Last    oxbow.Version // the newest
	Changes int           // their number

	// Relabelled reports whether the person changed labels after the agents.
	Relabelled bool
	// Labels are the protecting labels as the person left them.
	Labels []oxbow.Label
}

// Describe returns what agents made of the entry of that name, and whether it is one that
// [Find] returns.
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
		t.read(&v)
		if t.done || len(versions) == mostVersions {
			break
		}
	}
	if !t.done || !t.open {
		return e, false, nil
	}
	e = Edit{Name: name, Back: t.back, Changes: t.agents, Relabelled: t.relabelled, Labels: t.labels}
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
	e.Renamed, err = renamed(ctx, m, &e)
	return e, true, err
}

// renamed returns the name under which a forgotten text is found now: an entry has the old
// name as an alias, or the text is stored under another name.
func renamed(ctx context.Context, m *oxbow.Memory, e *Edit) (string, error) {
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
			if v.Verb == oxbow.VerbAdd && v.Entry.Content == e.Own.Entry.Content && v.Entry.Name != e.Name {
				if now, err := m.Get(ctx, v.Entry.Name); err == nil && now.Content == e.Own.Entry.Content {
					return now.Name, nil
				}
			}
		}
	}
	return "", nil
}
