// This file tests the reports about parts of transcripts that are not stored.

package transcript_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// TestPlacesInParts reads a transcript that is longer than one call reads. The places must have the numbers of the
// lines in the whole file, also if a later import continues in the middle.
func TestPlacesInParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1.jsonl")
	long := strings.Repeat("x", 3<<20)
	var text strings.Builder
	for n := range 5 {
		fmt.Fprintf(
			&text,
			claudeHead+`"type":"user","uuid":"u%d","promptId":"p%d","message":{"content":"ask %d %s"}}`+"\n",
			n,
			n,
			n,
			long,
		)
		fmt.Fprintf(&text, "not JSON\n\n"+`{"type":"hologram","sessionId":"s1"}`+"\n")
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var report transcript.ReadReport
	calls := 0
	read := transcript.NewFinishedTranscriptReader(strings.TrimSpace, func(r transcript.ReadReport) {
		calls++
		report.Add(r)
	})
	cursor := readToEnd(t, read, path, "")
	want := fmt.Sprintf(`lines of the type "hologram" (5): %[1]s:4, %[1]s:8, %[1]s:12 and 2 more`, path)
	if got := report.DescribeUnknownParts(); len(got) != 1 || got[0] != want || calls < 2 {
		t.Errorf("in %d calls, the unknown parts are %q, want %q", calls, got, want)
	}
	if report.BadLines != 5 {
		t.Errorf("%d lines cannot be read, want 5", report.BadLines)
	}
	for i, line := range report.FirstBadLines {
		if want := fmt.Sprintf("%s:%d: it is not a JSON object of this client", path, 4*i+2); line.String() != want {
			t.Errorf("line %d cannot be read: %s, want %s", i, line, want)
		}
	}

	text.WriteString(`{"type":"hologram","sessionId":"s1"}` + "\n" + `{"torn`)
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	report = transcript.ReadReport{}
	readToEnd(t, transcript.NewFinishedTranscriptReader(strings.TrimSpace, report.Add), path, cursor)
	want = fmt.Sprintf(`lines of the type "hologram" (1): %s:21`, path)
	if got := report.DescribeUnknownParts(); len(got) != 1 || got[0] != want {
		t.Errorf("after the file has grown, the unknown parts are %q, want %q", got, want)
	}
	if report.BadLines != 1 || !strings.HasPrefix(report.FirstBadLines[0].String(), path+":22: it is incomplete") {
		t.Errorf("the torn line is reported as %v (%d lines)", report.FirstBadLines, report.BadLines)
	}
}

// readToEnd reads a transcript from a cursor until nothing is left, and reads the end twice. It returns the cursor.
func readToEnd(
	t *testing.T,
	read session.TranscriptReader,
	path, cursor string,
) string {
	t.Helper()
	for isAtEnd := false; ; {
		_, next, err := read(t.Context(), "claude", path, cursor)
		if err != nil {
			t.Fatal(err)
		}
		if next == cursor && isAtEnd {
			return next
		}
		isAtEnd = next == cursor
		cursor = next
	}
}

