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
	// renamed if it was stored under the new name at most maxChangesBeforeEntryRemoval changes before the old entry was
	// deleted.
	maxRenameChanges             = 500
	maxChangesBeforeEntryRemoval = 8
	// maxVersionsRead is the maximum number of an entry's versions that DescribeEdit reads to describe an agent's
	// edit.
	maxVersionsRead = 10_000
)

// editedNamesResult is the saved result of a search for entries that agents edited. The result covers the changes in
// the log up to the change LastChangeSeq.
type editedNamesResult struct {
	LastChangeSeq uint64 `json:"seq"`
	LogHash       string `json:"hash"` // hash of the log after change LastChangeSeq
	// sorted names of the entries that an agent changed and no person has reviewed
	EditedEntryNames []string `json:"names"`
}

// FindEditedNames returns the sorted names of the entries that agents edited and that no person has reviewed since. If
// the memory has a file for the result, FindEditedNames reads only the changes since it last saved a result in this
// file. If the memory has no such file, it reads at most maxChangesInFirstSearch changes and saves nothing.
func FindEditedNames(ctx context.Context, m *oxbow.Memory) ([]string, error) {
	file := m.EditsFile()
	f := editedNamesFinder{ctx: ctx, memory: m}
	if file == nil {
		f.maxChangesToRead = maxChangesInFirstSearch
	} else {
		f.savedResult = decodeEditedNames(file.Read())
	}
	found, err := f.findEditedNames()
	if err != nil {
		return nil, err
	}
	if file != nil && f.mustSaveState(&found) {
		file.Write(ctx, found.encode())
	}
	return found.EditedEntryNames, nil
}

// encode returns the result as JSON. A line with the checksum of the JSON precedes it. encode returns nil if the result
// cannot be encoded.
func (s *editedNamesResult) encode() []byte {
	data, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(data)
	return slices.Concat([]byte(hex.EncodeToString(sum[:])), []byte("\n"), data)
}

