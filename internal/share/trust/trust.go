// oxbow can find a home (the directory of a memory) by searching from the working directory. This file decides whether
// oxbow may use a home that it found in this way.

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

// HomeOwnership says whether a home belongs to the user.
type HomeOwnership string

// These are the states of a home.
const (
	// The user named the home, the home is in the data directory, or this machine created it.
	OwnHome HomeOwnership = "own"
	// Git tracks the home, and according to the record the home belongs to the user.
	TrustedHome HomeOwnership = "trusted"
	ForeignHome HomeOwnership = "foreign" // The home contains a memory, and nothing shows that it belongs to the user.
	Refused     HomeOwnership = "refused" // The home is refused, because another user owns it or can write to it.
	// The directory is not a home, because a usable memory is missing or because oxbow refuses to follow the link.
	NotAHome HomeOwnership = "none"
)

// OwnershipVerdict says whether a home (the directory with a memory) belongs to the user and can be trusted, and why.
type OwnershipVerdict struct {
	Ownership HomeOwnership `json:"state"`
	Reason    string        `json:"why,omitempty"`
	Mend      string        `json:"mend,omitempty"` // advice to the user how to make the home usable

	// IsHomeLinkTracked is set if git tracks a link that leads to the home. Such a home cannot be trusted.
	IsHomeLinkTracked bool `json:"-"`

	// LacksTrustRecord is set if the home belongs to the user, but the user's record of own homes does not describe it.
	// The reason is that an earlier version of oxbow created the home, or that the home was moved.
	LacksTrustRecord bool `json:"-"`
}

// JudgeHome decides whether a home that was found from the working directory belongs to the user. storePath is the path
// of its store file, or the home itself if the layout uses several files.
func (l List) JudgeHome(home, storePath string) OwnershipVerdict {
	if v, refused := refuseOtherUsersHome(home, storePath); refused {
		return v
	}
	f, err := collectHomeFacts(home, storePath)
	if err != nil {
		// Ignore the error, because the caller opens the home next. That fails with the same error, and the message
		// names a remedy.
		return OwnershipVerdict{Ownership: OwnHome}
	}
	if f.linkToHomePath != "" && f.isGitTrackedName(".") {
		return OwnershipVerdict{
			Ownership:         NotAHome,
			IsHomeLinkTracked: true,
			Reason:            "git tracks it as a link, and such a link is not followed",
			Mend:              "name the home that you mean: --home DIR",
		}
	}
	record, found := l.findHomeRecord(f)
	switch {
	case !found:
		return l.judgeUnrecordedHome(f)
	case record.Revoked:
		return f.verdictForUnknownOwner("you revoked its trust")
	}
	if name := f.findUnexpectedFile(record); name != "" {
		return f.verdictForUnknownOwner("git tracks " + name + ", and did not when the home was recorded as yours")
	}
	v := OwnershipVerdict{Ownership: OwnHome, LacksTrustRecord: !record.matchesExactly(f)}
	if len(f.gitTrackedNames) > 0 {
		v.Ownership, v.Reason = TrustedHome, "git tracks it ("+f.firstGitTrackedPath()+")"
	}
	return v
}

// refuseOtherUsersHome refuses a home or a store that belongs to another user or that other users can write to. On
// Windows, it checks neither owners nor access lists.
func refuseOtherUsersHome(home, storePath string) (verdict OwnershipVerdict, refused bool) {
	for _, path := range []string{home, storePath} {
		switch owner := sysinfo.ReadOwner(path); {
		case owner.IsOtherUser:
			return OwnershipVerdict{Ownership: Refused, Reason: fmt.Sprintf("another user owns %s", path),
				Mend: "if it is meant all the same, name it: --home " + text.ShellQuote(home)}, true
		case owner.IsWritableByOthers:
			return OwnershipVerdict{
				Ownership: Refused,
				Reason:    fmt.Sprintf("other users may write %s (mode %04o)", path, owner.Mode),
				Mend: "chmod go-w " + text.ShellQuote(path) +
					", when nobody put anything there that is not yours; or name it: --home " +
					text.ShellQuote(home),
			}, true
		}
	}
	return OwnershipVerdict{}, false
}

