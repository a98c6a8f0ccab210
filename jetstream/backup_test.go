// This file tests backups and restores. Each file of a backup is a memory, and damage is found before anything is
// written.

package jetstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// fillBrains writes brains of several sizes, one of which is empty, and returns them.
func fillBrains(t *testing.T, c *Cluster, large bool) map[string]*Store {
	t.Helper()
	all := map[string]*Store{"empty": open(t, c, "empty")}
	for _, name := range []string{"Decisions", "decisions", "con"} {
		s := open(t, c, name)
		all[name] = s
		for i := range 8 {
			if err := s.Apply(
				t.Context(),
				oxbow.Add{Name: fmt.Sprint("e", i), Content: name, Labels: []oxbow.Label{{Key: "k", Value: "v"}}},
			); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(
			s.Apply(t.Context(), oxbow.Update{Name: "e1", Content: "another"}),
			s.Apply(t.Context(), oxbow.Remove{Name: "e2"}),
		); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Revert(t.Context(), 10); err != nil {
			t.Fatal(err)
		}
	}
	if large { // so large that it is stored in segments
		r := rand.New(rand.NewPCG(3, 4))
		for i := range 12 {
			if err := all["con"].Apply(
				t.Context(),
				oxbow.Add{Name: fmt.Sprint("large", i), Content: noise(r, 500_000)},
			); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

// account returns a description of the whole content of a memory, for comparisons.
func account(t *testing.T, s oxbow.Store) string {
	t.Helper()
	var b strings.Builder
	write := func(v any, err error) {
		if err != nil {
			t.Fatal(err)
		}
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		write(e, err)
	}
	for c, err := range s.(oxbow.Historian).Log(t.Context()) {
		write(c, err)
	}
	st, err := s.(oxbow.Counter).Stats(t.Context())
	write([]any{st.Last, st.Head, st.Entries}, err)
	return b.String()
}

func accounts(t *testing.T, all map[string]*Store) map[string]string {
	t.Helper()
	got := map[string]string{}
	for name, s := range all {
		got[name] = account(t, s)
	}
	return got
}

// restored tests that stores of the cluster c were restored from a backup. The keys of want are the names of the
// stores, and the values are the expected descriptions of their contents, as the function account returns them. Each
// store must then accept a new entry.
func restored(t *testing.T, c *Cluster, want map[string]string) {
	t.Helper()
	for name, w := range want {
		s := open(t, c, name)
		if got := account(t, s); got != w {
			t.Errorf("brain %s is restored as\n%.2000s\nwant\n%.2000s", name, got, w)
		}
		if err := s.Apply(t.Context(), oxbow.Add{Name: "after"}); err != nil {
			t.Errorf("Apply() to %s = %v", name, err)
		}
	}
}

func backUp(t *testing.T, c *Cluster, dir string, want BackupReport) {
	t.Helper()
	got, err := c.Backup(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Findings {
		t.Logf("found: %+v", f)
	}
	if got.Brains != want.Brains || got.Read != want.Read || got.Kept != want.Kept ||
		got.Deleted != want.Deleted ||
		len(got.Findings) != len(want.Findings) {
		t.Errorf("Backup() = %+v, want %+v", got, want)
	}
}

// TestBackup checks that a second backup reads only the brains that have changed, that each file can be opened as a
// memory, and that restored brains are the same as the original ones.
func TestBackup(t *testing.T) {
	t.Parallel()
	c := connect(t, alone(t).URL(), devOptions)
	all := fillBrains(t, c, true)
	dir := t.TempDir()
	backUp(t, c, dir, BackupReport{Brains: 4, Read: 4})
	backUp(t, c, dir, BackupReport{Brains: 4, Kept: 4})
	if err := all["decisions"].Apply(t.Context(), oxbow.Add{Name: "new"}); err != nil {
		t.Fatal(err)
	}
	if err := all["con"].brainReplica.publishSnapshot(t.Context()); err != nil { // does not change the content
		t.Fatal(err)
	}
	// The next backup deletes the files of an interrupted backup.
	torn := filepath.Join(dir, "tenant-acme", "brain-x.0000000000000000.oxbow.new")
	if err := os.WriteFile(torn, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	backUp(t, c, dir, BackupReport{Brains: 4, Read: 1, Kept: 3, Deleted: 2})
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.oxbow"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v, want 3 files", files, err)
	}
	for _, f := range files {
		m, err := oxbow.Open(f, &oxbow.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		brain, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(f), "brain-"), ".")
		if got, want := account(t, m.Store()), account(t, all[brain]); got != want {
			t.Errorf("%s holds\n%.2000s\nwant\n%.2000s", f, got, want)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	want := accounts(t, all)

	url := alone(t).URL()
	other := connect(t, url, devOptions)
	if _, err := other.Backup(t.Context(), dir, nil); !errors.Is(err, oxbow.ErrRolledBack) {
		t.Errorf("Backup() of another cluster to the same directory = %v, want ErrRolledBack", err)
	}
	restore := func(o RestoreOptions, want RestoreReport) {
		t.Helper()
		got, err := other.Restore(t.Context(), []string{dir}, o)
		if err != nil || got.Brains != want.Brains || got.Restored != want.Restored ||
			got.Present != want.Present ||
			len(got.Findings) != 0 {
			t.Errorf("Restore(%+v) = %+v, %v, want %+v", o, got, err, want)
		}
	}
	restore(RestoreOptions{DryRun: true}, RestoreReport{Brains: 4, Restored: 4})
	if brains, err := other.directory.listBrains(t.Context()); err != nil || len(brains) != 0 {
		t.Errorf("a dry run made %v, %v", brains, err)
	}
	foreign := open(t, other, "foreign")
	if err := foreign.Apply(t.Context(), oxbow.Add{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Restore(t.Context(), []string{dir}, RestoreOptions{}); !errors.Is(err, oxbow.ErrExists) ||
		got.Restored > 0 {
		t.Errorf("Restore() into a cluster with another brain = %+v, %v, want ErrExists", got, err)
	}
	restore(RestoreOptions{Tenant: "acme", Brain: "con"}, RestoreReport{Brains: 1, Restored: 1})
	restore(RestoreOptions{Tenant: "acme"}, RestoreReport{Brains: 4, Restored: 3, Present: 1})
	restored(t, other, want)
	if rep, err := other.Audit(t.Context()); err != nil || len(rep.Findings) > 0 || rep.Brains != 5 {
		t.Errorf("Audit() = %+v, %v", rep, err)
	}
	for _, o := range []RestoreOptions{{}, {Tenant: "acme"}, {Tenant: "acme", Brain: "con"}} {
		if got, err := other.Restore(t.Context(), []string{dir}, o); !errors.Is(err, oxbow.ErrExists) ||
			got.Restored > 0 {
			t.Errorf("Restore(%+v) over brains that are there = %+v, %v, want ErrExists", o, got, err)
		}
	}
	if _, err := other.Restore(
		t.Context(),
		[]string{dir},
		RestoreOptions{Tenant: "acme", Brain: "none"},
	); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Restore() of a brain that the backup lacks = %v, want ErrNotFound", err)
	}
	if _, err := other.Restore(
		t.Context(),
		[]string{t.TempDir()},
		RestoreOptions{},
	); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Restore() from an empty directory = %v, want ErrNotFound", err)
	}
	third := connect(t, url, devOptions) // this process has not read the brains yet
	if got := account(t, open(t, third, "con")); !strings.Contains(got, "after") {
		t.Error("a process that begins later lacks what was written after")
	}
}

// TestBackupOfLess checks that a stream that has lost its last messages does not replace the file of the last backup.
func TestBackupOfLess(t *testing.T) {
	t.Parallel()
	url := alone(t).URL()
	c := connect(t, url, devOptions)
	all := fillBrains(t, c, false)
	want := account(t, all["con"])
	dir := t.TempDir()
	backUp(t, c, dir, BackupReport{Brains: 4, Read: 4})
	r := all["con"].brainReplica
	var answer struct{ Success bool }
	if err := c.requestSender.requestAPI(t.Context(), "$JS.API.STREAM.MSG.DELETE."+
		r.directoryEntry.streamName(), map[string]any{"seq": r.position.LastReadSeq}, &answer); err != nil || !answer.Success {
		t.Fatalf("%+v, %v", answer, err)
	}
	late := connect(t, url, devOptions)
	backUp(t, late, dir, BackupReport{Brains: 4, Kept: 3, Findings: make([]Finding, 1)})
	if err := late.directory.bucket.Purge(t.Context(), "brain.acme.Decisions"); err != nil {
		t.Fatal(err)
	}
	backUp(t, late, dir, BackupReport{Brains: 3, Kept: 2, Findings: make([]Finding, 2)})
	_ = all["con"].Close()
	_ = all["Decisions"].Close()
	other := connect(t, alone(t).URL(), devOptions)
	if rep, err := other.Restore(t.Context(), []string{dir}, RestoreOptions{}); err != nil || rep.Restored != 4 {
		t.Errorf("Restore() = %+v, %v", rep, err)
	}
	restored(t, other, map[string]string{"con": want})
}

// TestRestoreDamaged tests Restore with a damaged backup. If the file of one brain (a stored memory) is not the file
// that the backup wrote, Restore must report it and restore the other brains. If the manifest is damaged, Restore must
// fail with ErrCorrupt and restore nothing.
func TestRestoreDamaged(t *testing.T) {
	t.Parallel()
	c := connect(t, alone(t).URL(), devOptions)
	fillBrains(t, c, false)
	good := t.TempDir()
	backUp(t, c, good, BackupReport{Brains: 4, Read: 4})
	one := func(dir string) string {
		names, err := filepath.Glob(filepath.Join(dir, "tenant-acme", "brain-con.*"))
		if err != nil || len(names) != 1 {
			t.Fatal(names, err)
		}
		return names[0]
	}
	edit := func(name string, fn func([]byte) []byte) {
		b, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(name, fn(b), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name  string
		harm  func(dir string)
		whole bool // the manifest is not damaged
	}{
		{"Flip", func(dir string) { edit(one(dir), func(b []byte) []byte { b[len(b)/2] ^= 1; return b }) }, true},
		{"Short", func(dir string) { edit(one(dir), func(b []byte) []byte { return b[:len(b)-9] }) }, true},
		{"Gone", func(dir string) { _ = os.Remove(one(dir)) }, true},
		{"Edited", func(dir string) { resum(t, dir, one(dir), false) }, true},
		{"OtherEnd", func(dir string) { resum(t, dir, one(dir), true) }, true},
		{"OtherSum", func(dir string) { // the file itself is not damaged
			m := manifestOf(t, dir)
			for i := range m.Brains {
				if b := &m.Brains[i]; b.Brain == "con" {
					b.FileHash[len(b.FileHash)-1]++ // the file name contains a different sum
				}
			}
			writeManifest(t, dir, m)
		}, true},
		{"Manifest", func(dir string) {
			edit(filepath.Join(dir, manifestFile), func(b []byte) []byte {
				return []byte(strings.Replace(string(b), `"n": 11`, `"n": 12`, 1))
			})
		}, false},
		{"Names", func(dir string) {
			edit(filepath.Join(dir, manifestFile), func(b []byte) []byte {
				return []byte(strings.Replace(string(b), "tenant-acme/brain-con", "../../etc/passwd", 1))
			})
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := copyDir(t, good)
			tc.harm(dir)
			other := connect(t, alone(t).URL(), devOptions)
			rep, err := other.Restore(t.Context(), []string{dir}, RestoreOptions{})
			if !tc.whole {
				if !errors.Is(err, oxbow.ErrCorrupt) || rep.Restored > 0 {
					t.Errorf("Restore() = %+v, %v, want ErrCorrupt", rep, err)
				}
				return
			}
			if err != nil || rep.Restored != 3 || len(rep.Findings) != 1 || rep.Findings[0].Brain != "acme.con" {
				t.Errorf("Restore() = %+v, %v, want 3 brains and a finding", rep, err)
			}
			if _, err := open(t, other, "con").Get(t.Context(), "e1"); !errors.Is(err, oxbow.ErrNotFound) {
				t.Errorf("Get() from the damaged brain = %v", err)
			}
			if tc.name != "Flip" {
				return
			}
			// Another backup contains an undamaged file.
			both, err := connect(t, alone(t).URL(), devOptions).Restore(
				t.Context(),
				[]string{dir, good},
				RestoreOptions{},
			)
			if err != nil || both.Restored != 4 {
				t.Errorf("Restore() from two backups = %+v, %v", both, err)
			}
		})
	}
}

// resum damages the backup of the brain "con". If the argument end is true, it replaces the hash chain at the end of
// the file in the manifest; otherwise it changes a bit of the file. It then corrects the hash of the file in the
// manifest.
func resum(t *testing.T, dir, file string, end bool) {
	t.Helper()
	m := manifestOf(t, dir)
	image, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Brains {
		s := &m.Brains[i]
		if s.Brain != "con" {
			continue
		}
		if end {
			s.FileChainHash = strings.Repeat("0", 64) // a different position
		} else {
			image[len(image)/2] ^= 1
		}
		s.setFileProperties(image)
		if err := errors.Join(os.Remove(file), os.WriteFile(filepath.Join(dir, s.FileName), image, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	writeManifest(t, dir, m)
}

func manifestOf(t *testing.T, dir string) *backupManifest {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		t.Fatal(err)
	}
	m, err := decodeManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func writeManifest(t *testing.T, dir string, m *backupManifest) {
	t.Helper()
	b, err := m.encodeManifest()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, manifestFile), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRestoreFromCaches tests Restore with copies of the cache directories of two nodes, as if the nodes had been
// killed. Each brain (a stored memory) must be restored from the cache that has more of its changes. Restore from a
// cache in use must fail with ErrBusy.
func TestRestoreFromCaches(t *testing.T) {
	t.Parallel()
	url := alone(t).URL()
	o, p := devOptions, devOptions
	o.Dir, p.Dir = t.TempDir(), t.TempDir()
	first, second := connect(t, url, o), connect(t, url, p)
	all := fillBrains(t, first, false)
	late := open(t, second, "con")
	if err := errors.Join(late.Refresh(t.Context()), late.Apply(t.Context(), oxbow.Add{Name: "late"})); err != nil {
		t.Fatal(err)
	}
	dirs := []string{copyDir(t, o.Dir), copyDir(t, p.Dir)}
	want := accounts(t, all)
	if !strings.Contains(want["con"], "late") {
		t.Fatal("the change is not there")
	}
	if _, err := first.Restore(t.Context(), []string{o.Dir}, RestoreOptions{}); !errors.Is(err, oxbow.ErrBusy) {
		t.Errorf("Restore() from a cache in use = %v, want ErrBusy", err)
	}
	other := connect(t, alone(t).URL(), devOptions)
	if rep, err := other.Restore(t.Context(), dirs, RestoreOptions{}); err != nil || rep.Restored != 3 ||
		len(rep.Findings) > 0 {
		t.Errorf("Restore() = %+v, %v", rep, err)
	}
	restored(t, other, want)
}

func FuzzManifest(f *testing.F) {
	s := savedBrain{Tenant: "a", Brain: "b", LastEnvelopeNumber: 1}
	s.setFileProperties([]byte("x"))
	m := &backupManifest{Format: manifestFormat, Brains: []savedBrain{s}}
	b, err := m.encodeManifest()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format":1,"brains":[{"tenant":"..","brain":"b"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeManifest(b)
		if err != nil {
			return
		}
		for _, s := range m.Brains {
			if s.LastEnvelopeNumber > 0 && (!filepath.IsLocal(s.FileName) || strings.Count(s.FileName, "/") != 1) {
				t.Errorf("the file %q", s.FileName)
			}
		}
		again, err := m.encodeManifest()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeManifest(again); err != nil {
			t.Error(err)
		}
	})
}
