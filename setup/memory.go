// The memories that clients keep themselves: files of Markdown, by project.

package setup

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/internal/clientline"
)

// MemoryFile is a file of a client's own memory.
type MemoryFile struct {
	Path string
	Dir  string // of the project, "" where none is known
	Time time.Time
}

// MemoryFiles returns the files of the client's own memory that can be read.
func (c *Client) MemoryFiles(w World) (all []MemoryFile) {
	if c.memories == nil {
		return nil
	}
	root := c.memories(w)
	all = memoryFiles(filepath.Join(root, "memories"), "")
	projects, _ := os.ReadDir(filepath.Join(root, "projects"))
	for _, p := range projects {
		dir := filepath.Join(root, "projects", p.Name())
		if memory := filepath.Join(dir, "memory"); exists(memory) {
			all = append(all, memoryFiles(memory, projectOf(dir))...)
		}
	}
	return all
}

// memoryFiles returns the files of Markdown below a directory. No link is followed.
func memoryFiles(dir, project string) (all []MemoryFile) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".md" {
			return nil
		}
		if fi, err := d.Info(); err == nil && fi.Size() > 0 && fi.Size() <= maxFile {
			all = append(all, MemoryFile{path, project, fi.ModTime()})
		}
		return nil
	})
	return all
}

// projectOf returns the working directory that a transcript of a project names.
func projectOf(dir string) string {
	for _, below := range []string{dir, filepath.Join(dir, "chats")} {
		files, _ := os.ReadDir(below)
		for _, f := range files {
			if filepath.Ext(f.Name()) != ".jsonl" {
				continue
			}
			if dir := workingDir(filepath.Join(below, f.Name())); dir != "" {
				return dir
			}
		}
	}
	return ""
}

// maxHead is how much of a transcript is read to find the working directory.
const maxHead = 64 << 10

// workingDir returns the working directory that the beginning of a transcript names.
func workingDir(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for r := bufio.NewReader(io.LimitReader(f, maxHead)); ; {
		b, _, err := clientline.Next(r)
		var l clientline.Claude      // a line of Qwen Code names it the same
		_ = clientline.Decode(b, &l) // a line that was cut may name it, too
		if l.Dir != "" || err != nil {
			return l.Dir
		}
	}
}
