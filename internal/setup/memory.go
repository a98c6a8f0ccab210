// This file finds the files in which clients keep their own memories. They are Markdown files in a directory for each
// project.

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

// MemoryFile is a Markdown file of a client's own memory.
type MemoryFile struct {
	Path string
	Time time.Time // modification time of the file, as exact as the system reports it

	// directory in which the client keeps the project's data ("" if the file belongs to no project)
	projectDataDir string
}

// Dir returns the working directory of the project to which the file belongs, or "" if it is unknown.
func (f MemoryFile) Dir() string {
	if f.projectDataDir == "" {
		return ""
	}
	return transcriptWorkingDir(f.projectDataDir)
}

// MemoryFiles returns the files of the client's own memory that can be read.
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

// memoryFiles returns the Markdown files in a directory and below it, except empty files and files with more than
// maxFileBytes bytes. It does not follow links.
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
		if fi.Size() > 0 && fi.Size() <= maxFileBytes {
			all = append(all, MemoryFile{path, sysinfo.LastChangeTime(fi), project})
		}
		return nil
	})
	return all
}

// transcriptWorkingDir returns the working directory that is named in the transcripts in a project's directory, or ""
// if none is named.
func transcriptWorkingDir(dir string) string {
	for _, parent := range []string{dir, filepath.Join(dir, "chats")} {
		files, _ := os.ReadDir(parent)
		for _, f := range files {
			if filepath.Ext(f.Name()) != ".jsonl" {
				continue
			}
			if dir := readWorkingDir(filepath.Join(parent, f.Name())); dir != "" {
				return dir
			}
		}
	}
	return ""
}

// maxTranscriptStartBytes is how many bytes at the beginning of a transcript are searched for the working directory.
const maxTranscriptStartBytes = 64 << 10

// readWorkingDir returns the working directory of a session. path is the path of the session's transcript, and the
// working directory is named at its beginning. It returns "" if no directory is named there.
func readWorkingDir(path string) string {
	f, err := vfs.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for r := bufio.NewReader(io.LimitReader(f, maxTranscriptStartBytes)); ; {
		b, _, err := clientfile.ReadNextLine(r)
		var l struct { // Claude Code and Qwen Code use the same name for this field.
			Dir string `json:"cwd"`
		}
		// Ignore the error, because even a line that is cut off may contain the working directory.
		_ = clientfile.DecodeObject(b, &l)
		if l.Dir != "" || err != nil {
			return l.Dir
		}
	}
}
