// This file tests that every edit in the sample transcripts is found, with its exact lines and the reasoning before it.
//
// The samples in testdata have the formats that the clients write. The file beside each sample lists the expected
// edits, one on each line. The word put means that the edit wrote the lines, and gone means that it deleted lines. The
// last field is a hash of the text of the lines:
//
//	FILE:FIRST-LAST put|gone [AGENT ]| first line of the reason | hash of the block

package fileedits

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// The constant was is the path of the directory that the sample transcripts of Claude Code and Codex edit.
const was = "/home/ada/pool"

// The constant recorded is the path of the directory that is edited in transcripts of real clients. A scripted model
// answered these clients.
const recorded = "/home/dev/proj"

func sample(t testing.TB, name string) *Transcript {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := ReadTranscript(f, "")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// pool creates the sample tree in its state after all edits, and returns its annotation store.
func pool(t testing.TB) *annotate.Store {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob("testdata/pool/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("the files of the samples: %v, %v", files, err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(
			filepath.Join(dir, strings.TrimSuffix(filepath.Base(f), ".txt")),
			text,
			0o600,
		); err != nil {
			t.Fatal(err)
		}
	}
	b, err := annotate.OpenDir(t.Context(), dir, nil)
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

func hash(block []string) string {
	sum := sha256.Sum256([]byte(strings.Join(block, "\n") + "\n"))
	return hex.EncodeToString(sum[:4])
}

func TestSamples(t *testing.T) {
	for _, c := range []struct {
		name string
		want Transcript // expected counts
		out  int        // expected number of edits outside of the tree
		from string
	}{
		{"claude-code", Transcript{Client: "claude-code", LineCount: 60, UnreadableLines: 1, CallCount: 16,
			FailedCalls: 2, PendingCalls: 1}, 1, was},
		{"codex", Transcript{Client: "codex", LineCount: 31, UnreadableLines: 1, CallCount: 8, FailedCalls: 2,
			PendingCalls: 1, DeletedFiles: 1}, 1, was},
		{"codex-2025", Transcript{Client: "codex", LineCount: 8, CallCount: 1}, 0, was},
		{"gemini", Transcript{Client: "gemini", LineCount: 46, CallCount: 3, FailedCalls: 1}, 0, recorded},
		{"copilot", Transcript{Client: "copilot", LineCount: 38, CallCount: 3, FailedCalls: 1}, 0, recorded},
		{"qwen", Transcript{Client: "qwen", LineCount: 19, CallCount: 3, FailedCalls: 1}, 0, recorded},
		{"opencode", Transcript{Client: "opencode", LineCount: 24, CallCount: 3, FailedCalls: 1}, 0, recorded},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := sample(t, c.name)
			counts := *tr
			counts.Edits, counts.Renames = nil, nil
			if !reflect.DeepEqual(counts, c.want) {
				t.Errorf("Read counts %+v, want %+v", counts, c.want)
			}
			b := pool(t)
			j, err := MakeRecords(b, tr, &Options{OldTreePath: c.from})
			if err != nil {
				t.Fatal(err)
			}
			if j.EditCountOutsideTree != c.out || j.UnlocatedEditCount != 0 {
				t.Errorf(
					"Join: outside %q, %d without lines, want %d and none",
					j.FilesOutsideTree,
					j.UnlocatedEditCount,
					c.out,
				)
			}
			gone := map[string]bool{}
			for _, e := range tr.Edits {
				if e.IsRemovalOnly {
					gone[e.Why] = true
				}
			}
			var got []string
			for _, r := range j.Records {
				kind := "put"
				if gone[r.Why] {
					kind = "gone"
				}
				if r.Agent != tr.Client {
					kind += " " + r.Agent
				}
				why, _, _ := strings.Cut(r.Why, "\n")
				got = append(
					got,
					fmt.Sprintf("%s:%d-%d %s | %s | %s", r.File, r.Span.First, r.Span.Last, kind, why, hash(r.Block)),
				)
			}
			text, err := os.ReadFile(filepath.Join("testdata", c.name+".want"))
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimSpace(string(text)); strings.Join(got, "\n") != want {
				t.Errorf("edits:\n%s\nwant:\n%s", strings.Join(got, "\n"), want)
			}
		})
	}
}

