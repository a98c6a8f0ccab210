// This file creates the directory for team files, and writes and removes the files of entries. It decides which files
// may be replaced.

package team

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/vfs"
)

// mergeDriverName is the name by which git's config refers to the merge driver.
const mergeDriverName = "oxbow-entry"

// gitAttributes is the text that assigns oxbow's merge driver to the team's files. It also prevents git from changing
// line ends, because team files are compared byte for byte with the reviewed files.
const gitAttributes = "*.md -text merge=" + mergeDriverName + "\n"

const (
	attributesFile = ".gitattributes"
	ignoreFile     = ".gitignore"
)

// Init creates the directory for team files, the settings file, and the attributes file that assigns the merge driver.
// It leaves them unchanged if they already exist. Init also changes the file .gitignore in .oxbow so that git does not
// ignore team files. If the git config of this clone does not name the merge driver yet, Init sets the driver to a
// shell command that runs the program whose path is in the argument command. Init returns the paths of the written
// files, relative to the working tree's root. If dryRun is set, Init changes nothing, and returns the paths of the
// files that it would write.
func (t *Tree) Init(ctx context.Context, command string, dryRun bool) (writtenPaths []string, err error) {
	defer func() { err = wrapError("setting up team files", err) }()
	exists, err := t.directoryExists()
	if err != nil {
		return nil, err
	}
	if !exists && !dryRun {
		if err := os.MkdirAll(t.path, 0o755); err != nil {
			return nil, err
		}
	}
	ignoreBefore, ignoreText := t.extendIgnoreFile()
	for name, text := range map[string]string{
		settingsFile:       formatSettings(teamSettings{}),
		attributesFile:     gitAttributes,
		"../" + ignoreFile: ignoreText,
	} {
		var oldText []byte
		if name == "../"+ignoreFile {
			oldText = ignoreBefore
		}
		file := filepath.Join(t.path, filepath.FromSlash(name))
		fi, err := os.Lstat(file)
		switch {
		case text == "" || (err == nil && name != "../"+ignoreFile):
			continue
		case err == nil && !fi.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a regular file", file)
		case !dryRun:
			if err := replaceFile(filepath.Dir(file), filepath.Base(file), oldText, text); err != nil {
				return nil, err
			}
		}
		writtenPaths = append(writtenPaths, t.RelPath(name))
	}
	slices.Sort(writtenPaths)
	if !dryRun {
		err = t.installMergeDriver(ctx, GitMergeCommand(command))
	}
	return writtenPaths, err
}

// installMergeDriver makes the argument command the merge driver of this clone, unless git's config already contains a
// merge driver for the team files. It returns an error if the config file is a link, because git would write to the
// target of the link.
func (t *Tree) installMergeDriver(ctx context.Context, command string) error {
	if t.HasMergeDriver() {
		return nil
	}
	if config := filepath.Join(t.repo.CommonDir(), "config"); !isRegular(config) {
		return fmt.Errorf("%s is not a regular file", config)
	}
	return errors.Join(t.repo.SetConfig(ctx, "merge."+mergeDriverName+".name", "team files of oxbow"),
		t.repo.SetConfig(ctx, "merge."+mergeDriverName+".driver", command))
}

// GitMergeCommand returns the shell command with which git merges two versions of a file. The command runs the program
// given by its path or name. If the program is missing or exits with an error status, for example because it cannot
// read a file, the command runs git merge-file, which merges by line.
func GitMergeCommand(program string) string {
	return program + " merge-entry %O %A %B %P || git merge-file -L ours -L base -L theirs %A %O %B"
}

// HasMergeDriver reports whether the git config of this clone names the merge driver.
func (t *Tree) HasMergeDriver() bool {
	return strings.Contains(t.repo.ConfigValue("merge", mergeDriverName, "driver"), " merge-entry %O %A %B")
}

// tempFileIgnoreLine is a line for .gitignore that makes git ignore temporary files.
const tempFileIgnoreLine = "team/*.tmp"

