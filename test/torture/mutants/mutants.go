// This file lists the mutants, and builds programs that contain them.

// Package mutants inserts faults into oxbow's code, to prove that the torture tests find these faults. A mutant is a
// patch of one line. When building the program, the go command applies the patch to a copy of the file. The code in
// the repository is not changed.
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

// Mutant is a deliberate fault in the library. Name identifies the fault. In the file with the path File, the text in
// the field Old is replaced by the text in the field New.
type Mutant struct {
	Name, File, Old, New string
}

// All lists the mutants. The line to replace (Old) occurs exactly once in the mutant's file.
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
		"if rerr := l.rewriteAfterSyncError(buf[l.endOffset-from:], \"\", err); rerr != nil {",
		"if l.file.Sync() == nil {\n\t\t} else if rerr := l.rewriteAfterSyncError(buf[l.endOffset-from:], \"\", err); rerr != nil {",
	},
	{
		"others-taken-for-durable",
		"internal/log/wal/append.go",
		"if l.syncedEnd >= l.endOffset || l.endOffset-l.syncedEnd > MaxBody {",
		"if l.endOffset > 0 {",
	},
	{"record-vouches-for-itself", "internal/log/wal/append.go", "DurableSeq:   l.durableSeq,",
		"DurableSeq:   seq,"},
	{"replaced-file-unnoticed", "internal/log/wal/log.go", "case !same:",
		"case !same && false:"},
	{
		"old-look-believed",
		"internal/log/wal/lock.go",
		"l.zerosFromOffset.Store(-1)",
		"",
	},
	{"replaced-without-note", "internal/log/wal/rewrite.go", "if l.lock == nil || l.metaFile == nil {",
		"if l.endOffset >= 0 {"},
	{"checksum-ignored", "internal/log/wal/format.go", "if crc != le.Uint32(b[36:]) {",
		"if crc != le.Uint32(b[36:]) && false {"},
	{"damage-taken-for-tail", "internal/log/wal/read.go", "next, lost, err := l.findNextRecord(d.offset)",
		"if l.endOffset >= 0 {\n\t\treturn nil\n\t}\n\tnext, lost, err := l.findNextRecord(d.offset)"},
	{"no-catch-up", "internal/log/logstore/commit.go", "err = d.applyOtherProcessChanges()",
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
		"deferredFinishFuncs = append(deferredFinishFuncs, func() { r.finishRequest(seq, err) })",
		"r.finishRequest(seq, err)",
	},
	{
		"snapshot-one-record-too-far",
		"internal/log/logstore/db.go",
		"_, err = d.replayLog(d.log, st, func(off int64) { offsets = append(offsets, off) }, 0)",
		"\n\tskipped := 0\n\t_ = d.log.Read(func(r *wal.Record) error {\n\t\tif r.Type != wal.TypeSeal {\n\t\t\tskipped++\n\t\t}\n\t\tif skipped > 1 {\n\t\t\treturn errStopReplay\n\t\t}\n\t\treturn nil\n\t})\n\t_, err = d.replayLog(d.log, st, func(off int64) { offsets = append(offsets, off) }, 0)",
	},
	{
		"snapshot-chain-not-compared",
		"internal/log/wal/jump.go",
		"!r.IsChainedRecord(seq, chainHash) {",
		"r.Type >= MinTypeOutsideHashChain || r.Seq != seq {",
	},
	{
		"snapshot-page-not-verified",
		"internal/base/pagefile/reader.go",
		"if PageChecksum(p[:PageDataBytes], firstPage+i, r.firstPageChecksum) != stored {",
		"if PageChecksum(p[:PageDataBytes], firstPage+i, r.firstPageChecksum) != stored && false {",
	},
	{
		"snapshot-without-removed",
		"internal/log/logstore/snapshotwriter.go",
		"r.RemovedNames = append(r.RemovedNames, keydir.TableKey{Hash: use(name), IDOrChangeNumber: seq})",
		"_, _ = name, seq",
	},
	{
		"snapshot-left-by-redaction",
		"internal/log/logstore/redact.go",
		"if err := d.removeDerivedFile(d.snapshotName()); err != nil {",
		"if err := error(nil); err != nil {",
	},
	{
		"snapshot-of-unsynced-records",
		"internal/log/logstore/snapshot.go",
		"if s.log.SyncedOffset() < s.head.lastOffset {",
		"if s.log.SyncedOffset() < 0 {",
	},
	{"new-file-not-synced", "internal/log/wal/rewrite.go", "if err := w.Flush(); err != nil {",
		"if _, err := f.WriteAt(w.header.encode(), 0); err != nil {"},
	{
		"compaction-without-the-last-writes",
		"internal/log/logstore/compact.go",
		"if err := c.copyNewChanges(); err != nil {\n\t\treturn 0, err\n\t}\n\tif c.oldLog.LastSeq() != d.log.LastSeq() || c.oldLog.LastChainHash() != d.log.LastChainHash() {",
		"if false {",
	},
	{"redaction-taken-for-compaction", "internal/log/logstore/db.go", "if isRedactionOrRecovery(r, v) {",
		"if false {"},
	{
		"compaction-lists-old-versions",
		"internal/log/logstore/compact.go",
		"(c.newestByID, key, locatedVersion.compare)",
		"(c.newestByID, key.id, func(p locatedVersion, id uint64) int { return cmp.Compare(p.id, id) })",
	},
	{"damage-taken-for-an-older-copy", "internal/verb/maintenance/recover.go", "case found.lacksDurableChanges:",
		"case found.lastDurableSeq > found.LastSeq:"},
	{
		"recovery-leaves-derived-files",
		"internal/verb/maintenance/recover.go",
		"err = removeDerivedFiles(store)",
		"err = nil",
	},
	{
		"equal-looks-not-believed",
		"internal/log/logstore/check.go",
		"case look.hasSameProblems(before) && (err == nil) == (beforeErr == nil):",
		"case look.hasSameProblems(before) && look.foundNoProblem() && beforeErr == nil:",
	},
	{
		"first-look-believed",
		"internal/log/logstore/check.go",
		"if err == nil && look.foundNoProblem() {",
		"if err == nil {",
	},
	{
		"damaged-mark-passed-over",
		"internal/log/logstore/check.go",
		"if g.IsIncompleteSeal {",
		"if g.EndOffset > g.StartOffset {",
	},
	{
		"recovery-without-the-base",
		"internal/log/logstore/recover.go",
		"if p.readChangeCount > 0 {",
		"if p.readChangeCount >= 0 {",
	},
	{
		"base-of-large-records",
		"internal/log/logstore/base.go",
		"const maxBaseRecordEntryBytes = 1 << 10",
		"const maxBaseRecordEntryBytes = 1 << 20",
	},
	{"shown-before-durable", "internal/log/logstore/commit.go", "recs, err := d.appendDrafts(drafts, g.changeTime)",
		"d.mu.Lock()\n\tfor i, f := range drafts {\n\t\td.st.applyChange(d.log.LastSeq()+1+uint64(i), g.changeTime, f.body)\n\t}\n\td.mu.Unlock()\n\trecs, err := d.appendDrafts(drafts, g.changeTime)"},

	{"edited-file-taken-for-unchanged", "internal/tree/mdtree/load.go",
		"case isUnique && sha256Digest(sha256.Sum256([]byte(text))) == r.tree.lastDumpManifest.fileRows[row].fileDigest:",
		"case isUnique && sha256Digest(sha256.Sum256([]byte(text))).isSet():"},
	{"changed-entry-taken-for-dumped", "internal/tree/mdtree/plan.go",
		"if p.namesChangedSinceDump != nil && !p.namesChangedSinceDump[name] {", "if p.namesChangedSinceDump != nil {"},
	{"conflict-not-named", "internal/tree/mdtree/plan.go", "case storeChanged && !p.opts.PrefersFiles:",
		"case storeChanged && !p.opts.PrefersFiles && false:"},
	{"edit-taken-for-saved", "internal/tree/mdtree/dumpplan.go", "return d.history.hadEntry(&e, last)",
		"_ = last\n\treturn true, nil"},
	{"change-removed-with-file", "internal/tree/mdtree/plan.go",
		"case !p.UsedLastDumpAsBase || p.opts.PrefersFiles || e.isUnchangedSinceDump:", "case !p.UsedLastDumpAsBase || p.opts.PrefersFiles || known:"},
	{"dump-over-edits", "internal/tree/mdtree/dumpplan.go", "case err != nil || isSaved:",
		"case err != nil || isSaved || !d.isForced:"},
	{"labels-not-compared", "internal/tree/mdtree/plan.go",
		"haveSameAliases(fileEntry.Aliases, e.Aliases) && slices.Equal(fileEntry.Labels, oxbow.SortLabels(e.Labels)) &&",
		"haveSameAliases(fileEntry.Aliases, e.Aliases) &&"},
	{
		"stamp-is-the-size",
		"internal/tree/mdtree/knownfiles.go",
		"return fileStampHash(maphash.Comparable(t.fileStampHashSeed, s) | 1)",
		"return fileStampHash(maphash.Comparable(t.fileStampHashSeed, s.Size) | 1)",
	},
	{"recent-file-known", "internal/tree/mdtree/knownfiles.go",
		"return max(s.ModUnixNano, s.ChangeUnixNano) < x.stabilityCutoffNanos", "return true"},
	{"changed-entry-dumped", "internal/tree/mdtree/dumpplan.go",
		"if e.Kind != out.kind || !hasSum {", "_ = hasSum\n\tif e.Kind != out.kind {"},
	{"staged-change-not-checked", "internal/tree/mdtree/write.go",
		"err = vfs.CheckUnchanged(s.fs, changes[i].path, changes[i].contentBefore())", "continue"},
	{"dump-finished-before-commit", "internal/tree/mdtree/dump.go",
		"if err := d.stagingArea.Commit(j); err != nil {", "if err := d.finishChange(j); err != nil {"},
	{
		"foreign-journal-followed",
		"internal/share/team/store.go",
		"NoJournal:           true,",
		"",
	},
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

