// This file records who wrote which files.

package fingerprint

import (
	"os"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
)

// Writer is the last known writer of a file.
type Writer int

// All writers.
const (
	unknown Writer = iota
	Agent
	Other   // a program that wrote foreign text
	Program // a program that wrote text that nobody vouches for
)

// AddRun records that a program ran from one time to another. A file that changed in this time has
// text of the level, which is Foreign or Unvouched, unless the agent wrote it later.
func (f File) AddRun(level Level, from, to time.Time) error {
	run := foreignRun
	if level == Unvouched {
		run = programRun
	}
	_, err := f.addPrints(pathsFile, run, nil, func(*cipherKey) []printHash {
		return []printHash{printHash(from.UnixMilli()), printHash(to.UnixMilli())}
	})
	return err
}

// writersIn contains the writer of the files that changed during a run, by the level of the run.
var writersIn = map[Level]Writer{foreignRun: Other, programRun: Program}

// setRun sets the writers of the files that changed while a program ran. It also sets the writer of
// a file with a change time in the future, because such a time was set on purpose and may hide a
// change.
func setRun(writers []Writer, changed []int64, now int64, run Level, prints []byte) {
	if len(prints) < 2*printSize {
		return
	}
	from, to := int64(printAt(prints)), int64(printAt(prints[printSize:]))
	for i, at := range changed {
		if at >= from && (at <= to || at > now) {
			writers[i] = writersIn[run]
		}
	}
}

// changeTimes returns the time of the last change of each file, in milliseconds. The time is 0 if
// the file does not exist.
func changeTimes(paths []string) []int64 {
	times := make([]int64, len(paths))
	for i, p := range paths {
		if fi, err := os.Stat(p); err == nil {
			times[i] = sysinfo.Changed(fi).UnixMilli()
		}
	}
	return times
}

// AddOwnPaths records that the agent wrote the files.
func (f File) AddOwnPaths(paths ...string) error { return f.addPaths(ownPath, paths) }

// AddOtherPaths records that a program wrote foreign text to the files.
func (f File) AddOtherPaths(paths ...string) error { return f.addPaths(foreignPath, paths) }

func (f File) addPaths(level Level, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	hashes := make([]uint64, len(paths))
	for i, p := range paths {
		hashes[i] = pathHash(p)
	}
	_, err := f.add(pathsFile, level, nil, hashes)
	return err
}

func pathHash(path string) uint64 {
	h := uint64(hashBasis)
	for _, c := range []byte(strings.TrimSuffix(path, "/")) {
		h = (h ^ uint64(c)) * hashPrime
	}
	return finish(h * runFactor)
}

// Writers returns the last writer of each file. If the records cannot be read, it returns Other for
// all files.
func (f File) Writers(paths []string) []Writer {
	writers := make([]Writer, len(paths))
	var changed []int64 // read when the first run is found
	var numbers map[printHash][]int
	err := f.scan(pathsFile, func(key *cipherKey, h *head, _, prints []byte) error {
		if numbers == nil {
			numbers = make(map[printHash][]int, len(paths))
			for i, p := range paths {
				n := key.print(pathHash(p))
				numbers[n] = append(numbers[n], i)
			}
		}
		if _, isRun := writersIn[h.level]; isRun {
			if changed == nil {
				changed = changeTimes(paths)
			}
			setRun(writers, changed, f.Now().Add(time.Minute).UnixMilli(), h.level, prints)
			return nil
		}
		writer := Agent
		if h.level == foreignPath {
			writer = Other
		}
		for ; len(prints) >= printSize; prints = prints[printSize:] {
			for _, i := range numbers[printAt(prints)] {
				writers[i] = writer
			}
		}
		return nil
	})
	if err != nil {
		f.repair(pathsFile)
		for i := range writers {
			writers[i] = Other
		}
	}
	return writers
}
