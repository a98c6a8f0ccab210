// This file finds the files of clients' own memories, which are Markdown files for each project.

package setup

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/base/sysinfo"
	"github.com/oxbow-memory/oxbow/vfs"
)

// MemoryFile is a file of a client's own memory.
type MemoryFile struct {
	Path string
	Time time.Time // time of the last change, if the system reports it

	projectDataDir string // directory of the client's data for the project ("" if the file belongs to no project)
}

// Dir returns the working directory of the file's project, or "" if it is not known.
func (f MemoryFile) Dir() string {
	if f.projectDataDir == "" {
		return ""
	}
	return transcriptWorkingDir(f.projectDataDir)
}

// MemoryFiles returns the readable files of the client's own memory.
func (c *Client) MemoryFiles(w Machine) (all []MemoryFile) {
	if c.memoryDir == nil {
		return nil
	}
	root := c.memoryDir(w)
	all = memoryFiles(filepath.Join(root, "memories"), "")
	projects, _ := os.ReadDir(filepath.Join(root, "projects"))
	for _, p := range projects {
		dir := filepath.Join(root, "projects", p.Name())
		if memory := filepath.Join(dir, "memory"); fileExists(memory) {
			all = append(all, memoryFiles(memory, dir)...)
		}
	}
	return all
}

// memoryFiles returns the Markdown files below a directory. It follows no links.
func memoryFiles(dir, project string) (all []MemoryFile) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		isMarkdown := err == nil && d.Type().IsRegular() && filepath.Ext(path) == ".md"
		if !isMarkdown {
			return nil
		}
		fi, err := d.Info()
		if err != nil {
			return nil
		}
		if fi.Size() > 0 && fi.Size() <= maxFile {
			all = append(all, MemoryFile{path, sysinfo.LastChangeTime(fi), project})
		}
		return nil
	})
	return all
}

// transcriptWorkingDir returns the working directory that the transcripts in a project's directory contain, or
// "" if they contain none.
func transcriptWorkingDir(dir string) string {
	for _, parent := range []string{dir, filepath.Join(dir, "chats")} {
		files, _ := os.ReadDir(parent)
		for _, f := range files {
			if filepath.Ext(f.Name()) != ".jsonl" {
				continue
			}
			if dir := workingDir(filepath.Join(parent, f.Name())); dir != "" {
				return dir
			}
		}
	}
	return ""
}

// maxHeadBytes is the number of bytes at a transcript's start that are searched for the working
// directory.
const maxHeadBytes = 64 << 10

// workingDir returns the working directory at the beginning of a transcript, or "" if it contains
// none.
func workingDir(path string) string {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for r := bufio.NewReader(io.LimitReader(f, maxHeadBytes)); ; {
		b, _, err := clientfile.NextLine(r)
		var l struct { // Claude Code and Qwen Code use the same field name
			Dir string `json:"cwd"`
		}
		_ = clientfile.DecodeObject(b, &l) // ignore the error: an incomplete line may still contain the directory
		if l.Dir != "" || err != nil {
			return l.Dir
		}
	}
}
