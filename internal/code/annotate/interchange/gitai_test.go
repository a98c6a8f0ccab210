// This file tests that the notes of Git AI are read from a repository that plain git created.

package interchange

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

const note = `src/pool.go
  s_c9883b05a2487d::t_9f8e7d6c5b4a32 1-2,5
  s_c9883b05a2487d::t_a1b2c3d4e5f678 3
  h_31dce776f88375 4
"a name.go"
  d9978a8723e02b52 1
  0123456789abcdef 2
  s_c9883b05a2487d::t_deadbeef012345 7-9
---
{
  "schema_version": "authorship/3.0.0",
  "git_ai_version": "1.4.5",
  "base_commit_sha": "7734793b756b3921c88db5375a8c156e9532447b",
  "prompts": {"d9978a8723e02b52": {"agent_id": {"tool": "cursor", "id": "c1", "model": "gpt-5"},
    "messages": [{"type": "user", "text": "Make it short<private>, Ada</private>."}, {"type": "assistant", "text": "One line will do."}],
    "total_additions": 1, "total_deletions": 0, "accepted_lines": 1, "overriden_lines": 0}},
  "humans": {"h_31dce776f88375": {"author": "Ada <ada@example.com>"}},
  "sessions": {"s_c9883b05a2487d": {"agent_id": {"tool": "claude", "id": "conv_1", "model": "claude-opus-4-5"}, "human_author": "ada@example.com"}}
}
`

func TestReadGitAI(t *testing.T) {
	program := testenv.RequireProgram(t, "git", "apt install git")
	dir := t.TempDir()
	git := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command(
			program,
			append(
				[]string{"-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"},
				args...,
			)...,
		)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+
			os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_COMMITTER_DATE=2026-04-18T12:00:00Z")
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("", "init", "-q", "-b", "main")
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"src/pool.go": "one\ntwo\nthree\nfour\nfive\nsix\n",
		"a name.go":   "short\nother\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("", "add", "-A")
	git("", "commit", "-q", "-m", "one")
	one := git("", "rev-parse", "HEAD")
	open := func() *annotate.Store {
		t.Helper()
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
	if recs, rep, err := ReadGitAI(t.Context(), open()); err != nil || len(recs) != 0 || rep.NotesRead != 0 {
		t.Errorf("Read without notes = %v, %+v, %v", recs, rep, err)
	}
	git(note, "notes", "--ref=ai", "add", "-F", "-", one)
	git("", "commit", "-q", "--allow-empty", "-m", "two")
	two := git("", "rev-parse", "HEAD")
	git("no log", "notes", "--ref=ai", "add", "-F", "-", "HEAD")
	git("", "commit", "-q", "--allow-empty", "-m", "three")
	git("---\n{\"schema_version\":\"authorship/9.0.0\"}", "notes", "--ref=ai", "add", "-F", "-", "HEAD")

	for _, packed := range []bool{false, true} {
		if packed {
			git("", "pack-refs", "--all")
		}
		b := open()
		recs, rep, err := ReadGitAI(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"bad note: that of commit " + two[:12] +
			": a log has no metadata": 1, "notes of another version than 3": 1, "entries of known persons": 1,
			"entries of sessions that the note does not describe": 1, "ranges that their file does not have": 1}
		if rep.NotesRead != 1 || rep.WrittenCount != 3 || !reflect.DeepEqual(rep.InformationLossCounts, want) {
			t.Errorf("Read reports %+v, want %v", rep, want)
		}
		if len(recs) != 3 {
			t.Fatalf("Read = %+v, want three", recs)
		}
		r := recs[0]
		if r.File != "src/pool.go" || r.Span != (annotate.LineSpan{First: 1, Last: 3}) || r.Agent != "claude" ||
			r.Model != "claude-opus-4-5" || r.Session != "conv_1" ||
			r.Commit != one || !reflect.DeepEqual(r.Block, []string{"one", "two", "three"}) ||
			r.Time.Format("2006-01-02") != "2026-04-18" ||
			r.Why != "Written by claude (claude-opus-4-5), directed by ada@example.com. Git AI does not say why." {
			t.Errorf("the first record is %+v", r)
		}
		if recs[1].Span != (annotate.LineSpan{First: 5, Last: 5}) {
			t.Errorf("the second record is of %v", recs[1].Span)
		}
		if w := "One line will do.\n\nIt was asked: Make it short[…].\n\nWritten by cursor " +
			"(gpt-5)."; recs[2].File != "a name.go" || recs[2].Why != w {
			t.Errorf("the third record is of %q, because %q, want %q", recs[2].File, recs[2].Why, w)
		}
		// Adding the same records twice must not store them twice.
		if _, err := b.Add(t.Context(), recs...); err != nil {
			t.Fatal(err)
		}
		if all, err := b.AllRecords(t.Context()); err != nil || len(all) != 3 {
			t.Errorf("the book has %d, %v, want 3", len(all), err)
		}
		if found, err := b.Lookup(t.Context(), "src/pool.go", annotate.LineSpan{First: 2, Last: 2}); err != nil ||
			len(found) != 1 || found[0].Placement != annotate.PlacedExactly {
			t.Errorf("Lookup = %+v, %v", found, err)
		}
	}
}

// TestBadLineOfANote tests that the readable lines of a note are read and a damaged line is reported.
func TestBadLineOfANote(t *testing.T) {
	bad := strings.Replace("  s_c9883b05a2487d 1\n"+
		note, "  h_31dce776f88375 4\n", "  nonsense\n  s_c9883b05a2487d 5-x,6\n", 1)
	bad = strings.Replace(bad, `"tool": "cursor"`, `"tool": 7`, 1)
	l, err := parseAuthorship([]byte(bad))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"line 1: no file is named before it",
		`line 5: "  nonsense"`,
		`line 6: "5-x" is no range`,
		"metadata: ",
	}
	if len(l.unreadableParts) != len(want) {
		t.Fatalf("bad lines are %q, want %q", l.unreadableParts, want)
	}
	for i, w := range want {
		if !strings.HasPrefix(strings.ReplaceAll(l.unreadableParts[i], `"nonsense"`, `"  nonsense"`), w) {
			t.Errorf("bad line %d is %q, want %q", i, l.unreadableParts[i], w)
		}
	}
	var rep ConversionReport
	if recs := l.toRecords(strings.Repeat("ab", 20), &rep); len(recs) != 4 ||
		recs[1].Span != (annotate.LineSpan{First: 5, Last: 6}) {
		t.Errorf("records = %+v, want 4, the second of lines 5 and 6", recs)
	}
}

func TestReadGitAIWithoutGit(t *testing.T) {
	b, err := annotate.OpenDir(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if _, _, err := ReadGitAI(t.Context(), b); !errors.Is(err, oxbow.ErrUnsupported) {
		t.Errorf("Read = %v, want ErrUnsupported", err)
	}
}

func FuzzAuthorship(f *testing.F) {
	f.Add([]byte(note))
	f.Add([]byte("\"a\\tb\"\n  d9978a8723e02b52 1-4,9-10\n---\n{\"schema_version\":\"authorship/3.0.0\"}"))
	f.Add([]byte("a\n  x 9999999999999\n---\n{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parseAuthorship(text)
		if err != nil {
			return
		}
		var rep ConversionReport
		for _, r := range l.toRecords(strings.Repeat("ab", 20), &rep) {
			if r.Span.Len() == 0 || r.Why == "" || annotate.CheckFile(r.File) != nil {
				t.Errorf("a record that cannot be: %+v", r)
			}
		}
	})
}
