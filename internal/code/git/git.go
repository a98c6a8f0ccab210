// Finding a repository, and running git in it so that nothing the repository says
// is run.

// Package git reads the history of a repository that may be hostile, by git's
// command line.
//
// A repository can name commands that git runs by itself: file system monitors,
// hooks, pagers, converters and filters of contents, external diffs, verifiers
// of signatures, and programs that fetch objects which a partial clone lacks.
// They stand in its .git/config and .gitattributes, so that even git blame in a
// directory from an archive runs what its maker wants. This package therefore
//
//   - asks only for objects and commits, never for what compares, converts or
//     lists the working tree: callers read that themselves;
//   - runs git on a directory of its own making, for each run a new one, and
//     lends it the objects of the repository and nothing else: neither its
//     config nor its attributes, hooks, references or working tree are read.
//     (To override settings one by one is not enough: blame.ignoreRevsFile of
//     a repository cannot be taken back, and the next git has new ones.)
//   - overrides all the same each setting that names a command, allows no
//     protocol, and gives git an environment without the user's and the
//     system's settings;
//   - takes the names of objects in full hex only, and paths after "--", taken
//     literally;
//   - bounds the time and the output of each run;
//   - does not read a repository that belongs to another user, as git itself
//     does not unless it is told where the repository is.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// ErrNone is returned by [Find] when there is no repository, or no git.
var ErrNone = errors.New("no git repository")

// ErrBare is returned by [Find], and matches [ErrNone], inside of a repository
// without a working tree, or of git's own directory.
var ErrBare = fmt.Errorf("%w with a working tree", ErrNone)

// ErrOwner is returned by [Find] when the repository belongs to another user.
var ErrOwner = errors.New("git repository belongs to another user")

// ErrTooMuch is returned when git says more than the bound.
var ErrTooMuch = errors.New("git says too much")

// Options bound what git may cost. Nil and zero fields mean the default.
type Options struct {
	Program string        // path of git; by default, that found in PATH
	Timeout time.Duration // of one run; 5 s by default
	Output  int64         // most bytes that one run may say; 64 MiB by default
}

// Repo is a repository with a working tree. It is safe for concurrent use.
type Repo struct {
	root    string // of the working tree
	dir     string // .git, or what the file .git leads to
	common  string // where refs are: dir, or that of the main working tree
	program string
	opts    Options
	sha256  bool
	pinned  string // stands for HEAD; "" for that of the repository
}

// Find returns the repository that holds the directory, which it or one above
// it is the root of. Errors match [ErrNone], of which [ErrBare] is one, or
// [ErrOwner].
func Find(dir string, o *Options) (*Repo, error) {
	r := &Repo{}
	if o != nil {
		r.opts = *o
	}
	if r.opts.Timeout == 0 {
		r.opts.Timeout = 5 * time.Second
	}
	if r.opts.Output == 0 {
		r.opts.Output = 64 << 20
	}
	r.program = r.opts.Program
	if r.program == "" {
		p, err := exec.LookPath("git")
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrNone, err)
		}
		r.program = p
	}
	program, err := filepath.Abs(r.program)
	if err != nil {
		return nil, fmt.Errorf("finding git: %w", err)
	}
	r.program = program
	if err := r.find(dir); err != nil {
		return nil, err
	}
	for _, p := range []string{r.root, r.dir, r.common} {
		if !Ours(p) {
			return nil, fmt.Errorf("%w: %s", ErrOwner, p)
		}
	}
	r.sha256 = r.usesSHA256()
	return r, nil
}

