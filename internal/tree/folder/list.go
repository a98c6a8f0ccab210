// This file reads and writes the list of registered folders.

package folder

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/vfs"
)

// LabelFolder is the key of the label that specifies an entry's folder.
const LabelFolder = "folder"

const (
	listFileName      = "memory.oxbow.folders"
	stateFilePrefix   = "memory.oxbow.folder."
	folderListVersion = 1
	// maximum size, in bytes, of the file that lists the note directories which a memory follows
	maxFolderListBytes = 1 << 20
)

// A Folder is a directory of notes that a memory follows.
type Folder struct {
	Name        string    `json:"name"`
	Path        string    `json:"path"`            // absolute path of the directory
	WritesFiles bool      `json:"write,omitempty"` // changes of entries in the memory are also written to the files
	AddedTime   time.Time `json:"added"`
}

// folderList is the content of the file that lists a home's folders.
type folderList struct {
	Version int      `json:"version"`
	Folders []Folder `json:"folders"`
}

// HasFolders reports whether a home has a list of folders. It is fast, because the list is not read.
func HasFolders(home string) bool {
	_, err := os.Lstat(filepath.Join(home, listFileName))
	return err == nil
}

// ListFolders returns the folders that are registered in a home.
func ListFolders(home string) ([]Folder, error) {
	if !HasFolders(home) {
		return nil, nil
	}
	fsys, err := vfs.Dir(home)
	if err != nil {
		return nil, err
	}
	defer fsys.Close()
	b, err := vfs.ReadFile(fsys, listFileName, maxFolderListBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var l folderList
	if err == nil {
		err = json.Unmarshal(b, &l)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of folders %s: %w", filepath.Join(home, listFileName), err)
	}
	if l.Version != folderListVersion {
		return nil, fmt.Errorf("the list of folders %s has version %d, and %d is known: %w",
			filepath.Join(home, listFileName), l.Version, folderListVersion, oxbow.ErrVersion)
	}
	for _, f := range l.Folders {
		if !isSafeFolderName(f.Name) || !filepath.IsAbs(f.Path) {
			return nil, fmt.Errorf(
				"the list of folders %s names %q in %q: %w",
				filepath.Join(
					home,
					listFileName,
				),
				text.TruncateWithEllipsis(f.Name, 60),
				text.TruncateWithEllipsis(f.Path, 60),
				oxbow.ErrInvalid,
			)
		}
	}
	return l.Folders, nil
}

// SaveFolders writes the list of folders into a home. If the list is empty, SaveFolders deletes the file.
func SaveFolders(home string, folders []Folder) error {
	if len(folders) == 0 {
		err := os.Remove(filepath.Join(home, listFileName))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	b, err := json.MarshalIndent(folderList{folderListVersion, folders}, "", "\t")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	fsys, err := vfs.Dir(home)
	if err != nil {
		return err
	}
	defer fsys.Close()
	return vfs.WriteFile(fsys, listFileName, append(b, '\n'), 0o600)
}

// FindFolder returns the index of the folder with this name or path, or -1 if no such folder exists.
func FindFolder(folders []Folder, nameOrPath string) int {
	return slices.IndexFunc(folders, func(f Folder) bool { return f.Name == nameOrPath || f.Path == nameOrPath })
}

// ChooseName returns a new name for the folder at the path. No other folder has this name. If possible, it is the name
// of the directory.
func ChooseName(folders []Folder, path string) string {
	base := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\\/:\"'", r) {
			return '-'
		}
		return r
	}, filepath.Base(path))
	if !isSafeFolderName(base) {
		base = "notes"
	}
	name := base
	for n := 2; FindFolder(folders, name) >= 0; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return name
}

// CheckName returns an error if the name is not valid for a folder.
func CheckName(name string) error {
	if !isSafeFolderName(name) {
		return fmt.Errorf("%w: %q cannot name a folder: use letters, digits, - and _", oxbow.ErrInvalid,
			text.TruncateWithEllipsis(name, 60))
	}
	return nil
}

// isSafeFolderName reports whether a name can safely be used as a label's value and as a part of a file name.
func isSafeFolderName(name string) bool {
	return name != "" && len(name) <= 100 && !strings.ContainsAny(name, " \t\n\\/:*?<>|\"'") && name[0] != '.' &&
		(oxbow.Label{Key: LabelFolder, Value: name}).Check() == nil
}
