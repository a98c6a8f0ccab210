// This file extracts a Gemini CLI sub-agent's words from the result of a tool call.

package transcript

import (
	"encoding/json"
	"strings"
)

// SubagentReply returns the name and final text of a Gemini CLI sub-agent that a tool call started.
// Both are "" if the call started no sub-agent. The tool is either invoke_agent or has the name of
// the sub-agent.
func SubagentReply(tool string, args []byte, output string) (agent, text string) {
	head, text, hasResult := strings.Cut(output, "\nResult:\n")
	named, hasName := strings.CutPrefix(head, "Subagent '")
	agent, _, hasReason := strings.Cut(named, "' finished.\nTermination Reason: ")
	isReport := hasResult && hasName && hasReason
	if !isReport {
		return "", ""
	}
	var in struct {
		Agent string `json:"agent_name"`
	}
	_ = json.Unmarshal(args, &in) // without a name, the call did not start a sub-agent
	isInvoked := tool == "invoke_agent" && in.Agent == agent
	if tool == agent || isInvoked {
		return agent, reportText(strings.TrimSpace(text))
	}
	return "", "" // another tool may return a foreign text of this form
}

// reportText returns the text in a report that is an object with a single member, such as
// {"response":"It is in b.go."}. Other reports are returned unchanged.
func reportText(report string) string {
	var members map[string]json.RawMessage
	if !strings.HasPrefix(report, "{") || json.Unmarshal([]byte(report), &members) != nil {
		return report
	}
	if len(members) != 1 {
		return report
	}
	for _, raw := range members {
		var said string
		if json.Unmarshal(raw, &said) == nil && said != "" {
			return strings.TrimSpace(said)
		}
	}
	return report
}