func (r *Repo) find(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("finding a git repository: %w", err)
	}
	for {
		dot := filepath.Join(dir, ".git")
		if fi, err := os.Lstat(dot); err == nil {
			r.root = dir
			switch {
			case fi.IsDir():
				r.dir = dot
			case fi.Mode().IsRegular():
				to, ok := gitFile(dot)
				if !ok {
					return fmt.Errorf("%w: %s leads nowhere", ErrNone, dot)
				}
				r.dir = to
			default: // a link: git would follow it, but none is needed
				return fmt.Errorf("%w: %s is neither a directory nor a file", ErrNone, dot)
			}
			r.common = r.dir
			if b, err := readSmall(filepath.Join(r.dir, "commondir")); err == nil {
				c := filepath.FromSlash(strings.TrimSpace(string(b)))
				if !filepath.IsAbs(c) {
					c = filepath.Join(r.dir, c)
				}
				r.common = filepath.Clean(c)
			}
			if _, err := os.Stat(filepath.Join(r.dir, "HEAD")); err != nil {
				return fmt.Errorf("%w: %s has no HEAD", ErrNone, r.dir)
			}
			return nil
		}
		if isBare(dir) {
			return fmt.Errorf("%w: %s is a repository by itself", ErrBare, dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ErrNone
		}
		dir = up
	}
}

// isBare reports whether the directory holds what git takes for a repository.
func isBare(dir string) bool {
	for _, part := range []string{"objects", "refs"} {
		if fi, err := os.Stat(filepath.Join(dir, part)); err != nil || !fi.IsDir() {
			return false
		}
	}
	b, err := readSmall(filepath.Join(dir, "HEAD"))
	text := strings.TrimSpace(string(b))
	return err == nil && (IsHash(text) || strings.HasPrefix(text, "ref: refs/"))
}

// gitFile reads a file .git, as worktrees and submodules have it.
func gitFile(path string) (string, bool) {
	b, err := readSmall(path)
	if err != nil {
		return "", false
	}
	to, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), "gitdir: ")
	if !ok || to == "" {
		return "", false
	}
	to = filepath.FromSlash(to)
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(path), to)
	}
	fi, err := os.Stat(to)
	return filepath.Clean(to), err == nil && fi.IsDir()
}

// readSmall returns the first 64 KiB of a regular file.
func readSmall(path string) ([]byte, error) { return readBounded(path, 64<<10) }

// readBounded returns the first bytes of a regular file.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// Root returns the root of the working tree.
func (r *Repo) Root() string { return r.root }

// Dir returns the repository's own directory.
func (r *Repo) Dir() string { return r.dir }

// Common returns the directory of what all working trees of the repository
// share: its config, objects and references.
func (r *Repo) Common() string { return r.common }

// SetConfig sets a key of the repository's own config, which git writes
// without reading any.
func (r *Repo) SetConfig(ctx context.Context, key, value string) error {
	_, err := r.run(ctx, nil, "config", "--file", filepath.Join(r.common, "config"), "--no-includes", "--replace-all", key, value)
	return err
}

// SHA256 reports whether objects are named by SHA-256.
func (r *Repo) SHA256() bool { return r.sha256 }

// usesSHA256 looks for extensions.objectFormat. It stands in the config of the
// repository itself, one setting a line, as git init writes it.
func (r *Repo) usesSHA256() bool {
	b, err := readSmall(filepath.Join(r.common, "config"))
	if err != nil {
		return false
	}
	for l := range strings.Lines(string(b)) {
		k, v, _ := strings.Cut(strings.ToLower(strings.TrimSpace(l)), "=")
		if strings.TrimSpace(k) == "objectformat" {
			return strings.TrimSpace(v) == "sha256"
		}
	}
	return false
}

// settings override what a repository could say: each that names a command or
// a file, and those that change what is printed.
var settings = []string{
	"core.fsmonitor=false",
	"core.hooksPath=" + os.DevNull,
	"core.attributesFile=" + os.DevNull,
	"core.excludesFile=" + os.DevNull,
	"core.pager=",
	"core.editor=false",
	"core.askPass=false",
	"core.sshCommand=false",
	"core.gitProxy=false",
	"core.alternateRefsCommand=false",
	"core.untrackedCache=false",
	"core.quotePath=false",
	"core.warnAmbiguousRefs=false",
	"credential.helper=",
	"protocol.allow=never",
	"fetch.recurseSubmodules=false",
	"diff.external=",
	"diff.orderFile=" + os.DevNull,
	"diff.renameLimit=1000",
	"diff.noprefix=false",
	"diff.ignoreSubmodules=all",
	"log.showSignature=false",
	"log.showRoot=true",
	"log.follow=false",
	"log.diffMerges=first-parent",
	"gpg.program=false",
	"gpg.ssh.program=false",
	"gpg.x509.program=false",
	"mailmap.file=",
	"mailmap.blob=",
	"blame.ignoreRevsFile=",
	"blame.showEmail=false",
	"blame.showRoot=true",
	"blame.blankBoundary=false",
	"color.ui=false",
	"gc.auto=0",
	"maintenance.auto=false",
}

