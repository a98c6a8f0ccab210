// This file presents the heads of the entries in a snapshot as a table. A head is a short description of an entry
// without its content. With the table, a caller can rank a million entries without decoding the head of each entry.

package logstore

import (
	"cmp"
	"context"
	"encoding/binary"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// ViewHeadTable implements [store.HeadTableViewer].
func (d *DB) ViewHeadTable(
	ctx context.Context,
	keys []string,
	fn func(t *store.HeadTable) error,
) (ok bool, err error) {
	if !areLabelSetKeys(keys) {
		return false, nil
	}
	l, err := d.openListing(ctx, store.Filter{})
	if err != nil {
		return true, err
	}
	defer l.close()
	if l.base == nil {
		return false, nil
	}
	err = fn(l.newHeadTable(ctx, keys))
	return l.base.snapshotReadError() == nil, err
}

// newHeadTable returns a table with the heads of the listed entries. A head is an entry's metadata: ID, kind, labels,
// time of the last change, and content size. l.base must not be nil.
//
// The table has a row for each entry that is unchanged since the snapshot was written. ChangedEntries contains all
// other entries: those that were created or changed after it.
//
// The kind and the labels of a row are stored as a form, which all entries with the same kind and labels share. A form
// contains only the labels whose keys are in the list keys.
func (l *entryListing) newHeadTable(ctx context.Context, keys []string) *store.HeadTable {
	forms := l.base.readHeadForms(keys)
	return &store.HeadTable{
		FormCount:      len(forms.formTexts),
		ChangedEntries: l.entriesNotInSnapshot,
		EachForm:       forms.eachForm,
		EachRow:        func(fn func(row, form, size int)) error { return l.eachHeadRow(ctx, forms, fn) },
		NewestRows: func(yield func(row, form int) bool) {
			for rank := range l.base.len() {
				row := l.base.rowAtNewestRank(rank)
				if l.hiddenRows.hasBit(row) {
					continue
				}
				if !yield(row, forms.formNumberInRow(row)) {
					return
				}
			}
		},
		FindRow: func(id uint64) (row, form int, ok bool) {
			row, ok = l.base.findRow(id)
			if !ok || l.hiddenRows.hasBit(row) {
				return 0, 0, false
			}
			return row, forms.formNumberInRow(row), true
		},
		Head: func(row int) (id uint64, updated time.Time, size int) {
			bytes := binary.LittleEndian.Uint32(l.base.tables.Row(sectionEntrySummaries, row)[4:])
			return l.base.entryID(row), time.Unix(0, l.base.entryField(row, 4)).UTC(), int(bytes)
		},
		Read: l.readByID,
	}
}

// headForms are the forms of a head table. A form is a kind and the labels with certain keys. Label sets of the
// snapshot that differ only in labels with other keys have the same form. A snapshot may have several hundred thousand
// label sets.
type headForms struct {
	base         *snapshot
	keysByLength [][]string // the keys of the labels, by their length in bytes
	formTexts    []string   // the kind and the labels of each form, encoded as in a label set of the snapshot

	formsByLabelSet []uint32 // by the number of a label set in the snapshot: the number of its form
	formsByText     map[string]uint32
	textBuffer      []byte // reused memory for the text of a form
}

// readHeadForms returns the forms of the snapshot's label sets. A label set is a kind and labels that several entries
// have in common. Its form contains only the labels whose keys are in the list keys, so several label sets may have the
// same form. readHeadForms does not keep the label sets in memory. If a label set cannot be read, it records the error.
func (s *snapshot) readHeadForms(keys []string) *headForms {
	f := &headForms{base: s, formsByText: map[string]uint32{}}
	for _, key := range keys {
		for len(f.keysByLength) <= len(key) {
			f.keysByLength = append(f.keysByLength, nil)
		}
		f.keysByLength[len(key)] = append(f.keysByLength[len(key)], key)
	}
	keydir.EachLabelSet(s.tables, f.addLabelSet)
	if len(f.formTexts) == 0 { // The snapshot contains no entries, or their kinds and labels cannot be read.
		f.addLabelSet([]byte(encodeLabelSet(&store.Entry{})))
	}
	return f
}

// addLabelSet adds the next label set of the snapshot, which text encodes. It records the number of the label set's
// form, and adds the form if it is new. The form consists of the kind and of the labels whose keys f contains. If the
// text cannot be decoded, addLabelSet records errUnusableSnapshot.
func (f *headForms) addLabelSet(text []byte) {
	f.textBuffer = f.textBuffer[:0]
	isValid := len(text) > 0 && store.Kind(text[0]).Valid()
	if isValid {
		f.textBuffer = append(f.textBuffer, text[0])
		text = text[1:]
	}
	for isValid && len(text) > 0 {
		key, afterKey, hasKey := keydir.CutLengthAndText(text)
		_, rest, hasValue := keydir.CutLengthAndText(afterKey)
		isValid = hasKey && hasValue
		if isValid && f.hasKey(key) {
			f.textBuffer = append(f.textBuffer, text[:len(text)-len(rest)]...)
		}
		text = rest
	}
	if !isValid {
		f.base.recordError(errUnusableSnapshot)
	}
	f.formsByLabelSet = append(f.formsByLabelSet, f.findOrAddForm(f.textBuffer))
}

// findOrAddForm returns the number of the form with this text. A form is the kind and some of the labels of an entry,
// and many label sets have the same form. If the form is new, findOrAddForm adds it with the next number.
func (f *headForms) findOrAddForm(text []byte) uint32 {
	// The label sets of a snapshot are sorted. Therefore a label set often has the same form as the label set before
	// it.
	if n := len(f.formsByLabelSet); n > 0 && f.formTexts[f.formsByLabelSet[n-1]] == string(text) {
		return f.formsByLabelSet[n-1]
	}
	form, ok := f.formsByText[string(text)]
	if !ok {
		form = uint32(len(f.formTexts))
		f.formTexts = append(f.formTexts, string(text))
		f.formsByText[f.formTexts[form]] = form
	}
	return form
}

// hasKey reports whether key is one of the label keys that the forms contain.
func (f *headForms) hasKey(key []byte) bool {
	if len(key) >= len(f.keysByLength) {
		return false
	}
	for _, k := range f.keysByLength[len(key)] {
		if k == string(key) {
			return true
		}
	}
	return false
}

// eachForm calls fn for each form. A form is a kind of entry together with certain labels that many entries have in
// common. The argument form is the number of the form. The argument e is an entry that contains only the form's kind
// and labels, and that the next call overwrites. Some forms may belong to no present entry. A form without a kind is
// skipped, because the snapshot is damaged. If the labels of a form cannot be decoded, eachForm returns an error.
func (f *headForms) eachForm(fn func(form int, e *store.Entry)) error {
	var e store.Entry
	for number, text := range f.formTexts {
		if text == "" {
			continue // The snapshot is damaged, which was recorded.
		}
		var err error
		e.Kind = labelSetKind(text)
		e.Labels, err = appendLabelSetLabels(e.Labels[:0], text)
		if err != nil {
			f.base.recordError(err)
			return err
		}
		fn(number, &e)
	}
	return nil
}

// formNumberInRow returns the form number of the entry in a snapshot row. A form is a combination of a kind and labels.
// Entries with the same combination have the same form. If the row is damaged, formNumberInRow records an error in
// f.base and returns the form number of the first label set.
func (f *headForms) formNumberInRow(row int) int {
	number := binary.LittleEndian.Uint32(f.base.tables.Row(sectionEntrySummaries, row))
	if uint64(number) >= uint64(len(f.formsByLabelSet)) {
		f.base.recordLabelSetError(row)
		number = 0
	}
	return int(f.formsByLabelSet[number])
}

// eachHeadRow calls fn for each row of the snapshot that is not hidden, in the order of entry IDs. The arguments of fn
// are the row, the entry's form number (a form is the kind and the labels with certain keys), and the content's size in
// bytes. A row with an invalid label set is skipped and recorded as an error. eachHeadRow does not keep the rows in
// memory.
func (l *entryListing) eachHeadRow(ctx context.Context, forms *headForms, fn func(row, form, size int)) error {
	row := 0
	err := l.base.tables.EachTablePage(sectionEntrySummaries, func(heads []byte) {
		if ctx.Err() != nil {
			return
		}
		for ; len(heads) > 0; heads = heads[keydir.RowSize[sectionEntrySummaries]:] {
			number, size := binary.LittleEndian.Uint32(heads), binary.LittleEndian.Uint32(heads[4:])
			switch {
			case uint64(number) >= uint64(len(forms.formsByLabelSet)):
				l.base.recordLabelSetError(row)
			case !l.hiddenRows.hasBit(row):
				fn(row, int(forms.formsByLabelSet[number]), int(size))
			}
			row++
		}
	})
	return cmp.Or(ctx.Err(), err)
}
