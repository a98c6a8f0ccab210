// This file opens the annotations of a working tree for commands.

package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// openAnnotationsOfFile opens the annotations of the repository that contains a file. The argument fileArg has the form
// FILE, FILE:A or FILE:A-B, in which A and B are line numbers. The repository of the file may differ from the
// repository of the working directory, for example if the file is in a submodule.
//
// If the directory of the file belongs to no repository and has no annotations, or if its annotations cannot be opened,
// openAnnotationsOfFile opens the annotations of the working directory. The caller must close the result.
func (finder *homeFinder) openAnnotationsOfFile(ctx context.Context, fileArg string) (*annotate.Store, error) {
	wd, err := finder.env.absolutePath(".")
	if err != nil {
		return nil, err
	}
	if m := lineRangePattern().FindStringSubmatch(fileArg); m != nil {
		fileArg = m[1]
	}
	if !filepath.IsAbs(fileArg) {
		fileArg = filepath.Join(wd, fileArg)
	}
	dir := filepath.Dir(fileArg)
	if at, err := filepath.EvalSymlinks(dir); err == nil && at != wd {
		b, err := finder.openAnnotationsIn(ctx, at)
		if err == nil && b.HasRepoOrAnnotations() {
			return b, nil
		}
		if err == nil {
			if err := b.Close(); err != nil {
				return nil, err
			}
		}
	}
	return finder.openWorkingDirAnnotations(ctx)
}

// codeLocation is a parsed FILE[:A[-B]]. It contains the file's name in the form that annotations store, and the
// lines. The lines are zero if the argument contains none.
type codeLocation struct {
	file string
	span annotate.LineSpan
}

// runVerbOnFile calls a verb with the annotations of the repository that contains a file. The argument arg names the
// file, and may also name lines. The function makeInput returns the verb's input for this file and these lines, or an
// error if the verb cannot be used for them.
func runVerbOnFile[In, Out any](
	ctx context.Context,
	mem *lazyMemory,
	arg string,
	verbCall verbFunc[In, Out],
	makeInput func(codeLocation) (In, error),
) (out Out, err error) {
	b, err := mem.finder.openAnnotationsOfFile(ctx, arg)
	if err != nil {
		return out, addFileHint(err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	at, err := mem.env.parseCodeLocation(b, arg)
	if err != nil {
		return out, addFileHint(err)
	}
	in, err := makeInput(at)
	if err != nil {
		return out, err
	}
	if err := checkInputTexts(verb.StructParams[In](), &in); err != nil {
		return out, err
	}
	src, err := mem.sourceOfChanges()
	if err != nil {
		return out, err
	}
	bound, err := mem.boundProfile()
	if err != nil {
		return out, err
	}
	if bound != nil {
		src.Profile = bound.Name
	}
	w := &verb.Workspace{
		Knowledge:   mem.loadProvenanceData,
		Now:         mem.env.Now,
		Source:      src,
		Secrets:     mem.secretScreening().SecretPolicy(),
		Annotations: func(context.Context) (verb.WorkingTree, error) { return b, nil },
		Sessions:    mem.archiveOpenerAfterSpoolDrain(),
	}
	out, err = verbCall(ctx, w, in)
	again, err := mem.confirmStoringSecret(err)
	if again {
		out, err = verbCall(ctx, w, in)
	}
	return out, addFileHint(asUsageError(err))
}

// addFileHint adds a hint to an error about a file that cannot be read. The hint says what to do instead. It returns
// any other error unchanged.
func addFileHint(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, git.ErrBareRepository):
		return &hintedError{err, "lines are annotated where there are files: run it in a clone with a working tree"}
	case errors.Is(err, fs.ErrNotExist):
		return &hintedError{
			err,
			"FILE is taken from the working directory; oxbow why --search WORDS looks through all annotations, and " +
				"oxbow log NAME says who changed an entry of the memory",
		}
	case strings.Contains(err.Error(), "not a regular file"):
		return &hintedError{err, "name one file of it; oxbow why --search WORDS looks through all annotations"}
	// Compare the text, because package os exports no error for this case.
	case strings.Contains(err.Error(), "path escapes from parent"):
		return &hintedError{err, "a link on the way leads out of the working tree; name the file itself"}
	}
	return err
}

var lineRangePattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`^(.+?):([0-9]+)(?:-([0-9]+))?$`) },
)

// parseCodeLocation parses an argument of the form FILE, FILE:A or FILE:A-B, in which A and B are line numbers. FILE is
// an absolute path, or relative to the working directory. The working tree of the store b must contain it. If a file
// has the whole argument as its name, such as "a:12", the argument is read as a name without line numbers.
func (env *environment) parseCodeLocation(b *annotate.Store, arg string) (codeLocation, error) {
	if err := verb.CheckText("FILE", arg); err != nil {
		return codeLocation{}, asUsageError(err)
	}
	wd, err := env.absolutePath(".")
	if err != nil {
		return codeLocation{}, err
	}
	// A file's name may itself end like a line range, so look for the whole argument first.
	if file, err := b.ToTreePath(wd, arg); err == nil && b.HasFile(file) {
		return codeLocation{file: file}, nil
	}
	var s annotate.LineSpan
	name := arg
	if m := lineRangePattern().FindStringSubmatch(arg); m != nil {
		first, err := strconv.Atoi(m[2])
		last := first
		if err == nil && m[3] != "" {
			last, err = strconv.Atoi(m[3])
		}
		name, s = m[1], annotate.LineSpan{First: first, Last: last}
		if err != nil || s.Len() == 0 {
			return codeLocation{}, usageErrorf(
				"write FILE:42 or FILE:42-60; lines count from 1",
				"%q names no lines",
				arg,
			)
		}
	}
	file, err := b.ToTreePath(wd, name)
	return codeLocation{file, s}, asUsageError(err)
}
