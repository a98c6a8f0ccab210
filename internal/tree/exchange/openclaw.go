// This file reads the memory of an OpenClaw agent: in its workspace, the files MEMORY.md, USER.md and DREAMS.md, and
// the daily notes below memory/. All other files of a workspace are instructions, which are not read.

package exchange

import (
	"bufio"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// openClawFiles lists the files of a workspace that contain memories, and the type of memory in
// each.
var openClawFiles = map[string]string{
	"memory.md": "memory", "user.md": "user", "dreams.md": "dream",
}

// openClawInstructions lists files by which a directory is recognized as a workspace.
var openClawInstructions = []string{"SOUL.md", "IDENTITY.md", "HEARTBEAT.md", "AGENTS.md", "USER.md", "TOOLS.md"}

// readOpenClaw reads a file of a workspace like a Markdown file, and adds the type of memory as a label.
func readOpenClaw(r *bufio.Reader, ref string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		typ := openClawFiles[strings.ToLower(path.Base(ref))]
		if _, isDaily := nameDate(path.Base(ref), nil); isDaily {
			typ = "daily"
		}
		for it, err := range ReadMarkdown(r, ref, o) {
			if err == nil && typ != "" {
				it.Entry.Labels = oxbow.SortLabels(append(it.Entry.Labels, oxbow.Label{Key: "type", Value: typ}))
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// openClawRoots returns the workspaces of the directory, which is a workspace itself, or the directory
// of OpenClaw's settings.
func openClawRoots(fsys vfs.FS, dir string) []string {
	list, err := fsys.ReadDir(dir)
	if err != nil || isOpenClawDir(fileNames(list)) {
		return []string{dir}
	}
	var roots []string
	for _, d := range list {
		if below := path.Join(dir, d.Name()); d.IsDir() && strings.HasPrefix(d.Name(), "workspace") {
			inside, err := fsys.ReadDir(below)
			if err == nil && isOpenClawDir(fileNames(inside)) {
				roots = append(roots, below)
			}
		}
	}
	if roots == nil {
		roots = []string{dir}
	}
	return roots
}

// fileNames returns the names of the files and directories in a list.
func fileNames(list []fs.DirEntry) []string {
	var all []string
	for _, d := range list {
		all = append(all, d.Name())
	}
	return all
}

// isOpenClawDir recognizes a workspace by the names in it.
func isOpenClawDir(files []string) bool {
	count := 0
	for _, name := range openClawInstructions {
		if slices.Contains(files, name) {
			count++
		}
	}
	return count >= 2 && containsAny(files, "MEMORY.md", "memory.md", "memory", "USER.md") &&
		containsAny(files, "SOUL.md", "IDENTITY.md", "HEARTBEAT.md")
}

// errNoOpenClawMemory is returned for a file of a workspace that is an instruction or belongs to a tool. The error
// only leads to a note.
var errNoOpenClawMemory = &skippedError{"was passed over: it is no memory of the agent; name it to import it"}

// checkOpenClawFile returns nil if a file of a workspace contains memories. The path is relative to the
// workspace.
func checkOpenClawFile(file string) error {
	dir, _, isBelow := strings.Cut(file, "/")
	isMemory := (isBelow && dir == "memory") || (!isBelow && openClawFiles[strings.ToLower(file)] != "")
	if formatByExtension(file) != Markdown || !isMemory {
		return errNoOpenClawMemory
	}
	return nil
}