// TestReportIsLimited adds many reports with kinds and places that occur once. The report must stay small, and count
// every part.
func TestReportIsLimited(t *testing.T) {
	const count = 20_000
	var all transcript.ReadReport
	for n := range count {
		place := transcript.Place{Path: fmt.Sprintf("/sessions/%d.jsonl", n), Line: n + 1}
		all.Add(transcript.ReadReport{
			BadLines:          1,
			FirstBadLines:     []transcript.UnreadLine{{Place: place, Reason: "torn"}},
			LeftOutParts:      map[string]int{fmt.Sprintf("pictures of form %d", n): 1},
			UnknownPartCounts: map[string]int{fmt.Sprintf("lines of the type \"t%d\"", n): 1, "blocks": 1},
			UnknownPartPlaces: []transcript.UnknownPartPlace{
				{Kind: fmt.Sprintf("lines of the type \"t%d\"", n), Count: 1, Place: place},
				{Kind: "blocks", Count: 1, Place: place},
			},
		})
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	unknown := 0
	for _, n := range all.UnknownPartCounts {
		unknown += n
	}
	if len(b) > 40_000 || unknown != 2*count || all.BadLines != count {
		t.Errorf("the report has %d bytes, %d unknown parts and %d lines", len(b), unknown, all.BadLines)
	}
	described := all.DescribeUnknownParts()
	want := fmt.Sprintf("blocks (%d): /sessions/0.jsonl:1, /sessions/1.jsonl:2, /sessions/2.jsonl:3 and %d more",
		count, count-3)
	if described[0] != want || len(described) != 11 {
		t.Errorf("the report is described by %q, want it to begin with %q", described, want)
	}
}

// TestHookReports tests the reports about parts of transcripts that the reader does not know, and therefore skips. The
// reader stores such a report for each client. List returns all reports, and TakeReport returns the report of one
// client and deletes it. A damaged report file must not make a later read fail.
func TestHookReports(t *testing.T) {
	spool := t.TempDir()
	reports := transcript.HookReportStore{Dir: spool}
	now := time.Date(2026, 4, 18, 7, 0, 0, 0, time.UTC)
	read := reports.NewReader(strings.TrimSpace, func() time.Time { return now })
	path := write(t, "1.jsonl", claudeHead+`"type":"user","uuid":"u1","message":{"content":"Raise the jetty."}}`)
	if events, _, err := read(t.Context(), "claude", path, ""); err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	if all, err := reports.List(); err != nil || len(all) != 0 {
		t.Errorf("without unknown parts, the reports are %+v, %v", all, err)
	}
	torn := write(t, "session-1.json", "{", `"sessionId": "s1",`, `"messages": [{"id":"m1","type":"us`)
	if _, _, err := read(t.Context(), "gemini", torn, ""); err != nil {
		t.Error(err)
	}
	if all, err := reports.List(); err != nil || len(all) != 0 {
		t.Errorf("while a document is being written, the reports are %+v, %v", all, err)
	}
	odd := write(t, "2.jsonl", claudeHead+`"type":"user","uuid":"u1","message":{"content":"Raise the jetty."}}`,
		`{"type":"hologram","sessionId":"s1"}`)
	for range 2 {
		if events, _, err := read(t.Context(), "claude", odd, ""); err != nil || len(events) != 1 {
			t.Fatalf("%d events, %v", len(events), err)
		}
	}
	all, err := reports.List()
	if err != nil || len(all) != 1 || all[0].Client != "claude" || !all[0].Time.Equal(now) {
		t.Fatalf("the reports are %+v, %v", all, err)
	}
	want := fmt.Sprintf(`[lines of the type "hologram" (2): %s:2]`, odd)
	if got := fmt.Sprint(all[0].Report.DescribeUnknownParts()); got != want {
		t.Errorf("the report is %s, want %s", got, want)
	}
	taken, err := reports.TakeReport("codex")
	if err != nil || !taken.IsEmpty() {
		t.Errorf("the report of another client is %+v, %v", taken, err)
	}
	taken, err = reports.TakeReport("claude")
	if got := fmt.Sprint(taken.DescribeUnknownParts()); err != nil || got != want {
		t.Errorf("the taken report is %s, %v, want %s", got, err, want)
	}
	if all, err := reports.List(); err != nil || len(all) != 0 {
		t.Errorf("after the report was taken, the reports are %+v, %v", all, err)
	}
	files, err := os.ReadDir(spool)
	if err != nil || len(files) != 0 {
		t.Errorf("the spool has the files %v, %v", files, err)
	}
	if err := os.WriteFile(filepath.Join(spool, "leftout.json"), []byte("{torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(t.Context(), "claude", odd, ""); err != nil {
		t.Error(err)
	}
	if all, err := reports.List(); err != nil || len(all) != 1 {
		t.Errorf("after a damaged file, the reports are %+v, %v", all, err)
	}
}
