// This file finds secrets in the files that oxbow stores next to the memory.

package maintenance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
	"github.com/oxbow-memory/oxbow/vfs"
)

// maxScannedBytes is the maximum size, in bytes, of a file that is searched for secrets. A larger file is reported as
// not scanned.
const maxScannedBytes = 256 << 20

// scanFiles finds secrets in the home's profiles, skills and documents, in reports of hooks that are not in the archive
// yet, and in files that interrupted commands left. If the argument fix is true, it replaces the secrets in text files.
// For a file with a secret that an interrupted command left, it adds the command that deletes the file to
// o.RemainingSteps.
func (o *ScanOut) scanFiles(w *verb.Workspace, p verb.Place, fix bool) (err error) {
	home, err := vfs.Dir(p.Dir())
	if err != nil {
		return verb.WrapError("scanning the files of the home", err)
	}
	defer func() { err = errors.Join(err, home.Close()) }()
	texts, leftovers, err := filesToScan(p)
	if err != nil {
		return verb.WrapError("scanning the files of the home", err)
	}
	for _, name := range texts {
		if err := o.scanTextFile(w, home, p.Dir(), name, fix); err != nil {
			return verb.WrapError("scanning "+name, err)
		}
	}
	for _, name := range leftovers {
		found, err := o.scanFile(home, p.Dir(), name, "file")
		if err != nil {
			return verb.WrapError("scanning "+name, err)
		}
		if found != "" && fix {
			o.RemainingSteps = append(
				o.RemainingSteps,
				"rm "+text.ShellQuote(filepath.Join(p.Dir(), filepath.FromSlash(name))),
			)
		}
	}
	return nil
}

// filesToScan returns the files to scan, relative to the home. Secrets in replaceableFiles can be replaced.
// deletableFiles can only be deleted, because they are leftovers.
func filesToScan(p verb.Place) (replaceableFiles, deletableFiles []string, err error) {
	dir := p.Dir()
	relative := func(file string) string {
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return file
		}
		return filepath.ToSlash(name)
	}
	for _, store := range []string{p.StorePath, filepath.Join(dir, session.StoreFile)} {
		stale, err := listStaleFiles(store)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range stale {
			if name := relative(s.path); s.kind != leftoverUnsavedEditText {
				deletableFiles = append(deletableFiles, name)
			}
		}
	}
	walk := func(top string, list *[]string) error {
		return filepath.WalkDir(filepath.Join(dir, top), func(file string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && d.Type().IsRegular() {
				*list = append(*list, relative(file))
			}
			return err
		})
	}
	err = errors.Join(walk(session.SpoolDir, &deletableFiles), walk(UnsavedEditsDir, &replaceableFiles))
	for _, top := range slices.Concat(profiles.ProfileDirs(), profiles.SkillDirs()) {
		err = errors.Join(err, walk(top, &replaceableFiles))
	}
	here, readErr := os.ReadDir(dir)
	for _, e := range here {
		isSaved := strings.HasPrefix(e.Name(), transfer.BeforeLoadPrefix+"-") && strings.HasSuffix(e.Name(), ".jsonl")
		isText := isSaved || slices.Contains(profiles.DefaultDocuments(), e.Name())
		if isText && e.Type().IsRegular() {
			replaceableFiles = append(replaceableFiles, e.Name())
		}
	}
	return replaceableFiles, deletableFiles, errors.Join(err, readErr)
}

// scanTextFile finds secrets in a text file, and replaces them if fix is set.
func (o *ScanOut) scanTextFile(w *verb.Workspace, home vfs.FS, dir, name string, fix bool) error {
	part := "file"
	if slices.Contains(profiles.ProfileDirs(), path.Dir(name)) {
		part = "profile"
	}
	before := len(o.FoundSecrets)
	content, err := o.scanFile(home, dir, name, part)
	if err != nil {
		return err
	}
	if content == "" || !fix {
		return nil
	}
	fi, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	clean := w.Secrets.Cleaner.CleanText(content)
	err = vfs.ReplaceUnchanged(home, name, []byte(content), []byte(clean), fi.Mode().Perm())
	if errors.Is(err, vfs.ErrChanged) {
		err = fmt.Errorf("%w; run scan again", err)
	}
	if err != nil {
		return err
	}
	o.ReplacedSecretCount += len(o.FoundSecrets) - before
	return nil
}

// scanFile scans a file and records the secrets in it. It returns the content of a file with secrets, otherwise "".
func (o *ScanOut) scanFile(home vfs.FS, dir, name, textKind string) (content string, err error) {
	b, err := vfs.ReadFile(home, name, maxScannedBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if errors.Is(err, vfs.ErrTooLarge) {
		o.PlacesNotFixed = append(o.PlacesNotFixed, filepath.Join(dir, filepath.FromSlash(name)))
		return "", nil
	}
	if err != nil {
		return "", err
	}
	found := verb.FindTextSecrets(textKind, string(b))
	for _, f := range found {
		f.Name, f.IsInCurrentVersion = name, true
		if textKind == "profile" {
			f.Name = strings.TrimSuffix(path.Base(name), path.Ext(name))
		}
		o.FoundSecrets = append(o.FoundSecrets, f)
	}
	if found == nil {
		return "", nil
	}
	return string(b), nil
}
