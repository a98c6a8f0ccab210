// This file reads the reflog of HEAD, which records which commits were checked out in the working tree, and when.

package git

import (
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// maxReflogBytes is how many bytes are read from the end of the reflog.
const maxReflogBytes = 1 << 20

// HeadMove records that HEAD began to refer to another commit. Its time has a precision of one second.
type HeadMove struct {
	Time              time.Time
	NewCommit         string // commit to which HEAD refers after the move
	IsCommitNew       bool   // The commit was created when HEAD moved to it.
	IsMadeByGitCommit bool   // The user or an agent created the commit with git commit and wrote its message.

	oldCommit string // commit to which HEAD referred before the move
	isAmend   bool   // The commit was created by git commit --amend.
}

// ReadReflogHeadMoves returns the moves of HEAD at the reflog's end, oldest first. The result is empty if the reflog
// cannot be read, for example because it is disabled.
func (r *Repo) ReadReflogHeadMoves() []HeadMove {
	f, err := vfs.OpenRegular(filepath.Join(r.gitDir, "logs", "HEAD"))
	if err != nil {
		return nil
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, fi.Size()-maxReflogBytes)
	b, err := io.ReadAll(io.NewSectionReader(f, from, maxReflogBytes))
	if err != nil {
		return nil
	}
	var all []HeadMove
	made := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if m, ok := parseReflogLine(line); ok {
			m.IsMadeByGitCommit = m.IsMadeByGitCommit ||
				// git commit --amend may keep the message of the old commit.
				(m.isAmend && made[m.oldCommit])
			made[m.NewCommit] = made[m.NewCommit] || m.IsMadeByGitCommit
			all = append(all, m)
		}
	}
	return all
}

// parseReflogLine parses a line in git's reflog, which describes one move of HEAD. The line contains the commit before
// the move, the commit after the move, the committer's name and address, the time, the time zone, and after a tab the
// description. The bool result is false if the line does not have this form.
func parseReflogLine(line string) (HeadMove, bool) {
	head, what, _ := strings.Cut(line, "\t")
	_, after, ok := strings.Cut(head, "> ")
	words := strings.Fields(head)
	sec, _, _ := strings.Cut(after, " ")
	n, err := strconv.ParseInt(sec, 10, 64)
	if !ok || err != nil {
		return HeadMove{}, false
	}
	hasCommits := len(words) >= 2 && IsHash(words[0]) && IsHash(words[1])
	if !hasCommits {
		return HeadMove{}, false
	}
	m := HeadMove{Time: time.Unix(n, 0), NewCommit: words[1]}
	for _, made := range []string{"commit", "cherry-pick", "revert", "merge"} {
		m.IsCommitNew = m.IsCommitNew || strings.HasPrefix(what, made)
	}
	for _, made := range []string{"commit: ", "commit (initial): ", "commit (merge): "} {
		m.IsMadeByGitCommit = m.IsMadeByGitCommit || strings.HasPrefix(what, made)
	}
	m.oldCommit, m.isAmend = words[0], strings.HasPrefix(what, "commit (amend): ")
	return m, true
}

// NewPeriodCommitFinder returns a function that finds the commits of a period in the reflog. The function returns the
// commit that was checked out at the time from in the repository that contains dir, and the commits that were created
// there until the time to. It returns nil if dir is not an absolute path or the reflog cannot be read. It caches the
// reflog of the last directory. The parameter now returns the current time.
func NewPeriodCommitFinder(now func() time.Time) func(dir string, from, to time.Time) []string {
	var mu sync.Mutex // mu guards the variables below.
	var last string
	var moves []HeadMove
	var read time.Time
	return func(dir string, from, to time.Time) (found []string) {
		if !filepath.IsAbs(dir) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if dir != last || !read.After(to.Add(time.Minute)) {
			last = dir
			moves = nil
			read = now()
			if repo, err := FindRepo(dir, nil); err == nil {
				moves = repo.ReadReflogHeadMoves()
			}
		}
		for _, m := range moves {
			switch {
			case m.Time.Before(from.Truncate(time.Second)):
				found = []string{m.NewCommit}
			case m.IsCommitNew && !m.Time.After(to):
				found = append(found, m.NewCommit)
			}
		}
		return found
	}
}
