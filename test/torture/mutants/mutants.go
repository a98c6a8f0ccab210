// This file lists the mutants and builds programs with them.

// Package mutants breaks the library deliberately, to prove that a campaign notices. A
// mutant is a patch of one line, which the go command applies to a copy during the build.
// The library itself has no switch for it.
package mutants

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Mutant is a fault in the library: the text New replaces Old in File.
type Mutant struct {
	Name, File, Old, New string
}

// All lists the mutants. The text Old occurs exactly once in its file.
var All = []Mutant{
	{"tail-written-over", "internal/log/wal/tail.go", "func (l *Log) truncateTornTail() error {",
		"func (l *Log) truncateTornTail() error {\n\treturn nil"},
	{
		"short-write-taken-for-done",
		"internal/log/wal/append.go",
		"if n, err := l.file.WriteAt(buf, from); err != nil {",
		"if n, err := l.file.WriteAt(buf, from); err != nil && false {",
	},
	{
		"failed-sync-tried-again",
		"internal/log/wal/append.go",
		"if rerr := l.rewriteAfterSyncError(buf[l.end-from:], \"\", err); rerr != nil {",
		"if l.file.Sync() == nil {\n\t\t} else if rerr := l.rewriteAfterSyncError(buf[l.end-from:], \"\", err); rerr " +
			"!= nil {",
	},
	{
		"others-taken-for-durable",
		"internal/log/wal/append.go",
		"if l.syncedEnd >= l.end || l.end-l.syncedEnd > MaxBody {",
		"if l.end > 0 {",
	},
	{"record-vouches-for-itself", "internal/log/wal/append.go", "Durable: l.durable, Time: d.Time",
		"Durable: seq, Time: d.Time"},
	{"replaced-file-unnoticed", "internal/log/wal/log.go", "case !same:",
		"case !same && false:"},
	{"old-look-believed", "internal/log/wal/lock.go", "l.free.Store(-1) // forget earlier observations, because they may be outdated",
		""},
	{"replaced-without-note", "internal/log/wal/rewrite.go", "if l.lock == nil || l.metaFile == nil {",
		"if l.end >= 0 {"},
	{"checksum-ignored", "internal/log/wal/format.go", "if crc != le.Uint32(b[36:]) {",
		"if crc != le.Uint32(b[36:]) && false {"},
	{"damage-taken-for-tail", "internal/log/wal/read.go", "next, lost, err := l.findAfterDamage(d.offset)",
		"if l.end >= 0 {\n\t\treturn nil\n\t}\n\tnext, lost, err := l.findAfterDamage(d.offset)"},
	{"no-catch-up", "internal/log/logstore/commit.go", "err = d.catchUp()",
		"err = error(nil)"},
	{
		"op-ids-ignored",
		"internal/log/logstore/commit.go",
		"if seq, err := g.changeWithOpID(id); seq != 0 || err != nil {",
		"if seq, err := g.changeWithOpID(id); err != nil && seq != 0 {",
	},
	{
		"answered-before-durable",
		"internal/log/logstore/commit.go",
		"later = append(later, func() { r.finish(seq, err) })",
		"r.finish(seq, err)",
	},
	{
		"snapshot-one-record-too-far",
		"internal/log/logstore/db.go",
		"_, err = d.replayLog(d.log, st, func(off int64) { offsets = append(offsets, off) }, 0)",
		`
	skipped := 0
	_ = d.log.Read(func(r *wal.Record) error {
		if r.Type != wal.Seal {
			skipped++
		}
		if skipped > 1 {
			return errStop
		}
		return nil
	})
	_, err = d.replayLog(d.log, st, func(off int64) { offsets = append(offsets, off) }, 0)`,
	},
	{
		"snapshot-chain-not-compared",
		"internal/log/wal/jump.go",
		"!r.IsChange(seq, chain) {",
		"r.Type >= Unchained || r.Seq != seq {",
	},
	{
		"snapshot-page-not-verified",
		"internal/base/pagefile/reader.go",
		"if Checksum(p[:Data], n+i, r.headChecksum) != binary.LittleEndian.Uint32(p[Data:]) {",
		"if Checksum(p[:Data], n+i, r.headChecksum) != binary.LittleEndian.Uint32(p[Data:]) && false {",
	},
	{
		"snapshot-without-removed",
		"internal/log/logstore/snapshotwriter.go",
		"r.Removed = append(r.Removed, keydir.Key{Hash: use(name), Number: seq})",
		"_, _ = name, seq",
	},
	{
		"snapshot-left-by-redaction",
		"internal/log/logstore/redact.go",
		"if err := d.dropFile(d.snapshotName()); err != nil {",
		"if err := error(nil); err != nil {",
	},
	{"snapshot-of-unsynced-records", "internal/log/logstore/snapshot.go", "if s.log.SyncedOffset() < s.head.offset {",
		"if s.log.SyncedOffset() < 0 {"},
	{"new-file-not-synced", "internal/log/wal/rewrite.go", "if err := w.Flush(); err != nil {",
		"if _, err := f.WriteAt(w.header.encode(), 0); err != nil {"},
	{
		"compaction-without-the-last-writes",
		"internal/log/logstore/compact.go",
		"if err := c.copyNewChanges(); err != nil {\n\t\treturn 0, err\n\t}\n\tif c.log.Seq() != d.log.Seq() || " +
			"c.log.Chain() != d.log.Chain() {",
		"if false {",
	},
	{"redaction-taken-for-compaction", "internal/log/logstore/db.go", "if isRewrite(r, v) {",
		"if false {"},
	{
		"compaction-lists-old-versions",
		"internal/log/logstore/compact.go",
		"placedVersion{id: e.ID, version: e.Version}, placedVersion.compare)",
		"e.ID, func(p placedVersion, id uint64) int { return cmp.Compare(p.id, id) })",
	},
	{"damage-taken-for-an-older-copy", "internal/verb/maintenance/recover.go", "case found.wentBack:",
		"case found.durable > found.Last:"},
	{
		"recovery-leaves-derived-files",
		"internal/verb/maintenance/recover.go",
		"err = removeDerived(store)",
		"err = nil",
	},
	{
		"equal-looks-not-believed",
		"internal/log/logstore/check.go",
		"case look.agreesWith(before) && (err == nil) == (beforeErr == nil):",
		"case look.agreesWith(before) && look.isSound() && beforeErr == nil:",
	},
	{"first-look-believed", "internal/log/logstore/check.go", "if err == nil && look.isSound() {", "if err == nil {"},
	{"damaged-mark-passed-over", "internal/log/logstore/check.go", "if g.TornSeal {", "if g.To > g.From {"},
	{"recovery-without-the-base", "internal/log/logstore/recover.go", "if p.changes > 0 {", "if p.changes >= 0 {"},
	{
		"base-of-large-records",
		"internal/log/logstore/base.go",
		"const baseBytes = 1 << 10",
		"const baseBytes = 1 << 20",
	},
	{"shown-before-durable", "internal/log/logstore/commit.go", "recs, err := d.append(drafts, g.now)",
		`d.mu.Lock()
	for i, f := range drafts {
		d.st.apply(d.log.Seq()+1+uint64(i), g.now, f.body)
	}
	d.mu.Unlock()
	recs, err := d.append(drafts, g.now)`},

	{"edited-file-taken-for-unchanged", "internal/tree/mdtree/load.go",
		"case isUnique && journal.Sum([]byte(text)) == r.tree.base.Files[row].Sum:",
		"case isUnique && journal.Sum([]byte(text)) != \"\":"},
	{"changed-entry-taken-for-dumped", "internal/tree/mdtree/plan.go",
		"if p.changed != nil && !p.changed[name] {", "if p.changed != nil {"},
	{"conflict-not-named", "internal/tree/mdtree/plan.go", "case storeChanged && !p.opts.FilesWin:",
		"case storeChanged && !p.opts.FilesWin && false:"},
	{"edit-taken-for-saved", "internal/tree/mdtree/dumpplan.go", "return d.past.hadEntry(&e, last)",
		"_ = last\n\treturn true, nil"},
	{"change-removed-with-file", "internal/tree/mdtree/plan.go",
		"case !p.Base || p.opts.FilesWin || e.isBase:", "case !p.Base || p.opts.FilesWin || known:"},
	{"dump-over-edits", "internal/tree/mdtree/dumpplan.go", "case err != nil || isSaved:",
		"case err != nil || isSaved || !d.force:"},
	{"labels-not-compared", "internal/tree/mdtree/plan.go",
		"sameAliases(want.Aliases, e.Aliases) && slices.Equal(want.Labels, oxbow.SortLabels(e.Labels)) &&",
		"sameAliases(want.Aliases, e.Aliases) &&"},
	{"stamp-is-the-size", "internal/tree/mdtree/knownfiles.go", "return row, ok && k.rows[row].stamp == it.stamp",
		"return row, ok && k.rows[row].stamp.size == it.stamp.size"},
	{"recent-file-known", "internal/tree/mdtree/knownfiles.go",
		"if !ok || max(s.modified, s.changed) >= x.settled {", "if !ok {"},
	{"changed-entry-dumped", "internal/tree/mdtree/dumpplan.go",
		"if e.Kind != out.kind || !hasSum {", "_ = hasSum\n\tif e.Kind != out.kind {"},
}