// extendIgnoreFile returns the present text of the file .gitignore in .oxbow, and the text that the file must get. The
// new text has additional lines, so that git ignores the temporary files of team files, but not the team files. If
// nothing has to be changed or .gitignore does not exist, the results are nil and "". It does not write the file.
func (t *Tree) extendIgnoreFile() (oldText []byte, text string) {
	text, err := readFile(filepath.Join(filepath.Dir(t.path), ignoreFile))
	lines := strings.Fields(text)
	if err != nil || slices.Contains(lines, tempFileIgnoreLine) {
		return nil, ""
	}
	oldText = []byte(text)
	text = strings.TrimRight(text, "\n") + "\n"
	ignoresAll := slices.Contains(lines, "*") || slices.Contains(lines, "/*")
	if ignoresAll && !slices.Contains(lines, "!team/**") {
		text += "!team/\n!team/**\n"
	}
	return oldText, text + tempFileIgnoreLine + "\n"
}

// WriteOptions are the options of [Tree.WriteEntry].
type WriteOptions struct {
	Random          io.Reader       // source of random bytes for new file names
	UserEntryHashes map[string]bool // hashes of the entries that oxbow has written for this user (see [EntryHash])
}

// WriteEntry writes the file of an entry, and returns the file's name. It replaces the file of the entry with the same
// name. If such a file does not exist, it creates a file, which is named after the entry, the creation time and random
// digits. isChanged is false if the file already had this text. If the file must not be replaced, the error is an
// [UncommittedEditError] (see [Tree.CheckFileReplacement]).
func (t *Tree) WriteEntry(
	ctx context.Context,
	s *Store,
	e oxbow.Entry,
	o WriteOptions,
) (file string, isChanged bool, err error) {
	defer func() { err = wrapError(fmt.Sprintf("writing the team file of %q", e.Name), err) }()
	if err := Check(e); err != nil {
		return "", false, fmt.Errorf("%w: it %w", oxbow.ErrInvalid, err)
	}
	if exists, err := t.directoryExists(); err != nil || !exists {
		return "", false, errors.Join(err, errorUnlessRegular(exists, fs.ErrNotExist))
	}
	text, newFile := FormatEntry(e), ""
	err = s.Edit(ctx, func(v mdtree.TreeView, _ time.Time) (edits []mdtree.Edit, err error) {
		if p, found := v.Find(e.Name); found {
			file, isChanged = p.Path, FormatEntry(p.Entry) != text
			if isChanged {
				err = t.CheckFileReplacement(ctx, file, o.UserEntryHashes)
			}
		} else {
			if newFile == "" {
				newFile, err = o.newFileName(&e)
			}
			file, isChanged = newFile, true
		}
		if err != nil || !isChanged {
			return nil, err
		}
		return []mdtree.Edit{{Path: file, Text: text}}, nil
	})
	if err != nil {
		return file, false, err
	}
	return file, isChanged, nil
}

// newFileName returns a file name for a new entry.
func (o *WriteOptions) newFileName(e *oxbow.Entry) (string, error) {
	var r [10]byte
	if _, err := io.ReadFull(o.Random, r[:]); err != nil {
		return "", err
	}
	return fileName(e.Name, e.Created, r), nil
}

// UncommittedEditError means that a team file was edited and not committed, so that replacing it would lose text. It
// matches [oxbow.ErrConflict].
type UncommittedEditError struct {
	File string // path of the file, relative to the working tree's root
}

func (e *UncommittedEditError) Error() string {
	return fmt.Sprintf("%s was edited and the edit is not committed, so git has no copy of it", e.File)
}

// Is reports whether target is [oxbow.ErrConflict].
func (e *UncommittedEditError) Is(target error) bool { return target == oxbow.ErrConflict }

// CheckFileReplacement returns an [UncommittedEditError] if the file contains text that exists nowhere else. The file
// may be replaced if it does not exist, or if the commit at HEAD contains the same text. The file may also be replaced
// if it contains nothing but one entry whose [EntryHash] is in userEntryHashes. In this case, the history of the user's
// home also contains the text.
func (t *Tree) CheckFileReplacement(ctx context.Context, file string, userEntryHashes map[string]bool) error {
	text, err := t.readTeamFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	e, _, err := parseEntry(text)
	isSaved := err == nil && userEntryHashes[EntryHash(e)] && containsNothingButEntry(text, &e)
	if isSaved {
		return nil
	}
	return t.checkFileCommitted(ctx, file, text)
}

// CheckFileRemoval returns an [UncommittedEditError] if the file p.Path contains other text than its entry, and the
// commit at HEAD does not contain the file's present text. Removing the file would lose this text. If the file contains
// only its entry, CheckFileRemoval returns nil, because the entry's text is stored elsewhere.
func (t *Tree) CheckFileRemoval(ctx context.Context, p mdtree.FileItem) error {
	text, err := t.readTeamFile(p.Path)
	if err != nil || containsNothingButEntry(text, &p.Entry) {
		return err
	}
	return t.checkFileCommitted(ctx, p.Path, text)
}

