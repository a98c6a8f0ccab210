// This file writes changes in the memory into the files of a folder.

package folders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/tree/folder"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

// maxNoteBytes is the maximum size, in bytes, of a file into which a changed entry is written back.
const maxNoteBytes = 16 << 20

// writeEntriesBack writes the folder's entries that have changed since the last synchronization into their files.
// It creates a file for a new entry that has the folder's name as a tag. It does not delete the file of a forgotten
// entry. If an entry cannot be written, the result's Problems say so.
func (s *folderSync) writeEntriesBack(ctx context.Context) error {
	ctx, m, err := s.workspace.OpenMemory(ctx, verb.Create)
	if err != nil {
		return err
	}
	seq := oxbow.CapabilitiesOf(m).Sequencer
	if seq == nil {
		return nil
	}
	at, err := seq.Position(ctx)
	since := s.comparison.State.Position
	if err != nil || at == since {
		return err
	}
	// In a folder that was never synchronized, since is "". Its entries were just imported from the files, so nothing
	// must be written back.
	if since != "" {
		entries, err := s.changedEntries(ctx, m, seq, since)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := s.writeEntry(ctx, m, e); err != nil {
				problem := fmt.Sprintf("%q is not written into a file: %v", e.Name, err)
				s.change.Problems = append(s.change.Problems, problem)
			}
		}
	}
	s.comparison.State.Position = at
	s.comparison.ForceStateSave()
	return nil
}

// changedEntries returns the folder's entries that were changed after the position since of the history, and that still
// exist. If the history does not reach back to this position, changedEntries returns all entries of the folder.
func (s *folderSync) changedEntries(
	ctx context.Context,
	m *oxbow.Memory,
	seq oxbow.Sequencer,
	since oxbow.Position,
) (entries []oxbow.Entry, err error) {
	last := map[uint64]*oxbow.Entry{}
	var ids []uint64
	for d, err := range seq.Since(ctx, since) {
		if errors.Is(err, oxbow.ErrPosition) {
			last = nil
			break
		}
		if err != nil {
			return nil, err
		}
		if _, seen := last[d.ID]; !seen {
			ids = append(ids, d.ID)
		}
		last[d.ID] = d.Entry
	}
	if last == nil { // The history does not reach back to the position, so return all entries.
		for e, err := range m.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				return nil, err
			}
			if s.belongsToFolder(&e) {
				entries = append(entries, e.Clone())
			}
		}
		return entries, nil
	}
	for _, id := range ids {
		if e := last[id]; e != nil && s.belongsToFolder(e) {
			entries = append(entries, e.Clone())
		}
	}
	return entries, nil
}

// belongsToFolder reports whether an entry belongs to the folder. An entry with the folder's label does. So does an
// entry that was not made from a file and has the folder's name as a tag.
func (s *folderSync) belongsToFolder(e *oxbow.Entry) bool {
	return slices.Contains(e.Values(folder.LabelFolder), s.folder.Name) ||
		(exchange.ImportFileLabelValue(*e) == "" && slices.Contains(e.Values(oxbow.LabelTag), s.folder.Name))
}

// writeEntry writes an entry to a file. If the entry was imported from a file of this folder, writeEntry updates this
// file. If the entry was not imported, writeEntry writes a new file. If the entry was imported from another file, it
// writes nothing. It returns an error if a person must approve the entry first, because text by others may be part of
// it.
func (s *folderSync) writeEntry(ctx context.Context, m *oxbow.Memory, e oxbow.Entry) error {
	if !e.MayShow(oxbow.WithoutLabels) {
		return fmt.Errorf("it waits for your approval: oxbow approve %s", text.QuoteShellOperand(e.Name))
	}
	origin := exchange.ImportFileLabelValue(e)
	if origin == "" {
		return s.writeNewFile(ctx, m, e)
	}
	for _, file := range s.comparison.FileNames() {
		if s.originLabel(file) == origin {
			return s.writeToOriginFile(ctx, m, e, file)
		}
	}
	return nil // Write nothing. The file from which the entry was imported was deleted, or belongs to another folder.
}

