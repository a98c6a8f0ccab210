// This file finds a repository, and runs git in a way that does not execute anything that the
// repository specifies.

// Package git reads the history of a repository that may be hostile, with git's command line.
//
// A repository can specify commands that git executes: file system monitors, hooks, pagers, content converters and
// filters, external diffs, signature verifiers, and programs that fetch the missing objects of a partial clone. These
// commands are specified in .git/config and .gitattributes. Therefore even git blame, in a directory from an archive,
// executes commands of the archive's author. This package therefore
//
//   - reads only objects and commits, and never uses git commands that compare, convert or
//     list the working tree: callers read the working tree themselves;
//   - runs git on a new temporary directory for each run and gives it access only to the
//     objects of the repository: git does not read the repository's config, attributes,
//     hooks, references or working tree. (It is not enough to override single settings:
//     a repository's blame.ignoreRevsFile cannot be overridden, and the next version of
//     git has new settings.)
//   - overrides in addition each setting that specifies a command, allows no protocol, and
//     gives git an environment without the settings of the user and the system;
//   - accepts the names of objects only in full hex, and passes paths literally after "--";
//   - limits the time and the output of each run;
//   - does not read a repository that belongs to another user, like git itself.
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

// ErrNoRepository is returned by [FindRepo] if it finds no repository, or if git is not installed.
var ErrNoRepository error = noRepository{}

type noRepository struct{}

func (noRepository) Error() string { return "no git repository" }

// Advice returns a remedy for the caller, as a sentence without a period.
func (noRepository) Advice() string { return "call it inside a git repository" }

// ErrBareRepository is returned by [FindRepo] if the repository lacks a working tree, or if the directory is inside of
// a .git directory. It matches [ErrNoRepository].
var ErrBareRepository = fmt.Errorf("%w with a working tree", ErrNoRepository)

// ErrOtherOwner is returned by [FindRepo] if the repository belongs to another user.
var ErrOtherOwner = errors.New("git repository belongs to another user")

// ErrOutputTooLong is returned if git's output is longer than [Options.MaxOutputBytes].
var ErrOutputTooLong = errors.New("git says too much")

// Options limit the resources that git may use. Nil and zero fields mean the default.
type Options struct {
	ProgramPath    string        // path of git (by default, it is searched for in PATH)
	Timeout        time.Duration // time limit of one run; 5 s by default
	MaxOutputBytes int64         // maximum output of one run, in bytes; 64 MiB by default
}

// Repo is a repository with a working tree. It is safe for concurrent use.
type Repo struct {
	root       string // root directory of the working tree
	gitDir     string // the directory .git, or the directory that the file .git names
	commonDir  string // directory with the shared references: gitDir, or the main working tree's .git directory
	program    string
	opts       Options
	isSHA256   bool
	pinnedHead string // commit that is used as HEAD, or "" if HEAD is read from the repository
}

// FindRepo returns the repository whose working tree contains the directory dir. It searches dir and all its parents.
// If there is no such repository, the error matches [ErrNoRepository]. If the repository is bare, the error also
// matches [ErrBareRepository]. If the repository belongs to another user, the error matches [ErrOtherOwner].
func FindRepo(dir string, o *Options) (*Repo, error) {
	r := &Repo{}
	if o != nil {
		r.opts = *o
	}
	if r.opts.Timeout == 0 {
		r.opts.Timeout = 5 * time.Second
	}
	if r.opts.MaxOutputBytes == 0 {
		r.opts.MaxOutputBytes = 64 << 20
	}
	r.program = r.opts.ProgramPath
	if r.program == "" {
		p, err := exec.LookPath("git")
		if err != nil {
			return nil, fmt.Errorf("%w: %v", ErrNoRepository, err)
		}
		r.program = p
	}
	program, err := filepath.Abs(r.program)
	if err != nil {
		return nil, fmt.Errorf("finding git: %w", err)
	}
	r.program = program
	if err := r.locateDirs(dir); err != nil {
		return nil, err
	}
	for _, p := range []string{r.root, r.gitDir, r.commonDir} {
		if !IsOwnedByUser(p) {
			return nil, fmt.Errorf("%w: %s", ErrOtherOwner, p)
		}
	}
	r.isSHA256 = r.usesSHA256()
	return r, nil
}

