// The memories that clients keep themselves: files of Markdown, by project.

package setup

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
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

var workingDir = regexp.MustCompile(`"cwd":\s*("(?:[^"\\]|\\.)+")`)

// projectOf returns the working directory that a transcript of a project names.
func projectOf(dir string) string {
	for _, below := range []string{dir, filepath.Join(dir, "chats")} {
		files, _ := os.ReadDir(below)
		for _, f := range files {
			if filepath.Ext(f.Name()) != ".jsonl" {
				continue
			}
			var cwd string
			if m := workingDir.FindSubmatch(head(filepath.Join(below, f.Name()))); m != nil && json.Unmarshal(m[1], &cwd) == nil {
				return cwd
			}
		}
	}
	return ""
}

// head returns the first bytes of a file.
func head(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 64<<10))
	return b
}
