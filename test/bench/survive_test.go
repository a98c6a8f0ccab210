// This file tests how the benchmark counts the writes that a server has stored. These tests use fake servers that lose
// a known number of writes. Other tests run commands that need the real program.

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fake returns the test binary as a server in this mode.
func fake(t *testing.T, mode string) testedServer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newTestedGraphServer(
		mode,
		program{path: self, env: append(minimalEnv(os.Getenv, t.TempDir()), "OXBOW_BENCH_FAKE="+
			mode)},
	)
}

func TestSuffer(t *testing.T) {
	for _, tt := range []struct {
		mode string
		l    serverLoad
		want callCounts
	}{
		{"good", serverLoad{processes: 1, callsPerProcess: 20, sendsAllCallsFirst: true}, callCounts{20, 20, 0, ""}},
		{"good", serverLoad{processes: 3, callsPerProcess: 10}, callCounts{30, 30, 0, ""}},
		{"forgetful", serverLoad{processes: 1, callsPerProcess: 20, sendsAllCallsFirst: true}, callCounts{20, 10, 0, ""}},
		{"forgetful", serverLoad{processes: 2, callsPerProcess: 10}, callCounts{20, 10, 0, ""}},
		{"picky", serverLoad{processes: 1, callsPerProcess: 20}, callCounts{18, 18, 2, "not this one"}},
		{"mortal", serverLoad{processes: 1, callsPerProcess: 5}, callCounts{2, 2, 3, "server ended without an answer"}},
	} {
		got, err := fake(t, tt.mode).runLoad(t.Context(), t.TempDir(), tt.l)
		// A mortal server may end before or during a call.
		if tt.mode == "mortal" {
			got.refusal = tt.want.refusal
		}
		if err != nil || got != tt.want {
			t.Errorf("%s under %s = %+v, %v, want %+v", tt.mode, tt.l, got, err, tt.want)
		}
	}
}

// TestSufferKilled kills the server after 10 acknowledged writes. The result must contain these writes as acknowledged
// and as stored. Calls that the killed server did not answer must not be counted as refused.
func TestSufferKilled(t *testing.T) {
	got, err := fake(
		t,
		"good",
	).runLoad(t.Context(), t.TempDir(), serverLoad{processes: 2, callsPerProcess: 50, killAfterAcknowledgements: 10})
	if err != nil {
		t.Fatal(err)
	}
	if got.acknowledgedCount < 10 || got.acknowledgedCount > 12 || got.storedCount != got.acknowledgedCount ||
		got.refusedCount != 0 {
		t.Errorf("killed after 10 answers: %+v, want 10 to 12 acknowledged, all kept, none refused", got)
	}
}

func TestLoadString(t *testing.T) {
	for _, tt := range []struct {
		l    serverLoad
		want string
	}{
		{serverLoad{processes: 1, callsPerProcess: 100, sendsAllCallsFirst: true}, "1 process × 100 calls in parallel"},
		{serverLoad{processes: 8, callsPerProcess: 50}, "8 processes × 50 calls, one after another"},
		{
			serverLoad{processes: 2, callsPerProcess: 9, killAfterAcknowledgements: 5},
			"2 processes × 9 calls, one after another, kill -9 after 5 answers",
		},
	} {
		if got := tt.l.String(); got != tt.want {
			t.Errorf("%+v = %q, want %q", tt.l, got, tt.want)
		}
	}
}

func TestToolError(t *testing.T) {
	refused := errors.New("refused")
	for _, tt := range []struct {
		r    mcpReply
		want string // beginning of the error, or "" if there is none
	}{
		{mcpReply{result: []byte(`{"content":[]}`)}, ""},
		{mcpReply{result: []byte(`{"isError":true,"content":[{"type":"text","text":"no room"}]}`)}, "no room"},
		{mcpReply{result: []byte(`{"isError":true}`)}, "tool reports an error and no text"},
		{mcpReply{err: refused}, "refused"},
		{mcpReply{result: []byte(`[]`)}, "reading the answer: json: cannot unmarshal"},
	} {
		err := tt.r.toolError()
		if (err == nil) != (tt.want == "") || (err != nil && !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("toolError(%s) = %v, want %q", tt.r.result, err, tt.want)
		}
	}
}