func (r *Repo) locateDirs(dir string) error {
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
				r.gitDir = dot
			case fi.Mode().IsRegular():
				to, ok := readGitFile(dot)
				if !ok {
					return fmt.Errorf("%w: %s leads nowhere", ErrNoRepository, dot)
				}
				r.gitDir = to
			default: // Refuse a symbolic link. Git would follow it, but no repository needs such a link.
				return fmt.Errorf("%w: %s is neither a directory nor a file", ErrNoRepository, dot)
			}
			r.commonDir = r.gitDir
			if b, err := readSmallFile(filepath.Join(r.gitDir, "commondir")); err == nil {
				c := filepath.FromSlash(strings.TrimSpace(string(b)))
				if !filepath.IsAbs(c) {
					c = filepath.Join(r.gitDir, c)
				}
				r.commonDir = filepath.Clean(c)
			}
			if _, err := os.Stat(filepath.Join(r.gitDir, "HEAD")); err != nil {
				return fmt.Errorf("%w: %s has no HEAD", ErrNoRepository, r.gitDir)
			}
			return nil
		}
		if isBare(dir) {
			return fmt.Errorf("%w: %s is a repository by itself", ErrBareRepository, dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ErrNoRepository
		}
		dir = up
	}
}

// isBare reports whether git would use dir itself as a repository, without a subdirectory .git. Bare repositories have
// this form, and the directory .git of an ordinary repository has the same form.
func isBare(dir string) bool {
	for _, part := range []string{"objects", "refs"} {
		if fi, err := os.Stat(filepath.Join(dir, part)); err != nil || !fi.IsDir() {
			return false
		}
	}
	b, err := readSmallFile(filepath.Join(dir, "HEAD"))
	text := strings.TrimSpace(string(b))
	return err == nil && (IsHash(text) || strings.HasPrefix(text, "ref: refs/"))
}

// readGitFile reads the file .git at path, which a linked worktree or a submodule has instead of a directory .git. It
// returns the path of the git directory that the file names. The bool is true if the file could be read and the named
// directory exists.
func readGitFile(path string) (string, bool) {
	b, err := readSmallFile(path)
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

// readSmallFile returns the first 64 KiB of a regular file.
func readSmallFile(path string) ([]byte, error) { return readFileStart(path, 64<<10) }

// readFileStart returns at most the first maxBytes bytes of a regular file.
func readFileStart(path string, maxBytes int64) ([]byte, error) {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxBytes))
}

// Root returns the root of the working tree.
func (r *Repo) Root() string { return r.root }

// GitDir returns the .git directory of this working tree. Each linked worktree has a different .git directory.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir returns the directory that all working trees of the repository share. It contains config,
// objects and references.
func (r *Repo) CommonDir() string { return r.commonDir }

// SetConfig sets a key in the repository's own config file. git reads and writes only this file, and ignores all other
// config files and the files that the config includes.
func (r *Repo) SetConfig(ctx context.Context, key, value string) error {
	_, err := r.runGit(
		ctx,
		nil,
		"config",
		"--file",
		filepath.Join(r.commonDir, "config"),
		"--no-includes",
		"--replace-all",
		key,
		value,
	)
	return err
}

// IsSHA256 reports whether the repository names objects by SHA-256 and not by SHA-1.
func (r *Repo) IsSHA256() bool { return r.isSHA256 }

