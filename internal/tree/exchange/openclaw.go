// This file reads the memory of an OpenClaw agent. In the agent's workspace, the memory consists of the files
// MEMORY.md, USER.md and DREAMS.md and the daily notes below memory/. All other files in a workspace are instructions
// and are not imported.

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

// openClawMemoryTypes maps each workspace file that contains memories to the type of these memories.
var openClawMemoryTypes = map[string]string{
	"memory.md": "memory", "user.md": "user", "dreams.md": "dream",
}

// openClawMarkerFiles lists the files by which a workspace is recognized.
var openClawMarkerFiles = []string{"SOUL.md", "IDENTITY.md", "HEARTBEAT.md", "AGENTS.md", "USER.md", "TOOLS.md"}

// readOpenClaw reads a file of an OpenClaw workspace like a Markdown file. If the file name shows the type of the
// memories in the file, such as "daily" for a name with a date, it adds a label with the key type to each item.
func readOpenClaw(r *bufio.Reader, inputName string, o *ReadOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		typ := openClawMemoryTypes[strings.ToLower(path.Base(inputName))]
		if _, isDaily := dateInName(path.Base(inputName), nil); isDaily {
			typ = "daily"
		}
		for it, err := range ReadMarkdown(r, inputName, o) {
			if err == nil && typ != "" {
				it.Entry.Labels = oxbow.SortLabels(append(it.Entry.Labels, oxbow.Label{Key: "type", Value: typ}))
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// openClawRoots returns the workspaces in a directory. The directory may be a workspace itself, or the directory of
// OpenClaw's settings, which contains the workspaces. If there is no workspace, the result is the directory itself.
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

// isOpenClawDir reports whether a directory that contains these files is an agent's workspace of the program OpenClaw.
func isOpenClawDir(files []string) bool {
	count := 0
	for _, name := range openClawMarkerFiles {
		if slices.Contains(files, name) {
			count++
		}
	}
	return count >= 2 && containsAny(files, "MEMORY.md", "memory.md", "memory", "USER.md") &&
		containsAny(files, "SOUL.md", "IDENTITY.md", "HEARTBEAT.md")
}

// errNoOpenClawMemory is returned for a file in a workspace of OpenClaw if the file contains instructions or belongs to
// a tool. The report lists the file among the notes and not among the problems.
var errNoOpenClawMemory = &skippedError{"was passed over: it is no memory of the agent; name it to import it"}

// checkOpenClawFile returns nil if a file of a workspace contains memories. file is the path relative to the
// workspace.
func checkOpenClawFile(file string) error {
	dir, _, isBelow := strings.Cut(file, "/")
	isMemory := (isBelow && dir == "memory") || (!isBelow && openClawMemoryTypes[strings.ToLower(file)] != "")
	if formatByExtension(file) != Markdown || !isMemory {
		return errNoOpenClawMemory
	}
	return nil
}
