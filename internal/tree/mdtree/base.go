// This file determines the base of a load: the state that the last dump wrote. Comparing files and
// store with the base shows which changes were made in the files, and which in the store.

package mdtree

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// StoreIdentity identifies a store in a manifest.
type StoreIdentity struct {
	// present name of the store, which a dump writes into the manifest (may be empty)
	Name          string
	IsNameOfStore func(was string) bool // reports whether a name is this store's present name or a former name

	// ChangesSince yields the entries that were changed after the store had a former name. The caller passes the former
	// name in the parameter was. The function is nil if the store does not know its changes. If it yields an error, the
	// changes are unknown.
	ChangesSince func(ctx context.Context, was string) iter.Seq2[oxbow.Delta, error]
}

// isManifestOfStore reports whether a manifest belongs to this store. manifestName is the name of the store in the
// manifest.
func (o StoreIdentity) isManifestOfStore(manifestName string) bool {
	return manifestName != "" && o.IsNameOfStore != nil && o.IsNameOfStore(manifestName)
}

// isManifestOfOtherStore reports whether a manifest belongs to a different store. manifestName is the name of the store
// in the manifest. It returns false if this cannot be decided.
func (o StoreIdentity) isManifestOfOtherStore(manifestName string) bool {
	return manifestName != "" && o.IsNameOfStore != nil && !o.IsNameOfStore(manifestName)
}

// matchesEntry reports whether a dump of the entry would write exactly the file that the manifest item describes.
func (f manifestItem) matchesEntry(e *oxbow.Entry) bool {
	if !f.Sum.isSet() || path.Dir(f.Path) != kindDirectory(e.Kind) {
		return false
	}
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	text, nameAt := entryText{Entry: e}.appendTextWithoutName((*buf)[:0])
	if f.matchesBytes(text) {
		return true
	}
	return f.matchesBytes(slices.Insert(text, nameAt, appendName(nil, e.Name)...))
}

// matchesBytes reports whether the text has the hash that the manifest item records for its file.
func (f manifestItem) matchesBytes(text []byte) bool {
	return sha256Digest(sha256.Sum256(text)) == f.Sum
}

func (f manifestItem) matchesText(e entryText) bool { return f.matchesBytes(e.appendFileText(nil)) }

// matchesFileText reports whether the manifest item f describes a file in the directory dir with the given text. The
// argument e is the entry that was parsed from the text, and showName is true if the text contains the entry's name.
// The text need not be the dumped text byte for byte. It is enough if a dump of e would write a text with the recorded
// hash. Therefore other line endings, and other line breaks around the content, make no difference.
func (f manifestItem) matchesFileText(dir, text string, e *oxbow.Entry, showName bool) bool {
	return f.Sum.isSet() && path.Dir(f.Path) == dir &&
		(f.matchesBytes([]byte(text)) || f.matchesText(entryText{Entry: e, includesName: showName}))
}

// kindDirectory returns a kind's directory, or "" for an unknown kind.
func kindDirectory(k oxbow.Kind) string {
	i := slices.IndexFunc(entryKindDirs[:], func(s entryKindDir) bool { return s.kind == k && !s.isTopic })
	if i < 0 {
		return ""
	}
	return entryKindDirs[i].dir
}

// convertCRLFToLF converts CRLF to LF if all lines of the text end in CRLF and the text begins with a
// propertyBlockStart line, which starts an entry's metadata. In a file that a dump wrote, the lines of the metadata end
// in LF. Therefore CRLF shows that another program has converted the line ends of the whole file. Any other text is
// returned unchanged.
func convertCRLFToLF(text string) string {
	if !strings.HasPrefix(strings.TrimPrefix(text, byteOrderMark), propertyBlockStart+"\r\n") {
		return text
	}
	if lf := strings.ReplaceAll(text, "\r\n", "\n"); len(text)-len(lf) == strings.Count(lf, "\n") {
		return lf
	}
	return text
}

// storeHistory finds earlier states of entries in a store's history. If the store lacks a history, it finds nothing.
type storeHistory struct {
	ctx          context.Context
	history      oxbow.Historian // nil if the store lacks a history
	isUndoBySeq  map[uint64]bool // for each change that was read, whether it undid other changes
	firstReadSeq uint64          // number of the earliest change in isUndoBySeq
}

func newStoreHistory(ctx context.Context, s oxbow.Store) *storeHistory {
	h, _ := oxbow.HistoryOf(s)
	return &storeHistory{ctx: ctx, history: h, isUndoBySeq: map[uint64]bool{}, firstReadSeq: ^uint64(0)}
}

// hadEntry reports whether the store had the entry in a file earlier, so that the store is newer than the file. The
// parameter fileEntry is the entry in the file. The parameter base describes the version of the entry that the last
// dump wrote.
//
// hadEntry reads the versions of the entry in the history of the store, newest first. It returns true at the first
// version that equals fileEntry. It returns false if it reads one of these versions before: a version that was
// restored, a removal by an undo, or the version base. It also returns false if no version equals fileEntry, or if the
// store has no history.
func (p *storeHistory) hadEntry(fileEntry *oxbow.Entry, base manifestItem) (bool, error) {
	if p.history == nil {
		return false, nil
	}
	for v, err := range p.history.Versions(p.ctx, fileEntry.Name) {
		v.Entry.Labels = withoutLocalLabels(v.Entry.Labels)
		switch {
		case errors.Is(err, oxbow.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case v.Verb != oxbow.VerbRemove && isSameAsStored(fileEntry, &v.Entry):
			return true, nil
		case v.Verb == oxbow.VerbRestore || (v.Verb != oxbow.VerbRemove && base.matchesEntry(&v.Entry)):
			return false, nil
		}
		if v.Verb != oxbow.VerbRemove {
			continue
		}
		if undo, err := p.isUndo(v.Seq); err != nil || undo {
			return false, err
		}
	}
	return false, nil
}

// dumpedEntry returns an earlier version of the entry with the given name: the version that the last dump wrote. The
// argument base is the manifest item that describes the file of that dump. ok is false if the store's history does not
// contain this version.
func (p *storeHistory) dumpedEntry(name string, base manifestItem) (e oxbow.Entry, ok bool, err error) {
	if p.history == nil {
		return e, false, nil
	}
	for v, err := range p.history.Versions(p.ctx, name) {
		if errors.Is(err, oxbow.ErrNotFound) {
			return e, false, nil
		}
		if err != nil {
			return e, false, err
		}
		v.Entry.Labels = withoutLocalLabels(v.Entry.Labels)
		if v.Verb != oxbow.VerbRemove && base.matchesEntry(&v.Entry) {
			return v.Entry, true, nil
		}
	}
	return e, false, nil
}

// isUndo reports whether the change with this number undid other changes.
func (p *storeHistory) isUndo(seq uint64) (bool, error) {
	if seq >= p.firstReadSeq {
		return p.isUndoBySeq[seq], nil
	}
	for c, err := range p.history.Log(p.ctx) {
		if err != nil {
			return false, err
		}
		p.isUndoBySeq[c.Seq] = len(c.Reverts) > 0
		p.firstReadSeq = c.Seq
		if c.Seq <= seq {
			break
		}
	}
	return p.isUndoBySeq[seq], nil
}
