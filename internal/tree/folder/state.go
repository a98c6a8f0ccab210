// This file reads and writes the state of a folder. The state lists the files that the folder contained at the last
// comparison.

package folder

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// stateHeader is the beginning of the file that stores a folder's state at its last comparison with the memory. The
// number is the version of the format:
//
//	oxbow-folder 2 CRC32                    of the following lines, in hexadecimal
//	at POSITION                             of the memory, in hexadecimal
//	f SIZE TIME CHANGED INODE SUM r PATH    a file; r is 1 if the file may have changed after it was read
//	p PATH TAB PROBLEM                      a file or directory that could not be read
//	n NOTE                                  what a person should know about an earlier comparison
//
// POSITION is the memory's position in its history at the time of the comparison. Paths, problems and notes are quoted
// like strings in Go. In version 1, the field CHANGED is missing. Therefore, after a state in version 1 was loaded, all
// files of the folder are read again once.
const (
	stateHeader   = "oxbow-folder 2 "
	stateHeaderV1 = "oxbow-folder 1 "
)

// maxStateBytes is the maximum size of a state's file in bytes.
const maxStateBytes = 256 << 20

// fileStamp describes a file at the time at which the file was read.
type fileStamp struct {
	size         int64
	modTimeNanos int64 // modification time in nanoseconds
	// time at which the file or its inode last changed, in nanoseconds (programs cannot set this time back)
	changeTimeNanos int64
	inode           uint64
	contentDigest   string // digest of the file's content
	// The file was changed just before it was read. A later change may have the same times, so the times prove
	// nothing.
	isRacy bool
}

// isSame reports whether a file is certainly unchanged and need not be read again. The receiver s contains the file's
// recorded size, times and inode. The argument currentStamp contains the file's present values. If s.isRacy is set, the
// result is false.
func (s fileStamp) isSame(currentStamp fileStamp) bool {
	isSameTime := s.modTimeNanos == currentStamp.modTimeNanos && s.changeTimeNanos == currentStamp.changeTimeNanos
	return !s.isRacy && s.size == currentStamp.size && isSameTime && s.inode == currentStamp.inode
}

// State is the state of a folder when it was last compared.
type State struct {
	Position      oxbow.Position // position in the memory's history when the folder was compared with the memory
	files         map[string]fileStamp
	problemByFile map[string]string
	notes         []string // at most maxComparisonNotes notes (the newest is last)
	isNew         bool     // no state was stored before, so nothing is known about files that existed earlier
}

// FileCount returns the number of files that the state s records. All recorded files are notes.
func (s *State) FileCount() int { return len(s.files) }

// Problems returns the problems, ordered by the names of their files.
func (s *State) Problems() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.problemByFile)) {
		all = append(all, name+": "+s.problemByFile[name])
	}
	return all
}

// maxComparisonNotes is the maximum number of messages to the person that are stored with a folder's state. A message
// is stored until the person sees it, because a hook cannot show messages.
const maxComparisonNotes = 20

// Notes returns the notes for a person about earlier comparisons. The newest note is last.
func (s *State) Notes() []string { return s.notes }

// LoadState returns the state of a folder from a home. If the state is missing or damaged, LoadState returns an empty
// state.
func LoadState(home, name string) (*State, error) {
	empty := &State{files: map[string]fileStamp{}, problemByFile: map[string]string{}, isNew: true}
	fsys, err := vfs.Dir(home)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return nil, err
	}
	defer fsys.Close()
	b, err := vfs.ReadFile(fsys, stateFilePrefix+name, maxStateBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return empty, nil
	case err != nil:
		return nil, err
	}
	s, err := parseState(b)
	if err != nil {
		// With an empty state, the next comparison reads all files of the folder. It removes no entries, because no
		// file is missing if the state contains no files.
		return empty, nil
	}
	return s, nil
}

var errDamagedState = fmt.Errorf("the state of a folder is damaged: %w", oxbow.ErrCorrupt)

