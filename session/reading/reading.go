// This file decides where the text came from that a call returned.

// Package reading decides where the text came from that a tool returned to an agent: from
// the project and the agent itself, from others, or from a place that is not known.
//
// What decides is where the bytes come from: the tool ([tables]), the program that a
// command runs ([programs]), and the files that either reads. A file is the agent's own if
// git tracks it in the project, or if the agent wrote it. A file in a directory of foreign
// code such as node_modules, outside of the project, or reached through a link that leads
// there is foreign, and so is one that git does not track and that the agent did not write.
package reading

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// Level is how far the text that a call returned is the agent's own.
type Level int

// The levels.
const (
	Own       Level = iota // of the project, the agent or the person
	Unvouched              // of a program that is not known
	Foreign                // of others
)

// Call is a call of a tool.
type Call struct {
	Client string // as setup names it
	Tool   string // as the client names it
	Input  json.RawMessage
	Dir    string // the working directory, absolute
	Output string // what the tool returned; only the names of files in it are looked at
}

// Machine is what is known of the computer on which the call was made.
type Machine struct {
	Getenv func(string) string

	// Writers returns who wrote some files last. The paths are absolute and resolved.
	Writers func(paths []string) []fingerprint.Writer
}

// Verdict is where the text of a call came from.
type Verdict struct {
	Level Level
	What  string // the tool and its argument, if Level is not Own

	// Files that the call wrote, as absolute resolved paths: with the agent's text, and
	// with other text.
	Wrote, WroteOther []string
}

// maxWhat is the bytes of a verdict's What.
const maxWhat = 250

// Judge returns where the text of a call came from.
func Judge(c Call, m Machine) (v Verdict) {
	defer func() {
		if recover() != nil { // a client's hook must not fail because of a strange command
			v = Verdict{Level: Foreign, What: label(c.Tool, "")}
		}
	}()
	u, _ := useOf(c.Client, c.Tool)
	j := &judge{Machine: m, tree: newTree(c.Dir)}
	var in map[string]any
	_ = json.Unmarshal(c.Input, &in) // what cannot be read stays empty
	arg := ""
	switch u {
	case runs:
		arg = commandIn(in)
		j.command(arg, c.Output)
	case files:
		paths := pathsIn(in)
		arg = strings.Join(paths, " ")
		j.readFiles(c.Dir, paths, "")
	case searches:
		paths := append(pathsIn(in), patternBase(in)...)
		if len(paths) == 0 {
			paths = []string{"."}
		}
		arg = strings.Join(paths, " ")
		j.searchFiles(c.Dir, paths, c.Output, "")
	case edits:
		j.wrote(true, absolute(c.Dir, append(pathsIn(in), patchedFiles(in)...))...)
	case web, late:
		arg = firstOf(in, "url", "query", "uri", "server", "prompt", "id", "bash_id", "task_id", "session_id")
		j.raise(Foreign, "")
	case agents, quiet:
	case unseen:
		arg = firstOf(in, "skill", "command", "query", "name", "prompt", "objective")
		j.raise(Unvouched, "")
	default:
		j.raise(Unvouched, "")
	}
	v = Verdict{Level: j.level, Wrote: j.own, WroteOther: j.other}
	if v.Level != Own {
		if j.what != "" {
			arg = j.what
		}
		v.What = label(c.Tool, arg)
	}
	return v
}

// label returns the tool and its argument on one line.
func label(tool, arg string) string {
	line := strings.Join(strings.Fields(tool+" "+arg), " ")
	return strings.TrimSpace(text.Cut(line, maxWhat))
}

// judge is the verdict on a call while it is found.
type judge struct {
	Machine
	tree  *tree
	level Level
	what  string // the part of a command that decided
	own   []string
	other []string
}

// raise sets the level if it is higher than that which was found.
func (j *judge) raise(l Level, what string) {
	if l > j.level {
		j.level, j.what = l, what
	}
}

// wrote notes files that were written, with the agent's own text or with other text.
func (j *judge) wrote(byAgent bool, paths ...string) {
	for _, p := range paths {
		if p = j.tree.resolve(p); byAgent {
			j.own = append(j.own, p)
		} else {
			j.other = append(j.other, p)
		}
	}
}

