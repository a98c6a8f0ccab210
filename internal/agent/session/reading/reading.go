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
	"cmp"
	"encoding/json"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Call is a call of a tool.
type Call struct {
	Client string // as setup names it
	Tool   string // as the client names it
	Input  json.RawMessage
	Dir    string // the working directory, absolute
	Output string // what the tool returned; only the names of files in it are looked at
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
		v.What = cmp.Or(label(c.Tool, arg), "a tool without a name")
	}
	return v
}

// label returns the tool and its argument on one line, in which "…" stands for words that
// are not known.
func label(tool, arg string) string {
	line := strings.Join(strings.Fields(tool+" "+strings.ReplaceAll(arg, unknownWord, "…")), " ")
	return strings.TrimSpace(text.Cut(line, maxWhat))
}

// pathKeys are the arguments of tools that name a file or a directory, or several.
var pathKeys = []string{"file_path", "filePath", "notebook_path", "absolute_path", "path", "dir_path", "directory",
	"paths", "file_paths", "include", "target_file"}

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
	i = strings.LastIndex(p[:i], "/")
	if i <= 0 {
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
			if len(args) == 3 && strings.HasSuffix(args[0], "sh") && strings.HasPrefix(args[1], "-") &&
				strings.HasSuffix(args[1], "c") {
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
