// This file contains the table of the clients whose transcripts are read as events.

package clientfile

// EventClient is a client whose transcripts are read as events.
type EventClient struct {
	Name       string                        // the client's name in setup
	Recognizes func(line []byte) bool        // reports whether only this client writes such a line
	NewReader  func(path string) EventReader // path is the transcript's ("" if it is not known)

	// UnnamedCalls is set if the reports to hooks do not contain the IDs of calls. Then a call is
	// identified by its arguments.
	UnnamedCalls bool

	// ShowsResponses is set if Shown has the form in which hooks report the response of a tool.
	ShowsResponses bool

	UniqueCalls bool // the IDs of calls are unique, also across sessions
}

// EventClients lists the clients whose transcripts are read as events.
var EventClients = []EventClient{
	{Name: "claude", Recognizes: isClaude, NewReader: newClaude, ShowsResponses: true, UniqueCalls: true},
	{Name: "codex", Recognizes: isCodex, NewReader: newCodex, UniqueCalls: true},
	{Name: "gemini", Recognizes: isGemini, NewReader: newGemini, UnnamedCalls: true},
	{Name: "copilot", Recognizes: isCopilot, NewReader: newCopilot},
	{Name: "qwen", Recognizes: isQwen, NewReader: newQwen},
	{Name: "opencode", Recognizes: isOpencode, NewReader: newOpencode},
}
