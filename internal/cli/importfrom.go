// This file imports what other programs wrote: it finds the sessions among the files of "oxbow import".

package cli

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
)

// importSource says how files of another program are imported: as sessions of a client, or as entries in a
// format. The format is "" if each file tells.
type importSource struct {
	client string
	format exchange.Format
}

var importSources = map[string]importSource{
	"chatgpt":       {client: transcript.ChatGPT},
	"claude-export": {client: transcript.ClaudeAI},
	"claude-code":   {client: "claude"},
	"codex":         {client: "codex"},
	"obsidian":      {format: exchange.Obsidian},
	"server-memory": {format: exchange.JSONL},
}

// sourceOf returns the client of which the paths are sessions, or "" if they are entries. Without the name
// of a program, it looks for the exports of chat services.
func (l *locator) sourceOf(from string, in *transfer.ImportIn, paths []string) (client string, err error) {
	if from != "" {
		source, ok := importSources[from]
		if !ok {
			return "", misusef("oxbow help import lists the formats that need no --from",
				"--from %s is none of %s", from, strings.Join(slices.Sorted(maps.Keys(importSources)), ", "))
		}
		if source.format != "" {
			in.Format = string(source.format)
		}
		return source.client, nil
	}
	services := map[string]bool{}
	for _, path := range paths {
		service := ""
		if path != "" && path != "-" {
			service, err = l.chatServiceOf(path)
			if err != nil {
				return "", err
			}
		}
		services[service] = true
		client = service
	}
	if len(services) > 1 {
		return "", misusef("import them one by one", "only some of the files are conversations of a chat service")
	}
	return client, nil
}

// chatServiceOf returns the chat service whose export is a file, or "".
func (l *locator) chatServiceOf(path string) (string, error) {
	path, err := l.abs(path)
	if err != nil {
		return "", err
	}
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() {
		return "", nil // the import reports it
	}
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".json" && ext != ".zip" {
		return "", nil
	}
	files, err := transcript.ChatFiles(path)
	if err != nil || len(files) == 0 {
		return "", err
	}
	return transcript.ChatServiceOf(files[0]), nil
}

// importSessions adds the sessions in files to the archive.
func (a *app) importSessions(ctx context.Context, client string, paths []string, dryRun bool) error {
	in := sessions.ImportSessionsIn{Clients: []string{client}, DryRun: dryRun}
	for _, path := range paths {
		path, err := a.abs(path)
		if err != nil {
			return err
		}
		in.Files = append(in.Files, path)
	}
	if err := a.prepareSessionImport(&in); err != nil {
		return err
	}
	return perform(ctx, a, sessions.ImportSessions, in, func(out sessions.ImportSessionsOut) {
		a.showImportedSessions(out)
		if !dryRun && !out.Failed() {
			a.note("conversations are in the archive of sessions: oxbow session search WORDS")
		}
	})
}
