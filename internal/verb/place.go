// This file describes where a memory is stored, and the machine that runs the program.

package verb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/tree/backup"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Place says where a memory is stored.
type Place struct {
	Home                string // directory of the memory, or a file if the user named a file as home
	HomeChoiceReason    string // sentence for people that says why this directory was chosen as oxbow's home
	FoundFromWorkingDir bool   // the home was found from the working directory, and not named by the user
	StorePath           string // path of the memory's file, or the directory's path if the layout has several files
	LayoutName          string // name of the layout if the memory has several files, or "" for oxbow's own layout
	LayoutTitle         string // name of the layout LayoutName, as shown to people

	ClientHome string // home that clients' configurations name ("" if clients find the home without it)
}

// HasOwnLayout reports whether the memory has oxbow's own layout, which is a single file.
func (p Place) HasOwnLayout() bool { return p.LayoutName == "" }

// Dir returns the directory of the memory.
func (p Place) Dir() string {
	if p.HasOwnLayout() {
		return filepath.Dir(p.StorePath)
	}
	return p.Home
}

// Host describes the machine and the process that run the verbs.
type Host struct {
	Getenv          func(string) string
	GOOS            string
	FileSystem      func(path string) (sysinfo.FileSystem, error)
	Executable      string // path of the running program
	Version         Version
	Rand            io.Reader
	AllowsNetworkFS bool // a person has allowed writing to a network file system
	TrustList       trust.List
}

// Version describes a build of the program.
type Version struct {
	Version    string `json:"version"`            // version of the module, or "(devel)"
	Revision   string `json:"revision,omitempty"` // commit from which the program was built
	Time       string `json:"time,omitempty"`     // time of the commit, in RFC 3339 format
	Modified   bool   `json:"modified,omitempty"` // the program was built with changes that were not committed
	FileFormat int    `json:"format"`             // version of the file format that the program writes
	GoVersion  string `json:"go"`
	Platform   string `json:"platform"`
}

// Report shows the version, the commit, and the version of the file format.
func (v Version) Report() (r report.Report) {
	r.AddLinef("oxbow %s", v.Version)
	if v.Revision != "" {
		changed := report.OxbowText("")
		if v.Modified {
			changed = ", with changes"
		}
		r.AddLinef("revision %s of %s%s", v.Revision, v.Time, changed)
	}
	r.AddLinef("file format %d, %s, %s", v.FileFormat, v.GoVersion, v.Platform)
	return r
}

// IsNetworkFSAllowed reports whether a person has said that only this machine writes to a store on a network file
// system. It returns an error if the setting is invalid.
func (h *Host) IsNetworkFSAllowed() (bool, error) {
	v := h.Getenv("OXBOW_NETWORK_FS")
	if h.AllowsNetworkFS || v == "" {
		return h.AllowsNetworkFS, nil
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, Advise(Invalidf("OXBOW_NETWORK_FS %q is neither true nor false", v), "set it to 1, or to nothing")
	}
	return b, nil
}

// CheckMayWrite returns an error that matches [oxbow.ErrNetworkFS] if the store is on a network file system, where
// other machines may write to the store at the same time. If a person has allowed network file systems, CheckMayWrite
// returns nil.
func (h *Host) CheckMayWrite(store string) error {
	allowed, err := h.IsNetworkFSAllowed()
	if err != nil || allowed {
		return err
	}
	dir := filepath.Dir(store)
	// Ignore the error, because opening the store will report it.
	if f, err := h.FileSystem(dir); err == nil && f.Kind == sysinfo.KindNetworkFileSystem {
		return fmt.Errorf(
			"%w: %s is on %s, where the lock that makes writers take turns may not reach other hosts: two could "+
				"overwrite each other's changes",
			oxbow.ErrNetworkFS, dir, f.Name,
		)
	}
	return nil
}

