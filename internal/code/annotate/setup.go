// Telling git how sidecars are merged.

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

// attributeLine is one line of git's settings, and where it stands or will stand.
type attributeLine struct {
	File  string // slash-separated, below the root of the tree, or absolute
	Line  string
	There bool // it, or one that does the same, was there already
}

// Setup is what [Store.Setup] did, or would do.
type Setup struct {
	Attributes attributeLine // of the tree: union merge, for every clone

	// What makes oxbow merge the sidecars of this clone: the settings of its
	// config, and a line of its own attributes, which overrule the attributes of the
	// tree. There is said of all when it was installed before.
	Config [][2]string // keys and values
	Local  attributeLine

	WasPrivate bool // git ignored the annotations
}

// unionMerge are the attributes that have git join sidecars by itself.
const unionMerge = "merge=union text eol=lf"

// driver names the merge driver in git's config.
const driver = "oxbow"

// maxAttributes bounds the files of attributes that are read.
const maxAttributes = 4 << 20

// Setup lets git see the annotations of the tree if they are private, and writes the line of
// .gitattributes that has git join the sidecars of two branches by itself. With install it also makes command the merge driver of
// this clone; command is what the shell runs, without the arguments of
// [Merge]'s inputs, such as "oxbow annotate merge-driver". Nothing else of the
// repository's config is changed, and without install, nothing of it. A dry run
// changes nothing. What is there already is not written again.
//
// Errors match [oxbow.ErrUnsupported] where there is no git repository, and
// [oxbow.ErrInvalid] when the attributes say otherwise already.
func (b *Store) Setup(ctx context.Context, command string, install, dryRun bool) (Setup, error) {
	if b.repo == nil {
		return Setup{}, fmt.Errorf("setting up git: %w: %w", oxbow.ErrUnsupported, git.ErrNone)
	}
	pattern := b.dir + "/**/*" + suffix
	s := Setup{
		Attributes: attributeLine{File: ".gitattributes", Line: pattern + " " + unionMerge},
		Config: [][2]string{
			{"merge." + driver + ".name", "annotations of code"},
			{"merge." + driver + ".driver", command + " %O %A %B %P || git merge-file --union %A %O %B"},
		},
		Local: attributeLine{File: filepath.Join(b.repo.Common(), "info", "attributes"), Line: pattern + " merge=" + driver},
	}
	// The first annotation has written this file; git reads it before those above.
	own := attributeLine{File: path.Join(b.dir, ".gitattributes")}
	err := setAttributes(b.work, own.File, "*", &own, "union", true)
	if own.There {
		s.Attributes = own
	} else if err == nil {
		err = setAttributes(b.work, ".gitattributes", b.dir+"/", &s.Attributes, "union", dryRun)
	}
	s.WasPrivate = b.IsPrivate()
	if err == nil && !dryRun {
		err = b.Share()
	}
	if err != nil {
		return s, fmt.Errorf("setting up git: %w", err)
	}
	common, err := vfs.Dir(b.repo.Common())
	if err != nil {
		return s, fmt.Errorf("setting up git: %w", err)
	}
	defer common.Close()
	if err := setAttributes(common, "info/attributes", b.dir+"/", &s.Local, driver, dryRun || !install); err != nil {
		return s, fmt.Errorf("setting up git: %w", err)
	}
	if install && !dryRun {
		for _, kv := range s.Config {
			if err := b.repo.SetConfig(ctx, kv[0], kv[1]); err != nil {
				return s, fmt.Errorf("setting up git: %w", err)
			}
		}
	}
	return s, nil
}

// setAttributes adds the line to a file of attributes, at its end, unless one
// is there that has git merge the sidecars so. The patterns that count begin with
// prefix.
func setAttributes(fsys vfs.FS, name, prefix string, l *attributeLine, merge string, dryRun bool) error {
	old, err := vfs.ReadFile(fsys, name, maxAttributes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	said := ""
	for line := range bytes.Lines(old) {
		f := strings.Fields(string(line))
		if len(f) < 2 || strings.HasPrefix(f[0], "#") || !strings.HasPrefix(strings.TrimPrefix(f[0], "/"), prefix) {
			continue
		}
		for _, a := range f[1:] {
			if m, ok := strings.CutPrefix(a, "merge="); ok {
				said = m // the last one counts
			}
		}
	}
	switch {
	case said == merge || (said != "" && said == driver):
		l.There = true
		return nil
	case said != "":
		return &oxbow.InvalidError{Field: "attributes", Value: l.File, Reason: fmt.Sprintf("has git merge annotations by %q; take that line out first", said)}
	case dryRun:
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
		// git does not follow such a link, and writing would replace it.
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