// writeToOriginFile writes an entry to the file from which it was imported. If the file contains several notes, the
// note with the name of the entry is replaced. If the file contains only one note, this note is replaced, even if its
// name is different. Nothing is written if the file already has this text, or has changed since the folder was listed.
// writeToOriginFile returns an error if the file contains a secret, or no note for the entry.
func (s *folderSync) writeToOriginFile(ctx context.Context, m *oxbow.Memory, e oxbow.Entry, file string) error {
	old, err := vfs.ReadFile(s.fsys, file, maxNoteBytes)
	if err != nil {
		return err
	}
	items, hasSecret, err := s.parseFile(ctx, file, string(old))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(items, func(it exchange.Item) bool { return it.Entry.Name == e.Name })
	if i < 0 && len(items) == 1 {
		i = 0
	}
	switch {
	case i < 0:
		return fmt.Errorf("%s has no such note", file)
	case exchange.HaveEqualBodies(items[i].Entry.Content, e.Content):
		return nil
	case hasSecret:
		return fmt.Errorf("%s has a secret, which the memory does not keep", file)
	case !s.comparison.IsFileCurrent(s.fsys, file):
		// The file has changed since the folder was listed. Do not overwrite the file, because the next
		// synchronization will compare it with the entry.
		return nil
	}
	changed, it, err := s.rewriteItem(ctx, file, string(old), items, i, e)
	if err != nil {
		return err
	}
	return s.writeFile(ctx, m, e, it, file, changed)
}

// rewriteItem replaces the content of the note items[i] in the text of a file by the content of e. It returns the new
// text and the note that oxbow reads from the new text instead of items[i]. It returns an error if oxbow would then
// read other notes differently.
func (s *folderSync) rewriteItem(
	ctx context.Context,
	file, oldText string,
	items []exchange.Item,
	i int,
	e oxbow.Entry,
) (newText string, it exchange.Item, err error) {
	newText, err = exchange.ReplaceContent(oldText, items[i], e.Content)
	if err != nil {
		return "", it, err
	}
	after, err := s.checkRewrite(ctx, file, newText, items, i, e)
	// The changed file would no longer be read as an entry with this name, perhaps because the heading with the name
	// was removed. Add the name as the title in the front matter, and check the file again.
	if after == nil && err == nil {
		newText, err = exchange.SetFrontMatterTitle(newText, items[i].Entry.Name)
		if err == nil {
			after, err = s.checkRewrite(ctx, file, newText, items, i, e)
		}
	}
	if err == nil && after == nil {
		err = fmt.Errorf("%s would be read as other notes then; edit the file", file)
	}
	if err != nil {
		return "", it, err
	}
	return newText, *after, nil
}

// checkRewrite parses newText, the new text of a file, before it is written. It returns item i of this text, which must
// have the content of the entry e. It returns nil if the content differs, or if the number or the names of the items
// differ from oldItems.
func (s *folderSync) checkRewrite(
	ctx context.Context,
	file, newText string,
	oldItems []exchange.Item,
	i int,
	e oxbow.Entry,
) (*exchange.Item, error) {
	after, _, err := s.parseFile(ctx, file, newText)
	if err != nil {
		return nil, err
	}
	isSame := len(after) == len(oldItems) && exchange.HaveEqualBodies(after[i].Entry.Content, e.Content)
	for j := range oldItems {
		isSame = isSame && after[j].Entry.Name == oldItems[j].Entry.Name
	}
	if !isSame {
		return nil, nil
	}
	return &after[i], nil
}

// writeNewFile writes an entry into a new file, whose name is derived from the entry's name. It returns an error if
// oxbow would read another name or content from this file.
func (s *folderSync) writeNewFile(ctx context.Context, m *oxbow.Memory, e oxbow.Entry) error {
	file, err := s.unusedFileName(e.Name)
	if err != nil {
		return err
	}
	for _, withName := range []bool{false, true} {
		content, err := exchange.FormatNote(e, withName)
		if err != nil {
			return err
		}
		items, _, err := s.parseFile(ctx, file, content)
		if err != nil {
			return err
		}
		isReadBack := len(items) == 1 && items[0].Entry.Name == e.Name
		if isReadBack && exchange.HaveEqualBodies(items[0].Entry.Content, e.Content) {
			return s.writeFile(ctx, m, e, items[0], file, content)
		}
	}
	return errors.New("a file with this text would be read as other notes")
}