func TestNPMProgram(t *testing.T) {
	for _, tt := range []struct{ in, file, version string }{
		{`{"version":"1.2.3","bin":{"mcp":"dist/index.js"}}`, "dist/index.js", "1.2.3"},
		{`{"version":"2","bin":"cli.js"}`, "cli.js", "2"},
	} {
		file, version, err := npmProgram([]byte(tt.in))
		if err != nil || file != tt.file || version != tt.version {
			t.Errorf("npmProgram(%s) = %q, %q, %v, want %q, %q", tt.in, file, version, err, tt.file, tt.version)
		}
	}
	for _, in := range []string{`{`, `{"version":"1"}`, `{"bin":{"a":"a","b":"b"}}`} {
		if file, _, err := npmProgram([]byte(in)); err == nil {
			t.Errorf("npmProgram(%s) = %q, want an error", in, file)
		}
	}
}

// TestPeerMissing tests that installMemoryServer returns an error that names node if node is not installed.
func TestPeerMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, _, err := installMemoryServer(t.Context(), t.TempDir(), memoryServerPackage); err == nil ||
		!strings.Contains(err.Error(), "node") {
		t.Errorf("installPeerServer without node = %v, want an error that names node", err)
	}
}

func TestBareEnv(t *testing.T) {
	got := minimalEnv(func(key string) string {
		return map[string]string{"PATH": "/bin", "OXBOW_HOME": "/mine", "LANG": "C"}[key]
	}, "/empty")
	want := []string{"HOME=/empty", "USERPROFILE=/empty", "XDG_DATA_HOME=/empty", "PATH=/bin", "LANG=C"}
	if !slices.Equal(got, want) {
		t.Errorf("minimalEnv = %q, want %q", got, want)
	}
}

// TestRealProgram tests that the real program starts and stores all acknowledged writes.
func TestRealProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	dir := t.TempDir()
	path, err := buildOxbow(t.Context(), dir, "oxbow", "-ldflags=-s -w")
	if err != nil {
		t.Fatal(err)
	}
	env := minimalEnv(os.Getenv, dir)
	s := newTestedOxbowServer(program{path: path, args: []string{"mcp"}, env: env})
	var out, log bytes.Buffer
	b := &bench{out: &out, log: &log}
	ls := []serverLoad{
		{processes: 1, callsPerProcess: 10, sendsAllCallsFirst: true},
		{processes: 2, callsPerProcess: 5},
	}
	if err := b.measureSurvivingWrites(t.Context(), dir, []testedServer{s}, ls); err != nil {
		t.Fatal(err)
	}
	for _, l := range ls {
		if got, want := cells(t, out.String(), l.String())[1:], []string{"oxbow", "10", "10", "0",
			"0"}; !slices.Equal(got, want) {
			t.Errorf("%s = %v, want %v", l, got, want)
		}
	}

	hello, err := buildMinimalProgram(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	out.Reset()
	full := filepath.Join(dir, "full")
	es, from, err := textSource{textDir: textDir(t)}.readEntries(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := fillHome(t.Context(), full, es); err != nil {
		t.Fatal(err)
	}
	if err := b.measureStarts(t.Context(), dir, path, hello, full, len(es), 1, from); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"bare Go program: start to end",
		"oxbow version",
		"oxbow mcp: start to initialize",
		"oxbow mcp: start to first recall",
	} {
		if row := cells(t, out.String(), name); row[1] == "" || row[1] == "0 ns" {
			t.Errorf("row %q = %v, want a figure", name, row)
		}
	}
}
