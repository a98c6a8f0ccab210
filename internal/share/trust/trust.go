// This file decides whether a home may be used that oxbow found by searching from the working directory.

// Package trust decides whether a home that oxbow found from the working directory belongs to the user. A home belongs
// to the user if this machine created it, according to a record outside of the working tree, or if the user ran oxbow
// trust. All other homes are foreign: their entries are marked as foreign, and oxbow writes nothing to such a home.
// Homes that belong to other users, or that other users can write to, are refused. docs/homes.md contains the complete
// definition.
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

// State says whether a home belongs to the user.
type State string

// These are the states of a home.
const (
	// The user named the home, the home is in the data directory, or this machine created it.
	Own     State = "own"
	Trusted State = "trusted" // Git tracks the home, and according to the record the home belongs to the user.
	Foreign State = "foreign" // The home contains a memory, and nothing shows that it belongs to the user.
	Refused State = "refused" // The home is refused, because another user owns it or can write to it.
	// The directory is not a home, because it contains no usable memory or is a link that oxbow does not follow.
	NoHome State = "none"
)

// Verdict is the state of a home and the reason for it.
type Verdict struct {
	State  State  `json:"state"`
	Reason string `json:"why,omitempty"`
	Mend   string `json:"mend,omitempty"` // advice to the user how to make the home usable

	// IsTrackedLink is set if git tracks a link that leads to the home. Such a home cannot be trusted.
	IsTrackedLink bool `json:"-"`

	// Unrecorded is set if the home belongs to the user but the record does not describe it, because an earlier
	// version of oxbow created the home or because the home was moved.
	Unrecorded bool `json:"-"`
}

// Judge decides whether a home that was found from the working directory belongs to the user. store is the path of its
// store file, or the home itself if the layout uses several files.
func (l List) Judge(home, store string) Verdict {
	if v, refused := judgeHomeOwner(home, store); refused {
		return v
	}
	f, err := examineHome(home, store)
	if err != nil {
		// Ignore the error, because the caller opens the home next. That fails with the same error, and the message
		// names a remedy.
		return Verdict{State: Own}
	}
	if f.link != "" && f.isTrackedName(".") {
		return Verdict{
			State:         NoHome,
			IsTrackedLink: true,
			Reason:        "git tracks it as a link, and such a link is not followed",
			Mend:          "name the home that you mean: --home DIR",
		}
	}
	record, found := l.findHome(f)
	switch {
	case !found:
		return l.judgeUnrecordedHome(f)
	case record.Revoked:
		return f.foreignOrNoHome("you revoked its trust")
	}
	if name := f.findUnexpectedFile(record); name != "" {
		return f.foreignOrNoHome("git tracks " + name + ", and did not when the home was recorded as yours")
	}
	v := Verdict{State: Own, Unrecorded: !record.matchesExactly(f)}
	if len(f.trackedNames) > 0 {
		v.State, v.Reason = Trusted, "git tracks it ("+f.trackedName()+")"
	}
	return v
}

// judgeHomeOwner refuses a home or a store that belongs to another user or that other users can write to. On
// Windows, it checks neither owners nor access lists.
func judgeHomeOwner(home, store string) (v Verdict, refused bool) {
	for _, path := range []string{home, store} {
		switch owner := sysinfo.ReadOwner(path); {
		case owner.IsOtherUser:
			return Verdict{State: Refused, Reason: fmt.Sprintf("another user owns %s", path),
				Mend: "if it is meant all the same, name it: --home " + text.ShellQuote(home)}, true
		case owner.IsWritableByOthers:
			return Verdict{
				State:  Refused,
				Reason: fmt.Sprintf("other users may write %s (mode %04o)", path, owner.Mode),
				Mend: "chmod go-w " + text.ShellQuote(path) +
					", when nobody put anything there that is not yours; or name it: --home " +
					text.ShellQuote(home),
			}, true
		}
	}
	return Verdict{}, false
}

