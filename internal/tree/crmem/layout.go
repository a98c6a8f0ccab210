// This file reads files in layouts that begin with the same bytes as CRMEM v1, and determines the layout of a file.

package crmem

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
)

// FileLayout is the layout of a file.
type FileLayout uint8

// Layouts of a file that begins like a crabtalk memory file. Three file formats of crabtalk begin in this way: CRMEM
// v1, a newer version of CRMEM that also stores topics, and crabdb. The first bytes do not tell them apart, because all
// three have the same magic number, version and flags.
const (
	layoutUnknown FileLayout = iota // the file has a different layout or is damaged
	layoutV1                        // file format CRMEM v1, which [Open] can open
	// like CRMEM v1, but with entries of a third kind, which a later crabtalk writes
	layoutCRMEMWithTopics
	layoutCrabDB // the key-value log that crabtalk has written since August 2026
	// the bytes are valid both as a CRMEM v1 file and as a crabdb, crabtalk's newer file format
	layoutAmbiguous
)

var layoutNames = [...]string{
	"no memory file of crabtalk",
	"a CRMEM v1 file",
	"a CRMEM file of a later crabtalk, with topics",
	"a crabdb, the store of a later crabtalk, which begins with the same bytes as CRMEM v1",
	"readable both as CRMEM v1 and as a crabdb",
}

// String describes the layout in words.
func (l FileLayout) String() string { return layoutNames[l] }

// detectLayout determines the layout of a whole file. The layouts have the same first 16 bytes, so that only the rest
// of the file shows which it is. In CRMEM, the entries must end at the end of the file. In a crabdb, the index and the
// records after the header must be consistent.
func detectLayout(data []byte) FileLayout {
	if checkHeader(data) != nil {
		return layoutUnknown
	}
	var whole, topics bool
	if d, err := decodeEntries(data, kindNumberTopic); err == nil && d.readOffset == len(data) {
		whole = true
		for _, r := range d.file.Entries {
			topics = topics || r.Kind == kindNumberTopic
		}
	}
	db := isCrabDB(data)
	switch {
	case whole && db:
		return layoutAmbiguous
	case topics:
		return layoutCRMEMWithTopics
	case whole:
		return layoutV1
	case db:
		return layoutCrabDB
	}
	return layoutUnknown
}

// topicLabel is added to an entry that was a topic in crabtalk's file. A topic is the third kind of entry, which only
// later versions of crabtalk write.
var topicLabel = oxbow.Label{Key: oxbow.LabelTag, Value: "topic"}

// ImportedFile is a file's content in any of the layouts.
type ImportedFile struct {
	Layout FileLayout

	// Entries have the fields Name, Kind, Content, Aliases, Labels and Created. They are sorted by ID, or by key if the
	// file is a crabdb, crabtalk's newer format. A topic of crabtalk becomes a note with topicLabel. Names are unique.
	// The names are not changed, so some of them may be names that other stores refuse.
	Entries []oxbow.Entry

	// Warnings describe data that was left out or changed.
	Warnings []string
}

// Import reads the entries from a memory file of the program crabtalk. It fails if the file is valid in two layouts,
// because it cannot know which layout is right. Unlike [Open], Import accepts bytes after the last entry, reserved
// bytes that are not zero, entries with the same ID, and entries with the same name. It returns a warning about the
// bytes after the last entry, and a warning about each repeated name. If several entries have the same name, the last
// entry in the file keeps the name, and a number is added to the name of each earlier entry. Errors are [*FormatError].
func Import(data []byte) (ImportedFile, error) {
	if err := checkHeader(data); err != nil {
		return ImportedFile{}, err
	}
	in := ImportedFile{Layout: detectLayout(data)}
	switch in.Layout {
	case layoutAmbiguous:
		return ImportedFile{}, &FormatError{Offset: -1, Reason: "the file is " +
			in.Layout.String(), matchedSentinel: oxbow.ErrVersion,
			Hint: "open it with the crabtalk that wrote it and dump it from there"}
	case layoutCrabDB:
		return in, in.importCrabDB(data)
	}
	d, err := decodeEntries(data, kindNumberTopic)
	if err != nil {
		return ImportedFile{}, err
	}
	if n := len(data) - d.readOffset; n > 0 {
		in.addWarning("%d bytes behind the last entry were left out", n)
	}
	last := make(map[string]int, len(d.file.Entries))
	for i := range d.file.Entries {
		last[d.file.Entries[i].Name] = i
	}
	for i := range d.file.Entries {
		r := &d.file.Entries[i]
		e := r.toEntry()
		e.ID, e.Version = 0, 0
		if r.Kind == kindNumberTopic {
			e.Labels = []oxbow.Label{topicLabel}
		}
		if last[r.Name] != i {
			for n := 2; ; n++ {
				e.Name = fmt.Sprintf("%s (%d)", r.Name, n)
				if _, taken := last[e.Name]; !taken {
					break
				}
			}
			last[e.Name] = i
			in.addWarning("entry %d has the name %q of a later one; it is read as %q", r.ID, r.Name, e.Name)
		}
		in.Entries = append(in.Entries, e)
	}
	return in, nil
}