// containsNothingButEntry reports whether a file contains only its entry, in the present format or in the format of
// package mdtree, which earlier versions wrote. LF and CRLF count as equal, because git may have changed the line ends.
func containsNothingButEntry(text string, e *oxbow.Entry) bool {
	text = normalizeLineEnds(text)
	return text == normalizeLineEnds(FormatEntry(*e)) || text == normalizeLineEnds(mdtree.FormatEntry(*e))
}

func normalizeLineEnds(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// checkFileCommitted returns an [UncommittedEditError] if the commit at HEAD does not contain the text of the file.
func (t *Tree) checkFileCommitted(ctx context.Context, file, text string) error {
	head, err := t.repo.HeadCommit(ctx)
	if err != nil {
		return err
	}
	edited := &UncommittedEditError{File: t.RelPath(file)}
	if head == "" {
		return edited
	}
	blob, err := t.repo.BlobAt(ctx, head, t.RelPath(file))
	if err != nil {
		return err
	}
	for _, form := range []string{text, normalizeLineEnds(text)} {
		if blob == git.BlobName([]byte(form), t.repo.IsSHA256()) {
			return nil
		}
	}
	return edited
}

// RemoveEntry removes the file of an entry. The error matches [oxbow.ErrConflict] if the entry has changed since p was
// read, and [oxbow.ErrNotFound] if the file is missing or contains no entry.
func (t *Tree) RemoveEntry(ctx context.Context, s *Store, p mdtree.FileItem) (err error) {
	defer func() { err = wrapError("removing a team file", err) }()
	if exists, err := t.directoryExists(); err != nil || !exists {
		return errors.Join(err, errorUnlessRegular(exists, fs.ErrNotExist))
	}
	return s.Edit(ctx, func(v mdtree.TreeView, _ time.Time) ([]mdtree.Edit, error) {
		items := v.Items(p.Path)
		if len(items) == 0 {
			return nil, fmt.Errorf("%w: %s is not the file of an entry", oxbow.ErrNotFound, t.RelPath(p.Path))
		}
		if FormatEntry(items[0].Entry) != FormatEntry(p.Entry) {
			return nil, fmt.Errorf("%w: %s was changed meanwhile", oxbow.ErrConflict, t.RelPath(p.Path))
		}
		return []mdtree.Edit{{Path: p.Path, IsRemoval: true}}, nil
	})
}

// Check returns an error if the entry cannot be stored in a team file. This is the case if the entry is invalid or not
// a note, if its content or its file would be too large, or if its content contains conflict markers of git. Check also
// fails if reading the file would not yield the same entry.
func Check(e oxbow.Entry) error {
	if err := checkEntry(&e); err != nil {
		return err
	}
	if mdtree.HasConflictMarkers(e.Content) {
		return errors.New("has lines that git writes into a conflict (<<<<<<<, =======, >>>>>>>): indent them")
	}
	if n := len(e.Content); n > maxContentBytes {
		return fmt.Errorf("has a content of %d bytes; the most that a team file has is %d", n, maxContentBytes)
	}
	text := FormatEntry(e)
	if len(text) > maxFileBytes {
		return fmt.Errorf("makes a file of %d bytes; the most is %d", len(text), maxFileBytes)
	}
	again, _, err := parseEntry(text)
	isSame := again.Content == e.Content && again.Name == e.Name && slices.Equal(again.Aliases, e.Aliases) &&
		slices.Equal(again.Labels, oxbow.SortLabels(e.Labels))
	if err == nil && !isSame {
		err = errors.New("would not be read back as it is")
	}
	return err
}

// replaceFile atomically replaces the content of a file. It fails if the present content is not oldText. If oldText is
// nil, the file must not exist.
func replaceFile(dir, name string, oldText []byte, newText string) error {
	d, err := vfs.Dir(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return vfs.ReplaceUnchanged(d, name, oldText, []byte(newText), 0o644)
}

func isRegular(filePath string) bool {
	fi, err := os.Lstat(filePath)
	return err == nil && fi.Mode().IsRegular()
}

func wrapError(action string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", action, err)
	}
	return err
}

func errorUnlessRegular(isRegularFile bool, err error) error {
	if isRegularFile {
		return nil
	}
	return err
}