// applyTo returns the text of a source file with the mutant's fault, that is, with Old replaced by New.
func (m Mutant) applyTo(text string) (string, error) {
	if n := strings.Count(text, m.Old); n != 1 {
		return "", fmt.Errorf("mutant %s no longer applies: %q is %d times in %s, want once", m.Name, m.Old, n, m.File)
	}
	return strings.Replace(text, m.Old, m.New, 1), nil
}

// WriteOverlay writes a copy of the mutant's file with the fault to the directory outputDir. It also writes an overlay
// file, which makes the go command use the copy. It returns the overlay's path. moduleDir is the directory of oxbow's
// module.
func (m Mutant) WriteOverlay(moduleDir, outputDir string) (string, error) {
	file := filepath.Join(moduleDir, filepath.FromSlash(m.File))
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("mutant %s no longer applies: %w", m.Name, err)
	}
	patched, err := m.applyTo(string(text))
	if err != nil {
		return "", err
	}
	source, overlay := filepath.Join(outputDir, m.Name+".go"), filepath.Join(outputDir, m.Name+".json")
	if err := os.WriteFile(source, []byte(patched), 0o600); err != nil {
		return "", err
	}
	b, err := json.Marshal(map[string]map[string]string{"Replace": {file: source}})
	if err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, b, 0o600)
}

