// This file damages store files in many ways, calls commands of oxbow on them, and checks the results.

// Package recovery damages memories and then follows the advice that oxbow gives.
//
// It damages the kinds of stores that people have: plain, compacted, compacted and then written to, and redacted. A
// snapshot, an index and a lock file may exist next to a store or be missing. The damage is at every position: a byte
// is changed, a range is zeroed, or the file is truncated. For each damaged file, the test calls commands: check,
// doctor --full, list, get, remember, recover, recover --out and recover --replace. A call of a command on a damaged
// file is called a combination. The test checks these guarantees:
//
//   - check reports the damage, or the entries are unchanged.
//   - list and get answer correctly or fail.
//   - recover saves the entries of all records that are whole in the damaged file.
//   - A person who runs the commands that check prints has a sound memory with these entries after at most three
//     commands. This is also true if remember was called on the damaged file before.
//
// The expected records and entries are computed from the bytes of the undamaged file. The package has its own code for
// this, and does not use the code of the store.
package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

// DamageTally counts what happened to store files that the tests have damaged.
type DamageTally struct {
	DamagedFileCount int // number of files that were damaged
	CommandCallCount int // number of commands that were called on damaged files
	HarmlessCount    int // number of files whose damage left all entries as they were
	// number of files that lost their last changes without any sign of the loss in the remaining bytes
	UnnoticedLossCount      int
	RolledBackCount         int // number of files that lack changes which the lock file records as written
	ReportedDamageCount     int // number of files whose damage the command named "check" reported
	UnrecognizableFileCount int // number of files that nobody can recognize as memories any more
	LostEntryCount          int // number of entries that were not saved although their records are undamaged
}

// Add adds the counts of other tests in u to t.
func (t *DamageTally) Add(u DamageTally) {
	t.DamagedFileCount += u.DamagedFileCount
	t.CommandCallCount += u.CommandCallCount
	t.HarmlessCount += u.HarmlessCount
	t.UnnoticedLossCount += u.UnnoticedLossCount
	t.RolledBackCount += u.RolledBackCount
	t.ReportedDamageCount += u.ReportedDamageCount
	t.UnrecognizableFileCount += u.UnrecognizableFileCount
	t.LostEntryCount += u.LostEntryCount
}

// These bits stand for files that oxbow derives from a store and keeps next to it.
const (
	snapshotFileBit = 1 << iota
	indexFileBit
	lockFileBit
	derivedFileSetCount
)

// Damage tells which bytes of a file are damaged, and how.
type Damage struct {
	Kind string // what happens to the bytes from StartOffset to EndOffset-1: "changed", "zeroed" or "cut"
	// offsets in the store file of the first damaged byte, and of the byte after the last damaged byte
	StartOffset, EndOffset int
	// which of the snapshot, the index and the lock file exist next to the store file: a sum of snapshotFileBit,
	// indexFileBit and lockFileBit
	DerivedFileBits int
}

func (d Damage) String() string {
	return fmt.Sprintf(
		"bytes %d to %d %s, snapshot %v, index %v, lock file %v",
		d.StartOffset,
		d.EndOffset,
		d.Kind,
		d.DerivedFileBits&snapshotFileBit != 0,
		d.DerivedFileBits&indexFileBit != 0,
		d.DerivedFileBits&lockFileBit != 0,
	)
}

// ListRecordDamages returns damages of whole records in the store file. For each record, there is a damage that changes
// one byte in the middle of the record. For each of the last three records, there are three more damages: the file is
// cut at the record's beginning, the file is zeroed from the record's beginning on, or only the record is zeroed. These
// three damages are listed for every combination of existing snapshot, index and lock file.
func (s *Store) ListRecordDamages() (all []Damage) {
	for i, r := range s.fileRecords {
		all = append(
			all,
			Damage{
				"changed",
				(r.startOffset + r.endOffset) / 2,
				(r.startOffset+r.endOffset)/2 + 1,
				i % derivedFileSetCount,
			},
		)
	}
	for _, r := range s.fileRecords[max(0, len(s.fileRecords)-3):] {
		for derived := range derivedFileSetCount {
			all = append(
				all,
				Damage{"cut", r.startOffset, s.UsedBytes(), derived},
				Damage{"zeroed", r.startOffset, s.UsedBytes(), derived},
				Damage{"zeroed", r.startOffset, r.endOffset, derived},
			)
		}
	}
	return all
}

