// This file decides who wrote the text that a tool call returned.

// Package origin judges whether a text that a tool returned to an agent comes from the project, from the agent itself,
// from somebody else, or from an unknown program.
//
// The origin depends on the source of the bytes: the tool ([clientfile.ClientTools]), the program that a command runs
// ([programKinds]), and the files that the tool or the program reads. Symbolic links are resolved first. A file in a
// directory of foreign code in the project, such as node_modules, is foreign. Any other file is the agent's own if the
// agent was the last writer, or if git tracks the file in the project and nobody else wrote it. A file in which a
// client stores its notes ([clientMemoryFiles]) is also the agent's own. All other files are foreign. If the project
// lacks a git repository, files inside the project are unvouched instead.
package origin

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// ToolCall is a call of a tool by an agent, with the text that the tool returned.
type ToolCall struct {
	Client string // client's name as in oxbow setup
	Tool   string // name of the tool in that client
	Input  json.RawMessage
	Dir    string // absolute path of the working directory
	Output string // text that the tool returned, in which oxbow looks for file names and commit hashes
}

// ToolCallVerdict says who wrote the text that a call returned and the files that the call wrote.
type ToolCallVerdict struct {
	TrustLevel      TrustLevel
	TrustLevelCause string // the tool and its argument that are the reason for TrustLevel ("" for TrustLevelOwnText)

	// FilesWithAgentText are the files into which the call wrote only the agent's own text. FilesWithNonAgentText are
	// all other files that it wrote. The paths are absolute and free of symbolic links.
	FilesWithAgentText, FilesWithNonAgentText []string

	// UnnamedFilesTrustLevel is the trust level of the least trusted text that the call may have written into files
	// that it does not name. It is TrustLevelOwnText for a tool that only reads.
	UnnamedFilesTrustLevel TrustLevel
}

// maxCauseBytes is the maximum length, in bytes, of the text that names the cause of a verdict. A verdict is a
// judgement about who wrote the text that a tool call returned.
const maxCauseBytes = 250

// JudgeToolCall decides how far the text that the tool call c returned can be trusted. The verdict contains the trust
// level, the reason for it, and the files that the call wrote. If JudgeToolCall panics, the trust level of the verdict
// is TrustLevelForeignText, the level for text by others.
func JudgeToolCall(c ToolCall, m Machine) (v ToolCallVerdict) {
	defer func() {
		if recover() != nil { // Ignore a panic, because an unusual command must not stop the client's hook.
			v = ToolCallVerdict{TrustLevel: TrustLevelForeignText, TrustLevelCause: trustLevelCauseText(c.Tool, "")}
		}
	}()
	u, _ := findToolPurpose(c.Client, c.Tool)
	j := &toolCallVerdictState{Machine: m, tree: newProjectTree(c.Dir)}
	var in map[string]any
	_ = json.Unmarshal(c.Input, &in) // Arguments that cannot be decoded stay empty.
	arg := ""
	switch u {
	case toolPurposeShell:
		arg = shellCommandLine(in)
		j.judgeCommandLine(arg, c.Output)
	case toolPurposeReadFiles:
		paths := argumentPaths(in)
		arg = strings.Join(paths, " ")
		j.raiseTrustLevelForReadFiles(c.Dir, paths, "")
	case toolPurposeSearchFiles:
		paths := append(argumentPaths(in), globPatternBaseDirs(in)...)
		if len(paths) == 0 {
			paths = []string{"."}
		}
		arg = strings.Join(paths, " ")
		j.raiseTrustLevelForSearch(c.Dir, paths, c.Output, "")
	case toolPurposeEditFiles:
		if files := absolutePaths(c.Dir, argumentPaths(in)); writesWholeFile(in) {
			j.recordFilesWithAgentText(files...)
		} else {
			j.recordPartlyEditedFiles(files)
		}
		j.recordFilesWithAgentText(absolutePaths(c.Dir, patchedFilePaths(in, "*** Add File: "))...)
		j.recordPartlyEditedFiles(absolutePaths(c.Dir, patchedFilePaths(in, "*** Update File: ", "*** Move to: ")))
	case toolPurposeReadWeb, toolPurposeReadBackgroundOutput:
		arg = firstTextArgument(
			in,
			"url",
			"query",
			"uri",
			"server",
			"prompt",
			"id",
			"bash_id",
			"task_id",
			"session_id",
		)
		j.raiseTrustLevel(TrustLevelForeignText, "")
	case toolPurposeStartAgent, toolPurposeReadAgentOrPersonText:
	case toolPurposeStartUnreportedAgent:
		arg = firstTextArgument(in, "skill", "command", "query", "name", "prompt", "objective")
		j.raiseTrustLevel(TrustLevelUnvouchedText, "")
	default:
		j.raiseTrustLevel(TrustLevelUnvouchedText, "")
	}
	v = ToolCallVerdict{
		TrustLevel:             j.highestTrustLevel,
		FilesWithAgentText:     j.filesWithAgentText,
		FilesWithNonAgentText:  j.filesWithNonAgentText,
		UnnamedFilesTrustLevel: j.unnamedFilesTrustLevel,
	}
	if u == toolPurposeReadFiles || u == toolPurposeSearchFiles {
		v.UnnamedFilesTrustLevel = TrustLevelOwnText
	}
	if v.TrustLevel != TrustLevelOwnText {
		if j.trustLevelCause != "" {
			arg = j.trustLevelCause
		}
		v.TrustLevelCause = cmp.Or(trustLevelCauseText(c.Tool, arg), "a tool without a name")
	}
	return v
}