// parseState parses the content of a state's file.
func parseState(b []byte) (*State, error) {
	head, rest, _ := bytes.Cut(b, []byte("\n"))
	sum, ok := strings.CutPrefix(string(head), stateHeader)
	if !ok {
		sum, ok = strings.CutPrefix(string(head), stateHeaderV1)
	}
	if !ok || sum != stateChecksum(rest) {
		return nil, errDamagedState
	}
	hasChanged := bytes.HasPrefix(head, []byte(stateHeader))
	s := &State{files: make(map[string]fileStamp, bytes.Count(rest, []byte("\n"))), problemByFile: map[string]string{}}
	for line := range strings.Lines(string(rest)) {
		if err := s.parseStateLine(strings.TrimSuffix(line, "\n"), hasChanged); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// parseStateLine parses a line of a state file and stores the values in s. The first line of the file is a header and
// must not be passed to parseStateLine. hasChangeTime must be true if the lines that describe files (the lines that
// begin with "f") contain the field CHANGED. If the line is invalid, parseStateLine returns an error.
func (s *State) parseStateLine(line string, hasChangeTime bool) error {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "at":
		at, err := hex.DecodeString(rest)
		s.Position = oxbow.Position(at)
		return err
	case "n":
		note, err := strconv.Unquote(rest)
		s.notes = append(s.notes, note)
		return err
	case "p":
		name, why, _ := strings.Cut(rest, "\t")
		name, err := strconv.Unquote(name)
		if err != nil {
			return errDamagedState
		}
		s.problemByFile[name], err = strconv.Unquote(why)
		return err
	case "f":
		st, name, err := parseFileLine(rest, hasChangeTime)
		if err != nil {
			return err
		}
		s.files[name] = st
		return nil
	}
	return errDamagedState
}

// parseFileLine parses a line about a file in the stored state of a folder, without the line's first word.
// hasChangeTime must be true if the line contains the field CHANGED.
func parseFileLine(line string, hasChangeTime bool) (st fileStamp, name string, err error) {
	next := func() (field string) {
		field, line, _ = strings.Cut(line, " ")
		return field
	}
	nextInt := func() int64 {
		n, ierr := strconv.ParseInt(next(), 10, 64)
		err = errors.Join(err, ierr)
		return n
	}
	st.size = nextInt()
	st.modTimeNanos = nextInt()
	if hasChangeTime {
		st.changeTimeNanos = nextInt()
	}
	var inodeErr, nameErr error
	st.inode, inodeErr = strconv.ParseUint(next(), 10, 64)
	st.contentDigest = next()
	st.isRacy = next() == "1"
	name, nameErr = strconv.Unquote(line)
	if errors.Join(err, inodeErr, nameErr) != nil {
		return st, "", errDamagedState
	}
	return st, name, nil
}

// save writes the state into a home.
func (s *State) save(home, name string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "at %x\n", string(s.Position))
	for _, file := range slices.Sorted(maps.Keys(s.files)) {
		st := s.files[file]
		racy := 0
		if st.isRacy {
			racy = 1
		}
		fmt.Fprintf(
			&b,
			"f %d %d %d %d %s %d %q\n",
			st.size,
			st.modTimeNanos,
			st.changeTimeNanos,
			st.inode,
			st.contentDigest,
			racy,
			file,
		)
	}
	for _, file := range slices.Sorted(maps.Keys(s.problemByFile)) {
		fmt.Fprintf(&b, "p %q\t%q\n", file, s.problemByFile[file])
	}
	for _, note := range s.notes {
		fmt.Fprintf(&b, "n %q\n", note)
	}
	fsys, err := vfs.Dir(home)
	if err != nil {
		return err
	}
	defer fsys.Close()
	text := append([]byte(stateHeader+stateChecksum(b.Bytes())+"\n"), b.Bytes()...)
	return vfs.WriteDerived(fsys, stateFilePrefix+name, 0o600, text)
}

func stateChecksum(b []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(b)) }

// RemoveState deletes the state of a folder.
func RemoveState(home, name string) error {
	fsys, err := vfs.Dir(home)
	if err != nil {
		return err
	}
	defer fsys.Close()
	err = fsys.Remove(stateFilePrefix + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