// TestAgain tests that reading a transcript again adds nothing, and that reading a longer version adds only the new
// edits. Each annotation must be found by a look-up.
func TestAgain(t *testing.T) {
	b := pool(t)
	text, err := os.ReadFile("testdata/claude-code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	total := 0
	for _, n := range []int{len(lines) / 2, len(lines), len(lines)} {
		tr, err := ReadTranscript(strings.NewReader(strings.Join(lines[:n], "")), "")
		if err != nil {
			t.Fatal(err)
		}
		j, err := MakeRecords(b, tr, &Options{OldTreePath: was})
		if err != nil {
			t.Fatal(err)
		}
		has, err := b.HasRecords(t.Context(), j.Records)
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, h := range has {
			if h {
				known++
			}
		}
		if known != total {
			t.Errorf("after %d lines %d of the annotations are known, want %d", n, known, total)
		}
		if _, err := b.Add(t.Context(), j.Records...); err != nil {
			t.Fatal(err)
		}
		total = len(j.Records)
	}
	found, err := b.Lookup(t.Context(), "pool.go", annotate.LineSpan{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 12 {
		t.Errorf("Lookup finds %d annotations, want 12", len(found))
	}
	if rep, err := b.ReadRecords(context.Background(), "pool.go"); err != nil || len(rep) != 12 {
		t.Errorf("the book has %d, %v", len(rep), err)
	}
	for _, f := range found {
		if strings.HasPrefix(f.Why, "New is missing") &&
			(!f.CurrentSpan.Overlaps(annotate.LineSpan{First: 18, Last: 19})) {
			t.Errorf("New is %s at %s", f.Placement, f.CurrentSpan)
		}
	}
}

func TestUnknown(t *testing.T) {
	for _, text := range []string{"", "hello\n", `{"a":1}` + "\n", strings.Repeat("{}\n", 300),
		// The lines of opencode look like those of Claude Code.
		`{"type":"step_start","timestamp":1,"sessionID":"s","part":{"type":"step-start"}}` + "\n"} {
		if _, err := ReadTranscript(strings.NewReader(text), ""); !errors.Is(err, ErrUnknownTranscript) {
			t.Errorf("Read(%.20q) = %v, want ErrUnknown", text, err)
		}
	}
}

func TestLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 65 MiB")
	}
	text, err := os.ReadFile("testdata/codex-2025.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	long := `{"type":"message","text":"` + strings.Repeat("x", clientfile.MaxLineBytes) + "\"}\n"
	tr, err := ReadTranscript(strings.NewReader(long+string(text)), "")
	if err != nil || tr.UnreadableLines != 1 || len(tr.Edits) != 1 {
		t.Errorf("Read after a long line = %+v, %v", tr, err)
	}
}

// TestWhyIsBounded tests that a long reason is shortened to the last words before the edit.
func TestWhyIsBounded(t *testing.T) {
	r := (&agentReasoning{}).withNewRequestOnly("do it").
		withAgentText(strings.Repeat("ä", maxReasoningBytes)).
		withAgentText("because")
	if w := r.editReason(); len(w) > maxReasoningBytes+8 || !strings.HasSuffix(w, "because") ||
		!strings.HasPrefix(w, "… ") {
		t.Errorf("why has %d bytes and ends %q", len(w), w[len(w)-20:])
	}
}

// TestLongRequestIsNoReasoning tests that a long prompt is never stored as if it were the agent's reasoning. The reason
// must still begin with the statement that there is no reasoning.
func TestLongRequestIsNoReasoning(t *testing.T) {
	r := (&agentReasoning{}).withNewRequestOnly(strings.Repeat("ä", maxReasoningBytes) + " at last")
	w := r.editReason()
	if !strings.HasPrefix(w, annotate.NoReasoning+" It was asked: … ä") || !strings.HasSuffix(w, "ä at last") ||
		len(w) > maxReasoningBytes+len("… ") {
		t.Errorf("the reason has %d bytes and begins %q", len(w), w[:60])
	}
	if w := (&agentReasoning{}).editReason(); w != annotate.NoReasoning {
		t.Errorf("without a prompt, the reason is %q", w)
	}
}

func TestFileOf(t *testing.T) {
	b := pool(t)
	for _, c := range []struct{ path, dir, from, want string }{
		{"/home/ada/pool/a/b.go", "", was, "a/b.go"},
		{"/home/ada/pool/../x.go", "", was, ""},
		{"/home/ada/pool2/b.go", "", was, ""},
		{"a/b.go", "/home/ada/pool/sub", was, "sub/a/b.go"},
		{"../../b.go", "/home/ada/pool/sub", was, ""},
		{"/home/ada/pool/.git/config", "", was, ""},
		{"/home/ada/pool", "", was, ""},
		{filepath.Join(b.Root(), "pool.go"), "", "", "pool.go"},
		{"pool.go", b.Root(), "", "pool.go"},
		{"/etc/passwd", "", "", ""},
		{"", "", "", ""},
	} {
		got, ok := findPathInTree(b, &Edit{Path: c.path, Dir: c.dir}, c.from)
		if ok != (c.want != "") || (ok && got != c.want) {
			t.Errorf("fileOf(%q in %q from %q) = %q, %v, want %q", c.path, c.dir, c.from, got, ok, c.want)
		}
	}
}

func TestPrivateRequest(t *testing.T) {
	r := (&agentReasoning{}).withNewRequestOnly("call <private>Ada</private>").withAgentText("because")
	if r.personRequest != "call […]" {
		t.Errorf("the request is %q, want it without its private part", r.personRequest)
	}
}
