// This file determines the contents of an import's files: client sessions, entries, or both.

package imports

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/sessions"
)

// sessionClientBySource maps the name of a program whose files contain sessions to its client's name in the archive. A
// name that is not in the map is a format of entries.
func sessionClientBySource() map[string]string {
	sources := map[string]string{"chatgpt": transcript.ChatGPT, "claude-export": transcript.ClaudeAI,
		"claude-code": "claude"}
	for _, c := range clientfile.EventClients {
		if c.Name != "claude" && !slices.Contains(exchange.FormatNames(), c.Name) {
			sources[c.Name] = c.Name
		}
	}
	return sources
}

// SourceNames returns the names of all programs and formats that Import can read, in alphabetical order.
func SourceNames() []string {
	names := exchange.FormatNames()
	for name := range sessionClientBySource() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// CheckSourceName returns an error if name is neither empty nor one of [SourceNames].
func CheckSourceName(name string) error {
	if name == "" || slices.Contains(SourceNames(), name) {
		return nil
	}
	reason := "is not one of " + strings.Join(SourceNames(), ", ")
	if near := text.FindSimilar(name, slices.Values(SourceNames()), 1); len(near) > 0 {
		reason += "; did you mean " + near[0] + "?"
	}
	return verb.Advise(verb.InvalidValue("from", name, reason),
		`convert its texts to Markdown files, or to lines such as {"name":"…","content":"…"}, `+
			"which need no --from")
}

// classifiedPaths lists the paths of an import by their contents.
type classifiedPaths struct {
	// names of the clients whose sessions are imported, in the same order as the imported paths
	clients              []string
	sessionFilesByClient map[string][]string // files with sessions, by the name of the client
	entryPaths           []string            // files and directories that contain entries to import
	// format of the entries at a path (missing if the import must detect the format)
	formatByPath map[string]exchange.Format
	notes        []string // notes for the user about files of a service's export that are not read
}

func (c *classifiedPaths) addSessions(client string, files ...string) {
	if c.sessionFilesByClient[client] == nil {
		c.clients = append(c.clients, client)
	}
	c.sessionFilesByClient[client] = append(c.sessionFilesByClient[client], files...)
}

func (c *classifiedPaths) addEntries(path string, format exchange.Format) {
	c.entryPaths = append(c.entryPaths, path)
	if format != "" {
		c.formatByPath[path] = format
	}
}

// classifyPaths finds out whether each path contains sessions, entries, or both.
func (in *ImportIn) classifyPaths() (classifiedPaths, error) {
	c := classifiedPaths{sessionFilesByClient: map[string][]string{}, formatByPath: map[string]exchange.Format{}}
	client := sessionClientBySource()[in.SourceName]
	for _, path := range in.Paths {
		var err error
		switch {
		case in.Inputs[path] != nil && client != "" && client != transcript.ClaudeAI:
			err = verb.Invalidf("sessions are read from a file or a directory, and %s is neither", path)
		case in.Inputs[path] != nil:
			c.addEntries(path, exchange.Format(in.SourceName))
		case client != "":
			err = c.addSessionPath(client, path)
		case in.SourceName != "":
			c.addEntries(path, exchange.Format(in.SourceName))
		default:
			err = c.addUnknownPath(path)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// addSessionPath adds a path that contains sessions of the given client.
func (c *classifiedPaths) addSessionPath(client, path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case client == transcript.ClaudeAI:
		return c.addClaudeExport(path, info.IsDir())
	case transcript.IsChatService(client):
		return c.addChatGPTExport(path)
	case !info.IsDir():
		c.addSessions(client, path)
		return nil
	}
	files := transcript.FindClientTranscripts(client, path)
	if len(files) == 0 {
		return verb.Advise(verb.Invalidf("%s has no transcripts of %s", path, client),
			"name the directory in which the client stores its settings, or a transcript")
	}
	c.addSessions(client, files...)
	return nil
}

// addClaudeExport adds an export of claude.ai. It contains conversations, and other files with memories and projects.
func (c *classifiedPaths) addClaudeExport(path string, isDir bool) error {
	files, err := transcript.FindChatFiles(path)
	if err != nil {
		return err
	}
	isWhole := isDir || strings.EqualFold(filepath.Ext(path), ".zip")
	hasConversations := len(files) > 0 && (isWhole || transcript.FindChatService(path) != "")
	if hasConversations {
		c.addSessions(transcript.ClaudeAI, path)
	}
	if isWhole || !hasConversations {
		c.addEntries(path, exchange.ClaudeExport)
	}
	return nil
}

// addChatGPTExport adds the conversations of a ChatGPT export, and notes the files in it that are not read.
func (c *classifiedPaths) addChatGPTExport(path string) error {
	unread, err := transcript.FindUnreadChatFiles(path)
	for _, file := range unread {
		c.notes = append(c.notes, file+": was passed over: oxbow does not know what ChatGPT writes into this file")
	}
	c.addSessions(transcript.ChatGPT, path)
	return err
}

// addUnknownPath adds a path after detecting its contents: client sessions, a chat service's export, or entries. A
// path that does not exist is added as entries, so that the import reports the error.
func (c *classifiedPaths) addUnknownPath(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		c.addEntries(path, "") // the import will report that the path does not exist
		return nil
	}
	if !info.IsDir() && exchange.DetectRecordFormat(path) != "" {
		c.addEntries(path, "")
		return nil
	}
	ext := strings.ToLower(filepath.Ext(path))
	client := ""
	if !info.IsDir() {
		client = transcript.FindClient(path)
	}
	switch {
	case client != "":
		c.addSessions(client, path)
		return nil
	case info.IsDir() || ext == ".zip" || ext == ".json" || ext == ".jsonl":
		service, err := findChatService(path)
		if err != nil {
			return err
		}
		switch service {
		case transcript.ClaudeAI:
			return c.addClaudeExport(path, info.IsDir())
		case transcript.ChatGPT:
			return c.addChatGPTExport(path)
		default:
			c.addEntries(path, "")
		}
		return nil
	}
	c.addEntries(path, "")
	return nil
}

// findChatService returns the name of the chat service from which a file or directory was exported, or "" without such
// a service.
func findChatService(path string) (string, error) {
	files, err := transcript.FindChatFiles(path)
	if err != nil || len(files) == 0 {
		return "", err
	}
	return transcript.FindChatService(files[0]), nil
}

// importSessions adds the sessions to the archive and describes them in the result. It also returns the custom
// instructions in the files.
func (in *ImportIn) importSessions(
	ctx context.Context,
	w *verb.Workspace,
	c classifiedPaths,
	out *ImportOut,
) (found instructionSet, err error) {
	for _, client := range c.clients {
		read := sessions.ImportSessionsIn{
			Clients:          []string{client},
			Files:            c.sessionFilesByClient[client],
			DryRun:           in.DryRun,
			KeepInstructions: found.add,
		}
		if in.PrepareSessions != nil {
			if err := in.PrepareSessions(&read); err != nil {
				return found, err
			}
		}
		got, err := sessions.ImportSessions(ctx, w, read)
		out.Clients = append(out.Clients, got.Clients...)
		out.UnreadTranscripts = append(out.UnreadTranscripts, got.UnreadTranscripts...)
		if err != nil {
			return found, err
		}
	}
	return found, nil
}
