// This file finds the transcripts in files and directories that the user names.

package transcript

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// FindClientTranscripts returns the paths of a client's transcripts below a directory, oldest first. The directory is
// the directory with the client's settings, or a directory below.
func FindClientTranscripts(client, dir string) []string {
	var all []FoundTranscript
	for name, p := range transcriptDirs() {
		if name != client {
			continue
		}
		root := filepath.Join(dir, p.RelativeDir)
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			root = dir
		}
		for _, f := range findTranscriptsBelow(client, p, root) {
			isNew := !slices.ContainsFunc(all, func(g FoundTranscript) bool { return g.Path == f.Path })
			if isNew {
				all = append(all, f)
			}
		}
	}
	all = removeCopies(all)
	slices.SortStableFunc(all, func(a, b FoundTranscript) int { return a.ModTime.Compare(b.ModTime) })
	var paths []string
	for _, f := range all {
		paths = append(paths, f.Path)
	}
	return paths
}

// maxFirstLines is the number of lines that are read to recognize a file's client.
const maxFirstLines = 20

// FindClient returns the client that wrote a transcript or a database with sessions. It reads only the first lines. It
// returns "" for any other file.
func FindClient(path string) string {
	slashed := filepath.ToSlash(path)
	name, _ := clientfile.TrimCompressedSuffix(slashed)
	switch {
	case clientfile.IsDatabase(path):
		// Ignore the error: reading the sessions returns it again.
		client, _, _ := clientfile.ListDatabaseSessions(
			path,
		)
		return client
	case clientfile.IsClineTaskFile(slashed):
		return findTaskClient(slashed)
	case !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".json"):
		return ""
	case clientfile.IsCodexTranscript(slashed):
		return "codex"
	}
	in, err := clientfile.Open(path)
	if err != nil {
		return ""
	}
	defer in.Close()
	lines := bufio.NewReader(io.LimitReader(in, maxConversationBytes))
	for range maxFirstLines {
		line, err := lines.ReadBytes('\n')
		var l firstLineFields
		if strings.HasSuffix(name, ".jsonl") && json.Unmarshal(line, &l) == nil {
			if client := l.writerClient(); client != "" {
				return client
			}
		}
		if client := recognizeLineClient(line); client != "" {
			return client
		}
		if err != nil {
			return ""
		}
	}
	return ""
}

// findTaskClient returns the client that wrote a task. This is Cline, or the fork of Cline whose directory name is in
// the path.
func findTaskClient(path string) string {
	switch {
	case strings.Contains(path, "roo-cline"):
		return "roo"
	case strings.Contains(path, "kilo"):
		return "kilo"
	}
	return "cline"
}

// recognizeLineClient returns the client that wrote a line or a document, or "". It recognizes only clients whose
// transcripts cannot be confused with a file of entries.
func recognizeLineClient(line []byte) string {
	for _, c := range clientfile.EventClients {
		isCertain := slices.Contains([]string{"cursor", "vscode", "goose", "pi", "amp", "hermes", "kimi"}, c.Name)
		if isCertain && c.RecognizesLine(line) {
			return c.Name
		}
	}
	return ""
}

// firstLineFields contains the fields of a line that show which client wrote it.
type firstLineFields struct {
	Session   string          `json:"sessionId"`
	Time      string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
	LeafUUID  string          `json:"leafUuid"`
	Summary   string          `json:"summary"`
	Sidechain *bool           `json:"isSidechain"`
	Message   struct {
		Role string `json:"role"`
	} `json:"message"`
}

// writerClient returns the client that wrote the line, or "" if it is not known.
func (l firstLineFields) writerClient() string {
	switch {
	case l.Session != "" && (l.Message.Role != "" || l.Sidechain != nil), l.LeafUUID != "" && l.Summary != "":
		return "claude"
	case l.Time != "" && l.Type != "" && l.Payload != nil:
		return "codex"
	}
	return ""
}
