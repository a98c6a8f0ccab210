// This file decides whether a home that was found from the working directory may be used.

// Package trust decides whether a home that was found from the working directory belongs to the
// user. A home belongs to the user if this machine created the home, according to a record outside
// of the working tree, or if the user ran oxbow trust. All other homes are foreign. The entries of
// a foreign home are marked as foreign, and oxbow writes nothing to the home. Homes that belong to
// other users, or that other users can write to, are refused. docs/homes.md contains the complete
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

// State is the result of judging a home.
type State string

// The states of a home.
const (
	// the user named the home, the home is in the data directory, or this machine created the home
	Own     State = "own"
	Trusted State = "trusted" // git tracks the home, and the record says that it belongs to the user
	Foreign State = "foreign" // the home contains a memory, and nothing shows that it belongs to the user
	Refused State = "refused" // another user owns the home, or other users can write to it
	NoHome  State = "none"    // not a home, because it contains no usable memory or is a link that is not followed
)

// Verdict is a state and its reason.
type Verdict struct {
	State  State  `json:"state"`
	Reason string `json:"why,omitempty"`
	Mend   string `json:"mend,omitempty"` // advice that tells the user how to make the home usable

	// IsTrackedLink is set if git tracks the home as a link. Such a home cannot be trusted.
	IsTrackedLink bool `json:"-"`

	// Unrecorded is set if the home belongs to the user but differs from the record, because an
	// earlier version of oxbow created the home or because the home was moved.
	Unrecorded bool `json:"-"`
}

// Judge decides about a home that was found from the working directory. store is the path of its
// store file, or the home itself if the layout uses several files.
func (l List) Judge(home, store string) Verdict {
	if v, refused := judgeOwner(home, store); refused {
		return v
	}
	f, err := examineHome(home, store)
	if err != nil {
		// ignore the error, because opening the home fails with the same error and names the remedy
		return Verdict{State: Own}
	}
	if f.link != "" && f.isTracked(".") {
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
		return l.judgeUnrecorded(f)
	case record.Revoked:
		return f.foreignOrNoHome("you revoked its trust")
	}
	if name := f.unexpectedFile(record); name != "" {
		return f.foreignOrNoHome("git tracks " + name + ", and did not when the home was recorded as yours")
	}
	v := Verdict{State: Own, Unrecorded: !record.matchesExactly(f)}
	if len(f.trackedNames) > 0 {
		v.State, v.Reason = Trusted, "git tracks it ("+f.trackedName()+")"
	}
	return v
}

// judgeOwner refuses a home or a store that belongs to another user or that other users can write
// to. On Windows, it examines neither owners nor access lists.
func judgeOwner(home, store string) (v Verdict, refused bool) {
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

// judgeUnrecorded decides about a home that is not in the record. Earlier versions of oxbow
// recorded only few homes. Therefore a home that existed before the record was started belongs to
// the user if git tracks nothing in it. A home that appeared later is foreign, because it comes
// from an archive, a copy or a clone.
func (l List) judgeUnrecorded(f homeFacts) Verdict {
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
	case err != nil: // this machine cannot record homes
		return Verdict{State: Own}
	case len(f.unsharedNames) == 0 && f.link == "":
		// the home is empty, so a person created it to use it for a memory
		return Verdict{State: Own, Unrecorded: true}
	case f.oldestChange.After(began):
		return f.foreignOrNoHome("there is no record that this machine made it")
	}
	return Verdict{State: Own, Unrecorded: true}
}

// foreignOrNoHome returns the verdict for a home that is not known to belong to the user. If the home
// contains a memory, it is a foreign home. Otherwise it is ignored, so that it does not hide a
// memory of the user.
func (f *homeFacts) foreignOrNoHome(why string) Verdict {
	v := Verdict{State: Foreign, Reason: why, Mend: "oxbow trust " + text.ShellQuote(f.home)}
	if f.fingerprint == "" || f.link != "" {
		v.State = NoHome
	}
	return v
}

// Fingerprints of memories without an identity.
const (
	layoutFingerprint      = "files"   // a memory with a different layout
	damagedFingerprint     = "damaged" // oxbow's own store with an unreadable header
	storeFingerprintPrefix = "store:"  // prefix for the fingerprint of a store that has an ID
)

// Fingerprint returns a value that identifies the memory in a home and does not change when the
// home is written to. For oxbow's own store, this is the identity of the store. For a memory with a
// different layout, it is a constant. It is "" if the home contains no memory.
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
		sum := sha256.Sum256(head[:32]) // magic, version and random identity
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

// unexpectedFile returns a tracked file that the record does not contain, or "". A pull or a checkout may have brought
// such a file into a home that belongs to the user. The store's files are identified by the fingerprint. Settings and
// documents are compared with the record when they are used.
func (f *homeFacts) unexpectedFile(record Home) string {
	if f.fingerprint == layoutFingerprint {
		return "" // the tracked file is the memory itself
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