// decodeEditedNames decodes data that the method encode returned. It returns an empty result if data is damaged.
func decodeEditedNames(data []byte) (s editedNamesResult) {
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

// findEditedNames finds the entries that contain an agent's edit that no person has reviewed. The field
// EditedEntryNames of the result state contains the names of these entries.
//
// findEditedNames starts with the names in f.savedResult, which the last search found. It reads only the changes that
// were made after the last search. If these changes do not show whether an agent's edit of an entry is still
// unreviewed, the entry is undecided, and findEditedNames calls DescribeEdit for it.
//
// DescribeEdit is called for at most maxSingleEntryReads entries. If more entries are undecided, the result depends on
// f.maxChangesToRead:
//   - If f.maxChangesToRead is 0, findEditedNames discards f.savedResult and reads the whole log.
//   - Otherwise, the undecided entries above the limit are not examined.
func (f *editedNamesFinder) findEditedNames() (state editedNamesResult, err error) {
	trails, head, isWhole, err := f.readHistoriesFromLog()
	if err != nil {
		return state, err
	}
	wasOpen := map[string]bool{}
	if !isWhole {
		for _, name := range f.savedResult.EditedEntryNames {
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
		case t.agentVersionCount > 0 || wasOpen[name] || len(t.undoneSeqs) > 0:
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
	head.EditedEntryNames = slices.Sorted(maps.Keys(wasOpen))
	return head, nil
}

// mustSaveState reports whether the new result should replace the saved result. This is the case if the new result has
// other names, or is at least minNewChangesToSave changes newer. It is also the case if the new result has a lower
// change number, because it then belongs to another log.
func (f *editedNamesFinder) mustSaveState(newState *editedNamesResult) bool {
	if newState.LastChangeSeq < f.savedResult.LastChangeSeq ||
		newState.LastChangeSeq >= f.savedResult.LastChangeSeq+minNewChangesToSave {
		return true
	}
	return !slices.Equal(newState.EditedEntryNames, f.savedResult.EditedEntryNames)
}

// endsAtChange reports whether change c was the newest change in the log when the search result s was saved.
func (s *editedNamesResult) endsAtChange(c *oxbow.Change) bool {
	return c.Seq == s.LastChangeSeq && c.Hash != "" && c.Hash == s.LogHash
}

// readHistoriesFromLog reads the changes in the log, newest first. It stops at the change at which the saved search
// ended. It also stops after maxChangesToRead changes, unless maxChangesToRead is 0.
//
// histories contains, by entry name, a summary of the versions that were read. newestChange contains the number and the
// hash of the newest change. hasReadWholeLog is false only if reading stopped at the change at which the saved search
// ended. It is true even if reading stopped after maxChangesToRead changes.
func (f *editedNamesFinder) readHistoriesFromLog() (histories map[string]*entryHistory, newestChange editedNamesResult,
	hasReadWholeLog bool,
	err error) {
	histories, hasReadWholeLog = map[string]*entryHistory{}, true
	left := f.maxChangesToRead
	for c, err := range f.memory.Log(f.ctx) {
		if err != nil {
			return nil, newestChange, false, err
		}
		if newestChange.LastChangeSeq == 0 {
			newestChange.LastChangeSeq, newestChange.LogHash = c.Seq, c.Hash
		}
		if f.savedResult.endsAtChange(&c) {
			hasReadWholeLog = false
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
				t.addVersion(&v)
			}
		}
	}
	return histories, newestChange, hasReadWholeLog, nil
}

// AgentEdit describes how agents edited an entry of a person.
type AgentEdit struct {
	Name              string
	PersonVersion     oxbow.Version // newest version of the entry with a text that the person wrote
	CurrentEntry      *oxbow.Entry  // current entry, or nil if it was deleted
	NewName           string        // if the entry was deleted, the name under which its text is stored now, or ""
	RestoreSeq        uint64        // number of the change to which the entry can be restored
	FirstAgentVersion oxbow.Version // oldest version that an agent wrote after the person's version
	LastAgentVersion  oxbow.Version // newest version that an agent wrote
	AgentChangeCount  int           // number of changes that agents made

	// Relabelled is true if the person changed labels or aliases after the newest version by an agent.
	Relabelled bool
	// Labels contains the labels that the person set last on the entry, but only labels with keys that put an entry
	// into every prompt (see EveryPromptLabelKeys).
	Labels []oxbow.Label
}

// DescribeEdit describes how agents edited the entry with this name. hasUndecidedEdit is true if agents edited the
// entry and no person has accepted or changed the edit since then. [FindEditedNames] returns the names of such entries.
// If hasUndecidedEdit is false, e is empty. DescribeEdit reads the versions of the entry, the newest first, until they
// show whether there is such an edit. It reads at most maxVersionsRead versions. If these do not show it,
// hasUndecidedEdit is false.
func DescribeEdit(ctx context.Context, m *oxbow.Memory, name string) (e AgentEdit, hasUndecidedEdit bool, err error) {
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
		t.addVersion(&v)
		if t.isAgentEditDecided || len(versions) == maxVersionsRead {
			break
		}
	}
	if !t.isAgentEditDecided || !t.hasAgentEdit {
		return e, false, nil
	}
	e = AgentEdit{
		Name:             name,
		RestoreSeq:       t.changeBeforeAgent,
		AgentChangeCount: t.agentVersionCount,
		Relabelled:       t.isRelabelledByPerson,
		Labels:           t.editPreventingLabels,
	}
	for _, v := range versions {
		switch v.Seq {
		case t.lastAgentChange:
			if e.LastAgentVersion.Seq == 0 {
				e.LastAgentVersion = v
			}
			e.FirstAgentVersion = v
		case t.firstAgentChange:
			e.FirstAgentVersion = v
		case t.personTextSeq:
			if e.PersonVersion.Seq == 0 {
				e.PersonVersion = v
			}
		}
	}
	if top := versions[0]; top.Verb != oxbow.VerbRemove {
		e.CurrentEntry = &top.Entry
		return e, true, nil
	}
	e.NewName, err = currentName(ctx, m, &e)
	return e, true, err
}

// currentName returns the name under which the text of a deleted entry is stored now. It first looks for an entry that
// has the deleted entry's name as an alias. Then it searches the last maxRenameChanges changes for a new entry with the
// same text. It ignores changes that were made more than maxChangesBeforeEntryRemoval changes before the agent's last
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
		if left < 0 || c.Seq+maxChangesBeforeEntryRemoval < e.LastAgentVersion.Seq {
			break
		}
		for _, v := range c.Versions {
			isCopy := v.Verb == oxbow.VerbAdd && v.Entry.Content == e.PersonVersion.Entry.Content
			if isCopy && v.Entry.Name != e.Name {
				if now, err := m.Get(ctx, v.Entry.Name); err == nil && now.Content == e.PersonVersion.Entry.Content {
					return now.Name, nil
				}
			}
		}
	}
	return "", nil
}
