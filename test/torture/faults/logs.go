// This file tests the log directly, without a store. In a store, several records are written together only if
// goroutines write at the same time, and the test could not repeat such a run exactly. Here, each append writes one to
// four records.

package faults

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

// logTestRun runs a script for a log that two processes use in turns.
type logTestRun struct {
	random              *rand.Rand
	simulatedTime       time.Time
	setup               workload.StoreSetup
	disk                *crashfs.Disk
	logs                [2]*wal.Log
	acknowledgedBodies  []string // bodies of the records that were acknowledged
	bodiesBeingAppended []string // bodies of the records in the append that is in progress
}

func newLogRun(seed uint64, setup workload.StoreSetup, disk *crashfs.Disk) *logTestRun {
	return &logTestRun{
		random:        rand.New(rand.NewPCG(seed, 7)),
		simulatedTime: time.Unix(1776162225, 0),
		setup:         setup,
		disk:          disk,
	}
}

func (l *logTestRun) clock() time.Time {
	l.simulatedTime = l.simulatedTime.Add(time.Second)
	return l.simulatedTime
}

func (l *logTestRun) openLog(i int) (*wal.Log, error) {
	if l.logs[i] == nil {
		var key [32]byte
		key[0], key[1] = byte(l.random.Uint32()), byte(i)
		log, err := openLog(workload.NewFS(l.disk.StartProcess(), l.setup), l.clock, key)
		if err != nil {
			return nil, err
		}
		l.logs[i] = log
	}
	return l.logs[i], nil
}

func openLog(fsys *workload.HookedFS, clock func() time.Time, key [32]byte) (*wal.Log, error) {
	step, reserve := fsys.FreeSpace()
	return wal.Open(
		fsys,
		workload.StoreFile,
		wal.Options{
			FreeSpaceGrowthUnit: step,
			UrgentAppendReserve: reserve,
			Clock:               clock,
			Rand:                rand.NewChaCha8(key),
			VerifyChain:         true,
			DigestBody:          func(_ uint8, b []byte) ([32]byte, error) { return sha256.Sum256(b), nil },
		},
	)
}

// appendRandomRecords appends random records to the logs in 3 to 10 rounds. In some rounds, it instead seals the last
// record or closes a log. It returns an error if an operation fails, for example because the disk was stopped.
func (l *logTestRun) appendRandomRecords() error {
	for range 3 + l.random.IntN(8) {
		i := l.random.IntN(2)
		log, err := l.openLog(i)
		if err != nil {
			return err
		}
		switch l.random.IntN(8) {
		case 0:
			log.SealLastRecord()
			continue
		case 1:
			l.logs[i] = nil
			if err := log.Close(); err != nil {
				return err
			}
			continue
		}
		l.bodiesBeingAppended = nil
		for range 1 + l.random.IntN(4) {
			l.bodiesBeingAppended = append(l.bodiesBeingAppended, randomRecordBody(l.random))
		}
		if err := l.appendRecords(log, l.bodiesBeingAppended); err != nil {
			return err
		}
		l.acknowledgedBodies, l.bodiesBeingAppended = append(l.acknowledgedBodies, l.bodiesBeingAppended...), nil
	}
	return nil
}