// environment is all that git gets to know of the world: dir is the directory
// that stands in for .git.
func (r *Repo) environment(dir string) []string {
	env := []string{
		"GIT_DIR=" + dir,
		"GIT_WORK_TREE=" + dir,
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(r.common, "objects"),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_ALLOW_PROTOCOL=",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_PAGER=cat",
		"GIT_EDITOR=false",
		"GIT_ASKPASS=false",
		"LC_ALL=C",
		"HOME=" + os.DevNull,
	}
	if runtime.GOOS == "windows" {
		for _, k := range []string{"SystemRoot", "TEMP", "TMP"} {
			env = append(env, k+"="+os.Getenv(k))
		}
	}
	return env
}

// makeGitDir makes the directory that git takes for .git: as little as makes one.
// The list of commits at which a shallow clone ends is a copy.
func (r *Repo) makeGitDir() (string, error) {
	dir, err := os.MkdirTemp("", "oxbow-git-")
	if err != nil {
		return "", err
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if r.sha256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
	}
	files := map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config}
	b, err := readBounded(filepath.Join(r.common, "shallow"), 16<<20)
	if err == nil {
		files["shallow"] = string(b)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "refs"), 0o700)
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// run runs git and returns what it says. When git fails, it returns what git said
// before.
func (r *Repo) run(ctx context.Context, stdin []byte, args ...string) (said []byte, err error) {
	dir, err := r.makeGitDir()
	if err != nil {
		return nil, fmt.Errorf("running git %s: %w", args[0], err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	all := []string{"--no-pager", "--no-optional-locks"}
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, r.program, append(all, args...)...)
	cmd.Dir = dir
	cmd.Env = r.environment(dir)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.WaitDelay = time.Second // for pipes that a grandchild keeps open
	out := &limitedBuffer{most: r.opts.Output, stop: cancel}
	stderr := &limitedBuffer{most: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, stderr
	err = cmd.Run()
	switch {
	case out.over:
		return nil, fmt.Errorf("running git %s: %w: more than %d bytes", args[0], ErrTooMuch, r.opts.Output)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("running git %s: %w", args[0], context.DeadlineExceeded)
	case err != nil:
		if text := strings.TrimSpace(string(stderr.data)); text != "" {
			err = fmt.Errorf("%w: %.300q", err, text)
		}
		return out.data, fmt.Errorf("running git %s: %w", args[0], err)
	}
	return out.data, nil
}

// limitedBuffer takes at most so many bytes. What is beyond is thrown away, after
// calling stop. It has no ReadFrom on purpose: that would pass by Write.
type limitedBuffer struct {
	data []byte
	most int64
	over bool
	stop func()
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := len(p)
	if room := b.most - int64(len(b.data)); int64(n) > room {
		b.over = true
		if b.stop != nil {
			b.stop()
		}
		p = p[:room]
	}
	b.data = append(b.data, p...)
	return n, nil
}

// exitStatus returns the status that git ended with, and -1 when it did not.
func exitStatus(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

// IsHash reports whether s is the whole name of an object: 40 hex digits of SHA-1 or
// 64 of SHA-256.
func IsHash(s string) bool {
	for i := range len(s) {
		if c := s[i]; !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
			return false
		}
	}
	return len(s) == 40 || len(s) == 64
}

func checkHex(s string) error {
	if !IsHash(s) {
		return fmt.Errorf("%.80q is not the whole hex name of a git object", s)
	}
	return nil
}