// writesWholeFile reports whether a call of an editing tool replaced the whole text of a file, and not only a part.
func writesWholeFile(args map[string]any) bool {
	for _, k := range []string{"content", "file_text", "contents"} {
		if _, ok := args[k].(string); ok {
			return true
		}
	}
	if edits, _ := args["edits"].([]any); len(edits) > 0 {
		args, _ = edits[0].(map[string]any)
	}
	old, replaces := args["old_string"].(string)
	return replaces && old == "" // Claude Code and Gemini CLI create a file by replacing an empty text.
}

// trustLevelCauseText returns the tool and its argument on a single line. Words that are not known are shown as "…".
func trustLevelCauseText(tool, arg string) string {
	line := strings.Join(strings.Fields(tool+" "+strings.ReplaceAll(arg, unknownWordValue, "…")), " ")
	return strings.TrimSpace(text.TruncateBytes(line, maxCauseBytes))
}

// pathArguments lists the names of tool arguments that contain paths.
var pathArguments = []string{
	"file_path",
	"filePath",
	"notebook_path",
	"absolute_path",
	"path",
	"dir_path",
	"directory",
	"paths",
	"file_paths",
	"include",
	"target_file",
	"targetFile",
	"relativeWorkspacePath",
	"relative_workspace_path",
	"target_directory",
	"targetDirectory",
}

// argumentPaths returns the files and directories that a tool's arguments name.
func argumentPaths(args map[string]any) (paths []string) {
	for _, k := range pathArguments {
		switch v := args[k].(type) {
		case string:
			if k != "include" && v != "" {
				paths = append(paths, v)
			}
		case []any:
			for _, e := range v {
				if s, ok := e.(string); ok && s != "" {
					paths = append(paths, dirBeforeGlobPattern(s))
				}
			}
		}
	}
	return paths
}

// globPatternBaseDirs returns the directory in which a tool, such as Glob, expands the argument "pattern". It returns
// nil if the pattern does not begin with "/", "~" or "..", because the tool then searches the working directory.
func globPatternBaseDirs(args map[string]any) []string {
	p, _ := args["pattern"].(string)
	for _, start := range []string{"/", "~", ".."} {
		if strings.HasPrefix(p, start) {
			return []string{dirBeforeGlobPattern(p)}
		}
	}
	return nil
}

// dirBeforeGlobPattern returns the directories in the path p that come before the first wildcard, such as "*". If there
// are no such directories, it returns ".", or "/." for an absolute path. If p contains no wildcard, it returns p.
func dirBeforeGlobPattern(p string) string {
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

// firstTextArgument returns the value of the first argument in keys that is a non-empty string, or "".
func firstTextArgument(args map[string]any, keys ...string) string {
	for _, k := range keys {
		if s, ok := args[k].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// shellCommandLine returns the command line that a shell tool runs. The tool's arguments contain it under the key
// command or cmd, as a string or as a list of words. The result is "" if they do not contain it.
func shellCommandLine(arguments map[string]any) string {
	for _, k := range []string{"command", "cmd"} {
		switch v := arguments[k].(type) {
		case string:
			return v
		case []any:
			var args []string
			for _, a := range v {
				s, _ := a.(string)
				args = append(args, s)
			}
			if len(args) == 3 && isShellCommandOption(args[0], args[1]) {
				return args[2]
			}
			for i, a := range args {
				args[i] = quoteArg(a)
			}
			return strings.Join(args, " ")
		}
	}
	return ""
}

// quoteArg quotes an argument for a shell.
func quoteArg(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// patchedFilePaths returns the paths of files in a patch for the tool apply_patch. The map args contains the arguments
// of the tool. patchedFilePaths finds each line in the patch that begins with one of linePrefixes. The rest of this
// line is the path.
func patchedFilePaths(args map[string]any, linePrefixes ...string) (files []string) {
	patch := firstTextArgument(args, "input", "patch", "patchText", "command")
	for line := range strings.Lines(patch) {
		for _, mark := range linePrefixes {
			if f, ok := strings.CutPrefix(line, mark); ok {
				files = append(files, strings.TrimSpace(f))
			}
		}
	}
	return files
}

// isShellCommandOption reports whether the program is a shell and the option says that a command line follows, as
// in "bash -lc".
func isShellCommandOption(program, option string) bool {
	return strings.HasSuffix(program, "sh") && strings.HasPrefix(option, "-") && strings.HasSuffix(option, "c")
}