func randomRecordBody(r *rand.Rand) string {
	n := r.IntN(60)
	if r.IntN(12) == 0 {
		n = r.IntN(3000)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

func (l *logTestRun) appendRecords(log *wal.Log, bodies []string) error {
	if err := log.Lock(context.Background()); err != nil {
		return err
	}
	defer log.Unlock()
	if _, err := readLog(log); err != nil {
		return err
	}
	var ds []wal.Payload
	for _, b := range bodies {
		ds = append(ds, wal.Payload{Type: 1, TimeUnixNano: l.clock().UnixNano(), Body: []byte(b)})
	}
	_, err := log.Append(ds...)
	return err
}

// readLog returns the bodies of the changes that the log has got since the last call. Records of other types are
// omitted. Their types are MinTypeOutsideHashChain or higher.
func readLog(log *wal.Log) ([]string, error) {
	news, err := log.PollChanges()
	if err != nil {
		return nil, err
	}
	if news == wal.LogFileReplaced {
		if err := log.Reopen(); err != nil {
			return nil, err
		}
	}
	var bodies []string
	err = log.Read(func(r *wal.Record) error {
		if r.Type < wal.MinTypeOutsideHashChain {
			bodies = append(bodies, string(r.Body))
		}
		return nil
	})
	return bodies, err
}

// testLogCrashes tests a log with a script of appends, which depends on the seed. It runs the script again and again,
// and stops the disk at another operation each time. After each stop, it examines the log in the possible contents of
// the disk. It returns the counts and the first violation, or nil without a violation.
func testLogCrashes(seed uint64, o CrashOptions) (CrashTally, *Violation) {
	setup := newStoreSetup(seed, o)
	tally := CrashTally{ScriptsRun: 1}
	// bodies of the records that the log contained after a crash, by the disk content's hash
	judged := map[uint64][]string{}
	distinct := 0
	bad := func(k int, label string, err error) (CrashTally, *Violation) {
		tally.DistinctCrashContents = distinct
		return tally, &Violation{Seed: seed, Trigger: describeCrash(k, label), Err: err}
	}
	dry := newLogRun(seed, setup, crashfs.New(nil))
	if err := dry.appendRandomRecords(); err != nil {
		return bad(0, "", err)
	}
	for k := 1; k <= dry.disk.CountOps()+1; k++ {
		d := crashfs.New(nil)
		d.StopAt(k)
		l := newLogRun(seed, setup, d)
		if err := l.appendRandomRecords(); err != nil && !d.HasCrashed() {
			return bad(k, "", err)
		}
		d.Stop()
		tally.DiskStopPoints++
		var label string
		var err error
		d.EachCrashContent(func(im *crashfs.CrashContent) bool {
			tally.PossibleDiskContents++
			sum := im.HashFiles(nil)
			got, known := judged[sum]
			if known {
				err = l.checkRecords(got)
			} else {
				got, err = examineLog(workload.NewFS(im.BuildFileSystem(), setup), l)
				if err == nil {
					judged[sum] = got
					if im.AnyName(workload.FileDependsOnScript) {
						distinct++
					}
				}
			}
			if err != nil {
				label = im.Label()
			}
			return err == nil
		})
		if err != nil {
			return bad(k, label, err)
		}
	}
	tally.DistinctCrashContents = distinct
	return tally, nil
}

// checkRecords returns an error if a crash during the current operation cannot have left exactly the records got in the
// log. got contains the bodies of these records.
func (l *logTestRun) checkRecords(got []string) error {
	// The log must contain all acknowledged records. Only the first records of the append in progress may follow.
	all := slices.Concat(l.acknowledgedBodies, l.bodiesBeingAppended)
	n := len(got)
	isPossibleCount := len(l.acknowledgedBodies) <= n && n <= len(all)
	if !isPossibleCount || !slices.Equal(got, all[:n]) {
		return fmt.Errorf(
			"the log holds %d records; %d were acknowledged, %d in flight",
			n,
			len(l.acknowledgedBodies),
			len(l.bodiesBeingAppended),
		)
	}
	return nil
}

// examineLog examines the log after a crash and returns the records in it. The log must contain the acknowledged
// records, followed by the first records of the append in progress, and must accept further records.
func examineLog(fsys *workload.HookedFS, l *logTestRun) ([]string, error) {
	now := time.Unix(1776200000, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	log, err := openLog(fsys, clock, [32]byte{9})
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	got, err := readLog(log)
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if err := l.checkRecords(got); err != nil {
		return nil, err
	}
	more := []string{"one more", "and another"}
	if err := (&logTestRun{simulatedTime: now}).appendRecords(log, more); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	if err := log.Close(); err != nil {
		return nil, fmt.Errorf("close: %w", err)
	}
	log, err = openLog(fsys, clock, [32]byte{10})
	if err != nil {
		return nil, fmt.Errorf("open again: %w", err)
	}
	again, err := readLog(log)
	if err != nil {
		return nil, fmt.Errorf("read again: %w", err)
	}
	if !slices.Equal(again, append(got, more...)) {
		return nil, errors.New("after an append the log does not hold what it held, and that")
	}
	if n, err := log.TornBytes(); n != 0 || err != nil {
		return nil, fmt.Errorf("after an append %d bytes of a torn tail are left: %v", n, err)
	}
	return got, log.Close()
}
