// This file finds the transcripts in files and directories that the user names.

package transcript

import (
	"bufio"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// FindIn returns the paths of a client's transcripts below a directory, the oldest first. The
// directory contains the client's settings, or is below that directory.
func FindIn(client, dir string) []string {
	var all []FoundTranscript
	for name, p := range places() {
		if name != client {
			continue
		}
		root := filepath.Join(dir, p.Below)
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			root = dir
		}
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !p.IsTranscript(filepath.ToSlash(path)) {
				return nil // files that cannot be read are left out
			}
			isNew := !slices.ContainsFunc(all, func(f FoundTranscript) bool { return f.Path == path })
			if info, err := d.Info(); err == nil && isNew {
				all = append(all, FoundTranscript{client, path, info.Size(), info.ModTime()})
			}
			return nil
		})
	}
	all = withoutCopies(all)
	slices.SortStableFunc(all, func(a, b FoundTranscript) int { return a.Time.Compare(b.Time) })
	var paths []string
	for _, f := range all {
		paths = append(paths, f.Path)
	}
	return paths
}

// maxFirstLines is the number of lines that are read to recognize a client.
const maxFirstLines = 20

// FindClient returns the client that wrote a transcript, claude or codex, or "" if the file is no transcript of
// these. It reads the first lines.
func FindClient(path string) string {
	name := strings.TrimSuffix(path, clientfile.Compressed)
	if !strings.HasSuffix(name, ".jsonl") {
		return ""
	}
	if clientfile.IsRollout(path) {
		return "codex"
	}
	in, err := clientfile.Open(path)
	if err != nil {
		return ""
	}
	defer in.Close()
	lines := bufio.NewReader(io.LimitReader(in, maxConversation))
	for range maxFirstLines {
		line, err := lines.ReadBytes('\n')
		var l firstLine
		if json.Unmarshal(line, &l) == nil {
			if client := l.client(); client != "" {
				return client
			}
		}
		if err != nil {
			return ""
		}
	}
	return ""
}

// firstLine has the fields of a line by which its client is recognized.
type firstLine struct {
	Session   string          `json:"sessionId"`
	Time      string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
	Leaf      string          `json:"leafUuid"`
	Summary   string          `json:"summary"`
	Sidechain *bool           `json:"isSidechain"`
	Message   struct {
		Role string `json:"role"`
	} `json:"message"`
}

// client returns the client that wrote the line, or "" if it is not known.
func (l firstLine) client() string {
	switch {
	case l.Session != "" && (l.Message.Role != "" || l.Sidechain != nil), l.Leaf != "" && l.Summary != "":
		return "claude"
	case l.Time != "" && l.Type != "" && l.Payload != nil:
		return "codex"
	}
	return ""
}
