// This file reads the lists of prompts that clients keep beside their transcripts. A list also contains the prompts of
// sessions whose transcript was deleted, or was never stored by an old version.
//
//	Claude Code  ~/.claude/history.jsonl  {"display","pastedContents":{N:{"type","content"}},"timestamp","project",
//	                                      "sessionId"}
//	Codex        ~/.codex/history.jsonl   {"session_id","ts","text"}
//	Gemini CLI   ~/.gemini/tmp/PROJECT/logs.json, an array of {"sessionId","messageId","timestamp","type","message"}
//	Qwen Code    ~/.qwen/tmp/PROJECT/logs.json, the same
//
// A list contains less than a transcript. Therefore the prompts of a session are reported only if the session lacks a
// transcript.

package clientfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/vfs"
)

// These are the file names of prompt lists.
const (
	promptHistoryFile = "history.jsonl"
	promptLogFile     = "logs.json"
)

// IsPromptList reports whether a path has the file name of a client's prompt list.
func IsPromptList(path string) bool {
	base := filepath.Base(path)
	return base == promptHistoryFile || base == promptLogFile
}

// promptLine is one prompt in a client's list of past prompts. Each client uses other field names, so promptLine has
// the fields of all clients.
type promptLine struct {
	Display        string          `json:"display"`
	PastedContents json.RawMessage `json:"pastedContents"`
	Timestamp      json.RawMessage `json:"timestamp"`
	Project        string          `json:"project"`
	Session        string          `json:"sessionId"`

	SessionID   string          `json:"session_id"`
	UnixSeconds json.RawMessage `json:"ts"`
	Text        string          `json:"text"`

	Type    string `json:"type"`
	Message string `json:"message"`
}

// isPromptListElement reports whether the decoded object has the fields of an element in a prompt list.
func (p *promptLine) isPromptListElement() bool {
	isClaude := p.Display != "" && p.Timestamp != nil
	isCodex := p.SessionID != "" && p.UnixSeconds != nil
	isGemini := p.Session != "" && p.Type != "" && p.Timestamp != nil
	return isClaude || isCodex || isGemini
}

// promptListReader reads one file in which a client lists the person's prompts of many sessions.
type promptListReader struct {
	// directory of the project to which all prompts in the file belong, or "" if each prompt names its own
	projectDir string

	// hasTranscript reports whether a transcript of the session exists.
	hasTranscript func(session string) bool
}

// newPromptListReader returns a reader for the file at path, in which a client lists the person's prompts. transcripts
// names the directories of the client's transcripts, relative to the file's directory.
func newPromptListReader(path string, transcripts ...string) EventReader {
	names := sync.OnceValue(func() (all []string) {
		for _, dir := range transcripts {
			root := filepath.Join(filepath.Dir(path), dir)
			// Ignore unreadable directories: the search for transcripts reports them.
			_ = filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
				if err == nil && !entry.IsDir() {
					all = append(all, entry.Name())
				}
				return nil
			})
		}
		return all
	})
	return &promptListReader{
		projectDir: geminiProjectDir(filepath.Dir(path)),
		hasTranscript: func(session string) bool {
			return slices.ContainsFunc(names(), func(name string) bool { return isTranscriptOfSession(name, session) })
		},
	}
}

// isTranscriptOfSession reports whether a file with this name is the session's transcript. The name is the session ID,
// or ends in a hyphen and the ID. Gemini CLI uses only the first eight characters of the ID.
func isTranscriptOfSession(name, session string) bool {
	stem, _, _ := strings.Cut(name, ".")
	return stem == session || strings.HasSuffix(stem, "-"+session) ||
		(len(session) > 8 && strings.HasSuffix(stem, "-"+session[:8]))
}

// ParseLine implements [EventReader]. The line contains one prompt or a JSON array of all prompts.
func (p *promptListReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	line = bytes.TrimSpace(line)
	if !bytes.HasPrefix(line, []byte("[")) {
		return p.readListElement(line, offset, yield)
	}
	i := 0
	eachElement(line, func(element []byte) {
		yieldRecord := wrapYieldWithRecord(recordName("", i), yield)
		if !p.readListElement(element, offset, yieldRecord) {
			(&Event{Offset: offset}).reportUnreadRecord(yieldRecord)
		}
		i++
	})
	return true
}

// readListElement reads an element of a client's prompt list, and passes the prompt to the function yield as an event.
// It returns false if the element is not a JSON object.
//
// It skips the client's built-in commands, and the prompts of sessions that have a transcript. A prompt without a
// session and a shell command are not reported as prompts, but only counted as parts that are left out
// ([EventNonTextParts]). An element of an unknown type is reported as an unknown part.
func (p *promptListReader) readListElement(element []byte, offset int64, yield func(*Event)) bool {
	var l promptLine
	if !DecodeObject(element, &l) {
		return false
	}
	e := Event{
		Kind:                   EventPrompt,
		IsFromClientPromptList: true,
		Offset:                 offset,
		WorkingDir:             cmp.Or(l.Project, p.projectDir),
		Session:                cmp.Or(l.Session, l.SessionID),
		Time:                   parseTime(l.Timestamp),
	}
	if e.Time.IsZero() {
		e.Time = parseTime(l.UnixSeconds)
	}
	e.Text = cmp.Or(l.withPastedTexts(), l.Text, l.Message)
	switch {
	case !l.isPromptListElement():
		e.reportUnknownPart("lines", l.Type, yield)
	case l.Type != "" && l.Type != "user":
		e.reportUnknownPart("messages", l.Type, yield)
	case e.Session == "":
		e.reportNonTextParts("prompts without a session", 1, yield)
	case isBuiltinCommand(e.Text), p.hasTranscript(e.Session):
	// If isShellCommand returns true, the person ran a shell command. The client's prompt list contains only the
	// command and not its output.
	case isShellCommand(e.Text):
		e.reportNonTextParts("commands of the person without their output", 1, yield)
	default:
		yield(&e)
	}
	return true
}

// isShellCommand reports whether the person typed a shell command, which begins with "!".
func isShellCommand(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "!") }

// pastedTextPattern matches the placeholder that Claude Code shows for a long pasted text.
var pastedTextPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[Pasted text #(\d+)[^\]]*\]`)
})

// withPastedTexts returns a Claude Code prompt in which the placeholders are replaced by the pasted texts.
func (p *promptLine) withPastedTexts() string {
	var pasted map[string]struct {
		Content string `json:"content"`
	}
	if !strings.Contains(p.Display, "[Pasted text #") || !parseObject(p.PastedContents, &pasted) {
		return p.Display
	}
	return pastedTextPattern().ReplaceAllStringFunc(p.Display, func(place string) string {
		number := pastedTextPattern().FindStringSubmatch(place)[1]
		// If the pasted text is stored in another file, keep its placeholder.
		return cmp.Or(pasted[number].Content, place)
	})
}

// geminiProjectDir returns the working directory of a project. The argument project is the project's directory below
// ~/.gemini/tmp. The file .project_root in the directory project contains the path of the working directory.
// geminiProjectDir returns "" if this file does not exist.
func geminiProjectDir(project string) string {
	in, err := vfs.OpenRegular(filepath.Join(project, ".project_root"))
	if err != nil {
		return ""
	}
	defer in.Close()
	// Ignore the error: an incomplete path does not exist, and callers handle that.
	b, _ := io.ReadAll(io.LimitReader(in, 1<<12))
	return strings.TrimSpace(string(b))
}
