// This file tests reading databases that SQLite wrote.

package sqlitefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func openTest(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.CheckForChanges(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}

func openTable(t testing.TB, path, name string) *Table {
	t.Helper()
	table, err := openTest(t, path).Table(name)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestRows reads a table that needs several levels of pages, and whose large rows need overflow pages.
func TestRows(t *testing.T) {
	n := 0
	for row, err := range openTable(t, "testdata/plain.db", "notes").Rows() {
		if err != nil {
			t.Fatal(err)
		}
		key, value := fmt.Sprintf("note:%03d", n), bytes.Repeat([]byte("x"), n*7%900)
		if row.Text("key") != key || row.Text("value") != string(value) || row.Number("weight") != float64(n)/4 ||
			row.Number("id") != float64(n+1) {
			t.Errorf("row %d is %q, %d bytes, %v, ID %v", n, row.Text("key"), len(row.Text("value")),
				row.Number("weight"), row.Number("id"))
		}
		n++
	}
	if n != 200 {
		t.Errorf("the table has %d rows, want 200", n)
	}
}

// TestWith finds rows by text in three ways: by the index that SQLite creates for a unique column, by an index that
// the schema defines, and without an index.
func TestWith(t *testing.T) {
	notes, lines := openTable(t, "testdata/plain.db", "notes"), openTable(t, "testdata/plain.db", "lines")
	if len(notes.indexRoots) != 1 || len(lines.indexRoots) != 1 {
		t.Errorf("the indexes are %v and %v", notes.indexRoots, lines.indexRoots)
	}
	tests := []struct {
		find  func(column, text string) ([]Row, error)
		about [2]string
		want  int
		show  string
		first string
	}{
		{notes.RowsWithText, [2]string{"key", "note:117"}, 1, "key", "note:117"},
		{notes.RowsWithText, [2]string{"key", "note:11"}, 0, "", ""},
		{notes.RowsWithPrefix, [2]string{"key", "note:11"}, 10, "key", "note:110"},
		{notes.RowsWithPrefix, [2]string{"key", "note:"}, 200, "key", "note:000"},
		{lines.RowsWithText, [2]string{"session", "s3"}, 29, "text", "line 3"},
		{lines.RowsWithText, [2]string{"session", "s9"}, 1, "late", "here"},
		{lines.RowsWithText, [2]string{"text", "line 199"}, 1, "n", "-1"},
		{lines.RowsWithText, [2]string{"missing", "line 199"}, 0, "", ""},
	}
	for _, tt := range tests {
		rows, err := tt.find(tt.about[0], tt.about[1])
		if err != nil || len(rows) != tt.want {
			t.Errorf("%v: %d rows, %v; want %d", tt.about, len(rows), err, tt.want)
			continue
		}
		if tt.want > 0 && rows[0].Text(tt.show) != tt.first {
			t.Errorf("%v: the first row is %q, want %q", tt.about, rows[0].Text(tt.show), tt.first)
		}
	}
}

// TestWriteAheadLog reads a committed change that only the log contains. The uncommitted change that follows must be
// ignored.
func TestWriteAheadLog(t *testing.T) {
	var all []string
	for row, err := range openTable(t, "testdata/logged.db", "t").Rows() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, row.Text("v"))
	}
	if fmt.Sprint(all) != "[one two]" {
		t.Errorf("the rows are %v", all)
	}
}

