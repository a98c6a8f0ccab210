// This file tests that the readers of databases report what they do not understand. It changes each type and role, in
// the database itself and in the document that is made from a session.

package transcript_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// documentTypes contains patterns for the type of an object in the JSON document of a session. The type is the value of
// a member such as "type", and may be a number. In the format of Zed, the type is the name of a member, such as "User".
// The second group of each pattern matches the type, which a test replaces.
var documentTypes = []*regexp.Regexp{
	typeMember,
	regexp.MustCompile(`("type"\s*:\s*)(\d+)`),
	regexp.MustCompile(`(")(User|Agent|Text|Thinking|ToolUse)"\s*:`),
}

// storedTypes contains patterns for the types of objects in the pages of a database. The type is the value of a JSON
// member "type" or "role", or the whole value of a column. The second group of each pattern matches the type.
var storedTypes = []*regexp.Regexp{
	regexp.MustCompile(`("(?:type|role)"\s*:\s*")([^"\\]*)"`),
	regexp.MustCompile(`()(user|assistant|tool|shell|json|zstd)`),
}

// databaseSessions returns the sessions in the test databases.
func databaseSessions(t *testing.T) (all []transcript.FoundTranscript) {
	t.Helper()
	home, err := filepath.Abs(clientsHome)
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !clientfile.IsDatabase(path) {
			return err
		}
		client, paths, err := clientfile.ListDatabaseSessions(path)
		for _, session := range paths {
			all = append(all, transcript.FoundTranscript{Client: client, Path: session})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readDocument returns the document of a session.
func readDocument(t *testing.T, path string) []byte {
	t.Helper()
	in, err := clientfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEveryUnknownTypeInDocuments replaces each type and role in some documents, one at a time, by a word that no
// client uses. The documents are made from the sessions in the test databases. If a prompt, a text or a call is missing
// in the result because of the replacement, the reader must report the loss.
func TestEveryUnknownTypeInDocuments(t *testing.T) {
	tried := map[string]int{} // number of changed places, by client
	for _, f := range databaseSessions(t) {
		document := readDocument(t, f.Path)
		changed := transcript.FoundTranscript{Client: f.Client, Path: filepath.Join(t.TempDir(), "document.json")}
		readVersion := func(version []byte) reading {
			if err := os.WriteFile(changed.Path, version, 0o600); err != nil {
				t.Fatal(err)
			}
			return readAndReport(t, changed)
		}
		before := readVersion(document)
		if len(before.reports) > 0 {
			t.Errorf("without a change, the reader reports %q of %s", before.reports, f.Path)
		}
		for _, pattern := range documentTypes {
			for _, place := range pattern.FindAllSubmatchIndex(document, -1) {
				start, end := place[4], place[5]
				word := unknownWord
				if document[start] >= '0' && document[start] <= '9' {
					word = "77"
				}
				tried[f.Client]++
				what := fmt.Sprintf("%s, byte %d: %s", f.Path, start, document[place[0]:place[1]])
				after := readVersion(slices.Concat(document[:start], []byte(word), document[end:]))
				checkLoss(t, what, before, after, changed.Path, 0)
			}
		}
	}
	for _, client := range []string{"crush", "cursor", "goose", "hermes", "opencode", "zed"} {
		if tried[client] == 0 {
			t.Errorf("the test changed no session of %s", client)
		}
	}
}

// TestEveryUnknownTypeInDatabases replaces each type and role in the test databases by a word of the same length, so
// that the file stays a valid database. If a prompt, a text or a call is lost by this, it must be reported.
func TestEveryUnknownTypeInDatabases(t *testing.T) {
	tried := map[string]int{} // places by client
	for _, f := range databaseSessions(t) {
		database, id := filepath.Split(f.Path)
		database = filepath.Clean(database)
		stored, err := os.ReadFile(database)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(t.TempDir(), filepath.Base(database))
		changed := transcript.FoundTranscript{Client: f.Client, Path: copied + "/" + id}
		before := readAndReport(t, f)
		pageSize := int(binary.BigEndian.Uint16(stored[16:])) // The first page describes the tables.
		for _, pattern := range storedTypes {
			for _, place := range pattern.FindAllSubmatchIndex(stored[pageSize:], -1) {
				start, end := pageSize+place[4], pageSize+place[5]
				isColumn := place[2] == place[3]
				isPartOfWord := isColumn && (stored[end] == '_' || bytes.ContainsAny(stored[start-1:start], `"_`))
				if isPartOfWord {
					continue
				}
				word := strings.Repeat(unknownWord, 1+(end-start)/len(unknownWord))[:end-start]
				mutant := slices.Concat(stored[:start], []byte(word), stored[end:])
				if err := os.WriteFile(copied, mutant, 0o600); err != nil {
					t.Fatal(err)
				}
				tried[f.Client]++
				what := fmt.Sprintf("%s, byte %d: %s", f.Path, start, stored[start:end])
				checkLoss(t, what, before, readAndReport(t, changed), copied, 0)
			}
		}
	}
	for _, client := range []string{"crush", "goose", "hermes", "opencode", "zed"} {
		if tried[client] == 0 {
			t.Errorf("the test changed no database of %s", client)
		}
	}
}

// TestUnknownDatabase tests that a database in which a newer version of the client has renamed a table is returned as a
// transcript, so that the import reports it.
func TestUnknownDatabase(t *testing.T) {
	stored, err := os.ReadFile(filepath.Join(clientsHome, ".local", "share", "zed", "threads", "threads.db"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "threads.db")
	renamed := bytes.ReplaceAll(stored, []byte("threads"), []byte("strands"))
	if err := os.WriteFile(path, renamed, 0o600); err != nil {
		t.Fatal(err)
	}
	found := transcript.SessionsInFile(transcript.FoundTranscript{Client: "zed", Path: path})
	if len(found) != 1 || found[0].Path != path {
		t.Fatalf("the sessions are %+v, want the database itself", found)
	}
	reports := readAndReport(t, found[0]).reports
	if len(reports) != 1 || !strings.Contains(reports[0], path+" is not the database of a supported client") {
		t.Errorf("the reports are %q", reports)
	}
}
