// This file records who wrote which files.

package fingerprint

import (
	"os"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
)

// Writer says who wrote a file last: the agent, or a program that may have written foreign text.
type Writer int

// These values say who wrote a file last.
const (
	writerUnknown Writer = iota
	WriterAgent
	WriterForeign   // a program that may have written text by others to the file
	WriterUnvouched // a program that may have written text that nobody vouches for
)

// AddRun records that a program ran from one time to another. A file that changed in this period counts as written by
// the program, with text of the given level, unless the agent writes the file later. level must be LevelForeign or
// LevelUnvouched.
func (f File) AddRun(level Level, start, end time.Time) error {
	run := levelForeignRun
	if level == LevelUnvouched {
		run = levelProgramRun
	}
	_, err := f.addBlocks(pathsFile, unwrittenBlock{run, nil, func(*cipherKey) []fingerprintHash {
		return []fingerprintHash{fingerprintHash(start.UnixMilli()), fingerprintHash(end.UnixMilli())}
	}})
	return err
}

// runWriters maps a kind of program run to the writer that is recorded for files that changed during the run.
var runWriters = map[Level]Writer{levelForeignRun: WriterForeign, levelProgramRun: WriterUnvouched}

// setRunWriters records who may have written each file that changed while a certain program ran. changed contains the
// change times of the files, and writers has an element for each file. prints contains the program's start and end
// time. run is the kind of the program, which determines the writer. A file with a change time in the future is also
// regarded as changed by the program, because somebody may have set such a time to hide a change.
func setRunWriters(writers []Writer, changed []int64, now int64, run Level, prints []byte) {
	if len(prints) < 2*bytesPerFingerprint {
		return
	}
	from, to := int64(decodePrint(prints)), int64(decodePrint(prints[bytesPerFingerprint:]))
	for i, changeTime := range changed {
		if changeTime < from {
			continue
		}
		if changeTime <= to || changeTime > now {
			writers[i] = runWriters[run]
		}
	}
}

// changeTimes returns when each file was last changed, in milliseconds. The time of a file that does not exist is 0.
func changeTimes(paths []string) []int64 {
	times := make([]int64, len(paths))
	for i, p := range paths {
		if fi, err := os.Stat(p); err == nil {
			times[i] = sysinfo.LastChangeTime(fi).UnixMilli()
		}
	}
	return times
}

// AddOwnPaths records that the agent wrote the files.
func (f File) AddOwnPaths(paths ...string) error { return f.addPaths(levelOwnPath, paths) }

// AddOtherPaths records that a program wrote text by others to the files.
func (f File) AddOtherPaths(paths ...string) error { return f.addPaths(levelForeignPath, paths) }

func (f File) addPaths(level Level, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	hashes := make([]uint64, len(paths))
	for i, p := range paths {
		hashes[i] = pathHash(p)
	}
	_, err := f.addBlocks(pathsFile, makeHashedBlock(level, nil, hashes))
	return err
}

func pathHash(path string) uint64 {
	h := uint64(hashBasis)
	for _, c := range []byte(strings.TrimSuffix(path, "/")) {
		h = (h ^ uint64(c)) * hashPrime
	}
	return mixBits(h * runHashFactor)
}

// LastWriters returns the kind of writer that wrote each file last. If the records cannot be read, it returns
// WriterForeign for all files.
func (f File) LastWriters(paths []string) []Writer {
	writers := make([]Writer, len(paths))
	var times []int64 // change times of the files, read when a program's run is found in the records
	var indexes map[fingerprintHash][]int
	err := f.scanBlocks(pathsFile, func(key *cipherKey, h *blockHead, _, prints []byte) error {
		if indexes == nil {
			indexes = make(map[fingerprintHash][]int, len(paths))
			for i, p := range paths {
				n := key.hashPrint(pathHash(p))
				indexes[n] = append(indexes[n], i)
			}
		}
		if _, isRun := runWriters[h.level]; isRun {
			if times == nil {
				times = changeTimes(paths)
			}
			setRunWriters(writers, times, f.Now().Add(time.Minute).UnixMilli(), h.level, prints)
			return nil
		}
		writer := WriterAgent
		if h.level == levelForeignPath {
			writer = WriterForeign
		}
		for ; len(prints) >= bytesPerFingerprint; prints = prints[bytesPerFingerprint:] {
			for _, i := range indexes[decodePrint(prints)] {
				writers[i] = writer
			}
		}
		return nil
	})
	if err != nil {
		f.repairFile(pathsFile)
		for i := range writers {
			writers[i] = WriterForeign
		}
	}
	return writers
}
