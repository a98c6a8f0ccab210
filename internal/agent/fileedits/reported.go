// This file creates edits from the file changes that a client reports, and from patches.

package fileedits

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// reportedChange is the change of one file that the client reported beside a call.
type reportedChange struct {
	Type    string `json:"type"`
	Content string `json:"content"`
	Diff    string `json:"unified_diff"`
	NewPath string `json:"move_path"`
}

// shellTools contains the lower-case names of tools that run a shell command.
var shellTools = map[string]bool{"bash": true, "shell": true, "exec_command": true, "local_shell": true,
	"shell_command": true, "container.exec": true}

// findShellPatch returns the patch that a shell command passes to apply_patch, or "" if it passes none. Each
// command is a text or an array of arguments.
func findShellPatch(commands ...json.RawMessage) string {
	for _, raw := range commands {
		var words []string
		if json.Unmarshal(raw, &words) != nil {
			var one string
			if json.Unmarshal(raw, &one) != nil {
				continue
			}
			words = []string{one}
		}
		all := strings.Join(words, "\n")
		begin := strings.Index(all, "*** Begin Patch")
		if begin < 0 {
			continue
		}
		if strings.Contains(all[:begin], "apply_patch") || strings.Contains(all[:begin], "applypatch") {
			return all[begin:]
		}
	}
	return ""
}

// editsFromReport returns the edits for the file changes that the client reported. The keys of the map changes are file
// paths, and the edits are in the order of the paths. Each edit is a copy of editTemplate with the path and the changed
// lines added. A deleted file results in no edit, but increases t.DeletedFiles. A renamed file is added to t.Renames.
// If any change cannot be read, t.CallsWithUnknownChanges increases by one for the whole report.
func (t *Transcript) editsFromReport(editTemplate Edit, changes map[string]reportedChange) []Edit {
	var out []Edit
	unread := false
	for _, path := range slices.Sorted(maps.Keys(changes)) {
		ch := changes[path]
		e := editTemplate
		e.Path = path
		if ch.NewPath != "" {
			t.Renames = append(
				t.Renames,
				FileRename{OldName: e.Path, NewName: ch.NewPath, WorkingDir: e.Dir, EditCount: len(t.Edits)},
			)
			e.Path = ch.NewPath
		}
		var es []Edit
		switch ch.Type {
		case "delete":
			t.DeletedFiles++
			continue
		case "add":
			es = e.editsInRanges(
				ch.Content,
				[]lineRange{{firstLine: 1, lineCount: len(annotate.SplitLines([]byte(ch.Content)))}},
			)
		case "update":
			hunks, err := parseUnifiedDiff(ch.Diff)
			if err != nil || len(hunks) == 0 {
				unread = unread || err != nil || ch.NewPath == ""
				continue
			}
			for _, h := range hunks {
				es = append(es, h.splitIntoEdits(e)...)
			}
		default:
			unread = true
		}
		out = append(out, assignEditNumbers(es)...)
	}
	if unread {
		t.CallsWithUnknownChanges++
	}
	return out
}

// editsFromRequest returns the edits in a patch that the agent requested. Such a patch contains line numbers only for
// new files. Each edit is a copy of template with the changed lines added.
func (t *Transcript) editsFromRequest(template Edit, patch string) []Edit {
	files, err := parsePatchEnvelope(patch)
	if err != nil {
		t.CallsWithUnknownChanges++
		return nil
	}
	var out []Edit
	for _, f := range files {
		e := template
		e.Path = f.path
		if f.newPath != "" {
			t.Renames = append(
				t.Renames,
				FileRename{OldName: e.Path, NewName: f.newPath, WorkingDir: e.Dir, EditCount: len(t.Edits)},
			)
			e.Path = f.newPath
		}
		if f.isDeletion {
			t.DeletedFiles++
			continue
		}
		if f.isAddition {
			var b strings.Builder
			for _, l := range f.hunks[0].lines {
				b.WriteString(l[1:] + "\n")
			}
			out = append(
				out,
				assignEditNumbers(
					e.editsInRanges(b.String(), []lineRange{{firstLine: 1, lineCount: len(f.hunks[0].lines)}}),
				)...)
			continue
		}
		var es []Edit
		for _, h := range f.hunks {
			es = append(es, h.splitIntoEdits(e)...)
		}
		out = append(out, assignEditNumbers(es)...)
	}
	return out
}

// assignEditNumbers sets the numbers of the edits in a file, from 0.
func assignEditNumbers(es []Edit) []Edit {
	for i := range es {
		es[i].NumberInCall = i
	}
	return es
}