// BuildProgram builds the program of the torture tests with this fault in oxbow's code. It writes the program to the
// directory outputDir and returns its path.
func (m Mutant) BuildProgram(ctx context.Context, moduleDir, outputDir string) (string, error) {
	overlay, err := m.WriteOverlay(moduleDir, outputDir)
	if err != nil {
		return "", err
	}
	program := filepath.Join(outputDir, m.Name)
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-overlay", overlay, "-o", program, ".")
	cmd.Dir = filepath.Join(moduleDir, "test", "torture")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("mutant %s no longer builds: %w\n%s", m.Name, err, out)
	}
	return program, nil
}

// RunTest runs a test of an oxbow package with the mutant's fault in the code. If the test fails, which is the desired
// result, noticed is true.
func (m Mutant) RunTest(ctx context.Context, moduleDir, outputDir, pkg, test string) (noticed bool, err error) {
	overlay, err := m.WriteOverlay(moduleDir, outputDir)
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-overlay", overlay, "-count=1", "-run", "^"+test+
		"$", pkg)
	cmd.Dir = moduleDir
	// Run the test in the directory test/torture, because this directory is a Go module of its own.
	if inside, ok := strings.CutPrefix(pkg, "./test/torture/"); ok {
		cmd.Dir, cmd.Args[len(cmd.Args)-1] = filepath.Join(moduleDir, "test", "torture"), "./"+inside
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

// LibraryDir returns the directory of the module oxbow, as go list reports it.
func LibraryDir() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/oxbow-memory/oxbow").Output()
	if err != nil {
		return "", fmt.Errorf("finding the library, from the directory test/torture: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
