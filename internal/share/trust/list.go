// This file stores the record of the homes that belong to the user: a file with JSON lines outside all homes.

package trust

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Home describes a home that belongs to the user. The list of these homes is a file with JSON lines. Each line of this
// file is a Home.
type Home struct {
	Path        string `json:"home"` // path of the home without symbolic links
	Fingerprint string `json:"fingerprint"`
	// Digest of the settings file that the user trusted. The file can start sub-agents.
	SettingsDigest string `json:"settings,omitempty"`
	// digests of the documents that the user trusted, by path in lower case
	Documents map[string]string `json:"documents,omitempty"`
	// Files in the home that git tracked when the user trusted the home, except Markdown files. A file in a
	// subdirectory is recorded as the name of the topmost directory. All names are in lower case.
	TrackedFiles []string       `json:"parts,omitempty"`
	ID           sysinfo.FileID `json:"id,omitzero"` // identity of the home's directory in the file system
	// path of the link that leads to the home ("" without a link)
	LinkPath string `json:"link,omitempty"`
	// IsCreatedHere is set if this machine created the home. Otherwise the user has declared the home trusted.
	IsCreatedHere bool      `json:"made,omitempty"`
	Revoked       bool      `json:"revoked,omitempty"` // The user has revoked the trust.
	RecordTime    time.Time `json:"since"`
}

// matchesExactly reports whether the recorded home h is the home that was examined. The argument f contains the facts
// about the examined home. The path, the link, the directory's ID, and the fingerprint of the memory must be equal. The
// fingerprint is not compared if the examined home contains no memory or a damaged memory.
func (h *Home) matchesExactly(f homeOwnershipFacts) bool {
	isSameStore := h.Fingerprint == f.homeFingerprint || f.homeFingerprint == damagedStoreFingerprint ||
		f.homeFingerprint == ""
	return h.Path == f.resolvedHomePath && h.LinkPath == f.linkToHomePath && isSameStore && h.ID == f.id
}

// describesHome reports whether h, a line of the trust list, describes the home that was examined. A home is the
// directory of a memory. The argument f contains the facts about the examined home. The recorded link to the home
// (h.LinkPath) must be equal to the examined link (f.linkToHomePath). The other conditions depend on the fingerprint,
// which identifies the memory in a home. The first case that applies decides:
//   - If the user has revoked the trust (h.Revoked), the paths h.Path and f.resolvedHomePath must be equal.
//   - If the fingerprints are equal and made from an ID of the memory, the examined directory must be the recorded
//     directory, which may have been moved. Another directory at the same path also matches if git tracks no file in
//     it, because the user may have restored a backup there.
//   - If the fingerprints are equal but the memory has no ID, or if the examined home has no memory, the examined
//     directory must be the recorded directory.
//   - If the memory in the examined home is damaged, the examined directory must be the recorded directory, and git
//     must not track any file in it.
//   - If the recorded home had no memory (h.Fingerprint is ""), the conditions are the same as for a damaged memory.
//   - Otherwise the result is false.
//
// Therefore a copy or a clone of a home at another path never matches.
func (h *Home) describesHome(f homeOwnershipFacts) bool {
	if h.LinkPath != f.linkToHomePath {
		return false
	}
	isSamePath := h.Path == f.resolvedHomePath
	isSameDir := isSameFile(h.ID, f.id, isSamePath)
	if h.Revoked {
		return isSamePath
	}
	switch isTracked := len(f.gitTrackedNames) > 0; {
	case h.Fingerprint == f.homeFingerprint && f.hasStoreID():
		return isSameDir || (isSamePath && !isTracked)
	// There are two cases. The memory is the recorded memory, but has no ID. Or the examined home has no memory,
	// perhaps because the user moved the memory's file away.
	case h.Fingerprint == f.homeFingerprint, f.homeFingerprint == "":
		return isSameDir
	case f.homeFingerprint == damagedStoreFingerprint: // Opening the store reports the damage.
		return isSameDir && !isTracked
	default: // When the home was recorded, it contained no memory. A memory may have been created since.
		return h.Fingerprint == "" && isSameDir && !isTracked
	}
}

