// This file compares the encoder and the decoder with files that crabtalk itself wrote and read.

package crmem

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

type vectorOp struct {
	Op, Name, Content, Kind string
	Aliases                 []string
}

func (v vectorOp) op(t *testing.T) oxbow.Op {
	switch v.Op {
	case "add":
		k, err := oxbow.ParseKind(v.Kind)
		if err != nil {
			t.Fatal(err)
		}
		return oxbow.Add{Name: v.Name, Content: v.Content, Aliases: v.Aliases, Kind: k}
	case "update":
		return oxbow.Update{Name: v.Name, Content: v.Content, Aliases: v.Aliases}
	case "alias":
		return oxbow.Alias{Name: v.Name, Aliases: v.Aliases}
	case "remove":
		return oxbow.Remove{Name: v.Name}
	}
	t.Fatalf("unknown op %q", v.Op)
	return nil
}

// TestEncodeVectors tests that a store writes the same bytes as the program crabtalk for the same changes. The changes
// are not validated, because crabtalk accepts all names and aliases. Vectors with topics are skipped, because topics
// are not part of CRMEM v1.
func TestEncodeVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/crmem-encode.json")
	if err != nil {
		t.Fatal(err)
	}
	var vs []struct {
		Name    string
		Clock   int64
		Ops     []vectorOp
		Results []struct {
			OK    bool
			Error string
		}
		Hex string
	}
	if err := json.Unmarshal(b, &vs); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, v := range vs {
		t.Run(v.Name, func(t *testing.T) {
			for _, o := range v.Ops {
				if o.Kind == "topic" {
					t.Skip("topics are not of CRMEM v1")
				}
			}
			compared++
			fsys := vfs.NewMem()
			s, err := Open("memory.db", &oxbow.Options{FS: fsys, Clock: func() time.Time {
				return time.Unix(v.Clock, 999)
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx := t.Context()
			for i, o := range v.Ops {
				var err error
				if o.Op == "checkpoint" {
					err = s.Checkpoint(ctx)
				} else {
					op := o.op(t)
					err = applyUnchecked(ctx, s, op)
					if err != nil && !strings.Contains(v.Results[i].Error, o.Name) {
						t.Errorf("op %d: %v, want %v", i, err, v.Results[i].Error)
					}
				}
				if (err == nil) != v.Results[i].OK {
					t.Errorf("op %d %+v = %v, want ok %v", i, o, err, v.Results[i].OK)
				}
			}
			if got := fileHex(t, fsys); got != v.Hex {
				t.Errorf("file is\n%s\nwant\n%s", got, v.Hex)
			}
			f, err := decodeFile(unhex(t, v.Hex))
			if err != nil {
				t.Fatalf("Decode: %v", err)
			}
			if again := f.encode(); hex.EncodeToString(again) != v.Hex {
				t.Errorf("Decode, then Encode = %x", again)
			}
			checkStore(t, s)
		})
	}
	if compared < 8 {
		t.Errorf("only %d vectors were compared", compared)
	}
}

// applyUnchecked is like Apply, but does not refuse names and aliases that crabtalk accepts.
func applyUnchecked(ctx context.Context, s *Store, ops ...oxbow.Op) error {
	return s.withLock(ctx, func() error {
		if err := s.reloadIfChanged(); err != nil {
			return err
		}
		g := newUnwrittenRecordChanges(s.st, s.clock())
		if _, err := g.stageOps(ops); err != nil {
			return err
		}
		return s.writeStagedChanges(g, s.lastFileState)
	})
}

func fileHex(t *testing.T, fsys vfs.FS) string {
	t.Helper()
	b, err := vfs.ReadFile(fsys, "memory.db", -1)
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The map stricter contains the test files that crabtalk's reader accepts and this package refuses. A file is refused
// because the RFC forbids it, or because rewriting it would lose data. Each value is a part of the expected error. If a
// value is empty, the test does not expect another error than crabtalk's.
var stricter = map[string]string{
	"d12_reserved_nonzero": "reserved bytes", "d14_trailing": "behind the last entry",
	"d15_count_less_than_entries": "behind the last entry", "d16": "",
	"d17_dup_ids": "the same id", "d19_exact_dup": "the same id",
	"d23_kind2_topic": "unknown entry kind",
}

func TestDecodeVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/crmem-decode.tsv")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(cells) < 4 || !strings.HasPrefix(cells[0], "d") {
			continue // skip the rest of a message that has several lines
		}
		name := cells[0]
		data := unhex(t, cells[1])
		ok := cells[2] == "0"
		result := cells[3]
		compared++
		t.Run(name, func(t *testing.T) {
			f, err := decodeFile(data)
			var reason string
			switch {
			case stricter[name] != "":
				reason = stricter[name]
			case strings.HasSuffix(name, "_huge"):
				reason = "truncated body" // crabtalk tries to allocate 100 GB and crashes
			case !ok:
				var r struct{ Error string }
				if err := json.Unmarshal([]byte(result), &r); err != nil {
					t.Fatal(err)
				}
				reason = strings.TrimPrefix(r.Error, "bad memory file format: ")
			}
			if reason != "" {
				if !errors.Is(err, ErrBadFormat) || !strings.Contains(err.Error(), "bad memory file format: ") ||
					!strings.Contains(err.Error(), reason) {
					t.Errorf("Decode = %v, want %q", err, reason)
				}
				return
			}
			if err != nil {
				t.Fatalf("Decode = %v", err)
			}
			var got []string
			for _, r := range f.Entries {
				e := map[string]any{"id": r.ID, "created_at": r.CreatedUnixSeconds, "kind": r.toEntry().Kind.String(),
					"name":    r.Name,
					"content": r.Content, "aliases": append([]string{}, r.Aliases...)}
				j, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(j))
			}
			parts := strings.Split(result, " | ")
			var head struct {
				NextID uint64 `json:"next_id"`
			}
			if err := json.Unmarshal([]byte(parts[0]), &head); err != nil {
				t.Fatal(err)
			}
			if f.NextID != max(head.NextID, 1) || fmt.Sprint(got) != fmt.Sprint(parts[1:]) {
				t.Errorf("Decode = next id %d, %v\nwant %s", f.NextID, got, result)
			}
			again := f.encode()
			want := cells[5]
			if want == "same" {
				want = cells[1]
			}
			if hex.EncodeToString(again) != want {
				t.Errorf("written again: %x, want %s", again, want)
			}
		})
	}
	if compared < 20 {
		t.Errorf("only %d vectors were compared", compared)
	}
}

