// This file tests that a reader reports what it does not understand, for each place of the test transcripts at which a
// newer version of a client could write a type or a role that oxbow does not know.

package transcript_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// typeMember matches a member of a JSON object that says what the object is. The second group is the value.
var typeMember = regexp.MustCompile(`("(?:type|role|kind|subtype|say|ask)"\s*:\s*)"([^"\\]*)"`)

// reading contains the results of reading one transcript.
type reading struct {
	said    map[string]int // how often each prompt, text and tool call was read
	reports []string       // lines that were not read, parts that were not understood, and the error
}

// readAndReport reads a whole transcript. It returns how often each prompt, text and call occurs, and the problems that
// the reader reported.
func readAndReport(t *testing.T, f transcript.FoundTranscript) reading {
	t.Helper()
	r := reading{said: map[string]int{}}
	read := transcript.NewFinishedTranscriptReader(strings.TrimSpace, func(report transcript.ReadReport) {
		for _, line := range report.FirstBadLines {
			r.reports = append(r.reports, line.String())
		}
		r.reports = append(r.reports, report.DescribeUnknownParts()...)
	})
	events, _, err := read(t.Context(), f.Client, f.Path, "")
	if err != nil {
		r.reports = append(r.reports, err.Error())
	}
	for _, e := range events {
		switch {
		case e.Kind == session.KindPrompt || e.Kind == session.KindText:
			r.said[string(e.Kind)+" "+e.Text]++
		case e.Kind == session.KindToolCall && e.Call != nil:
			r.said["call "+e.Call.Tool+" "+e.Call.Command+" "+strings.Join(e.Call.WrittenFiles, " ")]++
		}
	}
	return r
}

// textTranscripts returns the recorded transcripts, and the test transcripts of all clients. It leaves out directories
// and transcripts that are databases.
func textTranscripts(t *testing.T) (all []transcript.FoundTranscript) {
	t.Helper()
	for _, path := range recorded(t) {
		all = append(all, transcript.FoundTranscript{Client: clientOf(path), Path: path})
	}
	home, err := filepath.Abs(clientsHome)
	if err != nil {
		t.Fatal(err)
	}
	noVariables := func(string) string { return "" }
	for _, f := range transcript.FindTranscripts(home, noVariables, transcript.ClientNames()...) {
		if info, err := os.Stat(f.Path); err == nil && info.Mode().IsRegular() && !clientfile.IsDatabase(f.Path) {
			all = append(all, f)
		}
	}
	return all
}

// unknownWord is a type that no client writes.
const unknownWord = "hologram"

// describesLoss reports whether a report names the place at which a transcript was changed. The parameter path is the
// path of the transcript. The parameter line is the number of the changed line. It is 0 if the transcript is a document
// or a database, which has no lines. If line is 0, it is sufficient that a report names the path. Otherwise, if a
// report adds a line number to the path, the number must begin with the digits of line.
func (r reading) describesLoss(path string, line int) bool {
	return slices.ContainsFunc(r.reports, func(report string) bool {
		_, place, isNamed := strings.Cut(report, path)
		isSameLine := line == 0 || !strings.HasPrefix(place, ":") || strings.HasPrefix(place, ": ") ||
			strings.HasPrefix(place, fmt.Sprintf(":%d", line))
		return isNamed && isSameLine
	})
}

// checkLoss checks that a reader has reported what it lost after a change.
func checkLoss(t *testing.T, what string, before, after reading, path string, line int) {
	t.Helper()
	for said, n := range before.said {
		if after.said[said] < n && !after.describesLoss(path, line) {
			t.Errorf("%s is unknown, and %.60q is lost without a report; reports: %q", what, said, after.reports)
			return
		}
	}
}

// TestEveryUnknownType replaces each type and role in the test transcripts by a word that no client writes. If a
// prompt, a text or a call is lost by this, the reader must report the line or the file. Without a change, it must
// report nothing.
func TestEveryUnknownType(t *testing.T) {
	tried := map[string]int{} // places by client
	for _, f := range textTranscripts(t) {
		text, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		before := readAndReport(t, f)
		if len(before.reports) > 0 {
			t.Errorf("without a change, the reader reports %q of %s", before.reports, f.Path)
		}
		changed := transcript.FoundTranscript{
			Client: f.Client,
			Path:   filepath.Join(t.TempDir(), filepath.Base(f.Path)),
		}
		for _, place := range typeMember.FindAllSubmatchIndex(text, -1) {
			start, end := place[4], place[5]
			mutant := slices.Concat(text[:start], []byte(unknownWord), text[end:])
			if err := os.WriteFile(changed.Path, mutant, 0o600); err != nil {
				t.Fatal(err)
			}
			tried[f.Client]++
			what := fmt.Sprintf("%s, byte %d: %s", f.Path, start, text[place[0]:place[1]])
			line := 1 + bytes.Count(text[:start], []byte("\n"))
			checkLoss(t, what, before, readAndReport(t, changed), changed.Path, line)
		}
	}
	if len(tried) < 16 {
		t.Errorf("the test changed the transcripts of only %d clients: %v", len(tried), tried)
	}
}
