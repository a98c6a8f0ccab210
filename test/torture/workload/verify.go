// This file checks the store after a crash. It must contain all acknowledged changes, and must be usable.

package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

// CrashJudge examines the contents that the disk may have after a crash during a test script. A possible content is
// called an image. If an equal image was examined before, the store in the image is not opened again. In this case,
// CrashJudge only checks whether the state of the store is still allowed.
type CrashJudge struct {
	ImageCount int // number of disk images that were passed, including images that are equal to earlier ones
	// number of disk images in which a store was opened, without images that contain only lock files
	ExaminedImages    int
	OpensFromSnapshot int // number of times that a store was opened from a snapshot

	seed         uint64
	setup        StoreSetup
	statesByHash map[uint64]*StoreState // content of the store on each examined disk image, by the hash of the image
	// entries in the store after the changes that the CrashJudge itself made to test the store, by the hash of the disk
	// image
	entriesAfterJudgeChanges map[uint64][]oxbow.Entry
}

// NewJudge returns a CrashJudge, which examines disk images after crashes, for stores with this setup. The seed
// determines the clock and the random numbers for the changes that the CrashJudge makes.
func NewJudge(seed uint64, setup StoreSetup) *CrashJudge {
	return &CrashJudge{
		seed:                     seed,
		setup:                    setup,
		statesByHash:             map[uint64]*StoreState{},
		entriesAfterJudgeChanges: map[uint64][]oxbow.Entry{},
	}
}

// ExamineCrashContent examines a disk image after a crash. It opens the store in crashContent, checks that the store's
// content is one of the allowed states, and makes three more changes. It then opens the store again, and checks that
// the three changes are present and that the store is not damaged. About half of the stores are closed before they are
// opened again, so that a regular end of the log is also tested.
//
// ExamineCrashContent returns the allowed state that is equal to the store's content. If it has examined an equal image
// before, it only checks that the content of that image is one of the allowed states, and isNewImage is false.
func (j *CrashJudge) ExamineCrashContent(
	crashContent *crashfs.CrashContent,
	allowedStates []*StoreState,
) (st *StoreState, isNewImage bool, err error) {
	j.ImageCount++
	sum := crashContent.HashFiles(nil)
	if st := j.statesByHash[sum]; st != nil {
		// An equal disk image was examined before and was valid, but here its content may not be allowed.
		if slices.ContainsFunc(allowedStates, func(a *StoreState) bool { return a.Model == st.Model }) {
			return st, false, nil
		}
		st, err := findMatchingState(st.Entries, st.Model.seq, allowedStates)
		return st, false, err
	}
	if crashContent.AnyName(FileDependsOnScript) {
		j.ExaminedImages++
	}
	st, err = j.examineOpenedImage(
		crashContent.BuildFileSystem(),
		allowedStates,
		crashContent.HashFiles(IsLockFile)&1 == 0,
	)
	if err != nil {
		return nil, true, err
	}
	j.statesByHash[sum] = st
	return st, true, nil
}

// ExamineImage checks a disk image like an image after a crash. The caller composed the image, for example of a log and
// an older snapshot. ExamineImage examines the image even if an equal image was examined before. It opens the store,
// makes changes, and opens the store a second time without closing it first.
func (j *CrashJudge) ExamineImage(image *vfs.Mem, allowed []*StoreState) error {
	j.ImageCount++
	j.ExaminedImages++
	_, err := j.examineOpenedImage(image, allowed, false)
	return err
}

