// This file tests how the layouts are distinguished, and how files in later layouts are read. No input may make a
// reader panic, or allocate much more memory than the size of the input.

package crmem

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// crabFile builds a file in the format of crabdb, the database of the program crabtalk.
type crabFile struct{ b []byte }

func newCrab() *crabFile {
	return &crabFile{append(appendHeader(nil, 0, 0), 0, 0, 0, 0)}
}

func (c *crabFile) record(op, col byte, key, value string) int {
	at := len(c.b)
	c.b = appendString(appendString(append(c.b, op, col), key), value)
	return at
}

// snapshot appends an index to the file and changes the header to refer to the index. The parameter keys contains the
// offset of each key. All keys belong to the column crabMemoryColumn.
func (c *crabFile) snapshot(keys map[string]int) {
	at := len(c.b)
	c.b = binary.LittleEndian.AppendUint32(c.b, uint32(len(keys)))
	for k, off := range keys {
		c.b = binary.LittleEndian.AppendUint64(appendString(append(c.b, crabMemoryColumn), k), uint64(off))
	}
	binary.LittleEndian.PutUint64(c.b[16:], uint64(at))
	binary.LittleEndian.PutUint64(c.b[24:], uint64(len(c.b)-at))
}

const crabNote = `{"name":"deploy","kind":"note","content":"We ship on Tuesdays.","aliases":["ship"],"created_at":"2026-08-18T09:00:00Z"}`

func crabs() (plain, indexed []byte) {
	c := newCrab()
	deploy := c.record(0, crabMemoryColumn, "local/memory/deploy", crabNote)
	c.record(0, 1, "local/session/1", "{}")
	plain = bytes.Clone(c.b)
	c.snapshot(map[string]int{"local/memory/deploy": deploy})
	c.record(0, crabMemoryColumn, "local/memory/s-1", `{"name":"s-1","kind":"archive","content":"talk"}`)
	c.record(0, crabMemoryColumn, "local/memory/gone", crabNote)
	c.record(1, crabMemoryColumn, "local/memory/gone", "")
	return plain, c.b
}

