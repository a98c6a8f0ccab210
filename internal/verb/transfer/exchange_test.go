// This file tests whether the index contains the entries of a large import.

package transfer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// TestMakeIndexAfterMany tests that an import of many entries brings an existing index file up to date. Otherwise a
// hook would have to index these entries, and has too little time. After an import of few entries, the index file may
// stay as it is. If there is no index file, the import must not create one.
func TestMakeIndexAfterMany(t *testing.T) {
	store := filepath.Join(t.TempDir(), "memory.oxbow")
	put := func(from, to int) (ops []oxbow.Op) {
		for i := from; i < to; i++ {
			ops = append(ops, oxbow.Add{Name: fmt.Sprint("entry ", i), Content: fmt.Sprintf("the harbor of w%d", i)})
		}
		return ops
	}
	write := func(how func(m *oxbow.Memory), ops ...oxbow.Op) []byte {
		m, err := oxbow.Open(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Apply(t.Context(), ops...); err != nil {
			t.Fatal(err)
		}
		how(m)
		if r, err := m.Store().(oxbow.Checker).Check(t.Context()); err != nil || len(r.Problems) > 0 {
			t.Errorf("Check = %v, %v", r.Problems, err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		b, _ := os.ReadFile(store + index.FileSuffix)
		return b
	}
	many := func(n int) func(m *oxbow.Memory) {
		return func(m *oxbow.Memory) { verb.IndexAfterLargeWrite(t.Context(), m, n) }
	}
	if b := write(func(*oxbow.Memory) {}, put(0, 2000)...); b != nil {
		t.Fatal("there is an index that nothing has made")
	}
	if b := write(many(400), put(2000, 2400)...); b != nil {
		t.Error("an index that is not used was made")
	}
	old := write(func(m *oxbow.Memory) {
		if err := m.MakeIndex(t.Context()); err != nil {
			t.Error(err)
		}
	}, put(2400, 2401)...)
	if len(old) == 0 {
		t.Fatal("there is no index")
	}
	if b := write(many(100), put(3000, 3100)...); !bytes.Equal(b, old) {
		t.Error("the index was made again of 100 entries")
	}
	if b := write(many(400), put(4000, 4400)...); bytes.Equal(b, old) {
		t.Error("the index lacks 400 entries")
	}
}