// IsStoreMissing reports whether no file exists at the path. It returns an error if the path is a directory, a pipe,
// or a link to a file that does not exist.
func IsStoreMissing(path string) (bool, error) {
	const mend = "move it away, or choose another home with --home DIR"
	fi, err := os.Stat(path)
	switch {
	case err == nil && fi.IsDir():
		return false, Advise(fmt.Errorf("opening %s: it is a directory, not a store", path), mend)
	case err == nil && !fi.Mode().IsRegular():
		return false, Advise(fmt.Errorf("opening %s: it is not a regular file", path), mend)
	case !errors.Is(err, fs.ErrNotExist):
		return false, nil // The file exists or cannot be examined. Opening it later reports the second case.
	}
	to, err := os.Readlink(path)
	if err != nil {
		return true, nil
	}
	return false, Advise(fmt.Errorf("opening %s: it is a link to %s, which is not there", path, to),
		"bring that back, such as by mounting its disk, or remove the link to begin a new memory")
}

// NoMemoryError returns the error for a home that contains no memory.
func NoMemoryError(home string) error {
	return Advise(fmt.Errorf("there is no memory in %s yet", home),
		"oxbow init makes one here; --home DIR names another; oxbow doctor says how this one was found")
}

// errorWithRemedy is an error with advice on what to do (see [ErrorRemedy]).
type errorWithRemedy struct {
	Err    error
	Remedy Note
}

func (e *errorWithRemedy) Error() string { return e.Err.Error() }
func (e *errorWithRemedy) Unwrap() error { return e.Err }

// Advise adds advice to an error. The advice is a sentence without a final period.
func Advise(err error, remedy string) error { return AdviseWithNote(err, PlainNote(remedy)) }

// AdviseWithNote is like [Advise], which adds advice to an error. The advice in remedy may contain references to verbs
// and parameters (see [NoteReference]). Each interface, such as the command line, replaces a reference by its own name
// for the verb or parameter.
func AdviseWithNote(err error, remedy Note) error { return &errorWithRemedy{err, remedy} }

// Invalidf returns an error about an argument of a call. It matches [oxbow.ErrInvalid].
func Invalidf(format string, args ...any) error {
	return &invalidError{fmt.Sprintf(format, args...)}
}

type invalidError struct{ message string }

func (e *invalidError) Error() string      { return e.message }
func (*invalidError) Is(target error) bool { return target == oxbow.ErrInvalid }

// WrapError adds the name of the failed operation to an error. It returns nil if err is nil.
func WrapError(operation string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", operation, err)
}

// NotStoreError returns the error for a file that is not a store in oxbow's own format. If it recognizes the kind of
// the file, the error contains advice for such files.
func NotStoreError(path string, err error) error {
	err = fmt.Errorf("opening %s: %w", path, err)
	f, ferr := vfs.OpenRegular(path)
	if ferr != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 32)
	n, _ := f.Read(head)
	switch file, dir := text.ShellQuote(path), text.ShellQuote(filepath.Dir(path)); {
	// The store of a home always has the extension .oxbow, so this file is not a truncated store.
	case n == 0 && filepath.Ext(path) != ".oxbow":
		return Advise(fmt.Errorf("opening %s: it is empty, and no memory: %w", path, oxbow.ErrNotStore),
			"name another file, or a directory for a new memory: oxbow --home DIR init")
	case n == 0:
		return Advise(fmt.Errorf("opening %s: it has no bytes, so what it held is lost: %w", path, oxbow.ErrNotStore),
			"copy a backup over it, then oxbow recover --accept; without one, move it away to begin again")
	case backup.IsEncrypted(head[:n]):
		return Advise(fmt.Errorf("opening %s: it is encrypted: %w", path, oxbow.ErrNotStore),
			"oxbow --home DIR init --from "+file+" --identity KEYFILE makes a memory of this backup")
	case !bytes.HasPrefix(head, []byte("CRMEM\x00")):
		return err
	case filepath.Base(path) == "memory.db":
		return Advise(
			fmt.Errorf("opening %s: it is a memory of crabtalk: %w", path, oxbow.ErrNotStore),
			"name its directory: oxbow --home "+dir+" list",
		)
	default:
		return Advise(fmt.Errorf("opening %s: it is a memory of crabtalk: %w", path, oxbow.ErrNotStore),
			"give it the name and the directory of one: mkdir crab && cp "+file+
				" crab/memory.db && oxbow --home crab list")
	}
}
