// This file records who wrote which files.

package fingerprint

import (
	"os"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
)

// FileWriterKind says who wrote a file last: the agent, or a program that may have written foreign text.
type FileWriterKind int

// These values say who wrote a file last.
const (
	writerUnknown FileWriterKind = iota
	WriterAgent
	WriterForeignTextProgram   // a program that may have written text by others to the file
	WriterUnknownAuthorProgram // a program that may have written text that nobody vouches for
)

// AddProgramRun records the period in which a program ran. The parameters start and end are the beginning and the end
// of the period. The parameter blockKind describes the text that the program may have written: ForeignTextBlock means
// text by others, and UnknownAuthorTextBlock means text that nobody vouches for. A file that changed in this period
// counts as a file with such text. If the agent writes the file later, the file counts as written by the agent.
func (f Store) AddProgramRun(blockKind BlockKind, start, end time.Time) error {
	run := foreignTextProgramRunBlock
	if blockKind == UnknownAuthorTextBlock {
		run = unknownAuthorProgramRunBlock
	}
	_, _, err := f.addFileBlocks(writtenPathsFile, unwrittenFileBlock{run, nil, func(*cipherKey) []textFingerprint {
		return []textFingerprint{textFingerprint(start.UnixMilli()), textFingerprint(end.UnixMilli())}
	}})
	return err
}

// writerByProgramRunKind maps a kind of program run to the writer that is recorded for files that changed during the
// run.
var writerByProgramRunKind = map[BlockKind]FileWriterKind{
	foreignTextProgramRunBlock:   WriterForeignTextProgram,
	unknownAuthorProgramRunBlock: WriterUnknownAuthorProgram,
}

// setProgramRunWriters records which files may have been written by a program while the program ran. For each file, the
// list changeTimes contains the time of the file's last change. If a file was changed while the program ran,
// setProgramRunWriters sets the element of writers with the same index as the file. The parameter run is a block kind,
// which specifies the kind of text that the program may have written and so determines the writer. The program's start
// time and end time are encoded in the parameter encodedTimes. All times are Unix times in milliseconds.
//
// A file whose change time is later than the parameter now is also regarded as changed by the program, because somebody
// may have set such a time to hide a change.
func setProgramRunWriters(
	writers []FileWriterKind,
	changeTimes []int64,
	now int64,
	run BlockKind,
	encodedTimes []byte,
) {
	if len(encodedTimes) < 2*bytesPerFingerprint {
		return
	}
	from, to := int64(decodeFingerprint(encodedTimes)), int64(decodeFingerprint(encodedTimes[bytesPerFingerprint:]))
	for i, changeTime := range changeTimes {
		if changeTime < from {
			continue
		}
		if changeTime <= to || changeTime > now {
			writers[i] = writerByProgramRunKind[run]
		}
	}
}

// fileChangeTimes returns when each file was last changed, in milliseconds since 1970. If a file does not exist or
// cannot be examined, its time is 0.
func fileChangeTimes(paths []string) []int64 {
	times := make([]int64, len(paths))
	for i, p := range paths {
		if fi, err := os.Stat(p); err == nil {
			times[i] = sysinfo.LastChangeTime(fi).UnixMilli()
		}
	}
	return times
}

// AddAgentPaths records that the agent wrote the files.
func (f Store) AddAgentPaths(paths ...string) error { return f.addPaths(agentPathsBlock, paths) }

// AddForeignTextPaths records that a program wrote text by others to the files.
func (f Store) AddForeignTextPaths(paths ...string) error {
	return f.addPaths(foreignTextPathsBlock, paths)
}

func (f Store) addPaths(blockKind BlockKind, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	hashes := make([]uint64, len(paths))
	for i, p := range paths {
		hashes[i] = pathHash(p)
	}
	_, _, err := f.addFileBlocks(writtenPathsFile, newHashBlock(blockKind, nil, hashes))
	return err
}

func pathHash(path string) uint64 {
	h := uint64(hashBasis)
	for _, c := range []byte(strings.TrimSuffix(path, "/")) {
		h = (h ^ uint64(c)) * hashPrime
	}
	return mixBits(h * wordRunHashFactor)
}

// LastWriters returns the kind of writer that wrote each file last. If no writer of a file is recorded, its element is
// writerUnknown. If the records cannot be read, LastWriters returns WriterForeignTextProgram for all files, because any
// of them may contain foreign text.
func (f Store) LastWriters(paths []string) []FileWriterKind {
	writers := make([]FileWriterKind, len(paths))
	var times []int64 // change times of the files, read when a program's run is found in the records
	var indexes map[textFingerprint][]int
	err := f.scanBlocks(writtenPathsFile, func(key *cipherKey, h *blockHeader, _, prints []byte) error {
		if indexes == nil {
			indexes = make(map[textFingerprint][]int, len(paths))
			for i, p := range paths {
				n := key.encryptWordRunHash(pathHash(p))
				indexes[n] = append(indexes[n], i)
			}
		}
		if _, isRun := writerByProgramRunKind[h.blockKind]; isRun {
			if times == nil {
				times = fileChangeTimes(paths)
			}
			setProgramRunWriters(writers, times, f.Now().Add(time.Minute).UnixMilli(), h.blockKind, prints)
			return nil
		}
		writer := WriterAgent
		if h.blockKind == foreignTextPathsBlock {
			writer = WriterForeignTextProgram
		}
		for ; len(prints) >= bytesPerFingerprint; prints = prints[bytesPerFingerprint:] {
			for _, i := range indexes[decodeFingerprint(prints)] {
				writers[i] = writer
			}
		}
		return nil
	})
	if err != nil {
		f.repairFile(writtenPathsFile)
		for i := range writers {
			writers[i] = WriterForeignTextProgram
		}
	}
	return writers
}