// isSameFile reports whether a and b identify the same directory. isSamePath specifies whether both directories have
// the same path. If their paths differ, a and b must be equal and contain a creation time. If their paths are equal,
// only the inodes and the creation times must be equal, because the volume number of a disk may change. In this case, a
// missing creation time equals any creation time. If the paths are equal and a or b is empty, isSameFile returns true.
func isSameFile(a, b sysinfo.FileID, isSamePath bool) bool {
	if !isSamePath {
		return a == b && a.CreationTime != 0
	}
	isAnyUnknown := a == sysinfo.FileID{} || b == sysinfo.FileID{}
	isSameBirth := a.CreationTime == b.CreationTime || a.CreationTime == 0 || b.CreationTime == 0
	return isAnyUnknown || (a.Inode == b.Inode && isSameBirth)
}

// hasStoreID reports whether the home's memory is identified by the ID of its store file.
func (f *homeOwnershipFacts) hasStoreID() bool {
	return strings.HasPrefix(f.homeFingerprint, storeFingerprintPrefix)
}

// findHomeRecord returns the record in the list l that describes the home with the facts f (see [Home.describesHome]).
// The second result is false if no record describes this home.
func (l List) findHomeRecord(f homeOwnershipFacts) (Home, bool) {
	homes := l.findHomesWithWords(f.resolvedHomePath, f.homeFingerprint, f.id.Inode)
	if i := slices.IndexFunc(homes, func(h Home) bool { return h.describesHome(f) }); i >= 0 {
		return homes[i], true
	}
	return Home{}, false
}

// List is the record of trusted homes in the directory Dir. If Dir is "", nothing can be recorded.
type List struct{ Dir string }

const (
	homesFileName        = "trusted"
	trustLockFile        = "trusted.lock"
	trustRecordStartFile = "trusted.began"
	maxLockWait          = 5 * time.Second
)

// readRecordStartTime returns the time at which this machine began to record the homes that oxbow creates. Every home
// that oxbow created here after this time is in the record. The time is the modification time of an empty file. If the
// file does not exist, readRecordStartTime creates it, so that recording starts with this call. readRecordStartTime
// fails if l.Dir is empty, or if the file cannot be created or examined.
func (l List) readRecordStartTime() (time.Time, error) {
	if l.Dir == "" {
		return time.Time{}, errors.New("no configuration directory is known")
	}
	path := filepath.Join(l.Dir, trustRecordStartFile)
	fi, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.MkdirAll(l.Dir, 0o700)
		if err == nil {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err == nil {
			fi, err = os.Stat(path)
		}
	}
	if err != nil {
		return time.Time{}, err
	}
	return fi.ModTime(), nil
}

// StartHomeRecord starts the record of the homes that oxbow creates on this machine, unless the record was started
// before. A home that is older than the record counts as created by an earlier version of oxbow.
func (l List) StartHomeRecord() { _, _ = l.readRecordStartTime() }

// Homes returns the recorded homes, without the homes for which the user has revoked the trust. A home is a directory
// with a memory. Lines that cannot be read are ignored.
func (l List) Homes() []Home {
	return slices.DeleteFunc(parseHomes(l.readFile(homesFileName)), func(h Home) bool { return h.Revoked })
}

// findHomesWithWords searches the file of recorded homes for lines that contain at least one of the words. It returns
// the homes that these lines list. Lines without these words are not parsed, so that a command with a long record stays
// fast.
func (l List) findHomesWithWords(words ...string) (homes []Home) {
	for line := range bytes.Lines(l.readFile(homesFileName)) {
		if slices.ContainsFunc(words, func(w string) bool { return w != "" && bytes.Contains(line, quoteWord(w)) }) {
			homes = append(homes, parseHomes(line)...)
		}
	}
	return homes
}

// quoteWord returns a word as it is written in a line of the record.
func quoteWord(word string) []byte {
	b, _ := json.Marshal(word)
	return b
}

// readFile reads a file in the directory in which oxbow records trusted homes and written files. It returns nil if the
// file cannot be read.
func (l List) readFile(file string) []byte {
	if l.Dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(l.Dir, file))
	if err != nil {
		return nil
	}
	return b
}

