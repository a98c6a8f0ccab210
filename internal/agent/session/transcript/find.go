// This file finds the transcripts of clients.

package transcript

import (
	"cmp"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// FoundTranscript is a transcript that was found on this machine.
type FoundTranscript struct {
	Client  string
	Path    string
	Size    int64
	ModTime time.Time // time at which the file was last changed
}

// transcriptDirs yields the places where clients store transcripts, each with the client's name.
func transcriptDirs() iter.Seq2[string, clientfile.TranscriptDir] {
	return func(yield func(string, clientfile.TranscriptDir) bool) {
		for _, c := range clientfile.EventClients {
			for _, p := range c.Transcripts {
				if !yield(c.Name, p) {
					return
				}
			}
		}
	}
}

// ClientNames returns the names of the clients whose transcripts [FindTranscripts] can find.
func ClientNames() []string {
	var names []string
	for client := range transcriptDirs() {
		names = append(names, client)
	}
	return slices.Compact(names)
}

// FindTranscripts returns the transcripts of the given clients, oldest first. Without clients, it returns none.
// [ClientNames] returns the possible clients. The argument home is the user's home directory. A directory or a file
// that cannot be read is also returned, so that the caller gets the error when it reads this transcript.
func FindTranscripts(home string, getenv func(string) string, clients ...string) []FoundTranscript {
	var all []FoundTranscript
	for client, p := range transcriptDirs() {
		if !slices.Contains(clients, client) {
			continue
		}
		for _, dir := range clientfile.SessionRoots(client, home, getenv) {
			all = append(all, findTranscriptsBelow(client, p, filepath.Join(dir, p.RelativeDir))...)
		}
	}
	all = removeCopies(all)
	slices.SortStableFunc(all, func(a, b FoundTranscript) int { return a.ModTime.Compare(b.ModTime) })
	return all
}

// findTranscriptsBelow returns the client's transcripts in the directory dir and its subdirectories: the files that
// p.IsTranscript accepts. It follows symbolic links. If dir does not exist, it returns nil. Directories and files that
// cannot be read are also returned, so that the caller gets the error when it reads them.
//
// If dir is a regular file and p.RelativeDir is "", the file is a database, which an environment variable may name. The
// sessions in this database are returned.
func findTranscriptsBelow(client string, p clientfile.TranscriptDir, dir string) []FoundTranscript {
	f := transcriptFinder{client: client, transcriptDir: p, walkedDirs: map[string]bool{}}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
	case err == nil && info.Mode().IsRegular() && p.RelativeDir == "":
		f.addSessions(dir, info)
	default:
		f.walkPath(dir, info, err)
	}
	return f.transcripts
}

// transcriptFinder collects the transcripts in one of the directories or files in which a client stores transcripts.
type transcriptFinder struct {
	client        string
	transcriptDir clientfile.TranscriptDir
	walkedDirs    map[string]bool // real paths of the searched directories, because symbolic links may form a circle
	transcripts   []FoundTranscript
}

// walkPath adds the transcript at path, or all transcripts in the directory at path. info and err are the results of
// [os.Stat] for the path.
func (f *transcriptFinder) walkPath(path string, info fs.FileInfo, err error) {
	if err != nil {
		f.addUnreadableFile(path)
		return
	}
	if info.IsDir() {
		f.walkDirectory(path)
		return
	}
	if info.Mode().IsRegular() && f.transcriptDir.IsTranscript(filepath.ToSlash(path)) {
		f.addSessions(path, info)
	}
}

// addSessions adds the sessions in a file, which may be a database.
func (f *transcriptFinder) addSessions(path string, info fs.FileInfo) {
	f.transcripts = append(
		f.transcripts,
		SessionsInFile(FoundTranscript{f.client, path, info.Size(), info.ModTime()})...)
}

// walkDirectory adds all transcripts in a directory and its subdirectories. A directory that was already searched under
// another name is skipped.
func (f *transcriptFinder) walkDirectory(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil && f.walkedDirs[real] {
		return
	}
	f.walkedDirs[real] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.addUnreadableFile(dir)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		isFile := e.Type().IsRegular()
		if isFile && !f.transcriptDir.IsTranscript(filepath.ToSlash(path)) {
			continue
		}
		info, err := os.Stat(path)
		isLink := e.Type()&fs.ModeSymlink != 0
		switch {
		case errors.Is(err, fs.ErrNotExist) && isFile: // The client has removed the file in the meantime.
		// Ignore a symbolic link without a target. If the link has a transcript's name, report it as unreadable
		// instead.
		case err != nil && isLink && !f.transcriptDir.IsTranscript(filepath.ToSlash(path)):
		default:
			f.walkPath(path, info, err)
		}
	}
}