func (j *CrashJudge) examineOpenedImage(
	image *vfs.Mem,
	allowedStates []*StoreState,
	closesBeforeReopen bool,
) (*StoreState, error) {
	now := time.Unix(1776200000, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	o := StoreOptions(NewFS(image, j.setup), clock, seededReader(j.seed^0x9e3779b97f4a7c15))
	m, err := oxbow.Open(StoreFile, o)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	if UsesSnapshot(m) {
		j.OpensFromSnapshot++
	}
	got, err := collectEntries(m)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	last, err := lastChangeSeq(m)
	if err != nil {
		return nil, err
	}
	st, err := findMatchingState(got, last, allowedStates)
	if err != nil {
		return nil, err
	}
	want, err := makeThreeChanges(m, st, got)
	if err != nil {
		return nil, err
	}
	if closesBeforeReopen {
		if err := m.Close(); err != nil {
			return nil, fmt.Errorf("close: %w", err)
		}
	}
	// Open and check a disk only if no equal disk was checked before. After makeThreeChanges, the disks after different
	// crashes are usually equal, except for the files in which the store has saved incomplete records. The hash omits
	// these files, and openAndCheck hides them from the store.
	sum := crashfs.HashFiles(image, IsTornRecordFile)
	end, ok := j.entriesAfterJudgeChanges[sum]
	if !ok {
		end, err = j.openAndCheck(image, o)
		if err != nil {
			return nil, err
		}
		j.entriesAfterJudgeChanges[sum] = end
	}
	if d := firstDifference(end, want); d != "" {
		return nil, fmt.Errorf("opened again: %s", d)
	}
	return st, nil
}

// openAndCheck opens the store in image, checks it for damage, and returns its entries. It hides the files in which the
// store has saved incomplete records.
func (j *CrashJudge) openAndCheck(image *vfs.Mem, o *oxbow.Options) ([]oxbow.Entry, error) {
	fsys := NewFS(image, j.setup)
	fsys.IsHiddenFile = IsTornRecordFile
	hidden := *o
	hidden.FS = fsys
	m, err := oxbow.Open(StoreFile, &hidden)
	if err != nil {
		return nil, fmt.Errorf("open again: %w", err)
	}
	if UsesSnapshot(m) {
		j.OpensFromSnapshot++
	}
	got, err := collectEntries(m)
	if err != nil {
		return nil, fmt.Errorf("read again: %w", err)
	}
	rep, err := m.Store().(oxbow.Checker).Check(context.Background())
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	for _, p := range rep.Problems {
		if !isHarmlessProblem(p) {
			return nil, fmt.Errorf("check finds at byte %d: %s", p.Offset, p.What)
		}
	}
	return got, nil
}

// isHarmlessProblem reports whether a crash may have caused the problem: an interrupted rewrite of the log leaves a
// file that was not renamed.
func isHarmlessProblem(p oxbow.Problem) bool {
	return p.Offset == -1 && strings.HasPrefix(p.What, "a rewrite was interrupted and left ")
}

// lastChangeSeq returns the number of the store's last change.
func lastChangeSeq(m *oxbow.Memory) (uint64, error) {
	stats, err := m.Stats(context.Background())
	if err != nil {
		return 0, fmt.Errorf("read: %w", err)
	}
	return stats.Last, nil
}

// findMatchingState returns the state in the list allowed whose entries are equal to got and whose last change has the
// number lastSeq. If there is no such state, it returns an error that describes the differences.
func findMatchingState(got []oxbow.Entry, lastSeq uint64, allowed []*StoreState) (*StoreState, error) {
	var why []string
	for _, st := range allowed {
		d := firstDifference(got, st.Entries)
		if d == "" && lastSeq != st.Model.seq {
			d = fmt.Sprintf("it ends at change %d, want %d", lastSeq, st.Model.seq)
		}
		if d == "" {
			return st, nil
		}
		why = append(why, d)
	}
	return nil, fmt.Errorf(
		"the store holds none of the %d states that may be: %s",
		len(allowed),
		strings.Join(why, "; or: "),
	)
}

// CompareEntries returns an error that describes the first difference between got and want, including times. It
// returns nil if both are equal.
func CompareEntries(got, want []oxbow.Entry) error {
	if d := firstDifference(got, want); d != "" {
		return errors.New(d)
	}
	return nil
}

// firstDifference describes the first difference between got and want. It returns "" if both are equal. Times are
// compared if want contains times.
func firstDifference(got, want []oxbow.Entry) string {
	for i := range got {
		if i >= len(want) {
			return "it has entry " + describeEntry(&got[i]) + ", which is not to be there"
		}
		a, b := &got[i], &want[i]
		hasTimes := !b.Updated.IsZero()
		isSameTime := a.Created.Equal(b.Created) && a.Updated.Equal(b.Updated)
		isTimeWrong := hasTimes && !isSameTime
		if isTimeWrong || !hasSameModelFields(a, b) {
			return fmt.Sprintf(
				"entry %d is %s of %s, want %s of %s",
				i,
				describeEntry(a),
				a.Updated.Format(time.StampNano),
				describeEntry(b),
				b.Updated.Format(time.StampNano),
			)
		}
	}
	if len(got) < len(want) {
		return "it lacks entry " + describeEntry(&want[len(got)])
	}
	return ""
}

// makeThreeChanges makes three changes in a store that is in the state st, and returns the entries after them. It
// returns an error if a change fails, or if a new entry does not get the next ID and version.
func makeThreeChanges(m *oxbow.Memory, st *StoreState, entriesBefore []oxbow.Entry) ([]oxbow.Entry, error) {
	ctx := context.Background()
	seq := st.Model.seq
	if err := m.Apply(
		ctx,
		oxbow.Add{Name: "new 1", Content: "first after"},
		oxbow.Add{Name: "new 2", Content: "second after"},
	); err != nil {
		return nil, fmt.Errorf("a first change: %w", err)
	}
	e, err := m.Remember(ctx, oxbow.Entry{Name: "new 2", Content: "second after, changed"})
	if err != nil {
		return nil, fmt.Errorf("a second change: %w", err)
	}
	if err := m.Forget(ctx, "new 1"); err != nil {
		return nil, fmt.Errorf("a third change: %w", err)
	}
	if e.ID != st.Model.assignedIDCount+2 || e.Version != seq+2 {
		return nil, fmt.Errorf(
			"a new entry got ID %d and version %d, want %d and %d",
			e.ID,
			e.Version,
			st.Model.assignedIDCount+2,
			seq+2,
		)
	}
	got, err := collectEntries(m)
	if err != nil {
		return nil, fmt.Errorf("read after three changes: %w", err)
	}
	want := append(entriesBefore[:len(entriesBefore):len(entriesBefore)], e)
	if d := firstDifference(got, want); d != "" {
		return nil, fmt.Errorf("after three changes: %s", d)
	}
	return got, nil
}