// parseJSONLines returns the JSON values in the lines of a file. It ignores lines that cannot be parsed, and values for
// which key returns "".
func parseJSONLines[T any](file []byte, key func(v *T) string) (values []T) {
	for line := range bytes.Lines(file) {
		var v T
		if json.Unmarshal(line, &v) == nil && key(&v) != "" {
			values = append(values, v)
		}
	}
	return values
}

func parseHomes(file []byte) []Home {
	return parseJSONLines(file, func(h *Home) string { return h.Path })
}

// TrustHome records that the user trusts a home in its present state. The record contains the digests of the home's
// documents and of the settings file. The argument settingsPath is the path of the settings file, or "" if no settings
// file is trusted. TrustHome returns the recorded line.
func (l List) TrustHome(ctx context.Context, home, storePath, settingsPath string, now time.Time) (Home, error) {
	f, err := collectHomeFacts(home, storePath)
	if err != nil {
		return Home{}, err
	}
	h := f.newHomeRecord(now)
	h.SettingsDigest, err = fileDigest(settingsPath)
	if err != nil {
		return Home{}, err
	}
	for _, path := range f.gitTrackedNames {
		name := strings.ToLower(path)
		if !strings.HasSuffix(name, ".md") {
			top, _, _ := strings.Cut(name, "/")
			h.TrackedFiles = append(h.TrackedFiles, top)
			continue
		}
		if err := h.addDocument(home, path); err != nil {
			return Home{}, err
		}
	}
	for _, name := range f.namesProvingHome {
		if strings.HasSuffix(strings.ToLower(name), ".md") {
			if err := h.addDocument(home, name); err != nil {
				return Home{}, err
			}
		}
	}
	slices.Sort(h.TrackedFiles)
	h.TrackedFiles = slices.Compact(h.TrackedFiles)
	return h, l.replaceHomeRecord(ctx, h)
}

// addDocument records the digest of the document at path, relative to the directory home, in h.Documents. If the
// document does not exist, the digest is "". addDocument returns an error if the document cannot be read.
func (h *Home) addDocument(home, path string) error {
	path = filepath.FromSlash(path)
	is, err := fileDigest(filepath.Join(home, path))
	if h.Documents == nil {
		h.Documents = map[string]string{}
	}
	h.Documents[strings.ToLower(filepath.ToSlash(path))] = is
	return err
}

// newHomeRecord returns a record about the home for the trust list. The record contains the home's path, the link that
// leads to it, the fingerprint of its store, and the ID of its directory.
func (f *homeOwnershipFacts) newHomeRecord(now time.Time) Home {
	return Home{
		Path:        f.resolvedHomePath,
		LinkPath:    f.linkToHomePath,
		Fingerprint: f.homeFingerprint,
		ID:          f.id,
		RecordTime:  now.UTC(),
	}
}

// RecordHome records in the list that this machine created a home. If the list already contains the home and the user
// has not revoked the trust, the old record's origin and time are kept. The settings and documents that the user
// trusted also stay trusted.
func (l List) RecordHome(ctx context.Context, home, storePath string, now time.Time) error {
	f, err := collectHomeFacts(home, storePath)
	if err != nil {
		return err
	}
	h := f.newHomeRecord(now)
	h.IsCreatedHere = true
	if old, found := l.findHomeRecord(f); found && !old.Revoked {
		if old.matchesExactly(f) {
			return nil
		}
		h.IsCreatedHere, h.RecordTime = old.IsCreatedHere, old.RecordTime
		h.SettingsDigest = old.SettingsDigest
		h.Documents = old.Documents
		h.TrackedFiles = old.TrackedFiles
	}
	return l.replaceHomeRecord(ctx, h)
}

// replaceHomeRecord adds the record h to the trust list. It removes older records with the same path and the same link,
// where the link is a symbolic link that leads to the home. It also starts the list, unless the list was started
// before.
func (l List) replaceHomeRecord(ctx context.Context, h Home) error {
	if err := l.updateHomes(ctx, func(homes []Home) []Home {
		return append(withoutHome(homes, h.Path, h.LinkPath), h)
	}); err != nil {
		return err
	}
	l.StartHomeRecord()
	return nil
}