// DamageAllBytes returns several kinds of damage for each byte of the used part of the store file, which ends with the
// last record, and for the 100 bytes after it. Damage to a byte changes it, zeroes several bytes beginning with it, or
// cuts off the rest of the used part.
//
// A snapshot, an index and a lock file may exist next to the store file. Each group of three elements in the result
// uses the next combination of these files, so that all combinations are tested. seed determines the first combination.
func (s *Store) DamageAllBytes(seed uint64) []Damage {
	var all []Damage
	used := s.UsedBytes()
	add := func(kind string, from, to int) {
		all = append(all, Damage{kind, from, to, (len(all)/3 + int(seed)) % derivedFileSetCount})
	}
	for i := range used + 100 {
		add("changed", i, i+1)
		size := []int{2, 16, 72, 512}[i%4]
		add("zeroed", i, i+size)
		if i <= used {
			add("cut", i, used)
		}
	}
	return all
}

// applyDamage returns a copy of the store file with the damage d. The random numbers from r determine how a byte is
// changed.
func (s *Store) applyDamage(d Damage, r *rand.Rand) []byte {
	b := bytes.Clone(s.file)
	to := min(d.EndOffset, len(b))
	switch d.Kind {
	case "changed":
		b[d.StartOffset] ^= byte(1 << r.IntN(8))
		if r.IntN(4) == 0 {
			b[d.StartOffset] = s.file[d.StartOffset] + byte(1+r.IntN(255))
		}
	case "zeroed":
		clear(b[d.StartOffset:to])
	case "cut":
		b = b[:d.StartOffset]
	}
	return b
}

// damageTrial is a test of one damaged file, with all that is known about the file.
type damageTrial struct {
	*Store
	*DamageTally
	ctx               context.Context
	dir               string
	damagedFile       []byte
	derivedFileBits   int
	storeKind         string             // kind of the damage in the store file, as in Damage.Kind
	damageOffset      int                // offset of the first damaged byte
	restorableEntries contentByEntryName // entries that can be restored from the undamaged records
	isCheckClean      bool               // set if the command "oxbow check" finds no problem in the damaged file
	isRolledBack      bool               // whether check reports only that the store file went back to an earlier state
	listedEntries     contentByEntryName // entries that "oxbow list" returns (nil if the command fails)
}

// TestDamage writes the store with this damage to dir, which must be empty, and calls the verbs. It adds the outcome to
// t. It returns an error if a guarantee does not hold.
func (s *Store) TestDamage(ctx context.Context, dir string, d Damage, seed uint64, t *DamageTally) error {
	r := rand.New(rand.NewPCG(seed, uint64(d.StartOffset)))
	x := &damageTrial{
		Store:           s,
		DamageTally:     t,
		ctx:             ctx,
		dir:             dir,
		damagedFile:     s.applyDamage(d, r),
		derivedFileBits: d.DerivedFileBits,
		storeKind:       d.Kind,
		damageOffset:    d.StartOffset,
	}
	t.DamagedFileCount++
	if bytes.Equal(x.damagedFile, s.file) {
		t.HarmlessCount++
		return nil
	}
	x.restorableEntries = s.undamagedEntries(x.damagedFile)
	for _, step := range []func() error{x.callReadVerbs, x.recoverToNewFile, x.rememberAndFollowAdvice, x.followCheckAdvice, x.recoverInPlace} {
		err := step()
		if errors.Is(err, oxbow.ErrNotStore) && x.isFileUnrecognizable() {
			t.UnrecognizableFileCount++
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d, err)
		}
	}
	return nil
}