// TestUnreadable checks the errors for files that are not databases, for unsupported tables, for a database in the
// middle of a change, and for a database that changes while it is read.
func TestUnreadable(t *testing.T) {
	db := openTest(t, "testdata/plain.db")
	for _, name := range []string{"bare", "nothing"} {
		if _, err := db.Table(name); !errors.Is(err, errUnreadableFormat) {
			t.Errorf("Table(%q): %v", name, err)
		}
	}
	if !db.HasTables("notes", "LINES") || db.HasTables("notes", "nothing") {
		t.Error("HasTables is wrong")
	}
	path := copyFile(t, "testdata/plain.db")
	changing, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer changing.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[27]++
	writeFile(t, path, b)
	if err := changing.CheckForChanges(); !errors.Is(err, errWriterActive) {
		t.Errorf("after a change: %v", err)
	}
	writeFile(t, path+"-journal", []byte("a journal"))
	if _, err := Open(path); !errors.Is(err, errWriterActive) {
		t.Errorf("with a journal: %v", err)
	}
	long := strings.Repeat("a text that is longer than the header of a database ", 3)
	for _, text := range []string{"", "SQLite format 3\x00", long} {
		other := filepath.Join(t.TempDir(), "other.db")
		writeFile(t, other, []byte(text))
		if _, err := Open(other); !errors.Is(err, errUnreadableFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestChangedLog checks that CheckForChanges fails with errWriterActive if the write-ahead log of an open database
// changes. In the first case the log is created. In the second case a transaction is appended to the log, so that the
// header of the log stays the same. The database file does not change in either case.
func TestChangedLog(t *testing.T) {
	path := copyFile(t, "testdata/logged.db")
	log, err := os.ReadFile("testdata/logged.db-wal")
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []int{0, len(log) / 2} {
		if before > 0 {
			writeFile(t, path+"-wal", log[:before])
		}
		db, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.CheckForChanges(); err != nil {
			t.Errorf("without a change: %v", err)
		}
		writeFile(t, path+"-wal", log)
		if err := db.CheckForChanges(); !errors.Is(err, errWriterActive) {
			t.Errorf("with %d bytes more in the log: %v", len(log)-before, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReservedSpace tests a database whose pages end with 32 reserved bytes. For each offset at in the file, it
// overwrites two bytes by the address of a reserved byte. Reading the database may succeed or fail, but must not panic,
// and the error of a row must be errUnreadableFormat or io.EOF.
func TestReservedSpace(t *testing.T) {
	plain, err := os.ReadFile("testdata/logged.db")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "reserved.db")
	size := int(binary.BigEndian.Uint16(plain[16:]))
	for at := 100; at+2 <= len(plain); at++ {
		b := bytes.Clone(plain)
		b[20] = 32
		binary.BigEndian.PutUint16(b[at:], uint16(size-8))
		writeFile(t, path, b)
		db, err := Open(path)
		if err != nil {
			continue
		}
		if table, err := db.Table("t"); err == nil {
			for _, err := range table.Rows() {
				if err != nil && !errors.Is(err, errUnreadableFormat) && !errors.Is(err, io.EOF) {
					t.Errorf("offset %d: %v", at, err)
				}
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestQuotedDefinition checks that commas and parentheses inside quotes do not separate the columns in a table
// definition.
func TestQuotedDefinition(t *testing.T) {
	sql := "CREATE TABLE \"a,b\" (id TEXT, mark TEXT DEFAULT ',', side TEXT DEFAULT '(', \"last, one\" TEXT) STRICT"
	parts, rest := splitTableDefinition(sql)
	if len(parts) != 4 || strings.TrimSpace(rest) != "STRICT" {
		t.Errorf("parts %q, rest %q", parts, rest)
	}
}

func copyFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	writeFile(t, to, b)
	return to
}

func writeFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// FuzzDamage reads a database in which some bytes were changed. Reading it must not panic, and must not return more
// rows than the file has bytes.
func FuzzDamage(f *testing.F) {
	plain, err := os.ReadFile("testdata/logged.db")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(100), []byte{5, 0, 0, 0, 1})
	f.Add(uint16(512), []byte{13, 255, 255, 255})
	f.Fuzz(func(t *testing.T, at uint16, with []byte) {
		b := bytes.Clone(plain)
		copy(b[int(at)%len(b):], with)
		path := filepath.Join(t.TempDir(), "damaged.db")
		writeFile(t, path, b)
		db, err := Open(path)
		if err != nil {
			return
		}
		defer db.Close()
		table, err := db.Table("t")
		if err != nil {
			return
		}
		n := 0
		for row, err := range table.Rows() {
			if err == nil {
				_ = row.Text("v")
			}
			n++
		}
		if n > len(b) {
			t.Errorf("a file of %d bytes has %d rows", len(b), n)
		}
	})
}