// addUnreadableFile appends a file or directory that cannot be read to f.transcripts, so that the caller can report it.
func (f *transcriptFinder) addUnreadableFile(path string) {
	unread := FoundTranscript{Client: f.client, Path: path}
	if info, err := os.Lstat(path); err == nil {
		unread.ModTime = info.ModTime()
	}
	f.transcripts = append(f.transcripts, unread)
}

// SessionsInFile returns the sessions in the file f. A file that is not a database is a single session. For a database,
// SessionsInFile returns one element for each session. The first element has the size of the whole database, and all
// further elements have size 0.
//
// If the database cannot be read, or if oxbow does not know its form, the database is returned as one session. The
// caller then gets the error when it reads this session.
func SessionsInFile(f FoundTranscript) []FoundTranscript {
	if !clientfile.IsDatabase(f.Path) {
		return []FoundTranscript{f}
	}
	client, paths, err := clientfile.ListDatabaseSessions(f.Path)
	if err != nil || client == "" {
		return []FoundTranscript{f}
	}
	var all []FoundTranscript
	for _, path := range paths {
		all = append(all, FoundTranscript{f.Client, path, f.Size, f.ModTime})
		f.Size = 0
	}
	return all
}

// removeCopies removes transcripts that occur twice. A compressed transcript is removed if the uncompressed transcript
// exists as well. A transcript file is removed if a database of the same client contains the same session, because
// Cursor and Goose store a session in both.
func removeCopies(all []FoundTranscript) []FoundTranscript {
	plain := map[string]bool{}
	for _, f := range all {
		plain[f.Path] = true
		if isInDatabase(f.Path) {
			plain[f.Client+"/"+filepath.Base(f.Path)] = true
		}
	}
	return slices.DeleteFunc(all, func(f FoundTranscript) bool {
		path, isCompressed := clientfile.TrimCompressedSuffix(f.Path)
		base := filepath.Base(f.Path)
		session := strings.TrimSuffix(strings.TrimSuffix(base, ".jsonl"), ".json")
		isInFile := session != base
		return (isCompressed && plain[path]) || (isInFile && plain[f.Client+"/"+session])
	})
}

// isInDatabase reports whether a path names a session in a database.
func isInDatabase(path string) bool {
	dir := filepath.Dir(path)
	return strings.HasSuffix(dir, ".db") || strings.HasSuffix(dir, ".vscdb")
}

// TranscriptDirectory is a directory in which a client stores transcripts.
type TranscriptDirectory struct {
	Client string
	Path   string
}

// FindDirectories returns the existing directories in which clients store transcripts. The arguments projects are the
// paths of projects. Claude Code and Qwen Code have a separate directory for each project. For these clients,
// FindDirectories returns the first directory that belongs to one of the projects. If no such directory exists, it
// returns the directory that contains the directories of all projects.
func FindDirectories(home string, getenv func(string) string, projects ...string) []TranscriptDirectory {
	var all []TranscriptDirectory
	for client, p := range transcriptDirs() {
		if !hasWatchedDirectory(client) {
			continue
		}
		for _, root := range clientfile.SessionRoots(client, home, getenv) {
			dir := filepath.Join(root, p.RelativeDir)
			if p.RelativeDir == "projects" { // Claude Code and Qwen Code have a directory for each project.
				dir = cmp.Or(findProjectDirectory(dir, projects), dir)
			}
			if isDirectory(dir) {
				all = append(all, TranscriptDirectory{client, dir})
			}
		}
	}
	return all
}

// hasWatchedDirectory reports whether oxbow watches the client's directory for changed transcripts. It watches only
// clients that can run hooks and have a home directory.
func hasWatchedDirectory(client string) bool {
	c, _ := clientfile.FindEventClient(client)
	return c.HasHooks() && c.HasHomeDir()
}

// findProjectDirectory returns the first directory below dir that belongs to one of the projects, or "" if no
// directory does.
func findProjectDirectory(dir string, projects []string) string {
	for _, project := range projects {
		if own := filepath.Join(dir, projectDirectoryName(project)); isDirectory(own) {
			return own
		}
	}
	return ""
}

// projectDirectoryName returns the name that Claude Code and Qwen Code give to a project's directory. This is the
// project's path, in which each character except ASCII letters and digits is replaced by a hyphen.
func projectDirectoryName(project string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, project)
}

func isDirectory(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}