func (in *ImportedFile) addWarning(format string, args ...any) {
	in.Warnings = append(in.Warnings, fmt.Sprintf(format, args...))
}

// The format of a crabdb, which crabtalk has written since August 2026:
//
//	offset  size
//	     0    16  as CRMEM v1
//	    16     8  where the index is, u64, 0 for none
//	    24     8  its length, u64
//	    32        records and, among them, indexes that are out of date
//
// A record consists of a byte that is 0 for put and 1 for delete, a byte for the column, the key and the value. The
// length of the key or value, as u32, precedes it. An index contains the number of keys as u32, and for each key the
// column, the key and the record's offset as u64. The records after the index are replayed. In a file without an
// index, the records after the header are replayed. An incomplete record at the end of the file is ignored.
//
// The memory is in column 2. A key is REALM/memory/NAME, its value a JSON object with name, kind,
// content, aliases and created_at.
const (
	crabRecordsOffset = 32
	crabMemoryColumn  = 2
	crabKeyInfix      = "/memory/"
)

type crabRecordKey struct {
	column byte
	key    string
}

// crabRecord is a record in a crabdb, the newer file format of crabtalk. endOffset is where the next record begins.
type crabRecord struct {
	operation, column byte
	key, value        []byte
	endOffset         int
}

var (
	errCrabIncompleteRecord = errors.New("the file ends in a record")
	errUnknownCrabOperation = errors.New("a record is neither put nor delete")
)

func parseCrabRecord(data []byte, offset int) (crabRecord, error) {
	d := &entryDecoder{data: data, readOffset: offset}
	b := d.readBytes(2)
	if b == nil {
		return crabRecord{}, errCrabIncompleteRecord
	}
	if b[0] > 1 {
		return crabRecord{}, errUnknownCrabOperation
	}
	r := crabRecord{operation: b[0], column: b[1]}
	r.key = d.readBytes(int64(d.readUint32()))
	r.value = d.readBytes(int64(d.readUint32()))
	r.endOffset = d.readOffset
	if d.err != nil {
		return crabRecord{}, errCrabIncompleteRecord
	}
	return r, nil
}

// readCrabIndex reads the index of a crabdb, to which the file's header refers. For each key in the index, keys
// contains the offset of the key's record. The caller must apply the records from replayOffset, the offset after the
// index, to keys. If the file has no index, keys is nil and replayOffset is the offset of the first record. ok is false
// if the index or the header is invalid.
func readCrabIndex(data []byte) (keys map[crabRecordKey]int, replayOffset int, ok bool) {
	if len(data) < crabRecordsOffset {
		return nil, 0, false
	}
	at, n := binary.LittleEndian.Uint64(data[16:]), binary.LittleEndian.Uint64(data[24:])
	if at == 0 && n == 0 {
		return nil, crabRecordsOffset, true
	}
	size := uint64(len(data))
	isInFile := crabRecordsOffset <= at && at <= size && n <= size-at
	if !isInFile || n < 4 {
		return nil, 0, false
	}
	d := &entryDecoder{data: data[:at+n], readOffset: int(at)}
	count := int64(d.readUint32())
	const least = 1 + 4 + 8
	if count > int64(n)/least {
		return nil, 0, false
	}
	keys = make(map[crabRecordKey]int, count)
	for range count {
		col := d.readBytes(1)
		key := d.readBytes(int64(d.readUint32()))
		off := d.readUint64()
		isBefore := crabRecordsOffset <= off && off < at
		if d.err != nil || !isBefore {
			return nil, 0, false
		}
		r, err := parseCrabRecord(data, int(off))
		isEntry := err == nil && r.operation == 0 && r.column == col[0] && string(r.key) == string(key)
		if !isEntry {
			return nil, 0, false
		}
		keys[crabRecordKey{col[0], string(key)}] = int(off)
	}
	if d.readOffset != len(d.data) {
		return nil, 0, false
	}
	return keys, int(at + n), true
}

