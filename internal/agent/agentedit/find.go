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
	// minNewChangesToSave is the number of new changes in the memory after which the list of edited entries is saved
	// to a file again. Until then, each search reads these changes again.
	minNewChangesToSave = 64
	// maxSingleEntryReads is the maximum number of entries whose versions are read one entry at a time. An entry's
	// versions are read if the search does not know yet whether an agent's edit of this entry still applies. If there
	// are more such entries, the search reads the whole log instead.
	maxSingleEntryReads = 64
	// maxChangesInFirstSearch is the maximum number of changes that a search reads if no earlier result was saved.
	maxChangesInFirstSearch = 2000
	// maxRenameChanges limits the number of changes that are read to find a deleted text's new name. A text counts as
	// renamed if it was stored under the new name at most maxChangesBeforeRemoval changes before the old entry was
	// deleted.
	maxRenameChanges        = 500
	maxChangesBeforeRemoval = 8
	// maxVersionsRead is the maximum number of an entry's versions that DescribeEdit reads to describe an agent's
	// edit.
	maxVersionsRead = 10_000
)

// editedNamesResult is the saved result of a search for entries that agents edited. The result covers the changes in
// the log up to the change LastChange.
type editedNamesResult struct {
	LastChange  uint64   `json:"seq"`
	LogHash     string   `json:"hash"`  // hash of the log after change Seq
	EditedNames []string `json:"names"` // sorted names of the entries that an agent changed and no person has reviewed
}

// FindEditedNames returns the sorted names of the entries that agents edited and that no person has reviewed since. If
// the memory has a file for the result, FindEditedNames reads only the changes after the result that it last saved
// there. If the memory has no such file, it reads at most maxChangesInFirstSearch changes and saves nothing.
func FindEditedNames(ctx context.Context, m *oxbow.Memory) ([]string, error) {
	file := m.EditsFile()
	f := editedNamesFinder{ctx: ctx, memory: m}
	if file == nil {
		f.maxChangesToRead = maxChangesInFirstSearch
	} else {
		f.savedResult = decodeState(file.Read())
	}
	found, err := f.findEditedNames()
	if err != nil {
		return nil, err
	}
	if file != nil && f.mustSaveState(&found) {
		file.Write(ctx, found.encode())
	}
	return found.EditedNames, nil
}

// encode returns the state as JSON, preceded by a line with its checksum.
func (s *editedNamesResult) encode() []byte {
	data, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(data)
	return slices.Concat([]byte(hex.EncodeToString(sum[:])), []byte("\n"), data)
}

// decodeState decodes data that the method encode returned. It returns an empty result if data is damaged.
func decodeState(data []byte) (s editedNamesResult) {
	sum, data, _ := bytes.Cut(data, []byte("\n"))
	want := sha256.Sum256(data)
	if string(sum) != hex.EncodeToString(want[:]) || json.Unmarshal(data, &s) != nil {
		return editedNamesResult{}
	}
	return s
}

// editedNamesFinder searches a memory for entries that agents edited.
type editedNamesFinder struct {
	ctx              context.Context
	memory           *oxbow.Memory
	savedResult      editedNamesResult
	maxChangesToRead int // maximum number of changes to read (0 means unlimited)
}

