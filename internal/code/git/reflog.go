// The reflog of HEAD: which commits the working tree stood on, and when.

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

// maxReflog is the bytes at the end of the reflog that are read.
const maxReflog = 1 << 20

// Move is a move of HEAD. Git notes whole seconds.
type Move struct {
	Time time.Time
	To   string // the commit
	New  bool   // the commit was made then
	Made bool   // git commit made it, with a message of the person or of an agent

	from   string // the commit before
	amends bool   // git commit --amend made it
}

// Reflog returns the last moves of HEAD, in their order, by reading the file of
// them; none when there is no such file, as where it is switched off.
func (r *Repo) Reflog() []Move {
	f, err := vfs.OpenRegular(filepath.Join(r.dir, "logs", "HEAD"))
	if err != nil {
		return nil
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, fi.Size()-maxReflog)
	b, err := io.ReadAll(io.NewSectionReader(f, from, maxReflog))
	if err != nil {
		return nil
	}
	var all []Move
	made := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if m, ok := moveOf(line); ok {
			m.Made = m.Made || (m.amends && made[m.from]) // an amended commit keeps a message
			made[m.To] = made[m.To] || m.Made
			all = append(all, m)
		}
	}
	return all
}

// moveOf reads a line: the commits before and after, the name and address of the
// committer, the time, its zone, and after a tab what was done.
func moveOf(line string) (Move, bool) {
	head, what, _ := strings.Cut(line, "\t")
	_, after, ok := strings.Cut(head, "> ")
	words := strings.Fields(head)
	sec, _, _ := strings.Cut(after, " ")
	n, err := strconv.ParseInt(sec, 10, 64)
	if !ok || err != nil || len(words) < 2 || !IsHash(words[0]) || !IsHash(words[1]) {
		return Move{}, false
	}
	m := Move{Time: time.Unix(n, 0), To: words[1]}
	for _, made := range []string{"commit", "cherry-pick", "revert", "merge"} {
		m.New = m.New || strings.HasPrefix(what, made)
	}
	for _, made := range []string{"commit: ", "commit (initial): ", "commit (merge): "} {
		m.Made = m.Made || strings.HasPrefix(what, made)
	}
	m.from, m.amends = words[0], strings.HasPrefix(what, "commit (amend): ")
	return m, true
}

// CommitsOf returns a function that finds the commits of a time in the reflog of a
// working tree, which it reads once for directories that follow each other.
func CommitsOf(now func() time.Time) func(dir string, from, to time.Time) []string {
	var mu sync.Mutex // guards the following
	var last string
	var moves []Move
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
			if repo, err := Find(dir, nil); err == nil {
				moves = repo.Reflog()
			}
		}
		for _, m := range moves {
			switch {
			case m.Time.Before(from.Truncate(time.Second)):
				found = []string{m.To}
			case m.New && !m.Time.After(to):
				found = append(found, m.To)
			}
		}
		return found
	}
}