// usesSHA256 reports whether the repository's config file sets objectFormat to sha256. It searches for a line that
// contains only this setting, and does not check that the line is in the section "extensions". It does not find the
// setting on the line of a section's name, where git init never writes it. If the file cannot be read, usesSHA256
// returns false.
func (r *Repo) usesSHA256() bool {
	b, err := readSmallFile(filepath.Join(r.commonDir, "config"))
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

// safeSettings override each setting of a repository that specifies a command or a file, or that changes the output.
var safeSettings = []string{
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

// gitEnvironment returns git's complete environment. dir is used as the .git directory.
func (r *Repo) gitEnvironment(dir string) []string {
	env := []string{
		"GIT_DIR=" + dir,
		"GIT_WORK_TREE=" + dir,
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(r.commonDir, "objects"),
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

// makeTempGitDir creates a minimal .git directory for one run of git. It contains a copy of the file shallow, which
// lists the commits at which a shallow clone ends.
func (r *Repo) makeTempGitDir() (string, error) {
	dir, err := os.MkdirTemp("", "oxbow-git-")
	if err != nil {
		return "", err
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if r.isSHA256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
	}
	files := map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config}
	b, err := readFileStart(filepath.Join(r.commonDir, "shallow"), 16<<20)
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
		return "", errors.Join(err, vfs.RemoveTree(dir))
	}
	return dir, nil
}

// runGit runs git with the given arguments and standard input, and returns its output. Git runs in a temporary .git
// directory, so that it reads no settings of the repository. If git fails, runGit returns an error and the output
// before the failure. If the output is longer than r.opts.MaxOutputBytes, the error matches ErrOutputTooLong.
func (r *Repo) runGit(ctx context.Context, stdin []byte, args ...string) (output []byte, err error) {
	dir, err := r.makeTempGitDir()
	if err != nil {
		return nil, fmt.Errorf("running git %s: %w", args[0], err)
	}
	defer func() { err = errors.Join(err, vfs.RemoveTree(dir)) }()
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	all := []string{"--no-pager", "--no-optional-locks"}
	for _, s := range safeSettings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, r.program, append(all, args...)...)
	cmd.Dir = dir
	cmd.Env = r.gitEnvironment(dir)
	cmd.Stdin = bytes.NewReader(stdin)
	// End one second after git, because a process that git started may still keep the pipes open.
	cmd.WaitDelay = time.Second
	out := &limitedBuffer{maxBytes: r.opts.MaxOutputBytes, cancel: cancel}
	stderr := &limitedBuffer{maxBytes: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, stderr
	err = cmd.Run()
	switch {
	case out.hasOverflowed:
		return nil, fmt.Errorf(
			"running git %s: %w: more than %d bytes",
			args[0],
			ErrOutputTooLong,
			r.opts.MaxOutputBytes,
		)
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

// limitedBuffer stores at most maxBytes bytes. If more bytes are written, limitedBuffer discards them and calls
// cancel. It must not have a method ReadFrom, because io.Copy would call that method instead of Write.
type limitedBuffer struct {
	data          []byte
	maxBytes      int64
	hasOverflowed bool
	cancel        func()
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	n := len(p)
	if room := b.maxBytes - int64(len(b.data)); int64(n) > room {
		b.hasOverflowed = true
		if b.cancel != nil {
			b.cancel()
		}
		p = p[:room]
	}
	b.data = append(b.data, p...)
	return n, nil
}

// exitStatus returns the exit status of a git command that failed with err. It returns -1 if git did not run or was
// killed.
func exitStatus(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

// IsHash reports whether s is the full name of an object in lower-case hex: 40 digits for SHA-1, or 64 digits for
// SHA-256.
func IsHash(s string) bool {
	for i := range len(s) {
		if c := s[i]; !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')) {
			return false
		}
	}
	return len(s) == 40 || len(s) == 64
}

func checkHexHash(s string) error {
	if !IsHash(s) {
		return fmt.Errorf("%.80q is not the whole hex name of a git object", s)
	}
	return nil
}
