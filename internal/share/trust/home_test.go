// This file tests which directories are homes, and which homes belong to the user.

package trust

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// newStore creates a store in a home and returns its path.
func newStore(t *testing.T, home string) (store string) {
	t.Helper()
	store = filepath.Join(home, "memory.oxbow")
	m, err := oxbow.Open(store, nil)
	if err == nil {
		err = errors.Join(m.Create(t.Context()), m.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// newGit creates a repository in dir that tracks the given files.
func newGit(t *testing.T, dir string, add ...string) {
	t.Helper()
	testenv.RequireProgram(t, "git", "install git")
	for _, args := range [][]string{{"init", "-q"}, append([]string{"add", "-f", "--"}, add...)} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
}

// begunRecord returns a record that is older than all files that the test creates later.
func begunRecord(t *testing.T) List {
	t.Helper()
	l := List{Dir: filepath.Join(t.TempDir(), "config")}
	l.StartHomeRecord()
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(l.Dir, trustRecordStartFile), past, past); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestMayBeHome(t *testing.T) {
	for names, want := range map[string]bool{
		"":                          true, // An empty directory can be a home.
		"annotations":               false,
		"Profiles":                  false,
		"skills team":               false,
		".gitignore":                false,
		"hooks.off":                 false,
		"inject.qwen.off .DS_Store": false,
		"SOUL.md":                   true,
		"profiles spool":            true,
		"memory.oxbow":              true,
	} {
		dir := t.TempDir()
		for _, name := range strings.Fields(names) {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := MayDirBeHome(dir); got != want {
			t.Errorf("MayBeHome(%q) = %t, want %t", names, got, want)
		}
	}
	if MayDirBeHome(filepath.Join(t.TempDir(), "none")) {
		t.Error("a directory that does not exist may be a home")
	}
}

func TestJudgeUnrecorded(t *testing.T) {
	began := begunRecord
	// future returns a list in a directory that does not exist yet. The list's record of homes begins at its first use,
	// after the home was created, so the home counts as old.
	future := func(t *testing.T) List { return List{Dir: filepath.Join(t.TempDir(), "config")} }
	none := func(*testing.T) List { return List{} }
	for _, tt := range []struct {
		name   string
		record func(*testing.T) List
		make   func(t *testing.T, home string)
		want   HomeOwnership
	}{
		{"new store", began, func(t *testing.T, home string) { newStore(t, home) }, ForeignHome},
		{"old store", future, func(t *testing.T, home string) { newStore(t, home) }, OwnHome},
		{"no record can be kept", none, func(t *testing.T, home string) { newStore(t, home) }, OwnHome},
		{"empty", began, func(*testing.T, string) {}, OwnHome},
		{"new documents alone", began, func(t *testing.T, home string) {
			write(t, filepath.Join(home, "SOUL.md"))
		}, NotAHome},
		{"old documents alone", future, func(t *testing.T, home string) {
			write(t, filepath.Join(home, "SOUL.md"))
		}, OwnHome},
		{"tracked store", future, func(t *testing.T, home string) {
			newStore(t, home)
			newGit(t, filepath.Dir(home), ".oxbow")
		}, ForeignHome},
		{"tracked documents alone", future, func(t *testing.T, home string) {
			write(t, filepath.Join(home, "SOUL.md"))
			newGit(t, filepath.Dir(home), ".oxbow")
		}, NotAHome},
		{"old store with tracked profiles", future, func(t *testing.T, home string) {
			newStore(t, home)
			write(t, filepath.Join(home, "profiles", "a.yaml"))
			newGit(t, filepath.Dir(home), ".oxbow/profiles")
		}, OwnHome},
		{"broken index", future, func(t *testing.T, home string) {
			newStore(t, home)
			if err := os.Mkdir(filepath.Join(filepath.Dir(home), ".git"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, ForeignHome},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), DirName)
			if err := os.Mkdir(home, 0o700); err != nil {
				t.Fatal(err)
			}
			tt.make(t, home)
			store := filepath.Join(home, "memory.oxbow")
			l := tt.record(t)
			v := l.JudgeHome(home, store)
			if v.Ownership != tt.want || (v.Ownership != OwnHome && (v.Reason == "" || v.Mend == "")) {
				t.Errorf("Judge() = %+v, want %s", v, tt.want)
			}
			if l.Dir == "" || v.Ownership == OwnHome {
				return
			}
			if _, err := l.TrustHome(t.Context(), home, store, "", time.Now()); err != nil {
				t.Fatal(err)
			}
			if v := l.JudgeHome(home, store); (v.Ownership != OwnHome && v.Ownership != TrustedHome) ||
				v.LacksTrustRecord {
				t.Errorf("Judge() of a home that a person trusted = %+v", v)
			}
		})
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := errors.Join(
		os.MkdirAll(filepath.Dir(path), 0o700),
		os.WriteFile(path, []byte("text"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
}

// TestJudgeRecorded tests whether a home that was recorded as the user's own still counts as own after a change. It
// does if it is moved, restored from a copy or damaged, or if its store is missing. If git tracks its store, it is
// trusted. A home is foreign if it is copied to another path, if its store is replaced by another store, or if git
// tracks its sessions. A new clone at the same path is foreign too.
func TestJudgeRecorded(t *testing.T) {
	other := newStore(t, t.TempDir())
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, home string) (now string)
		want   HomeOwnership
	}{
		{"as it was", func(_ *testing.T, home string) string { return home }, OwnHome},
		{"moved", func(t *testing.T, home string) string {
			return filepath.Join(rename(t, filepath.Dir(home)), DirName)
		}, OwnHome},
		{"copied", func(t *testing.T, home string) string {
			now := filepath.Join(t.TempDir(), DirName)
			if err := os.CopyFS(now, os.DirFS(home)); err != nil {
				t.Fatal(err)
			}
			return now
		}, ForeignHome},
		{"restored from a copy", func(t *testing.T, home string) string {
			old := rename(t, home)
			if err := os.CopyFS(home, os.DirFS(old)); err != nil {
				t.Fatal(err)
			}
			return home
		}, OwnHome},
		{"another store", func(t *testing.T, home string) string {
			if err := os.Rename(other, filepath.Join(home, "memory.oxbow")); err != nil {
				t.Fatal(err)
			}
			return home
		}, ForeignHome},
		{"damaged store", func(t *testing.T, home string) string {
			write(t, filepath.Join(home, "memory.oxbow"))
			return home
		}, OwnHome},
		{"missing store", func(t *testing.T, home string) string {
			write(t, filepath.Join(home, "redact.key"))
			if err := os.Remove(filepath.Join(home, "memory.oxbow")); err != nil {
				t.Fatal(err)
			}
			return home
		}, OwnHome},
		{"tracked store", func(t *testing.T, home string) string {
			newGit(t, filepath.Dir(home), ".oxbow/memory.oxbow")
			return home
		}, TrustedHome},
		{"tracked store in a new clone at the same path", func(t *testing.T, home string) string {
			old := rename(t, home)
			if err := os.CopyFS(home, os.DirFS(old)); err != nil {
				t.Fatal(err)
			}
			newGit(t, filepath.Dir(home), ".oxbow/memory.oxbow")
			return home
		}, ForeignHome},
		{"tracked sessions", func(t *testing.T, home string) string {
			write(t, filepath.Join(home, "sessions.oxbow"))
			newGit(t, filepath.Dir(home), ".oxbow/sessions.oxbow")
			return home
		}, ForeignHome},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := begunRecord(t)
			home := filepath.Join(t.TempDir(), "p", DirName)
			store := newStore(t, home)
			if err := l.RecordHome(t.Context(), home, store, time.Now()); err != nil {
				t.Fatal(err)
			}
			home = tt.change(t, home)
			if v := l.JudgeHome(home, filepath.Join(home, "memory.oxbow")); v.Ownership != tt.want {
				t.Errorf("Judge() = %+v, want %s", v, tt.want)
			}
		})
	}
}

// rename renames a directory and returns its new path.
func rename(t *testing.T, dir string) string {
	t.Helper()
	now := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(dir, now); err != nil {
		t.Fatal(err)
	}
	return now
}

func TestWithholdDocument(t *testing.T) {
	l := begunRecord(t)
	home := filepath.Join(t.TempDir(), DirName)
	store := newStore(t, home)
	write(t, filepath.Join(home, "SOUL.md"))
	if err := l.RecordHome(t.Context(), home, store, time.Now()); err != nil {
		t.Fatal(err)
	}
	check := func(when string, isUsed bool) {
		t.Helper()
		if why := l.DocumentRefusalReason(home, "SOUL.md"); (why == "") != isUsed {
			t.Errorf("%s, DocumentRefusal() = %q", when, why)
		}
	}
	check("without git", true)
	newGit(t, filepath.Dir(home), ".oxbow/SOUL.md")
	check("tracked", false)
	if _, err := l.TrustHome(t.Context(), home, store, "", time.Now()); err != nil {
		t.Fatal(err)
	}
	check("trusted", true)
	if err := os.WriteFile(filepath.Join(home, "SOUL.md"), []byte("other text"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("changed since", false)
}

func TestRevokedStaysRevoked(t *testing.T) {
	l := List{Dir: filepath.Join(t.TempDir(), "config")}
	home := filepath.Join(t.TempDir(), DirName)
	store := newStore(t, home)
	if err := l.RecordHome(t.Context(), home, store, time.Now()); err != nil {
		t.Fatal(err)
	}
	if was, err := l.RevokeHomeTrust(t.Context(), home); !was || err != nil {
		t.Fatalf("Remove() = %t, %v", was, err)
	}
	if v := l.JudgeHome(home, store); v.Ownership != ForeignHome || !strings.Contains(v.Reason, "revoked") {
		t.Errorf("Judge() = %+v, want foreign", v)
	}
	if n := len(l.Homes()); n != 0 {
		t.Errorf("Homes() has %d homes, want none", n)
	}
}
