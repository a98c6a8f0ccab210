// Which homes are believed: one that was found may have come with a project.

// Package trust decides whether a home that was found from the working directory
// is the user's own. Other users' homes, and those that others may write, are
// refused. A home that git tracks came with a clone: until the user trusts it,
// its entries are foreign and nothing is written to it. What was trusted is
// recorded in the user's configuration directory, by path and fingerprint.
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

	"github.com/oxbow-memory/oxbow/internal/git"
	"github.com/oxbow-memory/oxbow/internal/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/vfs"
)

// State is what is known of a home.
type State string

// The states of a home.
const (
	Own     State = "own"     // named by the user, the data directory, or not brought by a clone
	Trusted State = "trusted" // brought by a clone, and trusted since
	Foreign State = "foreign" // brought by a clone
	Refused State = "refused" // another user owns it, or others may write it
)

// Verdict is a state and its reason.
type Verdict struct {
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`
	Mend  string `json:"mend,omitempty"` // what makes it usable
}

// shared are the files of a home that people commit on purpose: what they say is
// shown as the project's.
var shared = []string{"annotations", "team", "profiles", "skills", ".gitignore", ".gitattributes"}

// Judge returns what is known of a home that was found, whose store is that file;
// a directory of another layout has none. On Windows the owner and the access
// list are not looked at.
func (l List) Judge(home, store string) Verdict {
	for _, path := range []string{home, store} {
		switch owner := sysinfo.OwnerOf(path); {
		case owner.Other:
			return Verdict{Refused, fmt.Sprintf("another user owns %s", path),
				"if it is meant all the same, name it: --home " + text.ShellQuote(home)}
		case owner.Writable:
			return Verdict{Refused, fmt.Sprintf("other users may write %s (mode %04o)", path, owner.Mode),
				"chmod go-w " + text.ShellQuote(path) + ", when nobody put anything there that is not yours; or name it: --home " + text.ShellQuote(home)}
		}
	}
	why, brought := broughtByClone(home)
	if !brought {
		return Verdict{State: Own}
	}
	print, err := Fingerprint(home, store)
	if err == nil && print == "" {
		return Verdict{State: Own} // there is nothing in it yet
	}
	if err == nil && slices.ContainsFunc(l.Homes(), func(h Home) bool { return h.Path == realPath(home) && h.Fingerprint == print }) {
		return Verdict{Trusted, why, ""}
	}
	return Verdict{Foreign, why, "oxbow trust " + text.ShellQuote(home)}
}

// broughtByClone reports whether git tracks what makes a home one, under the path
// that it was found by or the one that this leads to; and says so.
func broughtByClone(home string) (why string, brought bool) {
	for _, path := range slices.Compact([]string{home, realPath(home)}) {
		names, err := git.Tracked(path)
		if err != nil {
			return fmt.Sprintf("it is in a working tree of git, and whether it came with it cannot be seen: %v", err), true
		}
		for _, n := range names {
			if top, _, _ := strings.Cut(n, "/"); !slices.Contains(shared, strings.ToLower(top)) {
				return fmt.Sprintf("git tracks it (%s)", filepath.Join(filepath.Base(home), filepath.FromSlash(n))), true
			}
		}
	}
	return "", false
}

// headerSize is the bytes of a store up to the end of its identity.
const headerSize = 32

// Fingerprint returns what stays the same in a home however much is written to
// it: the identity of its store; of a home that is several files, that it is
// one; and "" of a home that holds no memory.
func Fingerprint(home, store string) (string, error) {
	if store == home {
		return "files", nil
	}
	f, err := vfs.OpenRegular(store)
	if os.IsNotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, headerSize)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return "", err
	}
	sum := sha256.Sum256(head[:n]) // of the magic, the version and the random identity
	return "store:" + hex.EncodeToString(sum[:16]), nil
}