// FindMutant returns the mutant with the given name.
func FindMutant(name string) (Mutant, error) {
	for _, m := range All {
		if m.Name == name {
			return m, nil
		}
	}
	return Mutant{}, fmt.Errorf("there is no mutant %q", name)
}

// patch returns the text with the fault.
func (m Mutant) patch(text string) (string, error) {
	if n := strings.Count(text, m.Old); n != 1 {
		return "", fmt.Errorf("mutant %s no longer applies: %q is %d times in %s, want once", m.Name, m.Old, n, m.File)
	}
	return strings.Replace(text, m.Old, m.New, 1), nil
}

// Overlay writes the patched file and an overlay file for the go command into dir, and
// returns the overlay's path. root is the directory of the library.
func (m Mutant) Overlay(root, dir string) (string, error) {
	file := filepath.Join(root, filepath.FromSlash(m.File))
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("mutant %s no longer applies: %w", m.Name, err)
	}
	patched, err := m.patch(string(text))
	if err != nil {
		return "", err
	}
	source, overlay := filepath.Join(dir, m.Name+".go"), filepath.Join(dir, m.Name+".json")
	if err := os.WriteFile(source, []byte(patched), 0o600); err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]map[string]string{"Replace": {file: source}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, b, 0o600)
}

// Build builds this program with the mutant into dir and returns its path.
func (m Mutant) Build(ctx context.Context, root, dir string) (string, error) {
	overlay, err := m.Overlay(root, dir)
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, m.Name)
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", program, ".")
	cmd.Dir = filepath.Join(root, "test", "torture")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mutant %s no longer builds: %w\n%s", m.Name, err, out)
	}
	return program, nil
}

// Test runs one test of a library package with the mutant. noticed reports whether the test fails, which is the
// desired result.
func (m Mutant) Test(ctx context.Context, root, dir, pkg, test string) (noticed bool, err error) {
	overlay, err := m.Overlay(root, dir)
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-overlay", overlay, "-count=1", "-run", "^"+test+
		"$", pkg)
	cmd.Dir = root
	if inside, ok := strings.CutPrefix(pkg, "./test/torture/"); ok { // test/torture is a module of its own
		cmd.Dir, cmd.Args[len(cmd.Args)-1] = filepath.Join(root, "test", "torture"), "./"+inside
	}
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), "--- FAIL: "+test):
		return true, nil
	case err != nil || strings.Contains(string(out), "no tests to run"):
		return false, fmt.Errorf("test %s of %s with mutant %s did not run: %v\n%s", test, pkg, m.Name, err, out)
	}
	return false, nil
}

// Root returns the directory of the library.
func Root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/oxbow-memory/oxbow").Output()
	if err != nil {
		return "", fmt.Errorf("finding the library, from the directory test/torture: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
