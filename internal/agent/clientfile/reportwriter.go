// This file finds out which client wrote a hook report, and parses the report in that client's form.

package clientfile

import (
	"bytes"
	"encoding/json"
	"errors"
)

// ParseClientReport parses stdin, the report that a client passed to an oxbow hook. ok is true only if stdin is valid
// JSON and contains a session ID. Fields of the wrong type stay empty.
//
// client is the client for which the hook was installed, and reportingClient is the client that wrote the report. The
// two can differ, because some editors run hooks from other clients' settings: VS Code runs the hooks of Claude Code
// and Copilot CLI, and Cursor can run Claude Code's hooks.
func ParseClientReport(client string, stdin []byte) (r HookReport, reportingClient string, ok bool) {
	stdin = bytes.TrimPrefix(stdin, []byte("\ufeff"))
	reportingClient = findReportingClient(client, stdin)
	c, _ := FindEventClient(reportingClient)
	if c.Hook.ParseReport == nil {
		r, ok = ParseHookReport(stdin)
		return r, reportingClient, ok
	}
	r, err := c.Hook.ParseReport(stdin)
	isReadable := err == nil || errors.As(err, new(*json.UnmarshalTypeError))
	return r, reportingClient, isReadable && r.SessionID != ""
}

// findReportingClient returns the name of the client that called a hook with this input. It may differ from the client
// for which the hook was installed, because Cursor and VS Code also run hooks that were installed for other clients.
func findReportingClient(client string, stdin []byte) string {
	if client != "claude" && client != "copilot" {
		return client
	}
	var signs struct {
		CursorVersion string `json:"cursor_version"`
		Session       string `json:"session_id"`
		VSCodeSession string `json:"sessionId"`
		VSCodeEvent   string `json:"hookEventName"`
	}
	_ = json.Unmarshal(stdin, &signs) // Ignore the error: a field of another type stays empty.
	switch {
	case signs.CursorVersion != "":
		return "cursor"
	case signs.Session == "" && signs.VSCodeSession != "" && signs.VSCodeEvent != "":
		return "vscode"
	}
	return client
}