// unusedFileName returns a name, derived from an entry's name, that no file has yet.
func (s *folderSync) unusedFileName(name string) (string, error) {
	stem := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|#^[]`, r) {
			return '-'
		}
		return r
	}, name)
	stem = strings.Trim(text.TruncateBytes(stem, 120), ". ")
	if stem == "" {
		stem = "note"
	}
	for n := 1; n < 1000; n++ {
		file := stem + ".md"
		if n > 1 {
			file = fmt.Sprintf("%s %d.md", stem, n)
		}
		if _, err := s.fsys.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return file, nil
		} else if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("there are too many files named %s", stem)
}

// parseFile returns the entries in the text content of a file, each with a label for its origin. hasSecret is true if
// an entry contains a secret, or if the screening for secrets fails.
func (s *folderSync) parseFile(
	ctx context.Context,
	file, content string,
) (items []exchange.Item, hasSecret bool, err error) {
	o := &exchange.ReadOptions{
		Location: s.workspace.CurrentTime().Location(),
		Format:   exchange.DetectNoteFormat(s.fsys, "."),
	}
	ctx = oxbow.WithSource(ctx, oxbow.Source{Actor: oxbow.Imported})
	for it, err := range exchange.ReadStream(strings.NewReader(content), s.fileOriginPath(file), o) {
		if err != nil {
			return nil, false, err
		}
		var found []screen.Secret
		if _, err := s.workspace.Secrets.ScreenEntry(ctx, it.Entry, oxbow.Entry{}, &found); err != nil ||
			len(found) > 0 {
			hasSecret = true
		}
		items = append(items, s.addOriginLabel(it))
	}
	return items, hasSecret, nil
}

// writeFile writes the text content to the file of the folder, and records in the memory m that the entry e belongs to
// this file. For this record, e gets the labels of it.Entry, which is the item that was read from the text, the
// folder's label, and labels that name the file.
func (s *folderSync) writeFile(
	ctx context.Context,
	m *oxbow.Memory,
	e oxbow.Entry,
	it exchange.Item,
	file, content string,
) error {
	mode := fs.FileMode(0o600)
	if info, err := s.fsys.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := vfs.WriteFile(s.fsys, file, []byte(content), mode); err != nil {
		return err
	}
	s.change.WrittenFileCount++
	if err := s.comparison.RecordWrittenFile(s.fsys, file, []byte(content)); err != nil {
		return err
	}
	// First store a version that has exactly the labels in the file. A later edit of the file can then be merged with
	// labels that only the memory contains.
	pure := e.Clone()
	pure.Labels = it.Entry.Labels
	marked := exchange.LabelsWithImportLabels(pure, s.fileOriginPath(file))
	ops := []oxbow.Op{oxbow.Relabel{Name: e.Name, Labels: addMissingLabels(marked, e.Labels), If: e.Version}}
	merged := exchange.ReplaceImportLabels(e.Labels, marked)
	if l := (oxbow.Label{Key: folder.LabelFolder, Value: s.folder.Name}); !slices.Contains(merged, l) {
		merged = oxbow.SortLabels(append(merged, l))
	}
	if !slices.Equal(merged, addMissingLabels(marked, e.Labels)) {
		ops = append(ops, oxbow.Relabel{Name: e.Name, Labels: merged})
	}
	src, _ := oxbow.SourceFrom(ctx)
	src.Actor = oxbow.Program
	ctx = oxbow.WithSource(ctx, src)
	return m.Apply(
		oxbow.WithNote(ctx, text.TruncateWithEllipsis("written into "+path.Join(s.folder.Path, file), 200)),
		ops...)
}

// addMissingLabels returns labels, with those elements of stampedLabels added that hold an entry back from models,
// record the entry's approval, or name the text's author. Other elements of stampedLabels are ignored. The result is
// sorted.
func addMissingLabels(labels, stampedLabels []oxbow.Label) []oxbow.Label {
	labels = slices.Clone(labels)
	for _, l := range stampedLabels {
		isStamp := l.Key == oxbow.LabelApproved || l.Key == oxbow.LabelTextBy
		isStamp = isStamp || slices.Contains(oxbow.Unasked.HeldLabels(), l.Key)
		if isStamp && !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	return oxbow.SortLabels(labels)
}

// HasWritableFolder reports whether the home has a folder that is registered for writing.
func HasWritableFolder(home string) bool {
	all, err := folder.ListFolders(home)
	return err == nil && slices.ContainsFunc(all, func(f folder.Folder) bool { return f.WritesFiles })
}