// judgeUnrecordedHome judges a home that is not in the record. Earlier versions of oxbow recorded only few homes.
// Therefore a home that is older than the record belongs to the user if git tracks nothing in it. A newer home is
// foreign, because it comes from an archive, a copy or a clone.
func (l List) judgeUnrecordedHome(f homeFacts) Verdict {
	if f.trackedErr != nil {
		return f.foreignOrNoHome(fmt.Sprintf(
			"it is in a working tree of git, and whether it came with a clone is unknown: %v",
			f.trackedErr,
		))
	}
	if len(f.trackedNames) > 0 {
		return f.foreignOrNoHome("git tracks it (" + f.trackedName() + ")")
	}
	if f.link != "" {
		storePath, err := filepath.Rel(f.home, f.store)
		target := l.Judge(f.path, filepath.Join(f.path, storePath))
		isUsable := target.State == Own || target.State == Trusted
		if err != nil || !isUsable {
			return f.foreignOrNoHome("it is a link to " + f.path + ", which is not recorded as yours")
		}
	}
	began, err := l.recordStart()
	switch {
	case err != nil: // This machine cannot record homes.
		return Verdict{State: Own}
	case len(f.unsharedNames) == 0 && f.link == "":
		// The home is empty, so a person created it for use as a home.
		return Verdict{State: Own, Unrecorded: true}
	case f.oldestChange.After(began):
		return f.foreignOrNoHome("there is no record that this machine made it")
	}
	return Verdict{State: Own, Unrecorded: true}
}

// foreignOrNoHome returns the verdict for a home of which nothing shows that it belongs to the user. If the home
// contains a memory, it is foreign. Otherwise the home is ignored, so that it does not hide a memory of the user.
func (f *homeFacts) foreignOrNoHome(why string) Verdict {
	v := Verdict{State: Foreign, Reason: why, Mend: "oxbow trust " + text.ShellQuote(f.home)}
	if f.fingerprint == "" || f.link != "" {
		v.State = NoHome
	}
	return v
}

// Most memories have an ID, from which the fingerprint is made. These are the fingerprints of memories without an ID,
// and the prefix of the other fingerprints.
const (
	layoutFingerprint  = "files"   // fingerprint of a memory in a layout that is not oxbow's own
	damagedFingerprint = "damaged" // fingerprint of a store file of oxbow with an unreadable header
	// prefix of a memory's fingerprint, if it is made from the ID in the memory's store file
	storeFingerprintPrefix = "store:"
)

// Fingerprint returns a value that identifies the memory in a home and does not change when the memory changes. For
// oxbow's own store, it is made from the identity of the store. For a memory in another layout, it is a constant. If
// the home contains no memory, it is "".
func Fingerprint(home, store string) (string, error) {
	if store == home {
		return layoutFingerprint, nil
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
	isShort := err == io.ErrUnexpectedEOF || err == io.EOF
	if err != nil && !isShort {
		return "", err
	}
	if _, err := wal.HeaderID(head[:n]); err == nil {
		sum := sha256.Sum256(head[:32]) // These bytes contain the magic, the version and the random identity.
		return storeFingerprintPrefix + hex.EncodeToString(sum[:16]), nil
	}
	if strings.HasSuffix(store, ".oxbow") {
		return damagedFingerprint, nil
	}
	return layoutFingerprint, nil
}

// trackedName returns the path of the first tracked file, for messages.
func (f *homeFacts) trackedName() string {
	return filepath.Join(filepath.Base(f.home), filepath.FromSlash(f.trackedNames[0]))
}

// findUnexpectedFile returns a file in the home that git tracks and that the record does not contain, or "". A pull or
// a checkout may have brought such a file into the user's home. It does not compare the files of the store, which the
// fingerprint identifies, nor settings and documents, which are compared when used.
func (f *homeFacts) findUnexpectedFile(record Home) string {
	if f.fingerprint == layoutFingerprint {
		// In a layout that is not oxbow's own, the memory consists of the tracked files. They change when an entry
		// changes, so no file is unexpected.
		return ""
	}
	for _, path := range f.trackedNames {
		name := strings.ToLower(path)
		top, _, _ := strings.Cut(name, "/")
		isDocument := strings.HasSuffix(name, ".md") || top == "settings.yaml"
		isStore := strings.HasPrefix(top, strings.ToLower(filepath.Base(f.store)))
		if isDocument || isStore {
			continue
		}
		if !slices.Contains(record.TrackedFiles, top) {
			return filepath.Join(filepath.Base(f.home), filepath.FromSlash(path))
		}
	}
	return ""
}