// RevokeHomeTrust revokes the trust in a home. wasRecorded reports whether the home was in the record.
func (l List) RevokeHomeTrust(ctx context.Context, home string) (wasRecorded bool, err error) {
	path := realPath(home)
	if l.Dir == "" || !slices.ContainsFunc(l.Homes(), func(h Home) bool { return h.Path == path }) {
		return false, nil
	}
	return true, l.updateHomes(ctx, func(homes []Home) []Home {
		for i := range homes {
			if homes[i].Path == path {
				homes[i] = Home{Path: path, LinkPath: homes[i].LinkPath, Revoked: true, RecordTime: homes[i].RecordTime}
			}
		}
		return homes
	})
}

func withoutHome(homes []Home, path, link string) []Home {
	return slices.DeleteFunc(homes, func(h Home) bool { return h.Path == path && h.LinkPath == link })
}

// TrustsSettings reports whether the user has trusted the settings file of a home in its present state.
func (l List) TrustsSettings(home, settings string) bool {
	digest, err := fileDigest(settings)
	return err == nil && digest != "" && slices.ContainsFunc(l.Homes(), func(h Home) bool {
		return h.Path == realPath(home) && h.SettingsDigest == digest
	})
}

// DocumentRefusalReason returns the reason why a document in a home of the user must not be used, or "" if the document
// may be used. A document that git tracks is refused if its text differs from the text that the user trusted, because a
// pull or a checkout may have changed the document. If git cannot list its tracked files, the document is used only if
// the user trusted its text, or if the home is in the list l.
func (l List) DocumentRefusalReason(home, name string) string {
	path := filepath.Join(home, filepath.FromSlash(name))
	names, err := git.ListTrackedFiles(path)
	if err == nil && len(names) == 0 {
		return ""
	}
	if l.VouchesForDocument(home, name) {
		return ""
	}
	if err != nil && slices.ContainsFunc(l.Homes(), func(h Home) bool { return h.Path == realPath(home) }) {
		// The user has recorded this home as their own. Therefore the document may be used, although git could not list
		// its tracked files.
		return ""
	}
	return "git tracks it, and you have not trusted it as it is now; read it, then say: oxbow trust"
}

// VouchesForDocument reports whether a document has not changed since the user trusted its home.
func (l List) VouchesForDocument(home, name string) bool {
	is, err := fileDigest(filepath.Join(home, filepath.FromSlash(name)))
	if err != nil || is == "" {
		return false
	}
	return slices.ContainsFunc(l.Homes(), func(h Home) bool {
		return h.Path == realPath(home) && h.Documents[strings.ToLower(name)] == is
	})
}

// fileDigest returns the SHA-256 digest of a file in hex, or "" if the file does not exist.
func fileDigest(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), err
}

// updateHomes replaces the recorded homes by those that fn returns.
func (l List) updateHomes(ctx context.Context, fn func([]Home) []Home) error {
	return l.replaceFile(
		ctx,
		homesFileName,
		func(old []byte) ([]byte, error) { return encodeJSONLines(fn(parseHomes(old))) },
	)
}

// replaceFile replaces the content of a record file by fn's result. It holds a lock, so that concurrent calls do not
// overwrite each other's changes.
func (l List) replaceFile(ctx context.Context, file string, fn func(old []byte) ([]byte, error)) (err error) {
	if l.Dir == "" {
		return errors.New(
			"recording what is trusted: neither a configuration directory nor the user's own directory is known",
		)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("recording what is trusted: %w", err)
		}
	}()
	ok, err := vfs.WithLock(ctx, l.Dir, trustLockFile, maxLockWait, func(dir *vfs.OS) error {
		b, err := os.ReadFile(filepath.Join(l.Dir, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		b, err = fn(b)
		if err != nil {
			return err
		}
		return vfs.WriteFile(dir, file, b, 0o600)
	})
	if err == nil && !ok {
		err = errors.New("another process changes it")
	}
	return err
}

// encodeJSONLines returns the values as lines of JSON.
func encodeJSONLines[T any](values []T) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	var errs []error
	for _, v := range values {
		errs = append(errs, enc.Encode(v))
	}
	return out.Bytes(), errors.Join(errs...)
}

// realPath returns a path without symbolic links. If the links cannot be resolved, it returns the cleaned path (see
// filepath.Clean).
func realPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return filepath.Clean(path)
}
