// This file decides the state of a home that was found from the working directory.

// Package trust decides whether a home that was found from the working directory is
// the user's own. A home is the user's own if this machine made it, which a record
// outside of the tree says, or if a person ran oxbow trust. Any other home is
// foreign: its entries are read as foreign, and nothing is written to it. Homes of
// other users, and homes that others may write, are refused. docs/homes.md states
// the whole definition.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// State is the result of judging a home.
type State string

// The states of a home.
const (
	Own     State = "own"     // named by the user, the data directory, or made by this machine
	Trusted State = "trusted" // git tracks it, and it is recorded as the user's own
	Foreign State = "foreign" // it holds a memory, and nothing says that it is the user's own
	Refused State = "refused" // another user owns it, or others may write it
	None    State = "none"    // no home: it holds no memory that counts, or is a link that is not followed
)

// Verdict is a state and its reason.
type Verdict struct {
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`
	Mend  string `json:"mend,omitempty"` // what makes it usable

	// IsTrackedLink reports that git tracks the home as a link. It cannot be trusted.
	IsTrackedLink bool `json:"-"`

	// Unrecorded reports that the home is the user's own and that the record does not
	// say so exactly: it was made by an earlier version, or moved.
	Unrecorded bool `json:"-"`
}

// Judge returns the state of a home that was found from the working directory and
// whose store is that file. A layout of several files has the home as its store.
func (l List) Judge(home, store string) Verdict {
	if v, refused := judgeOwner(home, store); refused {
		return v
	}
	f, err := examine(home, store)
	if err != nil {
		return Verdict{State: Own} // Opening it fails with this error, too, and names the remedy.
	}
	if f.link != "" && f.tracks(".") {
		return Verdict{State: None, IsTrackedLink: true, Why: "git tracks it as a link, and such a link is not followed", Mend: "name the home that you mean: --home DIR"}
	}
	record, found := l.find(f)
	switch {
	case !found:
		return l.judgeUnrecorded(f)
	case record.Revoked:
		return f.foreign("you revoked its trust")
	}
	if name := f.unexpected(record); name != "" {
		return f.foreign("git tracks " + name + ", and did not when the home was recorded as yours")
	}
	v := Verdict{State: Own, Unrecorded: !record.isOf(f)}
	if len(f.tracked) > 0 {
		v.State, v.Why = Trusted, "git tracks it ("+f.trackedName()+")"
	}
	return v
}

// judgeOwner refuses a home or a store of another user, or one that others may
// write. On Windows neither owners nor access lists are examined.
func judgeOwner(home, store string) (v Verdict, refused bool) {
	for _, path := range []string{home, store} {
		switch owner := sysinfo.OwnerOf(path); {
		case owner.Other:
			return Verdict{State: Refused, Why: fmt.Sprintf("another user owns %s", path),
				Mend: "if it is meant all the same, name it: --home " + text.ShellQuote(home)}, true
		case owner.Writable:
			return Verdict{State: Refused, Why: fmt.Sprintf("other users may write %s (mode %04o)", path, owner.Mode),
				Mend: "chmod go-w " + text.ShellQuote(path) + ", when nobody put anything there that is not yours; or name it: --home " + text.ShellQuote(home)}, true
		}
	}
	return Verdict{}, false
}

// judgeUnrecorded judges a home that the record does not contain. Earlier versions
// recorded few homes, so that a home which existed before the record began is the
// user's own if git tracks nothing of it. A home that appeared later is foreign: it
// came with an archive, a copy or a clone.
func (l List) judgeUnrecorded(f facts) Verdict {
	if f.gitErr != nil {
		return f.foreign(fmt.Sprintf("it is in a working tree of git, and whether it came with a clone is unknown: %v", f.gitErr))
	}
	if len(f.tracked) > 0 {
		return f.foreign("git tracks it (" + f.trackedName() + ")")
	}
	if f.link != "" {
		within, err := filepath.Rel(f.home, f.store)
		if v := l.Judge(f.path, filepath.Join(f.path, within)); err != nil || (v.State != Own && v.State != Trusted) {
			return f.foreign("it is a link to " + f.path + ", which is not recorded as yours")
		}
	}
	began, err := l.began()
	switch {
	case err != nil: // Nothing can be recorded on this machine.
		return Verdict{State: Own}
	case len(f.items) == 0 && f.link == "":
		return Verdict{State: Own, Unrecorded: true} // Empty: a person made a place for a memory.
	case f.oldest.After(began):
		return f.foreign("there is no record that this machine made it")
	}
	return Verdict{State: Own, Unrecorded: true}
}

// foreign returns the verdict on what is not the user's own: a foreign home if it
// holds a memory, else no home at all, so that it hides no memory of the user.
func (f *facts) foreign(why string) Verdict {
	v := Verdict{State: Foreign, Why: why, Mend: "oxbow trust " + text.ShellQuote(f.home)}
	if f.print == "" || f.link != "" {
		v.State = None
	}
	return v
}

// Fingerprints of what has no identity of its own.
const (
	layoutPrint  = "files"   // memory of another layout
	damagedPrint = "damaged" // oxbow's own store, but its header cannot be read
	storePrint   = "store:"  // prefix of the fingerprint of a store with its identity
)

// Fingerprint returns what stays the same in a home however much is written to it:
// the identity of oxbow's own store, a constant for a memory of another layout, and
// "" if the home holds no memory.
func Fingerprint(home, store string) (string, error) {
	if store == home {
		return layoutPrint, nil
	}
	f, err := vfs.OpenRegular(store)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, wal.HeaderSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return "", err
	}
	if _, err := wal.HeaderID(head[:n]); err == nil {
		sum := sha256.Sum256(head[:32]) // magic, version and random identity
		return storePrint + hex.EncodeToString(sum[:16]), nil
	}
	if strings.HasSuffix(store, ".oxbow") {
		return damagedPrint, nil
	}
	return layoutPrint, nil
}

// trackedName returns the first tracked file, as people know it.
func (f *facts) trackedName() string {
	return filepath.Join(filepath.Base(f.home), filepath.FromSlash(f.tracked[0]))
}

// unexpected returns a tracked file that the record does not cover, or "": a pull or
// a checkout may have brought it into a home of the user's own. The store is covered
// by its identity, and checks the files beside it. Settings and documents are compared with the record when they are
// used.
func (f *facts) unexpected(record Home) string {
	if f.print == layoutPrint {
		return "" // Git tracks the files of the memory itself.
	}
	for _, path := range f.tracked {
		name := strings.ToLower(path)
		top, _, _ := strings.Cut(name, "/")
		isDocument := strings.HasSuffix(name, ".md")
		isStore := strings.HasPrefix(top, strings.ToLower(filepath.Base(f.store)))
		if !isDocument && !isStore && top != "settings.yaml" && !slices.Contains(record.Parts, top) {
			return filepath.Join(filepath.Base(f.home), filepath.FromSlash(path))
		}
	}
	return ""
}