// TestDecodeByHand decodes files that the vectors do not contain.
func TestDecodeByHand(t *testing.T) {
	entry := func(id uint64, name string) record {
		return record{ID: id, CreatedUnixSeconds: 5, Name: name, Content: "c"}
	}
	enc := func(next uint64, rs ...record) []byte {
		b := appendHeader(nil, next, len(rs))
		for _, r := range rs {
			b = r.appendEncoded(b)
		}
		return b
	}
	reserved := enc(2, entry(1, "a"))
	reserved[13] = 1
	for _, tt := range []struct {
		name, want string
		data       []byte
		class      error
	}{
		{"reserved bytes", "reserved bytes are not zero at byte 13", reserved, oxbow.ErrCorrupt},
		{
			"trailing zeros",
			"4 bytes behind the last entry",
			append(enc(2, entry(1, "a")), 0, 0, 0, 0),
			oxbow.ErrCorrupt,
		},
		{"repeated name", "the same name", enc(3, entry(1, "a"), entry(2, "a")), oxbow.ErrCorrupt},
		{"repeated id", "the same id", enc(3, entry(1, "a"), entry(1, "b")), oxbow.ErrCorrupt},
		{"nothing", "file shorter than header", nil, oxbow.ErrNotStore},
		{"cut in the header", "file shorter than header", []byte(formatMagic), oxbow.ErrCorrupt},
		{"other text", "file shorter than header", []byte("hello"), oxbow.ErrNotStore},
		{"other file", "invalid magic", []byte("SQLite format 3\x00 and more"), oxbow.ErrNotStore},
	} {
		_, err := decodeFile(tt.data)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, tt.class) ||
			!errors.Is(err, ErrBadFormat) {
			t.Errorf("%s: Decode = %v, want %q and %v", tt.name, err, tt.want, tt.class)
		}
	}
	// A file that lacks bytes at its end has a truncated body.
	whole := enc(
		3,
		entry(1, "a"),
		record{ID: 2, Kind: kindNumberArchive, Name: "b", Content: "é", Aliases: []string{"x", "yy"}},
	)
	for n := headerSize; n < len(whole); n++ {
		if _, err := decodeFile(whole[:n]); err == nil || !strings.Contains(err.Error(), "truncated body") {
			t.Errorf("Decode of the first %d bytes = %v, want truncated body", n, err)
		}
	}
	// A next ID that is too low is corrected. Otherwise, crabtalk would overwrite entry 7.
	f, err := decodeFile(enc(3, entry(7, "a")))
	if err != nil || f.NextID != 8 {
		t.Errorf("next id = %d, %v, want 8", f.NextID, err)
	}
}

func decodeFile(data []byte) (*memoryFile, error) {
	f, _, err := decodeMemoryFile(data)
	return f, err
}
