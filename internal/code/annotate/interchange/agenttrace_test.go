// This file tests that annotations are the same after an export to Agent Trace and an import, and that traces by other
// programs become annotations.

package interchange

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// repo creates a repository with one file, which was committed once and changed afterwards.
func repo(t *testing.T) (dir, commit string) {
	t.Helper()
	program := testenv.RequireProgram(t, "git", "apt install git")
	dir = t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(
			program,
			append(
				[]string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"},
				args...,
			)...,
		)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "pool.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	write("package pool\n\nfunc Get() {\n\twait()\n}\n")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	write("// Copyright\n\npackage pool\n\nfunc Get() {\n\twait()\n}\n")
	return dir, git("rev-parse", "HEAD")
}

func open(t *testing.T, dir string) *annotate.Store {
	t.Helper()
	b, err := annotate.OpenDir(t.Context(), dir, &annotate.Options{Clock: func() time.Time {
		return time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func TestRoundTrip(t *testing.T) {
	dir, commit := repo(t)
	b := open(t, dir)
	recs, err := b.Add(
		t.Context(),
		annotate.Record{File: "pool.go", Span: annotate.LineSpan{First: 5, Last: 7},
			Why: "Get waits: <callers> have no context & no patience", RejectedAlternatives: []string{"an error"},
			Author: oxbow.Agent, Agent: "claude-code", Model: "claude-opus-4-5", Session: "s1",
			SourceRef: "https://example.com/s1"},
		annotate.Record{
			File:   "pool.go",
			Span:   annotate.LineSpan{First: 1, Last: 1},
			Why:    "the lawyers",
			Author: oxbow.Person,
		},
		annotate.Record{File: "gone.go", Block: []string{"x"}, Why: "its lines are not known"},
	)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	recs[1].Archived = true
	rep, err := WriteTraces(&out, recs)
	recs[1].Archived = false
	if n := rep.InformationLossCounts["archived annotations: read again they are not archived"]; n != 1 {
		t.Errorf("Write tells of %d archived annotations, want 1", n)
	}
	if err != nil || rep.WrittenCount != 2 ||
		rep.InformationLossCounts["annotations whose lines are not known are left out"] != 1 {
		t.Errorf("Write = %+v, %v", rep, err)
	}
	var first map[string]any
	lines := strings.Split(out.String(), "\n")
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil {
		t.Fatal(err)
	}
	// The specification requires these keys in these forms.
	if !regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(first["version"].(string)) ||
		!regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(
			first["id"].(string),
		) ||
		first["timestamp"] != "2026-04-18T12:00:00Z" {
		t.Errorf("the head is %s", lines[0])
	}
	want := `"vcs":{"type":"git","revision":"` + commit +
		`"},"tool":{"name":"claude-code"},"files":[{"path":"pool.go","conversations":[{"url":"https://example.com/s1","contributor":{"type":"ai","model_id":"anthropic/claude-opus-4-5"},"ranges":[{"start_line":5,"end_line":7,"content_hash":"sha256-128:` + recs[0].BlockHash + `"}]}]}]`
	if !strings.Contains(lines[0], want) {
		t.Errorf("the record is\n%s\nwant in it\n%s", lines[0], want)
	}
	if !strings.Contains(lines[1], `"contributor":{"type":"human"}`) {
		t.Errorf("the second record is %s", lines[1])
	}

	// Import the traces into another tree without loss. An import into the same tree must add nothing.
	other := open(t, t.TempDir())
	for _, to := range []*annotate.Store{other, b} {
		got, rep, err := ReadTraces(t.Context(), to, bytes.NewReader(out.Bytes()))
		if err != nil || rep.WrittenCount != 2 || len(rep.InformationLossCounts) != 0 {
			t.Fatalf("Read = %+v, %v", rep, err)
		}
		for i := range got {
			have, err := got[i].EncodeLine()
			want, err2 := recs[i].EncodeLine()
			if err != nil || err2 != nil || !bytes.Equal(have, want) {
				t.Errorf("Read gives\n%s\nwant\n%s", have, want)
			}
		}
		if _, err := to.Add(t.Context(), got...); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := b.AllRecords(t.Context()); err != nil || len(all) != 3 {
		t.Errorf("the book has %d, %v, want 3", len(all), err)
	}
	var again bytes.Buffer
	if _, err := WriteTraces(&again, recs); err != nil || again.String() != out.String() {
		t.Errorf("writing again gives other bytes, %v", err)
	}
}

func TestReadOfOthers(t *testing.T) {
	dir, commit := repo(t)
	b := open(t, dir)
	trace := func(id, rest string) string {
		return `{"version":"0.1.0","id":"` + id + `","timestamp":"2026-01-23T14:30:00Z",` + rest + "}\n"
	}
	text := trace(
		"550e8400-e29b-41d4-a716-446655440000",
		`"vcs":{"type":"git","revision":"`+commit+`"},"tool":{"name":"cursor","version":"2.4.0"},"files":[
		{"path":"pool.go","conversations":[{"url":"https://api.cursor.com/v1/conversations/12345","contributor":{"type":"ai","model_id":"anthropic/claude-opus-4-5"},
		 "ranges":[{"start_line":3,"end_line":5,"content_hash":"murmur3:9f2e8a1b"},{"start_line":4,"end_line":4,"contributor":{"type":"human"}},{"start_line":5,"end_line":6}],
		 "related":[{"type":"session","url":"https://api.cursor.com/v1/sessions/67890"}]}]},
		{"path":"../out.go","conversations":[{"contributor":{"type":"ai"},"ranges":[{"start_line":1,"end_line":1}]}]},
		{"path":"none.go","conversations":[{"contributor":{"type":"ai"},"ranges":[{"start_line":1,"end_line":1}]}]}]`,
	) +
		trace(
			"short",
			`"vcs":{"type":"git","revision":"deadbeef"},"files":[{"path":"pool.go","conversations":[{"ranges":[{"start_line":1,"end_line":1}]}]}]`,
		) +
		trace(
			"2",
			`"vcs":{"type":"git","revision":"`+strings.Repeat("AB", 20)+
				`"},"files":[{"path":"pool.go","conversations":[{"ranges":[{"start_line":1,"end_line":1}]}]}]`,
		) +
		trace(
			"3",
			`"vcs":{"type":"jj","revision":"kkmpptxz"},"files":[]`,
		) +
		trace(
			"4",
			`"files":[{"path":"pool.go","conversations":[{"contributor":{"type":"mixed"},"ranges":[{"start_line":1,"end_line":1}]}]}]`,
		)
	flat := strings.ReplaceAll(strings.ReplaceAll(text, "\n\t\t", ""), "\n {", " {")
	want := map[string]int{"ranges that a person wrote": 1, "ranges that end behind their file": 1,
		"ranges whose path or lines cannot be": 1,
		"ranges of a file that is not there":   1, "ranges at a revision that this repository does not have": 1,
		"content hashes: they are not compared": 1,
		"related resources of a conversation":   1, "records of another version control system than git": 1,
		"records whose revision is no whole name of a commit":     1,
		"ranges without a revision: their lines are those of now": 1}
	for name, in := range map[string]string{"one after the other": text, "lines": flat, "array": "[" +
		strings.TrimSuffix(strings.ReplaceAll(flat, "}\n{", "},\n{"), "\n") + "]", "with a broken line": flat +
		"{\"version\n"} {
		t.Run(name, func(t *testing.T) {
			recs, rep, err := ReadTraces(t.Context(), b, strings.NewReader(in))
			if err != nil {
				t.Fatal(err)
			}
			delete(rep.InformationLossCounts, "records that cannot be read")
			if rep.WrittenCount != 2 || !reflect.DeepEqual(rep.InformationLossCounts, want) {
				t.Errorf("Read reports %+v, want %v", rep, want)
			}
			if len(recs) != 2 {
				t.Fatalf("Read gives %d records", len(recs))
			}
			r := recs[0]
			if r.Commit != commit || !reflect.DeepEqual(r.Block, []string{"func Get() {", "\twait()", "}"}) ||
				r.Agent != "cursor" || r.Model != "anthropic/claude-opus-4-5" ||
				r.Why != "Written by anthropic/claude-opus-4-5 in cursor 2.4.0. Agent Trace does not say why. "+
					"Conversation: https://api.cursor.com/v1/conversations/12345" {
				t.Errorf("the first record is %+v", r)
			}
			if recs[1].Why != "Written by an AI and a person. Agent Trace does not say why." ||
				recs[1].Block[0] != "// Copyright" {
				t.Errorf("the second record is %+v", recs[1])
			}
		})
	}
	// Lines are followed from the revision of the trace to their present position.
	recs, _, err := ReadTraces(t.Context(), b, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Add(t.Context(), recs...); err != nil {
		t.Fatal(err)
	}
	found, err := b.Lookup(t.Context(), "pool.go", annotate.LineSpan{First: 6, Last: 6})
	if err != nil || len(found) != 1 || found[0].CurrentSpan != (annotate.LineSpan{First: 5, Last: 7}) ||
		found[0].Placement != annotate.PlacedByTracking {
		t.Errorf("Lookup = %+v, %v", found, err)
	}
}

func TestModelID(t *testing.T) {
	for in, want := range map[string]string{"": "", "claude-opus-4-5": "anthropic/claude-opus-4-5",
		"gpt-5.2-codex": "openai/gpt-5.2-codex", "x/y": "x/y", "unheard-of": "unheard-of"} {
		if got := addModelProvider(in); got != want {
			t.Errorf("modelID(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(
		`{"version":"0.1.0","id":"x","timestamp":"2026-01-25T10:00:00Z","files":[{"path":"a.go","conversations":[{"contributor":{"type":"ai"},"ranges":[{"start_line":1,"end_line":2}]}]}]}`,
	))
	f.Add([]byte("[{},\n1]"))
	f.Add([]byte(`{"files":[],"metadata":{"dev.oxbow":{"v":1,"id":"a","file":"a","why":"b"}}}`))
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("one\ntwo\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	b, err := annotate.OpenDir(f.Context(), dir, nil)
	if err != nil {
		f.Fatal(err)
	}
	defer b.Close()
	f.Fuzz(func(t *testing.T, text []byte) {
		recs, rep, err := ReadTraces(t.Context(), b, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if rep.WrittenCount != len(recs) {
			t.Errorf("%d records, and the report says %d", len(recs), rep.WrittenCount)
		}
		var out bytes.Buffer
		if _, err := WriteTraces(&out, recs); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		}
	})
}
