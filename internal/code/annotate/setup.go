// This file sets up how git merges sidecars. A sidecar is a file with the annotations of one source file.

package annotate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/vfs"
)

// attributeLine is a line of a git attributes file.
type attributeLine struct {
	File          string // slash-separated path relative to the root of the tree, or absolute path
	Line          string
	AlreadyExists bool // the file already contains the line, or a line with the same effect
}

// SetupResult is the result of [Store.SetUpGitMerge].
type SetupResult struct {
	// line for the tree's attributes file, which applies to every clone and selects git's union merge
	Attributes attributeLine

	// ConfigSettings and LocalAttributes make git in this clone merge sidecars with oxbow. ConfigSettings are settings
	// for the clone's config. LocalAttributes is a line for the clone's own attributes file, which overrides the
	// attributes of the tree.
	ConfigSettings  [][2]string // key and value of each setting
	LocalAttributes attributeLine

	WasIgnoredByGit bool // git ignored the annotations before the call
}

// unionMergeAttributes contains the attributes with which git merges sidecars without oxbow's help.
const unionMergeAttributes = "merge=union text eol=lf"

// mergeDriverName is the name by which git's config refers to the merge driver.
const mergeDriverName = "oxbow"

// maxAttributesBytes is the maximum size, in bytes, of an attributes file that the store reads.
const maxAttributesBytes = 4 << 20

// SetupOptions are the options of [Store.SetUpGitMerge].
type SetupOptions struct {
	// also make DriverCommand the merge driver of this clone, by settings in the repository's config
	InstallMergeDriver bool

	// DriverCommand is a shell command such as "oxbow annotate merge-driver". Git appends the names of the input
	// files.
	DriverCommand string

	DryRun bool // change nothing
}

// SetUpGitMerge makes private annotations visible to git, and adds a line to .gitattributes, so that git merges the
// sidecars of two branches. It does not add a line that already exists.
//
// Without a git repository, the error matches [oxbow.ErrUnsupported]. If the attributes specify a different merge
// driver, it matches [oxbow.ErrInvalid].
func (b *Store) SetUpGitMerge(ctx context.Context, o SetupOptions) (SetupResult, error) {
	if b.repo == nil {
		return SetupResult{}, fmt.Errorf("setting up git: %w: %w", oxbow.ErrUnsupported, git.ErrNoRepository)
	}
	pattern := b.sidecarDir + "/**/*" + sidecarSuffix
	s := SetupResult{
		Attributes: attributeLine{File: ".gitattributes", Line: pattern + " " + unionMergeAttributes},
		ConfigSettings: [][2]string{
			{"merge." + mergeDriverName + ".name", "annotations of code"},
			{
				"merge." + mergeDriverName + ".driver",
				o.DriverCommand + " %O %A %B %P || git merge-file --union %A %O %B",
			},
		},
		LocalAttributes: attributeLine{
			File: filepath.Join(b.repo.CommonDir(), "info", "attributes"),
			Line: pattern + " merge=" +
				mergeDriverName,
		},
	}
	// The sidecar directory may contain its own .gitattributes, which is created with the first annotation. If this
	// file has the attribute, no line is added to the .gitattributes of the worktree, because git prefers the file to
	// the attributes files of parent directories.
	own := attributeLine{File: path.Join(b.sidecarDir, ".gitattributes")}
	_, err := checkAttributes(b.worktree, own.File, "*", &own, "union")
	if own.AlreadyExists {
		s.Attributes = own
	} else if err == nil {
		err = appendAttributeLine(b.worktree, ".gitattributes", b.sidecarDir+"/", &s.Attributes, "union", o.DryRun)
	}
	s.WasIgnoredByGit = b.IsPrivate()
	if err == nil && !o.DryRun {
		err = b.MakePublic()
	}
	if err != nil {
		return s, fmt.Errorf("setting up git: %w", err)
	}
	common, err := vfs.Dir(b.repo.CommonDir())
	if err != nil {
		return s, fmt.Errorf("setting up git: %w", err)
	}
	defer common.Close()
	onlyCheck := o.DryRun || !o.InstallMergeDriver
	if err := appendAttributeLine(common, "info/attributes", b.sidecarDir+"/", &s.LocalAttributes, mergeDriverName,
		onlyCheck); err != nil {
		return s, fmt.Errorf("setting up git: %w", err)
	}
	if o.InstallMergeDriver && !o.DryRun {
		for _, kv := range s.ConfigSettings {
			if err := b.repo.SetConfig(ctx, kv[0], kv[1]); err != nil {
				return s, fmt.Errorf("setting up git: %w", err)
			}
		}
	}
	return s, nil
}

// checkAttributes reads an attributes file and returns its text. It sets l.AlreadyExists if the file already specifies
// this merge driver for sidecars, and fails if the file specifies another merge driver. It examines only patterns that
// begin with prefix.
func checkAttributes(fsys vfs.FS, name, prefix string, l *attributeLine, mergeDriver string) ([]byte, error) {
	old, err := vfs.ReadFile(fsys, name, maxAttributesBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	said := ""
	for line := range bytes.Lines(old) {
		f := strings.Fields(string(line))
		if len(f) < 2 || strings.HasPrefix(f[0], "#") {
			continue
		}
		if !strings.HasPrefix(strings.TrimPrefix(f[0], "/"), prefix) {
			continue
		}
		for _, a := range f[1:] {
			if m, ok := strings.CutPrefix(a, "merge="); ok {
				said = m // If several lines specify a merge driver, the last line counts, as in git.
			}
		}
	}
	switch {
	case said == mergeDriver || (said != "" && said == mergeDriverName):
		l.AlreadyExists = true
	case said != "":
		return nil, &oxbow.InvalidError{
			Field:  "attributes",
			Value:  l.File,
			Reason: fmt.Sprintf("has git merge annotations by %q; take that line out first", said),
		}
	}
	return old, nil
}

// appendAttributeLine appends the line to an attributes file, unless the file already contains it. If dryRun is set,
// it only checks the file.
func appendAttributeLine(fsys vfs.FS, name, prefix string, l *attributeLine, mergeDriver string, dryRun bool) error {
	old, err := checkAttributes(fsys, name, prefix, l, mergeDriver)
	if err != nil {
		return err
	}
	if l.AlreadyExists || dryRun {
		return nil
	}
	text := l.Line + "\n"
	if len(old) > 0 && old[len(old)-1] != '\n' {
		text = "\n" + text
	}
	if err := fsys.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	in, err := fsys.ReadDir(path.Dir(name))
	if err != nil {
		return err
	}
	for _, e := range in {
		// The file is a symbolic link. Git ignores it, and writing would replace the link.
		if e.Name() == path.Base(name) && !e.Type().IsRegular() {
			return &oxbow.InvalidError{Field: "attributes", Value: l.File, Reason: "is not a regular file"}
		}
	}
	perm := os.FileMode(0o644)
	if fi, err := fsys.Stat(name); err == nil {
		perm = fi.Mode().Perm()
	}
	return vfs.WriteFile(fsys, name, append(bytes.Clone(old), text...), perm)
}