func TestRecognise(t *testing.T) {
	plain, indexed := crabs()
	note := record{ID: 1, Name: "a", Content: "x"}
	empty := memoryFile{NextID: 1}.encode()
	for _, tt := range []struct {
		name string
		data []byte
		want FileLayout
	}{
		{"empty v1", empty, layoutV1},
		{"v1", memoryFile{NextID: 2, Entries: []record{note}}.encode(), layoutV1},
		{
			"topics",
			memoryFile{NextID: 3, Entries: []record{note, {ID: 2, Kind: kindNumberTopic, Name: "t"}}}.encode(),
			layoutCRMEMWithTopics,
		},
		{"empty crabdb", newCrab().b, layoutCrabDB},
		{"the notes' crabdb", unhex(t, "43524d454d00010000000000000000000000000000000000000000000000000000020100000"+
			"06b0100000076"), layoutCrabDB},
		{"crabdb", plain, layoutCrabDB},
		{"crabdb with an index", indexed, layoutCrabDB},
		{"torn crabdb", plain[:len(plain)-1], layoutCrabDB},
		{"cut v1", empty[:27], layoutUnknown},
		{"nothing", nil, layoutUnknown},
		{"text", []byte("# Notes\n\nand a text that is long enough"), layoutUnknown},
	} {
		if got := detectLayout(tt.data); got != tt.want {
			t.Errorf("detectLayout(%s) = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestOpenLater checks that Open refuses a later layout, and does not change the file.
func TestOpenLater(t *testing.T) {
	plain, indexed := crabs()
	topics := memoryFile{NextID: 2, Entries: []record{{ID: 1, Kind: kindNumberTopic, Name: "t"}}}.encode()
	for name, data := range map[string][]byte{
		"crabdb":  plain,
		"indexed": indexed,
		"empty":   newCrab().b,
		"topics":  topics,
	} {
		fsys := vfs.NewMem()
		putFile(t, fsys, "memory.db", data)
		_, err := Open("memory.db", &oxbow.Options{FS: fsys})
		if !errors.Is(err, oxbow.ErrVersion) || !errors.Is(err, ErrBadFormat) ||
			!strings.Contains(err.Error(), "later crabtalk") || !strings.Contains(err.Error(), "oxbow convert") {
			t.Errorf("Open(%s) = %v", name, err)
		}
		// A file in a later layout may also replace the file of an open store.
		fsys = vfs.NewMem()
		s := open(t, fsys)
		add(t, s, "a", "x")
		putFile(t, fsys, "memory.db", data)
		if err := s.Apply(t.Context(), oxbow.Add{Name: "b", Content: "y"}); !errors.Is(err, oxbow.ErrVersion) {
			t.Errorf("Apply over %s = %v", name, err)
		}
		if _, err := s.Get(t.Context(), "a"); !errors.Is(err, oxbow.ErrVersion) {
			t.Errorf("Get over %s = %v", name, err)
		}
		if got, err := vfs.ReadFile(fsys, "memory.db", -1); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s was changed: %v", name, err)
		}
	}
}

func TestImport(t *testing.T) {
	plain, indexed := crabs()
	for name, tt := range map[string]struct {
		data []byte
		want string
	}{
		"plain": {plain, "deploy"}, "indexed": {indexed, "deploy s-1"},
		"torn": {append(bytes.Clone(indexed), 0, 2, 9), "deploy s-1"},
	} {
		in, err := Import(tt.data)
		if err != nil || in.Layout != layoutCrabDB {
			t.Errorf("%s: Import = %v, %v", name, in.Layout, err)
			continue
		}
		var got []string
		for _, e := range in.Entries {
			got = append(got, e.Name)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: entries = %q, want %s", name, got, tt.want)
			continue
		}
		e := in.Entries[0]
		if e.Content != "We ship on Tuesdays." || len(e.Aliases) != 1 ||
			e.Created.Format("2006-01-02") != "2026-08-18" || e.Kind != oxbow.Note {
			t.Errorf("%s: entry = %+v", name, e)
		}
		if len(got) > 1 && in.Entries[1].Kind != oxbow.Archive {
			t.Errorf("%s: s-1 is a %v", name, in.Entries[1].Kind)
		}
		if name == "plain" && len(in.Warnings) != 1 {
			t.Errorf("%s: warnings = %q, want one about the session", name, in.Warnings)
		}
	}

	// Open refuses this file because it repeats IDs and names. Import must read all of its entries.
	b := append(
		memoryFile{NextID: 3, Entries: []record{{ID: 1, Name: "a", Content: "old"}, {ID: 2, Name: "a", Content: "new"},
			{ID: 2, Kind: kindNumberTopic, Name: "t", Content: "topic"}}}.encode(), "tail"...,
	)
	in, err := Import(b)
	if err != nil || len(in.Entries) != 3 {
		t.Fatalf("Import = %+v, %v", in, err)
	}
	if in.Entries[0].Name != "a (2)" || in.Entries[1].Name != "a" || in.Entries[2].Labels[0] != topicLabel ||
		len(in.Warnings) != 2 {
		t.Errorf("Import = %+v", in)
	}
}

func FuzzDecode(f *testing.F) {
	plain, indexed := crabs()
	good := memoryFile{
		NextID: 4,
		Entries: []record{
			{ID: 1, Name: "a", Content: "x"},
			{ID: 3, Kind: kindNumberArchive, Name: "b", Aliases: []string{"y", ""}},
		},
	}.encode()
	huge := appendHeader(nil, 2, 1<<31-1)
	for _, b := range [][]byte{plain, indexed, good, huge, good[:40], nil} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		file, err := decodeFile(data)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16*uint64(len(data))+1<<20 {
			t.Errorf("Decode of %d bytes took %d bytes of memory", len(data), used)
		}
		if err != nil && !errors.Is(err, ErrBadFormat) {
			t.Errorf("Decode = %v, want a FormatError", err)
		}
		layout := detectLayout(data)
		if err == nil && layout != layoutV1 && layout != layoutAmbiguous {
			t.Errorf("Decode accepts what is recognised as %v", layout)
		}
		if _, err := Import(data); err != nil && !errors.Is(err, ErrBadFormat) {
			t.Errorf("Import = %v, want a FormatError", err)
		}
		if err != nil {
			return
		}
		again := file.encode()
		if len(again) != len(data) {
			t.Errorf("written again, %d bytes became %d", len(data), len(again))
		}
	})
}