// isCrabDB reports whether data is a valid file in the format crabdb, the newer file format of crabtalk. The index and
// all records after the index must be valid. An incomplete record at the end of the file is allowed.
func isCrabDB(data []byte) bool {
	_, replay, ok := readCrabIndex(data)
	if !ok {
		return false
	}
	for at := replay; at < len(data); {
		r, err := parseCrabRecord(data, at)
		if err != nil {
			return errors.Is(err, errCrabIncompleteRecord)
		}
		at = r.endOffset
	}
	return true
}

// importCrabDB reads data, which is a file of the database crabdb, and adds its memory entries to in.Entries. It skips
// keys that are not memory entries, entries that cannot be decoded, and an incomplete record at the end of the file,
// which an interrupted write left. For what it skips, it adds warnings to in. importCrabDB returns an error if a record
// that the file's index lists cannot be read.
func (in *ImportedFile) importCrabDB(data []byte) error {
	keys, at, _ := readCrabIndex(data)
	if keys == nil {
		keys = map[crabRecordKey]int{}
	}
	for at < len(data) {
		r, err := parseCrabRecord(data, at)
		if err != nil {
			in.addWarning("%d bytes at the end are what an interrupted write left", len(data)-at)
			break
		}
		k := crabRecordKey{r.column, string(r.key)}
		if r.operation == 0 {
			keys[k] = at
		} else {
			delete(keys, k)
		}
		at = r.endOffset
	}
	others := 0
	for _, k := range sortCrabRecordKeys(keys) {
		_, name, ok := strings.Cut(k.key, crabKeyInfix)
		if k.column != crabMemoryColumn || !ok {
			others++
			continue
		}
		r, err := parseCrabRecord(data, keys[k])
		if err != nil {
			return corruptError(keys[k], err.Error())
		}
		if e, err := in.crabEntry(name, r.value); err != nil {
			in.addWarning("entry %q was left out: %v", name, err)
		} else {
			in.Entries = append(in.Entries, e)
		}
	}
	if others > 0 {
		in.addWarning("%d keys that hold no memory (sessions, skills, settings) were left out", others)
	}
	return nil
}

// crabEntry returns the entry that a crabtalk memory contains under the key name. It parses value as JSON. If the kind
// is unknown, crabEntry adds a warning and returns the entry as a note. If the date is invalid, it adds a warning and
// returns the entry without a date. Other mistakes are errors.
func (in *ImportedFile) crabEntry(name string, value []byte) (oxbow.Entry, error) {
	if !utf8.ValidString(name) || !utf8.Valid(value) {
		return oxbow.Entry{}, errors.New("it is not UTF-8")
	}
	var v struct {
		Kind, Content string
		Aliases       []string
		CreatedAt     string `json:"created_at"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return oxbow.Entry{}, fmt.Errorf("its value is not the JSON object of an entry: %w", err)
	}
	e := oxbow.Entry{Name: name, Content: v.Content, Aliases: v.Aliases}
	switch v.Kind {
	case "note":
	case "archive":
		e.Kind = oxbow.Archive
	case "topic":
		e.Labels = []oxbow.Label{topicLabel}
	default:
		in.addWarning("entry %q is of kind %q; it is read as a note", name, v.Kind)
	}
	if v.CreatedAt != "" {
		t, err := time.Parse(time.RFC3339, v.CreatedAt)
		if err != nil {
			in.addWarning("entry %q has the date %q, which is none; it is read without", name, v.CreatedAt)
		} else {
			e.Created = t.UTC()
			e.Updated = e.Created
		}
	}
	return e, nil
}

func sortCrabRecordKeys(keys map[crabRecordKey]int) []crabRecordKey {
	return slices.SortedFunc(maps.Keys(keys), func(a, b crabRecordKey) int {
		return cmp.Or(cmp.Compare(a.column, b.column), strings.Compare(a.key, b.key))
	})
}