// writeDamagedFiles writes the damaged file and its derived files into the directory. It removes everything else there.
func (x *damageTrial) writeDamagedFiles() error {
	left, err := os.ReadDir(x.dir)
	if err != nil {
		return err
	}
	for _, e := range left {
		if err := os.RemoveAll(filepath.Join(x.dir, e.Name())); err != nil {
			return err
		}
	}
	files := map[string][]byte{storeFile: x.damagedFile}
	for bit, name := range map[int]string{snapshotFileBit: storeFile + ".snap", indexFileBit: storeFile +
		".idx", lockFileBit: storeFile + ".lock"} {
		if x.derivedFileBits&bit != 0 {
			files[name] = x.derivedFiles[name]
		}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(x.dir, name), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// callCheck calls the verb check on the damaged file, and returns its answer.
func (x *damageTrial) callCheck() (out maintenance.CheckDataOut, err error) {
	err = x.useWorkspace(func(w *verb.Workspace) error {
		out, err = maintenance.CheckData(x.ctx, w, maintenance.CheckDataIn{})
		return err
	})
	return out, err
}

// callList returns the entries that oxbow finds in a damaged file. It calls the command list for the names of the
// entries, and the command get for the content of each entry.
func (x *damageTrial) callList(file string) (listed contentByEntryName, err error) {
	err = x.useWorkspaceOfFile(file, func(w *verb.Workspace) error {
		most := 1000
		out, err := verb.ListEntries(x.ctx, w, verb.ListIn{Limit: &most})
		if err != nil {
			return err
		}
		listed = contentByEntryName{}
		for _, e := range out.Entries {
			got, err := verb.Get(x.ctx, w, verb.GetIn{Name: e.Name, ContentOnly: true})
			if err != nil {
				return fmt.Errorf("get %s, which list has: %w", e.Name, err)
			}
			listed[e.Name] = answerContent(got)
		}
		return nil
	})
	return listed, err
}

// answerContent returns the content in an answer of the verb get, or "" without a content.
func answerContent(answer verb.GetOut) string {
	if answer.Content == nil {
		return ""
	}
	return *answer.Content
}

// callReadVerbs writes the damaged files and calls the verbs that do not change them: check, doctor --full, list and
// get. It returns an error if their answers contradict each other. It stores the results of check and list in x.
func (x *damageTrial) callReadVerbs() error {
	if err := x.writeDamagedFiles(); err != nil {
		return err
	}
	x.CommandCallCount += 4
	out, err := x.callCheck()
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	x.isCheckClean = out.OK
	x.isRolledBack = len(out.Problems) == 1 && strings.Contains(out.Problems[0].Description, "went back")
	for _, p := range out.Problems {
		if p.Description == "" || p.Mend == "" {
			return fmt.Errorf("check names no damage or no remedy: %+v", p)
		}
	}
	var doctor maintenance.DoctorOut
	if err := x.useWorkspace(func(w *verb.Workspace) error {
		doctor, err = maintenance.DiagnoseMemory(x.ctx, w, maintenance.DoctorIn{IsFullCheck: true})
		return err
	}); err != nil {
		return fmt.Errorf("doctor: %w", err)
	}
	if doctor.OK != out.OK {
		return fmt.Errorf(
			"doctor --full says %v, check %v: %+v, %+v",
			doctor.OK,
			out.OK,
			doctor.Findings,
			out.Problems,
		)
	}
	es, err := x.callList(storeFile)
	state := -1
	if err == nil {
		state = x.findStateIndex(es)
		if state < 0 {
			return fmt.Errorf("list answers with %v, which the memory never held; check says %+v", es, out.Problems)
		}
		x.listedEntries = es
	}
	for name, want := range x.currentEntries() {
		var got verb.GetOut
		err := x.useWorkspace(func(w *verb.Workspace) error {
			var err error
			got, err = verb.Get(x.ctx, w, verb.GetIn{Name: name, ContentOnly: true})
			return err
		})
		isWrong := err == nil && answerContent(got) != want
		if isWrong && state < 0 {
			return fmt.Errorf("get answers %q with %q, want %q or an error", name, answerContent(got), want)
		}
		// Check the content of only one entry, to save time. The order of a map differs between runs, so over time
		// every entry is checked.
		break
	}
	return x.countOutcome(state)
}

// countOutcome counts the result of the commands "oxbow check" and "oxbow list" for the damaged file. stateIndex is the
// index in entriesAfterRecord of the state whose entries "oxbow list" printed, or -1 if "oxbow list" failed. If "oxbow
// check" reported no problem, countOutcome returns an error in these cases: "oxbow list" failed, a byte was changed, or
// changes are missing. Some changed bytes and lost changes cannot be noticed. They are counted and are no error (see
// isCommitMarkEndDamaged and hasUnnoticedLoss).
func (x *damageTrial) countOutcome(stateIndex int) error {
	switch {
	case x.isRolledBack:
		x.RolledBackCount++
	case !x.isCheckClean:
		x.ReportedDamageCount++
	case x.listedEntries == nil:
		return errors.New("check finds nothing, and list fails")
	case x.storeKind == "changed" && !x.isCommitMarkEndDamaged():
		return errors.New("check finds nothing, and a byte is another")
	case stateIndex == len(x.entriesAfterRecord)-1:
		x.HarmlessCount++
	case x.hasUnnoticedLoss():
		x.UnnoticedLossCount++
	default:
		return fmt.Errorf(
			"check finds nothing, and changes are missing: the entries are those of state %d",
			stateIndex,
		)
	}
	return nil
}

// isCommitMarkEndDamaged reports whether the damage changed the last byte of a commit mark to zero. A commit mark is an
// empty record, which shows that the records before it are complete. An interrupted write can leave the same bytes
// after a crash. Therefore "oxbow check" cannot distinguish this damage from a crash, and does not report it.
func (x *damageTrial) isCommitMarkEndDamaged() bool {
	for _, r := range x.fileRecords {
		if x.damageOffset == r.endOffset-1 && r.endOffset-r.startOffset == recordOverhead {
			return x.damagedFile[x.damageOffset] == 0
		}
	}
	return false
}

// recoverToNewFile calls recover twice, first without options and then with the option --out. Each call must pass the
// checks of judgeRecoverResult, and must not change the damaged file.
func (x *damageTrial) recoverToNewFile() error {
	for _, in := range []maintenance.RecoverIn{{}, {Out: filepath.Join(x.dir, "saved")}} {
		x.CommandCallCount++
		out, err := x.callRecover(in)
		if err := x.judgeRecoverResult(out, err); err != nil {
			return fmt.Errorf("recover %+v: %w", in, err)
		}
		if b, err := os.ReadFile(filepath.Join(x.dir, storeFile)); err != nil || !bytes.Equal(b, x.damagedFile) {
			return fmt.Errorf("recover changed the damaged file: %w", err)
		}
	}
	return nil
}

func (x *damageTrial) callRecover(in maintenance.RecoverIn) (out maintenance.RecoverOut, err error) {
	err = x.useWorkspace(func(w *verb.Workspace) error {
		out, err = maintenance.Recover(x.ctx, w, in)
		return err
	})
	return out, err
}

// judgeRecoverResult checks the result of the command "recover". This command and the command "check" must agree
// whether the file is damaged. The saved entries must be the entries of all undamaged records.
func (x *damageTrial) judgeRecoverResult(out maintenance.RecoverOut, err error) error {
	switch {
	case errors.Is(err, oxbow.ErrRolledBack) && x.isRolledBack:
		return nil
	case err != nil:
		return err
	case out.IsStoreSound:
		if !x.isCheckClean {
			return errors.New("it finds nothing to recover, and check finds damage")
		}
		return nil
	case x.isCheckClean:
		return errors.New("it saves what check calls sound")
	}
	saved, err := x.callList(filepath.Base(out.OutputFile))
	if err != nil {
		return fmt.Errorf("list of what was saved: %w", err)
	}
	return x.compareEntries(saved, x.restorableEntries)
}

// compareEntries returns an error if the saved entries (have) differ from the expected entries (want). If an expected
// entry is missing or has another text, compareEntries also increments x.LostEntryCount, but only for the first such
// entry.
func (x *damageTrial) compareEntries(have, want contentByEntryName) error {
	for name, text := range want {
		if have[name] != text {
			x.LostEntryCount++
			return fmt.Errorf("entry %q, whose record is whole, was not saved: %q, want %q", name, have[name], text)
		}
	}
	if len(have) != len(want) {
		return fmt.Errorf("%d entries were saved, want %d: %v", len(have), len(want), have)
	}
	return nil
}

// rememberAndFollowAdvice runs the command "remember" on the damaged file, and then follows the advice of the command
// "check". It returns an error in these cases:
//   - One of these steps loses an undamaged record.
//   - "remember" fails and changes the file.
//   - "remember" fails although "check" found no damage.
func (x *damageTrial) rememberAndFollowAdvice() error {
	if err := x.writeDamagedFiles(); err != nil {
		return err
	}
	x.CommandCallCount++
	was := x.isCheckClean
	err := x.callRemember("written over the damage")
	after, rerr := os.ReadFile(filepath.Join(x.dir, storeFile))
	if rerr != nil {
		return rerr
	}
	if err != nil {
		if x.isCheckClean {
			return fmt.Errorf("remember fails on what check calls sound: %w", err)
		}
		if !bytes.Equal(bytes.TrimRight(after, "\x00"), bytes.TrimRight(x.damagedFile, "\x00")) {
			return fmt.Errorf("remember failed and changed the file: %w", err)
		}
		return x.followAdviceUntil(x.restorableEntries)
	}
	if !was && !x.isRolledBack {
		for _, rec := range x.fileRecords {
			if rec.isUndamagedIn(x.damagedFile, x.file) && !rec.isUndamagedIn(after, x.file) {
				return fmt.Errorf("remember wrote over the whole record at %d", rec.startOffset)
			}
		}
	}
	want := contentByEntryName{rememberedEntryName: "written over the damage"}
	for name, text := range x.restorableEntries {
		want[name] = text
	}
	return x.followAdviceUntil(want)
}

func (x *damageTrial) callRemember(text string) error {
	return x.useWorkspace(func(w *verb.Workspace) error {
		_, err := verb.Remember(x.ctx, w, verb.RememberIn{Name: rememberedEntryName, Content: text})
		return err
	})
}

// followCheckAdvice writes the damaged files and then runs the commands that the command "check" advises. It succeeds
// when "check" reports no problem and the memory contains exactly the entries in x.restorableEntries.
func (x *damageTrial) followCheckAdvice() error {
	if err := x.writeDamagedFiles(); err != nil {
		return err
	}
	return x.followAdviceUntil(x.restorableEntries)
}

// maxRepairCommands is the maximum number of commands that a person may have to run before the command "check" reports
// no problem.
const maxRepairCommands = 3

// followAdviceUntil runs the commands that "oxbow check" advises, until "oxbow check" reports no problem. It returns an
// error if this takes more than maxRepairCommands commands. Then the memory must contain exactly the entries in want.
// If the advice contains "nothing to do", no command is needed, and runRemedy only tests the memory by writing the
// entry rememberedEntryName. In this case the memory must also contain this entry, unless want is nil.
func (x *damageTrial) followAdviceUntil(want contentByEntryName) error {
	for commands := 0; ; {
		out, err := x.callCheck()
		if err != nil {
			return fmt.Errorf("check after %d commands: %w", commands, err)
		}
		if out.OK {
			break
		}
		if commands >= maxRepairCommands {
			return fmt.Errorf("after %d commands, check says %+v", commands, out.Problems)
		}
		n, err := x.runRemedy(out.Problems[0].Mend)
		commands += n
		if err != nil {
			return fmt.Errorf("check says %+v: %w", out.Problems, err)
		}
		if want != nil && strings.Contains(out.Problems[0].Mend, "nothing to do") {
			if _, ok := want[rememberedEntryName]; !ok {
				want = withEntry(want, rememberedEntryName, "a text of later")
			}
		}
	}
	have, err := x.callList(storeFile)
	if err != nil {
		return fmt.Errorf("list of what was mended: %w", err)
	}
	return x.compareEntries(have, want)
}

// runRemedy carries out a remedy, which is the advice that oxbow printed about a damage. It returns how many commands a
// person needs for the remedy.
func (x *damageTrial) runRemedy(remedy string) (commandCount int, err error) {
	_, file, remove := strings.Cut(remedy, "rm ")
	switch {
	case strings.Contains(remedy, "oxbow recover --accept"):
		return 1, x.useWorkspace(func(w *verb.Workspace) error {
			_, err := maintenance.AcceptRollback(x.ctx, w, maintenance.AcceptRollbackIn{})
			return err
		})
	case strings.Contains(remedy, "oxbow recover --replace"):
		_, err := x.callRecover(maintenance.RecoverIn{Replace: true})
		return 1, err
	case strings.Contains(remedy, "oxbow recover"):
		if _, err := x.callRecover(maintenance.RecoverIn{}); err != nil {
			return 1, err
		}
		// Do what a person would do now: run the command that the first call of recover suggests.
		_, err := x.callRecover(maintenance.RecoverIn{Replace: true})
		return 2, err
	case strings.Contains(remedy, "nothing to do"):
		return 0, x.callRemember("a text of later")
	case remove:
		return 1, os.Remove(strings.Trim(file, "'"))
	}
	return 0, fmt.Errorf("the remedy %q is no command", remedy)
}

// recoverInPlace calls recover --replace on the damaged file. If the store was damaged and the call succeeds, the new
// memory must be sound and writable, and must contain the expected entries.
func (x *damageTrial) recoverInPlace() error {
	if err := x.writeDamagedFiles(); err != nil {
		return err
	}
	x.CommandCallCount++
	out, err := x.callRecover(maintenance.RecoverIn{Replace: true})
	if err := x.judgeRecoverResult(out, err); err != nil {
		return fmt.Errorf("recover --replace: %w", err)
	}
	if err != nil || out.IsStoreSound {
		return nil
	}
	if err := x.callRemember("after the recovery"); err != nil {
		return fmt.Errorf("remember after recover --replace: %w", err)
	}
	rep, err := x.callCheck()
	if err != nil || !rep.OK {
		return fmt.Errorf("check after recover --replace: %+v: %w", rep.Problems, err)
	}
	have, err := x.callList(storeFile)
	if err != nil {
		return err
	}
	return x.compareEntries(have, withEntry(x.restorableEntries, rememberedEntryName, "after the recovery"))
}

// isFileUnrecognizable reports whether the damaged file can no longer be recognized as a memory. A file with an
// undamaged header can always be recognized. If the header is damaged, the file must contain at least two undamaged
// records. One undamaged record is enough if there is a lock file, because the lock file contains the memory's
// identity.
func (x *damageTrial) isFileUnrecognizable() bool {
	hasHeader := len(x.damagedFile) >= headerSize && bytes.Equal(x.damagedFile[:headerSize], x.file[:headerSize])
	if hasHeader {
		return false
	}
	undamagedCount := 0
	for _, r := range x.fileRecords {
		if r.isUndamagedIn(x.damagedFile, x.file) {
			undamagedCount++
		}
	}
	hasLockFile := x.derivedFileBits&lockFileBit != 0
	if hasLockFile {
		return undamagedCount == 0
	}
	return undamagedCount < 2
}

// hasUnnoticedLoss reports whether the damage removed only the end of the file, and nothing shows that the file was
// longer. It returns false if a lock file exists, because the lock file shows the former end of the file.
func (x *damageTrial) hasUnnoticedLoss() bool {
	end := len(bytes.TrimRight(x.damagedFile, "\x00"))
	last := headerSize
	for _, r := range x.fileRecords {
		if r.endOffset <= len(x.damagedFile) && r.isUndamagedIn(x.damagedFile, x.file) {
			last = r.endOffset
		}
	}
	return end <= last && slices.Equal(x.damagedFile[:end], x.file[:end]) && x.derivedFileBits&lockFileBit == 0
}