// judgeUnrecordedHome decides whether a home belongs to the user. The home is not in the record, which lists the homes
// that oxbow created on this machine. The home does not count as the user's in these cases:
//
//   - Git tracks a file in the home, or it is unknown whether git does.
//   - The home is a link to a home that is not the user's.
//   - The home contains files or is a link, and all of its files were changed after this machine began the record. The
//     home then comes from an archive, a copy or a clone.
//
// In all other cases the home belongs to the user. In particular, an older home belongs to the user, because earlier
// versions of oxbow recorded only few homes. If the record's start time cannot be read, this machine cannot record
// homes. In this case, only the first two conditions are checked.
func (l List) judgeUnrecordedHome(f homeOwnershipFacts) OwnershipVerdict {
	if f.gitTrackedErr != nil {
		return f.verdictForUnknownOwner(fmt.Sprintf(
			"it is in a working tree of git, and whether it came with a clone is unknown: %v",
			f.gitTrackedErr,
		))
	}
	if len(f.gitTrackedNames) > 0 {
		return f.verdictForUnknownOwner("git tracks it (" + f.firstGitTrackedPath() + ")")
	}
	if f.linkToHomePath != "" {
		storePath, err := filepath.Rel(f.home, f.store)
		target := l.JudgeHome(f.resolvedHomePath, filepath.Join(f.resolvedHomePath, storePath))
		isUsable := target.Ownership == OwnHome || target.Ownership == TrustedHome
		if err != nil || !isUsable {
			return f.verdictForUnknownOwner(
				"it is a link to " + f.resolvedHomePath + ", which is not recorded as yours",
			)
		}
	}
	began, err := l.readRecordStartTime()
	switch {
	case err != nil: // This machine cannot record homes.
		return OwnershipVerdict{Ownership: OwnHome}
	case len(f.namesProvingHome) == 0 && f.linkToHomePath == "":
		// The home is empty, so a person created it for use as a home.
		return OwnershipVerdict{Ownership: OwnHome, LacksTrustRecord: true}
	case f.oldestFileChangeTime.After(began):
		return f.verdictForUnknownOwner("there is no record that this machine made it")
	}
	return OwnershipVerdict{Ownership: OwnHome, LacksTrustRecord: true}
}

// verdictForUnknownOwner returns the verdict for a home if nothing shows that the home belongs to the user. If the home
// contains a memory and was not found through a link, the home is foreign. Otherwise the verdict is NotAHome, so that
// the home is ignored and does not hide a memory of the user. The argument reason becomes the reason in the verdict.
func (f *homeOwnershipFacts) verdictForUnknownOwner(reason string) OwnershipVerdict {
	v := OwnershipVerdict{Ownership: ForeignHome, Reason: reason, Mend: "oxbow trust " + text.ShellQuote(f.home)}
	if f.homeFingerprint == "" || f.linkToHomePath != "" {
		v.Ownership = NotAHome
	}
	return v
}

// Most memories have an ID, from which the fingerprint is made. These are the fingerprints of memories without an ID,
// and the prefix of the other fingerprints.
const (
	otherLayoutFingerprint  = "files"   // fingerprint of a memory in a layout that is not oxbow's own
	damagedStoreFingerprint = "damaged" // fingerprint of a store file of oxbow with an unreadable header
	// prefix of a memory's fingerprint, if it is made from the ID in the memory's store file
	storeFingerprintPrefix = "store:"
)

// Fingerprint returns a value that identifies the memory in a home and does not change when entries change. For oxbow's
// own store, it is computed from the random identity of the store. For a memory in another layout, and for a damaged
// store, it is a constant. If the home contains no memory, it is "".
func Fingerprint(home, store string) (string, error) {
	if store == home {
		return otherLayoutFingerprint, nil
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
		return damagedStoreFingerprint, nil
	}
	return otherLayoutFingerprint, nil
}

// firstGitTrackedPath returns the path of the first tracked file, for messages.
func (f *homeOwnershipFacts) firstGitTrackedPath() string {
	return filepath.Join(filepath.Base(f.home), filepath.FromSlash(f.gitTrackedNames[0]))
}

// findUnexpectedFile returns the path of a file in the home that git tracks although the record does not contain its
// topmost name. It returns "" if no such file exists. A git pull or checkout may have brought such a file into the
// user's home. Files of the store are ignored, because the fingerprint identifies them. Settings and documents are also
// ignored, because they are compared when they are used.
func (f *homeOwnershipFacts) findUnexpectedFile(record Home) string {
	if f.homeFingerprint == otherLayoutFingerprint {
		// In a layout that is not oxbow's own, the memory consists of the tracked files. They change when an entry
		// changes, so no file is unexpected.
		return ""
	}
	for _, path := range f.gitTrackedNames {
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