// findEditedNames returns the names of the entries with an agent's edit that no person has reviewed. It starts with the
// names that the last search saved, and reads only the changes after that search. If these changes do not show whether
// an entry still has such an edit, findEditedNames calls DescribeEdit for the entry. It does so for at most
// maxSingleEntryReads entries. If there are more such entries and f.maxChangesToRead is 0, findEditedNames discards the
// saved result and reads the whole log. If f.maxChangesToRead is not 0, the further entries are not examined.
func (f *editedNamesFinder) findEditedNames() (state editedNamesResult, err error) {
	trails, head, isWhole, err := f.readHistoriesFromLog()
	if err != nil {
		return state, err
	}
	wasOpen := map[string]bool{}
	if !isWhole {
		for _, name := range f.savedResult.EditedNames {
			wasOpen[name] = true
		}
	}
	var unknown []string
	for name, t := range trails {
		switch {
		case t.isAgentEditDecided:
			wasOpen[name] = t.hasAgentEdit
		case isWhole && f.maxChangesToRead == 0: // The older versions were deleted by a compaction.
			delete(wasOpen, name)
		case t.agentVersions > 0 || wasOpen[name] || len(t.undoneSeqs) > 0:
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > maxSingleEntryReads && f.maxChangesToRead == 0 {
		f.savedResult = editedNamesResult{}
		return f.findEditedNames()
	}
	slices.Sort(unknown)
	for _, name := range unknown[:min(len(unknown), maxSingleEntryReads)] {
		_, isOpen, err := DescribeEdit(f.ctx, f.memory, name)
		if err != nil {
			return state, err
		}
		wasOpen[name] = isOpen
	}
	maps.DeleteFunc(wasOpen, func(_ string, isOpen bool) bool { return !isOpen })
	head.EditedNames = slices.Sorted(maps.Keys(wasOpen))
	return head, nil
}

// mustSaveState reports whether the new result should replace the saved result. This is the case if the new result has
// other names, is at least minNewChangesToSave changes newer, or has a lower change number and therefore belongs to
// another log.
func (f *editedNamesFinder) mustSaveState(newState *editedNamesResult) bool {
	if newState.LastChange < f.savedResult.LastChange ||
		newState.LastChange >= f.savedResult.LastChange+minNewChangesToSave {
		return true
	}
	return !slices.Equal(newState.EditedNames, f.savedResult.EditedNames)
}

// isSavedAfter reports whether change c was the newest change in the log when the search result s was saved.
func (s *editedNamesResult) isSavedAfter(c *oxbow.Change) bool {
	return c.Seq == s.LastChange && c.Hash != "" && c.Hash == s.LogHash
}

// readHistoriesFromLog reads the changes that were made after the last saved search, newest first. The map histories
// contains, for each changed entry's name, a summary of the entry's versions in these changes. head contains the number
// and the hash of the newest change. isWholeLog is false if the log contains the change at which the last search ended.
// isWholeLog is true if readHistoriesFromLog has not found this change, and so has read the log to its start, or
// maxChangesToRead changes.
func (f *editedNamesFinder) readHistoriesFromLog() (histories map[string]*entryHistory, head editedNamesResult,
	isWholeLog bool,
	err error) {
	histories, isWholeLog = map[string]*entryHistory{}, true
	left := f.maxChangesToRead
	for c, err := range f.memory.Log(f.ctx) {
		if err != nil {
			return nil, head, false, err
		}
		if head.LastChange == 0 {
			head.LastChange, head.LogHash = c.Seq, c.Hash
		}
		if f.savedResult.isSavedAfter(&c) {
			isWholeLog = false
			break
		}
		left--
		if f.maxChangesToRead > 0 && left < 0 {
			break
		}
		for _, v := range slices.Backward(c.Versions) {
			if v.Entry.Name == "" {
				continue // Skip an erased version, which has lost its entry's name.
			}
			t := histories[v.Entry.Name]
			if t == nil {
				t = new(entryHistory)
				histories[v.Entry.Name] = t
			}
			if !t.isAgentEditDecided {
				t.processVersion(&v)
			}
		}
	}
	return histories, head, isWholeLog, nil
}

// AgentEdit describes how agents edited an entry of a person.
type AgentEdit struct {
	Name    string
	Own     oxbow.Version // newest version of the entry with a text that the person wrote
	Now     *oxbow.Entry  // current entry, or nil if it was deleted
	Renamed string        // if the entry was deleted, the name under which its text is stored now, or ""
	Back    uint64        // number of the change to which the entry can be restored
	First   oxbow.Version // oldest version that an agent wrote after the person's version
	Last    oxbow.Version // newest version that an agent wrote
	Changes int           // number of changes that agents made

	// Relabelled is true if the person changed labels or aliases after the newest version by an agent.
	Relabelled bool
	// Labels contains the labels that the person set last on the entry, but only labels with keys that put an entry
	// into every prompt (see ProtectingKeys).
	Labels []oxbow.Label
}

// DescribeEdit describes how agents edited the entry with this name. isUndecided is true if agents edited the entry and
// no person has decided about the edit yet. [FindEditedNames] returns the names of such entries. If isUndecided is
// false, e is empty. DescribeEdit reads at most maxVersionsRead versions of the entry, the newest first. If these
// versions do not show whether agents edited the entry, isUndecided is false.
func DescribeEdit(ctx context.Context, m *oxbow.Memory, name string) (e AgentEdit, isUndecided bool, err error) {
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
		if t.isAgentEditDecided || len(versions) == maxVersionsRead {
			break
		}
	}
	if !t.isAgentEditDecided || !t.hasAgentEdit {
		return e, false, nil
	}
	e = AgentEdit{
		Name:       name,
		Back:       t.changeBeforeAgent,
		Changes:    t.agentVersions,
		Relabelled: t.isRelabelledByPerson,
		Labels:     t.editPreventingLabels,
	}
	for _, v := range versions {
		switch v.Seq {
		case t.lastAgentChange:
			if e.Last.Seq == 0 {
				e.Last = v
			}
			e.First = v
		case t.firstAgentChange:
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

// currentName returns the name under which the text of a deleted entry is stored now. It first looks for an entry that
// has the deleted entry's name as an alias. Then it searches the last maxRenameChanges changes for a new entry with the
// same text. It ignores changes that were made more than maxChangesBeforeRemoval changes before the agent's last
// change. It returns "" if it finds no such entry.
func currentName(ctx context.Context, m *oxbow.Memory, e *AgentEdit) (string, error) {
	now, err := m.Get(ctx, e.Name)
	switch {
	case err == nil && now.Name != e.Name:
		return now.Name, nil
	case err != nil && !errors.Is(err, oxbow.ErrNotFound):
		return "", err
	}
	left := maxRenameChanges
	for c, err := range m.Log(ctx) {
		if err != nil {
			return "", err
		}
		left--
		if left < 0 || c.Seq+maxChangesBeforeRemoval < e.Last.Seq {
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