// readFiles raises the level to that of files that were read.
func (j *judge) readFiles(dir string, paths []string, what string) {
	if dir == "" && slices.ContainsFunc(paths, func(p string) bool { return !filepath.IsAbs(p) }) {
		j.raise(Foreign, what)
		return
	}
	j.raise(j.tree.level(absolute(dir, paths), j.Machine), what)
}

// searchFiles raises the level to that of the directories that were searched, and of the
// files that the output names.
func (j *judge) searchFiles(dir string, paths []string, output, what string) {
	j.readFiles(dir, paths, what)
	if j.level < Foreign {
		j.readFiles(dir, namedIn(output), what)
	}
}

// maxNamed is the number of files that are looked at of those that an output names.
const maxNamed = 200

// namedIn returns the files whose lines a search printed: NAME:LINE:TEXT or NAME:TEXT.
func namedIn(output string) (names []string) {
	seen := map[string]bool{}
	for line := range strings.Lines(output) {
		name, _, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t\"'(){}<>") || !strings.ContainsAny(name, "./") || seen[name] {
			continue
		}
		seen[name] = true
		if names = append(names, name); len(names) == maxNamed {
			break
		}
	}
	return names
}

// absolute returns paths below a directory as absolute ones.
func absolute(dir string, paths []string) (all []string) {
	for _, p := range paths {
		if p = filepath.FromSlash(strings.ReplaceAll(p, `\`, string(filepath.Separator))); !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		all = append(all, filepath.Clean(p))
	}
	return all
}

// pathKeys are the arguments of tools that name a file or a directory, or several.
var pathKeys = []string{"file_path", "filePath", "notebook_path", "absolute_path", "path", "dir_path", "directory", "paths", "file_paths", "include", "target_file"}

// pathsIn returns the files and directories that the arguments of a tool name.
func pathsIn(in map[string]any) (paths []string) {
	for _, k := range pathKeys {
		switch v := in[k].(type) {
		case string:
			if k != "include" && v != "" {
				paths = append(paths, v)
			}
		case []any:
			for _, e := range v {
				if s, ok := e.(string); ok && s != "" {
					paths = append(paths, beforePattern(s))
				}
			}
		}
	}
	return paths
}

// patternBase returns the directory in which the pattern of a tool such as Glob begins, if
// it is not the working directory.
func patternBase(in map[string]any) []string {
	p, _ := in["pattern"].(string)
	if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") && !strings.HasPrefix(p, "..") {
		return nil
	}
	return []string{beforePattern(p)}
}

// beforePattern returns a path up to the first part that has a pattern.
func beforePattern(p string) string {
	i := strings.IndexAny(p, "*?[{")
	if i < 0 {
		return p
	}
	if i = strings.LastIndex(p[:i], "/"); i <= 0 {
		return p[:i+1] + "."
	}
	return p[:i]
}

// firstOf returns the first argument that is there.
func firstOf(in map[string]any, keys ...string) string {
	for _, k := range keys {
		if s, ok := in[k].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// commandIn returns the command line of a shell's call. A command may be given as a list
// of arguments.
func commandIn(in map[string]any) string {
	for _, k := range []string{"command", "cmd"} {
		switch v := in[k].(type) {
		case string:
			return v
		case []any:
			var args []string
			for _, a := range v {
				s, _ := a.(string)
				args = append(args, s)
			}
			if len(args) == 3 && strings.HasSuffix(args[0], "sh") && strings.HasPrefix(args[1], "-") && strings.HasSuffix(args[1], "c") {
				return args[2]
			}
			for i, a := range args {
				args[i] = quoted(a)
			}
			return strings.Join(args, " ")
		}
	}
	return ""
}

// quoted returns an argument as a shell reads it.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// patchedFiles returns the files that a patch of apply_patch writes.
func patchedFiles(in map[string]any) (files []string) {
	patch := firstOf(in, "input", "patch", "patchText", "command")
	for line := range strings.Lines(patch) {
		for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Move to: "} {
			if f, ok := strings.CutPrefix(line, mark); ok {
				files = append(files, strings.TrimSpace(f))
			}
		}
	}
	return files
}
